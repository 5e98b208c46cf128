package file

import (
	"crypto/ed25519"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/internal/spell"
	"github.com/plc-lang/plc/internal/texttree"
)

// value is a value of a tool file and its place.
type value struct {
	*texttree.Node
	pointer string    // JSON Pointer
	key     diag.Span // of its name; zero for elements and the root
	shape   *shape    // if not nil, readers describe here what they accept, and read nothing
}

func (v value) below(e texttree.Entry) value {
	token := jsonscan.EscapePointer(e.Name)
	return value{Node: e.Value, pointer: v.pointer + "/" + token, key: e.Key}
}

// what returns the name of v for messages.
func (v value) what() string {
	if v.pointer == "" {
		return "the tool file"
	}
	return strconv.Quote(jsonscan.UnescapePointer(strings.ReplaceAll(v.pointer[1:], "/", ".")))
}

// reader reads typed values and notes what is wrong with them. It does not change the destination
// of a value that it could not read.
type reader struct {
	file     *diag.File
	shared   *shared // the schemas that all definitions may refer to; nil for none
	findings diag.List
	literals map[diag.Span]literal // secrets that are written out
}

func (r *reader) loc(span diag.Span) diag.Loc { return diag.Loc{File: r.file, Span: span} }

func (r *reader) report(code diag.Code, sev diag.Severity, span diag.Span, pointer, format string, args ...any) {
	r.findings = append(r.findings, diag.Finding{
		Code: code, Severity: sev, Loc: r.loc(span), Pointer: pointer, Message: fmt.Sprintf(format, args...),
	})
}

// errorf reports an invalid value.
func (r *reader) errorf(v value, format string, args ...any) {
	r.report(diag.BadMember, diag.Error, v.Span, v.pointer, format, args...)
}

// is reports whether v is of a kind. If not, it adds a finding.
func (r *reader) is(v value, k texttree.Kind) bool {
	if v.Kind != k {
		v.refuse()
		r.errorf(v, "%s has to be %s, not %s", v.what(), k, v.Kind)
	}
	return v.Kind == k
}

// set reads one member of an object.
type set func(value)

// members reads an object with these members and no others.
func (r *reader) members(v value, known map[string]set) {
	if !r.is(v, texttree.Object) || v.hasMembers(known) {
		return
	}
	for _, e := range v.Entries {
		if read, ok := known[e.Name]; ok {
			read(v.below(e))
		} else {
			r.unknown(v, e, maps.Keys(known))
		}
	}
}

func (r *reader) unknown(v value, e texttree.Entry, known func(func(string) bool)) {
	cure := "it has " + list(slices.Sorted(known))
	best, ok := spell.Nearest(e.Name, known)
	if ok {
		cure = fmt.Sprintf("did you mean %q?", best)
	}
	r.report(diag.UnknownMember, diag.Error, e.Key, v.below(e).pointer, "%s has no member %q; %s", v.what(), e.Name, cure)
	if ok {
		r.replaceBy(e.Key, best)
	}
}

// spelled returns a name in the form, quoted or not, of the name that it replaces.
func (r *reader) spelled(at diag.Span, name string) string {
	if c := r.file.Text[at.Start]; c == '"' || c == '\'' {
		return string(c) + name + string(c)
	}
	return name
}

// list returns a list of names for people.
func list(names []string) string {
	if len(names) < 2 {
		return strings.Join(names, "")
	}
	return strings.Join(names[:len(names)-1], ", ") + " and " + names[len(names)-1]
}

// each reads the members of an object whose names are the file's own.
func (r *reader) each(v value, read set) {
	if !r.is(v, texttree.Object) || v.hasEach(read) {
		return
	}
	for _, e := range v.Entries {
		read(v.below(e))
	}
}

// elements reads the elements of an array.
func (r *reader) elements(v value, read set) {
	if !r.is(v, texttree.Array) || v.hasEach(read) {
		return
	}
	for _, e := range v.Entries {
		read(v.below(e))
	}
}

// name returns the name of a member.
func (v value) name() string {
	i := strings.LastIndexByte(v.pointer, '/')
	return jsonscan.UnescapePointer(v.pointer[i+1:])
}

