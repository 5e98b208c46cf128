package lsp

import (
	"cmp"
	"encoding/json"

	"github.com/plc-lang/plc/cmd/plc/internal/lsp/protocol"
)

// must returns the JSON of a value of this package, which can always be encoded.
func must(v any) json.RawMessage {
	raw, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return raw
}

// comparePositions compares two positions in the order of the text.
func comparePositions(a, b protocol.Position) int {
	return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Character, b.Character))
}
