// Package mnms reads plans of m&m's: a list of nodes with ids. In their arguments <node-0>.text,
// alone or in a text, is a member of the result of node 0.
//
//	[{"id": 0, "name": "image captioning", "args": {"image": "1.jpg"}},
//	 {"id": 1, "name": "text summarization", "args": {"text": "<node-0>.text"}}]
//
// A plan may be the member nodes of an object, or the member plan or plan_str of a record, as a
// string of Python.
package mnms

import (
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect"
	"github.com/plc-lang/plc/lang/dialect/tree"
)

// Notation returns the notation of m&m's.
func Notation() *dialect.Notation {
	return &dialect.Notation{Name: "mnms", What: "a plan of m&m's", Read: read, Catalogue: catalogue}
}

// node is a node of the plan.
type node struct {
	tree.Value
	id   string
	args tree.Value
}

type reader struct {
	tree.Nodes
	nodes []node
}

func read(b *dialect.Builder) {
	root, ok := tree.Read(b)
	if !ok {
		return
	}
	r := &reader{Nodes: tree.Nodes{Builder: b, Labels: tree.Labels{Noun: "node", Spell: tree.SpellNode}}}
	r.Nodes.Ref = r.named
	list, ok := r.list(root)
	if !ok {
		return
	}
	for _, e := range list.Elements() {
		r.node(e)
	}
	for i := range r.nodes {
		r.Labels.Step(r.nodes[i].id)
	}
	for i := range r.nodes {
		r.Find(r.nodes[i].args, i)
	}
	r.Labels.Judge(b)
	b.List(list.At())
	for i := range r.nodes {
		r.call(&r.nodes[i])
	}
	b.Close()
}

// list returns the list of nodes, from any of the places where it may be.
func (r *reader) list(v tree.Value) (tree.Value, bool) {
	v, ok := v.Inner(r.Builder)
	switch {
	case !ok:
		return v, false
	case v.Is(lang.Array):
		if first := v.List(); len(first) > 0 && !first[0].Has("name") && isRecord(first[0]) {
			r.Errorf(v.At(), diag.BadNotation, "there are %d records here, each with a plan; plc check --jsonl reads them, a line each or in a list over several lines", len(first))
			return v, false
		}
		return v, true
	case v.Has("name", "args"):
		r.node(v)
		return tree.Value{}, true
	}
	if m := v.First(plans()...); !m.Value.IsZero() {
		tree.Beside(r.Builder, v, []string{"id", "user_request"}, plans()...)
		return r.list(m.Value)
	}
	r.Errorf(v.At(), diag.BadNotation, "a plan of m&m's is a list of nodes {\"id\": 0, \"name\": …, \"args\": {…}}, and not %s", v.Describe())
	return v, false
}

// plans returns the members that may contain a plan.
func plans() []string { return []string{"nodes", "plan", "plan_str", "prediction"} }

func isRecord(v tree.Value) bool { return !v.First(plans()...).Value.IsZero() }

// node reads a node.
func (r *reader) node(v tree.Value) {
	name, id := v.Get("name"), v.Get("id")
	switch {
	case !name.Is(lang.String) || name.Str() == "":
		r.Errorf(v.At(), diag.BadNotation, "the node has no name; it is written {\"id\": 0, \"name\": …, \"args\": {…}}")
		return
	case id.Word() == "":
		r.Errorf(v.At(), diag.BadNotation, "the node has no id")
	}
	tree.Known(r.Builder, v, "a node", "id", "name", "args", "output")
	n := node{Value: v, id: id.Word(), args: v.First("args").Value}
	if !n.args.IsZero() && !n.args.Is(lang.Object) {
		r.Errorf(n.args.At(), diag.BadNotation, "the args are an object, not %s", n.args.Describe())
		n.args = tree.Value{}
	}
	r.nodes = append(r.nodes, n)
}

// named warns about a reference that names no member of the result.
func (r *reader) named(l *tree.LabelRef, path string) {
	if path == "" && r.Labels.Reaches(l.Label, l.User) {
		r.Warnf(l.At, diag.NearReference, "%s is the whole result; a part of it is written %s.text", r.Text(l.At), r.Text(l.At))
	}
}

func (r *reader) call(n *node) {
	id := n.Get("id")
	r.Object(n.At())
	r.Member("_tool", n.Member("name").Key)
	r.String(n.Get("name").Str(), n.Get("name").All())
	if n.id != "" {
		r.Member("_id", n.Member("id").Key)
		r.String(n.id, id.All())
	}
	tree.Params(r.Builder, n.args, r.In)
	if m := n.First("output"); !m.Value.IsZero() {
		r.Member("_output", m.Key)
		tree.Words(r.Builder, m.Value)
	}
	if n.id != "" {
		r.Member("_outputPath", n.Member("id").Key)
		r.Path(n.id, id.All())
	}
	r.Close()
}

// catalogue reads a map name → {description, input: {arg_name}, output: {arg_name}}.
func catalogue(b *dialect.Builder) {
	root, ok := tree.Read(b)
	if !ok {
		return
	}
	b.Object(root.At())
	b.Member("tools", root.At())
	b.Object(root.At())
	for m := range root.Members() {
		b.Member(m.Name, m.Key)
		definition(b, m.Value)
	}
	b.Close()
	b.Close()
}

func definition(b *dialect.Builder, v tree.Value) {
	input, output := v.Get("input").Get("arg_name").List(), v.Get("output").Get("arg_name").List()
	b.Object(v.At())
	if d := v.Get("description"); d.Is(lang.String) {
		b.Member("description", d.All())
		b.String(d.Str(), d.All())
	}
	b.Member("properties", v.At())
	b.Object(v.At())
	members(b, input)
	b.Member("_output", v.At())
	b.Object(v.At())
	b.Member("type", v.At())
	b.String("object", v.At())
	b.Member("properties", v.At())
	b.Object(v.At())
	members(b, output)
	b.Close()
	closed(b, output)
	b.Close()
	b.Close()
	closed(b, input)
	b.Close()
}

func members(b *dialect.Builder, names []tree.Value) {
	for _, n := range names {
		b.Member(n.Str(), n.All())
		b.Object(n.At())
		b.Close()
	}
}

// closed writes that an object has only these members.
func closed(b *dialect.Builder, names []tree.Value) {
	at := tree.Join(names)
	b.Member("required", at)
	tree.Names(b, names)
	tree.Closed(b, at)
}
