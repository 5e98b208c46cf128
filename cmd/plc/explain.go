package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc/diag"
)

func explainCommand(env *environment) *cobra.Command {
	c := &cobra.Command{
		Use:   "explain [CODE]",
		Short: "Say what a finding means, with an example and its cure",
		Long:  "Say what a finding means, with an example and its cure. Without a code, list them all.",
		Example: `  plc explain PLC302
  plc explain`,
		Args: cobra.MaximumNArgs(1),
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			var names []string
			for _, code := range diag.Codes() {
				page, _ := diag.Explain(code)
				names = append(names, fmt.Sprintf("%s\t%s", code, page.Summary))
			}
			return names, cobra.ShellCompDirectiveNoFileComp
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				for _, code := range diag.Codes() {
					page, _ := diag.Explain(code)
					fmt.Fprintf(env.stdout, "%s  %s\n", code, page.Summary)
				}
				return nil
			}
			code, ok := diag.ParseCode(args[0])
			if !ok {
				return fmt.Errorf("there is no code %q; plc explain lists them", args[0])
			}
			page, _ := diag.Explain(code)
			_, err := fmt.Fprint(env.stdout, page.Text())
			return err
		},
	}
	return c
}
