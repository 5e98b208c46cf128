package tool

import (
	"slices"
	"strings"
)

// Matches reports whether a name matches a pattern of a policy, in which each * stands for any
// text, including none.
func Matches(pattern, name string) bool {
	head, rest, star := strings.Cut(pattern, "*")
	if !star {
		return pattern == name
	}
	name, ok := strings.CutPrefix(name, head)
	if !ok {
		return false
	}
	for {
		head, more, star := strings.Cut(rest, "*")
		if !star {
			return strings.HasSuffix(name, rest)
		}
		_, after, found := strings.Cut(name, head)
		if !found {
			return false
		}
		name, rest = after, more
	}
}

// Names returns the names that a policy may use for a tool: its own, its aliases, and those of its
// activity (see Place.Names). Another tool may have one of these names, too.
func (c *Catalogue) Names(t *Tool) []string {
	names := []string{t.Definition.Name}
	add := func(name string) {
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if c != nil {
		for _, alias := range c.aliasesOf[t.Definition.Name] {
			add(alias)
		}
	}
	for _, name := range t.Place.Names() {
		add(name)
	}
	return names
}
