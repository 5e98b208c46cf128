package main

import (
	"encoding/json"
	"errors"
	"io"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/dag/draw"
)

func flowCommand(env *environment) *cobra.Command {
	var flags planFlags
	var asJSON bool
	var svg string
	c := &cobra.Command{
		Use:   "flow FILE",
		Short: "Show where information goes in a plan",
		Long: `Show where information goes in a plan. For each param that a policy bounds, it shows the worst
label that the value may have, where the value may come from, whether that is allowed, and if
not, the path that the value takes. Then follow the tools that endorse or declassify, and the
rules about calls. The policy is the flow section of the tool files; each --policy is another
one. Nothing is run. The exit code is 1 if the plan has errors, which include what a policy
forbids. --svg draws the graph of the plan with the labels of what calls give, and the verdicts.`,
		Example: `  plc flow plan.json --tools tools.yaml
  plc flow plan.json --tools tools.yaml --policy policy.yaml --format json
  plc flow plan.json --tools tools.yaml --svg flow.svg`,
		Args:              cobra.ExactArgs(1),
		ValidArgsFunction: completePlans(1),
		RunE: func(c *cobra.Command, args []string) error {
			s, err := env.settings(c, &flags, plc.ToCheck, args...)
			if err != nil {
				return err
			}
			if err := errors.Join(env.checkOutput("svg", svg), canWrite(svg)); err != nil {
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
			err = env.writeSVG("svg", svg, func(w io.Writer) error { return draw.SVG(w, plc.DrawFlow(l.prog, 1, l.FlowOfValues())) })
			if err != nil {
				return err
			}
			if asJSON {
				err = json.NewEncoder(env.stdout).Encode(map[string]any{"policies": reports})
			} else {
				for _, r := range reports {
					err = errors.Join(err, r.Text(env.stdout))
				}
			}
			if err != nil {
				return err
			}
			return env.refuse(l, args[0])
		},
	}
	flags.add(c)
	addFormat(c, &asJSON, "text or json")
	c.Flags().StringVar(&svg, "svg", "", "write the graph of the plan with its labels and verdicts to this file, as SVG")
	completeFiles(c, "svg", "svg")
	return c
}
