package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/display"
	"github.com/plc-lang/plc/internal/spell"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/mcp"
)

func toolsCommand(env *environment) *cobra.Command {
	var files toolFiles
	var asJSON bool
	c := &cobra.Command{
		Use:   "tools [PATTERN…]",
		Short: "List the tools, with their types, effects and where they come from",
		Long: `List the tools that tool files define, with the types of their params and results, what
they do to the world, what runs them and where they come from, and those of the language
(forEach, reduce, repeat and choose). Patterns, like 'db.*', are of the names that are listed.`,
		Example: `  plc tools --tools tools.yaml
  plc tools --tools tools.yaml --format json
  plc tools --mcp servers.json
  plc tools call getWeather '{"city": "Rome"}' --tools tools.yaml`,
		Args: cobra.ArbitraryArgs,
		RunE: func(c *cobra.Command, args []string) error {
			g, err := env.gatherSound(c.Context(), files, plc.ToPreview)
			if err != nil {
				return err
			}
			none := g.Catalogue.Len() == 0
			cat, err := named(g.Catalogue.WithBuiltIns(), args)
			if err != nil {
				return err
			}
			if asJSON {
				return env.toolsJSON(cat)
			}
			if none {
				defer env.hintf("there are no tools but those of the language; name a tool file with --tools %s", toolFileBeside("."))
			}
			return env.toolsText(cat)
		},
	}
	addTools(c.PersistentFlags(), c, &files)
	addFormat(c, &asJSON, "text or json")
	c.AddCommand(toolsCallCommand(env, &files), toolsLockCommand(env, &files), toolsAddCommand(env, &files))
	return c
}

// gatherSound reads tool files, shows the findings about them, and fails if there are errors.
func (env *environment) gatherSound(ctx context.Context, files toolFiles, purpose plc.Purpose) (*plc.Tools, error) {
	g, err := env.gather(ctx, files, purpose)
	if err != nil {
		return nil, err
	}
	env.showFindings(g.Findings)
	if g.Findings.HasErrors() {
		return nil, exit(exitErrors)
	}
	return g, nil
}

// named returns the tools of a catalogue whose names match a pattern; without patterns it returns
// all.
func named(cat *tool.Catalogue, patterns []string) (*tool.Catalogue, error) {
	if len(patterns) == 0 {
		return cat, nil
	}
	var found []*tool.Tool
	for t := range cat.Listed() {
		if slices.ContainsFunc(cat.Names(t), func(name string) bool {
			return slices.ContainsFunc(patterns, func(p string) bool { return tool.Matches(p, name) })
		}) {
			found = append(found, t)
		}
	}
	if len(found) == 0 {
		otherwise := "plc tools lists them; to call one: plc tools call NAME"
		if near, ok := spell.Nearest(patterns[0], slices.Values([]string{"add", "call", "lock"})); ok {
			otherwise = fmt.Sprintf("did you mean plc tools %s?", near)
		}
		return nil, fmt.Errorf("there is no tool %q; %s", patterns[0], meant(patterns[0], toolNames(cat), otherwise))
	}
	return tool.NewCatalogue(found...), nil
}

// toolsText shows tools to people: the user's tools first, those of package math and of the
// language last.
func (env *environment) toolsText(cat *tool.Catalogue) error {
	list := slices.Collect(cat.Tools())
	slices.SortStableFunc(list, func(a, b *tool.Tool) int { return ofPlc(a) - ofPlc(b) })
	out := newBuffered(env.stdout)
	for _, t := range list {
		def := t.Definition
		showf(out, "%s\n", def.Signature())
		if def.Description != "" {
			showf(out, "    %s\n", strings.Join(strings.Fields(def.Description), " "))
		}
		effects := def.Effects.Words()
		if t.Source == tool.BuiltIn && def.Effects.Pure != tool.Yes {
			effects = "does what its document does"
		}
		showf(out, "    %s; %s", effects, driverText(t))
		switch ofPlc(t) {
		case theirs:
			showf(out, "; from %s", display.Name(t.Source))
		case ofMath:
			showf(out, "; comes with plc, as math%s", display.Text{})
		}
		showf(out, "%s\n", display.Text{})
		if said := annotationsText(t); said != "" {
			showf(out, "    %s\n", said)
		}
	}
	return out.Flush()
}

