package main

import (
	"bytes"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
)

func fmtCommand(env *environment) *cobra.Command {
	var write, check bool
	c := &cobra.Command{
		Use:   "fmt FILE…",
		Short: "Write plans in canonical form",
		Long: `Write plans in canonical form: one call a line where it fits, expressions spaced and
quoted alike. Comments, the order of members, numbers and text stay as they are.
FILE may be - for standard input.`,
		Example: `  plc fmt plan.json
  plc fmt -w plans/*.json
  plc fmt --check plans/*.json`,
		Args: cobra.MinimumNArgs(1),
		RunE: func(c *cobra.Command, args []string) error {
			differs := false
			for _, name := range args {
				d, err := env.format(name, write, check)
				if err != nil {
					return err
				}
				differs = differs || d
			}
			if check && differs {
				return exit(exitErrors)
			}
			return nil
		},
	}
	c.Flags().BoolVarP(&write, "write", "w", false, "write the result to the file")
	c.Flags().BoolVar(&check, "check", false, "list the files that are not in canonical form, and exit 1 if there are any")
	return c
}

// format formats one file; it reports whether that changed it.
func (env *environment) format(name string, write, check bool) (bool, error) {
	text, err := env.readText(name)
	if err != nil {
		return false, err
	}
	doc, findings := lang.Parse(diag.NewFile(name, text), nil)
	out, err := lang.Format(doc)
	if err != nil {
		if werr := diag.WriteText(env.stderr, findings, &diag.TextOptions{Color: colored(env.stderr), Max: maxShown}); werr != nil {
			return false, werr
		}
		return false, exit(exitErrors)
	}
	changed := !bytes.Equal(out, text)
	switch {
	case check:
		if changed {
			fmt.Fprintln(env.stdout, name)
		}
		return changed, nil
	case write && name != "-":
		if !changed {
			return false, nil
		}
		return true, replaceFile(name, out)
	}
	_, err = env.stdout.Write(out)
	return changed, err
}
