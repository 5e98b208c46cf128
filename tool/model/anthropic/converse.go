package anthropic

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/tool/model"
	"github.com/plc-lang/plc/tool/model/internal/wire"
)

// longestName is how long the names of tools and the ids of calls may be.
const longestName = 64

// Converse asks for the next reply of a conversation; model.Turn says how. A reply that has
// a schema is the input of one more tool, which the model calls when it calls no function. Prose
// that it says besides is not its text; when it says nothing but prose, that is.
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
	if errors.Is(err, model.ErrWhole) { // nothing was said yet
		c.answersWhole.Store(true)
		err = c.whole(ctx, c.turn(turn, s), s)
	}
	if err != nil {
		return nil, err
	}
	return s.reply(turn)
}

// turn returns a turn as it is sent.
func (c *Client) turn(t *model.Turn, s *said) sdk.MessageNewParams {
	p := c.settings(maxReply, t.Temperature)
	if !blank(t.System) {
		p.System = []sdk.TextBlockParam{{Text: t.System}}
	}
	for _, f := range t.Functions {
		p.Tools = append(p.Tools, sdk.ToolUnionParam{OfTool: tool(s.names.Wire(f.Name), f.Description, f.Params)})
	}
	if t.Schema != nil {
		takes := tool(s.answer, answerWithIt, t.Schema)
		if t.OnText != nil {
			takes.EagerInputStreaming = sdk.Bool(true) // else it comes a member at a time
		}
		p.Tools = append(p.Tools, sdk.ToolUnionParam{OfTool: takes})
		p.ToolChoice = sdk.ToolChoiceUnionParam{OfAny: &sdk.ToolChoiceAnyParam{}}
		if len(t.Functions) == 0 {
			p.ToolChoice = sdk.ToolChoiceParamOfTool(s.answer)
			p.ToolChoice.OfTool.DisableParallelToolUse = sdk.Bool(true)
		}
	}
	p.Messages = messages(t.Messages, s.names)
	return p
}

// messages returns messages as they are sent. What functions gave is said by the user, in
// one message; two messages of one side are one.
func messages(list []model.Message, names *wire.Names) []sdk.MessageParam {
	ids := wire.NewNames(longestName)
	var sent []sdk.MessageParam
	for _, m := range list {
		role, blocks := blocks(m, names, ids)
		if len(blocks) == 0 {
			continue // which says nothing
		}
		if n := len(sent); n > 0 && sent[n-1].Role == role {
			sent[n-1].Content = append(sent[n-1].Content, blocks...)
			continue
		}
		sent = append(sent, sdk.MessageParam{Role: role, Content: blocks})
	}
	return sent
}

func blocks(m model.Message, names, ids *wire.Names) (sdk.MessageParamRole, []sdk.ContentBlockParamUnion) {
	if m.Role == model.Returned {
		result := &sdk.ToolResultBlockParam{ToolUseID: ids.Wire(m.ID), IsError: sdk.Bool(m.Error)}
		if m.Text != "" {
			result.Content = []sdk.ToolResultBlockParamContentUnion{{OfText: &sdk.TextBlockParam{Text: m.Text}}}
		}
		return sdk.MessageParamRoleUser, []sdk.ContentBlockParamUnion{{OfToolResult: result}}
	}
	var list []sdk.ContentBlockParamUnion
	if !blank(m.Text) { // which is refused
		list = append(list, sdk.NewTextBlock(m.Text))
	}
	for _, call := range m.Calls {
		list = append(list, sdk.NewToolUseBlock(ids.Wire(call.ID), input(call.Params), names.Wire(call.Name)))
	}
	if m.Role == model.Assistant {
		return sdk.MessageParamRoleAssistant, list
	}
	return sdk.MessageParamRoleUser, list
}

// input returns a call's params as they are sent, which is always an object: text that is none
// stands in one.
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

// said is what a model said, as it comes.
type said struct {
	names  *wire.Names
	answer string // the tool by which it answers; "" when it just says so
	text   *wire.Text
	prose  *wire.Text // what it says besides, when it answers by a tool

	isAnswered bool
	calls      []*wire.Call
	at         map[int64]*block
	isDone     bool
	stop       sdk.StopReason
	reason     string // of a refusal
	usage      usage
}

