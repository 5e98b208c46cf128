package gateway

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/internal/jsonscan"
)

// A View is a value of a run, or the part of it that fits.
type View struct {
	Path  string `json:"path,omitempty" jsonschema:"JSON Pointer, if not whole"`
	Type  string `json:"type,omitempty" jsonschema:"if not whole"`
	Bytes int    `json:"bytes,omitempty" jsonschema:"if not whole"`
	Whole bool   `json:"whole"`
	Value any    `json:"value,omitempty" jsonschema:"the value, if whole"`
	// Of an object or a list that is too large.
	Parts []Part `json:"parts,omitempty"`
	// Of a text that is too long.
	Text string `json:"text,omitempty"`
	Next int    `json:"next,omitempty" jsonschema:"the from of what follows"`
}

// A Part is a member or an element of a value.
type Part struct {
	Path  string `json:"path"`
	Type  string `json:"type"`
	Bytes int    `json:"bytes"`
	Items int    `json:"items,omitempty" jsonschema:"how many members or elements"`
	Value any    `json:"value,omitempty" jsonschema:"left out if large: ask for its path"`
}

// view shows the value at a pointer of a document, starting with an element, member or character,
// in about max bytes at most.
func view(doc string, pointer string, from, max int) (*View, error) {
	value, err := at(gjson.Parse(doc), pointer)
	if err != nil {
		return nil, err
	}
	if from < 0 {
		return nil, fmt.Errorf("from is %d, and has to be 0 or more", from)
	}
	v := &View{Path: pointer, Type: kind(value), Bytes: len(value.Raw)}
	if from == 0 && len(value.Raw) <= max {
		return &View{Whole: true, Value: json.RawMessage(value.Raw)}, nil
	}
	switch v.Type {
	case "string":
		v.Text, v.Next = piece(value.String(), from, max)
	case "object", "array":
		v.parts(value, from, max)
	default: // a number of very many digits
		return &View{Whole: true, Value: json.RawMessage(value.Raw)}, nil
	}
	return v, nil
}

// parts shows the members or elements of a value, starting with number from.
func (v *View) parts(value gjson.Result, from, max int) {
	n, used := 0, 0
	value.ForEach(func(key, child gjson.Result) bool {
		if n < from {
			n++
			return true
		}
		if used >= max {
			v.Next = n
			return false
		}
		name := strconv.Itoa(n)
		if v.Type == "object" {
			name = key.String()
		}
		p := Part{Path: v.Path + "/" + jsonscan.EscapePointer(name), Type: kind(child), Bytes: len(child.Raw)}
		if len(child.Raw) <= max/4 && used+len(child.Raw) <= max {
			p.Value = json.RawMessage(child.Raw)
			used += len(child.Raw)
		} else if p.Type == "object" || p.Type == "array" {
			child.ForEach(func(_, _ gjson.Result) bool { p.Items++; return true })
		}
		used += len(p.Path) + 40
		v.Parts = append(v.Parts, p)
		n++
		return true
	})
}

// piece returns a piece of a text that begins at a byte, and where the next one begins; 0 at
// the end. It never cuts a character.
func piece(s string, from, max int) (string, int) {
	from = min(from, len(s))
	for from < len(s) && !utf8.RuneStart(s[from]) {
		from++
	}
	end := min(from+max, len(s))
	for end < len(s) && end > from && !utf8.RuneStart(s[end]) {
		end--
	}
	if end == len(s) {
		return s[from:], 0
	}
	return s[from:end], end
}

// at returns the value at a JSON Pointer (RFC 6901).
func at(value gjson.Result, pointer string) (gjson.Result, error) {
	if pointer == "" {
		return value, nil
	}
	if pointer[0] != '/' {
		return value, fmt.Errorf("the path %q is no JSON Pointer: it begins with /, as in /hits/0/url", pointer)
	}
	for _, step := range strings.Split(pointer[1:], "/") {
		name, found := jsonscan.UnescapePointer(step), gjson.Result{}
		index := 0
		value.ForEach(func(key, child gjson.Result) bool {
			if value.IsArray() && strconv.Itoa(index) == name || value.IsObject() && key.String() == name {
				found = child
				return false
			}
			index++
			return true
		})
		if !found.Exists() {
			return value, fmt.Errorf("there is nothing at %q: %q has no %q", pointer, kind(value), name)
		}
		value = found
	}
	return value, nil
}

func kind(v gjson.Result) string {
	switch {
	case v.IsObject():
		return "object"
	case v.IsArray():
		return "array"
	case v.Type == gjson.String:
		return "string"
	case v.Type == gjson.Number:
		return "number"
	case v.Type == gjson.Null:
		return "null"
	}
	return "boolean"
}
