package compile_test

import (
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/effort"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/tool"
)

// subTools are what the plans of these tests call.
const subTools = `{
	"sub": {"properties": {}},
	"num": {"properties": {"n": {"type": "integer"}, "_output": {"type": "integer"}}, "required": ["n"], "additionalProperties": false, "effects": {"readOnly": true}},
	"str": {"properties": {"s": {"type": "string"}, "_output": {"type": "string"}}, "required": ["s"], "effects": {"readOnly": true}},
	"any": {"properties": {"v": {}}, "effects": {"pure": true}},
	"people": {"effects": {"readOnly": true}, "properties": {"_output": {"type": "array", "items": {"type": "object",
		"properties": {"name": {"type": "string"}, "age": {"type": "integer"}}, "required": ["name", "age"], "additionalProperties": false}}}},
	"pay": {"properties": {}, "effects": {"readOnly": false}},
	"post": {"properties": {}, "effects": {"readOnly": false, "independent": true}}
}`

func subCatalogue(t testing.TB) *tool.Catalogue {
	t.Helper()
	list := gather(t, subTools)
	return tool.NewCatalogue(list...)
}

// gather are the tools of a map of definitions, each with an activity.
func gather(t testing.TB, text string) []*tool.Tool {
	t.Helper()
	doc, _ := lang.Parse(diag.NewFile("tools", []byte(text)), nil)
	var list []*tool.Tool
	for m := range doc.Root.Members() {
		def, findings := tool.ParseDefinition(m.Value.AppendJSON(nil), m.Name, diag.Loc{})
		if findings.HasErrors() {
			t.Fatal(findings)
		}
		list = append(list, &tool.Tool{Definition: def, Source: "go", Activity: tool.ActivityFunc(nil)})
	}
	return list
}

// files are documents by name; the plan is plan.json.
type files map[string]string

func (f files) compile(t testing.TB, opts *compile.Options) (*compile.Program, diag.List) {
	t.Helper()
	o := compile.Options{}
	if opts != nil {
		o = *opts
	}
	if o.Catalogue == nil {
		o.Catalogue = subCatalogue(t)
	}
	if o.Delegates == nil {
		dir := fstest.MapFS{}
		for name, text := range f {
			dir[name] = &fstest.MapFile{Data: []byte(text)}
		}
		o.Delegates = dir
	}
	doc, findings := lang.Parse(diag.NewFile("plan.json", []byte(f["plan.json"])), nil)
	prog, more := compile.Compile(doc, &o)
	return prog, append(findings, more...)
}

// inShort are the findings in short: file CODE message.
func inShort(l diag.List) []string {
	var all []string
	for _, f := range l {
		if f.Severity == diag.Info || f.Code == diag.ResultDropped {
			continue // not what these tests are about
		}
		name := "?"
		if f.Loc.File != nil {
			name = f.Loc.File.Name
		}
		all = append(all, fmt.Sprintf("%s %s %s", name, f.Code, f.Message))
	}
	return all
}

// expect compares findings with what they must begin with and hold.
func expect(t *testing.T, got diag.List, want ...string) {
	t.Helper()
	all := inShort(got)
	for _, w := range want {
		head, text, _ := strings.Cut(w, ": ")
		i := slices.IndexFunc(all, func(s string) bool { return strings.HasPrefix(s, head) && strings.Contains(s, text) })
		if i < 0 {
			t.Errorf("no %q among\n\t%s", w, strings.Join(all, "\n\t"))
			continue
		}
		all = slices.Delete(all, i, i+1)
	}
	for _, extra := range all {
		t.Errorf("unexpected: %s", extra)
	}
}

