// Package toolcalls reads and writes the tool calls of a model's answer, in the formats of OpenAI
// and Anthropic: parallel calls, without references.
//
//	{"role": "assistant", "tool_calls": [
//	  {"id": "call_1", "type": "function", "function": {"name": "search", "arguments": "{\"q\": \"x\"}"}}]}
//	{"role": "assistant", "content": [{"type": "tool_use", "id": "toolu_1", "name": "search", "input": {"q": "x"}}]}
//
// The text may be a list of calls, a message, an answer of the API or a conversation. Calls after
// results, and calls of a later message, wait for the calls before them, and calls whose results
// are in the conversation have them. Calls that a server made are included if they name their tool.
package toolcalls

import (
	"bytes"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect"
	"github.com/plc-lang/plc/lang/dialect/tree"
)

// Notation returns the notation of tool calls.
func Notation() *dialect.Notation {
	return &dialect.Notation{Name: "toolcalls", What: "tool calls of a model", Read: read, Write: write}
}

// call is a call, in any of the forms.
type call struct {
	tree.Value
	id, name, args tree.Value
	input          tree.Value // the text that a custom tool takes
	turn           int
}

type reader struct {
	*dialect.Builder
	calls   []call
	turn    int
	given   bool                  // there were results since the last call
	results map[string]tree.Value // by the ids of calls
	of      []tree.Value          // the ids in results
	ids     map[int][]tree.Value  // by message, the ids of its calls
	edges   int                   // the number of dependencies between the calls of messages
}

func read(b *dialect.Builder) {
	if text := b.File.Text[b.Start():]; bytes.HasPrefix(text, []byte("data:")) || bytes.HasPrefix(text, []byte("event:")) {
		b.Errorf(dialect.Span(b.Start(), b.Start()+bytes.IndexByte(text, ':')), diag.BadNotation, "this is a stream of events; write the message that they make up")
		return
	}
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

// orphans warns about results of calls that do not exist.
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
	case strings.HasSuffix(v.Get("type").Str(), "_call"):
		r.Warnf(v.At(), diag.PassedOver, "%q is a call of the server's own, without a tool and arguments; it is passed over", v.Get("type").Str())
	case v.Has("role"), v.Has("tool_calls"), v.Has("content"):
		r.message(v)
	case v.Has("output"): // an answer of the responses API
		r.value(v.Get("output"))
	}
}

// isCall reports whether a value is a call: of a function, of a tool that takes text (custom), or
// of a tool of the server or an MCP server.
func isCall(v tree.Value) bool {
	t := v.Get("type").Str()
	return strings.HasSuffix(t, "tool_use") || t == "function_call" || v.Get("function").Has("name") || v.Get("custom").Has("name") ||
		v.Has("name", "arguments") && !v.Has("role") || strings.HasSuffix(t, "_call") && v.Has("name")
}

func isResult(v tree.Value) bool {
	t := v.Get("type").Str()
	return strings.HasSuffix(t, "tool_result") || strings.HasSuffix(t, "_call_output") || v.Get("role").Str() == "tool"
}

// message reads the message of a conversation.
func (r *reader) message(v tree.Value) {
	if role := v.Get("role").Str(); role != "assistant" && v.Has("role") {
		r.value(v.Get("content"))
		return
	}
	before, given := len(r.calls), r.given
	r.turn, r.given = r.turn+1, false
	r.value(v.Get("content"))
	r.value(v.Get("tool_calls"))
	if f := v.First("function_call").Value; f.Is(lang.Object) {
		r.call(f)
	}
	if len(r.calls) == before {
		r.turn, r.given = r.turn-1, given
	}
}

// call reads a call.
func (r *reader) call(v tree.Value) {
	f := v
	if m := v.First("function", "custom"); !m.Value.IsZero() {
		f = m.Value
		tree.Known(r.Builder, f, "a function", "name", "arguments", "input")
	}
	tree.Known(r.Builder, v, "a call", "id", "call_id", "type", "function", "custom", "index", "name", "arguments", "input", "status", "cache_control", "caller",
		"namespace", "server_name", "server_label", "approval_request_id", "output", "error")
	if r.given {
		r.turn, r.given = r.turn+1, false
	}
	c := call{Value: v, id: v.First("call_id", "id").Value, name: f.Get("name"), turn: r.turn}
	if !c.name.Is(lang.String) || c.name.Str() == "" {
		r.Errorf(v.At(), diag.BadNotation, "the call has no name")
		return
	}
	if strings.HasPrefix(v.Get("type").Str(), "custom") {
		c.input = f.Get("input")
	} else {
		c.args = r.arguments(f.First("arguments", "input").Value)
	}
	r.calls = append(r.calls, c)
	if c.id.Str() != "" {
		r.ids[c.turn] = append(r.ids[c.turn], c.id)
	}
	if m := v.First("output"); !m.Value.IsZero() && v.First("error").Value.IsZero() { // a server made the call
		r.results[c.id.Str()], r.given = m.Value, true
	}
}

// arguments returns the arguments of a call; zero if it has none, or they were reported.
func (r *reader) arguments(v tree.Value) tree.Value {
	if v.Is(lang.String) && v.Str() == "" {
		return tree.Value{}
	}
	if !v.IsZero() {
		v, _ = v.Inner(r.Builder)
	}
	if !v.IsZero() && !v.Is(lang.Object) {
		r.Errorf(v.At(), diag.BadNotation, "the arguments are an object, not %s", v.Describe())
		return tree.Value{}
	}
	return v
}

// result reads the result of a call. It ignores an error, so that the call is made again.
func (r *reader) result(v tree.Value) {
	id := v.First("tool_call_id", "tool_use_id", "call_id").Value
	if id.Str() == "" {
		r.Errorf(v.At(), diag.BadNotation, "the result does not say of which call it is")
		return
	}
	r.of = append(r.of, id)
	r.given = true
	m := v.First("content", "output")
	if v.Get("is_error").Kind() == lang.True || strings.HasSuffix(m.Value.Get("type").Str(), "_error") {
		return
	}
	if !m.Value.IsZero() {
		r.results[id.Str()] = text(m.Value)
	}
}

// text returns the text of a result that is a list with one block of text; it returns any other
// result unchanged.
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
	if !c.input.IsZero() {
		r.Member("input", c.input.At())
		tree.Write(r.Builder, c.input, nil)
	}
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

// maxEdges is the maximum number of dependencies, since two large messages may have very many.
const maxEdges = 1_000_000

// dependsOn writes that a call waits for the calls of the message before.
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
