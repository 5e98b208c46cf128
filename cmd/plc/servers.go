package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/tool/file"
	"github.com/plc-lang/plc/tool/mcp"
)

// lockName is the name of a lock that is found by itself, beside a file with servers.
const lockName = "plc.lock.json"

// readServers reads the configs of MCP clients.
func (env *environment) readServers(named toolFiles) ([]*file.File, diag.List, error) {
	var files []*file.File
	var findings diag.List
	for _, name := range named.mcp {
		text, err := env.readGiven(journal.Tools, name)
		if err != nil {
			return nil, nil, err
		}
		f, found := file.ReadServers(diag.NewFile(shownName(name), text))
		f.Secrets, f.Memory = env.secrets(named), env.remembers()
		files, findings = append(files, f), append(findings, found...)
	}
	return files, findings, nil
}

// startServers starts the MCP servers of files, if there are any: they run until the command
// ends. With a lock that has them all, and when no tool will be called, none is started.
func (env *environment) startServers(ctx context.Context, named toolFiles, files []*file.File) (*mcp.Pool, diag.List, error) {
	declared, findings := file.Servers(files...)
	if len(declared) == 0 {
		return nil, findings, nil
	}
	opts := &mcp.Options{Environ: os.Environ(), Version: version(), Offline: named.offline || env.sealed}
	if env.canAsk() {
		opts.Ask = env.answerServer
	}
	lock, recorded, err := env.lock(named, files)
	if err != nil {
		return nil, nil, err
	}
	opts.Lock = lock
	var servers []mcp.Server
	for _, s := range declared {
		if opts.Lock != nil && !opts.Lock.Has(s.Name) {
			findings = append(findings, diag.Finding{
				Code: diag.BadServer, Loc: s.Loc,
				Message: fmt.Sprintf("MCP server %q is not in the lock; look at its tools, then plc tools lock", s.Name),
			})
			continue
		}
		if s.Lacking != nil {
			lacking, unstarted := *s.Lacking, opts.Offline && opts.Lock != nil
			if unstarted {
				lacking.Severity = diag.Warning
			}
			if findings = append(findings, lacking); !unstarted {
				continue
			}
		}
		servers = append(servers, mcp.Server{
			Name: s.Name, Command: s.Command, Args: s.Args, Dir: s.Dir, Env: s.Env, URL: s.URL, Headers: s.Headers,
			Trust: s.Trust, Redact: s.Redact, Loc: s.Loc,
		})
	}
	graceful := env.graceful.Swap(true) // a signal ends what is being started
	pool := mcp.Open(ctx, servers, opts)
	env.keepServers(pool)
	env.graceful.Store(graceful)
	if ctx.Err() != nil {
		return nil, nil, exit(exitCancelled)
	}
	if told, err := pool.Lock(); err == nil && !recorded { // so that the run goes on with these
		text, err := json.Marshal(told)
		if err != nil {
			return nil, nil, err
		}
		env.texts.keep(journal.Tools, toldText, "", text)
	}
	return pool, append(findings, pool.Findings()...), nil
}

// toldText is the name under which a record has the definitions of the tools of MCP
// servers, as a lock.
const toldText = "(tools of MCP servers)"

// keepServers makes that servers are ended with the command.
func (env *environment) keepServers(pool *mcp.Pool) {
	env.serving.Lock()
	defer env.serving.Unlock()
	env.pools = append(env.pools, pool)
}

// closeServers ends the servers that were started.
func (env *environment) closeServers() {
	env.serving.Lock()
	defer env.serving.Unlock()
	for _, p := range env.pools {
		p.Close()
	}
	env.pools = nil
}

// lock is what servers are held to: what the record of the run has, or the lock that is named,
// or the one that lies beside a file with servers; nil when there is none.
func (env *environment) lock(named toolFiles, files []*file.File) (lock *mcp.Lock, recorded bool, err error) {
	text, recorded, err := env.texts.recorded(journal.Tools, toldText)
	name := toldText
	if !recorded {
		if name = lockFile(named, files); name == "" {
			return nil, false, nil
		}
		text, err = env.readFile(name)
	}
	if err == nil {
		lock, err = mcp.ReadLock(text)
	}
	if err != nil {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return lock, recorded, err
}

// lockFile is the name of the lock; "" when there is none.
func lockFile(named toolFiles, files []*file.File) string {
	if named.lock != "" || named.unlocked {
		return named.lock
	}
	for _, f := range files {
		beside := filepath.Join(filepath.Dir(f.Source.Name), lockName)
		if _, err := os.Stat(beside); len(f.Servers) > 0 && !errors.Is(err, fs.ErrNotExist) {
			return beside
		}
	}
	return ""
}

// toolsLockCommand is plc tools lock.
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
	named.unlocked, named.lock, named.uncalled = true, "", true
	g, err := env.gatherSound(ctx, named)
	if err != nil {
		return err
	}
	if g.pool == nil {
		return errors.New("there are no MCP servers to lock; name a file that has some with --mcp or --tools")
	}
	l, err := g.pool.Lock()
	if err != nil {
		return err
	}
	if output == "-" {
		return env.writeJSON(l)
	}
	if output == "" {
		for _, f := range g.files {
			if len(f.Servers) > 0 {
				output = filepath.Join(filepath.Dir(f.Source.Name), lockName)
			}
		}
	}
	if err := env.keepsRead("output", output); err != nil {
		return err
	}
	text, err := json.MarshalIndent(l, "", "  ")
	if err != nil {
		return err
	}
	if err := os.WriteFile(output, append(visible(text), '\n'), 0o644); err != nil {
		return fmt.Errorf("can't write the lock: %w", err)
	}
	env.hintf("%s has the tools of %s", output, strings.Join(serverNames(g.pool), ", "))
	return nil
}

func serverNames(pool *mcp.Pool) []string {
	var names []string
	for _, c := range pool.Servers() {
		names = append(names, c.Name())
	}
	return names
}

// toolsAddCommand is plc tools add.
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
	named.uncalled = true
	g, err := env.gatherSound(ctx, named)
	if err != nil {
		return err
	}
	if g.pool == nil && len(specs) == 0 {
		return errors.New("there are neither MCP servers nor documents; name some with --mcp or --openapi")
	}
	text, err := env.servicesOf(specs)
	if err != nil {
		return err
	}
	if g.pool != nil {
		text = append(toolFileOf(g), text...)
	}
	if output == "" {
		_, err := env.stdout.Write(text)
		return err
	}
	f, err := os.OpenFile(output, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("can't write the tool file: %w", err)
	}
	_, err = f.Write(text)
	return errors.Join(err, f.Close())
}

// toolFileOf is a tool file with the servers and their tools. JSON stands in it where what
// is written has to be what it was.
func toolFileOf(g *gathered) []byte {
	var b bytes.Buffer
	b.WriteString("mcpServers:\n")
	for _, f := range g.files {
		for _, s := range f.Servers {
			fmt.Fprintf(&b, "  %s: %s\n", quote(s.Name), s.Raw)
		}
	}
	b.WriteString("activities:\n")
	for t := range g.tools.Tools() {
		if t.Driver == mcp.Driver {
			fmt.Fprintf(&b, "  # %s; %s\n", printable(t.Definition.Signature()), effectsText(t.Definition.Effects))
			fmt.Fprintf(&b, "  %s: %s\n", quote(t.Definition.Name), t.Raw)
		}
	}
	return visible(b.Bytes())
}

// visible is JSON in which what can't be seen, and may turn the order of what can, is written as \u202e.
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
