package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect/notations"
)

// convertFlags are the flags of plc convert.
type convertFlags struct {
	from, to, out, jsonl string
	asJSON               bool

	tools toolFiles
}

func convertCommand(env *environment) *cobra.Command {
	var f convertFlags
	c := &cobra.Command{
		Use:   "convert FILE",
		Short: "Write a plan in another notation",
		Long: `Write a plan that is in another notation (--from) in ours, in canonical form, or one of
ours in another (--to). FILE may be - for standard input. A plan that can't be read as a
whole is not written, and exit 1; what is wrong with it goes to standard error. With --tools,
params that have no names in the other notation get those of the tools.`,
		Example: `  plc convert plan.txt --from llmcompiler > plan.json
  plc convert plan.txt --from rewoo --tools tools.yaml -o plan.json
  plc convert plan.json --to llmcompiler`,
		Args:              planOrLines(&f.jsonl),
		ValidArgsFunction: completePlans(1),
		RunE: func(c *cobra.Command, args []string) error {
			if f.jsonl != "" && !f.asJSON && c.Flags().Changed("format") {
				return errOnlyJSON
			}
			return env.convert(c.Context(), args, &f)
		},
	}
	addLines(c, &f.jsonl)
	addTools(c.Flags(), c, &f.tools)
	addFrom(c, &f.from)
	to := toNames()
	addWord(c, &f.to, "to", "plan", "notation to write: "+strings.Join(to, ", "), to...)
	c.Flags().StringVarP(&f.out, "out", "o", "", "write to this file instead of standard output")
	addFormat(c, &f.asJSON, "json (one document: the plan and the findings)")
	return c
}

// converted is the output of plc convert --format json.
type converted struct {
	Plan     *string   `json:"plan"` // null when it has errors
	Findings diag.List `json:"findings"`
}

// toNames returns the values of --to.
func toNames() []string {
	names := []string{"plan"}
	for _, n := range notations.All() {
		if n.Write != nil {
			names = append(names, n.Name)
		}
	}
	return names
}

// convert runs plc convert.
func (env *environment) convert(ctx context.Context, names []string, f *convertFlags) error {
	switch {
	case f.jsonl != "" && f.out != "":
		return errors.New("-o is for one plan: with --jsonl, the results go to standard output")
	case f.asJSON && f.out != "":
		return errors.New("-o is for the plan alone: leave it or --format json out")
	}
	if !slices.Contains(toNames(), f.to) {
		return fmt.Errorf("--to %q: it is one of %s", f.to, strings.Join(toNames(), ", "))
	}
	spec := plc.Spec{Plan: plc.Source{Notation: f.from}, Toolset: f.tools.Toolset}
	s, err := env.checker(ctx, env.engine(nil), &planFlags{spec: spec}, plc.ToCheck, append(names, f.jsonl)...)
	if err != nil {
		return err
	}
	if f.jsonl != "" {
		return env.convertLines(ctx, s, f)
	}
	src, err := env.planSource(names[0])
	if err != nil {
		return err
	}
	out := convertPlan(s, src, f.to)
	if f.asJSON {
		if err := env.writeJSON(out); err != nil {
			return err
		}
		return verdict(out.Findings, false)
	}
	env.showFindings(out.Findings)
	switch {
	case out.Plan == nil:
		return exit(exitErrors)
	case f.out == "":
		_, err = io.WriteString(env.stdout, *out.Plan)
		return err
	}
	if err := env.checkOutput("out", f.out); err != nil {
		return err
	}
	if err := os.WriteFile(f.out, []byte(*out.Plan), 0o666); err != nil {
		return fmt.Errorf("can't write the plan: %w", err)
	}
	return nil
}

// convertPlan writes a plan in another notation.
func convertPlan(s *plc.Checker, src *diag.File, to string) *converted {
	doc, found := s.Parse(src)
	c := &converted{Findings: slices.Concat(s.Findings, found)}
	if found.HasErrors() {
		return c
	}
	out, more := written(doc, to)
	if c.Findings = append(c.Findings, more...); !c.Findings.HasErrors() {
		text := string(out)
		c.Plan = &text
	}
	return c
}

// written returns the text of a plan in the notation that --to names.
func written(doc *lang.Document, to string) ([]byte, diag.List) {
	if n, ok := notations.Lookup(to); ok {
		return n.Write(doc)
	}
	out, err := lang.Format(doc)
	if err != nil {
		panic(err) // it was parsed without an error
	}
	return out, nil
}
