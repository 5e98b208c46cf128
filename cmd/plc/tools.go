package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/internal/spell"
	"github.com/plc-lang/plc/tool"
)

func toolsCommand(env *environment) *cobra.Command {
	var files []string
	var format string
	c := &cobra.Command{
		Use:   "tools",
		Short: "List the tools, with their types, effects and where they come from",
		Example: `  plc tools --tools tools.yaml
  plc tools call getWeather '{"city": "Rome"}' --tools tools.yaml`,
		Args: cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			if _, err := choice("format", format, map[string]bool{"text": true, "json": true}); err != nil {
				return err
			}
			cat, err := env.soundCatalogue(files)
			if err != nil {
				return err
			}
			if format == "json" {
				return env.toolsJSON(cat)
			}
			return env.toolsText(cat)
		},
	}
	c.PersistentFlags().StringArrayVar(&files, "tools", nil, "tool file, JSON or YAML (repeatable; later ones win)")
	c.Flags().StringVar(&format, "format", "text", "text or json")
	complete(c, "format", "text", "json")
	c.AddCommand(toolsCallCommand(env, &files))
	return c
}

// soundCatalogue reads tool files that must have no errors.
func (env *environment) soundCatalogue(files []string) (*tool.Catalogue, error) {
	cat, _, findings, err := env.catalogue(files)
	if err != nil {
		return nil, err
	}
	if err := env.showFindings(findings); err != nil {
		return nil, err
	}
	if findings.HasErrors() {
		return nil, exit(exitErrors)
	}
	return cat, nil
}

// showFindings shows findings to people.
func (env *environment) showFindings(l diag.List) error {
	return diag.WriteText(env.stderr, l, &diag.TextOptions{Color: colored(env.stderr), Max: maxShown})
}

func (env *environment) toolsText(cat *tool.Catalogue) error {
	for t := range cat.Tools() {
		def := t.Definition
		fmt.Fprintln(env.stdout, def.Signature())
		if def.Description != "" {
			fmt.Fprintf(env.stdout, "    %s\n", def.Description)
		}
		fmt.Fprintf(env.stdout, "    %s; %s", effectsText(def.Effects), driverText(t))
		if t.Source != "" {
			fmt.Fprintf(env.stdout, "; from %s", t.Source)
		}
		fmt.Fprintln(env.stdout)
	}
	return nil
}

func driverText(t *tool.Tool) string {
	if t.Activity == nil {
		return "latent: nothing runs it"
	}
	return "runs as " + t.Driver
}

// effectsText is what a tool declares of its effects, in words.
func effectsText(e tool.Effects) string {
	switch {
	case e.Pure == tool.Yes:
		return "pure"
	case e.Destructive == tool.Yes:
		return "changes the world, destructive"
	case e.ChangesWorld():
		return "changes the world"
	case e.ReadOnly == tool.Yes:
		return "only reads"
	}
	return "declares no effects"
}

// toolEntry is a tool in plc tools --format json.
type toolEntry struct {
	Name        string          `json:"name"`
	Description string          `json:"description,omitempty"`
	Signature   string          `json:"signature"`
	Effects     string          `json:"effects"`
	Driver      string          `json:"driver,omitempty"`
	Source      string          `json:"source,omitempty"`
	Definition  json.RawMessage `json:"definition"`
}

func (env *environment) toolsJSON(cat *tool.Catalogue) error {
	entries := []toolEntry{}
	for t := range cat.Tools() {
		def := t.Definition
		entries = append(entries, toolEntry{
			def.Name, def.Description, def.Signature(), effectsText(def.Effects), t.Driver, t.Source, def.Raw,
		})
	}
	return env.writeJSON(entries)
}

func toolsCallCommand(env *environment, files *[]string) *cobra.Command {
	var timeout time.Duration
	c := &cobra.Command{
		Use:   "call NAME [PARAMS]",
		Short: "Call one tool",
		Long: `Call one tool with params: a JSON object, a file that holds one, or - for standard
input; without any, {}. The params are validated first, the result afterwards.`,
		Example: `  plc tools call getWeather '{"city": "Rome"}' --tools tools.yaml
  plc tools call getWeather params.json --tools tools.yaml`,
		Args: cobra.RangeArgs(1, 2),
		RunE: func(c *cobra.Command, args []string) error {
			cat, err := env.soundCatalogue(*files)
			if err != nil {
				return err
			}
			t, ok := cat.Lookup(args[0])
			if !ok {
				return unknownTool(cat, args[0])
			}
			params := json.RawMessage(`{}`)
			if len(args) == 2 {
				if params, err = env.params(args[1]); err != nil {
					return err
				}
			}
			return env.callTool(c, t, params, timeout)
		},
	}
	c.Flags().DurationVar(&timeout, "timeout", time.Minute, "longest that the call may take")
	return c
}

func unknownTool(cat *tool.Catalogue, name string) error {
	near, ok := spell.Nearest(name, func(yield func(string) bool) {
		for t := range cat.Tools() {
			if !yield(t.Definition.Name) {
				return
			}
		}
	})
	if ok {
		return fmt.Errorf("unknown tool %q; did you mean %q?", name, near)
	}
	return fmt.Errorf("unknown tool %q; plc tools lists them", name)
}

// params reads params: a JSON object as it is, or a file.
func (env *environment) params(arg string) (json.RawMessage, error) {
	if !bytes.HasPrefix(bytes.TrimSpace([]byte(arg)), []byte("{")) {
		g, err := env.jsonFile(arg)
		return g.JSON, err
	}
	if err := jsonscan.Check([]byte(arg), jsonscan.Limits{}); err != nil {
		return nil, fmt.Errorf("the params are not JSON: %w", err)
	}
	return json.RawMessage(arg), nil
}

func (env *environment) callTool(c *cobra.Command, t *tool.Tool, params json.RawMessage, timeout time.Duration) error {
	def := t.Definition
	if t.Activity == nil {
		return fmt.Errorf("the tool %q is latent: nothing runs it", def.Name)
	}
	if def.Params != nil {
		if err := def.Params.Validate(params); err != nil {
			fmt.Fprintf(env.stderr, "the params do not fit: %s\n", err)
			return exit(exitErrors)
		}
	}
	ctx, cancel := context.WithTimeout(c.Context(), timeout)
	defer cancel()
	res, err := t.Activity.Call(ctx, &tool.Request{Tool: def.Name, Call: def.Name, Params: params, Attempt: 1})
	if err != nil {
		var te *tool.Error
		if errors.As(err, &te) {
			fmt.Fprintf(env.stderr, "failed: %s: %s\n", te.Code, te.Message)
		} else {
			fmt.Fprintf(env.stderr, "failed: %s\n", err)
		}
		return exit(exitFailed)
	}
	if res.Value == nil {
		res.Value = json.RawMessage("null")
	}
	if err := env.writeJSON(res.Value); err != nil {
		return err
	}
	if def.Output != nil {
		if err := def.Output.Validate(res.Value); err != nil {
			fmt.Fprintf(env.stderr, "the result is not what the definition says: %s\n", err)
			return exit(exitFailed)
		}
	}
	return nil
}
