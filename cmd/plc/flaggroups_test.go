package main

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/spf13/cobra"
)

// Every flag of a group is one of some command, and is in no other group.
func TestFlagGroups(t *testing.T) {
	there := map[string]bool{}
	var visit func(*cobra.Command)
	visit = func(c *cobra.Command) {
		for _, g := range flagGroups() {
			for _, name := range g.flags {
				if c.Flags().Lookup(name) != nil {
					there[name] = true
				}
			}
		}
		for _, sub := range c.Commands() {
			visit(sub)
		}
	}
	visit(rootCommand(&environment{}))
	groups := map[string]string{}
	for _, g := range flagGroups() {
		for _, name := range g.flags {
			if !there[name] {
				t.Errorf("no command has the flag --%s of the group %s", name, g.name)
			}
			if other, ok := groups[name]; ok {
				t.Errorf("--%s is in the groups %s and %s", name, other, g.name)
			}
			groups[name] = g.name
		}
	}
}

// Help texts fit in 100 columns, but for lines of examples.
func TestHelpIsNarrow(t *testing.T) {
	var walk func(c *cobra.Command)
	walk = func(c *cobra.Command) {
		for line := range strings.Lines(c.Short + "\n" + c.Long) {
			if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > 100 {
				t.Errorf("%s: %d columns: %s", c.CommandPath(), n, line)
			}
		}
		for _, sub := range c.Commands() {
			walk(sub)
		}
	}
	walk(rootCommand(&environment{}))
}
