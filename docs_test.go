package plc_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/compile/cel"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool/file"
)

// How the blocks of code in README.md, docs and examples are kept true:
//
//	```console  lines that begin with "$ " are run at the root of the repository,
//	            with plc on the PATH; what follows is what a terminal shows. "…" stands
//	            for any text, a line of it for any lines.
//	```json     a whole plan is compiled against the tool files that its page shows or
//	            links to, and has no error.
//	```yaml     a tool file, or a file of tests of a plan or a policy, is read and has no error.
//	```go       and others: behind a line that begins with a link to a file and ends
//	            with a colon, the text is that of the file.
//	```sh       is only shown.
//
// The pages of docs/codes are tested where they are made.

var update = flag.Bool("update", false, "rewrite what is made: docs/history.svg")

// block is a block of code in a page.
type block struct {
	page string
	line int // of its first line
	lang string
	text string
}

func (b *block) String() string { return fmt.Sprintf("%s:%d", b.page, b.line) }

// pages are the pages whose blocks are tested.
func pages(t *testing.T) []string {
	t.Helper()
	all := []string{"README.md", "CONTRIBUTING.md", "CHANGELOG.md"}
	for _, pattern := range []string{"docs/*.md", "docs/tools/*.md", "docs/decisions/*.md", "examples/*/README.md"} {
		names, err := filepath.Glob(pattern)
		if err != nil || len(names) == 0 {
			t.Fatalf("%s: %d pages, %v", pattern, len(names), err)
		}
		all = append(all, names...)
	}
	return all
}

// blocks are the blocks of a page, in order.
func blocks(t *testing.T, page string) []block {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	var all []block
	var open *block
	n := 0
	for line := range strings.Lines(string(text)) {
		n++
		info, fence := strings.CutPrefix(line, "```")
		switch {
		case fence && open == nil:
			open = &block{page: filepath.ToSlash(page), line: n + 1, lang: strings.TrimSpace(info)}
		case fence:
			all = append(all, *open)
			open = nil
		case open != nil:
			open.text += line
		}
	}
	if open != nil {
		t.Fatalf("%s: the block does not end", open)
	}
	return all
}

// eachBlock runs f as a test for each block of these languages.
func eachBlock(t *testing.T, langs string, f func(*testing.T, *block)) {
	n := 0
	for _, page := range pages(t) {
		for _, b := range blocks(t, page) {
			if slices.Contains(strings.Fields(langs), b.lang) {
				n++
				t.Run(b.String(), func(t *testing.T) { f(t, &b) })
			}
		}
	}
	if n == 0 {
		t.Errorf("there are no blocks of %s", langs)
	}
}

// command is a command of a console block, and its output.
type command struct{ line, want string }

func (b *block) commands() (all []command) {
	for line := range strings.Lines(b.text) {
		if c, ok := strings.CutPrefix(line, "$ "); ok {
			all = append(all, command{line: strings.TrimSpace(c)})
		} else if len(all) > 0 {
			all[len(all)-1].want += line
		}
	}
	return all
}

func TestConsoleBlocks(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("the blocks are for a POSIX shell")
	}
	bin := t.TempDir()
	// Unlike "go build", "go run" keeps what it has linked: only a change is linked again.
	build := exec.CommandContext(t.Context(), "go", "run", "-exec", "cp", "./cmd/plc", filepath.Join(bin, "plc"))
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%s\n%s", err, out)
	}
	eachBlock(t, "console", func(t *testing.T, b *block) {
		commands := b.commands()
		if len(commands) == 0 {
			t.Fatal("no line begins with $")
		}
		for _, c := range commands {
			if got := shell(t, bin, c.line); !matches(got, c.want) {
				t.Errorf("$ %s\n%s\nis not what the page says:\n%s", c.line, got, c.want)
			}
		}
	})
}

// shell runs a line and returns what a terminal would show.
func shell(t *testing.T, bin, line string) string {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, "sh", "-c", line)
	cmd.Env = append(os.Environ(), "XDG_STATE_HOME="+filepath.Join(bin, "state"), "PLC_STORE="+filepath.Join(bin, "runs.db"), "PATH="+bin+string(filepath.ListSeparator)+os.Getenv("PATH"))
	cmd.Stdout, cmd.Stderr = &out, &out
	if err := cmd.Run(); err != nil && cmd.ProcessState == nil {
		t.Fatal(err) // the exit status is shown by "echo $?", where it matters
	}
	return out.String()
}

// matches reports whether output is what a page says.
func matches(got, want string) bool {
	pattern := regexp.QuoteMeta(strings.TrimSpace(want))
	pattern = regexp.MustCompile(`(?m)^…\n`).ReplaceAllString(pattern, `(?s:.*?\n)??`)
	pattern = regexp.MustCompile(`(?m)^…$`).ReplaceAllString(pattern, `(?s:.*)`)
	pattern = strings.ReplaceAll(pattern, "…", `(?s:.*?)`)
	return regexp.MustCompile(`^` + pattern + `$`).MatchString(strings.TrimSpace(got))
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		got, want string
		ok        bool
	}{
		{"a\nb\n", "a\nb", true},
		{"a\nb\n", "a\nc", false},
		{"a\nb\n", "a", false},
		{"took (3ms)\n", "took (…)", true},
		{"took (3ms) twice\n", "took (…)", false},
		{"1\n2\n3\n", "…\n3", true},
		{"3\n", "…\n3", true},
		{"1\n2\n", "…\n3", false},
		{"1\n2\n3\n", "1\n…", true},
		{"a.c\n", "a.c", true},
		{"abc\n", "a.c", false},
	} {
		if matches(c.got, c.want) != c.ok {
			t.Errorf("%q and %q: want %t", c.got, c.want, c.ok)
		}
	}
}

