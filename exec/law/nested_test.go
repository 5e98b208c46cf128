package law

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/state"
)

// Documents that calls delegate to, loops and choose (plan-language §9): how they are
// made, and what they mean by the reference.

// delegates makes a call one that delegates, or that chooses.
func (m *maker) delegates(i int, c *planned) {
	c.Does, c.Params = behavior{}, nil
	param := func(name, value string) { c.Params = append(c.Params, member{name, value}) }
	kind := m.roll(6)
	if kind == 5 {
		m.chooses(i, c)
		return
	}
	c.Sub = m.document(c.ID)
	c.Tool = []string{"runs", "runs", "forEach", "reduce", "repeat"}[kind]
	switch c.Tool {
	case "runs":
		for k := range m.roll(3) {
			param(fmt.Sprintf("p%d", k), m.value(i, 0))
		}
	case "forEach":
		param("items", m.items(i))
		param("onItemFailure", m.pick(`"abort"`, `"abort"`, `"skip"`, `"collect"`))
		if m.one(2) {
			param("concurrency", m.pick("1", "2", "3"))
		}
	case "reduce":
		param("items", m.items(i))
		if m.one(2) {
			param("initial", m.value(i, 1))
		}
	case "repeat":
		param("max", m.pick("1", "2", "3"))
		if m.one(2) {
			param("until", m.pick(`"n >= 1"`, `"n >= 2"`, `"n >= 4"`, `"broken"`))
		}
		if m.one(2) {
			param("initial", m.pick(`{"item":`+m.value(i, 1)+`}`, `{}`, `7`))
		}
	}
}

func (m *maker) items(i int) string {
	list := "["
	for k := range m.roll(5) {
		list += strings.Repeat(",", min(k, 1)) + m.pick(m.value(i, 1), fmt.Sprint(k), `{"item":"k","x":[1]}`)
	}
	return list + "]"
}

// chooses makes a call one of choose.
func (m *maker) chooses(i int, c *planned) {
	c.Tool, m.outputs[i] = "choose", okOrErr
	when := m.pick(`{"ok":"case 0","err":"case 1"}`, `{"ok":"case 0"}`, `{"err":"case 2","ok":"case 1"}`, `{"ok":"broken 0"}`)
	c.Params = []member{{"value", m.value(i, 0)}, {"when", when}}
}

// document makes a document for the call of this id. Its reads of the input and of the
// notes, which are what is copied in, are of roots, or stand in an || with one: what of them is
// there the compiler knows better or worse than the reference, which sees values.
func (m *maker) document(id string) *plan {
	sub := &maker{dice: m.dice, nested: m.nested && m.depth < 1, depth: m.depth + 1, prefix: id + "_", inner: true}
	sub.Kinds = []member{
		{"state", m.pick(`{}`, `{"n":1,"l":[{"x":1},2]}`, `{"a":{"x":{"z":1},"y":2}}`)},
		{"data", m.pick(`{}`, `{"k":{"m":1}}`)},
		{"note", `{}`},
	}
	var pool []string
	for range 1 + m.roll(4) {
		pool = append(pool, m.pick(places...))
	}
	for range 1 + m.roll(4) {
		sub.sources = append(sub.sources, false)
		sub.outputs = append(sub.outputs, notNotes(sub.outputPath(pool)))
	}
	for i := range sub.outputs {
		sub.Calls = append(sub.Calls, sub.call(i))
	}
	if m.one(2) {
		sub.Output = sub.value(len(sub.outputs), 0)
	}
	return &sub.plan
}

func notNotes(path string) string { return strings.ReplaceAll(path, "†note", "†data") }

// innerExpression is expression for a call of a document.
func (m *maker) innerExpression(i int) string {
	switch m.roll(4) {
	case 0:
		return m.reference(i) + " || †input"
	case 1:
		return m.pick("†input.item", "†input.p0", "†input.result", "†state.a.x") + " || " + m.pick("†input", "†state", "'none'")
	case 2:
		return m.reference(i) + " && " + m.reference(i)
	}
	return m.reference(i)
}

// files are the documents of a plan, by name.
func (p *plan) files() map[string]*plan {
	all := map[string]*plan{}
	for _, c := range p.Calls {
		if c.Sub != nil {
			all[c.ID+".json"] = c.Sub
			maps.Copy(all, c.Sub.files())
		}
	}
	return all
}

