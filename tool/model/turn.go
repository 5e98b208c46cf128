package model

import (
	"context"
	"encoding/json"
)

// Converser holds conversations with a model: what package loop asks for plans.
// Converse is called by several goroutines at once, and ends soon after ctx is done. Its
// errors are *tool.Errors that never hold the key.
type Converser interface {
	Converse(ctx context.Context, turn *Turn) (*Reply, error)
}

// Turn is the next request of a conversation. All of the conversation is in it: a Converser
// remembers nothing. Its JSON is what a Tape knows a reply by.
type Turn struct {
	System    string     `json:"system,omitempty"` // what the model is to do
	Messages  []Message  `json:"messages"`         // so far, the oldest first
	Functions []Function `json:"functions,omitempty"`
	// Schema is that of the reply's text; nil is prose. It is an object without references to
	// other documents.
	Schema  json.RawMessage `json:"schema,omitempty"`
	Strict  bool            `json:"strict,omitempty"` // Schema keeps within what providers can enforce to the letter
	Attempt int             `json:"attempt"`          // from 1: another attempt may be answered otherwise
	// OnText is called with the pieces of the reply's text as they come, one at a time; nil takes
	// the reply whole. Together the pieces are Reply.Text. An error of it ends the reply, and is
	// Converse's.
	OnText func(piece string) error `json:"-"`
}

// Role says whose a message is.
type Role string

// The roles.
const (
	User      Role = "user"
	Assistant Role = "assistant"
	Returned  Role = "tool" // what a function gave
)

// Message is a message of a conversation.
type Message struct {
	Role  Role           `json:"role"`
	Text  string         `json:"text,omitempty"`
	Calls []FunctionCall `json:"calls,omitempty"` // Assistant
	ID    string         `json:"id,omitempty"`    // Returned: of the call
	Error bool           `json:"error,omitempty"` // Returned: the text says what went wrong
}

// Function is a function that the model may call.
type Function struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Params      json.RawMessage `json:"params"` // the schema of an object
}

// FunctionCall is a call of a function by the model.
type FunctionCall struct {
	ID     string `json:"id"`
	Name   string `json:"name"`
	Params string `json:"params"` // as the model wrote them: perhaps not JSON
}

// Reply is what a model said.
type Reply struct {
	Text   string         `json:"text"`
	Calls  []FunctionCall `json:"calls,omitempty"`
	Stop   Stop           `json:"stop,omitempty"`
	Reason string         `json:"reason,omitempty"` // of a refusal, if it was given
	Input  int64          `json:"input"`            // tokens that were read, Cached among them
	Output int64          `json:"output"`           // tokens that were written
	Cached int64          `json:"cached,omitempty"` // tokens of Input that the provider had kept from before
}
