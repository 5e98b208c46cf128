package agentframework

import (
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/internal/python"
)

// Messages and reminders must match agent_framework byte for byte, so the functions below format
// quotes, lists, type names and JSON the way Python does.

// reprs formats a list of texts as Python does, sorted.
func reprs(list []string) string {
	return python.List(slices.Sorted(slices.Values(list)))
}

// typeName returns Python's name of the type of a value.
func typeName(v gjson.Result) string {
	switch {
	case v.Type == gjson.String:
		return "str"
	case v.Type == gjson.True || v.Type == gjson.False:
		return "bool"
	case v.IsObject():
		return "dict"
	case v.IsArray():
		return "list"
	case v.Type == gjson.Number && strings.ContainsAny(v.Raw, ".eE"):
		return "float"
	case v.Type == gjson.Number:
		return "int"
	}
	return "NoneType"
}

// str returns a value as text without surrounding white space. It is used where a name should have
// been a string.
func str(v gjson.Result) string {
	switch {
	case !v.Exists():
		return ""
	case v.Type == gjson.String:
		return strings.TrimSpace(v.Str)
	case v.Type == gjson.True:
		return "True"
	case v.Type == gjson.False:
		return "False"
	case v.Type == gjson.Null:
		return "None"
	}
	return v.Raw
}

// optional returns a value as text, and "" for null.
func optional(v gjson.Result) string {
	if v.Type == gjson.Null {
		return ""
	}
	return str(v)
}

// isEmpty reports whether Python treats a value as false.
func isEmpty(v gjson.Result) bool { return !python.Truthy([]byte(v.Raw)) }
