package label

import (
	"slices"
	"strings"
)

// A Label says how much a value may be trusted and how secret it is. Its levels are those of one
// Policy.
type Label struct {
	Trust      Level
	Secrecy    Level
	Categories []string // sorted
}

// Join returns the label of a value that is made from two values with these labels.
func (p *Policy) Join(l, m Label) Label {
	return Label{p.Trust.Meet(l.Trust, m.Trust), p.Secrecy.Join(l.Secrecy, m.Secrecy), union(l.Categories, m.Categories)}
}

// AtWorst reports whether a label is no worse than another one in any respect.
func (p *Policy) AtWorst(l, m Label) bool {
	return p.Trust.AtMost(m.Trust, l.Trust) && p.Secrecy.AtMost(l.Secrecy, m.Secrecy) && within(l.Categories, m.Categories)
}

// union returns the elements of two sorted lists, sorted. It shares the memory of a list that has
// all elements of the other.
func union(a, b []string) []string {
	switch {
	case within(b, a):
		return a
	case within(a, b):
		return b
	}
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// within reports whether all elements of a are in b. Both are sorted.
func within(a, b []string) bool {
	for len(a) > 0 && len(b) > 0 {
		switch c := strings.Compare(a[0], b[0]); {
		case c < 0:
			return false
		case c == 0:
			a = a[1:]
		}
		b = b[1:]
	}
	return len(a) == 0
}

// Words returns a label in words: "untrusted, secret, health".
func (p *Policy) Words(l Label) string {
	return strings.Join(append([]string{p.Trust.Name(l.Trust), p.Secrecy.Name(l.Secrecy)}, some(l.Categories)...), ", ")
}

// some returns the first few names of a list, and … if there are more.
func some(names []string) []string {
	const few = 8
	if len(names) <= few {
		return names
	}
	return append(slices.Clone(names[:few]), "…")
}

// A Bound says which values a param may be given. The zero Bound admits all.
type Bound struct {
	HasTrust   bool
	Trust      Level // at least
	HasSecrecy bool
	Secrecy    Level    // at most
	Categories []string // the only categories, in which * stands for any text; used only if HasSecrecy
}

// IsZero reports whether the bound admits everything.
func (b Bound) IsZero() bool { return !b.HasTrust && !b.HasSecrecy }

// AdmitsTrust reports whether a value with this label is trusted enough for the bound.
func (p *Policy) AdmitsTrust(b Bound, l Label) bool {
	return !b.HasTrust || p.Trust.AtMost(b.Trust, l.Trust)
}

// AdmitsSecrecy reports whether a value of this label is no more secret than the bound, and has no
// other categories.
func (p *Policy) AdmitsSecrecy(b Bound, l Label) bool {
	return !b.HasSecrecy || p.Secrecy.AtMost(l.Secrecy, b.Secrecy) &&
		!slices.ContainsFunc(l.Categories, func(name string) bool { return !b.AdmitsCategory(name) })
}

// AdmitsCategory reports whether a value may be of a category, if secrecy is bounded.
func (b Bound) AdmitsCategory(name string) bool {
	return slices.ContainsFunc(b.Categories, func(pattern string) bool { return MatchesCategory(pattern, name) })
}

// MatchesCategory reports whether a category matches a pattern: a name, or the beginning of names
// with a * at its end.
func MatchesCategory(pattern, name string) bool {
	head, open := strings.CutSuffix(pattern, "*")
	return pattern == name || open && strings.HasPrefix(name, head)
}

// BoundWords returns a bound in words: "at least user, at most internal".
func (p *Policy) BoundWords(b Bound) string {
	var parts []string
	if b.HasTrust {
		parts = append(parts, "at least "+p.Trust.Name(b.Trust))
	}
	if b.HasSecrecy {
		most := "at most " + p.Secrecy.Name(b.Secrecy)
		if len(b.Categories) > 0 {
			most += " with " + strings.Join(some(b.Categories), " and ")
		}
		parts = append(parts, most)
	}
	if len(parts) == 0 {
		return "anything"
	}
	return strings.Join(parts, ", ")
}
