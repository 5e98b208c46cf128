package modeltest

import (
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/tool/model"
)

// openAI returns the body of a reply as a chat completion.
func openAI(req *Request, r *Reply) []string {
	finish := "stop"
	switch {
	case r.Stop == model.Length:
		finish = "length"
	case len(r.Calls) > 0:
		finish = "tool_calls"
	}
	usage := fmt.Sprintf(`{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d,"prompt_tokens_details":{"cached_tokens":%d}}`,
		r.Input, r.Output, r.Input+r.Output, r.Cached)
	if req.Streams() {
		return openAIStream(r, finish, usage)
	}
	message := `{"role":"assistant","content":` + quoteOrNull(r.Text)
	if r.Stop == model.Refusal {
		message += `,"refusal":` + quote(r.Reason)
	}
	var calls []string
	for _, c := range r.Calls {
		calls = append(calls, fmt.Sprintf(`{"id":%s,"type":"function","function":{"name":%s,"arguments":%s}}`, quote(c.ID), quote(c.Name), quote(c.Params)))
	}
	if calls != nil {
		message += `,"tool_calls":[` + strings.Join(calls, ",") + `]`
	}
	return []string{fmt.Sprintf(`{"id":"c","object":"chat.completion","model":"some-model","choices":[{"index":0,"message":%s,"finish_reason":%q}],"usage":%s}`,
		message+"}", finish, usage)}
}

func openAIStream(r *Reply, finish, usage string) []string {
	var parts []string
	chunk := func(choices, usage string) {
		parts = append(parts, fmt.Sprintf("data: {\"id\":\"c\",\"object\":\"chat.completion.chunk\",\"model\":\"some-model\",\"choices\":[%s],\"usage\":%s}\n\n", choices, usage))
	}
	delta := func(format string, args ...any) {
		chunk(`{"index":0,"delta":{`+fmt.Sprintf(format, args...)+`},"finish_reason":null}`, "null")
	}
	delta(`"role":"assistant","content":""`)
	if r.Stop == model.Refusal {
		for _, p := range r.pieces(r.Reason) {
			delta(`"refusal":%s`, quote(p))
		}
	}
	for _, p := range r.pieces(r.Text) {
		delta(`"content":%s`, quote(p))
	}
	for i, c := range r.Calls {
		delta(`"tool_calls":[{"index":%d,"id":%s,"type":"function","function":{"name":%s,"arguments":""}}]`, i, quote(c.ID), quote(c.Name))
	}
	for i, c := range r.Calls {
		for _, p := range r.pieces(c.Params) {
			delta(`"tool_calls":[{"index":%d,"function":{"arguments":%s}}]`, i, quote(p))
		}
	}
	chunk(fmt.Sprintf(`{"index":0,"delta":{},"finish_reason":%q}`, finish), "null")
	chunk("", usage)
	return append(parts, "data: [DONE]\n\n")
}

func quoteOrNull(text string) string {
	if text == "" {
		return "null"
	}
	return quote(text)
}

// part is a block of content of a message.
type part struct{ kind, id, name, text string }

// anthropic returns the body of a reply as a message.
func anthropic(req *Request, r *Reply) []string {
	parts := content(req, r)
	stop := "end_turn"
	switch {
	case r.Stop == model.Length:
		stop = "max_tokens"
	case r.Stop == model.Refusal:
		stop = "refusal"
	case len(parts) > 0 && parts[len(parts)-1].kind == "tool_use":
		stop = "tool_use"
	}
	details := "null"
	if r.Reason != "" {
		details = fmt.Sprintf(`{"type":"refusal","category":null,"explanation":%s}`, quote(r.Reason))
	}
	usage := fmt.Sprintf(`{"input_tokens":%d,"cache_creation_input_tokens":0,"cache_read_input_tokens":%d,"output_tokens":%d}`, r.Input-r.Cached, r.Cached, r.Output)
	if req.Streams() {
		return anthropicStream(r, parts, fmt.Sprintf(`{"stop_reason":%q,"stop_sequence":null,"stop_details":%s}`, stop, details), usage)
	}
	var blocks []string
	for _, p := range parts {
		if p.kind == "text" {
			blocks = append(blocks, fmt.Sprintf(`{"type":"text","text":%s}`, quote(p.text)))
		} else {
			blocks = append(blocks, fmt.Sprintf(`{"type":"tool_use","id":%s,"name":%s,"input":%s}`, quote(p.id), quote(p.name), p.text))
		}
	}
	return []string{fmt.Sprintf(`{"id":"m","type":"message","role":"assistant","model":"some-model","content":[%s],"stop_reason":%q,"stop_sequence":null,"stop_details":%s,"usage":%s}`,
		strings.Join(blocks, ","), stop, details, usage)}
}

// content returns what a reply consists of. Its text is the input of a tool when the request has a
// tool for answers, which is the last one and has to be called, and the text is an object.
func content(req *Request, r *Reply) []part {
	var list []part
	tools := gjson.GetBytes(req.Body, "tools").Array()
	choice := gjson.GetBytes(req.Body, "tool_choice.type").Str
	switch {
	case r.Text == "":
	case (choice == "any" || choice == "tool") && (gjson.Valid(r.Text) || req.Streams()) && strings.HasPrefix(r.Text, "{"):
		list = append(list, part{"tool_use", "toolu_answer", tools[len(tools)-1].Get("name").Str, r.Text})
	default:
		list = append(list, part{kind: "text", text: r.Text})
	}
	for _, c := range r.Calls {
		list = append(list, part{"tool_use", c.ID, c.Name, c.Params})
	}
	return list
}

func anthropicStream(r *Reply, parts []part, delta, usage string) []string {
	var events []string
	event := func(kind, format string, args ...any) {
		events = append(events, fmt.Sprintf("event: %s\ndata: {\"type\":%q%s}\n\n", kind, kind, fmt.Sprintf(format, args...)))
	}
	event("message_start", `,"message":{"id":"m","type":"message","role":"assistant","model":"some-model","content":[],"stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":%d,"cache_creation_input_tokens":0,"cache_read_input_tokens":%d,"output_tokens":1}}`,
		r.Input-r.Cached, r.Cached)
	event("ping", "")
	for i, p := range parts {
		if p.kind == "text" {
			event("content_block_start", `,"index":%d,"content_block":{"type":"text","text":""}`, i)
		} else {
			event("content_block_start", `,"index":%d,"content_block":{"type":"tool_use","id":%s,"name":%s,"input":{}}`, i, quote(p.id), quote(p.name))
		}
		for _, piece := range r.pieces(p.text) {
			if p.kind == "text" {
				event("content_block_delta", `,"index":%d,"delta":{"type":"text_delta","text":%s}`, i, quote(piece))
			} else {
				event("content_block_delta", `,"index":%d,"delta":{"type":"input_json_delta","partial_json":%s}`, i, quote(piece))
			}
		}
		event("content_block_stop", `,"index":%d`, i)
	}
	event("message_delta", `,"delta":%s,"usage":%s`, delta, usage)
	event("message_stop", "")
	return events
}
