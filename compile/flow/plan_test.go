package flow_test

import (
	"encoding/json"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
	"testing/fstest"
)

// The generator makes a plan as a tree. Its text goes to the compiler, and the oracle
// (oracle_test.go) interprets the tree.

// gcall is a call.
type gcall struct {
	tool, id   string
	activity   string // that it picks; "" is that of the tool
	instance   string
	params     []gparam
	cases      []gcase // of choose, by the names of the outcomes
	when       *gexpr
	paths      []gpath // the alternatives of the output path
	method     string  // "" is set
	errorPath  gpath
	fallback   *gcall
	undo       *gundo // nil: as the definition of the tool says
	delegate   *gdoc
	depends    []string
	onFailure  string
	retry      int
	collect    string // onItemFailure of a forEach
	scopes     []gpath
	neverFails bool

	index int // in its document
}

// gundo is the call that takes a call back. Its params refer to the kinds params, result and failure.
type gundo struct {
	tool          string
	params        []gparam
	whenUncertain bool
	defined       bool // the definition of the tool says it, which is nobody's secret
}

func (u *gundo) json() map[string]any {
	m := map[string]any{"tool": u.tool, "params": membersJSON(u.params)}
	if u.whenUncertain {
		m["whenUncertain"] = true
	}
	return m
}

// actUndo is the undo in the definition of act.
var actUndo = &gundo{tool: "sink", defined: true, params: []gparam{
	{"p", &gvalue{expr: &gexpr{path: gpath{"params", "x"}}}}, {"q", &gvalue{text: []any{"took back ", &gexpr{path: gpath{"result", "x"}}}}},
}}

// undoOf returns what takes the call back; nil if nothing does.
func (c *gcall) undoOf() *gundo {
	switch {
	case c.tool != "act" || c.delegate != nil:
		return nil
	case c.undo == nil:
		return actUndo
	}
	return c.undo
}

// gcase is a condition of a choose, over a path in its value.
type gcase struct {
	outcome int
	op      string // "has", "true", "is" or "any": the caller of the oracle says whether it holds
	path    gpath
	text    string
}

// cel returns the condition as a plan has it.
func (c *gcase) cel() string {
	at := strings.Join(append([]string{"value"}, names(c.path)...), ".")
	switch c.op {
	case "has":
		return "has(" + at + ")"
	case "true", "any":
		return "true"
	}
	return fmt.Sprintf("%s == '%s'", at, c.text)
}

// names returns a path of names.
func names(p gpath) (all []string) {
	for _, s := range p {
		all = append(all, s.(string))
	}
	return all
}

// gmessage is a message that puts a value on the whiteboard at the start.
type gmessage struct {
	kind, instance string
	value          *node
}

func (m *gmessage) json() map[string]any {
	all := map[string]any{"type": m.kind, m.kind: json.RawMessage(m.value.json())}
	if m.instance != "" {
		all["_instance"] = m.instance
	}
	return all
}

type gparam struct {
	name  string
	value *gvalue
}

// gvalue is a value of a plan: one of these.
type gvalue struct {
	literal any      // a string, number, true, false or null, if all others are nil
	expr    *gexpr   // a reference
	text    []any    // of strings and *gexpr
	members []gparam // an object
	list    []*gvalue
}

// gexpr is an expression: a reference, a literal, or operands.
type gexpr struct {
	path    gpath
	literal string
	or, and []*gexpr
}

// gpath is a kind and a path below it: names, indexes and * for [*].
type gpath []any

// gdoc is a document.
type gdoc struct {
	name     string
	messages []gmessage
	calls    []*gcall
	out      *gvalue // nil: its state
}

func (p gpath) String() string {
	var b strings.Builder
	for i, s := range p {
		switch s := s.(type) {
		case int:
			fmt.Fprintf(&b, "[%d]", s)
		case string:
			if i > 0 && s != "[*]" {
				b.WriteByte('.')
			}
			b.WriteString(s)
		}
	}
	return b.String()
}

func (e *gexpr) String() string {
	operands := func(all []*gexpr, op string) string {
		var texts []string
		for _, a := range all {
			text := a.String()
			if a.or != nil || a.and != nil {
				text = "(" + text + ")"
			}
			texts = append(texts, text)
		}
		return strings.Join(texts, op)
	}
	switch {
	case e.path != nil:
		return "†" + e.path.String()
	case e.or != nil:
		return operands(e.or, " || ")
	case e.and != nil:
		return operands(e.and, " && ")
	}
	return "'" + e.literal + "'"
}

