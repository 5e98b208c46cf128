package file

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/tool"
)

// misplaced are members that people write in a definition by mistake to say what runs the tool.
var misplaced = []string{"activity", "process", "http", "openapi", "mcp", "latent", "return", "echo", "exec", "command", "run", "shell"}

// definitionWords reports unknown keywords in a definition: with a warning if one is nearly a known
// keyword, else with an info.
func (r *reader) definitionWords(v value) {
	for _, k := range tool.UnknownKeywords(v.JSON(), true) {
		in := v.find(k.Parent)
		e, ok := in.Get(k.Name)
		switch {
		case !ok:
		case k.Parent == "" && slices.Contains(misplaced, k.Name):
			r.report(diag.BadSchema, diag.Warning, e.Key, in.below(e).pointer,
				"%s has a keyword %q, which means nothing here: what runs a tool stands under \"activities\", as in activities: {NAME: {process: {command: [date]}}}", in.what(), k.Name)
		case k.Near != "":
			r.report(diag.BadSchema, diag.Warning, e.Key, in.below(e).pointer, "%s has a keyword %q, which means nothing; did you mean %q?", in.what(), k.Name, k.Near)
			r.replaceBy(e.Key, k.Near)
		default:
			r.report(diag.BadSchema, diag.Info, e.Key, in.below(e).pointer,
				"%s has a keyword %q, which means nothing to plc; one that is for others begins with x-", in.what(), k.Name)
		}
	}
}

// find returns the value at a JSON Pointer below v, or the last value on the way that exists.
func (v value) find(pointer string) value {
	if pointer == "" {
		return v
	}
	for token := range strings.SplitSeq(pointer[1:], "/") {
		e, ok := v.Get(jsonscan.UnescapePointer(token))
		if !ok {
			break
		}
		v = v.below(e)
	}
	return v
}

// replaceBy adds a fix to the last finding that replaces a name by another.
func (r *reader) replaceBy(at diag.Span, name string) {
	r.findings[len(r.findings)-1].Fix = &diag.Fix{
		Message: fmt.Sprintf("replace it by %q", name),
		Edits:   []diag.Edit{{Span: at, Text: r.spelled(at, name)}},
	}
}
