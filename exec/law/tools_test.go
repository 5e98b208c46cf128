package law

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/tool"
)

// definitions are the tools by what they declare.
var definitions = map[string]tool.Effects{
	"plain":      {},
	"plainA":     {Domain: "a"},
	"reads":      {ReadOnly: tool.Yes},
	"pure":       {Pure: tool.Yes},
	"apart":      {Independent: tool.Yes},
	"safe":       {Idempotent: tool.Yes},
	"pays":       {ReadOnly: tool.No},
	"wipes":      {Destructive: tool.Yes},
	"paysA":      {ReadOnly: tool.No, Domain: "a"},
	"paysB":      {ReadOnly: tool.No, Domain: "b"},
	"chooses":    {ReadOnly: tool.Yes},
	"known":      {Pure: tool.Yes},
	"runs":       {},
	"backup":     {},
	"backupPays": {ReadOnly: tool.No},
}

// toolNames are those that a call draws from.
var toolNames = []string{"plain", "reads", "pure", "plain", "apart", "pays", "plainA", "wipes", "paysA", "paysB", "safe", "plain"}

// ordered reports whether effects order two calls (plan-language §5).
func (p *plan) ordered(a, b tool.Effects) bool {
	changes := func(e tool.Effects) bool {
		return p.Effects != "none" && (e.ChangesWorld() || p.Effects == "strict" && !e.Declared())
	}
	free := func(e tool.Effects) bool { return e.Pure == tool.Yes || e.Independent == tool.Yes }
	return (changes(a) || changes(b)) && !free(a) && !free(b) && (a.Domain == "" || b.Domain == "" || a.Domain == b.Domain)
}

// A behavior is what a tool does in one call. All of it depends on the params, the
// call and the number of the attempt alone.
type behavior struct {
	Shape     int    // of the result
	Choice    int    // how it chooses an outcome
	Fails     int    // so many attempts fail
	Hangs     int    // so many attempts never answer
	Lost      int    // so many attempts lose their answer
	Permanent bool   // it fails for good
	Picky     bool   // it fails for good for some params
	Code      string // of its failures
}

const (
	shapes  = 12
	choices = 8 // 9 when data messages of another kind choose no root
)

// world is what the reference knows of a plan beside its text. What each tool was
// asked goes to a.
func (p *plan) world(a *asking) (*world, error) {
	documents, err := p.documents()
	w := &world{
		inner:     p.Strategy,
		asking:    a,
		documents: documents,
		initial:   map[string]json.RawMessage{},
		strategy:  p.Strategy,
		lenient:   p.Lenient,
		outcomes:  func(name string) bool { return name == "chooses" },
		attempt: func(call, name string, params, scopes json.RawMessage, n int) (json.RawMessage, string, *failure) {
			q := question(params, scopes)
			a.ask(asked(call, name, q), q)
			return p.attempt(call, name, params, scopes, n)
		},
		allows: func(kind string, value json.RawMessage) bool {
			return kind != "state" || p.Schema == "" || stateAllows(value)
		},
		meets: func(schema, value json.RawMessage) bool {
			return string(schema) == expected && value[0] >= '0' && value[0] <= '9'
		},
	}
	for _, k := range p.Kinds {
		w.initial[k.Name] = json.RawMessage(k.JSON)
	}
	return w, err
}

func question(params, scopes json.RawMessage) string {
	return string(canonical(params)) + " " + string(canonical(scopes))
}

const (
	// expected is the schema of every _expect: a number.
	expected = `{"type":"number"}`

	// stateSchema is a schema of the state that what is written breaks at times, and
	// stateAllows the same.
	stateSchema = `{"properties": {"n": {"type": "number"}, "c": {"type": "string"}, "b": {"type": "array"}, "a": {"properties": {"y": {"type": "number"}}}}}`
)

func stateAllows(doc json.RawMessage) bool {
	var d map[string]any
	if err := json.Unmarshal(doc, &d); err != nil {
		return false
	}
	a, _ := d["a"].(map[string]any)
	return noneBut[float64](d, "n") && noneBut[string](d, "c") && noneBut[[]any](d, "b") && noneBut[float64](a, "y")
}

// noneBut reports that a member is not there or is a T.
func noneBut[T any](in map[string]any, name string) bool {
	x, there := in[name]
	_, ok := x.(T)
	return !there || ok
}

