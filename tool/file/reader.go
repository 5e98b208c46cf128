package file

import (
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/spell"
)

// value is a value of a tool file and where it is.
type value struct {
	*node
	pointer string    // JSON Pointer
	key     diag.Span // of its name; zero for elements and the root
}

func (v value) below(e entry) value {
	token := strings.NewReplacer("~", "~0", "/", "~1").Replace(e.name)
	return value{e.value, v.pointer + "/" + token, e.key}
}

// what names v in messages.
func (v value) what() string {
	if v.pointer == "" {
		return "the tool file"
	}
	return strconv.Quote(unescape(strings.ReplaceAll(v.pointer[1:], "/", ".")))
}

// unescape is a token of a JSON Pointer as a name.
func unescape(token string) string { return strings.NewReplacer("~1", "/", "~0", "~").Replace(token) }

// reader reads typed values and notes what is wrong with them. What it could
// not read is left as it was.
type reader struct {
	file     *diag.File
	findings diag.List
}

func (r *reader) loc(span diag.Span) diag.Loc { return diag.Loc{File: r.file, Span: span} }

func (r *reader) report(code diag.Code, sev diag.Severity, span diag.Span, pointer, format string, args ...any) {
	r.findings = append(r.findings, diag.Finding{
		Code: code, Severity: sev, Loc: r.loc(span), Pointer: pointer, Message: fmt.Sprintf(format, args...),
	})
}

// errorf reports a value that is not what it should be.
func (r *reader) errorf(v value, format string, args ...any) {
	r.report(diag.BadMember, diag.Error, v.span, v.pointer, format, args...)
}

// is reports whether v is of a kind, and a finding if it is not.
func (r *reader) is(v value, k kind) bool {
	if v.kind != k {
		r.errorf(v, "%s is %s, not %s", v.what(), k, v.kind)
	}
	return v.kind == k
}

// set reads one member of an object.
type set func(value)

// members reads an object with these members and no others.
func (r *reader) members(v value, known map[string]set) {
	if !r.is(v, object) {
		return
	}
	for _, e := range v.entries {
		if read, ok := known[e.name]; ok {
			read(v.below(e))
		} else {
			r.unknown(v, e, maps.Keys(known))
		}
	}
}

func (r *reader) unknown(v value, e entry, known func(func(string) bool)) {
	cure := "it has " + list(slices.Sorted(known))
	best, ok := spell.Nearest(e.name, known)
	if ok {
		cure = fmt.Sprintf("did you mean %q?", best)
	}
	r.report(diag.UnknownMember, diag.Error, e.key, v.below(e).pointer, "%s has no member %q; %s", v.what(), e.name, cure)
	if ok {
		r.replaceBy(e.key, best)
	}
}

// spelled is a name as it has to be written where another one stands.
func (r *reader) spelled(at diag.Span, name string) string {
	if c := r.file.Text[at.Start]; c == '"' || c == '\'' {
		return string(c) + name + string(c)
	}
	return name
}

// list is a list of names for people.
func list(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// each reads the members of an object whose names are the file's own.
func (r *reader) each(v value, read set) {
	if !r.is(v, object) {
		return
	}
	for _, e := range v.entries {
		read(v.below(e))
	}
}

// name is the name of a member.
func (v value) name() string {
	i := strings.LastIndexByte(v.pointer, '/')
	return unescape(v.pointer[i+1:])
}

func (r *reader) text(dst *string) set {
	return func(v value) {
		if r.is(v, text) {
			*dst = v.str
		}
	}
}

func (r *reader) oneOf(dst *string, names ...string) set {
	return func(v value) {
		if !r.is(v, text) {
			return
		}
		if !slices.Contains(names, v.str) {
			r.errorf(v, "%s is %s, not %q", v.what(), list(names), v.str)
			return
		}
		*dst = v.str
	}
}

func (r *reader) flag(dst *bool) set {
	return func(v value) {
		if v.kind == text && (v.str == "yes" || v.str == "no" || v.str == "on" || v.str == "off") {
			r.errorf(v, "%s is true or false; %s is text", v.what(), v.str)
		} else if r.is(v, boolean) {
			*dst = v.raw == "true"
		}
	}
}

func (r *reader) texts(dst *[]string) set {
	return func(v value) {
		if !r.is(v, array) {
			return
		}
		for _, e := range v.entries {
			var s string
			r.text(&s)(v.below(e))
			*dst = append(*dst, s)
		}
	}
}

func (r *reader) raw(dst *json.RawMessage) set {
	return func(v value) { *dst = v.json() }
}

// count reads a number of things.
func (r *reader) count(dst *int, least int) set {
	return func(v value) {
		if !r.is(v, number) {
			return
		}
		n, err := strconv.Atoi(v.raw)
		if err != nil || n < least || n > math.MaxInt32 {
			r.errorf(v, "%s is a whole number from %d, not %s", v.what(), least, v.raw)
			return
		}
		*dst = n
	}
}

// rate reads a number above 0.
func (r *reader) rate(dst *float64) set {
	return func(v value) {
		if !r.is(v, number) {
			return
		}
		f, err := strconv.ParseFloat(v.raw, 64)
		if err != nil || f <= 0 {
			r.errorf(v, "%s is a number above 0, not %s", v.what(), v.raw)
			return
		}
		*dst = f
	}
}

// maxDuration keeps sums of durations in their range.
const maxDuration = 10 * 365 * 24 * time.Hour

// duration reads a string like "1.5s" or a number of seconds.
func (r *reader) duration(dst *time.Duration, least time.Duration) set {
	return func(v value) {
		d := time.Duration(-1)
		switch v.kind {
		case text:
			if parsed, err := time.ParseDuration(v.str); err == nil {
				d = parsed
			}
		case number:
			if f, err := strconv.ParseFloat(v.raw, 64); err == nil && f >= 0 && f < maxDuration.Seconds() {
				d = time.Duration(f * float64(time.Second))
			}
		}
		if d < least || d > maxDuration {
			r.errorf(v, "%s is a duration like \"1.5s\" or a number of seconds, not %s", v.what(), shorten(v.node))
			return
		}
		*dst = d
	}
}

// shorten is a value as a message quotes it.
func shorten(n *node) string {
	if n.kind == array || n.kind == object {
		return n.kind.String()
	}
	if r := []rune(n.raw); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return n.raw
}
