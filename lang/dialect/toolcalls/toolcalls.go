// Package toolcalls reads and writes the tool calls of a model's answer, as OpenAI and
// Anthropic have them: parallel calls, without references.
//
//	{"role": "assistant", "tool_calls": [
//	  {"id": "call_1", "type": "function", "function": {"name": "search", "arguments": "{\"q\": \"x\"}"}}]}
//	{"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "search", "input": {"q": "x"}}]}
//
// It is the calls, a message, an answer of the API or a conversation: the calls of a later
// message wait for those of the one before, and results that were given are there.
package toolcalls

import (
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect"
	"github.com/plc-lang/plc/lang/dialect/tree"
)

// Notation is the notation of tool calls.
func Notation() *dialect.Notation {
	return &dialect.Notation{Name: "toolcalls", What: "tool calls of a model", Read: read, Write: write}
}

// call is a call, in whatever form.
type call struct {
	tree.Value
	id, name, args tree.Value
	turn           int
}

type reader struct {
	*dialect.Builder
	calls   []call
	turn    int
	results map[string]tree.Value // by the ids of calls
	of      []tree.Value          // the ids that results name
	ids     map[int][]tree.Value  // of the calls of each message
	edges   int                   // from the calls of a message to those of the next
}

func read(b *dialect.Builder) {
	root, ok := tree.Read(b)
	if !ok {
		return
	}
	r := &reader{Builder: b, results: map[string]tree.Value{}, ids: map[int][]tree.Value{}}
	r.value(root)
	if len(r.calls) == 0 && !b.Found() {
		b.Errorf(root.At(), diag.BadNotation, "there are no tool calls here")
	}
	r.orphans()
	b.List(root.At())
	for i := range r.calls {
		r.write(i)
	}
	b.Close()
}

// orphans warns of results of calls that are not there.
func (r *reader) orphans() {
	made := map[string]bool{}
	for i := range r.calls {
		made[r.calls[i].id.Str()] = true
	}
	for _, id := range r.of {
		if !made[id.Str()] && len(r.calls) > 0 {
			r.Warnf(id.All(), diag.PassedOver, "%q is no call of this plan; its result is passed over", id.Str())
		}
	}
}

// value looks for calls and results.
func (r *reader) value(v tree.Value) {
	switch {
	case v.Is(lang.Array):
		for _, e := range v.Elements() {
			r.value(e)
		}
	case v.Has("choices"):
		if list := v.Get("choices").List(); len(list) > 0 {
			r.value(list[0])
		}
	case v.Has("messages"):
		r.value(v.Get("messages"))
	case v.Has("message") && !v.Has("role"):
		r.value(v.Get("message"))
	case isCall(v):
		r.call(v)
	case isResult(v):
		r.result(v)
	case v.Has("role"), v.Has("tool_calls"), v.Has("content"):
		r.message(v)
	case v.Has("output"): // an answer of the responses API
		r.value(v.Get("output"))
	}
}

func isCall(v tree.Value) bool {
	t := v.Get("type").Str()
	return t == "tool_use" || t == "function_call" || t == "server_tool_use" || v.Get("function").Has("name") || v.Has("name", "arguments") && !v.Has("role")
}

func isResult(v tree.Value) bool {
	t := v.Get("type").Str()
	return t == "tool_result" || t == "function_call_output" || v.Get("role").Str() == "tool"
}

// message reads the message of a conversation.
func (r *reader) message(v tree.Value) {
	if before := len(r.calls); v.Get("role").Str() == "assistant" || !v.Has("role") {
		r.turn++
		r.value(v.Get("content"))
		r.value(v.Get("tool_calls"))
		if f := v.First("function_call").Value; f.Is(lang.Object) {
			r.call(f)
		}
		if len(r.calls) == before {
			r.turn--
		}
		return
	}
	r.value(v.Get("content"))
}

// call reads a call.
func (r *reader) call(v tree.Value) {
	f := v
	if v.Has("function") {
		f = v.Get("function")
		tree.Known(r.Builder, f, "a function", "name", "arguments")
	}
	tree.Known(r.Builder, v, "a call", "id", "call_id", "type", "function", "index", "name", "arguments", "input", "status", "cache_control", "caller")
	c := call{Value: v, id: v.First("call_id", "id").Value, name: f.Get("name"), args: f.First("arguments", "input").Value, turn: r.turn}
	if !c.name.Is(lang.String) || c.name.Str() == "" {
		r.Errorf(v.At(), diag.BadNotation, "the call has no name")
		return
	}
	if c.args.Is(lang.String) && c.args.Str() == "" {
		c.args = tree.Value{}
	}
	if !c.args.IsZero() {
		c.args, _ = c.args.Inner(r.Builder)
	}
	if !c.args.IsZero() && !c.args.Is(lang.Object) {
		r.Errorf(c.args.At(), diag.BadNotation, "the arguments are an object, not %s", c.args.Describe())
		c.args = tree.Value{}
	}
	r.calls = append(r.calls, c)
	if c.id.Str() != "" {
		r.ids[c.turn] = append(r.ids[c.turn], c.id)
	}
}

// result reads the result of a call. One that is an error is none: the call is made again.
func (r *reader) result(v tree.Value) {
	id := v.First("tool_call_id", "tool_use_id", "call_id").Value
	if id.Str() == "" {
		r.Errorf(v.At(), diag.BadNotation, "the result does not say of which call it is")
		return
	}
	r.of = append(r.of, id)
	if v.Get("is_error").Kind() == lang.True {
		return
	}
	if m := v.First("content", "output"); !m.Value.IsZero() {
		r.results[id.Str()] = text(m.Value)
	}
}

// text is the text of a result that is a list with one block of text; any other is itself.
func text(v tree.Value) tree.Value {
	if list := v.List(); len(list) == 1 && list[0].Get("type").Str() == "text" {
		return list[0].Get("text")
	}
	return v
}

func (r *reader) write(i int) {
	c := &r.calls[i]
	r.Object(c.At())
	r.Member("_tool", c.name.At())
	r.String(c.name.Str(), c.name.All())
	id := c.id.Str()
	if id != "" {
		r.Member("_id", c.id.At())
		r.String(id, c.id.All())
	}
	tree.Params(r.Builder, c.args, nil)
	r.dependsOn(c)
	if result, ok := r.results[id]; ok && id != "" {
		r.Member("_output", result.At())
		tree.Words(r.Builder, result)
	}
	if id != "" {
		r.Member("_outputPath", c.id.At())
		r.Path(id, c.id.All())
	}
	r.Close()
}

// maxEdges bounds what a small text of two large messages becomes.
const maxEdges = 1_000_000

// dependsOn says that a call waits for those of the message before.
func (r *reader) dependsOn(c *call) {
	before := r.ids[c.turn-1]
	if r.edges += len(before); r.edges > maxEdges {
		if r.edges-len(before) <= maxEdges {
			r.Errorf(c.At(), diag.OverLimit, "the calls of messages wait for more than %d calls of those before", maxEdges)
		}
		return
	}
	if len(before) > 0 {
		r.Member("_dependsOn", c.At())
		tree.Names(r.Builder, before)
	}
}