// attempt is what a tool does.
func (p *plan) attempt(call, name string, params, scopes json.RawMessage, n int) (json.RawMessage, string, *failure) {
	b := p.behavior(call, name)
	if isBackup(name) {
		n = 1
	}
	h := digest(call, name, sorted(blind(canonical(params))), sorted(blind(canonical(scopes))))
	switch {
	case b.Permanent, b.Picky && h%3 == 0:
		return nil, "", &failure{code: b.Code, permanent: true}
	case n <= b.Fails:
		return nil, "", &failure{code: b.Code}
	case n > max(b.Hangs, b.Lost):
		value, outcome := b.choose(h, params)
		return value, outcome, nil
	case !definitions[name].Repeatable():
		return nil, "", &failure{code: "uncertain", uncertain: true}
	case n <= b.Hangs:
		return nil, "", &failure{code: "timeout"}
	}
	return nil, "", &failure{code: b.Code}
}

// sorted is a text without its order, which streamed plans do not keep in templates
// of whole objects.
func sorted(text []byte) []byte {
	text = slices.Clone(text)
	slices.Sort(text)
	return text
}

func isBackup(name string) bool { return strings.HasPrefix(name, "backup") }

// behavior is that of a call's tool, or of its fallback.
func (p *plan) behavior(call, name string) behavior {
	for _, q := range append(slices.Collect(maps.Values(p.files())), p) {
		for _, c := range q.Calls {
			if c.ID == call && isBackup(name) {
				return c.Instead
			} else if c.ID == call {
				return c.Does
			}
		}
	}
	panic("no call " + call)
}

// choose is a result and the outcome that it is.
func (b behavior) choose(h uint64, params json.RawMessage) (json.RawMessage, string) {
	v := b.value(h, params)
	k := int(h / 64 % 3)
	switch b.Choice {
	case 4:
		return v, fmt.Sprint(k)
	case 5:
		return json.RawMessage(fmt.Sprintf(`{"_outcome":"%d","_value":%s}`, k, v)), ""
	case 6:
		return v, []string{"ok", "err", "a"}[k]
	case 8:
		return json.RawMessage(fmt.Sprintf(`{"type":"data","kind":"note","data":{"t":%s}}`, v)), ""
	case 7:
		return json.RawMessage(fmt.Sprintf(`{"_value":%s,"_outcome":%q}`, v, []string{"†state.ok", "err", "nowhere"}[k])), ""
	}
	return v, ""
}

func (b behavior) choosesLast() bool { return b.Choice >= 4 }

func (b behavior) value(h uint64, params json.RawMessage) json.RawMessage {
	k := h % 50
	f := func(format string, args ...any) json.RawMessage { return json.RawMessage(fmt.Sprintf(format, args...)) }
	switch b.Shape {
	case 0:
		return f("%d.0", k)
	case 1:
		return f(`"s%d †state.a †{state.b}"`, k)
	case 2, 3:
		return f(`{"x":{"z":%d},"y":[%d,2]}`, k, k)
	case 4:
		return f(`[{"x":%d},{"x":{"z":1}}]`, k)
	case 5:
		return f(`[%d]`, k)
	case 6:
		return []json.RawMessage{f("null"), f("true"), f("false"), f("0"), f(`""`), f("[]"), f("{}")}[h%7]
	case 7:
		return []json.RawMessage{f(`{"x":%d}`, k), f(`{"y":%d}`, k), f("%d", k)}[h%3] // a member is missing at times
	case 8:
		return f(`{"x":null,"n%d":1}`, k)
	case 9:
		var ps map[string]json.RawMessage
		if _ = json.Unmarshal(canonical(params), &ps); len(ps["p0"]) > 0 {
			return ps["p0"]
		}
	case 10:
		return f(`{"k":{"m":[%d]},"t":"%d"}`, k, k)
	}
	return f("%d", k)
}

// A trace is what was called in a run, in order of time.
type trace struct {
	mu     sync.Mutex
	spans  []span
	asked  map[string]string // what each tool was asked, by call and tool
	clock  int
	jitter uint64
	record *memory           // nil when nothing is recorded
	seeds  map[string]uint64 // of attempts, by their keys; nil keeps none
}