// The tool files that a page shows are sound, and so are its whole plans.
func TestPlansAndToolFiles(t *testing.T) {
	plans := 0
	for _, page := range pages(t) {
		var tools []*file.File
		var documents []*lang.Document
		tools = append(tools, linkedTools(t, page)...)
		for _, b := range blocks(t, page) {
			source := diag.NewFile(b.String(), []byte(b.text))
			switch {
			case b.lang == "yaml" && regexp.MustCompile(`(?m)^    expect: (allow|{verdict)`).MatchString(b.text):
				if _, findings := file.ReadPolicyTests(source); findings.HasErrors() {
					t.Error(findings.Err())
				}
			case b.lang == "yaml" && regexp.MustCompile(`(?m)^tests:`).MatchString(b.text):
				if _, findings := file.ReadTests(source); findings.HasErrors() {
					t.Error(findings.Err())
				}
			case b.lang == "yaml" && regexp.MustCompile(`(?m)^(tools|activities):`).MatchString(b.text):
				f, findings := file.Read(source)
				if err := findings.Err(); err != nil {
					t.Error(err)
				}
				f.Secrets = &file.Secrets{LookupEnv: func(string) (string, bool) { return "secret", true }}
				tools = append(tools, f)
			case b.lang == "json" || b.lang == "jsonc":
				if doc, findings := lang.Parse(source, nil); len(doc.Calls) > 0 {
					if err := findings.Err(); err != nil {
						t.Error(err)
					}
					documents = append(documents, doc)
				}
			}
		}
		catalogue, _, findings := file.Catalogue(tools...)
		if err := findings.Err(); err != nil {
			t.Error(err)
		}
		for _, doc := range documents {
			plans++
			if _, findings := compile.Compile(doc, &compile.Options{Catalogue: catalogue, Predicates: cel.New()}); findings.HasErrors() {
				t.Error(findings.Err())
			}
		}
	}
	if plans == 0 {
		t.Error("there are no plans")
	}
}

// linkedTools are the tool files that a page links to.
func linkedTools(t *testing.T, page string) (tools []*file.File) {
	t.Helper()
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range link.FindAllSubmatch(text, -1) {
		name := filepath.Join(filepath.Dir(page), string(m[1]))
		if filepath.Base(name) != "tools.yaml" {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f, findings := file.Read(diag.NewFile(name, text))
		if err := findings.Err(); err != nil {
			t.Error(err)
		}
		tools = append(tools, f)
	}
	return tools
}

// The codes of the reference are those that there are.
func TestCodes(t *testing.T) {
	text, err := os.ReadFile("docs/plan-language.md")
	if err != nil {
		t.Fatal(err)
	}
	_, table, _ := strings.Cut(string(text), "| code | what |")
	listed := regexp.MustCompile(`\| (PLC\d+) \|`).FindAllStringSubmatch(table, -1)
	var codes []string
	for _, m := range listed {
		codes = append(codes, m[1])
	}
	slices.Sort(codes)
	var want []string
	for _, c := range diag.Codes() {
		want = append(want, c.String())
	}
	slices.Sort(want)
	if !slices.Equal(codes, want) {
		t.Errorf("docs/plan-language.md §11 has\n%s\nand package diag\n%s", codes, want)
	}
}

// shown is a file that a page shows in full.
var shown = regexp.MustCompile("(?m)^\\[`([a-z/._]+)`\\]\\([^)]*\\).*:\n\n```[a-z]+\n((?s:.*?))```")

func TestShownFiles(t *testing.T) {
	n := 0
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range shown.FindAllSubmatch(text, -1) {
			n++
			name := string(m[1])
			want, err := os.ReadFile(name)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(m[2], want) {
				t.Errorf("%s shows %s, but not as it is", page, name)
			}
		}
	}
	if n == 0 {
		t.Error("no page shows a file")
	}
}

// link is a link of Markdown to a place in the repository.
var link = regexp.MustCompile(`\]\(([^)#:]+)(#[^)]*)?\)`)

func TestLinks(t *testing.T) {
	for _, page := range pages(t) {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range link.FindAllSubmatch(text, -1) {
			if _, err := os.Stat(filepath.Join(filepath.Dir(page), string(m[1]))); err != nil {
				t.Errorf("%s: the link %s leads nowhere", page, m[1])
			}
		}
	}
}

// The picture in the README is what plc draws.
func TestPicture(t *testing.T) {
	const picture = "docs/history.svg"
	got, err := exec.CommandContext(t.Context(), "go", "run", "./cmd/plc", "graph",
		"examples/history/plan.json", "--tools", "examples/history/tools.yaml", "--as", "svg").Output()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(picture, got, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(picture)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what plc draws; go test -update . makes it anew", picture)
	}
}
