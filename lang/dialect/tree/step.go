package tree

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect"
)

// DependsOn writes the steps that a step waits for, if there are any.
func DependsOn(b *dialect.Builder, m Member) {
	if m.Value.Len() == 0 {
		return
	}
	b.Member("_dependsOn", m.Key)
	b.List(m.Value.At())
	for _, d := range m.Value.Elements() {
		b.String(d.Word(), d.All())
	}
	b.Close()
}

// IsNames reports whether a value is missing or a list of names. It reports any other value.
func IsNames(b *dialect.Builder, m Member) bool {
	if m.Value.IsZero() || m.Value.Kind() == lang.Null {
		return true
	}
	ok := m.Value.Is(lang.Array)
	for _, e := range m.Value.Elements() {
		ok = ok && e.Word() != ""
	}
	if !ok {
		b.Errorf(m.Value.At(), diag.BadNotation, "%q is a list of steps, not %s", m.Name, m.Value.Describe())
	}
	return ok
}

// Output writes the result that a step already has; it writes null as "", so that the step counts
// as done.
func Output(b *dialect.Builder, status, result Value) {
	b.Member("_output", status.At())
	if result.IsZero() || result.Kind() == lang.Null {
		b.String("", status.At())
		return
	}
	Words(b, result)
}

// Status checks the status of a step, which is one of these; "" is the first.
func Status(b *dialect.Builder, v Value, statuses ...string) string {
	if v.IsZero() || v.Kind() == lang.Null {
		return statuses[0]
	}
	if !slices.Contains(statuses, v.Str()) {
		b.Errorf(v.At(), diag.BadNotation, "%s is no status; it is one of %s", v.AppendJSON(nil), strings.Join(statuses, ", "))
	}
	return v.Str()
}

// Prose writes a text for people as a member, if there is one.
func Prose(b *dialect.Builder, name string, m Member) {
	if m.Value.Is(lang.String) && m.Value.Str() != "" {
		b.Member(name, m.Key)
		b.String(m.Value.Str(), m.Value.All())
	}
}

// Description writes the description of a step in words, which is the param of the tool step.
func Description(b *dialect.Builder, v Value, at diag.Span) {
	b.Member("description", at)
	if v.Is(lang.String) {
		b.Parts(v.At(), Parts(v, nil)...)
	} else {
		b.String("", at)
	}
}

// Steps returns the list of a plan's steps: the value itself, or the value of the first of these
// members that exists, at any depth. It may be JSON in a string.
func Steps(b *dialect.Builder, v Value, what string, members ...string) (list, owner Value, ok bool) {
	if v, ok = v.Inner(b); !ok {
		return v, owner, false
	}
	for v.Is(lang.Object) {
		m := v.First(members...)
		if m.Value.IsZero() {
			break
		}
		owner = v
		if v, ok = m.Value.Inner(b); !ok {
			return v, owner, false
		}
	}
	if !v.Is(lang.Array) {
		b.Errorf(v.At(), diag.BadNotation, "%s is %s, and not %s", what, wanted(members), v.Describe())
		return v, owner, false
	}
	return v, owner, true
}

func wanted(members []string) string {
	return fmt.Sprintf("a list of steps, or an object with one as %s", strings.Join(members, " or "))
}
