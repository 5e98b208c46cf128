package notations_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/effort"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect"
	"github.com/plc-lang/plc/lang/dialect/notations"
)

var update = flag.Bool("update", false, "write the golden files")

// options know a few tools.
func options() *dialect.Options {
	tools := map[string][]string{
		"search": {"query"}, "math": {"problem", "context"}, "send_sms": {"to", "text"}, "now": {},
		"divide": {"a", "b"}, "add": {"a", "b"}, "sqrt": {"a"}, "Search": {"query"},
		"Image Downloader": {"url"}, "stitch": {"image", "image2"},
	}
	results := map[string][]string{
		"getGene": {"symbol", "sequence", "length"},
		"quote":   {"price", "change (in U.S. dollars)", "a.b"},
	}
	lookup := func(of map[string][]string) func(tool string) ([]string, bool) {
		return func(tool string) ([]string, bool) {
			names, ok := of[tool]
			return names, ok
		}
	}
	kinds := map[string][2][]string{
		"Image Search": {{"text"}, {"image"}}, "Image Search (by Image)": {{"image"}, {"image"}}, "Text Search": {{"text"}, {"text"}},
		"Video-to-Audio": {{"video"}, {"audio"}}, "Audio Effects": {{"audio", "text"}, {"audio"}}, "Video Voiceover": {{"video", "text"}, {"video"}},
		"URL Extractor": {{"text"}, {"url"}}, "Audio Downloader": {{"url"}, {"audio"}}, "Sentence Similarity": {{"text", "text"}, nil},
	}
	return &dialect.Options{Params: lookup(tools), Results: lookup(results), Kinds: func(tool string) ([]string, []string) {
		return kinds[tool][0], kinds[tool][1]
	}}
}

// TestGolden reads the plans of testdata/NAME.txtar: each plan is a file case.txt, or
// case.record if it stands among what is no part of it, followed by what is made of it,
// case.json, and by what is found, case.findings, where there is something.
func TestGolden(t *testing.T) {
	for _, n := range notations.All() {
		t.Run(n.Name, func(t *testing.T) { golden(t, n) })
	}
}

