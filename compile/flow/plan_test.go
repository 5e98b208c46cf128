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
	params     []gparam
	when       *gexpr
	paths      []gpath // the alternatives of the output path
	method     string  // "" is set
	errorPath  gpath
	fallback   *gcall
	delegate   *gdoc
	depends    []string
	onFailure  string
	retry      int
	collect    string // onItemFailure of a forEach
	scopes     []gpath
	neverFails bool

	index int // in its document
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
	name  string
	calls []*gcall
	out   *gvalue // nil: its state
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
//   - src0, src1, src2 return values with parts, or fail.
//   - echo returns its params, and is pure; wrap returns them in an object, and is not; picky
//     returns them or fails.
//   - pick chooses one of its outcomes.
//   - redact declassifies its params; vouch returns them, and endorses them.
//   - sink and out are the sinks; either may fail.
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
	written []gpath
	has     map[string][]gpath // what is in a path that was written, as its tool declares
	ids     []string
	caller  string // the tool under which it runs, which gives it an input; "" for the plan
}

func (g *generator) document(deep int, name, caller string) *gdoc {
	d := &gdoc{name: name}
	s := &scene{caller: caller, has: map[string][]gpath{}}
	n := 2 + g.IntN(6)
	if g.small {
		n = 2 + g.IntN(3)
	}
	for range n {
		c := g.call(s, deep)
		c.index = len(d.calls)
		d.calls = append(d.calls, c)
	}
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
	c := &gcall{id: g.id()}
	value := func(name string) gparam { return gparam{name, g.value(s)} }
	switch k := g.IntN(20); {
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
		c.tool, c.params = []string{"redact", "vouch"}[g.IntN(2)], []gparam{value("x")}
	case k < 13 && deep > 0:
		g.delegate(c, s, deep)
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
	s.written = append(s.written, c.paths...)
	for _, p := range c.paths {
		s.has[p.String()] = c.gives()
	}
	if c.errorPath != nil {
		s.written = append(s.written, c.errorPath)
		s.has[c.errorPath.String()] = []gpath{{"message"}, {"code"}}
	}
	s.ids = append(s.ids, c.id)
	return c
}

// gives returns the paths in the result of a call.
func (c *gcall) gives() (all []gpath) {
	switch {
	case c.fallback != nil: // or it is that of another tool
		return nil
	case c.delegate != nil && c.delegate.out != nil:
		all = []gpath{{"o"}, {"p"}}
	case strings.HasPrefix(c.tool, "src"):
		all = []gpath{{"a"}, {"b"}, {"b", "c"}, {"list"}, {"list", 0, "id"}, {"list", "[*]", "id"}, {"flag"}}
	case c.delegate == nil && c.tool == "wrap":
		all = []gpath{{"in", "x"}, {"out"}}
	case c.delegate == nil && (c.tool == "echo" || c.tool == "picky" || c.tool == "vouch"):
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
	if g.IntN(12) == 0 && c.delegate == nil && c.tool != "pick" {
		c.fallback = &gcall{tool: []string{"echo", "src1", "sink"}[g.IntN(3)], params: []gparam{{"p", g.value(s)}}}
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
	if g.IntN(10) == 0 && c.delegate != nil {
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
		c.params = []gparam{{"items", &gvalue{list: []*gvalue{g.value(s), {literal: "two"}}}}, {"initial", &gvalue{literal: "start"}}}
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
	if len(s.written) == 0 || g.IntN(8) == 0 {
		if g.small {
			return g.input(s.caller)
		}
		if s.caller != "" && g.IntN(2) == 0 {
			return [...]gpath{{"input", "x"}, {"input", "item"}, {"input", "result"}}[g.IntN(3)]
		}
		return [...]gpath{{"input", "text"}, {"input", "user", "name"}, {"input"}}[g.IntN(3)]
	}
	return slices.Clone(s.written[g.IntN(len(s.written))])
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
	if has := s.has[p.String()]; len(has) > 0 && g.IntN(3) > 0 {
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
