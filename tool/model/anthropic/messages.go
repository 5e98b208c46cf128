package anthropic

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/tool/model"
)

// The part of the Messages interface that this package uses, as
// https://docs.anthropic.com/en/api/messages describes it.

// version is the version of the interface.
const version = "2023-06-01"

type messagesRequest struct {
	Model       string        `json:"model"`
	MaxTokens   int64         `json:"max_tokens"`
	Temperature *float64      `json:"temperature,omitempty"`
	System      []textPart    `json:"system,omitempty"`
	Messages    []sentMessage `json:"messages"`
	Tools       []toolPart    `json:"tools,omitempty"`
	ToolChoice  *toolChoice   `json:"tool_choice,omitempty"`
	Stream      bool          `json:"stream,omitempty"`
}

type sentMessage struct {
	Role    string `json:"role"` // user or assistant
	Content []any  `json:"content"`
}

type textPart struct {
	Type string `json:"type"`
	Text string `json:"text"`
}

func newText(text string) textPart { return textPart{"text", text} }

type usePart struct {
	Type  string          `json:"type"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Input json.RawMessage `json:"input"`
}

type resultPart struct {
	Type    string     `json:"type"`
	ID      string     `json:"tool_use_id"`
	IsError bool       `json:"is_error"`
	Content []textPart `json:"content,omitempty"`
}

type toolPart struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	InputSchema json.RawMessage `json:"input_schema"`
	// Eager requests that the input is streamed as it is written, and not member by member.
	Eager bool `json:"eager_input_streaming,omitempty"`
}

type toolChoice struct {
	Type       string `json:"type"` // tool or any
	Name       string `json:"name,omitempty"`
	NoParallel bool   `json:"disable_parallel_tool_use,omitempty"`
}

// newTool returns a tool whose input has this schema, which must be the schema of an object; nil is
// any object.
func newTool(name, description string, schema json.RawMessage) toolPart {
	s := []byte(`{"type":"object"`)
	gjson.ParseBytes(schema).ForEach(func(k, v gjson.Result) bool {
		if k.Str != "type" {
			s = append(append(append(append(s, ','), k.Raw...), ':'), v.Raw...)
		}
		return true
	})
	return toolPart{Name: name, Description: description, InputSchema: append(s, '}')}
}

type message struct {
	Type        string      `json:"type"`
	Content     []part      `json:"content"`
	StopReason  string      `json:"stop_reason"`
	StopDetails stopDetails `json:"stop_details"`
	Usage       counts      `json:"usage"`
}

type stopDetails struct {
	Explanation string `json:"explanation"`
}

type part struct {
	Type  string          `json:"type"`
	ID    string          `json:"id"`
	Name  string          `json:"name"`
	Text  string          `json:"text"`
	Input json.RawMessage `json:"input"`
}

// The reasons to stop that matter.
const (
	stopMaxTokens = "max_tokens"
	stopContext   = "model_context_window_exceeded"
	stopRefusal   = "refusal"
)

// counts are numbers of tokens; nil if missing.
type counts struct {
	Input   *int64 `json:"input_tokens"`
	Created *int64 `json:"cache_creation_input_tokens"`
	Cached  *int64 `json:"cache_read_input_tokens"`
	Output  *int64 `json:"output_tokens"`
}

type streamEvent struct {
	Type    string  `json:"type"`
	Index   int64   `json:"index"`
	Message message `json:"message"`
	Block   part    `json:"content_block"`
	Delta   struct {
		Text        string      `json:"text"`
		PartialJSON string      `json:"partial_json"`
		StopReason  string      `json:"stop_reason"`
		StopDetails stopDetails `json:"stop_details"`
	} `json:"delta"`
	Usage counts `json:"usage"`
}

// post sends a request and returns the body of the answer. Its errors are *tool.Errors.
func (c *Client) post(ctx context.Context, r *messagesRequest) (io.ReadCloser, error) {
	url := strings.TrimSuffix(c.config.BaseURL, "/") + "/v1/messages"
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, url, bytes.NewReader(jsonscan.Encode(r)))
	if err != nil {
		return nil, model.Failure(ctx, err)
	}
	accept := "application/json"
	if r.Stream {
		accept = "text/event-stream"
	}
	req.Header.Set("Accept", accept)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Anthropic-Version", version)
	if c.config.APIKey != "" {
		req.Header.Set("X-Api-Key", c.config.APIKey)
	}
	resp, err := c.http.Do(req)
	if err != nil {
		return nil, model.Failure(ctx, err)
	}
	return resp.Body, nil
}

// ask sends a request and returns the message in the answer.
func (c *Client) ask(ctx context.Context, r *messagesRequest) (*message, error) {
	body, err := c.post(ctx, r)
	if err != nil {
		return nil, err
	}
	defer body.Close()
	text, err := io.ReadAll(body)
	if err != nil {
		return nil, model.Failure(ctx, err)
	}
	m := new(message)
	if err := json.Unmarshal(text, m); err != nil {
		return nil, model.Failure(ctx, err)
	}
	if m.Type != "message" {
		return nil, model.Failure(ctx, errors.New("it is no message"))
	}
	return m, nil
}

// events sends a request and calls take with each event of the answer until it returns false.
func (c *Client) events(ctx context.Context, r *messagesRequest, take func(*streamEvent) (bool, error)) error {
	body, err := c.post(ctx, r)
	if err != nil {
		return err
	}
	defer body.Close()
	lines := bufio.NewReader(body)
	var data []byte // of the event that is read
	named := false  // it has a name, as all events of the interface do; others are ignored
	for {
		line, err := lines.ReadBytes('\n')
		switch {
		case errors.Is(err, io.EOF):
			return nil // an event without an end is dropped
		case err != nil:
			return model.Failure(ctx, err)
		}
		line = bytes.TrimRight(line, "\r\n")
		if len(line) > 0 {
			named = named || bytes.HasPrefix(line, []byte("event:"))
			if value, ok := bytes.CutPrefix(line, []byte("data:")); ok {
				data = append(append(data, bytes.TrimPrefix(value, []byte(" "))...), '\n')
			}
			continue
		}
		text, ignored := data, !named || len(data) == 0
		if data, named = nil, false; ignored {
			continue
		}
		e := new(streamEvent)
		if err := json.Unmarshal(text, e); err != nil {
			return model.Failure(ctx, fmt.Errorf("an event of the stream: %w", err))
		}
		if more, err := take(e); err != nil || !more {
			return err
		}
	}
}

// request returns a request with the settings of the config. tokens is the limit if the config has
// none; temperature, if not nil, replaces that of the config.
func (c *Client) request(tokens int, temperature *float64) *messagesRequest {
	return &messagesRequest{
		Model: c.config.Model, MaxTokens: int64(cmp.Or(c.config.MaxTokens, tokens)),
		Temperature: cmp.Or(temperature, c.config.Temperature),
	}
}
