package tool

import (
	"slices"
	"strings"
)

// Matches reports whether a name is one that a policy means by a pattern: the name itself, or one
// in which each * of the pattern stands for any text, also none.
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

// Names returns the names by which a policy may mean a tool: its own, the aliases of it, and those
// of what runs it (see Place.Names). Another tool may have one of these.
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