func (v *gvalue) json() any {
	switch {
	case v.expr != nil:
		return v.expr.String()
	case v.text != nil:
		var b strings.Builder
		for _, part := range v.text {
			if e, ok := part.(*gexpr); ok {
				fmt.Fprintf(&b, "†{%s}", strings.ReplaceAll(e.String(), "†", ""))
			} else {
				b.WriteString(part.(string))
			}
		}
		return b.String()
	case v.members != nil:
		return membersJSON(v.members)
	case v.list != nil:
		all := []any{}
		for _, e := range v.list {
			all = append(all, e.json())
		}
		return all
	}
	return v.literal
}

func membersJSON(members []gparam) map[string]any {
	all := map[string]any{}
	for _, m := range members {
		all[m.name] = m.value.json()
	}
	return all
}

func (c *gcall) json() map[string]any {
	m := membersJSON(c.params)
	m["_tool"] = c.tool
	if c.id != "" {
		m["_id"] = c.id
	}
	if c.activity != "" {
		m["_activity"] = c.activity
	}
	if c.instance != "" {
		m["_instance"] = c.instance
	}
	if c.cases != nil {
		when := map[string]string{}
		for i := range c.cases {
			p := c.paths[c.cases[i].outcome]
			when[p[len(p)-1].(string)] = c.cases[i].cel()
		}
		m["when"] = when
	}
	if c.when != nil {
		m["_when"] = c.when.String()
	}
	if c.paths != nil {
		var names []string
		for _, p := range c.paths {
			names = append(names, "†"+p.String())
		}
		m["_outputPath"] = strings.Join(names, " || ")
	}
	if c.method != "" {
		m["_outputMethod"] = c.method
	}
	if c.errorPath != nil {
		m["_errorPath"] = "†" + c.errorPath.String()
	}
	if c.fallback != nil {
		m["_fallback"] = c.fallback.json()
	}
	if c.undo != nil {
		m["_undo"] = c.undo.json()
	}
	if c.delegate != nil {
		m["_delegate"] = c.delegate.name
	}
	if c.depends != nil {
		m["_dependsOn"] = c.depends
	}
	if c.onFailure != "" {
		m["_onFailure"] = c.onFailure
	}
	if c.retry > 0 {
		m["_retry"] = map[string]any{"max": c.retry, "delay": "1ms"}
	}
	if c.collect != "" {
		m["onItemFailure"] = c.collect
	}
	for _, p := range c.scopes {
		m["_scopes"] = append(asList(m["_scopes"]), "†"+p.String())
	}
	return m
}

func asList(v any) []any {
	list, _ := v.([]any)
	return list
}

func (d *gdoc) json() []byte {
	calls := []any{}
	for _, c := range d.calls {
		calls = append(calls, c.json())
	}
	doc := map[string]any{"calls": calls}
	if d.out != nil {
		doc["output"] = d.out.json()
	}
	if d.messages != nil {
		var messages []any
		for i := range d.messages {
			messages = append(messages, d.messages[i].json())
		}
		doc = map[string]any{"context": messages, "solution": doc}
	}
	raw, err := json.MarshalIndent(doc, "", " ")
	if err != nil {
		panic(err)
	}
	return raw
}

// A gplan is a plan with the documents that it delegates to.
type gplan struct {
	seed  uint64
	root  *gdoc
	files fstest.MapFS
	sinks int
	// instances are those that messages name. If no call names one, the plan runs once for each.
	instances []string
	template  bool
}

func (p *gplan) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "seed %d\n-- plan.json --\n%s\n", p.seed, p.root.json())
	for name, f := range p.files {
		fmt.Fprintf(&b, "-- %s --\n%s\n", name, f.Data)
	}
	return b.String()
}

// The tools of generated plans.
//
//   - src0, src1, src2 return values with parts.
//   - echo returns its params, and is pure; wrap returns them in an object, and is not; picky
//     returns them. All but echo may fail.
//   - pick chooses one of its outcomes.
//   - act returns its params as picky does, and changes the world; sink or out takes it back.
//   - redact declassifies its params; vouch returns them, and endorses them.
//   - sink and out are the sinks.
//
// A call may pick the activity of another one of these.
const sourceTools = 3

// generator makes one plan.
type generator struct {
	*rand.Rand
	plan  *gplan
	names int
	// small is for plans of few calls, so that all results can be tried, that read nothing but what
	// is there by what the tools declare.
	small bool
}