// annotationsText returns a line that lists the annotations of a tool of an MCP server, and those
// that are ignored because the server is not trusted. It returns "" for a tool that has none, or is
// not of an MCP server.
func annotationsText(t *tool.Tool) string {
	said, counts := saidEffects(t), t.Definition.Effects
	if said == nil {
		return ""
	}
	var all, ignored []string
	for _, h := range []struct {
		name         string
		said, counts tool.Hint
	}{
		{"readOnly", said.ReadOnly, counts.ReadOnly}, {"destructive", said.Destructive, counts.Destructive},
		{"idempotent", said.Idempotent, counts.Idempotent}, {"openWorld", said.OpenWorld, counts.OpenWorld},
	} {
		if h.said == tool.Undeclared {
			continue
		}
		hint := fmt.Sprintf("%s %t", h.name, h.said == tool.Yes)
		if all = append(all, hint); h.said != h.counts {
			ignored = append(ignored, hint)
		}
	}
	if len(all) == 0 {
		return ""
	}
	text := "its server declares " + strings.Join(all, ", ")
	if len(ignored) > 0 && counts == (tool.Effects{}).MoreCareful(*said) { // otherwise the tool file overrides them
		text += "; ignored unless the server is trusted: " + strings.Join(ignored, ", ")
	}
	return text
}

// saidEffects returns the effects that an MCP server declares for its tool, trusted or not; nil for
// other tools.
func saidEffects(t *tool.Tool) *tool.Effects {
	if t.Driver != mcp.Driver {
		return nil
	}
	def, _ := tool.ParseDefinition(t.Definition.Raw, "", diag.Loc{})
	if def == nil {
		return nil
	}
	return &def.Effects
}

// Where tools come from.
const (
	theirs = iota
	ofMath // the only tools in Go that the command has
	ofLanguage
)

// ofPlc returns where a tool comes from.
func ofPlc(t *tool.Tool) int {
	switch t.Source {
	case "go":
		return ofMath
	case tool.BuiltIn, "":
		return ofLanguage
	}
	return theirs
}

func driverText(t *tool.Tool) string {
	switch {
	case t.Source == tool.BuiltIn:
		return "part of the language"
	case t.Activity == nil:
		return "latent: nothing runs it"
	}
	return "runs as " + t.Driver
}

// toolEntry is a tool in plc tools --format json.
type toolEntry struct {
	Name        string          `json:"name"`
	Description string          `json:"description"`
	Signature   string          `json:"signature"`
	Effects     map[string]any  `json:"effects"` // what is declared, by the names of plan-language §7
	Driver      string          `json:"driver"`  // "" when nothing runs it
	Source      string          `json:"source"`
	Definition  json.RawMessage `json:"definition"`
}

func (env *environment) toolsJSON(cat *tool.Catalogue) error {
	entries := []toolEntry{}
	for t := range cat.Tools() {
		def := t.Definition
		entries = append(entries, toolEntry{
			def.Name, def.Description, def.Signature(), declared(def.Effects), t.Driver, t.Source, def.Raw,
		})
	}
	return env.writeJSON(entries)
}

// declared returns the effects that a tool declares, by name.
func declared(e tool.Effects) map[string]any {
	said := map[string]any{}
	for name, hint := range map[string]tool.Hint{
		"readOnly": e.ReadOnly, "destructive": e.Destructive, "idempotent": e.Idempotent,
		"openWorld": e.OpenWorld, "pure": e.Pure, "independent": e.Independent,
	} {
		if hint != tool.Undeclared {
			said[name] = hint == tool.Yes
		}
	}
	if e.Domain != "" {
		said["domain"] = e.Domain
	}
	return said
}

