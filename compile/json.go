package compile

import (
	"encoding/json"
	"iter"
	"strings"

	"github.com/tidwall/gjson"
)

// members returns the members of a valid JSON object, in order.
func members(object json.RawMessage) iter.Seq2[string, json.RawMessage] {
	return func(yield func(string, json.RawMessage) bool) {
		gjson.ParseBytes(object).ForEach(func(k, v gjson.Result) bool {
			return yield(k.String(), json.RawMessage(v.Raw))
		})
	}
}

// elementsOf returns the elements of a valid JSON array, in order.
func elementsOf(array json.RawMessage) iter.Seq[json.RawMessage] {
	return func(yield func(json.RawMessage) bool) {
		gjson.ParseBytes(array).ForEach(func(_, v gjson.Result) bool { return yield(json.RawMessage(v.Raw)) })
	}
}

// trimTool drops the "Tool." that some documents put before a tool's name.
func trimTool(name string) string { return strings.TrimPrefix(name, "Tool.") }
