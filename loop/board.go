package loop

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/lang"
)

// board is the context of a loop's requests: what is known, as messages. It is the
// whiteboard between two runs.
type board struct {
	fixed  []json.RawMessage // messages that stay as they are: definitions, texts, meta
	texts  []string          // of them, what is for the model to read
	blocks []*block          // what there is on the whiteboard, in the order of its first message
	schema json.RawMessage   // of the output; nil is any
	plan   json.RawMessage   // the calls of the last solution, or of the context's plan message
	lazy   bool              // the plan message says so

	advisors []advisor
}

// advisor is somebody whose view the planner gives, in its answer, before it plans.
type advisor struct {
	id     string
	says   string          // who it is, when it speaks, and about what
	schema json.RawMessage // of what it says; nil is text
}

// block is the messages of one kind and instance, merged.
type block struct {
	kind, instance string
	value          json.RawMessage
	schemas        []json.RawMessage
	descriptions   []string
}

// board reads the context of a task, and more messages, and compiles it without calls.
func (t *Task) board(opts *compile.Options, more ...json.RawMessage) (*board, *compile.Program, error) {
	var messages []json.RawMessage
	if t.Context != nil && json.Unmarshal(t.Context, &messages) != nil {
		return nil, nil, errors.New("loop: the context is no JSON array of messages")
	}
	messages = append(messages, more...)
	if t.Goal != "" {
		messages = append(messages, writeObject(Member{"type", json.RawMessage(`"input"`)}, Member{"request", jsonscan.Encode(t.Goal)}))
	}
	return newBoard(messages, t.Schema, opts)
}

// newBoard reads the messages of a context and compiles them without calls.
func newBoard(messages []json.RawMessage, schema json.RawMessage, opts *compile.Options) (*board, *compile.Program, error) {
	b := &board{schema: schema}
	doc, findings := lang.Parse(diag.NewFile("context.json", b.request(messages, emptySolution)), nil)
	prog, more := compile.Compile(doc, opts)
	if err := append(findings, more...).Err(); err != nil {
		return nil, nil, fmt.Errorf("loop: the context of the task can't be used: %w", err)
	}
	for i := range doc.Messages {
		b.add(&doc.Messages[i])
	}
	for _, kind := range sortedKeys(opts.Values) {
		b.block(kind, "")
	}
	for _, kind := range sortedKeys(opts.Schemas) {
		bl := b.block(kind, "")
		bl.schemas = append(bl.schemas, opts.Schemas[kind].JSON)
	}
	for _, bl := range b.blocks {
		bl.value = initial(prog, bl)
	}
	return b, prog, nil
}

// with returns a board with more messages.
func (b *board) with(messages []json.RawMessage, opts *compile.Options) (*board, error) {
	all := slices.Clone(b.fixed)
	for _, bl := range b.blocks {
		all = append(all, bl.messages()...)
	}
	more, _, err := newBoard(append(all, messages...), b.schema, opts)
	if err != nil {
		return nil, err
	}
	for _, bl := range b.blocks {
		more.block(bl.kind, bl.instance).descriptions = bl.descriptions
	}
	if more.plan == nil {
		more.plan, more.lazy = b.plan, b.lazy
	}
	return more, nil
}

// initial returns what a block holds before anything has run.
func initial(prog *compile.Program, b *block) json.RawMessage {
	if b.instance == "" {
		return prog.Initial[b.kind]
	}
	for i := range prog.Instances {
		if prog.Instances[i].Name == b.instance {
			return prog.Instances[i].Own[b.kind]
		}
	}
	return nil
}

// add takes a message of the context.
func (b *board) add(m *lang.Message) {
	switch m.Type {
	case "plan":
		for _, name := range []string{"plan", "calls"} {
			if v, ok := m.Node.Member(name); ok {
				b.plan = callsOf(v.Value)
			}
		}
		mode, ok := m.Node.Member("mode") // of several plans the last one counts
		b.lazy = ok && mode.Value.Str() == "lazy"
	case "input", "state", "data":
		bl := b.block(m.Kind, m.Instance)
		if !m.Schema.IsZero() {
			bl.schemas = append(bl.schemas, m.Schema.AppendJSON(nil))
		}
		if d, ok := m.Node.Member("description"); ok && d.Value.Str() != "" {
			bl.descriptions = append(bl.descriptions, d.Value.Str())
		}
	default:
		raw := m.Node.AppendJSON(nil)
		b.fixed = append(b.fixed, raw)
		switch m.Type {
		case "text", "system", "error":
			b.texts = append(b.texts, words(m.Node))
		case "advisor":
			b.advisors = append(b.advisors, advisorOf(m.Node, len(b.advisors)+1))
		}
	}
}

// advisorOf returns the n-th advisor of a context: {"type": "advisor", "id", "role", "on",
// "scopes", "schema"}.
func advisorOf(m lang.Node, n int) advisor {
	a := advisor{id: cmp.Or(valueIn(m, "id").Str(), fmt.Sprintf("advisor-%d", n)), says: cmp.Or(valueIn(m, "role").Str(), valueIn(m, "description").Str())}
	for _, name := range []string{"on", "scopes"} {
		if v := valueIn(m, name); !v.IsZero() {
			a.says += fmt.Sprintf("; %s: %s", name, v.AppendJSON(nil))
		}
	}
	a.says = strings.TrimPrefix(a.says, "; ")
	if s := valueIn(m, "schema"); s.Kind() == lang.Object {
		a.schema = s.AppendJSON(nil)
	}
	return a
}

// callsOf returns the calls of a plan: a list, or an object that has them.
func callsOf(v lang.Node) json.RawMessage {
	if inner, ok := v.Member("calls"); ok {
		v = inner.Value
	}
	return v.AppendJSON(nil)
}

