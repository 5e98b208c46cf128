package file

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/spell"
	"github.com/plc-lang/plc/tool"
)

// UnmatchedPolicy warns of entries of allow and deny in these files that match nothing in a
// catalogue, which has all tools that plans may have: a slip of the pen must not look like a
// policy.
func UnmatchedPolicy(c *tool.Catalogue, files ...*File) (found diag.List) {
	known := map[string]bool{"step": true, "join": true}
	for t := range c.WithBuiltIns().Listed() {
		for _, name := range c.Names(t) {
			known[name] = true
		}
	}
	for name := range c.Activities() {
		known[name] = true
	}
	for _, f := range files {
		for _, v := range f.permits {
			if matchesAny(v.Str, known) {
				continue
			}
			cure := ""
			if best, ok := spell.Nearest(v.Str, maps.Keys(known)); ok {
				cure = fmt.Sprintf("; did you mean %q?", best)
			}
			list := strings.TrimPrefix(v.pointer[:strings.LastIndex(v.pointer, "/")], "/policy/")
			found = append(found, diag.Finding{
				Code: diag.UnknownTool, Severity: diag.Warning, Loc: diag.Loc{File: f.Source, Span: v.Span}, Pointer: v.pointer,
				Message: fmt.Sprintf("policy.%s has %q, which matches no tool and no activity%s", list, v.Str, cure),
			})
		}
	}
	return found
}

func matchesAny(pattern string, names map[string]bool) bool {
	return names[pattern] || strings.Contains(pattern, "*") &&
		slices.ContainsFunc(slices.Collect(maps.Keys(names)), func(name string) bool { return tool.Matches(pattern, name) })
}
