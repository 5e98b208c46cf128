package compile_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/file"
	"github.com/plc-lang/plc/tool/standin"
)

// The cases of testdata/check and how they are written are described in the
// README there.

const checkDir = "../testdata/check"

// checkCase is a document of a file of cases, with what it is compiled against.
type checkCase struct {
	name  string // "file.jsonc:12: what it shows"
	src   *diag.File
	line  int // where it begins
	parse lang.Options
	opts  compile.Options
}

// expectation is one item of a want comment.
type expectation struct {
	code     string
	severity string // "" is that of the code's page
	related  bool   // a related place of a finding of this code
	texts    []string
	met      bool
}

func (e *expectation) String() string {
	s := e.code
	if e.severity != "" {
		s = e.severity + " " + s
	}
	if e.related {
		s = "related " + s
	}
	for _, text := range e.texts {
		s += " " + strconv.Quote(text)
	}
	return s
}

// matches reports whether a finding, or a related message of one, is what e wants.
func (e *expectation) matches(f *diag.Finding, related bool, message string) bool {
	if e.met || e.related != related || e.code != f.Code.String() {
		return false
	}
	if !related && f.Severity.String() != e.wantedSeverity(f.Code) {
		return false
	}
	for _, text := range e.texts {
		if !strings.Contains(message, text) {
			return false
		}
	}
	return true
}

func (e *expectation) wantedSeverity(code diag.Code) string {
	if e.severity != "" {
		return e.severity
	}
	page, _ := diag.Explain(code)
	return page.Severity.String()
}

// checkFiles are the files of cases.
func checkFiles(t testing.TB) []string {
	names, err := filepath.Glob(checkDir + "/*.jsonc")
	if err != nil || len(names) == 0 {
		t.Fatalf("no cases in %s: %v", checkDir, err)
	}
	return names
}

// checkCases are the cases of a file.
func checkCases(t testing.TB, name string) []*checkCase {
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	tools := checkTools(t, name)
	var cases []*checkCase
	lines := strings.SplitAfter(string(text), "\n")
	for first := 0; first < len(lines); {
		title, ok := strings.CutPrefix(lines[first], "// case: ")
		last := first + 1
		for last < len(lines) && !strings.HasPrefix(lines[last], "// case: ") {
			last++
		}
		if ok {
			title = fmt.Sprintf("%s:%d: %s", filepath.Base(name), first+1, strings.TrimSpace(title))
			cases = append(cases, newCheckCase(t, name, title, lines[:last], first, tools))
		}
		first = last
	}
	return cases
}

// checkTools are the tools of all cases and those of this file, and their policy.
func checkTools(t testing.TB, name string) compile.Options {
	names := []string{checkDir + "/tools.yaml"}
	if own := strings.TrimSuffix(name, ".jsonc") + ".tools.yaml"; exists(own) {
		names = append(names, own)
	}
	return fileTools(t, names...)
}

func exists(name string) bool {
	_, err := os.Stat(name)
	return err == nil
}

// fileTools are the tools of tool files, in which there is nothing wrong, and their
// policy.
func fileTools(t testing.TB, names ...string) compile.Options {
	var sources []*diag.File
	for _, n := range names {
		text, err := os.ReadFile(n)
		if err != nil {
			t.Fatal(err)
		}
		sources = append(sources, diag.NewFile(n, text))
	}
	return sourceTools(t, sources...)
}

func sourceTools(t testing.TB, sources ...*diag.File) compile.Options {
	var files []*file.File
	for _, source := range sources {
		f, findings := file.Read(source)
		for i := range findings {
			t.Errorf("%s", &findings[i])
		}
		files = append(files, f)
	}
	cat, policy, findings := file.Catalogue(files...)
	for i := range findings {
		t.Errorf("%s", &findings[i])
	}
	return compile.Options{Catalogue: cat, Allow: policy.Allow, Deny: policy.Deny}
}

// newCheckCase makes the case of lines[first:]. The lines before it are left empty, so
// that the places of findings are those of the file.
func newCheckCase(t testing.TB, name, title string, lines []string, first int, opts compile.Options) *checkCase {
	text := strings.Repeat("\n", first) + strings.TrimRight(strings.Join(lines[first:], ""), "\n")
	c := &checkCase{name: title, src: diag.NewFile(name, []byte(text)), line: first + 1, opts: opts}
	c.opts.Values, c.opts.Schemas = map[string]compile.Given{}, map[string]compile.Given{}
	for n, line := range lines[first:] {
		m := directive.FindStringSubmatch(line)
		if m == nil {
			continue
		}
		if err := c.directive(m[1], strings.TrimSpace(m[2])); err != nil {
			t.Fatalf("%s:%d: %v", name, first+n+1, err)
		}
	}
	return c
}

var directive = regexp.MustCompile(`^// ([a-z]+(?: schema)?): (.*)`)

