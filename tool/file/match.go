package file

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/spell"
	"github.com/plc-lang/plc/internal/texttree"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/internal/driver"
)

// activityOf returns the name of the activity that runs a tool; "" if there is none.
func activityOf(d *tool.Definition) string {
	if d.HasActivity {
		return d.Activity
	}
	return d.Name
}

// checkPlaceholders reports placeholders for which the tool has no param: they would never be
// filled, and the part of the activity around them would always be left out.
func (b *builder) checkPlaceholders(c *tool.Catalogue) {
	for t := range c.Listed() {
		a, ok := b.last[activityOf(t.Definition)]
		if !ok || len(b.params[a.Name]) == 0 {
			continue
		}
		t, _ = c.Lookup(t.Definition.Name)
		declared, all := declaredParams(t.Definition)
		if !all {
			continue
		}
		for _, name := range b.params[a.Name] {
			if !slices.Contains(declared, name) {
				b.unknownParam(a, t.Definition.Name, name, declared)
			}
		}
	}
}

// declaredParams returns the names of a definition's params. all is false if it allows others, or
// declares no params at all.
func declaredParams(d *tool.Definition) (names []string, all bool) {
	for name := range d.Params.Names() {
		if !strings.HasPrefix(name, "_") {
			names = append(names, name)
		}
	}
	if d.Closed {
		return names, true
	}
	doc, _ := d.Params.JSON()
	var schema map[string]json.RawMessage
	if json.Unmarshal(doc, &schema) != nil { // for example the schema true
		return nil, false
	}
	for _, word := range []string{"additionalProperties", "unevaluatedProperties", "patternProperties", "then", "else",
		"dependentSchemas", "dependencies", "$dynamicRef", "$recursiveRef"} {
		if schema[word] != nil {
			return nil, false
		}
	}
	return names, len(names) > 0
}

func (b *builder) unknownParam(a Activity, of, name string, declared []string) {
	cure := "it has none"
	best, near := spell.Nearest(name, slices.Values(declared))
	switch {
	case near:
		cure = fmt.Sprintf("did you mean %q?", best)
	case len(declared) == 1:
		cure = fmt.Sprintf("did you mean %q?", declared[0])
	case len(declared) > 0:
		cure = "it has " + list(slices.Sorted(slices.Values(declared)))
	}
	v := placeOf(a.driver, name)
	f := diag.Finding{
		Code: diag.UnknownParam, Loc: diag.Loc{File: a.Loc.File, Span: v.Span}, Pointer: v.pointer,
		Message: fmt.Sprintf("the tool %q has no param %q; %s", of, name, cure),
	}
	written := string(a.Loc.File.Text[v.Span.Start:v.Span.End])
	if i := indexPlaceholder(written, name); i >= 0 {
		f.Loc.Span.Start += int32(i)
		f.Loc.Span.End = f.Loc.Span.Start + int32(len(name)+len("{}"))
		if near {
			f.Fix = &diag.Fix{
				Message: fmt.Sprintf("replace it by {%s}", best),
				Edits:   []diag.Edit{{Span: f.Loc.Span, Text: "{" + best + "}"}},
			}
		}
	}
	b.findings = append(b.findings, f)
}

// placeOf returns the first string below v that has a placeholder of this name, else v.
func placeOf(v value, name string) value {
	if v.Kind == texttree.String {
		return v
	}
	for _, e := range v.Entries {
		if e.Name == "env" { // the variables of a process have no placeholders
			continue
		}
		inner := placeOf(v.below(e), name)
		if inner.Kind != texttree.String {
			continue
		}
		if t, err := driver.ParseTemplate(inner.Str); err == nil && slices.Contains(t.Names(), name) {
			return inner
		}
	}
	return v
}

// indexPlaceholder returns where {name} is in a text in which {{ is a brace, -1 if nowhere.
func indexPlaceholder(text, name string) int {
	for i := 0; i < len(text); i++ {
		switch {
		case strings.HasPrefix(text[i:], "{{"):
			i++
		case strings.HasPrefix(text[i:], "{"+name+"}"):
			return i
		}
	}
	return -1
}

// checkNames reports an activity that belongs to no tool if its name is nearly that of a tool
// without an activity. Other activities without a tool are not reported: calls may use them with
// _activity.
func (b *builder) checkNames(c *tool.Catalogue) {
	used, free := map[string]bool{}, map[string]bool{}
	for t := range c.Listed() {
		name := activityOf(t.Definition)
		used[name] = true
		if _, ok := b.last[name]; !ok && name != "" {
			free[name] = true
		}
	}
	for name, a := range b.last {
		best, near := spell.Nearest(name, maps.Keys(free))
		if used[name] || !near {
			continue
		}
		b.findings = append(b.findings, diag.Finding{
			Code: diag.UnknownActivity, Severity: diag.Info, Loc: a.Loc, Pointer: a.pointer,
			Message: fmt.Sprintf("no tool has the activity %q, and %q has none; is that the one?", name, best),
		})
	}
}
