package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestUpToDate wants the files in the repository to be what go generate makes of
// codes.go, and docs/codes to hold no other.
func TestUpToDate(t *testing.T) {
	const dir = "../.."
	files, err := generate(filepath.Join(dir, "codes.go"))
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not current (%v); run go generate ./diag", name, err)
		}
	}
	pages, err := filepath.Glob(filepath.Join(dir, "../docs/codes/*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pages {
		if _, ok := files["../docs/codes/"+filepath.Base(p)]; !ok {
			t.Errorf("%s is the page of no code", p)
		}
	}
}

const whole = `package p

type Code uint16

const (
	// First is a fault, with | in it (warning).
	//
	// What it
	// means.
	//
	// And more.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//
	//	]
	//	-- tools.yaml --
	//	tools:
	//	  a: {}
	//
	// Cure: mend
	// it.
	First Code = 101
)
`

func TestParse(t *testing.T) {
	entries, err := parse([]byte(whole))
	if err != nil {
		t.Fatal(err)
	}
	e := entries[0]
	if e.Name != "First" || e.ID() != "PLC101" || e.Severity != "Warning" || e.Summary != "A fault, with | in it." ||
		e.Meaning != "What it means.\n\nAnd more." || e.Cure != "Mend it." {
		t.Errorf("%+v", e)
	}
	if got := strings.Join(e.Args, " "); got != "check plan.json --tools tools.yaml" {
		t.Errorf("arguments %q", got)
	}
	if len(e.Files) != 2 || e.Files[0] != (file{"plan.json", "[\n\n]\n"}) || e.Files[1] != (file{"tools.yaml", "tools:\n  a: {}\n"}) {
		t.Errorf("files %q", e.Files)
	}
	if !strings.Contains(string(index(entries)), `| [PLC101](PLC101.md) | warning | A fault, with \| in it. |`) {
		t.Errorf("index:\n%s", index(entries))
	}
}

// A comment that has not the form would give half a page: it is refused.
func TestParseRefuses(t *testing.T) {
	for _, c := range []struct{ name, old, new, want string }{
		{"another name", "// First is", "// Second is", `does not begin with "First is"`},
		{"no sentence", "(warning).", "(warning)", "full stop"},
		{"no meaning", "	// What it\n	// means.\n	//\n	// And more.\n	//\n", "", "no paragraph"},
		{"no example", "Example:", "Look:", "no Example"},
		{"no cure", "Cure:", "Mend:", "no Cure"},
		{"no file", "-- plan.json --", "plan.json", "does not begin with"},
		{"no plan", "-- plan.json --", "-- input.json --", `no file for "plc check plan.json`},
		{"arguments in the middle", "-- tools.yaml --", "-- args --", "not the first"},
		{"no number", "= 101", "= 100 + 1", "not a number"},
		{"a number twice", "\n)\n", whole[strings.Index(whole, "\n\t// First"):], "not above that of First"},
	} {
		src := strings.Replace(whole, c.old, c.new, 1)
		if src == whole {
			t.Fatalf("%s: nothing is changed", c.name)
		}
		if _, err := parse([]byte(src)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want %q", c.name, err, c.want)
		}
	}
}

func TestRun(t *testing.T) {
	root := t.TempDir()
	dir := filepath.Join(root, "diag")
	for _, d := range []string{dir, filepath.Join(root, "docs", "codes")} {
		if err := os.MkdirAll(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(dir, "codes.go"), []byte(whole), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := run(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"diag/codes_gen.go", "docs/codes/README.md", "docs/codes/PLC101.md"} {
		if _, err := os.Stat(filepath.Join(root, name)); err != nil {
			t.Error(err)
		}
	}
}
