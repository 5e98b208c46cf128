package exec

import (
	"encoding/json"

	"github.com/plc-lang/plc/internal/jsonscan"
)

// Envelope returns the result of a call that stands for an agent in the form in which
// agent_framework passes it to later steps: {"message", "response", "status"}. A string becomes the
// message, and any other value the response. An object that has a message and a status is an
// envelope already, and is returned unchanged.
func Envelope(result json.RawMessage) json.RawMessage {
	var members map[string]json.RawMessage
	var text *string
	if json.Unmarshal(result, &text) == nil && text != nil {
		return envelope(*text, nil, Completed)
	}
	if json.Unmarshal(result, &members) == nil && members["message"] != nil && members["status"] != nil {
		return result
	}
	return envelope("", result, Completed)
}

// envelope returns an envelope; a nil response is null.
func envelope(message string, response json.RawMessage, status Status) json.RawMessage {
	if response == nil {
		response = json.RawMessage("null")
	}
	return jsonscan.Encode(struct {
		Message  string          `json:"message"`
		Response json.RawMessage `json:"response"`
		Status   Status          `json:"status"`
	}{message, response, status})
}
