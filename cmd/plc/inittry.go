package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/internal/display"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/tool"
)

// leftOut is a found file that the project file doesn't use, because the first plan would not run
// with it.
type leftOut struct{ name, why string }

// trial finds out with which of the files of a folder the first plan runs.
type trial struct {
	env      *environment
	services string   // the text of servicesName, a file that is not written yet
	started  []string // the files whose MCP servers may be started

	// checker has the tools of the last files with which the first plan ran; nil if there are none.
	checker *plc.Checker
}

// tryFound returns the files with which the first plan runs, and the other files with reasons. MCP
// servers are programs that the folder names; it starts them only if start is set or somebody at
// the terminal agrees.
func (t *trial) tryFound(ctx context.Context, found inFolder, start bool) (good inFolder, left []leftOut, err error) {
	var serving []string
	for name, isMCP := range found.uses() {
		if t.hasServers(ctx, name, isMCP) {
			serving = append(serving, name)
		}
	}
	names := strings.Join(serving, ", ")
	if len(serving) > 0 && !start && t.env.canAsk() {
		start, _ = t.env.ask(ctx, nil, display.Sprintf("Start the MCP servers of %s to see whether they run? They are programs that this folder names.", names))
	} else if len(serving) > 0 && start {
		showf(t.env.stderr, "starting the MCP servers of %s to see whether they run\n", names)
	}
	if start || len(serving) == 0 {
		t.started = serving
		serving = nil
		if why, err := t.fails(ctx, found); why == "" {
			return found, nil, err
		}
	}
	return t.oneByOne(ctx, found, serving)
}

// oneByOne adds one file after the other. It leaves out the files in unstarted, and those with
// which the first plan does not run.
func (t *trial) oneByOne(ctx context.Context, found inFolder, unstarted []string) (good inFolder, left []leftOut, err error) {
	for name, isMCP := range found.uses() {
		more, why := good.with(name, isMCP), "its MCP servers were not started, so nobody knows whether they run; to use them, add it to the list mcp, and run plc trust"
		if !slices.Contains(unstarted, name) {
			if why, err = t.fails(ctx, more); err != nil {
				return good, nil, err
			}
		}
		if why == "" {
			good = more
		} else {
			left = append(left, leftOut{name, why})
		}
	}
	return good, left, nil
}

// source returns a tool file.
func (t *trial) source(name string) plc.Source {
	if name == servicesName {
		return plc.Source{Name: name, Text: t.services}
	}
	return plc.File(name)
}

// hasServers reports whether a file names MCP servers.
func (t *trial) hasServers(ctx context.Context, name string, isMCP bool) bool {
	c := t.env.config(nil)
	c.Unstarted = true
	set := plc.Toolset{Files: []plc.Source{t.source(name)}, Unlocked: true}
	if isMCP {
		set = plc.Toolset{MCP: []string{name}, Unlocked: true}
	}
	tools, err := t.env.newEngine(c).Tools(ctx, set, plc.ToCheck)
	return err == nil && len(tools.Files) > 0 && len(tools.Files[0].Servers) > 0
}

// fails returns the reason why the first plan doesn't run with these files; "" if it does.
func (t *trial) fails(ctx context.Context, files inFolder) (why string, err error) {
	set := plc.Toolset{Files: []plc.Source{plc.File("math")}, MCP: files.mcp}
	for _, name := range files.tools {
		set.Files = append(set.Files, t.source(name))
	}
	p, err := t.env.engine(nil).Prepare(ctx, plc.Spec{Plan: plc.Text(simplePlan), Toolset: set})
	if err == nil {
		err = p.Err()
	}
	switch {
	case ctx.Err() != nil:
		return "", exit(exitCancelled)
	case err != nil:
		return err.Error(), nil
	}
	t.checker = p.Checker()
	return "", nil
}

// firstPlanFormat is the format of a first plan, which uses the built-in math tools. Its verbs are
// a comment before the plan, further calls, and the output.
const firstPlanFormat = `%s{
  "calls": [
    {"_tool": "add", "a": 2, "b": 3, "_outputPath": "†state.sum"},
    {"_tool": "multiply", "a": "†state.sum", "b": 4, "_outputPath": "†state.product"}%s
  ],
  "output": %s
}
`

// simplePlan is the first plan if there are no tools of MCP servers.
var simplePlan = fmt.Sprintf(firstPlanFormat, "", "", `"†state.product"`)

// firstPlanOf returns a first plan that checks without errors, the names of the MCP tools that c
// has, and the one that the plan calls. It calls a tool that its server declares read-only and that
// requires no params. If none fits, called is empty and the plan begins with a comment that holds
// an example call.
func firstPlanOf(c *plc.Checker) (text string, served []string, called string) {
	if c == nil {
		return simplePlan, nil, ""
	}
	var all []*tool.Tool
	for t := range c.Catalogue.Tools() {
		if saidEffects(t) != nil {
			all, served = append(all, t), append(served, t.Definition.Name)
		}
	}
	if len(all) == 0 {
		return simplePlan, nil, ""
	}
	ask := func(t *tool.Tool) int { // how much the user has to provide for a call
		switch {
		case saidEffects(t).ReadOnly != tool.Yes:
			return 2
		case len(t.Definition.Required) > 0:
			return 1
		}
		return 0
	}
	slices.SortStableFunc(all, func(a, b *tool.Tool) int { return ask(a) - ask(b) })
	for _, t := range all[:min(len(all), mostFirst)] {
		if ask(t) > 0 {
			break
		}
		name := quote(t.Definition.Name)
		call := fmt.Sprintf(",\n    {\"_tool\": %s, \"_outputPath\": \"†state.served\"}", name)
		text = fmt.Sprintf(firstPlanFormat, "", call, fmt.Sprintf(`{"product": "†state.product", %s: "†state.served"}`, name))
		if p, err := c.Check(plc.Text(text)); err == nil && p.Err() == nil {
			return text, served, t.Definition.Name
		}
	}
	return fmt.Sprintf(firstPlanFormat, "// To call a tool of an MCP server, add this to the list: "+exampleOf(all[0])+"\n", "", `"†state.product"`), served, ""
}

// mostFirst is the maximum number of tools that a first plan is tried with.
const mostFirst = 20

// exampleOf returns a call of a tool on one line, with … for the values of required params.
func exampleOf(t *tool.Tool) string {
	members := map[string]string{"_tool": t.Definition.Name}
	for _, name := range t.Definition.Required {
		members[name] = "…"
	}
	return string(jsonscan.Encode(members))
}
