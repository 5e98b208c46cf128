// Package taskbench reads plans of TaskBench: nodes, in whose arguments <node-0> is the
// result of the first, and the links between them.
//
//	{"task_nodes": [{"task": "Image Downloader", "arguments": ["https://…"]},
//	                {"task": "Image-to-Text", "arguments": ["<node-0>"]}],
//	 "task_links": [{"source": "Image Downloader", "target": "Image-to-Text"}]}
//
// Arguments are strings, for the tool's params in their order, or {name, value}. In a plan of the
// first kind links say whose results are used; in a plan of the second kind they may also only set
// the order. The members may be named tool_nodes, tool_links and tool_steps, and be strings of
// JSON; the plan may be the result of a record.
//
// If the definitions of tools give the kinds of their params and results (text, image, audio,
// video), these are checked: audio that is given to a tool for texts is an error.
package taskbench

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/lazyregexp"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect"
	"github.com/plc-lang/plc/lang/dialect/tree"
)

// Notation returns the notation of TaskBench.
func Notation() *dialect.Notation {
	return &dialect.Notation{Name: "taskbench", What: "a TaskBench plan", Read: read, Catalogue: catalogue}
}

// node is a node of the plan.
type node struct {
	tree.Value
	task  string
	args  []argument
	after []int // nodes that it waits for without using their results
}

// argument is an argument of a node.
type argument struct {
	name  string
	at    diag.Span // of the name
	value tree.Value
}

// edge means that the node to uses the result of the node from.
type edge struct{ from, to int }

type reader struct {
	tree.Nodes
	nodes []node
	links []link
	named bool // some arguments have names
	// data has the place of the first use of each result.
	data map[edge]diag.Span
	refs map[int][]*tree.LabelRef // by the node that uses the result

	byEnd        map[string][]int // the nodes that an end of a link names
	byName       map[string][]int // the nodes of a tool, by its plain name
	pairsOfLinks map[pair]bool
	ordered      map[edge]bool // by links without data
	asked        int           // names for which a similar one was searched
}

func read(b *dialect.Builder) {
	root, ok := tree.Read(b)
	if !ok {
		return
	}
	r := &reader{
		Nodes: tree.Nodes{Builder: b, Labels: tree.Labels{Noun: "node", Spell: tree.SpellNode}, Called: called},
		data:  map[edge]diag.Span{}, refs: map[int][]*tree.LabelRef{},
		byEnd: map[string][]int{}, byName: map[string][]int{}, pairsOfLinks: map[pair]bool{}, ordered: map[edge]bool{},
	}
	r.Nodes.Ref, r.Nodes.Meant = r.ref, r.meant
	plan, ok := r.plan(root)
	if !ok {
		return
	}
	list, ok := plan.First("task_nodes", "tool_nodes").Value.Inner(b)
	if !ok || !r.isList(list, "nodes") {
		return
	}
	for _, e := range list.Elements() {
		r.node(e)
	}
	for i := range r.nodes {
		r.Labels.Step(fmt.Sprint(i))
		for _, end := range r.ends(i) {
			r.byEnd[end] = append(r.byEnd[end], i)
		}
		name := plainName(r.nodes[i].task)
		r.byName[name] = append(r.byName[name], i)
	}
	links := plan.First("task_links", "tool_links").Value
	r.readLinks(links)
	for i := range r.nodes {
		for _, a := range r.nodes[i].args {
			r.Find(a.value, i)
			tree.Strings(a.value, func(s tree.Value) { r.taskName(s, i) })
		}
	}
	r.Labels.Judge(b)
	r.judgeKinds()
	r.judgeLinks(!links.IsZero())
	r.write(plan, list)
}

// plan returns the object with the nodes.
func (r *reader) plan(v tree.Value) (tree.Value, bool) {
	switch {
	case v.Has("task_nodes") || v.Has("tool_nodes"):
		tree.Beside(r.Builder, v, []string{"id", "user_request", "instruction"}, "task_steps", "task_nodes", "task_links", "tool_steps", "tool_nodes", "tool_links")
		return v, true
	case v.Has("result"):
		inner, ok := v.Get("result").Inner(r.Builder)
		if !ok {
			return v, false
		}
		return r.plan(inner)
	case v.Is(lang.Array) && v.Len() == 1:
		return r.plan(v.List()[0])
	case v.Is(lang.Array) && v.Len() > 1 && v.List()[0].Has("task_nodes"):
		r.Errorf(v.At(), diag.BadNotation, "there are %d plans here; plc check --jsonl reads them, a line each or in a list over several lines", v.Len())
		return v, false
	}
	r.Errorf(v.At(), diag.BadNotation, "a TaskBench plan is an object with task_nodes, and this is %s without", v.Describe())
	return v, false
}

func (r *reader) isList(v tree.Value, what string) bool {
	if !v.Is(lang.Array) {
		r.Errorf(v.At(), diag.BadNotation, "the %s are a list, not %s", what, v.Describe())
	}
	return v.Is(lang.Array)
}

// node reads a node.
func (r *reader) node(v tree.Value) {
	task := v.Get("task")
	n := node{Value: v, task: task.Str()}
	if n.task == "" {
		r.Errorf(v.At(), diag.BadNotation, "the node has no task; it is written {\"task\": …, \"arguments\": […]}")
	}
	tree.Known(r.Builder, v, "a node", "task", "arguments")
	switch args := v.First("arguments").Value; args.Kind() {
	case lang.Array:
		for _, a := range args.Elements() {
			n.args = append(n.args, r.argument(a, &n))
		}
	case lang.Object:
		for m := range args.Members() {
			r.named = true
			n.args = append(n.args, argument{m.Name, m.Key, m.Value})
		}
	case lang.Null:
	default:
		n.args = []argument{r.argument(args, &n)}
	}
	r.nodes = append(r.nodes, n)
}

