package diag_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/rogpeppe/go-internal/txtar"

	"github.com/plc-lang/plc/diag"
)

var update = flag.Bool("update", false, "rewrite what testdata/diag wants")

// TestGolden shows the findings of each file of testdata/diag in all three forms.
// A file is an archive: the sources; findings.json, one finding a line, with
// places given by the text that stands there ("at") or by bytes ("span"); and what
// is wanted. A source named "NAME quoted" is a Go string literal, for what can't
// be seen in an editor.
func TestGolden(t *testing.T) {
	names, err := filepath.Glob("../testdata/diag/*.txtar")
	if err != nil || len(names) == 0 {
		t.Fatalf("no golden files (%v)", err)
	}
	schema := sarifSchema(t)
	for _, name := range names {
		t.Run(filepath.Base(name), func(t *testing.T) {
			archive, err := txtar.ParseFile(name)
			if err != nil {
				t.Fatal(err)
			}
			list := goldenFindings(t, archive)
			got := map[string]string{}
			for _, form := range []struct {
				section string
				write   func(*bytes.Buffer) error
			}{
				{"want.text", func(b *bytes.Buffer) error { return diag.WriteText(b, list, nil) }},
				{"want.json", func(b *bytes.Buffer) error { return diag.WriteJSON(b, list) }},
				{"want.sarif", func(b *bytes.Buffer) error {
					if err := diag.WriteSARIF(b, list, nil); err != nil {
						return err
					}
					checkSARIF(t, schema, b.Bytes())
					return indentResults(b)
				}},
			} {
				var b bytes.Buffer
				if err := form.write(&b); err != nil {
					t.Fatal(err)
				}
				got[form.section] = b.String()
			}
			compareGolden(t, name, archive, got)
		})
	}
}

// compareGolden wants the sections to be as they are in the archive, or with
// -update makes them so.
func compareGolden(t *testing.T, name string, archive *txtar.Archive, got map[string]string) {
	t.Helper()
	for _, section := range []string{"want.text", "want.json", "want.sarif"} {
		var want *txtar.File
		for i := range archive.Files {
			if archive.Files[i].Name == section {
				want = &archive.Files[i]
			}
		}
		if want == nil {
			archive.Files = append(archive.Files, txtar.File{Name: section})
			want = &archive.Files[len(archive.Files)-1]
		}
		if !*update {
			if d := cmp.Diff(string(want.Data), got[section]); d != "" {
				t.Errorf("%s (-want +got):\n%s", section, d)
			}
		}
		want.Data = []byte(got[section])
	}
	if *update {
		if err := os.WriteFile(name, txtar.Format(archive), 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

// indentResults leaves the results of a SARIF log, indented: the rest is the same
// for every log, but for the rules.
func indentResults(b *bytes.Buffer) error {
	var log struct {
		Runs []struct{ Results json.RawMessage }
	}
	if err := json.Unmarshal(b.Bytes(), &log); err != nil {
		return err
	}
	b.Reset()
	if err := json.Indent(b, log.Runs[0].Results, "", "  "); err != nil {
		return err
	}
	b.WriteByte('\n')
	return nil
}

type goldenPlace struct {
	File string // the first of the archive when not given
	At   string
	Span *[2]int32
}

type goldenFinding struct {
	goldenPlace
	Code                   diag.Code
	Severity               string
	Message, Call, Pointer string
	Related                []struct {
		goldenPlace
		Message string
	}
	Way bool
	Fix *struct {
		Message string
		Edits   []struct {
			goldenPlace
			Text string
		}
	}
}

func goldenFindings(t *testing.T, archive *txtar.Archive) diag.List {
	t.Helper()
	files := map[string]*diag.File{}
	var list diag.List
	for _, f := range archive.Files {
		if f.Name == "findings.json" {
			for line := range bytes.Lines(f.Data) {
				var g goldenFinding
				if err := json.Unmarshal(line, &g); err != nil {
					t.Fatalf("%s: %v", line, err)
				}
				list = append(list, g.finding(t, files))
			}
			break
		}
		name, quoted := strings.CutSuffix(f.Name, " quoted")
		text := string(f.Data)
		if quoted {
			var err error
			if text, err = strconv.Unquote(strings.TrimSpace(text)); err != nil {
				t.Fatalf("%s: %v", f.Name, err)
			}
		}
		files[name] = diag.NewFile(name, []byte(text))
		if files[""] == nil {
			files[""] = files[name]
		}
	}
	return list
}

func (g *goldenFinding) finding(t *testing.T, files map[string]*diag.File) diag.Finding {
	severities := map[string]diag.Severity{"error": diag.Error, "warning": diag.Warning, "info": diag.Info}
	f := diag.Finding{
		Code: g.Code, Severity: severities[g.Severity], Loc: g.loc(t, files),
		Message: g.Message, Call: g.Call, Pointer: g.Pointer, Way: g.Way,
	}
	for _, r := range g.Related {
		f.Related = append(f.Related, diag.Related{Loc: r.loc(t, files), Message: r.Message})
	}
	if g.Fix != nil {
		f.Fix = &diag.Fix{Message: g.Fix.Message}
		for _, e := range g.Fix.Edits {
			f.Fix.Edits = append(f.Fix.Edits, diag.Edit{Span: e.loc(t, files).Span, Text: e.Text})
		}
	}
	return f
}

// loc returns the place; "none" names no file.
func (g *goldenPlace) loc(t *testing.T, files map[string]*diag.File) diag.Loc {
	if g.File == "none" {
		return diag.Loc{}
	}
	file := files[g.File]
	if file == nil {
		t.Fatalf("no file %q", g.File)
	}
	switch {
	case g.Span != nil:
		return diag.Loc{File: file, Span: diag.Span{Start: g.Span[0], End: g.Span[1]}}
	case g.At == "":
		return diag.Loc{File: file}
	}
	start := bytes.Index(file.Text, []byte(g.At))
	if start < 0 {
		t.Fatalf("%q is not in %s", g.At, file.Name)
	}
	return diag.Loc{File: file, Span: diag.Span{Start: int32(start), End: int32(start + len(g.At))}}
}

// plan is a file of n findings, all in one line.
func oneLine(n int) (*diag.File, diag.List) {
	var b bytes.Buffer
	list := make(diag.List, n)
	file := &diag.File{Name: "plan.json"}
	b.WriteByte('[')
	for i := range n {
		start := int32(b.Len())
		fmt.Fprintf(&b, `{"_tool": "greet", "name": "†state.user%07d", "note": "Grüße aus 東京, und so weiter"},`, i)
		list[i] = diag.Finding{
			Code: diag.NothingThere, Loc: diag.Loc{File: file, Span: diag.Span{Start: start + 27, End: start + 49}},
			Message: "nobody writes the path", Call: "greet", Pointer: "/" + strconv.Itoa(i) + "/name",
		}
	}
	b.WriteByte(']')
	file.Text = b.Bytes()
	return file, list
}
