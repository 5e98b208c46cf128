// Package anthropic is a client for models with the Messages interface of Anthropic.
package anthropic

import (
	"context"
	"net/http"
	"sync/atomic"

	"github.com/plc-lang/plc/tool/model"
)

const (
	answer       = "answer" // the tool by which the model answers
	maxTokens    = 4096     // default for an answer; the interface requires a number
	maxReply     = 8192     // default for a reply, which may be a plan
	defaultBase  = "https://api.anthropic.com"
	answerWithIt = "Takes the answer."
)

// Client is a client of a model: a model.Client and a model.Converser. It may be used by
// several goroutines. New makes one.
type Client struct {
	config model.Config
	http   *http.Client

	answersWhole atomic.Bool // the server does not stream
}

// New returns a client of a model. It returns an error if the config can't be used, and sends
// nothing.
func New(c model.Config) (*Client, error) {
	if err := c.Check(); err != nil {
		return nil, err
	}
	if c.BaseURL == "" {
		c.BaseURL = defaultBase
	}
	return &Client{config: c, http: model.HTTPClient(c.APIKey)}, nil
}

// Complete requests a call of one tool, whose input is the answer.
func (c *Client) Complete(ctx context.Context, req *model.Request) (*model.Answer, error) {
	r := c.request(maxTokens, nil)
	r.MaxTokens *= int64(max(1, req.Answers))
	r.System = []textPart{newText(req.System)}
	r.Messages = []sentMessage{{Role: "user", Content: []any{newText(req.Prompt)}}}
	r.Tools = []toolPart{newTool(answer, answerWithIt, req.Schema)}
	r.ToolChoice = &toolChoice{Type: "tool", Name: answer}
	msg, err := c.ask(ctx, r)
	if err != nil {
		return nil, err
	}
	var u usage
	u.update(msg.Usage)
	a := &model.Answer{Input: u.read(), Output: u.output}
	for _, p := range msg.Content {
		switch {
		case p.Type == "tool_use" && p.Name == answer:
			a.Text = string(p.Input)
		case p.Type == "text":
			a.Reason = p.Text
		}
	}
	switch msg.StopReason {
	case stopMaxTokens, stopContext:
		a.Stop = model.Length
	case stopRefusal:
		a.Stop = model.Refusal
	default:
		if a.Text == "" { // the model wrote text and did not call the tool
			a.Stop = model.Refusal
		}
	}
	return a, nil
}
