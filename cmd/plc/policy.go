package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/compile/flow"
	"github.com/plc-lang/plc/internal/display"
)

func policyCommand(env *environment) *cobra.Command {
	c := &cobra.Command{
		Use:   "policy",
		Short: "Make and test policies on the flow of information",
		Long: `Make and test policies on the flow of information: files for --policy, which say how much
results may be trusted, how secret they are, and what params may be given. plc flow and plc check
apply them to a plan.`,
		Example: `  plc policy init --tools tools.yaml -o policy.yaml
  plc policy test`,
		Args: knownCommand,
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(policyInitCommand(env), policyTestCommand(env))
	return c
}

// policyInitCommand returns the command plc policy init.
func policyInitCommand(env *environment) *cobra.Command {
	var files toolFiles
	var output string
	c := &cobra.Command{
		Use:   "init",
		Short: "Write a first policy from what the tools declare",
		Long: `Write a first policy on the flow of information for the tools of tool files and MCP servers,
from their effects: results are untrusted and secret, params of tools that may change the world
have to be trusted, and what tools of the open world are given has to be public. Each line says
why it is there. What servers that are not trusted declare counts only if it asks for more care.
No file is overwritten. Policies that there are already are not read.`,
		Example: `  plc policy init --tools tools.yaml -o policy.yaml
  plc policy init --mcp servers.json`,
		Args: wants(0, 0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			return env.writeFirstPolicy(c.Context(), files, output)
		},
	}
	addCatalogue(c.Flags(), c, &files)
	c.Flags().StringVarP(&output, "output", "o", "", "where to write it; it must not be there yet (default standard output)")
	completeFiles(c, "yaml,yml", "output")
	return c
}

// writeFirstPolicy runs plc policy init.
func (env *environment) writeFirstPolicy(ctx context.Context, files toolFiles, output string) error {
	if output != "" {
		if _, err := os.Lstat(output); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s is there already, and is not overwritten; move it away, or write to another file", output)
		}
	}
	g, err := env.gatherSound(ctx, files, plc.ToPreview)
	if err != nil {
		return err
	}
	if g.Catalogue.Len() == 0 {
		return errors.New("there are no tools to make a policy for; name some with --tools or --mcp")
	}
	var base *flow.Policy // the policy of the tool files, which the new one extends
	if len(g.Flow) > 0 {
		base = g.Flow[0]
	}
	text := flow.Draft(g.Catalogue, base)
	if output == "" {
		_, err := env.stdout.Write(text)
		return err
	}
	if err := createFile(output, text); err != nil {
		return err
	}
	showf(env.stdout, "wrote %s\n", display.Name(output))
	env.hintf("plc check PLAN --policy %s applies it; %s names it as policies: [%s]", output, plc.ProjectName, output)
	return nil
}
