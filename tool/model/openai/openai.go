// Package openai is a client for models with the interface of OpenAI, which many servers have,
// including servers on your own machine.
package openai

import (
	"cmp"
	"context"
	"encoding/json"
	"math"
	"sync/atomic"

	sdk "github.com/sashabaranov/go-openai"

	"github.com/plc-lang/plc/tool/model"
)

// Client is a client of a model: a model.Client and a model.Converser. It may be used by
// several goroutines. New makes one.
type Client struct {
	config model.Config
	sdk    *sdk.Client
	hosted bool // by OpenAI

	answersWhole atomic.Bool // the server does not stream
}

// New returns a client of a model. It returns an error if the config can't be used, and sends
// nothing.
func New(c model.Config) (*Client, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	cfg := sdk.DefaultConfig(c.APIKey)
	cfg.HTTPClient = model.HTTPClient(c.APIKey)
	cfg.EmptyMessagesLimit = math.MaxUint // comments that keep a stream open; its size is bounded
	if c.BaseURL != "" {
		cfg.BaseURL = c.BaseURL
	}
	return &Client{config: c, sdk: sdk.NewClientWithConfig(cfg), hosted: c.BaseURL == ""}, nil
}

// Complete requests structured output. For servers without structured output it adds the schema to
// the system message.
func (c *Client) Complete(ctx context.Context, req *model.Request) (*model.Answer, error) {
	resp, err := c.sdk.CreateChatCompletion(ctx, c.request(req))
	if err != nil {
		return nil, model.Failure(ctx, err)
	}
	a := &model.Answer{Input: int64(max(0, resp.Usage.PromptTokens)), Output: int64(max(0, resp.Usage.CompletionTokens))}
	if len(resp.Choices) == 0 {
		return a, nil // not JSON
	}
	choice := resp.Choices[0]
	a.Text = choice.Message.Content
	switch {
	case choice.Message.Refusal != "" || choice.FinishReason == sdk.FinishReasonContentFilter:
		a.Stop, a.Reason = model.Refusal, choice.Message.Refusal
	case choice.FinishReason == sdk.FinishReasonLength:
		a.Stop = model.Length
	}
	return a, nil
}

func (c *Client) request(req *model.Request) sdk.ChatCompletionRequest {
	r := c.settings(nil)
	r.Messages = []sdk.ChatCompletionMessage{
		{Role: sdk.ChatMessageRoleSystem, Content: req.System + " It meets this JSON Schema: " + string(req.Schema)},
		{Role: sdk.ChatMessageRoleUser, Content: req.Prompt},
	}
	r.ResponseFormat = format(req.Schema, req.Strict)
	r.MaxCompletionTokens *= max(1, req.Answers)
	//lint:ignore SA1019 the old name is what all other servers know
	r.MaxTokens *= max(1, req.Answers)
	return r
}

// format returns the request for structured output.
func format(schema json.RawMessage, strict bool) *sdk.ChatCompletionResponseFormat {
	return &sdk.ChatCompletionResponseFormat{
		Type: sdk.ChatCompletionResponseFormatTypeJSONSchema,
		JSONSchema: &sdk.ChatCompletionResponseFormatJSONSchema{
			Name: "result", Schema: schema, Strict: strict,
		},
	}
}

// settings returns a request with the settings of the config. temperature, if not nil, replaces
// that of the config.
func (c *Client) settings(temperature *float64) sdk.ChatCompletionRequest {
	r := sdk.ChatCompletionRequest{Model: c.config.Model}
	if t := cmp.Or(temperature, c.config.Temperature); t != nil {
		// The library treats 0 as not given.
		r.Temperature = max(float32(*t), math.SmallestNonzeroFloat32)
	}
	if c.hosted {
		r.MaxCompletionTokens = c.config.MaxTokens
	} else {
		//lint:ignore SA1019 the old name is what all other servers know
		r.MaxTokens = c.config.MaxTokens
	}
	return r
}
