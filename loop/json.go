package loop

import (
	"bytes"
	"cmp"
	"encoding/json"
	"maps"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/lang"
)

// membersOf returns the members of an object, in order.
func membersOf(object gjson.Result) (all []Member) {
	object.ForEach(func(k, v gjson.Result) bool {
		all = append(all, Member{k.Str, json.RawMessage(v.Raw)})
		return true
	})
	return all
}

// membersIn returns the members of an object of a document, in order.
func membersIn(object lang.Node) (all []Member) {
	for m := range object.Members() {
		all = append(all, Member{m.Name, m.Value.AppendJSON(nil)})
	}
	return all
}

// valueIn returns the value reached by following names from member to member, or no value if one of
// them is missing.
func valueIn(object lang.Node, names ...string) lang.Node {
	for _, name := range names {
		m, _ := object.Member(name)
		object = m.Value
	}
	return object
}

func sortedKeys[K cmp.Ordered, V any](m map[K]V) []K { return slices.Sorted(maps.Keys(m)) }

// equalJSON reports whether two values are equal apart from spelling; nil means no value.
func equalJSON(a, b json.RawMessage) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	return bytes.Equal(jsonscan.Canonical(nil, a), jsonscan.Canonical(nil, b))
}

// compactJSON returns a value without white space, or nil if it isn't JSON.
func compactJSON(v []byte) json.RawMessage {
	var b bytes.Buffer
	if json.Compact(&b, v) != nil {
		return nil
	}
	return b.Bytes()
}

// solutionOf returns the solution with the given calls and output. An empty output becomes null.
func solutionOf(calls []json.RawMessage, output string) json.RawMessage {
	if output == "" {
		output = "null"
	}
	return ObjectOf("calls", append([]json.RawMessage{}, calls...), "output", json.RawMessage(output)).JSON()
}
