package jsonscan

import (
	"bytes"
	"encoding/json"
)

// Marshal is json.Marshal, but that <, > and & stay what they are.
func Marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Encode is Marshal of what has a JSON form whatever it holds: texts, finite numbers, JSON that
// was checked. It panics where there is none.
func Encode(v any) json.RawMessage {
	text, err := Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}