func newPlan(seed uint64, small bool) *gplan {
	g := &generator{Rand: rand.New(rand.NewPCG(seed, 7)), plan: &gplan{seed: seed, files: fstest.MapFS{}}, small: small}
	g.plan.root = g.document(2, "plan.json", "")
	return g.plan
}

// A scene holds what the calls of a document so far have written.
type scene struct {
	instance string             // that the next call works on
	written  map[string][]gpath // by instance
	has      map[string][]gpath // what is in a path that was written, as its tool declares
	ids      []string
	caller   string // the tool under which it runs, which gives it an input; "" for the plan
}

// wrote adds a path that a call may have written. has are the paths in what it writes.
func (s *scene) wrote(instance string, path gpath, has []gpath) {
	s.written[instance] = append(s.written[instance], path)
	s.has[instance+path.String()] = has
}

// messages generates what a document says of the whiteboard at the start.
func (g *generator) messages(d *gdoc, s *scene) {
	if g.IntN(8) == 0 {
		g.says(d, s, "state", "")
	}
	if g.IntN(8) == 0 {
		g.says(d, s, "input", "")
	}
}

// says adds a message, with a part that no other has.
func (g *generator) says(d *gdoc, s *scene, kind, instance string) {
	at := one(map[string]atom{"state": ofState, "input": ofInput}[kind]).or(one(ofPlan))
	if s.caller != "" {
		at = one(ofPlan)
	}
	d.messages = append(d.messages, gmessage{kind, instance, object(at, []string{"w"}, object(at, []string{"a"}, text("of "+d.name+instance, at)))})
	s.wrote(instance, gpath{kind, "w"}, []gpath{{"a"}})
}

// instances generates what the instances of a plan have, if it has any.
func (g *generator) instances(d *gdoc, s *scene) {
	kind := g.IntN(8)
	if kind > 1 {
		return
	}
	g.plan.instances, g.plan.template = []string{"A", "B"}, kind == 1
	for _, name := range g.plan.instances {
		in, user := one(ofInput).or(one(ofPlan)), one(ofUser).or(one(ofPlan))
		d.messages = append(d.messages, gmessage{"input", name, object(in, []string{"text", "user"},
			text("of "+name, in), object(user, []string{"name"}, text("user "+name, user)))})
		if !g.plan.template && g.IntN(2) == 0 {
			g.says(d, s, "state", name)
		}
	}
}

func (g *generator) document(deep int, name, caller string) *gdoc {
	d := &gdoc{name: name}
	s := &scene{caller: caller, written: map[string][]gpath{}, has: map[string][]gpath{}}
	if g.messages(d, s); caller == "" {
		g.instances(d, s)
	}
	n := 2 + g.IntN(6)
	if g.small {
		n = 2 + g.IntN(3)
	}
	for i := range n {
		s.instance = ""
		if caller == "" && len(g.plan.instances) > 0 && !g.plan.template && (i == 0 || g.IntN(4) > 0) { // or it were a template
			s.instance = g.plan.instances[g.IntN(2)]
		}
		c := g.call(s, deep)
		c.index = len(d.calls)
		d.calls = append(d.calls, c)
	}
	s.instance = ""
	if g.IntN(3) > 0 {
		d.out = &gvalue{members: []gparam{{"o", g.value(s)}, {"p", &gvalue{expr: g.soft(s)}}}}
	}
	return d
}

func (g *generator) id() string {
	g.names++
	return fmt.Sprintf("c%d", g.names)
}