// words returns what a message of text says.
func words(m lang.Node) string {
	for _, name := range []string{valueIn(m, "type").Str(), "text", "content", "data"} {
		if v := valueIn(m, name); v.Kind() == lang.String {
			return v.Str()
		}
	}
	return string(m.AppendJSON(nil))
}

// find returns the block of a kind and instance; nil is none.
func (b *board) find(kind, instance string) *block {
	i := slices.IndexFunc(b.blocks, func(bl *block) bool { return bl.kind == kind && bl.instance == instance })
	if i < 0 {
		return nil
	}
	return b.blocks[i]
}

// block returns the block of a kind and instance, which it adds where there is none.
func (b *board) block(kind, instance string) *block {
	bl := b.find(kind, instance)
	if bl == nil {
		bl = &block{kind: kind, instance: instance}
		b.blocks = append(b.blocks, bl)
	}
	return bl
}

// at returns the value of a kind and instance; nil is none.
func (b *board) at(kind, instance string) json.RawMessage {
	if bl := b.find(kind, instance); bl != nil {
		return bl.value
	}
	return nil
}

// emptySolution has no calls and no output.
const emptySolution = `{"calls":[],"output":null}`

// request returns the document of a turn: these messages, and a solution.
func (b *board) request(messages []json.RawMessage, solution string) []byte {
	var d bytes.Buffer
	d.WriteString(`{"context":[`)
	for i, m := range messages {
		if i > 0 {
			d.WriteString(",\n")
		}
		d.Write(m)
	}
	d.WriteString("],\n")
	if b.schema != nil {
		fmt.Fprintf(&d, "\"schema\":%s,\n", b.schema)
	}
	fmt.Fprintf(&d, "\"solution\":%s}", solution)
	return d.Bytes()
}

// document returns the document of a turn with all that is known.
func (b *board) document(solution string) []byte {
	messages := slices.Clone(b.fixed)
	for _, bl := range b.blocks {
		messages = append(messages, bl.messages()...)
	}
	return b.request(messages, solution)
}

// messages returns a block as messages: its value, and each of its schemas.
func (bl *block) messages() []json.RawMessage {
	head := `{"type":"data"`
	member := "data"
	switch bl.kind {
	case "input", "state":
		head, member = `{"type":"`+bl.kind+`"`, bl.kind
	case "data":
	default:
		head += `,"kind":` + string(jsonscan.Encode(bl.kind))
	}
	if bl.instance != "" {
		head += `,"_instance":` + string(jsonscan.Encode(bl.instance))
	}
	var list []json.RawMessage
	for _, s := range bl.schemas {
		list = append(list, json.RawMessage(head+`,"schema":`+string(s)+`}`))
	}
	if bl.value != nil {
		list = append(list, json.RawMessage(head+`,"`+member+`":`+string(bl.value)+`}`))
	}
	return list
}

// take takes what a run left on the whiteboard.
func (b *board) take(r *exec.Result) {
	b.takeKinds("", r.State, r.Data, r.Kinds)
	for i := range r.Instances {
		in := &r.Instances[i]
		b.takeKinds(in.Name, in.State, in.Data, in.Kinds)
	}
}

func (b *board) takeKinds(instance string, state, data json.RawMessage, kinds map[string]json.RawMessage) {
	b.takeKind("state", instance, state)
	b.takeKind("data", instance, data)
	for _, kind := range sortedKeys(kinds) {
		b.takeKind(kind, instance, kinds[kind])
	}
}

// takeKind takes the value of a kind as somebody sees it. Of an instance, which sees its own
// over what all see, only that is kept which is its own.
func (b *board) takeKind(kind, instance string, seen json.RawMessage) {
	if seen == nil {
		return
	}
	there := b.find(kind, instance) != nil
	if instance != "" {
		seen = own(seen, b.block(kind, "").value, b.at(kind, instance))
	}
	if there || seen != nil && string(seen) != "{}" {
		b.block(kind, instance).value = seen
	}
}

// own returns what of a value is not in the one under it, or was its own before; nil is
// nothing.
func own(seen, under, before json.RawMessage) json.RawMessage {
	s, u, w := gjson.ParseBytes(seen), gjson.ParseBytes(under), gjson.ParseBytes(before)
	if !s.IsObject() || under != nil && !u.IsObject() && before == nil {
		if before == nil && equalJSON(seen, under) {
			return nil
		}
		return seen
	}
	var out []string
	was, below := members(w), members(u)
	s.ForEach(func(k, v gjson.Result) bool {
		if part := own(json.RawMessage(v.Raw), below[k.Str], was[k.Str]); part != nil {
			out = append(out, k.Raw+":"+string(part))
		}
		return true
	})
	if len(out) == 0 && before == nil && under != nil {
		return nil
	}
	return json.RawMessage("{" + strings.Join(out, ",") + "}")
}

// members returns the members of an object by name; none of other values.
func members(v gjson.Result) map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	if v.IsObject() {
		v.ForEach(func(k, e gjson.Result) bool {
			all[k.Str] = json.RawMessage(e.Raw)
			return true
		})
	}
	return all
}

// size returns how many bytes are on the whiteboard.
func (b *board) size() (n int) {
	for _, bl := range b.blocks {
		n += len(bl.value)
	}
	return n
}

// digest returns that of all that is on the whiteboard.
func (b *board) digest() [sha256.Size]byte {
	h := sha256.New()
	for _, bl := range b.blocks {
		fmt.Fprintf(h, "%q %q %d ", bl.kind, bl.instance, len(bl.value))
		h.Write(bl.value)
	}
	return [sha256.Size]byte(h.Sum(nil))
}
