package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/tool/model"
	"github.com/plc-lang/plc/tool/model/internal/wire"
)

// longestName is the maximum length of the names of tools and the ids of calls.
const longestName = 64

// Converse requests the next reply of a conversation, as described by model.Turn. If the turn has a
// schema, the reply is the input of an additional tool, which the model calls when it calls no
// function. Prose beside such a call is dropped; if there is only prose, it is the text of the
// reply.
func (c *Client) Converse(ctx context.Context, turn *model.Turn) (*model.Reply, error) {
	if err := turn.Check(); err != nil {
		return nil, err
	}
	s := &said{names: wire.Functions(turn, longestName), at: map[int64]*block{}}
	s.text = wire.NewText(turn.OnText)
	if turn.Schema != nil {
		s.prose = wire.NewText(nil)
		s.answer = s.names.Unused(answer)
	}
	ask := c.whole
	if turn.OnText != nil && !c.answersWhole.Load() {
		ask = c.stream
	}
	err := ask(ctx, c.turn(turn, s), s)
	if errors.Is(err, model.ErrWhole) { // no piece of the reply was passed on yet
		c.answersWhole.Store(true)
		err = c.whole(ctx, c.turn(turn, s), s)
	}
	if err != nil {
		return nil, err
	}
	return s.reply(turn)
}

// turn returns the request for a turn.
func (c *Client) turn(t *model.Turn, s *said) *messagesRequest {
	r := c.request(maxReply, t.Temperature)
	if !blank(t.System) {
		r.System = []textPart{newText(t.System)}
	}
	for _, f := range t.Functions {
		r.Tools = append(r.Tools, newTool(s.names.Wire(f.Name), f.Description, f.Params))
	}
	if t.Schema != nil {
		takes := newTool(s.answer, answerWithIt, t.Schema)
		takes.Eager = t.OnText != nil
		r.Tools = append(r.Tools, takes)
		r.ToolChoice = &toolChoice{Type: "any"}
		if len(t.Functions) == 0 {
			r.ToolChoice = &toolChoice{Type: "tool", Name: s.answer, NoParallel: true}
		}
	}
	r.Messages = messages(t.Messages, s.names)
	return r
}

// messages returns messages in the form of the interface. Results of functions are part of a user's
// message; consecutive messages of the same side are joined.
func messages(list []model.Message, names *wire.Names) []sentMessage {
	ids := wire.NewNames(longestName)
	sent := []sentMessage{}
	for _, m := range list {
		role, parts := parts(m, names, ids)
		if len(parts) == 0 {
			continue // an empty message
		}
		if n := len(sent); n > 0 && sent[n-1].Role == role {
			sent[n-1].Content = append(sent[n-1].Content, parts...)
			continue
		}
		sent = append(sent, sentMessage{role, parts})
	}
	return sent
}

// parts returns the role of a message, and its parts in the form of the interface.
func parts(m model.Message, names, ids *wire.Names) (role string, list []any) {
	if m.Role == model.Returned {
		result := resultPart{Type: "tool_result", ID: ids.Wire(m.ID), IsError: m.Error}
		if m.Text != "" {
			result.Content = []textPart{newText(m.Text)}
		}
		return "user", []any{result}
	}
	if !blank(m.Text) { // the interface refuses blank text
		list = append(list, newText(m.Text))
	}
	for _, call := range m.Calls {
		list = append(list, usePart{"tool_use", ids.Wire(call.ID), names.Wire(call.Name), input(call.Params)})
	}
	if m.Role == model.Assistant {
		return "assistant", list
	}
	return "user", list
}

// input returns the params of a call in the form of the interface, which is always an object: a
// text that is not one is put into an object.
func input(params string) json.RawMessage {
	if blank(params) {
		return json.RawMessage("{}")
	}
	raw := []byte(params)
	if jsonscan.Check(raw, jsonscan.Limits{}) == nil && gjson.ParseBytes(raw).IsObject() {
		return raw
	}
	return jsonscan.Encode(map[string]string{"_params": params})
}

func blank(text string) bool { return strings.TrimSpace(text) == "" }

// said collects a model's answer as it arrives.
type said struct {
	names  *wire.Names
	answer string // the tool for its answer; "" if it answers with text
	text   *wire.Text
	prose  *wire.Text // its text, if it answers with the tool

	isAnswered bool
	calls      []*wire.Call
	at         map[int64]*block
	isDone     bool
	stop       string
	reason     string // the reason of a refusal
	usage      usage
}