func (g *generator) call(s *scene, deep int) *gcall {
	c := &gcall{id: g.id(), instance: s.instance}
	value := func(name string) gparam { return gparam{name, g.value(s)} }
	switch k := g.IntN(22); {
	case k < 5:
		c.tool = fmt.Sprintf("src%d", g.IntN(sourceTools))
		c.params = []gparam{{"id", &gvalue{literal: c.id}}}
		if g.IntN(4) == 0 {
			c.params = append(c.params, value("x"))
		}
	case k < 6:
		c.tool, c.params, c.neverFails = "echo", []gparam{value("x"), value("y")}, true
	case k < 7:
		c.tool, c.params = "wrap", []gparam{value("x")}
	case k < 8:
		c.tool, c.params = "picky", []gparam{value("x")}
	case k < 9:
		c.tool, c.params = "pick", []gparam{value("x")}
		c.paths = []gpath{{"state", "one"}, {"state", "two"}, {"state", "three"}}
	case k < 10:
		g.choose(c, s)
	case k < 11:
		c.tool, c.params = []string{"redact", "vouch"}[g.IntN(2)], []gparam{value("x")}
	case k < 14 && deep > 0:
		g.delegate(c, s, deep)
	case k >= 20:
		g.act(c, s)
	default:
		c.tool = []string{"sink", "sink", "out"}[g.IntN(3)]
		c.params = []gparam{{"p", g.value(s)}}
		if g.IntN(3) == 0 {
			c.params = append(c.params, value("q"))
		}
		if g.IntN(5) == 0 {
			c.scopes = []gpath{g.written(s)}
		}
		g.plan.sinks++
	}
	g.around(c, s)
	g.pick(c)
	if c.paths == nil && g.IntN(6) > 0 {
		c.paths = []gpath{g.target()}
		switch g.IntN(7) {
		case 0:
			c.method = "merge"
		case 1:
			c.method, c.paths = "push", []gpath{{"state", "list"}}
		case 2:
			if g.IntN(3) == 0 {
				c.method = "assign"
			}
		}
	}
	for _, p := range c.paths {
		s.wrote(c.instance, p, c.gives())
	}
	if c.errorPath != nil {
		s.wrote(c.instance, c.errorPath, []gpath{{"message"}, {"code"}})
	}
	s.ids = append(s.ids, c.id)
	return c
}

// act generates a call that can be taken back.
func (g *generator) act(c *gcall, s *scene) {
	c.tool, c.params = "act", []gparam{{"x", g.value(s)}}
	g.plan.sinks++
	if g.IntN(3) == 0 {
		return
	}
	c.undo = &gundo{tool: sinkTools[g.IntN(2)], whenUncertain: g.IntN(4) == 0, params: []gparam{{"p", g.undoValue()}}}
	if g.IntN(3) == 0 {
		c.undo.params = append(c.undo.params, gparam{"q", g.undoValue()})
	}
}

// undoValue generates a value that the call which takes another one back is given.
func (g *generator) undoValue() *gvalue {
	paths := []gpath{{"params", "x"}, {"params", "x"}, {"params"}, {"params", "x", "a"}, {"result", "x"}, {"result"}, {"result", "x", "list", 0}, {"failure", "message"}}
	if g.small { // the failure may quote anything, by what is checked
		paths = paths[:6]
	}
	read := &gexpr{path: paths[g.IntN(len(paths))]}
	switch g.IntN(6) {
	case 0:
		return &gvalue{literal: "take it back"}
	case 1:
		return &gvalue{text: []any{"not ", read}}
	case 2:
		return &gvalue{members: []gparam{{"m", &gvalue{expr: read}}, {"n", &gvalue{literal: 1}}}}
	}
	return &gvalue{expr: read}
}

// choose generates a choice by conditions.
func (g *generator) choose(c *gcall, s *scene) {
	c.tool, c.params = "choose", []gparam{{"value", g.value(s)}}
	c.paths = []gpath{{"state", "one"}, {"state", "two"}, {"state", "xother"}}
	for i := range 2 + g.IntN(2) {
		k := gcase{outcome: []int{0, 1, 2}[i], op: []string{"has", "is", "is", "true"}[g.IntN(4)]}
		if k.op == "has" || k.op == "is" && g.IntN(2) == 0 {
			k.path = [...]gpath{{"a"}, {"b", "c"}, {"x"}, {"o"}, {"message"}, {"m"}}[g.IntN(6)]
		}
		k.text = []string{"text", "none", "src0-a", "src1-c", "t", "clean", "sunk", "start"}[g.IntN(8)]
		c.cases = append(c.cases, k)
	}
	if g.small { // whose conditions are as open as results
		for i := range c.cases {
			c.cases[i].op, c.cases[i].path = "any", nil
		}
	}
}

// activities are those that calls may pick.
var activities = []string{"src0", "src1", "echo", "wrap", "picky", "redact", "vouch", "sink", "out"}

// pick lets a call pick another activity than that of its tool.
func (g *generator) pick(c *gcall) {
	if c.delegate != nil || c.cases != nil || c.tool == "pick" || c.tool == "act" || g.IntN(10) > 0 {
		return
	}
	c.activity, c.neverFails = activities[g.IntN(len(activities))], false
	if c.isSink() {
		g.plan.sinks++
	}
}

