package law

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// A plan is a generated plan with what its tools do, in a form that is easy to
// make smaller.
type plan struct {
	Strategy string // of failures: skip or continue
	Effects  string // declared, strict or none
	Lenient  bool
	Kinds    []member
	Schema   string // of the state, or ""
	Calls    []*planned
	Output   string // of the solution, or ""

	Instances []instanced
}

type member struct{ Name, JSON string }

// A planned call. Members are those with an underscore but _tool and _id.
type planned struct {
	ID, Tool      string
	Params        []member
	Members       []member
	Does, Instead behavior // of the tool, of its fallback
	Sub           *plan    // the document that it delegates to, in the file <id>.json
}

// dice reads choices from bytes; at their end all are 0.
type dice struct{ data []byte }

func (d *dice) roll(n int) int {
	if len(d.data) == 0 {
		return 0
	}
	b := d.data[0]
	d.data = d.data[1:]
	return int(b) % n
}

// one reports true once in n times, and never at the end of the bytes.
func (d *dice) one(n int) bool { return d.roll(n) == n-1 }

func (d *dice) pick(from ...string) string { return from[d.roll(len(from))] }

// random are bytes to make a plan of; one in a hundred plans is large.
func random(seed uint64) []byte {
	r := rand.New(rand.NewPCG(seed, 99))
	b := make([]byte, 100+r.IntN(900))
	if seed%100 == 99 {
		b = make([]byte, large+r.IntN(large))
	}
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// large is how many bytes make a large plan.
const large = 5000

// A maker makes one plan, with few paths so that much overlaps.
type maker struct {
	*dice
	plan
	outputs []string // the _outputPath of each call, "" for none
	sources []bool   // calls that read the input only, so that looking forward to them makes no cycle
	forward int      // one read in so many may look forward to a source

	nested bool   // calls may delegate
	inner  bool   // it makes a document that is delegated to
	depth  int    // of the document
	prefix string // of the ids of its calls
}

var places = []string{
	"†state.a", "†state.b", "†state.a.x", "†state.l", "†state.a.y", "†state.c", "†state.a.x.z", "†state.l[0]", "†state.n",
	"†state.l[1]", "†state.l[-1]", "†data.k", "†state.l.0", "†data.k.m", "†note.t", "†state.b.x", "†state", "†data",
	`†state["odd name"]`, "†state.l[0].x", "†state.d", "†state.e", "†state.f", "†note",
}

// generate makes a plan of bytes. Every string of bytes gives one.
func generate(data []byte) *plan { return (&maker{dice: &dice{data}}).make(len(data)) }

// generateNested makes a plan of bytes whose calls may delegate.
func generateNested(data []byte) *plan {
	return (&maker{dice: &dice{data}, nested: true}).make(len(data))
}

func (m *maker) make(size int) *plan {
	m.Strategy = m.pick("skip", "continue")
	m.Effects = m.pick("declared", "declared", "declared", "strict", "none")
	m.Lenient = m.one(8)
	m.kinds()
	n := 1 + m.roll(12)
	if m.one(16) {
		n += m.roll(30)
	}
	if size >= large {
		n = 60 + m.roll(100)
	}
	m.forward = []int{255, 60, 12, 4}[m.roll(4)]
	var pool []string
	for range 2 + m.roll(8) {
		pool = append(pool, m.pick(places...))
	}
	for i := range n {
		m.sources = append(m.sources, m.one(3))
		m.outputs = append(m.outputs, m.outputPath(pool))
		if m.sources[i] && m.one(2) {
			m.outputs[i] = fmt.Sprintf("†state.s%d", i)
		}
	}
	for i := range n {
		m.Calls = append(m.Calls, m.call(i))
	}
	if m.one(4) {
		m.Output = fmt.Sprintf(`{"all":%s,"text":"so †{state}"}`, m.value(n, 0))
	}
	if m.one(3) {
		m.disorder()
	}
	return &m.plan
}

// disorder moves a call to another place of the list, so that those that read it
// look forward.
func (m *maker) disorder() {
	i, j := m.roll(len(m.Calls)), m.roll(len(m.Calls))
	if c := m.Calls[i]; m.sources[i] || m.one(8) {
		m.Calls = slices.Insert(slices.Delete(m.Calls, i, i+1), j, c)
	}
}

func (m *maker) kinds() {
	var state []string
	for _, s := range []string{`"n":1`, `"l":[{"x":1},{"x":2}]`, `"a":{"x":{"z":1},"y":2}`, `"b":[3]`, `"c":"text"`} {
		if m.one(3) {
			state = append(state, s)
		}
	}
	m.Kinds = []member{
		{"input", `{"q":7.50,"s":"str","obj":{"m":[1,2]},"on":true,"off":false,"nil":null,"list":[{"x":1},{"x":"two"}]}`},
		{"state", "{" + strings.Join(state, ",") + "}"},
		{"data", m.pick(`{}`, `{"k":{"m":1}}`, `{"k":[1]}`)},
		{"note", m.pick(`{}`, `{"t":"hi"}`)},
	}
	if m.one(8) {
		m.Schema = stateSchema
	}
}

// outputPath is a write expression of one path, of alternatives or of several at once.
func (m *maker) outputPath(pool []string) string {
	p := func() string { return m.pick(pool...) }
	switch k := m.roll(20); {
	case k < 11:
		return p()
	case k < 12:
		return ""
	case k < 14:
		return p() + " && " + p()
	case k < 15:
		return p() + " || (" + p() + " && " + p() + ")"
	case k < 17:
		return okOrErr
	case k < 18:
		return p() + " || " + m.pick(p(), "†note.t") + " || †state.err"
	}
	return p() + " || " + p()
}

const okOrErr = "†state.ok || †state.err"

func (m *maker) call(i int) *planned {
	c := &planned{ID: m.id(i), Tool: m.pick(toolNames...), Does: m.behavior()}
	for k := range m.roll(4) {
		c.Params = append(c.Params, member{fmt.Sprintf("p%d", k), m.value(i, 0)})
	}
	if m.nested && m.one(3) {
		m.delegates(i, c)
	}
	add := func(oneIn int, name string, value func() string) {
		if m.one(oneIn) {
			c.Members = append(c.Members, member{name, value()})
		}
	}
	from := func(values ...string) func() string { return func() string { return m.pick(values...) } }
	always, retried := 1, 12
	if out := m.outputs[i]; out != "" {
		add(always, "_outputPath", from(quote(out)))
		add(2, "_outputMethod", from(`"set"`, `"push"`, `"merge"`, `"assign"`, `"concat"`, `"push"`))
		if out == okOrErr && c.Sub == nil && c.Tool != "choose" && m.one(2) {
			c.Tool = "chooses"
		}
	}
	add(8, "_errorPath", func() string {
		to := m.pick(`"†state.err"`, `"†state.errs"`, `"†state.a"`, `"†note.err"`, `"†state.n"`)
		if m.inner {
			to = notNotes(to)
		}
		return to
	})
	add(6, "_when", func() string { return quote(m.expression(i)) })
	if !m.sources[i] {
		add(4, "_dependsOn", func() string { return m.dependsOn(i) })
	}
	if c.Does.Fails > 0 {
		retried = always
	}
	add(retried, "_retry", from(`2`, `{"max":1,"delay":"3ms"}`, `{"max":3,"delay":"1ms","on":["E1"]}`, `0`))
	add(8, "_fallback", func() string {
		c.Instead = m.behavior()
		c.Instead.Hangs, c.Instead.Lost = 0, 0
		own := `{"_tool":"backup","q":` + m.value(i, 1) + `}`
		return m.pick(`"backup"`, `"backupPays"`, own)
	})
	add(8, "_onFailure", from(`"skip"`, `"continue"`))
	scoped := 16
	if c.Sub != nil {
		add(always, "_delegate", from(quote(c.ID+".json")))
		scoped = 2
	}
	scopes := from(`["state"]`, `["input","†state.a"]`, `["†data.k"]`, `[]`)
	if c.Sub != nil { // see document
		scopes = from(`["input"]`, `["note","†input"]`, `["†note"]`)
	}
	add(scoped, "_scopes", scopes)
	if c.Sub != nil || c.Tool == "choose" {
		return c
	}
	add(20, "_output", func() string {
		c.Tool = "known"
		return m.pick(`1`, `{"x":{"z":5}}`, `"†state.a"`, `[1,[2]]`, `{"_outcome":"1","_value":3}`)
	})
	if c.Tool != "known" {
		add(24, "_expect", from(expected))
	}
	if c.Does.Hangs > 0 {
		add(always, "_timeout", from(`"2s"`))
	}
	return c
}

func (m *maker) id(i int) string { return fmt.Sprintf("%sc%d", m.prefix, i) }

func (m *maker) dependsOn(i int) string {
	ids := []string{}
	for range 1 + m.roll(2) {
		o := m.roll(max(i, 1))
		if later := m.roll(len(m.outputs)); !m.inner && m.one(m.forward) && m.sources[later] {
			o = later
		}
		if id := m.id(o); o != i && !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
	}
	out, _ := json.Marshal(ids) // strings always encode
	return string(out)
}

func (m *maker) behavior() behavior {
	b := behavior{Shape: m.roll(shapes), Choice: m.roll(choices), Code: m.pick("E1", "E2", "E3")}
	switch m.roll(16) {
	case 15:
		b.Permanent = true
	case 14:
		b.Fails = 1 + m.roll(4)
	case 13:
		b.Picky = true
	case 12:
		b.Hangs = 1 + m.roll(2)
	case 11:
		b.Lost = 1
	}
	return b
}

// value is a param's value: mostly of expressions.
func (m *maker) value(i, depth int) string {
	switch k := m.roll(16); {
	case k < 6:
		return quote(m.reference(i))
	case k < 9:
		return quote(m.expression(i))
	case k < 11:
		return quote(m.pick("x †{"+m.braced(i)+"} y", "†{"+m.braced(i)+"}", "<†{"+m.braced(i)+"}> ††{no} †{"+m.braced(i)+"}"))
	case k < 13 && depth < 2:
		return `{"in":` + m.value(i, depth+1) + `,"lit":1.0}`
	case k < 14 && depth < 2:
		return `[` + m.value(i, depth+1) + `,` + m.value(i, depth+1) + `]`
	}
	return m.pick(`1`, `"plain"`, `"††state.a"`, `null`, `[]`, `{"a":"é\n"}`, `1e2`)
}

func (m *maker) braced(i int) string {
	e := m.expression(i)
	if m.one(2) {
		return strings.TrimPrefix(e, "†")
	}
	return e
}

func (m *maker) expression(i int) string {
	if m.inner {
		return m.innerExpression(i)
	}
	ref := func() string { return m.reference(i) }
	switch k := m.roll(16); {
	case k < 6:
		return ref()
	case k < 8:
		return ref() + " || " + m.pick("'none'", "0", "null", "false")
	case k < 11:
		return ref() + " || " + ref()
	case k < 12:
		return m.anything(i) + " || " + ref() + " || " + ref()
	case k < 14:
		return ref() + " && " + ref()
	case k < 15:
		return "(" + ref() + " && " + m.anything(i) + ") || " + ref()
	}
	return ref() + " && (" + ref() + " || " + ref() + ")"
}

// anything is a reference that may be to nothing.
func (m *maker) anything(i int) string {
	return m.pick("†input.none", "†state.none", m.reference(i), m.pick(places...))
}

// reference is a reference to what an earlier call writes, or near to it; at times
// to what a later one writes, to something given, or to nothing.
func (m *maker) reference(i int) string {
	if m.inner && m.one(3) {
		return m.pick("†input", "†state", "†input", "†data", "†note")
	}
	if !m.inner && m.one(200) {
		return m.pick("†state.none", "†input.none", "†data.k")
	}
	if i < len(m.sources) && m.sources[i] && !m.one(30) {
		return m.pick("†input.q", "†input.obj", "†input.on", "†input.obj.m[-1]")
	}
	if !m.inner && m.one(3) {
		return m.pick("†input.q", "†input.s", "†input.obj", "†input.on", "†input.list[*].x", "†state", "†input.obj.m[-1]", "†data", "†input.off", "†input.nil")
	}
	var from []string
	for j, out := range m.outputs {
		if out != "" && (j < i || !m.inner && (m.sources[j] && m.one(m.forward) || m.one(255))) {
			from = append(from, out)
		}
	}
	for _, c := range m.Calls[:min(i, len(m.Calls))] {
		if to, ok := c.member("_errorPath"); ok {
			from = append(from, unquote(to))
		}
	}
	if len(from) == 0 {
		if m.inner {
			return "†input"
		}
		return m.pick("†input.q", "†state", "†input")
	}
	paths := strings.FieldsFunc(m.pick(from...), func(r rune) bool { return strings.ContainsRune("|&()", r) })
	for i := range paths {
		paths[i] = strings.TrimSpace(paths[i])
	}
	return m.near(m.pick(slices.DeleteFunc(paths, func(p string) bool { return p == "" })...))
}

// near is a path, or one above or below it.
func (m *maker) near(p string) string {
	switch k := m.roll(16); {
	case k < 10:
		return p
	case k < 12:
		if cut := strings.LastIndexAny(p, ".["); cut > 0 {
			return p[:cut]
		}
		return p
	}
	return p + m.pick(".x", ".y", "[0]", "[-1]", "[*]", "[*].x", ".x.z", ".call", ".0")
}

func (c *planned) member(name string) (value string, ok bool) {
	for _, m := range c.Members {
		if m.Name == name {
			return m.JSON, true
		}
	}
	return "", false
}

// text is the document.
func (p *plan) text() string {
	var messages []string
	for _, k := range p.Kinds {
		m := fmt.Sprintf(`{"type": "data", "kind": %q, "data": %s}`, k.Name, k.JSON)
		if slices.Contains([]string{"input", "state", "data"}, k.Name) {
			m = fmt.Sprintf(`{"type": %q, %q: %s}`, k.Name, k.Name, k.JSON)
		}
		if k.Name == "state" && p.Schema != "" {
			m = strings.TrimSuffix(m, "}") + `, "schema": ` + p.Schema + "}"
		}
		messages = append(messages, m)
	}
	messages = append(messages, p.messages()...)
	calls := "["
	for i, c := range p.Calls {
		calls += strings.Repeat(",", min(i, 1)) + fmt.Sprintf("\n    {\"_id\": %q, \"_tool\": %q", c.ID, c.Tool)
		for _, m := range slices.Concat(c.Params, c.Members) {
			calls += fmt.Sprintf(", %q: %s", m.Name, m.JSON)
		}
		calls += "}"
	}
	calls += "\n  ]"
	if p.Output == "" {
		messages = append(messages, `{"type": "plan", "plan": `+calls+`}`)
	}
	context := "[\n  " + strings.Join(messages, ",\n  ") + "\n]\n"
	if p.Output == "" {
		return context
	}
	return "{\"context\": " + context + ", \"solution\": {\"calls\": " + calls + ",\n  \"output\": " + p.Output + "}}\n"
}
