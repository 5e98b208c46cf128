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
		Long: `Show where information goes in a plan. For each param that a policy bounds, it shows the worst
label that the value may have, where the value may come from, whether that is allowed, and if
not, the path that the value takes. Then follow the tools that endorse or declassify, and the
rules about calls. The policy is the flow section of the tool files; each --policy is another
one. Nothing is run. The exit code is 1 if the plan has errors, which include what a policy
forbids.`,
		Example: `  plc flow plan.json --tools tools.yaml
  plc flow plan.json --tools tools.yaml --policy policy.yaml --format json`,
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
			reports := l.Plan.Flow()
			if len(reports) == 0 {
				return errors.New("there is no policy on the flow of information: no tool file has a flow section, and --policy names none")
			}
			if format == "json" {
				err = json.NewEncoder(env.stdout).Encode(map[string]any{"policies": reports})
			} else {
				for _, r := range reports {
					err = errors.Join(err, r.Text(env.stdout))
				}
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
