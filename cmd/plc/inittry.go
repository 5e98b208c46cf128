package main

import (
	"context"
	"slices"
	"strings"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/internal/display"
)

// leftOut is a file that was found, and that the project file does not use, since the first plan
// would not run with it.
type leftOut struct{ name, why string }

// trial finds out with which of the files of a folder the first plan runs.
type trial struct {
	env      *environment
	services string // the text of servicesName, which is not written yet
}

// tryFound returns the files with which the first plan runs, and the others with the reason why
// not. It starts MCP servers, which are programs that the folder names, only if start is set or
// somebody at the terminal says yes.
func (env *environment) tryFound(ctx context.Context, found inFolder, services []byte, start bool) (inFolder, []leftOut, error) {
	t := &trial{env: env, services: string(services)}
	var serving []string
	for name, isMCP := range found.uses() {
		if t.hasServers(ctx, name, isMCP) {
			serving = append(serving, name)
		}
	}
	names := strings.Join(serving, ", ")
	if len(serving) > 0 && !start && env.canAsk() {
		start, _ = env.ask(ctx, nil, display.Sprintf("Start the MCP servers of %s to see whether they run? They are programs that this folder names.", names))
	} else if len(serving) > 0 && start {
		showf(env.stderr, "starting the MCP servers of %s to see whether they run\n", names)
	}
	if !start && len(serving) > 0 {
		return t.oneByOne(ctx, found, serving)
	}
	why, err := t.fails(ctx, found)
	if why == "" {
		return found, nil, err
	}
	return t.oneByOne(ctx, found, nil)
}

// oneByOne adds one file after the other. It leaves out the files in unstarted, and those with
// which the first plan does not run.
func (t *trial) oneByOne(ctx context.Context, found inFolder, unstarted []string) (good inFolder, left []leftOut, err error) {
	for name, isMCP := range found.uses() {
		more, why := good.with(name, isMCP), "its MCP servers were not started, so nobody knows whether they run"
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

// fails returns why the first plan does not run with these files; "" when it does.
func (t *trial) fails(ctx context.Context, files inFolder) (why string, err error) {
	set := plc.Toolset{Files: []plc.Source{plc.File("math")}, MCP: files.mcp}
	for _, name := range files.tools {
		set.Files = append(set.Files, t.source(name))
	}
	p, err := t.env.engine(nil).Prepare(ctx, plc.Spec{Plan: plc.Text(firstPlan), Toolset: set})
	if err == nil {
		err = p.Err()
	}
	switch {
	case ctx.Err() != nil:
		return "", exit(exitCancelled)
	case err != nil:
		return err.Error(), nil
	}
	return "", nil
}