func TestDelegates(t *testing.T) {
	const typed = `[{"type":"input","schema":{"type":"object","properties":{"n":{"type":"integer"},"s":{"type":"string"}},"required":["n"],"additionalProperties":false}},
		{"type":"plan","plan":[{"_tool":"num","n":"†input.n","_outputPath":"†state.twice"}]}]`
	const open = `[{"_tool":"num","n":"†input.n","_outputPath":"†state.twice"}]`
	for name, c := range map[string]struct {
		files files
		want  []string
	}{
		"a plan that fits": {files{"plan.json": `[{"_tool":"sub","n":4,"_delegate":"sub.json","_outputPath":"†state.r"},{"_tool":"num","n":"†state.r.twice","_outputPath":"†state.q"}]`, "sub.json": typed}, nil},
		"no such file":     {files{"plan.json": `[{"_tool":"sub","_delegate":"gone.json"}]`}, []string{"plan.json PLC701: no such file"}},
		"not a plan":       {files{"plan.json": `[{"_tool":"sub","_delegate":"x.json"}]`, "x.json": `{"a":1}`}, []string{"plan.json PLC701: found an object with \"a\""}},
		"not JSON":         {files{"plan.json": `[{"_tool":"sub","_delegate":"x.json"}]`, "x.json": `hello`}, []string{"plan.json PLC701"}},
		"empty":            {files{"plan.json": `[{"_tool":"sub","_delegate":"x.json"}]`, "x.json": ``}, []string{"plan.json PLC701"}},
		"a folder":         {files{"plan.json": `[{"_tool":"sub","_delegate":"x"}]`, "x/y.json": `[]`}, []string{"plan.json PLC701: it is a folder"}},
		"no name":          {files{"plan.json": `[{"_tool":"sub","_delegate":" "}]`}, []string{"plan.json PLC701: names no document"}},
		"outside": {files{"plan.json": `[{"_tool":"sub","_delegate":"../x.json"},{"_tool":"sub","_delegate":"a/../../x.json"},{"_tool":"sub","_delegate":"/x.json"},
			{"_tool":"sub","_delegate":"C:x.json"},{"_tool":"sub","_delegate":"a\\x.json"},{"_tool":"sub","_delegate":"https://example.com/x.json"},{"_tool":"sub","_delegate":"file:///etc/passwd"}]`},
			slices.Repeat([]string{"plan.json PLC605"}, 7)},
		"relative to the document that names it": {files{
			"plan.json":  `[{"_tool":"sub","n":1,"_delegate":"a/one.json"}]`,
			"a/one.json": `[{"_tool":"sub","n":"†input.n","_delegate":"two.json"},{"_tool":"sub","n":"†input.n","_delegate":"../b/three.json"},{"_tool":"sub","_delegate":"../../out.json"}]`,
			"a/two.json": open, "b/three.json": open}, []string{"a/one.json PLC605"}},
		"of a tool's definition": {files{
			"plan.json": `[{"type":"tool","tool":{"twice":{"properties":{"n":{},"_delegate":{"const":"sub.json"}}}}},{"type":"plan","plan":[
				{"_tool":"twice","n":4,"_outputPath":"†state.r"},{"_tool":"num","n":"†state.r.twice","_outputPath":"†state.q"},{"_tool":"sub","_delegate":"x/y.json"},
				{"_tool":"twice","n":"x","_outputPath":"†state.u"}]}]`,
			"x/y.json": `[{"_tool":"twice","n":4,"_outputPath":"†state.r"}]`,
			"sub.json": typed}, []string{"plan.json PLC501: the param \"n\" of \"sub.json\""}},
		"params against the declaration": {files{
			"plan.json": `[{"_tool":"str","s":"x","_outputPath":"†state.s"},{"_tool":"sub","_delegate":"sub.json"},{"_tool":"sub","n":1,"m":2,"_delegate":"sub.json"},
				{"_tool":"sub","n":"x","_delegate":"sub.json"},{"_tool":"sub","n":"†state.s","_delegate":"sub.json"}]`,
			"sub.json": typed}, []string{"plan.json PLC205: the document \"sub.json\" requires the param \"n\"", "plan.json PLC206: has no param \"m\"",
			"plan.json PLC501", "plan.json PLC502: †state.s is string"}},
		"the tool's own definition first": {files{
			"plan.json": `[{"_tool":"num","n":"x","_delegate":"sub.json"}]`, "sub.json": typed}, []string{"plan.json PLC501: of \"num\"", "plan.json PLC502: is declared to give integer"}},
		"the types of params flow in": {files{
			"plan.json": `[{"_tool":"sub","n":"x","_delegate":"sub.json"}]`, "sub.json": open}, []string{"sub.json PLC502: \"x\""}},
		"the types of references flow in": {files{
			"plan.json": `[{"_tool":"str","s":"x","_outputPath":"†state.s"},{"_tool":"sub","n":"†state.s","_delegate":"sub.json"}]`, "sub.json": open},
			[]string{"sub.json PLC502: †input.n is string"}},
		"what is not passed": {files{
			"plan.json": `[{"_tool":"sub","m":1,"_delegate":"sub.json"}]`, "sub.json": open}, []string{"sub.json PLC302: the input does not hold †input.n"}},
		"its own input is the default": {files{
			"plan.json": `[{"_tool":"sub","_delegate":"sub.json"},{"_tool":"sub","n":7,"_delegate":"sub.json"}]`,
			"sub.json":  `[{"type":"input","n":3,"schema":{"properties":{"n":{"type":"integer"}},"required":["n"]}},{"type":"plan","plan":` + open + `}]`}, nil},
		"nothing of the caller is seen": {files{
			"plan.json": `[{"type":"state","secret":1},{"type":"plan","plan":[{"_tool":"sub","_delegate":"sub.json"}]}]`,
			"sub.json":  `[{"_tool":"any","v":"†state.secret","_outputPath":"†state.x"}]`}, []string{"sub.json PLC302: only what _scopes names"}},
		"scopes copy in": {files{
			"plan.json": `[{"type":"state","secret":1,"other":{"a":"x"}},{"type":"plan","plan":[{"_tool":"sub","_delegate":"sub.json","_scopes":["state.secret","state.other.a"]}]}]`,
			"sub.json":  `[{"_tool":"num","n":"†state.secret","_outputPath":"†state.x"},{"_tool":"num","n":"†state.other.a","_outputPath":"†state.y"},{"_tool":"any","v":"†state.other.b","_outputPath":"†state.z"}]`},
			[]string{"sub.json PLC502: †state.other.a is \"x\"", "sub.json PLC302: †state.other.b"}},
		"scopes of an instance": {files{
			"plan.json": `[{"type":"state","g":{"a":1}},{"type":"state","_instance":"A","g":{"b":2},"own":"x"},{"type":"plan","plan":[{"_tool":"sub","_instance":"A","_scopes":["state.own","state.g"],"_delegate":"sub.json"}]}]`,
			"sub.json":  `[{"_tool":"num","n":"†state.own","_outputPath":"†state.x"},{"_tool":"any","v":["†state.g.a","†state.g.b"],"_outputPath":"†state.y"}]`},
			[]string{"sub.json PLC502: †state.own is \"x\""}},
		"scopes of another kind": {files{
			"plan.json": `[{"type":"data","kind":"notes","a":1},{"type":"plan","plan":[{"_tool":"sub","_scopes":["notes"],"_delegate":"sub.json"},{"_tool":"sub","_delegate":"sub.json"}]}]`,
			"sub.json":  `[{"_tool":"any","v":"†notes.a","_outputPath":"†state.x"}]`}, []string{"sub.json PLC301: \"notes\""}},
		"results flow out": {files{
			"plan.json": `[{"_tool":"sub","n":1,"_delegate":"sub.json","_outputPath":"†state.r"},{"_tool":"str","s":"†state.r.twice","_outputPath":"†state.q"},{"_tool":"any","v":"†state.r.twyce","_outputPath":"†state.p"}]`,
			"sub.json":  open}, []string{"plan.json PLC502: †state.r.twice is integer", "plan.json PLC302: nothing is ever at †state.r.twyce"}},
		"an output is the result": {files{
			"plan.json": `[{"_tool":"sub","n":1,"_delegate":"sub.json","_outputPath":"†state.r"},{"_tool":"str","s":"†state.r","_outputPath":"†state.q"}]`,
			"sub.json":  `{"calls":` + open + `,"output":"†state.twice"}`}, []string{"plan.json PLC502: †state.r is integer"}},
		"against the declared result": {files{
			"plan.json": `[{"_tool":"str","s":"x","n":1,"_delegate":"sub.json","_outputPath":"†state.r"}]`,
			"sub.json":  open}, []string{"plan.json PLC502: is declared to give string"}},
		"what is written for the caller is read": {files{
			"plan.json": `[{"_tool":"sub","_delegate":"sub.json","_outputPath":"†state.r"}]`,
			"sub.json":  `[{"_tool":"any","_outputPath":"†state.a || †state.b"}]`}, nil},
		"faults once": {files{
			"plan.json": `[{"_tool":"sub","_delegate":"sub.json"},{"_tool":"sub","n":1,"_delegate":"sub.json"},{"_tool":"sub","_delegate":"b.json"}]`,
			"b.json":    `[{"_tool":"sub","_delegate":"sub.json"}]`,
			"sub.json":  `[{"_tool":"nope"},{"_tool":"any","_bad":1}]`}, []string{"sub.json PLC201", "sub.json PLC203"}},
		"faults of reading": {files{"plan.json": `[{"_tool":"sub","_delegate":"x.json"}]`, "x.json": `[{"_tool":"any","v":1,"v":2}]`}, []string{"x.json PLC102"}},
		"faults below a fault": {files{
			"plan.json": `[{"_tool":"nobody","_delegate":"sub.json"}]`, "sub.json": `[{"_tool":"nope"}]`}, []string{"plan.json PLC201", "sub.json PLC201"}},
		"its own tools only add": {files{
			"plan.json": `[{"_tool":"sub","_delegate":"sub.json"},{"_tool":"own"}]`,
			"sub.json":  `[{"type":"tool","tool":{"own":{"properties":{"k":{"type":"integer"}}},"num":{"properties":{}}}},{"type":"plan","plan":[{"_tool":"own","k":"x"},{"_tool":"num"}]}]`},
			[]string{"plan.json PLC201: \"own\"", "sub.json PLC501", "sub.json PLC205"}},
		"itself": {files{"plan.json": `[{"_tool":"sub","_delegate":"plan.json"}]`}, []string{"plan.json PLC702: \"plan.json\" → \"plan.json\""}},
		"a circle": {files{"plan.json": `[{"_tool":"sub","_delegate":"a.json"}]`, "a.json": `[{"_tool":"sub","_delegate":"b.json"}]`, "b.json": `[{"_tool":"sub","_delegate":"./a.json"}]`},
			[]string{"b.json PLC702: \"a.json\" → \"b.json\" → \"a.json\""}},
		"anonymous": {files{"plan.json": `[{"_tool":"sub","_delegate":"anonymous","_outputPath":"†state.r"}]`}, nil},
		"instances that no call names": {files{"plan.json": `[{"_tool":"sub","_delegate":"s.json"}]`,
			"s.json": `[{"type":"state","_instance":"A","x":1},{"type":"plan","plan":[{"_tool":"any"}]}]`}, []string{"s.json PLC703"}},
		"a fallback that delegates": {files{"plan.json": `[{"_tool":"sub","_fallback":"forEach"},{"_tool":"sub","_fallback":"num","n":1,"_delegate":"s.json"}]`, "s.json": `[]`}, []string{"plan.json PLC701: a fallback"}},
		"an activity beside it":     {files{"plan.json": `[{"_tool":"sub","_delegate":"s.json","_activity":"num"}]`, "s.json": `[]`}, []string{"plan.json PLC209: not used"}},
	} {
		t.Run(name, func(t *testing.T) {
			prog, got := c.files.compile(t, nil)
			expect(t, got, c.want...)
			if (prog.Err() != nil) != got.HasErrors() {
				t.Errorf("Err is %v beside %v", prog.Err(), got)
			}
			for _, f := range got {
				if f.Loc.File != prog.File() && (len(f.Related) == 0 || f.Related[len(f.Related)-1].Loc.File != prog.File()) {
					t.Errorf("%s: no place in the plan leads there: %v", f.Message, f.Related)
				}
			}
		})
	}
}