// isInner reports whether a call is of a document, and which call of the plan leads to it.
func isInner(call string) (outer string, inner bool) {
	outer, _, inner = strings.Cut(call, "_")
	return outer, inner
}

// asking is what tools are asked, by the reference. What may be asked is what stands behind
// a failure that aborts a run inside the run.
type asking struct {
	must, may map[string]string
	aside     int
}

func newAsking() *asking { return &asking{must: map[string]string{}, may: map[string]string{}} }

func (a *asking) ask(key, question string) {
	if a.aside > 0 {
		a.may[key] = question
		return
	}
	a.must[key] = question
}

// asked is the name under which it is kept what a tool was asked: calls of documents are asked
// many things.
func asked(call, tool, question string) string {
	if _, inner := isInner(call); inner {
		return call + " " + tool + " " + question
	}
	return call + " " + tool
}

// predicates are conditions: "n >= 2", and "case 1", which one in three values is; "broken 1" can't
// be evaluated for one in three values, and "broken" never.
type predicates struct{}

type condition string

func (predicates) Check(source string, _ map[string]*schemas.Schema, _ *schemas.Meter) (compile.Predicate, error) {
	return condition(source), nil
}

func (c condition) Holds(_ context.Context, vars map[string]json.RawMessage) (bool, error) {
	if k, ok := strings.CutPrefix(string(c), "n >= "); ok {
		least, _ := strconv.Atoi(k)
		n, err := strconv.Atoi(string(vars["n"]))
		return n >= least, err
	}
	kind, k, _ := strings.Cut(string(c), " ")
	if kind == "broken" && k == "" {
		return false, errors.New("broken")
	}
	fits := fmt.Sprint(digest("", "", sorted(blind(canonical(vars["value"]))))%3) == k
	if kind == "broken" && fits {
		return false, errors.New("broken")
	}
	return fits, nil
}

// The reference.

func (s *step) delegated() bool { return s.rest.Delegate != "" }

// perform is an attempt of a call: of its tool, or what the language itself does.
func (r *reading) perform(s *step, params json.RawMessage, n int) (json.RawMessage, string, *failure) {
	switch {
	case s.Tool == "choose":
		return r.choose(params)
	case !s.delegated():
		return r.attempt(s.ID, s.Tool, params, r.scopes(s), n)
	}
	d := &delegation{reading: r, step: s, copied: objectFields(r.scopes(s)), attempts: n}
	value, err := d.run(params)
	return value, "", err
}

func (r *reading) choose(params json.RawMessage) (json.RawMessage, string, *failure) {
	args := objectFields(params)
	for _, name := range []string{"ok", "err"} {
		when := objectFields(args["when"])
		if strings.HasPrefix(string(args["when"]), `{"err"`) {
			name = map[string]string{"ok": "err", "err": "ok"}[name] // in the order of the plan
		}
		if c, ok := when[name]; ok {
			holds, err := condition(unquote(string(c))).Holds(context.Background(), args)
			if err != nil {
				return nil, "", &failure{code: "condition", permanent: true}
			}
			if holds {
				return args["value"], name, nil
			}
		}
	}
	return nil, "", &failure{code: "choice", permanent: true}
}

// A delegation is the runs of a document for a call.
type delegation struct {
	*reading
	step     *step
	copied   map[string]json.RawMessage
	attempts int
}

// run is §9.
func (d *delegation) run(params json.RawMessage) (json.RawMessage, *failure) {
	args := objectFields(params)
	var items []json.RawMessage
	_ = json.Unmarshal(args["items"], &items)
	switch d.step.Tool {
	case "forEach":
		return d.forEach(items, string(args["onItemFailure"]))
	case "reduce":
		result := args["initial"]
		if result == nil {
			result = json.RawMessage("null")
		}
		for _, item := range items {
			var err *failure
			if result, err = d.once(json.RawMessage(fmt.Sprintf(`{"item":%s,"result":%s}`, item, result))); err != nil {
				return nil, err
			}
		}
		return result, nil
	case "repeat":
		return d.repeat(args)
	}
	return d.once(params)
}

