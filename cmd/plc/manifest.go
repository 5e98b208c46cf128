package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/plc-lang/plc/compile/report"
	"github.com/plc-lang/plc/internal/display"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/tool"
)

// shownManifest renders the manifest of an approval, with one fact per line. It leaves out the
// tools of the language, and shows only the names of tools and activities that no call uses. whole
// is false if a long value was cut.
func shownManifest(plan string, m report.Manifest) (text display.Text, whole bool) {
	var all struct {
		Order []string                   `json:"order"`
		Calls map[string]json.RawMessage `json:"calls"`
	}
	members := map[string]json.RawMessage{}
	shown := m.Shown()
	if json.Unmarshal(shown, &all) != nil || json.Unmarshal(shown, &members) != nil {
		return display.Lit("what is to be approved can't be read\n"), true
	}
	b := &manifestWriter{whole: true}
	b.Line("%s: %s may run; SHA-256 %s", display.Name(plan), count(len(all.Order), "call"), m.Digest())
	b.Line("")
	for i, id := range all.Order {
		b.Line("%3d  %s", i+1, display.Name(id))
		b.object(7, all.Calls[id])
		delete(all.Calls, id)
	}
	for _, id := range slices.Sorted(maps.Keys(all.Calls)) {
		b.Line("     %s", display.Name(id))
		b.object(7, all.Calls[id])
	}
	delete(members, "calls")
	delete(members, "order")
	tools, activities := called(members["targets"])
	for _, name := range slices.Sorted(maps.Keys(members)) {
		value := members[name]
		var others []string
		switch name {
		case "tools":
			value, others = onlyCalled(withoutLanguage(value), tools)
		case "activities":
			value, others = onlyCalled(value, activities)
		}
		if others != nil {
			b.Line("%s that no call leads to: %s", display.Name(name), display.Line(strings.Join(others, ", ")))
		}
		if string(value) != "{}" {
			if !hasMembers(value) {
				b.Line("%s  %s", display.Name(name), b.value(value))
				continue
			}
			b.Line("%s", display.Name(name))
			b.object(2, value)
		}
	}
	if !b.whole {
		b.Line("values are cut: + shows them as a whole, a page at a time")
	}
	return b.Text(), b.whole
}

// manifestWriter writes the contents of a manifest.
type manifestWriter struct {
	display.Builder
	whole bool
	uncut bool // show long values as a whole
}

// object writes the members of an object, one per line, with their values in a column. Objects in
// it are written in the same way, indented.
func (b *manifestWriter) object(indent int, value json.RawMessage) {
	in := display.Text{}.Pad(indent)
	members := map[string]json.RawMessage{}
	if json.Unmarshal(value, &members) != nil {
		b.Line("%s%s", in, b.value(value))
		return
	}
	width := 0
	for name := range members {
		width = max(width, min(display.Name(name).Columns(), maxNameColumn))
	}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		v := members[name]
		if indent < maxIndent && hasMembers(v) {
			b.Line("%s%s", in, display.Name(name))
			b.object(indent+2, v)
			continue
		}
		b.Line("%s%s  %s", in, display.Name(name).Pad(width), b.value(v))
	}
}

const (
	// maxIndent is the deepest indentation at which the members of an object are written one per
	// line.
	maxIndent = 16

	// maxNameColumn is the maximum width of the names of members if their values are aligned in a
	// column.
	maxNameColumn = 24
)

// hasMembers reports whether a value is an object with members.
func hasMembers(v json.RawMessage) bool {
	v = jsonscan.Compact(nil, v)
	return len(v) > 2 && v[0] == '{'
}

// value returns a value on one line. Unless uncut is set, it cuts a long value, and adds its length
// and digest.
func (b *manifestWriter) value(v json.RawMessage) display.Text {
	v = jsonscan.Compact(nil, v)
	text := display.JSON(v)
	if b.uncut || text.Columns() <= maxValue {
		return text
	}
	b.whole = false
	return display.Sprintf("%s (%d bytes, SHA-256 %x)", text.Cut(maxValue), len(v), sha256.Sum256(v))
}

// called returns the names of the tools and activities in the targets of a manifest.
func called(targets json.RawMessage) (tools, activities map[string]bool) {
	var all map[string]struct {
		Activity string
		Tool     struct{ Name string }
	}
	tools, activities = map[string]bool{}, map[string]bool{}
	if json.Unmarshal(targets, &all) != nil {
		return nil, nil
	}
	for _, t := range all {
		tools[t.Tool.Name], activities[t.Activity] = true, true
	}
	return tools, activities
}

// onlyCalled returns the members of an object with these names, and the sorted names of the others.
// If names is nil, because it could not be read, it returns the whole object.
func onlyCalled(value json.RawMessage, names map[string]bool) (json.RawMessage, []string) {
	members := map[string]json.RawMessage{}
	if names == nil || json.Unmarshal(value, &members) != nil {
		return value, nil
	}
	var others []string
	for _, name := range slices.Sorted(maps.Keys(members)) {
		_, tool, inDocument := strings.Cut(name, ": ") // a tool of a delegate's document
		if !names[name] && !(inDocument && names[tool]) {
			delete(members, name)
			others = append(others, name)
		}
	}
	return jsonscan.Encode(members), others
}

// withoutLanguage returns an object of tools without the tools of the language, if they have the
// same definitions as in this plc.
func withoutLanguage(value json.RawMessage) json.RawMessage {
	members := map[string]json.RawMessage{}
	if json.Unmarshal(value, &members) != nil {
		return value
	}
	for _, t := range tool.BuiltIns() {
		var has struct{ Definition json.RawMessage }
		name := t.Definition.Name
		if json.Unmarshal(members[name], &has) == nil && has.Definition != nil &&
			bytes.Equal(jsonscan.Canonical(nil, has.Definition), jsonscan.Canonical(nil, t.Definition.Raw)) {
			delete(members, name)
		}
	}
	return jsonscan.Encode(members)
}
