package compile

import "encoding/json"

// Instance is an instance that messages of the document name (plan-language §8).
type Instance struct {
	Name string
	// Own are the values of its own messages by kind; what it sees is these merged
	// deeply over the global ones.
	Own map[string]json.RawMessage
}