// TestDelegatesToRun compiles for a run, in which the input of a document is not known
// either.
// What _scopes copies is held against the schemas of the document, but where the document, or a
// param, has a value there as well.
func TestDelegateScopesAgainstSchemas(t *testing.T) {
	const plan = `[{"type":"state","state":{"n":7,"user":{"id":1,"name":"ada"}}},{"type":"input","input":{"n":"x","m":1}},{"type":"plan","plan":[
		{"_tool":"num","n":1,"_outputPath":"†state.made"},
		{"_tool":"sub","_delegate":"x.json","_scopes":[%s]%s,"_outputPath":"†state.r"}]}]`
	const doc = `[%s,{"type":"plan","plan":[{"_tool":"any","v":1}]}]`
	for name, c := range map[string]struct {
		scopes, params, messages string
		want                     []string
	}{
		"it fits":         {`"†state.n"`, ``, `{"type":"state","schema":{"properties":{"n":{"type":"integer"}}}}`, nil},
		"it does not":     {`"†state.n"`, ``, `{"type":"state","schema":{"properties":{"n":{"type":"string"}}}}`, []string{`plan.json PLC502: †state.n is 7, and the state of "x.json" takes string there`}},
		"nor what a call": {`"state.made"`, ``, `{"type":"state","schema":{"properties":{"made":{"type":"string"}}}}`, []string{`plan.json PLC502: †state.made is integer, and the state of "x.json" takes string there`}},
		"a member":        {`"†state.user.id"`, ``, `{"type":"state","schema":{"properties":{"user":{"properties":{"id":{"type":"string"}}}}}}`, []string{`plan.json PLC502: †state.user.id is 1`}},
		"of the input":    {`"†input.n"`, ``, `{"type":"input","schema":{"properties":{"n":{"type":"integer"}}}}`, []string{`plan.json PLC502: †input.n is "x", and the input of`}},
		"a param counts":  {`"†input.n"`, `,"n":1`, `{"type":"input","schema":{"properties":{"n":{"type":"integer"}}}}`, nil},
		"merged":          {`"†state.user"`, ``, `{"type":"state","state":{"user":{"role":"x"}},"schema":{"properties":{"user":{"required":["role"]}}}}`, nil},
		"a whole kind":    {`"†state"`, ``, `{"type":"state","schema":{"properties":{"n":{"type":"integer"}},"required":["late"]}}`, nil},
		"required input":  {`"†input.m"`, ``, `{"type":"input","schema":{"properties":{"m":{"type":"integer"}},"required":["m"],"additionalProperties":false}}`, nil},
		"all of it":       {`"†input"`, ``, `{"type":"input","schema":{"properties":{"m":{"type":"integer"},"n":{"type":"string"}},"required":["m","n"]}}`, nil},
		"in one message":  {`"†input.m"`, ``, `{"type":"input","schema":{"properties":{"m":{},"z":{}},"required":["m","z"],"minProperties":2}},{"type":"input","input":{"z":1}}`, nil},
		"required still":  {`"†input.m"`, ``, `{"type":"input","schema":{"properties":{"m":{},"z":{}},"required":["m","z"]}}`, []string{`plan.json PLC205: "z"`}},
	} {
		t.Run(name, func(t *testing.T) {
			_, findings := files{"plan.json": fmt.Sprintf(plan, c.scopes, c.params), "x.json": fmt.Sprintf(doc, c.messages)}.compile(t, nil)
			expect(t, findings, c.want...)
		})
	}
}

