package model

import (
	"context"
	"encoding/json"
	"fmt"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/tool"
)

// Converser holds conversations with a model; package loop uses it to get plans. Converse is called
// by several goroutines at once, and ends soon after ctx is done. Its errors are *tool.Errors that
// never contain the key.
type Converser interface {
	Converse(ctx context.Context, turn *Turn) (*Reply, error)
}

// Turn is the next request of a conversation. It contains the whole conversation, since a Converser
// remembers nothing. A Tape finds a reply by the JSON of its turn.
type Turn struct {
	System    string     `json:"system,omitempty"` // what the model is to do
	Messages  []Message  `json:"messages"`         // so far, the oldest first
	Functions []Function `json:"functions,omitempty"`
	// Schema is the schema of the reply's text, which is an object; it has no references to other
	// documents. nil means prose. It is no error if the model does not follow it: the reply has the
	// text of the model.
	Schema  json.RawMessage `json:"schema,omitempty"`
	Strict  bool            `json:"strict,omitempty"` // Schema keeps within what providers can enforce to the letter
	Attempt int             `json:"attempt"`          // from 1: another attempt may be answered otherwise
	// Temperature is the temperature of this reply; nil is that of the Config.
	Temperature *float64 `json:"temperature,omitempty"`
	// Place says which part of a program makes the request, for a Tape; "" is the program itself.
	Place string `json:"-"`
	// OnText is called with the pieces of the reply's text as they come, one at a time, in the
	// goroutine of Converse; nil means that the reply is not streamed. Together the pieces are
	// Reply.Text, and none is passed twice, even if Converse fails. If OnText returns an error, the
	// reply ends and Converse returns that error.
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

// FromUser returns a conversation in which a user has said this.
func FromUser(text string) []Message { return []Message{{Role: User, Text: text}} }

// Function is a function that the model may call.
type Function struct {
	Name        string          `json:"name"` // of any form: one that a provider does not take is sent as another
	Description string          `json:"description,omitempty"`
	Params      json.RawMessage `json:"params"` // the schema of an object; nil takes none
}

// FunctionCall is a call of a function by the model.
type FunctionCall struct {
	ID     string `json:"id"` // of a reply: never "", and another for each
	Name   string `json:"name"`
	Params string `json:"params"` // as the model wrote them: perhaps not JSON
}

// Reply is the answer of a model.
type Reply struct {
	Text   string         `json:"text"`
	Calls  []FunctionCall `json:"calls,omitempty"`
	Stop   Stop           `json:"stop,omitempty"`
	Reason string         `json:"reason,omitempty"` // of a refusal, if it was given
	Input  int64          `json:"input"`            // tokens that were read, Cached among them
	Output int64          `json:"output"`           // tokens that were written
	Cached int64          `json:"cached,omitempty"` // tokens of Input that the provider had kept from before
}

// hottest is the highest temperature that any provider accepts.
const hottest = 2

// BadTurn is the code of the failure of a turn that can't be sent.
const BadTurn = "turn"

// Check returns a permanent *tool.Error if no provider would accept the turn.
func (t *Turn) Check() error {
	if err := schemaOfObject(t.Schema); err != nil {
		return badTurn("its schema %v", err)
	}
	known := map[string]bool{}
	for _, f := range t.Functions {
		if f.Name == "" || known[f.Name] {
			return badTurn("it has two functions %q, or one without a name", f.Name)
		}
		known[f.Name] = true
		if err := schemaOfObject(f.Params); err != nil {
			return badTurn("the schema of the params of %q %v", f.Name, err)
		}
	}
	if len(t.Messages) == 0 {
		return badTurn("it has no messages")
	}
	if n := t.Temperature; n != nil && !(*n >= 0 && *n <= hottest) {
		return badTurn("its temperature is %g, and not from 0 to %d", *n, hottest)
	}
	for i, m := range t.Messages {
		if m.Role != User && m.Role != Assistant && m.Role != Returned {
			return badTurn("message %d has the role %q; there are user, assistant and tool", i, m.Role)
		}
	}
	return nil
}

func badTurn(format string, args ...any) error {
	return &tool.Error{Code: BadTurn, Message: "the turn can't be sent: " + fmt.Sprintf(format, args...), Permanent: true}
}

// schemaOfObject returns an error if a schema is not the schema of an object; an empty one is fine.
func schemaOfObject(schema json.RawMessage) error {
	if len(schema) == 0 {
		return nil
	}
	if err := jsonscan.Check(schema, jsonscan.Limits{}); err != nil {
		return fmt.Errorf("is not JSON: %w", err)
	}
	s := gjson.ParseBytes(schema)
	if kind := s.Get("type"); !s.IsObject() || kind.Exists() && kind.Str != "object" {
		return fmt.Errorf("is not that of an object: %s", shorten(string(schema)))
	}
	return nil
}
