package openai

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"strings"

	sdk "github.com/sashabaranov/go-openai"

	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
	"github.com/plc-lang/plc/tool/model/internal/wire"
)

const (
	longestName = 64 // of a function
	// emptyText replaces the empty text, which the library would leave out although servers require
	// it.
	emptyText = `""`
	noParams  = `{"type":"object","properties":{}}`
)

// Converse requests the next reply of a conversation, as described by model.Turn. For servers other
// than OpenAI's it adds the schema to the system message.
func (c *Client) Converse(ctx context.Context, turn *model.Turn) (*model.Reply, error) {
	if err := turn.Check(); err != nil {
		return nil, err
	}
	names := wire.Functions(turn, longestName)
	req := c.turn(turn, names)
	if err := sdk.NewReasoningValidator().Validate(req); err != nil {
		return nil, &tool.Error{Code: model.BadTurn, Message: "the model " + c.config.Model + " can't be asked so: " + err.Error(), Permanent: true, Err: err}
	}
	s := &said{text: wire.NewText(turn.OnText), at: map[int]int{}}
	ask := c.whole
	if turn.OnText != nil && !c.answersWhole.Load() {
		ask = c.stream
	}
	err := ask(ctx, req, s)
	if errors.Is(err, model.ErrWhole) { // no piece of the reply was passed on yet
		c.answersWhole.Store(true)
		err = c.whole(ctx, req, s)
	}
	if err != nil {
		return nil, err
	}
	return s.reply(turn, names), nil
}

// turn returns the request for a turn.
func (c *Client) turn(t *model.Turn, names *wire.Names) sdk.ChatCompletionRequest {
	r := c.settings(t.Temperature)
	system := t.System
	if t.Schema != nil {
		r.ResponseFormat = format(t.Schema, t.Strict)
		if !c.hosted {
			system = strings.TrimSpace(system + "\n\nAn answer meets this JSON Schema: " + string(t.Schema))
		}
	}
	if system != "" {
		r.Messages = append(r.Messages, sdk.ChatCompletionMessage{Role: sdk.ChatMessageRoleSystem, Content: system})
	}
	for _, f := range t.Functions {
		r.Tools = append(r.Tools, function(f, names))
	}
	for _, m := range t.Messages {
		if sent, ok := message(m, names); ok {
			r.Messages = append(r.Messages, sent)
		}
	}
	return r
}

func function(f model.Function, names *wire.Names) sdk.Tool {
	params := f.Params
	if len(params) == 0 {
		params = json.RawMessage(noParams)
	}
	return sdk.Tool{Type: sdk.ToolTypeFunction, Function: &sdk.FunctionDefinition{
		Name: names.Wire(f.Name), Description: f.Description, Parameters: params,
	}}
}

// message returns a message in the form of the interface; false if it is empty and not sent.
func message(m model.Message, names *wire.Names) (sdk.ChatCompletionMessage, bool) {
	s := sdk.ChatCompletionMessage{Role: string(m.Role), Content: m.Text}
	if m.Role == model.Returned {
		s.ToolCallID = m.ID
		if s.Content == "" {
			s.Content = emptyText
		}
	}
	for _, call := range m.Calls {
		s.ToolCalls = append(s.ToolCalls, sdk.ToolCall{
			ID: call.ID, Type: sdk.ToolTypeFunction,
			Function: sdk.FunctionCall{Name: names.Wire(call.Name), Arguments: params(call.Params)},
		})
	}
	return s, s.Content != "" || s.ToolCalls != nil
}

// params returns the params of a call in the form of the interface, never empty.
func params(text string) string {
	if strings.TrimSpace(text) == "" {
		return "{}"
	}
	return text
}

// said collects a model's answer as it arrives.
type said struct {
	text    *wire.Text
	refusal strings.Builder
	calls   []*wire.Call
	at      map[int]int // index of a call → its place in calls
	finish  sdk.FinishReason
	usage   sdk.Usage
}

// whole requests the reply as a whole.
func (c *Client) whole(ctx context.Context, req sdk.ChatCompletionRequest, s *said) error {
	resp, err := c.sdk.CreateChatCompletion(ctx, req)
	if err != nil {
		return model.Failure(ctx, err)
	}
	if len(resp.Choices) == 0 {
		return model.Failure(ctx, errors.New("it has no choices"))
	}
	choice := resp.Choices[0]
	s.usage, s.finish = resp.Usage, choice.FinishReason
	s.refusal.WriteString(choice.Message.Refusal)
	for _, call := range choice.Message.ToolCalls {
		made := &wire.Call{ID: call.ID, Name: call.Function.Name}
		made.Params.WriteString(call.Function.Arguments)
		s.calls = append(s.calls, made)
	}
	return s.text.Add(choice.Message.Content)
}

// stream requests the reply as a stream.
func (c *Client) stream(ctx context.Context, req sdk.ChatCompletionRequest, s *said) error {
	req.StreamOptions = &sdk.StreamOptions{IncludeUsage: true}
	stream, err := c.sdk.CreateChatCompletionStream(ctx, req)
	if err != nil {
		return model.Failure(ctx, err)
	}
	defer stream.Close()
	for {
		chunk, err := stream.Recv()
		switch {
		case errors.Is(err, io.EOF) && s.finish == "":
			return wire.Cut()
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return model.Failure(ctx, err)
		}
		if chunk.Usage != nil {
			s.usage = *chunk.Usage
		}
		for _, choice := range chunk.Choices {
			if choice.Index != 0 {
				continue // only one choice was requested
			}
			if err := s.add(&choice); err != nil {
				return err
			}
		}
	}
}

// add adds a piece. The error is that of OnText.
func (s *said) add(c *sdk.ChatCompletionStreamChoice) error {
	if c.FinishReason != "" {
		s.finish = c.FinishReason
	}
	s.refusal.WriteString(c.Delta.Refusal)
	for _, call := range c.Delta.ToolCalls {
		made := s.call(call)
		if made.Name == "" {
			made.Name = call.Function.Name
		}
		made.Params.WriteString(call.Function.Arguments)
	}
	return s.text.Add(c.Delta.Content)
}

// call returns the call that a piece belongs to, by its index. Servers that send no index, or the
// same for all calls, begin each call with its id.
func (s *said) call(piece sdk.ToolCall) *wire.Call {
	place, known := len(s.calls)-1, len(s.calls) > 0
	if piece.Index != nil {
		place, known = s.at[*piece.Index]
	}
	if known {
		if made := s.calls[place]; piece.ID == "" || made.ID == piece.ID {
			return made
		}
	}
	made := &wire.Call{ID: piece.ID}
	if piece.Index != nil {
		s.at[*piece.Index] = len(s.calls)
	}
	s.calls = append(s.calls, made)
	return made
}

// reply returns the complete reply.
func (s *said) reply(turn *model.Turn, names *wire.Names) *model.Reply {
	r := &model.Reply{
		Text: s.text.String(), Calls: wire.Calls(turn, names, s.calls),
		Input: int64(max(0, s.usage.PromptTokens)), Output: int64(max(0, s.usage.CompletionTokens)),
	}
	if d := s.usage.PromptTokensDetails; d != nil {
		r.Cached = min(int64(max(0, d.CachedTokens)), r.Input)
	}
	switch {
	case s.refusal.Len() > 0 || s.finish == sdk.FinishReasonContentFilter:
		r.Stop, r.Reason = model.Refusal, s.refusal.String()
	case s.finish == sdk.FinishReasonLength:
		r.Stop = model.Length
	}
	return r
}