// What a document gives is declared where its output stands.
func TestDelegateDeclaresWhatItGives(t *testing.T) {
	_, findings := files{
		"plan.json": `[{"_tool":"sub","_delegate":"x.json","_outputPath":"†state.r"},{"_tool":"num","n":"†state.r.text","_outputPath":"†state.q"}]`,
		"x.json":    `{"calls":[{"_tool":"any","v":1}],"output":{"text":"a"}}`,
	}.compile(t, nil)
	expect(t, findings, `plan.json PLC502: †state.r.text is "a"`)
	var declared []string
	i := slices.IndexFunc(findings, func(f diag.Finding) bool { return f.Code == diag.NotAssignable })
	for _, r := range findings[i].Related {
		if r.Message == "what it gives is declared here" {
			declared = append(declared, fmt.Sprintf("%s %s", r.Loc.File.Name, r.Loc.File.Text[r.Loc.Span.Start:r.Loc.Span.End]))
		}
	}
	if want := []string{`x.json {"text":"a"}`}; !slices.Equal(declared, want) {
		t.Errorf("declared at %q, want %q", declared, want)
	}
}

func TestDelegatesToRun(t *testing.T) {
	f := files{
		"plan.json": `[{"_tool":"sub","n":4,"_delegate":"sub.json","_outputPath":"†state.r"},{"_tool":"forEach","items":[{"n":1}],"_delegate":"sub.json","_outputPath":"†state.q"}]`,
		"sub.json": `[{"type":"input","schema":{"type":"object","properties":{"n":{"type":"integer"},"m":{}},"required":["n"]}},{"type":"state","schema":{"required":["late"],"properties":{"late":{}}}},
			{"type":"plan","plan":[{"_tool":"any","v":["†input.n","†input.m || 0"],"_outputPath":"†state.x"},{"_tool":"any","v":"†state.late","_outputPath":"†state.y"}]}]`,
	}
	for _, run := range []bool{false, true} {
		_, got := f.compile(t, &compile.Options{Run: run})
		expect(t, got, "sub.json PLC302: †state.late")
	}
}

func TestDelegateDepth(t *testing.T) {
	chain := func(n int) files {
		f := files{"plan.json": `[{"_tool":"sub","_delegate":"1.json"}]`}
		for i := 1; i < n; i++ {
			f[fmt.Sprintf("%d.json", i)] = fmt.Sprintf(`[{"_tool":"sub","_delegate":"%d.json"}]`, i+1)
		}
		f[fmt.Sprintf("%d.json", n)] = `[]`
		return f
	}
	for _, c := range []struct {
		n, max int
		deep   bool
	}{{8, 0, false}, {9, 0, true}, {100, 0, true}, {2, 2, false}, {3, 2, true}, {100, 100, false}} {
		_, got := chain(c.n).compile(t, &compile.Options{MaxDepth: c.max})
		if deep := got.HasErrors(); deep != c.deep {
			t.Errorf("%d documents, at most %d: %v", c.n, c.max, inShort(got))
		}
	}
	// Documents that were seen from further down are looked at again from further up.
	f := chain(9)
	f["plan.json"] = `[{"_tool":"sub","_delegate":"1.json"},{"_tool":"sub","_delegate":"8.json"},{"_tool":"sub","_delegate":"2.json"}]`
	_, got := f.compile(t, nil)
	expect(t, got, `plan.json PLC702: "plan.json" → "1.json"`)
}

func TestDelegatePrograms(t *testing.T) {
	f := files{
		"plan.json": `[{"_tool":"sub","n":1,"_delegate":"sub.json"},{"_tool":"sub","n":1,"_delegate":"./sub.json"},{"_tool":"sub","n":"x","_delegate":"sub.json"},{"_tool":"sub","n":1,"_delegate":"sub.json","_scopes":["state"]}]`,
		"sub.json":  `[{"_tool":"any","v":"†input.n"}]`,
	}
	prog, got := f.compile(t, nil)
	expect(t, got)
	p := func(i int) *compile.Program { return prog.Calls[i].Delegate.Program }
	if p(0) != p(1) {
		t.Error("two callers that give the same have two programs")
	}
	if p(0) == p(2) || p(0) == p(3) {
		t.Error("callers that give different things share a program")
	}
	if name := prog.Calls[1].Delegate.Name; name != "sub.json" {
		t.Errorf("its name is %q", name)
	}
	if p(0).File().Name != "sub.json" || len(p(0).Initial["input"]) != 2 {
		t.Errorf("%s with the input %s", p(0).File().Name, p(0).Initial["input"])
	}
}

// counted counts how often a file is opened.
type counted struct {
	fs.FS
	opened map[string]int
}

func (c counted) Open(name string) (fs.File, error) {
	c.opened[name]++
	return c.FS.Open(name)
}

func TestDelegateManyCallers(t *testing.T) {
	n := fewer(effort.Of(10_000, 100_000))
	var b strings.Builder
	b.WriteString("[")
	for i := range n {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(&b, `{"_tool":"sub","n":%d,"_delegate":"sub.json"}`, i)
	}
	b.WriteString("]")
	dir := counted{fstest.MapFS{"sub.json": {Data: []byte(`[{"_tool":"num","n":"†input.n"},{"_tool":"nope"}]`)}}, map[string]int{}}
	prog, got := files{"plan.json": b.String()}.compile(t, &compile.Options{Delegates: dir})
	if prog.Err() == nil {
		t.Error("no error")
	}
	expect(t, got, "sub.json PLC201")
	programs := map[*compile.Program]bool{}
	for i := range prog.Calls {
		programs[prog.Calls[i].Delegate.Program] = true
	}
	if len(programs) > 20 {
		t.Errorf("one document became %d programs", len(programs))
	}
	if dir.opened["sub.json"] > 2 { // a look and a read
		t.Errorf("it was opened %d times", dir.opened["sub.json"])
	}
}

