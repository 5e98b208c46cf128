package loop

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/plc-lang/plc/internal/jsonscan"
)

// member is a member of an object that is written in this order.
type member struct {
	name  string
	value json.RawMessage
}

// writeObject is an object of these members, in order.
func writeObject(members ...member) json.RawMessage {
	b := []byte{'{'}
	for i, m := range members {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, jsonscan.Encode(m.name)...), ':'), m.value...)
	}
	return append(b, '}')
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// equalJSON reports whether two values are the same but for spelling; nil is no value.
func equalJSON(a, b json.RawMessage) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return bytes.Equal(jsonscan.Canonical(nil, a), jsonscan.Canonical(nil, b))
}

// compactJSON is a value without white space; nil when it is no JSON.
func compactJSON(v []byte) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, v) != nil {
		return nil
	}
	return b.Bytes()
}

// list is an array of these values.
func list(values []json.RawMessage) json.RawMessage {
	if len(values) == 0 {
		return json.RawMessage("[]")
	}
	return jsonscan.Encode(values)
}
