// Package anthropic speaks to models behind the Messages interface of Anthropic.
package anthropic

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
	"time"

	sdk "github.com/anthropics/anthropic-sdk-go"
	"github.com/anthropics/anthropic-sdk-go/option"
	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/tool/model"
)

const (
	answer       = "answer" // the tool by which the model answers
	maxTokens    = 4096     // of an answer when nobody says; the interface wants a number
	maxReply     = 8192     // the same of a reply, which may be a plan
	longestCall  = 24 * time.Hour
	defaultBase  = "https://api.anthropic.com"
	answerWithIt = "Takes the answer."
)

// Client is a client of a model: a model.Client and a model.Converser. It may be used by
// several goroutines. New makes one.
type Client struct {
	config model.Config
	sdk    sdk.MessageService

	answersWhole atomic.Bool // the server does not stream
}

// New returns a client of a model. It reports a config that can't be used, and asks nobody.
func New(c model.Config) (*Client, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if c.BaseURL == "" {
		c.BaseURL = defaultBase
	}
	opts := []option.RequestOption{
		option.WithBaseURL(c.BaseURL),
		option.WithHTTPClient(model.HTTPClient(c.APIKey)),
		option.WithMaxRetries(0),               // the run retries
		option.WithRequestTimeout(longestCall), // the call has a timeout of its own
	}
	if c.APIKey != "" {
		opts = append(opts, option.WithAPIKey(c.APIKey))
	}
	// Not a whole sdk.Client: that reads the environment, and links services that nobody needs.
	return &Client{config: c, sdk: sdk.NewMessageService(opts...)}, nil
}

// Complete asks for a call of one tool, whose input is the answer.
func (c *Client) Complete(ctx context.Context, req *model.Request) (*model.Answer, error) {
	msg, err := c.sdk.New(ctx, c.request(req))
	switch {
	case err != nil:
		return nil, model.Failure(ctx, err)
	case msg.Type != "message": // the library takes any JSON for one
		return nil, model.Failure(ctx, errors.New("it is no message"))
	}
	u := usageOf(msg.Usage)
	a := &model.Answer{Input: u.read(), Output: u.output}
	for _, block := range msg.Content {
		switch {
		case block.Type == "tool_use" && block.Name == answer:
			a.Text = string(block.Input)
		case block.Type == "text":
			a.Reason = block.Text
		}
	}
	switch msg.StopReason {
	case sdk.StopReasonMaxTokens, sdk.StopReasonModelContextWindowExceeded:
		a.Stop = model.Length
	case sdk.StopReasonRefusal:
		a.Stop = model.Refusal
	default:
		if a.Text == "" { // it has said something, and called nothing
			a.Stop = model.Refusal
		}
	}
	return a, nil
}

func (c *Client) request(req *model.Request) sdk.MessageNewParams {
	p := c.settings(maxTokens, nil)
	p.MaxTokens *= int64(max(1, req.Answers))
	p.System = []sdk.TextBlockParam{{Text: req.System}}
	p.Messages = []sdk.MessageParam{sdk.NewUserMessage(sdk.NewTextBlock(req.Prompt))}
	p.Tools = []sdk.ToolUnionParam{{OfTool: tool(answer, answerWithIt, req.Schema)}}
	p.ToolChoice = sdk.ToolChoiceParamOfTool(answer)
	return p
}

// settings returns a request with what the config says; this many tokens when it says nothing, and
// its temperature where this one is nil.
func (c *Client) settings(tokens int, temperature *float64) sdk.MessageNewParams {
	p := sdk.MessageNewParams{Model: sdk.Model(c.config.Model), MaxTokens: int64(cmp.Or(c.config.MaxTokens, tokens))}
	if t := cmp.Or(temperature, c.config.Temperature); t != nil {
		p.Temperature = sdk.Float(*t)
	}
	return p
}

// tool returns a tool that takes what meets this schema, which is an object's.
func tool(name, description string, schema json.RawMessage) *sdk.ToolParam {
	s := sdk.ToolInputSchemaParam{ExtraFields: map[string]any{}}
	gjson.ParseBytes(schema).ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "type":
		case "properties":
			s.Properties = json.RawMessage(v.Raw)
		case "required":
			for _, name := range v.Array() {
				s.Required = append(s.Required, name.Str)
			}
		default:
			s.ExtraFields[k.Str] = json.RawMessage(v.Raw)
		}
		return true
	})
	t := &sdk.ToolParam{Name: name, InputSchema: s}
	if description != "" {
		t.Description = sdk.String(description)
	}
	return t
}