func TestDelegateEffects(t *testing.T) {
	for text, want := range map[string]struct {
		effects    tool.Effects
		repeatable bool
		oneByOne   bool
	}{
		`[]`:                                     {tool.Effects{ReadOnly: tool.Yes, Destructive: tool.No, Idempotent: tool.Yes, OpenWorld: tool.No, Pure: tool.Yes, Independent: tool.Yes}, true, false},
		`[{"_tool":"any"}]`:                      {tool.Effects{ReadOnly: tool.Yes, Destructive: tool.No, Idempotent: tool.Yes, OpenWorld: tool.No, Pure: tool.Yes, Independent: tool.Yes}, true, false},
		`[{"_tool":"any"},{"_tool":"people"}]`:   {tool.Effects{ReadOnly: tool.Yes, Destructive: tool.No, Idempotent: tool.Yes}, true, false},
		`[{"_tool":"people"},{"_tool":"pay"}]`:   {tool.Effects{ReadOnly: tool.No}, false, true},
		`[{"_tool":"post"},{"_tool":"any"}]`:     {tool.Effects{ReadOnly: tool.No, Independent: tool.Yes}, false, false},
		`[{"_tool":"sub","_delegate":"2.json"}]`: {tool.Effects{ReadOnly: tool.No}, false, true},
	} {
		f := files{"plan.json": `[{"_tool":"forEach","items":[],"_delegate":"1.json"}]`, "1.json": text, "2.json": `[{"_tool":"pay"}]`}
		prog, got := f.compile(t, nil)
		if got.HasErrors() {
			t.Errorf("%s: %v", text, inShort(got))
		}
		c := &prog.Calls[0]
		if c.Effects != want.effects || c.Repeatable != want.repeatable || c.Delegate.OneByOne != want.oneByOne {
			t.Errorf("%s: %+v, repeatable %v, one by one %v", text, c.Effects, c.Repeatable, c.Delegate.OneByOne)
		}
	}
}

func TestDelegateFetch(t *testing.T) {
	dir := map[string]string{
		"https://a.example/x/one.json":   `[{"_tool":"sub","_delegate":"two.json"}]`,
		"https://a.example/x/two.json":   `[{"_tool":"nope"}]`,
		"https://a.example/x/local.json": `[{"_tool":"sub","_delegate":"scheme:in.json"}]`,
	}
	fetch := func(url string) ([]byte, error) {
		switch text, ok := dir[url]; {
		case ok:
			return []byte(text), nil
		case strings.HasPrefix(url, "https://a.example/"):
			return nil, errors.New("404")
		}
		return nil, fmt.Errorf("the host of %s: %w", url, fs.ErrPermission)
	}
	f := files{"plan.json": `[{"_tool":"sub","_delegate":"https://a.example/x/one.json"},{"_tool":"sub","_delegate":"https://b.example/"},{"_tool":"sub","_delegate":"https://a.example/gone"},{"_tool":"sub","_delegate":"HTTPS://b.example/"},{"_tool":"sub","_delegate":"https://a.example/x/local.json"}]`,
		"scheme:in.json": `[]`}
	_, got := f.compile(t, &compile.Options{Fetch: fetch})
	expect(t, got, "https://a.example/x/two.json PLC201", "plan.json PLC605: b.example", "plan.json PLC701: 404", "plan.json PLC605: b.example",
		"https://a.example/x/local.json PLC605: only http")
}

func TestDelegateOfUnknownTool(t *testing.T) {
	_, got := files{"plan.json": `[{"_tool":"nobody","_delegate":"sub.json"}]`, "sub.json": `[]`}.compile(t, nil)
	expect(t, got, "plan.json PLC201: nobody")
	if len(got[0].Related) != 1 || !strings.Contains(got[0].Related[0].Message, `{"nobody": {}}`) {
		t.Errorf("%+v", got[0].Related)
	}
}

// The first round of a reduce has the initial value as its result, or null.
func TestDelegateFirstRound(t *testing.T) {
	const (
		plan = `[{"_tool":"reduce","items":[1,2]%s,"_delegate":"sub.json","_outputPath":"†state.x"}]`
		adds = `{"calls":[{"_tool":"num","n":"†input.result","_outputPath":"†state.s"}],"output":"†state.s"}`
	)
	for _, c := range []struct {
		name, initial, sub string
		want               []string
	}{
		{"no initial value", "", adds, []string{"sub.json PLC502: null when none is given"}},
		{"a wrong one", `,"initial":"none"`, adds, []string{"sub.json PLC502: the initial value"}},
		{"a right one", `,"initial":0`, adds, nil},
		{"an unknown one", `,"initial":"†input.start"`, adds, nil},
		{"a call that need not run", "", `{"calls":[{"_tool":"num","n":"†input.result","_when":"†input.ready","_outputPath":"†state.s"}]}`, nil},
		{"any value", "", `[{"_tool":"any","v":"†input.result","_outputPath":"†state.s"}]`, nil},
		{"instead of null", "", `[{"_tool":"num","n":"†input.item","_outputPath":"†state.s"}]`, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, got := files{"plan.json": fmt.Sprintf(plan, c.initial), "sub.json": c.sub}.compile(t, nil)
			expect(t, got, c.want...)
		})
	}
}

// Of items that are no objects the document sees †input.item.
func TestDelegateNameOfPlainItem(t *testing.T) {
	f := files{
		"plan.json": `[{"_tool":"forEach","items":["a","b"],"_delegate":"sub.json"}]`,
		"sub.json":  `[{"_tool":"any","v":"†input.name"}]`,
	}
	_, got := f.compile(t, nil)
	expect(t, got, "sub.json PLC302: the input does not hold †input.name; the item is †input.item")
	f["plan.json"] = `[{"_tool":"forEach","items":[{"nam":"a"}],"_delegate":"sub.json"}]`
	_, got = f.compile(t, nil)
	if strings.Contains(got[0].Message, "item") {
		t.Error(got[0].Message)
	}
}

