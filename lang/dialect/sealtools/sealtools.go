// Package sealtools reads plans of Seal-Tools: calls that give names to the members of their
// results, numbered through the plan.
//
//	[{"api": "getGene", "parameters": {"name": "EGFR"}, "responses": ["API_call_0", "API_call_1"]},
//	 {"api": "explain", "parameters": {"text": "API_call_1"}, "responses": ["API_call_2"]}]
//
// API_call_1, alone or in a text, is the second member of getGene's result, as declared by the
// tool. If the members are not known, each label of a call is its whole result. A plan may be in a
// record as its calling or as the answer in its conversations, in a list before its query, or be a
// string of Python.
package sealtools

import (
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/lazyregexp"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect"
	"github.com/plc-lang/plc/lang/dialect/tree"
)

// Notation returns the notation of Seal-Tools.
func Notation() *dialect.Notation {
	return &dialect.Notation{Name: "sealtools", What: "a Seal-Tools plan", Read: read, Catalogue: catalogue}
}

// call is a call of the plan.
type call struct {
	tree.Value
	api    string
	labels []tree.Value
	params tree.Value
	fields []string // the members of the result, in order; nil if they are not known
}

type reader struct {
	*dialect.Builder
	calls  []call
	labels tree.Labels
	found  map[lang.Node][]tree.Found
	places map[string]int // by label, its place in its call
}

func read(b *dialect.Builder) {
	root, ok := tree.Read(b)
	if !ok {
		return
	}
	r := &reader{Builder: b, found: map[lang.Node][]tree.Found{}, places: map[string]int{}, labels: tree.Labels{Noun: "call"}}
	list, ok := r.list(root)
	if !ok {
		return
	}
	for _, e := range list.Elements() {
		r.call(e)
	}
	r.label()
	for i := range r.calls {
		tree.Strings(r.calls[i].params, func(s tree.Value) { r.string(s, i) })
	}
	r.labels.Judge(b)
	b.List(list.At())
	for i := range r.calls {
		r.write(&r.calls[i])
	}
	b.Close()
}

// list returns the list of calls, from any of the places where it may be.
func (r *reader) list(v tree.Value) (tree.Value, bool) {
	v, ok := v.Inner(r.Builder)
	switch {
	case !ok:
		return v, false
	case v.Is(lang.Array):
		list := v.List()
		switch {
		case len(list) == 2 && list[0].Is(lang.Array) && list[1].Is(lang.String): // a plan and its query
			return list[0], true
		case len(list) > 0 && !list[0].Has("api") && !list[0].First(plans()...).Value.IsZero():
			r.Errorf(v.At(), diag.BadNotation, "there are %d records here, each with a plan; plc check --jsonl reads them, a line each or in a list over several lines", len(list))
			return v, false
		}
		return v, true
	case v.Has("api"):
		r.call(v)
		return tree.Value{}, true
	}
	if answer := answered(v); !answer.IsZero() {
		return r.list(answer)
	}
	if m := v.First(plans()...); !m.Value.IsZero() {
		tree.Beside(r.Builder, v, []string{"id", "query"}, plans()...)
		return r.list(m.Value)
	}
	r.Errorf(v.At(), diag.BadNotation, "a Seal-Tools plan is a list of calls {\"api\": …, \"parameters\": {…}, \"responses\": […]}, and not %s", v.Describe())
	return v, false
}

// answered returns the plan in a record of a conversation, which is the last answer of the model;
// the zero Value if v is not such a record.
func answered(v tree.Value) (answer tree.Value) {
	for _, turn := range v.Get("conversations").Elements() {
		if turn.Get("from").Str() == "gpt" {
			answer = turn.Get("value")
		}
	}
	return answer
}

// plans returns the members that may contain a plan.
func plans() []string { return []string{"calling", "gold_data", "predict", "output"} }

// call reads a call.
func (r *reader) call(v tree.Value) {
	api := v.Get("api")
	if !api.Is(lang.String) || api.Str() == "" {
		r.Errorf(v.At(), diag.BadNotation, "the call has no api; it is written {\"api\": …, \"parameters\": {…}, \"responses\": […]}")
		return
	}
	tree.Known(r.Builder, v, "a call", "api", "parameters", "responses")
	c := call{Value: v, api: api.Str(), params: v.First("parameters").Value}
	if !c.params.IsZero() && !c.params.Is(lang.Object) {
		r.Errorf(c.params.At(), diag.BadNotation, "the parameters are an object, not %s", c.params.Describe())
		c.params = tree.Value{}
	}
	if r.Options.Results != nil {
		c.fields, _ = r.Options.Results(c.api)
	}
	for _, l := range v.First("responses").Value.Elements() {
		if !whole.MatchString(l.Str()) {
			r.Errorf(l.At(), diag.BadNotation, "a response is API_call_ and a number")
			continue
		}
		c.labels = append(c.labels, l)
	}
	r.calls = append(r.calls, c)
}