// runs returns the name of the activity that does the work.
func (c *gcall) runs() string {
	if c.activity != "" {
		return c.activity
	}
	return c.tool
}

// picked reports whether another activity than that of the tool does the work.
func (c *gcall) picked() bool { return c.activity != "" && c.activity != c.tool }

// isSink reports whether a policy may have bounds for the params.
func (c *gcall) isSink() bool {
	return slices.Contains(sinkTools, c.tool) || slices.Contains(sinkTools, c.activity) || c.leaves()
}

// leaves reports whether others may see the params: nothing is declared of that for "out", nor for
// "echo" when it does not do its own work.
func (c *gcall) leaves() bool {
	return c.tool == "out" || c.activity == "out" || c.picked() && (c.tool == "echo" || c.activity == "echo")
}

// gives returns the paths in the result of a call.
func (c *gcall) gives() (all []gpath) {
	switch {
	case c.activity != "": // of which nothing is declared
		return nil
	case c.fallback != nil: // or it is that of another tool
		return nil
	case c.delegate != nil && c.delegate.out != nil:
		all = []gpath{{"o"}, {"p"}}
	case strings.HasPrefix(c.tool, "src"):
		all = []gpath{{"a"}, {"b"}, {"b", "c"}, {"list"}, {"list", 0, "id"}, {"list", "[*]", "id"}, {"flag"}}
	case c.delegate == nil && c.tool == "wrap":
		all = []gpath{{"in", "x"}, {"out"}}
	case c.delegate == nil && (c.tool == "echo" || c.tool == "picky" || c.tool == "act" || c.tool == "vouch"):
		all = []gpath{{"x"}}
	}
	if c.tool == "forEach" || c.method == "push" {
		for i, p := range all {
			all[i] = append(gpath{0}, p...)
		}
		all = append(all, gpath{0})
	}
	return all
}

// around adds underscore members to a call.
func (g *generator) around(c *gcall, s *scene) {
	if g.IntN(5) == 0 {
		c.when = g.condition(s)
	}
	if g.IntN(6) == 0 && !c.neverFails {
		c.errorPath = gpath{"state", []string{"fault", "y"}[g.IntN(2)]}
	}
	if g.IntN(12) == 0 && c.delegate == nil && c.tool != "pick" && c.cases == nil {
		c.fallback = &gcall{tool: []string{"echo", "src1", "sink", "act"}[g.IntN(4)], params: []gparam{{"p", g.value(s)}}}
		if c.fallback.tool == "act" {
			g.act(c.fallback, s)
		}
		g.pick(c.fallback)
		if c.fallback.tool == "sink" {
			g.plan.sinks++
		}
	}
	if g.IntN(12) == 0 && len(s.ids) > 0 {
		c.depends = []string{s.ids[g.IntN(len(s.ids))]}
	}
	if g.IntN(12) == 0 {
		c.onFailure = []string{"skip", "continue", "abort"}[g.IntN(3)]
	}
	if g.IntN(10) == 0 && c.cases == nil {
		c.retry = 1
	}
}

// delegate generates a call of a document.
func (g *generator) delegate(c *gcall, s *scene, deep int) {
	name := fmt.Sprintf("doc%d.json", len(g.plan.files))
	g.plan.files[name] = nil // the name is taken
	c.tool = [...]string{"forEach", "reduce", "repeat", "echo", "echo"}[g.IntN(5)]
	c.delegate = g.document(deep-1, name, c.tool)
	g.plan.files[name] = &fstest.MapFile{Data: c.delegate.json()}
	switch c.tool {
	case "forEach":
		items := &gvalue{list: []*gvalue{{members: []gparam{{"x", g.value(s)}}}, g.value(s)}}
		if g.small {
			items.list[1] = &gvalue{members: []gparam{{"x", g.value(s)}}}
		} else if g.IntN(2) == 0 {
			items = &gvalue{expr: &gexpr{path: append(g.source(s), "list")}}
		}
		c.params = []gparam{{"items", items}}
		if g.IntN(3) == 0 {
			c.collect = []string{"skip", "collect"}[g.IntN(2)]
		}
	case "reduce":
		items := []*gvalue{g.value(s), {literal: "other"}}
		if g.IntN(2) == 0 {
			slices.Reverse(items)
		}
		c.params = []gparam{{"items", &gvalue{list: items}}, {"initial", &gvalue{literal: "start"}}}
	case "repeat":
		c.params = []gparam{{"max", &gvalue{literal: 2}}, {"initial", &gvalue{members: []gparam{{"x", g.value(s)}}}}}
	default:
		c.params = []gparam{{"x", g.value(s)}}
		if g.IntN(3) == 0 {
			c.scopes = []gpath{g.written(s)}
		}
	}
}