// A list that is not known may be empty: none of the calls for its items is counted, and they
// are estimated once.
func TestDelegateBudgetOfUnknownList(t *testing.T) {
	f := files{
		"plan.json": `[{"_tool":"forEach","items":"†input.list","_delegate":"sub.json"},{"_tool":"reduce","items":[],"_delegate":"sub.json"}]`,
		"sub.json":  `[{"_tool":"any","_estimatedTokens":10},{"_tool":"any"},{"_tool":"any"}]`,
	}
	_, got := f.compile(t, &compile.Options{Budget: compile.Budget{Steps: 2, Tokens: 9}})
	expect(t, got, "plan.json PLC603: 10 tokens")
	_, got = f.compile(t, &compile.Options{Budget: compile.Budget{Steps: 1}})
	expect(t, got, "plan.json PLC603: 2 calls;")
}

func TestDelegateBudgetAndMode(t *testing.T) {
	f := files{
		"plan.json": `[{"_tool":"forEach","items":[1,2,3],"_delegate":"sub.json"},{"_tool":"any"}]`,
		"sub.json":  `[{"_tool":"any","_estimatedTokens":10,"_estimatedCost":0.5},{"_tool":"any"}]`,
	}
	_, got := f.compile(t, &compile.Options{Budget: compile.Budget{Steps: 7, Tokens: 29, Cost: 1.4}})
	expect(t, got, "plan.json PLC603: 6 more in the documents", "plan.json PLC603: 30 tokens", "plan.json PLC603: cost 1.5")
	_, got = f.compile(t, &compile.Options{Budget: compile.Budget{Steps: 8, Tokens: 30, Cost: 1.5}})
	expect(t, got)

	f["sub.json"] = `{"type":"plan","mode":"lazy","plan":[]}`
	prog, got := f.compile(t, nil)
	expect(t, got)
	if prog.Mode != lang.Lazy {
		t.Error("a document that was to be looked at first runs because another one delegates to it")
	}
	f["sub.json"] = `[{"type":"tool","tool":{"think":{"properties":{}}}},{"type":"plan","plan":[{"_tool":"think","_output":1,"_outputPath":"†state.t"}]}]`
	_, got = f.compile(t, &compile.Options{Lazy: true})
	expect(t, got, "sub.json PLC601")
	f["sub.json"] = `[{"type":"tool","tool":{"think":{"properties":{}}}},{"type":"plan","plan":[{"_tool":"think","_outputPath":"†state.t"}]}]`
	_, got = f.compile(t, &compile.Options{Run: true})
	expect(t, got, "sub.json PLC606")
	f["plan.json"] = `[{"_tool":"forEach","items":[]}]`
	_, got = f.compile(t, &compile.Options{Run: true})
	expect(t, got, "plan.json PLC208: requires calls to set _delegate")
	f["plan.json"] = `[{"_tool":"sub","_delegate":"anonymous"}]`
	_, got = f.compile(t, &compile.Options{Run: true})
	expect(t, got, "plan.json PLC606")
}

// conditions takes every condition but those with a "?", and remembers the types.
type conditions struct{ vars map[string]string }

func (c *conditions) Check(source string, vars map[string]*schemas.Schema, _ *schemas.Meter) (compile.Predicate, error) {
	for name, s := range vars {
		text := "unknown"
		if s != nil {
			text = s.String()
		}
		if c.vars != nil {
			c.vars[source+" "+name] = text
		}
	}
	if i := strings.IndexByte(source, '?'); i >= 0 {
		return nil, &compile.PredicateError{Start: i, End: i + 1, Message: "what is ?"}
	}
	return nil, nil
}

