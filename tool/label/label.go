package label

import (
	"slices"
	"strings"
)

// A Level is a place in one of the lists of levels of a Policy.
type Level int

// A Label says how much a value may be trusted and how secret it is. It means something only with
// the Policy that it belongs to. The zero Label is the worst trust and the least secrecy.
type Label struct {
	Trust      Level    // 0 is the least trusted
	Secrecy    Level    // 0 is public
	Categories []string // sorted
}

// Join returns the label of a value that is made of two.
func (l Label) Join(m Label) Label {
	return Label{min(l.Trust, m.Trust), max(l.Secrecy, m.Secrecy), union(l.Categories, m.Categories)}
}

// Equal reports whether two labels are the same.
func (l Label) Equal(m Label) bool {
	return l.Trust == m.Trust && l.Secrecy == m.Secrecy && slices.Equal(l.Categories, m.Categories)
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
	for _, name := range a {
		if _, ok := slices.BinarySearch(b, name); !ok {
			return false
		}
	}
	return true
}

// A Bound says which values a tool may be given. The zero Bound admits all.
type Bound struct {
	HasTrust   bool
	Trust      Level // at least
	HasSecrecy bool
	Secrecy    Level    // at most
	Categories []string // the only categories; they count if HasSecrecy. Sorted.
}

// Meet returns the bound that admits what both admit.
func (b Bound) Meet(c Bound) Bound {
	if c.HasTrust && (!b.HasTrust || c.Trust > b.Trust) {
		b.HasTrust, b.Trust = true, c.Trust
	}
	switch {
	case !c.HasSecrecy:
	case !b.HasSecrecy:
		b.HasSecrecy, b.Secrecy, b.Categories = true, c.Secrecy, c.Categories
	default:
		b.Secrecy = min(b.Secrecy, c.Secrecy)
		b.Categories = slices.DeleteFunc(slices.Clone(b.Categories), func(name string) bool {
			return !slices.Contains(c.Categories, name)
		})
	}
	return b
}

// AdmitsTrust reports whether a value of this label may be trusted enough.
func (b Bound) AdmitsTrust(l Label) bool { return !b.HasTrust || l.Trust >= b.Trust }

// AdmitsSecrecy reports whether a value of this label is no more secret than the bound, and has no
// other categories.
func (b Bound) AdmitsSecrecy(l Label) bool {
	return !b.HasSecrecy || l.Secrecy <= b.Secrecy && within(l.Categories, b.Categories)
}

// Words returns a label as people read it: "untrusted, secret, health".
func (p *Policy) Words(l Label) string {
	return strings.Join(append([]string{name(p.Trust, l.Trust), name(p.Secrecy, l.Secrecy)}, l.Categories...), ", ")
}

// BoundWords returns what a bound asks for as people read it: "at least user, at most internal".
func (p *Policy) BoundWords(b Bound) string {
	var parts []string
	if b.HasTrust {
		parts = append(parts, "at least "+name(p.Trust, b.Trust))
	}
	if b.HasSecrecy {
		most := "at most " + name(p.Secrecy, b.Secrecy)
		if len(b.Categories) > 0 {
			most += " with " + strings.Join(b.Categories, " and ")
		}
		parts = append(parts, most)
	}
	if len(parts) == 0 {
		return "anything"
	}
	return strings.Join(parts, ", ")
}

func name(levels []string, l Level) string {
	if int(l) >= len(levels) {
		return "?"
	}
	return levels[l]
}
