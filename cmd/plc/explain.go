package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/display"
)

func explainCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "explain [CODE]",
		Short: "Say what a finding means, with an example and its cure",
		Long:  "Say what a finding means, with an example and its cure. Without a code, list them all.",
		Example: `  plc explain PLC302
  plc explain`,
		Args: wants(0, 1, "one code"),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			if len(args) > 0 {
				return nil, cobra.ShellCompDirectiveNoFileComp
			}
			var names []string
			for _, code := range diag.Codes() {
				page, _ := diag.Explain(code)
				names = append(names, fmt.Sprintf("%s\t%s", code, page.Summary))
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return env.explain(args[0])
			}
			for _, code := range diag.Codes() {
				page, _ := diag.Explain(code)
				showf(env.stdout, "%s  %s\n", code, page.Summary)
			}
			return nil
		},
	}
}

func (env *environment) explain(word string) error {
	code, ok := diag.ParseCode(word)
	if !ok {
		number := sortedDigits(word)
		names := func(yield func(string) bool) {
			for _, c := range diag.Codes() {
				// A code with other digits is not a likely misspelling.
				if number != "" && sortedDigits(c.String()) != number {
					continue
				}
				if !yield(c.String()) {
					return
				}
			}
		}
		return fmt.Errorf("there is no code %q; %s", word, meant(word, names, "plc explain lists them"))
	}
	page, _ := diag.Explain(code)
	show(env.stdout, display.Block("", page.Text()))
	return nil
}

// sortedDigits returns the digits of a code, sorted, so that codes whose digits were transposed
// compare equal.
func sortedDigits(code string) string {
	var all []byte
	for _, c := range []byte(code) {
		if c >= '0' && c <= '9' {
			all = append(all, c)
		}
	}
	slices.Sort(all)
	return string(all)
}