func TestLoops(t *testing.T) {
	const open = `[{"_tool":"num","n":"†input.age","_outputPath":"†state.r"}]`
	const declared = `[{"type":"input","schema":{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"}},"required":["name","age"]}},
		{"type":"plan","plan":[{"_tool":"num","n":"†input.age","_outputPath":"†state.r"}]}]`
	for name, c := range map[string]struct {
		plan, sub string
		want      []string
	}{
		"items flow in": {`[{"_tool":"people","_outputPath":"†state.p"},{"_tool":"forEach","items":"†state.p","_delegate":"sub.json","_outputPath":"†state.r"},
			{"_tool":"num","n":"†state.r[0].r","_outputPath":"†state.x"},{"_tool":"str","s":"†state.r[0].r","_outputPath":"†state.y"},{"_tool":"num","n":"†state.r","_outputPath":"†state.z"}]`, open,
			[]string{"plan.json PLC502: †state.r[0].r is integer", "plan.json PLC502: †state.r is"}},
		"items that lack a member": {`[{"_tool":"people","_outputPath":"†state.p"},{"_tool":"forEach","items":"†state.p","_delegate":"sub.json","_outputPath":"†state.r"}]`,
			`[{"_tool":"num","n":"†input.height","_outputPath":"†state.r"}]`, []string{"sub.json PLC302: †input.height"}},
		"items that are no objects": {`[{"_tool":"forEach","items":[1,2],"_delegate":"sub.json","_outputPath":"†state.r"}]`,
			`[{"_tool":"num","n":"†input.item","_outputPath":"†state.r"}]`, nil},
		"items against a declaration": {`[{"_tool":"people","_outputPath":"†state.p"},{"_tool":"forEach","items":"†state.p[*].name","_delegate":"sub.json","_outputPath":"†state.r"},
			{"_tool":"forEach","items":[{"name":"A","age":1},{"name":"B"},{"name":"C","age":"x"}],"_delegate":"sub.json","_outputPath":"†state.q"},
			{"_tool":"forEach","items":"†state.p","_delegate":"sub.json","_outputPath":"†state.s"}]`, declared,
			[]string{"plan.json PLC502: an item is", "plan.json PLC501: does not take this item", "plan.json PLC501: does not take this item"}},
		"items whose values are known": {`[{"type":"state","ok":[{"name":"A","age":1}],"some":[{"name":"A","age":1},{"name":"B","age":"x"}],"none":["A"]},
			{"type":"plan","plan":[{"_tool":"forEach","items":"†state.ok","_delegate":"sub.json","_outputPath":"†state.r"},
			{"_tool":"forEach","items":"†state.some","_delegate":"sub.json","_outputPath":"†state.s"},{"_tool":"forEach","items":"†state.none","_delegate":"sub.json","_outputPath":"†state.t"}]}]`, declared,
			[]string{"plan.json PLC502: item 1 is", "plan.json PLC502: item 0 is"}},
		"no items": {`[{"type":"state","none":[]},{"type":"plan","plan":[{"_tool":"forEach","items":[],"_delegate":"sub.json","_outputPath":"†state.r"},
			{"_tool":"forEach","items":"†state.none","_delegate":"sub.json","_outputPath":"†state.s"},{"_tool":"reduce","items":"†state.none","_delegate":"sub.json","_outputPath":"†state.t"}]}]`,
			`[{"_tool":"str","s":"†input.item.name","_outputPath":"†state.r"}]`, nil},
		"no list": {`[{"_tool":"str","s":"x","_outputPath":"†state.s"},{"_tool":"forEach","items":"†state.s","_delegate":"sub.json"}]`, `[]`, []string{"plan.json PLC502: †state.s is string"}},
		"params of loops": {`[{"_tool":"forEach","items":[],"concurrency":0,"_delegate":"sub.json"},{"_tool":"forEach","items":[],"onItemFailure":"ignore","_delegate":"sub.json"},
			{"_tool":"forEach","_delegate":"sub.json"},{"_tool":"forEach","items":[]},{"_tool":"repeat","_delegate":"sub.json"},{"_tool":"repeat","max":0,"_delegate":"sub.json"},
			{"_tool":"repeat","max":1000001,"_delegate":"sub.json"},{"_tool":"reduce","items":[],"_delegate":"sub.json","init":0}]`, `[]`,
			[]string{"plan.json PLC501", "plan.json PLC501", "plan.json PLC205", "plan.json PLC208: requires calls to set _delegate", "plan.json PLC205", "plan.json PLC501", "plan.json PLC501", "plan.json PLC206"}},
		"collected failures": {`[{"_tool":"forEach","items":[{"age":1}],"onItemFailure":"collect","_delegate":"sub.json","_outputPath":"†state.r"},{"_tool":"num","n":"†state.r[0].r","_outputPath":"†state.q"},
			{"_tool":"str","s":"†state.r[0].error.code","_outputPath":"†state.p"}]`, open, []string{"plan.json PLC504: †state.r[0].r is optional", "plan.json PLC504: †state.r[0].error.code is optional"}},
		"reduce": {`[{"_tool":"reduce","items":[1,2],"initial":0,"_delegate":"sub.json","_outputPath":"†state.r"},{"_tool":"num","n":"†state.r","_outputPath":"†state.q"},{"_tool":"str","s":"†state.r","_outputPath":"†state.p"}]`,
			`{"calls":[{"_tool":"num","n":"†input.item","_outputPath":"†state.a"},{"_tool":"any","v":"†input.result"}, {"_tool":"any","v":"†input.more"}],"output":"†state.a"}`,
			[]string{"sub.json PLC302: †input.more", "plan.json PLC502: †state.r is"}},
		"reduce against a declaration": {`[{"_tool":"reduce","items":["x"],"initial":"y","_delegate":"sub.json","_outputPath":"†state.r"}]`,
			`[{"type":"input","schema":{"properties":{"item":{"type":"string"},"result":{"type":"string"}},"required":["item","result"]}},
			 {"type":"plan","plan":{"calls":[{"_tool":"num","n":1,"_outputPath":"†state.a"}],"output":"†state.a"}}]`, []string{"plan.json PLC502: the result of a round is integer"}},
		"repeat": {`[{"_tool":"repeat","max":3,"until":"result.r > 2","initial":{"age":1},"_delegate":"sub.json","_outputPath":"†state.r"},{"_tool":"str","s":"†state.r.r","_outputPath":"†state.q"}]`, open,
			[]string{"plan.json PLC502: †state.r.r is integer"}},
		"repeat against a declaration": {`[{"_tool":"repeat","max":3,"initial":{"name":"A","age":"x"},"_delegate":"sub.json","_outputPath":"†state.r"},{"_tool":"repeat","max":3,"_delegate":"sub.json","_outputPath":"†state.q"}]`, declared,
			[]string{"plan.json PLC502: the initial value", "plan.json PLC502: the initial value"}},
		"a condition": {`[{"_tool":"repeat","max":3,"until":"a\u0020 ? b","_delegate":"sub.json"},{"_tool":"repeat","max":3,"until":"†input.x","_delegate":"sub.json"},{"_tool":"repeat","max":3,"until":7,"_delegate":"sub.json"}]`, `[]`,
			[]string{"plan.json PLC508: what is ?", "plan.json PLC508: holds a reference", "plan.json PLC501"}},
		"choose": {`[{"_tool":"choose","value":42,"when":{"large":"value > 40","small":"value <= 40"},"_outputPath":"†state.large || †state.small"},
			{"_tool":"str","s":"†state.large","_outputPath":"†state.a"},{"_tool":"num","n":"†state.small","_outputPath":"†state.b"}]`, `[]`,
			[]string{"plan.json PLC502: †state.large is 42"}},
		"choose else": {`[{"_tool":"choose","value":42,"when":{"large":"value > 40"},"_outputPath":"†state.large || †state.error"},
			{"_tool":"num","n":"†state.large","_outputPath":"†state.a"},{"_tool":"str","s":"†state.error.message","_outputPath":"†state.b"}]`, `[]`, nil},
		"choose at fault": {`[{"_tool":"choose","value":42,"when":{"huge":"?"},"_outputPath":"†state.large || †state.small"},{"_tool":"choose","value":1,"when":{}},{"_tool":"choose","when":{"x":"?"},"_outputPath":"†state.x"}]`, `[]`,
			[]string{"plan.json PLC208: \"huge\" fits no alternative", "plan.json PLC308", "plan.json PLC501", "plan.json PLC205", "plan.json PLC508"}},
		"choose nearly": {`[{"_tool":"choose","value":42,"when":{"lagre":"value > 40"},"_outputPath":"†state.large || †state.small"}]`, `[]`,
			[]string{`plan.json PLC208: "lagre" fits no alternative of the output path; did you mean "large"?`, "plan.json PLC308"}},
		"choose from a reference": {`[{"type":"input","input":{"when":{"x":"true"}}},{"type":"plan","plan":[{"_tool":"choose","value":1,"when":"†input.when","_outputPath":"†state.x"}]}]`, `[]`,
			[]string{"plan.json PLC508: when is a reference"}},
		"choose does not delegate": {`[{"_tool":"choose","value":1,"when":{"x":"true"},"_delegate":"sub.json","_outputPath":"†state.x"}]`, `[]`,
			[]string{"plan.json PLC208: does not allow this _delegate"}},
	} {
		t.Run(name, func(t *testing.T) {
			seen := &conditions{map[string]string{}}
			_, got := files{"plan.json": c.plan, "sub.json": c.sub}.compile(t, &compile.Options{Predicates: seen})
			expect(t, got, c.want...)
			for _, f := range got {
				if f.Code != diag.BadCondition || !strings.Contains(f.Message, "what is") {
					continue
				}
				if at := f.Loc.File.Text[f.Loc.Span.Start:f.Loc.Span.End]; string(at) != "?" {
					t.Errorf("it points to %q", at)
				}
			}
			for _, source := range slices.Sorted(maps.Keys(seen.vars)) {
				t.Logf("%s: %s", source, seen.vars[source])
			}
		})
	}
	_, got := files{"plan.json": `[{"_tool":"repeat","max":3,"until":"n > 1","_delegate":"sub.json"}]`, "sub.json": `[]`}.compile(t, nil)
	expect(t, got, "plan.json PLC508: nothing here can check conditions")
}

