package main

import (
	"testing"

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
