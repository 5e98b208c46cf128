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

// board is the context of a loop's requests: everything known, as messages. It holds the whiteboard
// between two runs.
type board struct {
	fixed  []json.RawMessage // messages that never change: definitions, texts, meta
	texts  []string          // the texts among them that the model reads
	blocks []*block          // the whiteboard, ordered by first message
	schema json.RawMessage   // of the output; nil allows any
	plan   json.RawMessage   // the calls of the last solution, or of the context's plan message
	lazy   bool              // as the plan message says

	advisors []advisor
}

// advisor is a role whose view the planner writes into its answer before it plans.
type advisor struct {
	id     string
	says   string          // describes the role, when it speaks, and about what
	schema json.RawMessage // of the view; nil means text
}

// block merges the messages of one kind and instance.
type block struct {
	kind, instance string
	value          json.RawMessage
	schemas        []json.RawMessage
	descriptions   []string
}

// board compiles the context of a task, and more messages, without calls.
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

// newBoard compiles the messages of a context without calls.
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

// with returns a board extended by messages.
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

// initial returns the value of a block before anything has run.
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

// add adds a message of the context.
func (b *board) add(m *lang.Message) {
	switch m.Type {
	case "plan":
		for _, name := range []string{"plan", "calls"} {
			if v, ok := m.Node.Member(name); ok {
				b.plan = callsOf(v.Value)
			}
		}
		mode, ok := m.Node.Member("mode") // the last plan message counts
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

// callsOf returns the calls of a plan, which is a list or an object with a list.
func callsOf(v lang.Node) json.RawMessage {
	if inner, ok := v.Member("calls"); ok {
		v = inner.Value
	}
	return v.AppendJSON(nil)
}

// words returns the content of a text message.
func words(m lang.Node) string {
	for _, name := range []string{valueIn(m, "type").Str(), "text", "content", "data"} {
		if v := valueIn(m, name); v.Kind() == lang.String {
			return v.Str()
		}
	}
	return string(m.AppendJSON(nil))
}

// find returns the block of a kind and instance, or nil.
func (b *board) find(kind, instance string) *block {
	i := slices.IndexFunc(b.blocks, func(bl *block) bool { return bl.kind == kind && bl.instance == instance })
	if i < 0 {
		return nil
	}
	return b.blocks[i]
}

// block returns the block of a kind and instance, and adds it if it is missing.
func (b *board) block(kind, instance string) *block {
	bl := b.find(kind, instance)
	if bl == nil {
		bl = &block{kind: kind, instance: instance}
		b.blocks = append(b.blocks, bl)
	}
	return bl
}

// at returns the value of a kind and instance, or nil.
func (b *board) at(kind, instance string) json.RawMessage {
	if bl := b.find(kind, instance); bl != nil {
		return bl.value
	}
	return nil
}

// emptySolution has no calls and no output.
const emptySolution = `{"calls":[],"output":null}`

// request returns the document that consists of messages and a solution.
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

// document returns the document of a turn, with everything that is known.
func (b *board) document(solution string) []byte {
	messages := slices.Clone(b.fixed)
	for _, bl := range b.blocks {
		messages = append(messages, bl.messages()...)
	}
	return b.request(messages, solution)
}

// messages returns the block as messages: one for its value and one for each schema.
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

// take copies the whiteboard that a run left.
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

// takeKind stores the value of a kind as an instance sees it. An instance sees its own values on
// top of the shared ones; only its own are stored for it.
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

// own returns the part of seen that differs from under or was the instance's own before. It returns
// nil if there is none.
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

// members returns the members of an object by name. It is empty for other values.
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

// size returns the size of the whiteboard in bytes.
func (b *board) size() (n int) {
	for _, bl := range b.blocks {
		n += len(bl.value)
	}
	return n
}

// digest returns a hash of the whiteboard.
func (b *board) digest() [sha256.Size]byte {
	h := sha256.New()
	for _, bl := range b.blocks {
		fmt.Fprintf(h, "%q %q %d ", bl.kind, bl.instance, len(bl.value))
		h.Write(bl.value)
	}
	return [sha256.Size]byte(h.Sum(nil))
}
