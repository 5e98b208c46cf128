package model

import (
	"context"
	"encoding/json"
	"net/url"

	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/internal/driver"
)

// Client sends requests to a model. Complete is called by several goroutines at once, and
// ends soon after ctx is done. Its errors are *tool.Errors that never hold the key.
type Client interface {
	Complete(ctx context.Context, req *Request) (*Answer, error)
}

// Config says which model, and where it is. The zero value of all but Model is the default.
type Config struct {
	Model       string
	BaseURL     string   // of the service; "" is that of the provider
	APIKey      string   // "" sends none, as for servers of one's own
	Temperature *float64 // nil is for the provider to say
	MaxTokens   int      // of an answer; 0 is for the provider to say
}

// Check reports a config that can't be used, and where in it.
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

// Request is a request to a model. A Tape finds an answer by its JSON. Its JSON is what a Tape
// knows an answer by.
type Request struct {
	System string `json:"system"` // what it is to do, the same for all calls
	Prompt string `json:"prompt"` // the call, as JSON
	// Schema is that of the answer, an object without references to other documents.
	Schema json.RawMessage `json:"schema"`
	// Strict reports that Schema keeps within what providers can enforce to the letter.
	Strict  bool `json:"strict"`
	Attempt int  `json:"attempt"` // from 1: another attempt may be answered otherwise
	// Answers is the number of answers in one, each of which may be as long as MaxTokens says; 0 is
	// one.
	Answers int `json:"-"`
	// Place is the call that asks, for a Tape.
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

// Stop says why an answer is none; "" is that it is one.
type Stop string

// The reasons to stop early.
const (
	Length  Stop = "length"  // it was cut off
	Refusal Stop = "refusal" // the model, or a filter, would not
)

// Prices holds the prices of a million tokens, in the unit of the budget.
type Prices struct {
	Input  float64 `json:"input"`
	Output float64 `json:"output"`
}

// Cost returns what so many tokens cost.
func (p Prices) Cost(input, output int64) float64 {
	const million = 1e6
	return (float64(input)*p.Input + float64(output)*p.Output) / million
}

// usage returns what an answer used up.
func (p Prices) usage(a *Answer) tool.Usage {
	return tool.Usage{Tokens: a.Input + a.Output, Input: a.Input, Output: a.Output, Cost: p.Cost(a.Input, a.Output)}
}
