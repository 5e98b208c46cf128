package lang

import (
	"fmt"
	"iter"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/lazyregexp"
)

// dollar matches a reference with a $, which people write who have no † on their keyboard:
// $state.user or ${state.user}.
var dollar = lazyregexp.New(`(^|[^$\\\pL\pN_])\$(\{\s*)?(\pL[\pL\pN_-]*)((?:\.[\pL\pN_-]+|\[[^\[\]\n]*\])*)(\s*\})?`)

// notRead are the members of calls in which no references are read.
var notRead = []string{"_tool", "_id", "_delegate", "_activity", "_dependsOn", "_description", "_reasoningForCall"}

// Daggers returns a finding for each string with dollar signs instead of the daggers of references
// to the input, the state or the data of a document. Its fix changes "$state.user" to "†state.user"
// and "for $state.user" to "for †{state.user}". There is no fix for a string whose parts have no
// places of their own in the text. Daggers does not check whether the references lead anywhere.
func Daggers(doc *Document) (found diag.List) {
	d := daggers{kinds: []string{"input", "state"}}
	undo := daggers{kinds: []string{"params", "result", "key", "failure"}}
	for i := range doc.Messages {
		d.kinds = append(d.kinds, doc.Messages[i].Kind)
	}
	for i := range doc.Calls {
		for m := range doc.Calls[i].Node.Members() {
			switch {
			case m.Name == "_undo":
				undo.in(m.Value)
			case !slices.Contains(notRead, m.Name):
				d.expression = strings.HasPrefix(m.Name, "_") && m.Name != "_fallback"
				d.in(m.Value)
			}
		}
	}
	d.expression = false
	d.in(doc.Output)
	for _, f := range slices.Concat(d.found, undo.found) {
		found = append(found, f.Origin())
	}
	return found
}

type daggers struct {
	kinds      []string
	expression bool // the current string is never text
	found      diag.List
}

// in processes the strings at or below a value.
func (d *daggers) in(n Node) {
	switch n.Kind() {
	case Object:
		for m := range n.Members() {
			d.in(m.Value)
		}
	case Array:
		for _, e := range n.Elements() {
			d.in(e)
		}
	case String:
		if strings.Contains(n.Str(), "$") {
			d.text(n, n.Str())
		}
	}
}

// dollars returns the indexes of the matches of dollar in a text. A match may begin with the last
// character of the one before it: ${state.a}${state.b}.
func dollars(s string) iter.Seq[[]int] {
	return func(yield func([]int) bool) {
		at := 0
		for {
			m := dollar.FindStringSubmatchIndex(s[at:])
			if m == nil {
				return
			}
			for i := range m {
				if m[i] >= 0 {
					m[i] += at
				}
			}
			if !yield(m) {
				return
			}
			_, last := utf8.DecodeLastRuneInString(s[:m[1]])
			at = m[1] - last
		}
	}
}

// text adds the fix of a string: with † for each dollar sign if that is an expression, else with
// †{…} for those with a path.
func (d *daggers) text(n Node, s string) {
	inside := n.Insides()
	whole, parts := &diag.Fix{}, &diag.Fix{}
	edit := func(f *diag.Fix, from, to int, text string) {
		f.Edits = append(f.Edits, diag.Edit{Span: inside(from, to), Text: text})
	}
	var as strings.Builder // s with †
	done := 0
	for m := range dollars(s) {
		sign, kind, path := m[3], s[m[6]:m[7]], s[m[8]:m[9]]
		open, closed := m[4] >= 0, m[10] >= 0
		if !slices.Contains(d.kinds, kind) {
			continue
		}
		if open && !closed { // ${state.a || 'x'}, or not a reference
			behind := s[m[3]+len("${"):]
			n := strings.IndexByte(behind, '}')
			if n < 0 {
				continue
			}
			if e, err := ParseBare(behind[:n]); err != nil || !e.refers() {
				continue
			}
			edit(whole, sign, sign+1, dagger)
			edit(parts, sign, sign+1, dagger)
			as.WriteString(s[done:sign] + dagger)
			done = sign + 1
			continue
		}
		end := m[9]
		if open {
			end = m[1]
		}
		edit(whole, sign, end, dagger+kind+path)
		as.WriteString(s[done:sign] + dagger + kind + path)
		if done = end; path != "" {
			edit(parts, sign, end, dagger+"{"+kind+path+"}")
		}
	}
	as.WriteString(s[done:])
	use := parts
	if _, err := ParseRead(as.String()); err == nil || d.expression {
		use = whole
	}
	if len(use.Edits) == 0 {
		return
	}
	use.Message = fmt.Sprintf("write † for $ in %q", clip(s))
	d.found = append(d.found, diag.Finding{
		Code: diag.NearReference, Severity: diag.Warning, Loc: n.Loc(), Fix: use, Message: fmt.Sprintf("%q has $ where a reference has †", clip(s)),
	})
}
