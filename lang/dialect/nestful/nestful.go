// Package nestful reads and writes plans of NESTFUL, v1 and v2: a list of calls with
// labels, and references to the results of earlier ones between dollar signs.
//
//	[{"name": "rate", "arguments": {"from": "ETH"}, "label": "$var_1"},
//	 {"name": "add", "arguments": {"text": "5 * $var_1.Exchange Rate$"}, "label": "$var_2"},
//	 {"name": "var_result", "arguments": {"sum": "$var_2.result$"}}]
//
// The call of var_result is the plan's output. A plan may be in a record with an input, an output,
// which is the plan, and tools, which the plan then may call.
package nestful

import (
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect"
	"github.com/plc-lang/plc/lang/dialect/tree"
)

// Notation returns the notation of NESTFUL.
func Notation() *dialect.Notation {
	return &dialect.Notation{Name: "nestful", What: "a NESTFUL plan", Read: read, Write: write, Catalogue: catalogue, Defines: true}
}

// step is a call of the list.
type step struct {
	tree.Value
	name, label string
	args        tree.Value
}

// reader reads a plan.
type reader struct {
	*dialect.Builder
	steps  []step
	output tree.Value          // the arguments of var_result
	tools  tree.Value          // of the record
	gives  map[string][]string // by tool, the members of its result
	labels tree.Labels
	found  map[lang.Node][]tree.Found // the references in a string
}

func read(b *dialect.Builder) {
	root, ok := tree.Read(b)
	if !ok {
		return
	}
	r := &reader{Builder: b, found: map[lang.Node][]tree.Found{}}
	r.labels.Noun, r.labels.Spell = "call", func(label string) string { return "$" + label + "$" }
	list, ok := r.list(root)
	if !ok {
		return
	}
	for _, e := range list.Elements() {
		r.step(e)
	}
	for i := range r.steps {
		r.labels.Step(r.steps[i].labels()...)
	}
	for i := range r.steps {
		r.refs(r.steps[i].args, i)
	}
	r.refs(r.output, len(r.steps))
	r.labels.Judge(b)
	r.write(root)
}

// list returns the list of calls, which is the document itself or the output of a record.
func (r *reader) list(root tree.Value) (tree.Value, bool) {
	switch {
	case root.Has("output"):
		r.record(root)
		root = root.Get("output")
	case isCall(root):
		r.step(root)
		return tree.Value{}, true
	}
	list, ok := root.Inner(r.Builder)
	if ok && isRecords(list) {
		if n := list.Len(); n > 1 {
			r.Errorf(list.At(), diag.BadNotation, "there are %d plans here, each with an output; plc check --jsonl reads them, a line each or in a list over several lines", n)
			return list, false
		}
		return r.list(list.List()[0])
	}
	if ok && !list.Is(lang.Array) {
		r.Errorf(list.At(), diag.BadNotation, "a NESTFUL plan is a list of calls with a name and arguments, or a record with one as its output, and not %s", list.Describe())
		return list, false
	}
	return list, ok
}

func isRecords(v tree.Value) bool {
	for _, e := range v.Elements() {
		return e.Has("output") && !isCall(e)
	}
	return false
}

func isCall(v tree.Value) bool { return v.Has("name") && (v.Has("arguments") || v.Has("label")) }

// record reads the other members of the record.
func (r *reader) record(root tree.Value) {
	r.output = root.First("var_result").Value
	if tools := root.First("tools").Value; !tools.IsZero() {
		r.tools, _ = tools.Inner(r.Builder)
	}
	r.gives = map[string][]string{}
	for _, f := range r.tools.Elements() {
		if name := f.Get("name").Str(); r.gives[name] == nil {
			r.gives[name] = tree.ResultNames(results(f))
		}
	}
}

// step reads a call.
func (r *reader) step(v tree.Value) {
	name := v.Get("name")
	if !name.Is(lang.String) || name.Str() == "" {
		r.Errorf(v.At(), diag.BadNotation, "the call has no name; it is written {\"name\": …, \"arguments\": {…}, \"label\": …}")
		return
	}
	tree.Known(r.Builder, v, "a call", "name", "arguments", "label")
	s := step{Value: v, name: name.Str(), label: label(v.Get("label").Str())}
	if args := v.First("arguments").Value; !args.IsZero() {
		s.args, _ = args.Inner(r.Builder)
	}
	if l := v.First("label").Value; !l.IsZero() && s.label == "" {
		r.Errorf(l.At(), diag.BadNotation, "a label is a name such as var1")
	}
	if !s.args.IsZero() && !s.args.Is(lang.Object) {
		r.Errorf(s.args.At(), diag.BadNotation, "the arguments are an object, not %s", s.args.Describe())
		s.args = tree.Value{}
	}
	if s.name == resultName {
		r.result(s)
		return
	}
	r.steps = append(r.steps, s)
}

// resultName is the name of the element that is not a call but the plan's output.
const resultName = "var_result"

func (r *reader) result(s step) {
	if !r.output.IsZero() {
		r.Errorf(s.At(), diag.BadNotation, "there is a second var_result")
		return
	}
	r.output = s.args
}

// label returns a label as in references, without the dollar sign before it.
func label(s string) string { return strings.Trim(strings.TrimSpace(s), "$") }

func (s *step) labels() []string {
	if s.label == "" {
		return nil
	}
	return []string{s.label}
}

// refs finds the references in a value of the step at place user.
func (r *reader) refs(v tree.Value, user int) {
	tree.Strings(v, func(s tree.Value) {
		if strings.ContainsAny(s.Str(), "$.<") || r.labels.Has(s.Str()) {
			r.string(s, user)
		}
	})
}

// write writes the plan.
func (r *reader) write(root tree.Value) {
	r.Object(root.At())
	if !r.tools.IsZero() {
		r.context()
	}
	r.Member("calls", root.At())
	r.List(root.At())
	for i := range r.steps {
		r.call(&r.steps[i])
	}
	r.Close()
	if !r.output.IsZero() {
		r.Member("output", r.output.At())
		tree.Write(r.Builder, r.output, r.in)
	}
	r.Close()
}

// in returns the references in a string.
func (r *reader) in(v tree.Value) []tree.Found { return r.found[v.Node] }

// context writes the tools of the record.
func (r *reader) context() {
	at := r.tools.At()
	r.Member("context", at)
	r.List(at)
	r.Object(at)
	r.Member("type", at)
	r.String("tool", at)
	r.Member("tool", at)
	definitions(r.Builder, r.tools)
	r.Close()
	r.Close()
}

func (r *reader) call(s *step) {
	name := s.Get("name")
	r.Object(s.At())
	r.Member("_tool", s.Member("name").Key)
	r.String(s.name, name.All())
	at := s.Get("label")
	if s.label != "" {
		r.Member("_id", s.Member("label").Key)
		r.String(s.label, at.All())
	}
	tree.Params(r.Builder, s.args, r.in)
	if s.label != "" {
		r.Member("_outputPath", s.Member("label").Key)
		r.Path(s.label, at.All())
	}
	r.Close()
}