// directive obeys a line such as "// input: {}".
func (c *checkCase) directive(name, value string) error {
	kind, isSchema := strings.CutSuffix(name, " schema")
	switch {
	case name == "case":
	case name == "options":
		for word := range strings.FieldsSeq(value) {
			if err := c.option(word); err != nil {
				return err
			}
		}
	default:
		var raw json.RawMessage
		if err := json.NewDecoder(strings.NewReader(value)).Decode(&raw); err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		at := strings.Index(string(c.src.Text), "// "+name+": "+value) + len("// "+name+": ")
		given := compile.Given{JSON: raw, Loc: diag.Loc{File: c.src, Span: diag.Span{Start: int32(at), End: int32(at + len(raw))}}}
		if isSchema {
			c.opts.Schemas[kind] = given
		} else {
			c.opts.Values[kind] = given
		}
	}
	return nil
}

// option obeys a word of an options line.
func (c *checkCase) option(word string) error {
	o := &c.opts
	name, value, _ := strings.Cut(word, "=")
	number, _ := strconv.ParseFloat(value, 64)
	switch {
	case word == "run":
		o.Run = true
	case word == "lazy":
		o.Lazy = true
	case word == "strict":
		o.Strict = true
	case word == "models":
		o.Models = func(string) (tool.Activity, error) { return standin.New(standin.Config{}) }
	case word == "answer":
		c.parse.Answer = true
	case word == "effects=strict":
		o.Effects = compile.StrictEffects
	case word == "effects=none":
		o.Effects = compile.NoEffects
	case word == "refs=lenient":
		o.Refs = compile.LenientRefs
	case name == "allow":
		o.Allow = strings.Split(value, ",")
	case name == "deny":
		o.Deny = strings.Split(value, ",")
	case number == 0:
		return fmt.Errorf("unknown option %q", word)
	case name == "steps":
		o.Budget.Steps = int(number)
	case name == "tokens":
		o.Budget.Tokens = number
	case name == "cost":
		o.Budget.Cost = number
	case name == "depth":
		c.parse.MaxDepth = int(number)
	case name == "calls":
		c.parse.MaxCalls = int(number)
	case name == "bytes":
		c.parse.MaxBytes = int(number)
	default:
		return fmt.Errorf("unknown option %q", word)
	}
	return nil
}

// check is what the command does with a plan.
func (c *checkCase) check() (*compile.Program, diag.List) {
	doc, findings := lang.Parse(c.src, &c.parse)
	prog, more := compile.Compile(doc, &c.opts)
	findings = append(findings, more...)
	findings.Sort()
	return prog, findings
}

var (
	wantComment = regexp.MustCompile(`// want((?: (?:error |warning |info |related )*PLC\d+(?: (?:"(?:[^"\\]|\\.)*"|` + "`[^`]*`" + `))*)+)`)
	wantItem    = regexp.MustCompile(` ((?:error |warning |info |related )*)(PLC\d+)((?: (?:"(?:[^"\\]|\\.)*"|` + "`[^`]*`" + `))*)`)
	wantText    = regexp.MustCompile(`"(?:[^"\\]|\\.)*"|` + "`[^`]*`")
)

// wants are the expectations of a case by line.
func (c *checkCase) wants(t *testing.T) map[int][]*expectation {
	all := map[int][]*expectation{}
	for i, line := range strings.Split(string(c.src.Text), "\n") {
		m := wantComment.FindStringSubmatch(line)
		if m == nil {
			if strings.Contains(line, "// want") {
				t.Errorf("%s:%d: a want that is not understood", c.src.Name, i+1)
			}
			continue
		}
		for _, item := range wantItem.FindAllStringSubmatch(m[1], -1) {
			e := &expectation{code: item[2]}
			e.severity, e.related = strings.TrimSpace(item[1]), false
			if e.severity == "related" {
				e.severity, e.related = "", true
			}
			for _, quoted := range wantText.FindAllString(item[3], -1) {
				text, err := strconv.Unquote(quoted)
				if err != nil {
					t.Errorf("%s:%d: %s: %v", c.src.Name, i+1, quoted, err)
				}
				e.texts = append(e.texts, text)
			}
			all[i+1] = append(all[i+1], e)
		}
	}
	return all
}

// compare reports what was found and not wanted, and the other way round.
func (c *checkCase) compare(t *testing.T, findings diag.List) {
	wants := c.wants(t)
	meet := func(f *diag.Finding, loc diag.Loc, related bool, message string) bool {
		i := slices.IndexFunc(wants[c.lineOf(loc)], func(e *expectation) bool { return e.matches(f, related, message) })
		if i >= 0 {
			wants[c.lineOf(loc)][i].met = true
		}
		return i >= 0
	}
	for i := range findings {
		f := &findings[i]
		if f.Loc.File != c.src || !meet(f, f.Loc, false, f.Message) {
			t.Errorf("%s:%d: not wanted: %s %s: %s", c.src.Name, c.lineOf(f.Loc), f.Severity, f.Code, f.Message)
		}
		for _, r := range f.Related {
			if r.Loc.File == c.src {
				meet(f, r.Loc, true, r.Message)
			}
		}
	}
	for line, list := range wants {
		for _, e := range list {
			if !e.met {
				t.Errorf("%s:%d: not found: %s", c.src.Name, line, e)
			}
		}
	}
}