// block is a part of a message: text, a call, or something that is ignored.
type block struct {
	text *wire.Text
	call *wire.Call
}

// add adds a piece. The error is that of OnText.
func (b *block) add(piece string) error {
	switch {
	case b.call != nil:
		b.call.Params.WriteString(piece)
	case b.text != nil:
		return b.text.Add(piece)
	}
	return nil
}

// whole requests the reply as a whole.
func (c *Client) whole(ctx context.Context, r *messagesRequest, s *said) error {
	msg, err := c.ask(ctx, r)
	if err != nil {
		return err
	}
	s.usage.update(msg.Usage)
	s.stop, s.reason = msg.StopReason, msg.StopDetails.Explanation
	for _, p := range msg.Content {
		if err := s.open(p.Type, p.ID, p.Name).add(p.Text + string(p.Input)); err != nil {
			return err
		}
	}
	return nil
}

// stream requests the reply as a stream.
func (c *Client) stream(ctx context.Context, r *messagesRequest, s *said) error {
	r.Stream = true
	err := c.events(ctx, r, func(e *streamEvent) (bool, error) {
		err := s.take(ctx, e)
		return !s.isDone, err
	})
	if err == nil && !s.isDone {
		return wire.Cut()
	}
	return err
}

// take processes an event.
func (s *said) take(ctx context.Context, e *streamEvent) error {
	switch e.Type {
	case "message_start":
		s.usage.update(e.Message.Usage)
	case "content_block_start":
		b := s.open(e.Block.Type, e.Block.ID, e.Block.Name)
		s.at[e.Index] = b
		begun := e.Block.Text
		if input := string(e.Block.Input); input != "{}" {
			begun += input // for servers that send it whole
		}
		return b.add(begun)
	case "content_block_delta":
		b := s.at[e.Index]
		if b == nil {
			return model.Failure(ctx, fmt.Errorf("it goes on with part %d, which did not begin", e.Index))
		}
		return b.add(e.Delta.Text + e.Delta.PartialJSON)
	case "message_delta":
		s.stop, s.reason = e.Delta.StopReason, e.Delta.StopDetails.Explanation
		s.usage.update(e.Usage)
	case "message_stop":
		s.isDone = true
	}
	return nil
}

// open begins a part of the message. Of several answers the first counts.
func (s *said) open(kind, id, name string) *block {
	switch {
	case kind == "text" && s.prose != nil:
		return &block{text: s.prose}
	case kind == "text":
		return &block{text: s.text}
	case kind != "tool_use" || name == s.answer && s.isAnswered:
		return &block{}
	case name == s.answer:
		s.isAnswered = true
		return &block{text: s.text}
	}
	call := &wire.Call{ID: id, Name: name}
	s.calls = append(s.calls, call)
	return &block{call: call}
}

// reply returns the complete reply. The error is that of OnText, which gets the rest of the text.
func (s *said) reply(turn *model.Turn) (*model.Reply, error) {
	rest := ""
	switch {
	case s.isAnswered && s.text.String() == "":
		rest = "{}" // the input of a tool is never nothing
	case s.prose != nil && !s.isAnswered && len(s.calls) == 0:
		rest = s.prose.String()
	}
	if err := s.text.Add(rest); err != nil {
		return nil, err
	}
	for _, call := range s.calls {
		if call.Params.Len() == 0 {
			call.Params.WriteString("{}")
		}
	}
	r := &model.Reply{
		Text: s.text.String(), Calls: wire.Calls(turn, s.names, s.calls),
		Input: s.usage.read(), Output: s.usage.output, Cached: s.usage.cached,
	}
	switch s.stop {
	case stopMaxTokens, stopContext:
		r.Stop = model.Length
	case stopRefusal:
		r.Stop, r.Reason = model.Refusal, s.reason
	}
	return r, nil
}

// usage counts the tokens of a message. The tokens that the model read are counted in three parts.
type usage struct{ fresh, created, cached, output int64 }

// read returns the number of tokens that the model read.
func (u *usage) read() int64 { return u.fresh + u.created + u.cached }

// update sets the counts, which are totals so far. A missing count does not change.
func (u *usage) update(c counts) {
	for _, count := range []struct {
		of    *int64
		given *int64
	}{{&u.fresh, c.Input}, {&u.created, c.Created}, {&u.cached, c.Cached}, {&u.output, c.Output}} {
		if count.given != nil {
			*count.of = max(0, *count.given)
		}
	}
}
