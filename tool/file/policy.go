package file

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/tool"
)

// UnmatchedPolicy reports names in policy and flow of these files that match nothing in a
// catalogue, which must have all tools that plans may use. A misspelt name would have no effect. A
// tool that flow names without a * has to exist.
func UnmatchedPolicy(c *tool.Catalogue, files ...*File) (found diag.List) {
	known := namesIn(c)
	for _, f := range files {
		for _, v := range f.permits {
			list, severity, name := strings.ReplaceAll(v.pointer[1:strings.LastIndex(v.pointer, "/")], "/", "."), diag.Warning, v.Str
			if list == "flow.tools" {
				name = v.name()
				if !strings.Contains(name, "*") {
					severity = diag.Error
				}
			}
			if matchesAny(name, known) {
				continue
			}
			span := v.Span
			if list == "flow.tools" {
				span = v.key
			}
			found = append(found, diag.Finding{
				Code: diag.UnknownTool, Severity: severity, Loc: diag.Loc{File: f.Source, Span: span}, Pointer: v.pointer,
				Message: fmt.Sprintf("%s has %q, which matches no tool and no activity%s", list, name, meant(name, slices.Collect(maps.Keys(known)))),
			})
		}
	}
	return found
}

// UnmatchedDeny reports names of tools to deny that match nothing in a catalogue, as
// UnmatchedPolicy does for those in tool files.
func UnmatchedDeny(c *tool.Catalogue, deny []string) (found diag.List) {
	known := namesIn(c)
	for _, name := range deny {
		if !matchesAny(name, known) {
			found = append(found, diag.Finding{
				Code: diag.UnknownTool, Severity: diag.Warning,
				Message: fmt.Sprintf("%q is denied, and matches no tool and no activity of the tool files%s", name, meant(name, slices.Collect(maps.Keys(known)))),
			})
		}
	}
	return found
}

// namesIn returns all names of tools and activities in a catalogue.
func namesIn(c *tool.Catalogue) map[string]bool {
	known := map[string]bool{"step": true, "join": true}
	for t := range c.WithBuiltIns().Listed() {
		for _, name := range c.Names(t) {
			known[name] = true
		}
	}
	for name := range c.Activities() {
		known[name] = true
	}
	return known
}

func matchesAny(pattern string, names map[string]bool) bool {
	return names[pattern] || strings.Contains(pattern, "*") &&
		slices.ContainsFunc(slices.Collect(maps.Keys(names)), func(name string) bool { return tool.Matches(pattern, name) })
}