// TestDelegatesInRoot reads documents from a folder that links can't leave.
func TestDelegatesInRoot(t *testing.T) {
	outer := t.TempDir()
	dir := filepath.Join(outer, "plans")
	if err := os.MkdirAll(filepath.Join(dir, "sub"), 0o777); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"secret.json": `[]`, "plans/sub/one.json": `[{"_tool":"sub","_delegate":"../two.json"}]`, "plans/two.json": `[]`} {
		if err := os.WriteFile(filepath.Join(outer, filepath.FromSlash(name)), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	links := map[string]string{"out.json": "../secret.json", "in.json": "sub/one.json", "gone.json": "nowhere", "loop.json": "loop.json"}
	for name, to := range links {
		if err := os.Symlink(filepath.FromSlash(to), filepath.Join(dir, name)); err != nil {
			t.Skip(err)
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer root.Close()
	f := files{"plan.json": `[{"_tool":"sub","_delegate":"out.json"},{"_tool":"sub","_delegate":"sub/one.json"},{"_tool":"sub","_delegate":"two.json"},{"_tool":"sub","_delegate":"gone.json"},{"_tool":"sub","_delegate":"loop.json"},{"_tool":"sub","_delegate":"sub"}]`}
	_, got := f.compile(t, &compile.Options{Delegates: root.FS()})
	expect(t, got, "plan.json PLC605: a link leads outside", "plan.json PLC701: no such file", "plan.json PLC701", "plan.json PLC701: it is a folder")
}

// TestDelegatesInStream reads a document once, however often the plan that delegates to it
// has grown.
func TestDelegatesInStream(t *testing.T) {
	dir := counted{fstest.MapFS{"sub.json": {Data: []byte(`[{"_tool":"num","n":"†input.n","_outputPath":"†state.r"}]`)}}, map[string]int{}}
	s := compile.NewStream(&compile.Options{Catalogue: subCatalogue(t), Delegates: dir})
	text, prog := "[", (*compile.Program)(nil)
	for i := range 5 {
		if i > 0 {
			text += ","
		}
		text += fmt.Sprintf(`{"_tool":"sub","n":%d,"_delegate":"sub.json","_outputPath":"†state.r%d"}`, i, i)
		doc, _ := lang.Parse(diag.NewFile("plan.json", []byte(text+"]")), nil)
		var got diag.List
		if prog, got = s.Add(doc); got.HasErrors() || len(prog.Calls) != i+1 || prog.Calls[i].Delegate.Program == nil {
			t.Fatalf("%d calls, %v", len(prog.Calls), inShort(got))
		}
	}
	doc, _ := lang.Parse(diag.NewFile("plan.json", []byte(text+"]")), nil)
	closed, got := s.Close(doc)
	if got.HasErrors() || len(closed.Calls) != 5 {
		t.Fatalf("%d calls, %v", len(closed.Calls), inShort(got))
	}
	if closed.Calls[0].Delegate.Program != prog.Calls[0].Delegate.Program {
		t.Error("a call that was released has another program at the end")
	}
	if n := dir.opened["sub.json"]; n > 2 {
		t.Errorf("it was opened %d times", n)
	}
	faulty := strings.Replace(text, `"n":1`, `"n":"x"`, 1) + "]"
	s = compile.NewStream(&compile.Options{Catalogue: subCatalogue(t), Delegates: dir})
	doc, _ = lang.Parse(diag.NewFile("plan.json", []byte(faulty)), nil)
	if _, got := s.Add(doc); !got.HasErrors() {
		t.Error("no error of the document for what a call gives it")
	}
	doc, _ = lang.Parse(diag.NewFile("plan.json", []byte(`[{"type":"state","_instance":"A","x":1},{"type":"plan","plan":[{"_tool":"any"}]}]`)), nil)
	_, got = compile.NewStream(&compile.Options{Catalogue: subCatalogue(t)}).Add(doc)
	expect(t, got, "plan.json PLC703: before all of it is written")
}

// BenchmarkDelegates compiles 10,000 calls of one document.
func BenchmarkDelegates(b *testing.B) {
	call := `{"_tool":"sub","n":"†input.n","_delegate":"sub.json","_outputPath":"†state.r"}`
	f := files{
		"plan.json": "[" + strings.Repeat(call+",", 9_999) + call + "]",
		"sub.json":  `[{"_tool":"num","n":"†input.n","_outputPath":"†state.r"}]`,
	}
	opts := &compile.Options{Catalogue: subCatalogue(b)}
	b.SetBytes(int64(len(f["plan.json"])))
	b.ReportAllocs()
	for b.Loop() {
		f.compile(b, opts)
	}
}