func (r *reader) text(dst *string) set {
	return func(v value) {
		if r.is(v, texttree.String) {
			*dst = v.Str
		}
	}
}

func (r *reader) oneOf(dst *string, names ...string) set {
	return func(v value) {
		if !r.is(v, texttree.String) || v.isOneOf(names...) {
			return
		}
		if !slices.Contains(names, v.Str) {
			r.errorf(v, "%s is %s, not %q", v.what(), list(names), v.Str)
			return
		}
		*dst = v.Str
	}
}

func (r *reader) flag(dst *bool) set {
	return func(v value) {
		if v.Kind == texttree.String && (v.Str == "yes" || v.Str == "no" || v.Str == "on" || v.Str == "off") {
			r.errorf(v, "%s is true or false; %s is text", v.what(), v.Str)
		} else if r.is(v, texttree.Boolean) {
			*dst = v.Raw == "true"
		}
	}
}

// texts reads a list of strings. For an empty list it sets a slice that is empty but not nil, since
// an empty list of hosts is not the same as no list.
func (r *reader) texts(dst *[]string) set {
	return func(v value) {
		if v.Kind == texttree.Array && *dst == nil {
			*dst = []string{}
		}
		r.elements(v, func(v value) {
			var s string
			r.text(&s)(v)
			*dst = append(*dst, s)
		})
	}
}

// keys reads public keys. An invalid key is an error, since it would refuse every approval without
// saying why.
func (r *reader) keys(dst *[]string) set {
	return func(v value) {
		r.texts(dst)(v)
		for i := range v.Entries {
			e := v.below(v.Entries[i])
			if e.Kind != texttree.String {
				continue // reported by texts
			}
			if key, err := base64.StdEncoding.DecodeString(e.Str); err != nil || len(key) != ed25519.PublicKeySize {
				r.errorf(e, "%q is no public key: an ed25519 key is wanted, its %d bytes in base64; \"plc approve --key\" writes that of its signer into the approval", e.Str, ed25519.PublicKeySize)
			}
		}
	}
}

func (r *reader) raw(dst *json.RawMessage) set {
	return func(v value) { *dst = v.JSON() }
}

// count reads a number of things.
func (r *reader) count(dst *int, least int) set {
	return func(v value) {
		if !r.is(v, texttree.Number) || v.describe("type", "integer", "minimum", least) {
			return
		}
		n, err := strconv.Atoi(v.Raw)
		if err != nil || n < least || n > math.MaxInt32 {
			r.errorf(v, "%s is a whole number from %d, not %s", v.what(), least, v.Raw)
			return
		}
		*dst = n
	}
}

// rate reads a number above 0.
func (r *reader) rate(dst *float64) set {
	return func(v value) {
		if !r.is(v, texttree.Number) || v.describe("exclusiveMinimum", 0) {
			return
		}
		f, err := strconv.ParseFloat(v.Raw, 64)
		if err != nil || f <= 0 {
			r.errorf(v, "%s is a number above 0, not %s", v.what(), v.Raw)
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
		if v.isDuration(least) {
			return
		}
		d := time.Duration(-1)
		switch v.Kind {
		case texttree.String:
			if parsed, err := time.ParseDuration(v.Str); err == nil {
				d = parsed
			}
		case texttree.Number:
			if f, err := strconv.ParseFloat(v.Raw, 64); err == nil && f >= 0 && f < maxDuration.Seconds() {
				d = time.Duration(f * float64(time.Second))
			}
		}
		if d < least || d > maxDuration {
			r.errorf(v, "%s is a duration like \"1.5s\" or a number of seconds, not %s", v.what(), shorten(v.Node))
			return
		}
		*dst = d
	}
}

// shorten returns a value in a form that is short enough for a message.
func shorten(n *texttree.Node) string {
	if n.Kind == texttree.Array || n.Kind == texttree.Object {
		return n.Kind.String()
	}
	if r := []rune(n.Raw); len(r) > 40 {
		return string(r[:40]) + "…"
	}
	return n.Raw
}