func golden(t *testing.T, n *dialect.Notation) {
	name := filepath.Join("testdata", n.Name+".txtar")
	old, err := txtar.ParseFile(name)
	if os.IsNotExist(err) {
		t.Skip("there are no cases")
	}
	if err != nil {
		t.Fatal(err)
	}
	made := &txtar.Archive{Comment: old.Comment}
	for _, f := range old.Files {
		stem, isCase := strings.CutSuffix(strings.Replace(f.Name, ".record", ".txt", 1), ".txt")
		if !isCase {
			continue
		}
		made.Files = append(made.Files, f)
		plan, findings := outcome(t, n, stem, f.Data)
		if plan != nil {
			made.Files = append(made.Files, txtar.File{Name: stem + ".json", Data: plan})
		}
		if findings != nil {
			made.Files = append(made.Files, txtar.File{Name: stem + ".findings", Data: findings})
		}
	}
	if *update {
		if err := os.WriteFile(name, txtar.Format(made), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	was := map[string]string{}
	for _, f := range old.Files {
		was[f.Name] = string(f.Data)
	}
	for _, f := range made.Files {
		if was[f.Name] != string(f.Data) {
			t.Errorf("%s is\n%s\nwant\n%s", f.Name, f.Data, was[f.Name])
		}
		delete(was, f.Name)
	}
	for name := range was {
		t.Errorf("%s is not made any more", name)
	}
}

// outcome returns the plan, unless it has errors, and what is found.
func outcome(t *testing.T, n *dialect.Notation, name string, text []byte) (plan, findings []byte) {
	doc, found := n.Parse(diag.NewFile(name, bytes.TrimSuffix(text, []byte("\n"))), options())
	sound(t, doc, found)
	for i := range found {
		if found[i].Code == diag.InternalError {
			t.Fatal(&found[i])
		}
	}
	if !found.HasErrors() {
		var err error
		if plan, err = lang.Format(doc); err != nil {
			t.Fatal(err)
		}
		again(t, n, name, doc)
	}
	if len(found) > 0 {
		var out bytes.Buffer
		if err := diag.WriteText(&out, found, nil); err != nil {
			t.Fatal(err)
		}
		findings = out.Bytes()
	}
	return plan, findings
}

// sound checks that all places are inside the original.
func sound(t *testing.T, doc *lang.Document, found diag.List) {
	t.Helper()
	size := int32(len(doc.File.Origin().Text))
	inside := func(l diag.Loc) {
		l = l.Origin()
		if s := l.Span; l.File != doc.File.Origin() || s.Start < 0 || s.End < s.Start || s.End > size {
			t.Errorf("a finding is at %v of %d bytes", s, size)
		}
	}
	for _, f := range found {
		f = f.Origin()
		inside(f.Loc)
		for _, r := range f.Related {
			inside(r.Loc)
		}
		if f.Fix == nil {
			continue
		}
		if _, err := diag.ApplyFixes(doc.File.Origin().Text, []*diag.Fix{f.Fix}); err != nil {
			t.Errorf("%s: the fix %q can't be made: %v", f.Code, f.Fix.Message, err)
		}
	}
}

// again writes a plan in its notation, and wants the same plan when it is read back.
func again(t *testing.T, n *dialect.Notation, name string, doc *lang.Document) {
	t.Helper()
	if n.Write == nil {
		return
	}
	text, refused := n.Write(doc)
	if refused != nil {
		t.Logf("%s: %s", name, refused[0].Message)
		return
	}
	back, found := n.Parse(diag.NewFile(name, text), options())
	if found.HasErrors() {
		t.Errorf("%s: written as\n%s\nit is read with %v", name, text, found)
		return
	}
	if got, want := shape(back), shape(doc); got != want {
		t.Errorf("%s: written as\n%s\nand read back it is\n%s\nwant\n%s", name, text, got, want)
	}
}

// shape returns what counts of a plan: tools, params in any order and what they refer to, by the
// places of calls.
func shape(doc *lang.Document) string {
	var out strings.Builder
	places := map[string]string{}
	for i := range doc.Calls {
		c := &doc.Calls[i]
		if c.Tool == "join" {
			continue
		}
		out.WriteString(c.Tool + "\n")
		var params []string
		for _, p := range c.Params {
			params = append(params, "  "+p.Name+" = "+said(p.Value, places)+"\n")
		}
		slices.Sort(params)
		out.WriteString(strings.Join(params, ""))
		if to := c.OutputPath(); to != nil {
			places[to.String()] = dialect.Label(i)
		}
	}
	return out.String()
}

// said returns a value with its references as the places of calls.
func said(n lang.Node, places map[string]string) string {
	var out strings.Builder
	switch n.Kind() {
	case lang.Array:
		for _, e := range n.Elements() {
			out.WriteString("[" + said(e, places) + "]")
		}
	case lang.Object:
		for m := range n.Members() {
			out.WriteString("{" + m.Name + " " + said(m.Value, places) + "}")
		}
	case lang.String:
		if n.Text() == nil {
			return n.Str()
		}
		for _, p := range n.Text().Parts {
			switch {
			case p.Expr == nil:
				out.WriteString(p.Literal)
			case p.Expr.Op == lang.OpLiteral:
				out.WriteString(strings.Trim(string(p.Expr.Value), `"'`))
			default:
				out.WriteString("⟨" + places[p.Expr.String()] + "⟩")
			}
		}
	default:
		return string(n.AppendJSON(nil))
	}
	return out.String()
}

func FuzzLLMCompiler(f *testing.F)    { fuzz(f, "llmcompiler", true) }
func FuzzReWOO(f *testing.F)          { fuzz(f, "rewoo", true) }
func FuzzMathQA(f *testing.F)         { fuzz(f, "mathqa", true) }
func FuzzQDMR(f *testing.F)           { fuzz(f, "qdmr", true) }
func FuzzNESTFUL(f *testing.F)        { fuzz(f, "nestful", false) }
func FuzzTaskBench(f *testing.F)      { fuzz(f, "taskbench", false) }
func FuzzMnMs(f *testing.F)           { fuzz(f, "mnms", false) }
func FuzzSealTools(f *testing.F)      { fuzz(f, "sealtools", false) }
func FuzzFlux(f *testing.F)           { fuzz(f, "flux", false) }
func FuzzTEA(f *testing.F)            { fuzz(f, "tea", false) }
func FuzzPlanStep(f *testing.F)       { fuzz(f, "planstep", false) }
func FuzzAgentFramework(f *testing.F) { fuzz(f, "agentframework", false) }
func FuzzArazzo(f *testing.F)         { fuzz(f, "arazzo", false) }
func FuzzToolCalls(f *testing.F)      { fuzz(f, "toolcalls", false) }

// fuzz wants no panic, places that are inside the text, fixes that can be made, plans that
// can be formatted and written, and, if the notation keeps everything, nothing dropped.
func fuzz(f *testing.F, name string, keeps bool) {
	n, _ := notations.Lookup(name)
	archive, err := txtar.ParseFile(filepath.Join("testdata", name+".txtar"))
	if err != nil {
		f.Fatal(err)
	}
	for _, file := range archive.Files {
		if strings.HasSuffix(file.Name, ".txt") || strings.HasSuffix(file.Name, ".record") {
			f.Add(string(file.Data), len(file.Data)/2)
		}
	}
	f.Fuzz(func(t *testing.T, text string, at int) {
		outcome(t, n, "fuzz", []byte(text))
		if isRecord := strings.HasPrefix(strings.TrimLeft(text, "\ufeff \t\r\n"), "{"); isRecord {
			return // its other members are not of the plan
		}
		if keeps && at >= 0 && at <= len(text) && utf8.ValidString(text[:at]) {
			kept(t, n, text, at)
		}
	})
}

// TestNothingIsDropped puts a word into the plans, anywhere: it is reported or stands in what
// is made of them.
func TestNothingIsDropped(t *testing.T) {
	for _, n := range notations.All() {
		archive, err := txtar.ParseFile(filepath.Join("testdata", n.Name+".txtar"))
		if err != nil {
			continue
		}
		for _, file := range archive.Files {
			if !strings.HasSuffix(file.Name, ".txt") {
				continue
			}
			for at := range string(file.Data) {
				if at%effort.Of(5, 1) == 0 {
					kept(t, n, string(file.Data), at)
				}
			}
		}
	}
}

// kept checks that a word at a place of a plan is not dropped.
func kept(t *testing.T, n *dialect.Notation, text string, at int) {
	t.Helper()
	const word = "Qzq"
	with := text[:at] + word + text[at:]
	doc, found := n.Parse(diag.NewFile("kept", []byte(with)), options())
	if len(found) == 0 && !strings.Contains(strings.ToLower(string(doc.File.Text)), strings.ToLower(word)) {
		t.Errorf("%s: %q in %q is dropped", n.Name, word, with)
	}
}