// A span is one attempt, from its start to its end.
type span struct {
	call, tool string
	start, end int
}

func (t *trace) start(call, name string) int {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clock++
	t.spans = append(t.spans, span{call: call, tool: name, start: t.clock})
	return len(t.spans) - 1
}

func (t *trace) end(i int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.clock++
	t.spans[i].end = t.clock
}

func (t *trace) ask(req *tool.Request) {
	t.mu.Lock()
	defer t.mu.Unlock()
	q := question(req.Params, req.Scopes)
	t.asked[asked(req.Call, req.Tool, q)] = q
	if t.seeds != nil {
		t.seeds[req.Key] = req.Seed
	}
}

type traceKey struct{}

// countKey is of how many attempts of the call had an answer, with this one.
type countKey struct{}

// catalogue has the tools of a plan. They take a while that the trace says.
func (p *plan) catalogue() *tool.Catalogue {
	var tools []*tool.Tool
	for name, effects := range definitions {
		raw := `{"name":"` + name + `","properties":{}}`
		if name == "chooses" {
			raw = `{"name":"` + name + `","properties":{},"_outcomes":["ok","err"]}`
		}
		def, findings := tool.ParseDefinition(json.RawMessage(raw), "", diag.Loc{})
		if err := findings.Err(); err != nil {
			panic(err)
		}
		def.Effects = effects
		t := &tool.Tool{Definition: def, Source: "go", Driver: "go"}
		if name != "known" && name != "runs" {
			t.Activity = tool.ActivityFunc(p.activity)
		}
		tools = append(tools, t)
	}
	return tool.NewCatalogue(tools...)
}

func (p *plan) activity(ctx context.Context, req *tool.Request) (tool.Result, error) {
	t := ctx.Value(traceKey{}).(*trace)
	i := t.start(req.Call, req.Tool)
	defer t.end(i)
	wait := digest(fmt.Sprint(t.jitter), req.Call, []byte{byte(req.Attempt)}) % 8
	time.Sleep(time.Duration(wait*wait*wait) * time.Millisecond)
	t.ask(req)
	n := req.Attempt
	if t.record != nil {
		n = t.record.attempt(req)
	}
	if counted, ok := ctx.Value(countKey{}).(int); ok {
		n = counted
	}
	value, outcome, err := p.attempt(req.Call, req.Tool, req.Params, req.Scopes, n)
	b := p.behavior(req.Call, req.Tool)
	switch {
	case err == nil:
		return tool.Result{Value: value, Outcome: outcome}, nil
	case n <= b.Hangs && !err.permanent && n > b.Fails:
		<-ctx.Done()
		return tool.Result{}, ctx.Err()
	case n <= b.Lost && !err.permanent && n > b.Fails:
		return tool.Result{}, &tool.Error{Code: b.Code, Message: "lost", Uncertain: true}
	}
	return tool.Result{}, &tool.Error{Code: b.Code, Message: "no", Permanent: err.permanent}
}

func digest(call, name string, parts ...[]byte) uint64 {
	h := fnv.New64a()
	fmt.Fprintf(h, "%s %s %s", call, name, bytes.Join(parts, []byte{0}))
	return h.Sum64()
}

// canonical is JSON with its members sorted and what the law does not say left out.
func canonical(raw json.RawMessage) json.RawMessage {
	if raw == nil {
		return nil
	}
	d := json.NewDecoder(strings.NewReader(lawful(string(raw))))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		panic(fmt.Sprintf("%v: %s", err, raw))
	}
	out, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return out
}

// errorText is an error object, also in a text in a text.
var errorText = regexp.MustCompile(`([{,])(\\*)"code\\*":\\*"([^"\\]*)\\*",\\*"message\\*":\\*".*?",\\*"tool\\*":`)

// lawful is JSON with the error objects in it as the law has them: it says nothing
// of their messages, and of the codes only those of tools.
func lawful(raw string) string {
	code := func(c string) string {
		if len(c) == 2 && c[0] == 'E' {
			return c
		}
		return ""
	}
	return errorText.ReplaceAllStringFunc(raw, func(s string) string {
		m := errorText.FindStringSubmatch(s)
		return m[1] + strings.ReplaceAll(`"code":"`+code(m[3])+`","message":"","tool":`, `"`, m[2]+`"`)
	})
}
