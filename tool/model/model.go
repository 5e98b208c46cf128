package model

import (
	"context"
	"encoding/json"
	"net/url"

	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/internal/driver"
)

// Client sends requests to a model. Complete is called by several goroutines at once, and ends soon
// after ctx is done. Its errors are *tool.Errors that never contain the key.
type Client interface {
	Complete(ctx context.Context, req *Request) (*Answer, error)
}

// Config says which model to use and how to reach it. For every field except Model, the zero value
// is the default.
type Config struct {
	Model       string
	BaseURL     string   // of the service; "" is the provider's
	APIKey      string   // "" sends none, for example to your own server
	Temperature *float64 // nil is the provider's default
	MaxTokens   int      // of an answer; 0 is the provider's default
}

// Check returns an error, with its place in the config, if the config can't be used.
func (c *Config) Check() error {
	if c.Model == "" {
		return driver.At(errNoModel, "model")
	}
	if c.BaseURL == "" {
		return nil
	}
	u, err := url.Parse(c.BaseURL)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		return driver.At(errBaseURL, "baseURL")
	}
	return nil
}

// Request is a request to a model. A Tape finds its answer by the JSON of the request.
type Request struct {
	System string `json:"system"` // what it is to do, the same for all calls
	Prompt string `json:"prompt"` // the call, as JSON
	// Schema is the schema of the answer, which is an object. It has no references to other
	// documents.
	Schema json.RawMessage `json:"schema"`
	// Strict reports that providers can enforce Schema exactly.
	Strict  bool `json:"strict"`
	Attempt int  `json:"attempt"` // from 1: another attempt may be answered otherwise
	// Answers is the number of answers in the answer, each of which may have up to MaxTokens
	// tokens; 0 is one.
	Answers int `json:"-"`
	// Place is the call for which the request is made, for a Tape.
	Place string `json:"-"`
}

// Answer is the answer of a model.
type Answer struct {
	Text   string `json:"text"` // JSON, if all is well
	Stop   Stop   `json:"stop,omitempty"`
	Reason string `json:"reason,omitempty"` // of a refusal, if it was given
	Input  int64  `json:"input"`            // tokens that were read
	Output int64  `json:"output"`           // tokens that were written
}

// Stop is the reason why an answer has no result; "" if it has one.
type Stop string

// The reasons to stop early.
const (
	Length  Stop = "length"  // it was cut off
	Refusal Stop = "refusal" // the model, or a filter, would not
)

// Prices has the prices of a million tokens, in the unit of the budget.
type Prices struct {
	Input  float64 `json:"input"`
	Output float64 `json:"output"`
}

// Cost returns the cost of these numbers of tokens.
func (p Prices) Cost(input, output int64) float64 {
	const million = 1e6
	return (float64(input)*p.Input + float64(output)*p.Output) / million
}

// usage returns the usage of an answer.
func (p Prices) usage(a *Answer) tool.Usage {
	return tool.Usage{Tokens: a.Input + a.Output, Input: a.Input, Output: a.Output, Cost: p.Cost(a.Input, a.Output)}
}
