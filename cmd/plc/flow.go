package main

import (
	"encoding/json"
	"errors"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc"
)

func flowCommand(env *environment) *cobra.Command {
	var flags planFlags
	var format string
	c := &cobra.Command{
		Use:   "flow FILE",
		Short: "Show where information goes in a plan",
		Long: `Show where information goes in a plan: for each param that the policy on the flow of
information has a bound for, what it may be given at worst, whether that is allowed, and if
not, on which way it comes there. The policy is the flow section of the tool files. Nothing is
run. The exit code is 1 when the plan has errors; forbidden flows are among them.`,
		Example: `  plc flow plan.json --tools tools.yaml
  plc flow plan.json --tools tools.yaml --tools policy.yaml --format json`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completePlans(1),
		RunE: func(c *cobra.Command, args []string) error {
			if format != "text" && format != "json" {
				return errors.New("--format is text or json")
			}
			s, err := env.settings(c, &flags, plc.ToCheck)
			if err != nil {
				return err
			}
			l, err := env.loadOne(args[0], s)
			if err != nil {
				return err
			}
			r := l.Plan.Flow()
			if r == nil {
				return errors.New("no tool file has a flow section: there is no policy on the flow of information")
			}
			if format == "json" {
				err = json.NewEncoder(env.stdout).Encode(r)
			} else {
				err = r.Text(env.stdout)
			}
			if err != nil {
				return err
			}
			return env.refuse(s, l, args[0])
		},
	}
	flags.add(c)
	c.Flags().StringVar(&format, "format", "text", "text or json")
	complete(c, "format", "text", "json")
	return c
}