// argument reads an argument, the next one of a node.
func (r *reader) argument(v tree.Value, n *node) argument {
	if name := v.Get("name"); name.Is(lang.String) && v.Has("value") {
		tree.Known(r.Builder, v, "an argument", "name", "value")
		r.named = true
		return argument{name.Str(), name.All(), v.Get("value")}
	}
	return argument{r.param(n.task, len(n.args)), v.At(), v}
}

// param returns the name of the tool's param at this place; arg1, arg2 … if it is not known.
func (r *reader) param(task string, place int) string {
	if r.Options.Params != nil {
		if names, ok := r.Options.Params(task); ok && place < len(names) {
			return names[place]
		}
	}
	return fmt.Sprintf("arg%d", place+1)
}

// called returns the name of a node's result on the whiteboard.
func called(number string) string { return "node-" + number }

// ref notes which node uses which result. Since nodes are a graph, a node may use the result of a
// later one if a link declares that.
func (r *reader) ref(l *tree.LabelRef, _ string) {
	r.refs[l.User] = append(r.refs[l.User], l)
	from := r.Labels.Of(l.Label)
	if from < 0 || from == l.User {
		return
	}
	e := edge{from, l.User}
	if _, ok := r.data[e]; !ok {
		r.data[e] = l.At
	}
	l.Declared = r.declared(e)
	l.Anywhere = l.Declared
}

// taskName warns about a text that is only the name of another node's tool, or describes that
// tool's result.
func (r *reader) taskName(v tree.Value, user int) {
	text := v.Str()
	if tree.IsPlaceholder(text) || !strings.ContainsAny(text, " _-") {
		return
	}
	want := r.meant(text, user)
	for _, i := range r.byEnd[ofTask(text)] {
		if want == "" && r.nodes[i].task == text && i != user {
			want = tree.SpellNode(fmt.Sprint(i))
		}
	}
	if want != "" {
		r.Warnf(v.All(), diag.NearReference, "%q is just text; did you mean %s, the result of that node?", text, want).
			Fix = dialect.Replace(v.All(), want)
	}
}

// outputOf matches a text that describes the result of a tool.
var outputOf = lazyregexp.New(`(?i)^\s*<?\s*(?:the[ _-])?(?:output|result)s?[ _-](?:of|from)[ _-](.+?)\s*>?\s*$`)

// meant returns the reference that may be meant by a text that describes the result of another
// node's tool; "" for any other text.
func (r *reader) meant(text string, user int) string {
	m := outputOf.FindStringSubmatch(text)
	if m == nil {
		return ""
	}
	nodes := r.byName[plainName(m[1])]
	before, _ := slices.BinarySearch(nodes, user)
	switch {
	case before > 0:
		return tree.SpellNode(fmt.Sprint(nodes[before-1]))
	case len(nodes) > 0 && nodes[len(nodes)-1] != user:
		return tree.SpellNode(fmt.Sprint(nodes[len(nodes)-1]))
	}
	return ""
}

// plainName returns a name without differences in case and separators.
func plainName(s string) string {
	return strings.ToLower(strings.NewReplacer("_", " ", "-", " ").Replace(s))
}

// write writes the plan.
func (r *reader) write(plan, list tree.Value) {
	var steps []tree.Value
	if v := plan.First("task_steps", "tool_steps").Value; !v.IsZero() {
		if steps = r.steps(v); steps == nil {
			r.Infof(v.At(), diag.PassedOver, "the steps are passed over: they are not one for each of the %d nodes", len(r.nodes))
		}
	}
	r.List(list.At())
	for i := range r.nodes {
		var about tree.Value
		if steps != nil {
			about = steps[i]
		}
		r.call(i, about)
	}
	r.Close()
}

// steps returns the descriptions of the nodes, nil if there is not one for each. A string may be a
// list in JSON, or prose.
func (r *reader) steps(v tree.Value) []tree.Value {
	if v.Is(lang.String) && !strings.HasPrefix(strings.TrimSpace(v.Str()), "[") {
		return nil
	}
	v, ok := v.Inner(r.Builder)
	if list := v.List(); ok && len(list) == len(r.nodes) {
		return list
	}
	return nil
}

func (r *reader) call(i int, about tree.Value) {
	n := &r.nodes[i]
	at := n.Get("task")
	label := called(fmt.Sprint(i))
	r.Object(n.At())
	if n.task != "" {
		r.Member("_tool", n.Member("task").Key)
		r.String(n.task, at.All())
	}
	r.Member("_id", n.At())
	r.String(label, n.At())
	if text := about.Word(); text != "" {
		r.Member("_description", about.All())
		r.String(text, about.All())
	}
	r.params(n)
	if len(n.after) > 0 {
		r.Member("_dependsOn", n.At())
		r.List(n.At())
		for _, j := range n.after {
			r.String(called(fmt.Sprint(j)), n.At())
		}
		r.Close()
	}
	r.Member("_outputPath", n.At())
	r.Path(label, n.At())
	r.Close()
}

// params writes the arguments.
func (r *reader) params(n *node) {
	first := map[string]diag.Span{}
	for _, a := range n.args {
		if at, ok := first[a.name]; ok {
			f := r.Errorf(a.at, diag.DuplicateMember, "the argument %q is there twice", a.name)
			f.Related = []diag.Related{{Loc: diag.Loc{File: r.File, Span: at}, Message: "also here"}}
			continue
		}
		first[a.name] = a.at
		if tree.Param(r.Builder, a.name, a.at) {
			tree.Write(r.Builder, a.value, r.In)
		}
	}
}
