package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/internal/display"
	"github.com/plc-lang/plc/internal/links"
	"github.com/plc-lang/plc/tool/mcp"
)

// toolsLockCommand returns the command plc tools lock.
func toolsLockCommand(env *environment, files *toolFiles) *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "lock",
		Short: "Write down the definitions of the tools of MCP servers",
		Long: `Start the MCP servers, and write the definitions of their tools into a lock. With a lock,
named by --lock or found as plc.lock.json beside the file that has the servers, a tool whose
definition is another one is refused, and check starts no servers.`,
		Example: `  plc tools lock --mcp servers.json
  plc tools lock --tools tools.yaml -o plc.lock.json`,
		Args: wants(0, 0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			return env.writeLock(c.Context(), *files, output)
		},
	}
	c.Flags().StringVarP(&output, "output", "o", "", "where to write it, - for standard output (default plc.lock.json beside the file that has the servers)")
	completeFiles(c, "json", "output")
	return c
}

func (env *environment) writeLock(ctx context.Context, named toolFiles, output string) error {
	named.Unlocked, named.Lock = true, ""
	g, err := env.gatherSound(ctx, named, plc.ToPreview)
	if err != nil {
		return err
	}
	if g.Servers == nil {
		return errors.New("there are no MCP servers to lock; name a file that has some with --mcp or --tools")
	}
	l, err := g.Servers.Lock()
	if err != nil {
		return err
	}
	if output == "-" {
		return env.writeJSON(l)
	}
	if output == "" {
		for _, f := range g.Files {
			if len(f.Servers) > 0 {
				output = filepath.Join(filepath.Dir(f.Source.Name), plc.LockName)
			}
		}
		switch at, err := links.Outside(filepath.Dir(output), output); {
		case err != nil:
			return plc.ReadError(err)
		case at != "":
			return fmt.Errorf("a link leads %s out of its folder, to %s: remove the link, or name that file with -o", output, at)
		}
	}
	if err := env.checkOutput("output", output); err != nil {
		return err
	}
	text, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return err
	}
	if err := env.saveLock(output, append(visible(text), '\n')); err != nil {
		return err
	}
	env.hintf("%s has the tools of %s", output, strings.Join(serverNames(g.Servers), ", "))
	return nil
}

func serverNames(pool *mcp.Pool) []string {
	var names []string
	for _, c := range pool.Servers() {
		names = append(names, c.Name())
	}
	return names
}

// toolsAddCommand returns the command plc tools add.
func toolsAddCommand(env *environment, files *toolFiles) *cobra.Command {
	var output string
	var specs []string
	c := &cobra.Command{
		Use:   "add",
		Short: "Write a first tool file from the config of an MCP client or an OpenAPI document",
		Long: `Write a first tool file. With --mcp, start the MCP servers, and write a tool file that has them,
with an activity for each of their tools: what a tool is called can be changed there, and what is
known of it can be added under tools and limits. With --openapi the operations of the document are
listed with what they do to the world, as far as their methods tell, and secrets by the names of
variables to set.`,
		Example: `  plc tools add --mcp servers.json -o tools.yaml
  plc tools add --openapi petstore.yaml -o tools.yaml`,
		Args: wants(0, 0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			return env.writeToolFile(c.Context(), *files, specs, output)
		},
	}
	c.Flags().StringArrayVar(&specs, "openapi", nil, "OpenAPI document, 3.0 or 3.1 (repeatable)")
	completeFiles(c, "yaml,yml,json", "openapi")
	c.Flags().StringVarP(&output, "output", "o", "", "where to write it; it must not be there yet (default standard output)")
	completeFiles(c, "yaml,yml", "output")
	return c
}

func (env *environment) writeToolFile(ctx context.Context, named toolFiles, specs []string, output string) error {
	g, err := env.gatherSound(ctx, named, plc.ToPreview)
	if err != nil {
		return err
	}
	if g.Servers == nil && len(specs) == 0 {
		return errors.New("there are neither MCP servers nor documents; name some with --mcp or --openapi")
	}
	text, err := env.servicesOf(specs, filepath.Dir(output))
	if err != nil {
		return err
	}
	if g.Servers != nil {
		text = append(toolFileOf(g), text...)
	}
	if output == "" {
		_, err := env.stdout.Write(text)
		return err
	}
	return createFile(output, text)
}

// toolFileOf returns a tool file with the servers and their tools. It uses JSON for values that
// have to stay exactly as they were.
func toolFileOf(g *plc.Tools) []byte {
	var b bytes.Buffer
	b.WriteString("mcpServers:\n")
	for _, f := range g.Files {
		for _, s := range f.Servers {
			fmt.Fprintf(&b, "  %s: %s\n", quote(s.Name), s.Raw)
		}
	}
	b.WriteString("activities:\n")
	for t := range g.Catalogue.Tools() {
		if t.Driver == mcp.Driver {
			fmt.Fprintf(&b, "  # %s; %s\n", display.Line(t.Definition.Signature()), t.Definition.Effects.Words())
			fmt.Fprintf(&b, "  %s: %s\n", quote(t.Definition.Name), t.Raw)
		}
	}
	return display.AppendJSON(nil, b.Bytes())
}

// visible returns JSON with invisible characters, which may change the order of the visible ones,
// written as \u202e.
func visible(text []byte) []byte {
	var out []byte
	for _, r := range string(text) {
		if r < utf8.RuneSelf || unicode.IsGraphic(r) {
			out = utf8.AppendRune(out, r)
			continue
		}
		for _, unit := range utf16.Encode([]rune{r}) {
			out = fmt.Appendf(out, `\u%04x`, unit)
		}
	}
	return out
}