func toolsCallCommand(env *environment, files *toolFiles) *cobra.Command {
	var timeout time.Duration
	var answers plc.ModelTapes
	c := &cobra.Command{
		Use:   "call NAME [PARAMS | KEY=VALUE…]",
		Short: "Call one tool",
		Long: `Call one tool with params: a JSON object, a file that holds one, or - for standard input; without
any, {}. Or each param is KEY=VALUE, JSON or else a string; a string as well where the tool takes
only that. The params are validated first, the
result afterwards. The tool is really called; there is no plan, no retry and no question first,
and nothing is remembered. A latent tool is put to its model.

Exit 1 when the params don't fit, 3 when the call failed.`,
		Example: `  plc tools call getWeather '{"city": "Rome"}' --tools tools.yaml
  plc tools call getWeather city=Rome days=3 --tools tools.yaml
  plc tools call getWeather params.json --tools tools.yaml`,
		Args: wants(1, -1, "the name of a tool, and its params"),
		ValidArgsFunction: func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
			return env.completeCall(*files, args)
		},
		RunE: func(c *cobra.Command, args []string) error {
			return env.callNamed(c.Context(), *files, args, timeout, answers)
		},
	}
	addModelTapes(c, &answers)
	addDuration(c, &timeout, "timeout", "longest that the call may take (default that of the tool, else 60s)")
	return c
}