// label notes the labels, and reports duplicate labels, and calls whose number of labels is not
// that of the members of their tool's result.
func (r *reader) label() {
	first := map[string]tree.Value{}
	for i := range r.calls {
		c := &r.calls[i]
		names := make([]string, len(c.labels))
		for k, l := range c.labels {
			names[k] = l.Str()
			if before, ok := first[names[k]]; ok {
				f := r.Errorf(l.All(), diag.DuplicateID, "%s is there twice", names[k])
				f.Related = []diag.Related{{Loc: diag.Loc{File: r.File, Span: before.All()}, Message: "also here"}}
				continue
			}
			first[names[k]] = l
			r.places[names[k]] = k
		}
		r.labels.Step(names...)
		if c.fields != nil && len(c.fields) != len(names) && len(names) > 0 {
			r.Warnf(c.Get("responses").At(), diag.LinkDisagrees, "the call names %d of its results, and %q gives %d: %s", len(names), c.api, len(c.fields), strings.Join(c.fields, ", "))
		}
	}
}

var (
	whole = lazyregexp.New(`^API_call_\d+$`)
	ref   = lazyregexp.New(`API_call_(\d+)`)
	// nearRef matches what is almost a reference.
	nearRef = lazyregexp.New(`(?i)[<{$\[]*\bAPI[ _-]?call[ _-]?(\d+)\b[>}$\]]*`)
)

// string finds the references in a string of the call at place user, and warns about text that is
// nearly one.
func (r *reader) string(v tree.Value, user int) {
	text, inside := v.Str(), v.Insides()
	if tree.IsPlaceholder(text) {
		meant := ""
		if user > 0 && len(r.calls[user-1].labels) > 0 {
			meant = r.calls[user-1].labels[0].Str()
		}
		tree.Placeholder(r.Builder, v, meant)
	}
	var found []tree.Found
	for _, m := range nearRef.FindAllStringSubmatchIndex(text, -1) {
		if text[m[0]:m[1]] == "API_call_"+text[m[2]:m[3]] {
			found = append(found, r.ref(m[0], m[1], text, inside, user))
			r.around(text, m[0], m[1], inside)
			continue
		}
		if inner := ref.FindStringIndex(text[m[0]:m[1]]); inner != nil {
			found = append(found, r.ref(m[0]+inner[0], m[0]+inner[1], text, inside, user))
			r.around(text, m[0], m[1], inside)
			continue
		}
		if want := "API_call_" + text[m[2]:m[3]]; r.labels.Reaches(want, user) {
			at := inside(m[0], m[1])
			r.Warnf(at, diag.NearReference, "%q is just text; did you mean %s?", text[m[0]:m[1]], want).Fix = dialect.Replace(at, want)
		}
	}
	if len(found) > 0 {
		r.found[v.Node] = found
	}
}

// decorated matches a reference in the style of another notation.
var decorated = lazyregexp.New(`^(?:\$\{?|<|\{+)(API_call_\d+)[>}$]*$`)

// behind matches a path after a label, which references can't have.
var behind = lazyregexp.New(`^(?:\.[A-Za-z_]\w*|\['\w+'\])+`)

// around warns about characters around a reference, and about a path after it: they stay in the
// text.
func (r *reader) around(text string, from, to int, inside func(from, to int) diag.Span) {
	path := len(behind.FindString(text[to:]))
	label := ref.FindString(text[from:to])
	if path == 0 && !decorated.MatchString(text[from:to]) {
		return
	}
	at := inside(from, to+path)
	r.Warnf(at, diag.NearReference, "of %q only %s is the reference, and the rest is text; did you mean %s?", text[from:to+path], label, label).
		Fix = dialect.Replace(at, label)
}

func (r *reader) ref(from, to int, text string, inside func(from, to int) diag.Span, user int) tree.Found {
	l := &tree.LabelRef{At: inside(from, to), Name: inside(from, to), Label: text[from:to], User: user}
	r.labels.Ref(l)
	return tree.Found{From: from, To: to, Part: func(at diag.Span) dialect.Part {
		if l.Faulty {
			return dialect.Fault(at)
		}
		return dialect.Ref(r.result(l.Label), at)
	}}
}

// result returns the expression for a label.
func (r *reader) result(label string) *lang.Expr {
	c := &r.calls[r.labels.Of(label)]
	if c.fields == nil {
		return dialect.StateRef(label)
	}
	place := r.places[label]
	if place >= len(c.fields) {
		return dialect.StateRef(label) // more labels than members, which was reported
	}
	return dialect.StateRef(c.labels[0].Str(), dialect.Member(c.fields[place]))
}

// write writes a call. The name of its result is its first label; if its members are not known, all
// labels are its names.
func (r *reader) write(c *call) {
	r.Object(c.At())
	r.Member("_tool", c.Member("api").Key)
	r.String(c.api, c.Get("api").All())
	if len(c.labels) > 0 {
		r.Member("_id", c.labels[0].All())
		r.String(c.labels[0].Str(), c.labels[0].All())
	}
	tree.Params(r.Builder, c.params, func(v tree.Value) []tree.Found { return r.found[v.Node] })
	if len(c.labels) > 0 {
		r.Member("_outputPath", c.Member("responses").Key)
		r.String(r.paths(c), tree.Join(c.labels))
	}
	r.Close()
}

func (r *reader) paths(c *call) string {
	labels := c.labels
	if c.fields != nil {
		labels = append(labels[:1:1], labels[min(len(labels), max(1, len(c.fields))):]...)
	}
	paths := make([]string, len(labels))
	for i, l := range labels {
		paths[i] = dialect.StateRef(l.Str()).String()
	}
	return strings.Join(paths, " && ")
}
