package main

import (
	"bytes"
	"cmp"
	"io"
	"strings"
	"unicode"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// flagGroup is a group of flags, with its name in docs/cli.md.
type flagGroup struct {
	name  string
	flags []string
}

// flagGroups returns the groups of the flags that commands share, in the order of the help. Flags
// in no group belong to one command only, and come first.
func flagGroups() []flagGroup {
	return []flagGroup{
		{"Tools", []string{"tools", "tools-from", "mcp", "lock", "deny", "policy"}},
		{"Values", []string{"input", "input-schema", "state", "state-schema", "instances"}},
		{"Language", []string{"from", "effects", "refs", "delegate-hosts"}},
		{"Findings", []string{"ignore", "severity", "strict", "verbose"}},
		{"Limits", []string{"max-parallel", "max-steps", "max-time", "max-tokens", "max-cost", "max-state", "max-turns", "max-repairs", "timeout"}},
		{"Running", []string{"schedule", "on-failure", "on-uncertain", "max-revisions", "revise-at", "fail-fast", "no-cache", "seed"}},
		{"Models", []string{"model", "model-record", "model-replay", "record", "replay"}},
		{"Approval", []string{"approve", "yes", "approval", "approve-timeout", "on-timeout", "lazy"}},
		{"Output", []string{"format", "output", "events", "results", "expect", "expect-within", "store"}},
	}
}

// manyFlags is the number of flags from which the help of a command shows them in groups.
const manyFlags = 20

// groupFlags makes the help of commands with many flags show them in groups.
func groupFlags(root *cobra.Command) {
	usage := root.UsageFunc()
	root.SetUsageFunc(func(c *cobra.Command) error {
		to, text := c.OutOrStderr(), new(bytes.Buffer)
		c.SetOut(text)
		err := usage(c)
		c.SetOut(to)
		help := text.String()
		if groups := inGroups(c.LocalFlags()); len(groups) > 1 {
			var blocks []string
			for _, g := range groups {
				title := strings.TrimSpace(g.name + " flags")
				blocks = append(blocks, strings.ToUpper(title[:1])+title[1:]+":\n"+usages(g.flags))
			}
			help = strings.Replace(help, "Flags:\n"+usages(c.LocalFlags()), strings.Join(blocks, "\n\n"), 1)
		}
		_, writeErr := io.WriteString(to, help)
		return cmp.Or(err, writeErr)
	})
}

func usages(flags *pflag.FlagSet) string {
	return strings.TrimRightFunc(flags.FlagUsages(), unicode.IsSpace)
}

// shownGroup holds the flags of a command that are in a group. The first group of each command has
// no name.
type shownGroup struct {
	name  string
	flags *pflag.FlagSet
}

// inGroups returns the flags that the help shows: in groups if there are many, else in one group.
func inGroups(flags *pflag.FlagSet) []shownGroup {
	count, groupOf := 0, map[string]string{}
	for _, g := range flagGroups() {
		for _, name := range g.flags {
			groupOf[name] = g.name
		}
	}
	sets := map[string]*pflag.FlagSet{}
	flags.VisitAll(func(f *pflag.Flag) {
		if f.Hidden {
			return
		}
		count++
		group := groupOf[f.Name]
		if sets[group] == nil {
			sets[group] = pflag.NewFlagSet(group, pflag.ContinueOnError)
		}
		sets[group].AddFlag(f)
	})
	if count < manyFlags {
		return []shownGroup{{flags: flags}}
	}
	var shown []shownGroup
	for _, g := range append([]flagGroup{{}}, flagGroups()...) {
		if set := sets[g.name]; set != nil {
			shown = append(shown, shownGroup{g.name, set})
		}
	}
	return shown
}