// target returns a path to write to.
func (g *generator) target() gpath {
	return []gpath{{"state", "x"}, {"state", "y"}, {"state", "z"}, {"state", "x"}, {"state", "x", "a"}, {"state", "z", "in"}}[g.IntN(6)]
}

// written returns a path that may have been written.
func (g *generator) written(s *scene) gpath {
	written := s.written[s.instance]
	if s.instance != "" && g.IntN(3) == 0 {
		written = s.written[""]
	}
	if len(written) == 0 || g.IntN(8) == 0 {
		if g.small {
			return g.input(s.caller)
		}
		if s.caller != "" && g.IntN(2) == 0 {
			return [...]gpath{{"input", "x"}, {"input", "item"}, {"input", "result"}}[g.IntN(3)]
		}
		return [...]gpath{{"input", "text"}, {"input", "user", "name"}, {"input"}}[g.IntN(3)]
	}
	return slices.Clone(written[g.IntN(len(written))])
}

// input returns a path in the input of a document.
func (g *generator) input(caller string) gpath {
	all := map[string][]gpath{
		"": {{"input", "text"}, {"input", "user", "name"}, {"input"}}, "reduce": {{"input", "item"}, {"input", "result"}},
		"forEach": {{"input", "x"}}, "repeat": {{"input", "x"}}, "echo": {{"input", "x"}},
	}[caller]
	return all[g.IntN(len(all))]
}

// source returns the path of something that was written, without a path inside of it.
func (g *generator) source(s *scene) gpath { return g.written(s) }

// below appends a path that a result may have.
func (g *generator) below(p gpath) gpath {
	more := []gpath{
		nil, nil, {"a"}, {"b"}, {"b", "c"}, {"list"}, {"list", 0, "id"}, {"list", 1}, {"list", "[*]", "id"}, {"flag"}, {"x"}, {"in", "x"}, {"message"}, {"o"}, {"p"},
		{0}, {0, "a"}, {"x", "a"}, {"y"}, {"list", 0, "title"}, {"o", "m"}, {0, "o"}, {"error", "message"},
	}[g.IntN(23)]
	return append(slices.Clip(p), more...)
}

// reference returns a reference that may find nothing.
func (g *generator) reference(s *scene) *gexpr {
	p := g.written(s)
	if !g.small {
		return &gexpr{path: g.below(p)}
	}
	has := s.has[s.instance+p.String()]
	if s.instance != "" && has == nil {
		has = s.has[p.String()]
	}
	if len(has) > 0 && g.IntN(3) > 0 {
		p = append(slices.Clip(p), has[g.IntN(len(has))]...)
	}
	return &gexpr{path: p}
}

// soft returns an expression that always has a value.
func (g *generator) soft(s *scene) *gexpr {
	e := &gexpr{or: []*gexpr{g.reference(s)}}
	if g.IntN(3) == 0 {
		e.or = append(e.or, g.reference(s))
	}
	e.or = append(e.or, &gexpr{literal: "none"})
	return e
}

// condition returns an expression for _when.
func (g *generator) condition(s *scene) *gexpr {
	if g.IntN(4) == 0 {
		return &gexpr{and: []*gexpr{g.reference(s), g.reference(s)}}
	}
	return g.reference(s)
}

func (g *generator) value(s *scene) *gvalue {
	switch g.IntN(12) {
	case 0, 1:
		return &gvalue{literal: "text"}
	case 2:
		return &gvalue{text: []any{"text ", g.soft(s), " more"}}
	case 3:
		return &gvalue{members: []gparam{{"m", g.value(s)}, {"n", &gvalue{list: []*gvalue{g.value(s), {literal: 1}}}}}}
	case 4, 5:
		return &gvalue{expr: g.reference(s)}
	case 6:
		return &gvalue{expr: &gexpr{and: []*gexpr{g.reference(s), g.soft(s)}}}
	}
	return &gvalue{expr: g.soft(s)}
}

// hash returns a number that follows from texts.
func hash(texts ...string) uint32 {
	h := fnv.New32a()
	for _, text := range texts {
		h.Write([]byte(text))
		h.Write([]byte{0})
	}
	return h.Sum32()
}