// block is a part of a message: text, or a call, or something that nobody reads.
type block struct {
	text *wire.Text
	call *wire.Call
}

// add takes a piece. The error is that of who is told of it.
func (b *block) add(piece string) error {
	switch {
	case b.call != nil:
		b.call.Params.WriteString(piece)
	case b.text != nil:
		return b.text.Add(piece)
	}
	return nil
}

// whole asks for all at once.
func (c *Client) whole(ctx context.Context, p sdk.MessageNewParams, s *said) error {
	msg, err := c.sdk.New(ctx, p)
	switch {
	case err != nil:
		return model.Failure(ctx, err)
	case msg.Type != "message": // the library takes any JSON for one
		return model.Failure(ctx, errors.New("it is no message"))
	}
	s.usage, s.stop, s.reason = usageOf(msg.Usage), msg.StopReason, msg.StopDetails.Explanation
	for _, b := range msg.Content {
		if err := s.open(b.Type, b.ID, b.Name).add(b.Text + string(b.Input)); err != nil {
			return err
		}
	}
	return nil
}

// stream asks for piece after piece.
func (c *Client) stream(ctx context.Context, p sdk.MessageNewParams, s *said) error {
	stream := c.sdk.NewStreaming(ctx, p, option.WithHeader("Accept", "text/event-stream"))
	defer stream.Close()
	for !s.isDone && stream.Next() {
		event := stream.Current()
		if err := s.take(ctx, &event); err != nil {
			return err
		}
	}
	switch err := stream.Err(); {
	case err != nil:
		return model.Failure(ctx, err)
	case !s.isDone:
		return wire.Cut()
	}
	return nil
}

// take takes an event.
func (s *said) take(ctx context.Context, event *sdk.MessageStreamEventUnion) error {
	switch event.Type {
	case "message_start":
		s.usage = usageOf(event.Message.Usage)
	case "content_block_start":
		b := s.open(event.ContentBlock.Type, event.ContentBlock.ID, event.ContentBlock.Name)
		s.at[event.Index] = b
		begun := event.ContentBlock.Text
		if input := gjson.Get(event.ContentBlock.RawJSON(), "input").Raw; input != "{}" {
			begun += input // of servers that give it whole
		}
		return b.add(begun)
	case "content_block_delta":
		b := s.at[event.Index]
		if b == nil {
			return model.Failure(ctx, fmt.Errorf("it goes on with part %d, which did not begin", event.Index))
		}
		return b.add(event.Delta.Text + event.Delta.PartialJSON)
	case "message_delta":
		s.stop, s.reason = event.Delta.StopReason, event.Delta.StopDetails.Explanation
		s.usage.update(event.Usage)
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

// reply returns all that was said. The error is that of who is told the rest of it.
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
	case sdk.StopReasonMaxTokens, sdk.StopReasonModelContextWindowExceeded:
		r.Stop = model.Length
	case sdk.StopReasonRefusal:
		r.Stop, r.Reason = model.Refusal, s.reason
	}
	return r, nil
}

// usage is what a message used up. What was read is counted in three parts.
type usage struct{ fresh, created, cached, output int64 }

func usageOf(u sdk.Usage) usage {
	return usage{max(0, u.InputTokens), max(0, u.CacheCreationInputTokens), max(0, u.CacheReadInputTokens), max(0, u.OutputTokens)}
}

// read returns what was read.
func (u *usage) read() int64 { return u.fresh + u.created + u.cached }

// update takes the counts at the end of a stream, which are of all of it. What does not stand
// there is what it was.
func (u *usage) update(d sdk.MessageDeltaUsage) {
	for _, count := range []struct {
		of    *int64
		given bool
		value int64
	}{
		{&u.fresh, d.JSON.InputTokens.Valid(), d.InputTokens},
		{&u.created, d.JSON.CacheCreationInputTokens.Valid(), d.CacheCreationInputTokens},
		{&u.cached, d.JSON.CacheReadInputTokens.Valid(), d.CacheReadInputTokens},
		{&u.output, d.JSON.OutputTokens.Valid(), d.OutputTokens},
	} {
		if count.given {
			*count.of = max(0, count.value)
		}
	}
}