func (d *delegation) forEach(items []json.RawMessage, mode string) (json.RawMessage, *failure) {
	var results []string
	var failed *failure
	for _, item := range items {
		v, err := d.once(asInput(item))
		switch {
		case failed != nil:
		case err == nil:
			results = append(results, string(v))
		case mode == `"collect"`:
			results = append(results, `{"error":`+string(err.object)+`}`)
		case mode != `"skip"`:
			failed = err
			d.asking.aside++ // the items behind it may have been on their way
			defer func() { d.asking.aside-- }()
		}
	}
	return listOf(results), failed
}

func (d *delegation) repeat(args map[string]json.RawMessage) (json.RawMessage, *failure) {
	most, _ := strconv.Atoi(string(args["max"]))
	first := json.RawMessage(`{}`)
	if args["initial"] != nil {
		first = asInput(args["initial"])
	}
	input, result := first, json.RawMessage(nil)
	for n := 1; n <= most; n++ {
		var err *failure
		if result, err = d.once(input); err != nil {
			return nil, err
		}
		input, _ = state.Apply(first, nil, state.Assign, asInput(result))
		if args["until"] == nil {
			continue
		}
		vars := map[string]json.RawMessage{"n": json.RawMessage(fmt.Sprint(n))}
		holds, failed := condition(unquote(string(args["until"]))).Holds(context.Background(), vars)
		if failed != nil {
			return nil, &failure{code: "condition", permanent: true}
		}
		if holds {
			return result, nil
		}
	}
	if args["until"] != nil {
		return nil, &failure{code: "exhausted", permanent: true}
	}
	return result, nil
}

// once runs the document with an input.
func (d *delegation) once(input json.RawMessage) (json.RawMessage, *failure) {
	doc := d.documents[d.step.rest.Delegate]
	w := *d.world
	w.strategy, w.initial = d.inner, maps.Clone(doc.initial)
	w.allows = func(string, json.RawMessage) bool { return true }
	w.initial["input"] = json.RawMessage(`{}`)
	lay := func(kind string, v json.RawMessage) {
		w.initial[kind], _ = state.Apply(w.initial[kind], nil, state.Merge, v) // both are objects
	}
	for kind, v := range d.copied {
		lay(kind, v)
	}
	lay("input", input)
	r := newReading(doc.doc, &w)
	aside := d.asking.aside
	r.run()
	d.asking.aside = aside
	err := &failure{code: "delegate"}
	err.object = errorOf(err, d.step, d.attempts)
	if i := slices.IndexFunc(r.order, func(s *step) bool { return s.status == "failed" && !s.handled }); i >= 0 {
		s := r.order[i]
		err.permanent = s.err.final
		err.final = s.err.final
		err.uncertain = s.err.uncertain
		err.object = errorOf(s.err, s, s.attempts)
		return nil, err
	}
	if r.output.IsZero() {
		return r.fold("state", r.end()), nil
	}
	v := r.fill(r.output, r.end())
	if !v.present() {
		return nil, err
	}
	return v.json, nil
}

func errorOf(err *failure, s *step, attempts int) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"code":%q,"message":"","tool":%q,"call":%q,"attempts":%d}`, err.code, s.Tool, s.ID, attempts))
}

func asInput(v json.RawMessage) json.RawMessage {
	if v[0] == '{' {
		return v
	}
	return json.RawMessage(`{"item":` + string(v) + `}`)
}

func objectFields(v json.RawMessage) (all map[string]json.RawMessage) {
	_ = json.Unmarshal(v, &all)
	return all
}

// A document is what the reference knows of one.
type document struct {
	doc     *lang.Document
	initial map[string]json.RawMessage
}

func (p *plan) documents() (map[string]*document, error) {
	all := map[string]*document{}
	for name, sub := range p.files() {
		doc, findings := lang.Parse(diag.NewFile(name, []byte(sub.text())), nil)
		if err := findings.Err(); err != nil {
			return nil, errors.Join(errors.New(name), err)
		}
		d := &document{doc: doc, initial: map[string]json.RawMessage{}}
		for _, k := range sub.Kinds {
			d.initial[k.Name] = json.RawMessage(k.JSON)
		}
		all[name] = d
	}
	return all, nil
}

// strange is why a plan is refused of whose documents the compiler knows more than the
// reference: their types.
func (p *plan) strange(findings diag.List) bool {
	return len(p.files()) > 0 && findings.Err() != nil
}
