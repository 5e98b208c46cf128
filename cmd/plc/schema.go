package main

import (
	"fmt"
	"slices"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc/editors/schema"
	"github.com/plc-lang/plc/internal/display"
)

func schemaCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:   "schema [NAME]",
		Short: "Print the JSON Schema of a file, for editors",
		Long: `Print the JSON Schema of a file that people write, for editors: plan, tools, policy,
project (plc.yaml) or test. Without a name, list them. They say which members there are and
what those may be; what a plan means only plc check says.`,
		Example: `  plc schema tools > tools.schema.json
  plc schema`,
		Args:      wants(0, 1, "one file"),
		ValidArgs: schema.Names(),
		RunE: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				for _, name := range schema.Names() {
					showf(env.stdout, "%s\n", name)
				}
				return nil
			}
			text, ok := schema.Text(args[0])
			if !ok {
				return fmt.Errorf("there is no schema %q; %s", args[0], meant(args[0], slices.Values(schema.Names()), "plc schema lists them"))
			}
			showf(env.stdout, "%s\n", display.IndentedJSON(text, ""))
			return nil
		},
	}
}
