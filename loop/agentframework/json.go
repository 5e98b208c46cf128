package agentframework

import (
	"encoding/json"

	"github.com/plc-lang/plc/loop"
)

// text returns a value as text: what a string says, else its JSON.
func text(v json.RawMessage) string {
	var s string
	if len(v) > 0 && v[0] == '"' && json.Unmarshal(v, &s) == nil {
		return s
	}
	return string(v)
}

// Values are values by name, in the order in which they came.
type Values = loop.Object

// orNull returns JSON, or null if there is none.
func orNull(v json.RawMessage) json.RawMessage {
	if v == nil {
		return json.RawMessage("null")
	}
	return v
}

// nullable returns a text, null where it is "".
func nullable(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