// lineOf is the line of a place; that of the whole file is the first of the case.
func (c *checkCase) lineOf(loc diag.Loc) int {
	return max(c.line, c.src.Position(int(loc.Span.Start)).Line)
}

func TestCheck(t *testing.T) {
	for _, name := range checkFiles(t) {
		t.Run(strings.TrimSuffix(filepath.Base(name), ".jsonc"), func(t *testing.T) {
			for _, c := range checkCases(t, name) {
				_, findings := c.check()
				c.compare(t, findings)
			}
		})
	}
}

// TestCheckCoversAllCodes asks for a case of every code, but for those of which
// nothing is implemented. The list must shrink.
func TestCheckCoversAllCodes(t *testing.T) {
	seen := map[string]bool{}
	for _, name := range checkFiles(t) {
		for _, c := range checkCases(t, name) {
			for _, list := range c.wants(t) {
				for _, e := range list {
					seen[e.code] = true
				}
			}
		}
	}
	var missing []diag.Code
	for _, code := range diag.Codes() {
		if !seen[code.String()] {
			missing = append(missing, code)
		}
	}
	want := []diag.Code{
		// Are about other notations (lang/dialect).
		diag.BadNotation, diag.PerhapsCutOff, diag.CannotSay, diag.NotEarlier, diag.LinkDisagrees,
		// Are about servers of tools (tool/mcp, tool/file).
		diag.AmbiguousTool, diag.BadServer,
		// Are about policies on the flow of information (compile/flow).
		diag.NotTrusted, diag.TooSecret, diag.BeyondLimit, diag.WrongOrder, diag.AgainstRule, diag.BadPolicy, diag.IdleRule,
		// Is about undoing runs (exec/undo).
		diag.NoReturn,
		// No plan gives it: see TestPanicIsAFinding.
		diag.InternalError,
	}
	slices.Sort(want)
	if !slices.Equal(missing, want) {
		t.Errorf("codes without a case: %v, want %v", missing, want)
	}
}

// TestFixesMend applies each fix by itself: the finding must be gone, and nothing
// worse may come of it.
func TestFixesMend(t *testing.T) {
	for _, name := range checkFiles(t) {
		for _, c := range checkCases(t, name) {
			_, findings := c.check()
			for i := range findings {
				f := &findings[i]
				if f.Fix == nil || f.Loc.File != c.src {
					continue
				}
				text, err := diag.ApplyFixes(c.src.Text, []*diag.Fix{f.Fix})
				if err != nil {
					t.Errorf("%s: %v", c.name, err)
					continue
				}
				mended := *c
				mended.src = diag.NewFile(c.src.Name, text)
				_, after := mended.check()
				same := func(g diag.Finding) bool { return g.Code == f.Code }
				if count(after, same) >= count(findings, same) {
					t.Errorf("%s: %s is not mended by %q", c.name, f, f.Fix.Message)
				}
			}
		}
	}
}

func count(l diag.List, is func(diag.Finding) bool) int {
	n := 0
	for i := range l {
		if is(l[i]) {
			n++
		}
	}
	return n
}

// Another path is offered when the names that differ are near, however much the paths have in
// common.
func TestReferenceThatWasMeant(t *testing.T) {
	for _, c := range []struct{ said, written, want string }{
		{"†state.comit", "†state.commit", "†state.commit"},
		{"†state.user.nmae", "†state.user.name", "†state.user.name"},
		{"†state.usr.name", "†state.user.name", "†state.user.name"},
		{"†state.Y", "†state.y", "†state.y"},
		{"†state.y", "†state.x", ""},
		{"†state.ab", "†state.cd", ""},
		{"†state.y.name", "†state.x.name", ""},
		{"†state.order.items.a", "†state.order.items.b", ""},
		{"†state.none", "†state.o", ""},
	} {
		_, findings := files{"plan.json": fmt.Sprintf(`[{"_tool":"any","v":1,"_outputPath":%q},{"_tool":"any","v":%q,"_outputPath":"†data.z"}]`, c.written, c.said)}.compile(t, nil)
		i := slices.IndexFunc(findings, func(f diag.Finding) bool { return f.Code == diag.NothingThere })
		if i < 0 {
			t.Errorf("%s is found among %v", c.said, findings)
			continue
		}
		got := ""
		if fix := findings[i].Fix; fix != nil {
			got = fix.Edits[0].Text
		}
		if got != c.want {
			t.Errorf("%s, where %s is written: meant %q, want %q", c.said, c.written, got, c.want)
		}
	}
}