// completeCall offers the names of tools, then files with params.
func (env *environment) completeCall(files toolFiles, args []string) ([]string, cobra.ShellCompDirective) {
	switch len(args) {
	case 0:
	case 1:
		return []string{"json"}, cobra.ShellCompDirectiveFilterFileExt
	default:
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	g, err := env.gather(context.Background(), files, plc.ToCheck)
	if err != nil {
		return nil, cobra.ShellCompDirectiveError
	}
	var names []string
	for t := range g.Catalogue.Listed() {
		names = append(names, display.Sprintf("%s\t%s", t.Definition.Name, t.Definition.Description).String())
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// callNamed runs plc tools call.
func (env *environment) callNamed(ctx context.Context, files toolFiles, args []string, timeout time.Duration, answers plc.ModelTapes) error {
	g, err := env.gatherSound(ctx, files, plc.ToRun)
	if err != nil {
		return err
	}
	cat := g.Catalogue
	t, ok := cat.Lookup(args[0])
	switch {
	case !ok && cat.Len() == 0:
		return fmt.Errorf("there is no tool %q; name a tool file with --tools %s", args[0], toolFileBeside("."))
	case !ok:
		return fmt.Errorf("there is no tool %q; %s", args[0], meant(args[0], toolNames(cat), "plc tools lists them"))
	case t.Activity == nil:
		if t, err = latent(t, g, answers); err != nil {
			return err
		}
	}
	params := json.RawMessage(`{}`)
	if len(args) > 1 {
		if params, err = env.callParams(t.Definition, args[1:]); err != nil {
			return err
		}
	}
	if timeout == 0 {
		timeout = t.Timeout
	}
	if timeout == 0 {
		timeout = time.Minute
	}
	return env.callTool(ctx, t, params, timeout)
}

// latent returns a latent tool with its model.
func latent(t *tool.Tool, g *plc.Tools, answers plc.ModelTapes) (*tool.Tool, error) {
	all, err := g.Models(answers)
	if err != nil {
		return nil, err
	}
	x, _ := compile.NewTarget(g.Catalogue, t, nil)
	m, err := all.Named(x.Place.Model)
	switch {
	case err != nil:
		return nil, err
	case m == nil:
		return nil, fmt.Errorf("the tool %q is latent: no activity of the tool files runs it, and there is no model to stand in for one", t.Definition.Name)
	}
	made := *t
	made.Activity, made.Timeout = x.Around(m), x.Timeout
	return &made, nil
}

func toolNames(cat *tool.Catalogue) iter.Seq[string] {
	return func(yield func(string) bool) {
		for t := range cat.Listed() {
			if !yield(t.Definition.Name) {
				return
			}
		}
	}
}

// callParams reads the params of a call: KEY=VALUE for each, or all in one JSON object or file. A
// value that is JSON counts as a string if the tool accepts only strings.
func (env *environment) callParams(def *tool.Definition, args []string) (json.RawMessage, error) {
	if len(args) == 1 && (isObject(args[0]) || !strings.Contains(args[0], "=")) {
		return env.params(args[0])
	}
	members := map[string]json.RawMessage{}
	for _, arg := range args {
		src, err := plc.ParseInput(arg)
		if err != nil {
			return nil, err
		}
		var member map[string]json.RawMessage
		if src.Text == "" || isObject(arg) || json.Unmarshal([]byte(src.Text), &member) != nil {
			if len(args) == 1 {
				return env.params(arg)
			}
			return nil, fmt.Errorf("%q: several params are KEY=VALUE each", arg)
		}
		for name, value := range member {
			if members[name] != nil {
				return nil, fmt.Errorf("the param %q is given twice", name)
			}
			if s := def.Param[name]; src.Key != "" && s != nil && s.Validate(value) != nil && s.Validate(quote(src.Value())) == nil {
				value = quote(src.Value())
			}
			members[name] = value
		}
	}
	return json.Marshal(members)
}

// params reads params: a JSON object as it is, or a file.
func (env *environment) params(arg string) (json.RawMessage, error) {
	if isObject(arg) {
		g, err := inline(arg)
		return g.JSON, err
	}
	g, err := env.jsonFile(arg)
	if err == nil && g.JSON[0] != '{' {
		err = fmt.Errorf("%s: params are a JSON object", shownName(arg))
	}
	return g.JSON, err
}

// callTool calls a tool and shows its result.
func (env *environment) callTool(ctx context.Context, t *tool.Tool, params json.RawMessage, timeout time.Duration) error {
	def := t.Definition
	if def.Params != nil {
		if err := def.Params.Validate(params); err != nil {
			return env.failed(exitErrors, "the params do not fit", err)
		}
	}
	env.graceful.Store(true)
	limited, clock := limit(ctx, timeout)
	defer clock.stop()
	res, err := t.Activity.Call(limited, &tool.Request{
		Tool: def.Name, Call: def.Name, Definition: def, Params: params, Attempt: 1, Clock: clock,
	})
	switch {
	case err != nil && ctx.Err() != nil:
		return env.failed(exitCancelled, "cancelled", err)
	case err != nil && errors.Is(context.Cause(limited), context.DeadlineExceeded):
		return env.failed(exitFailed, "the call failed", &tool.Error{Code: "timeout", Message: fmt.Sprintf("no answer within %s", timeout)})
	case err != nil:
		return env.failed(exitFailed, "the call failed", err)
	}
	if res.Value == nil {
		res.Value = json.RawMessage("null")
	}
	if err := env.writeJSON(res.Value); err != nil {
		return env.failed(exitFailed, "the result is not JSON", err)
	}
	if def.Output != nil {
		if err := def.Output.Validate(res.Value); err != nil {
			return env.failed(exitFailed, "the result is not what the definition says", err)
		}
	}
	return nil
}

// clock is the time limit of a call, which stops while a person is asked.
type clock struct {
	end func(error)

	mu     sync.Mutex
	timer  *time.Timer
	left   time.Duration // when the clock last started
	since  time.Time
	pauses int // the number of current pauses
}

// limit returns a context that ends when the time of a call is over.
func limit(ctx context.Context, d time.Duration) (context.Context, *clock) {
	limited, end := context.WithCancelCause(ctx)
	c := &clock{end: end, left: d}
	c.run()
	return limited, c
}

// run starts the clock. The caller holds mu, or is the only user.
func (c *clock) run() {
	c.since = time.Now()
	c.timer = time.AfterFunc(c.left, func() { c.end(context.DeadlineExceeded) })
}

// stop ends the context and the clock.
func (c *clock) stop() {
	c.end(nil)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.timer.Stop()
}

// Pause implements tool.Clock.
func (c *clock) Pause() (resume func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pauses++; c.pauses == 1 && c.timer.Stop() {
		c.left -= time.Since(c.since)
	}
	return sync.OnceFunc(func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.pauses--; c.pauses == 0 {
			c.run()
		}
	})
}

// failed reports an error and returns the exit code for it.
func (env *environment) failed(code exit, what string, err error) error {
	text := err.Error()
	if te := (*tool.Error)(nil); errors.As(err, &te) {
		text = te.Error()
	}
	show(env.stderr, said(display.Sprintf("%s: ", what), text))
	return code
}
