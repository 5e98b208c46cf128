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
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc/internal/display"
	"github.com/plc-lang/plc/internal/durable"
	"github.com/plc-lang/plc/internal/texttree"
)

// A host is an MCP host with a configuration file per folder.
type host struct {
	name, file string
	servers    string // the member that has the servers
}

var hosts = []host{
	{"claude-code", ".mcp.json", "mcpServers"},
	{"cursor", ".cursor/mcp.json", "mcpServers"},
	{"vscode", ".vscode/mcp.json", "servers"},
}

func hostNames() []string {
	var names []string
	for _, h := range hosts {
		names = append(names, h.name)
	}
	return names
}

// gatewayName is the name of the server in a host's configuration.
const gatewayName = "plc"

func mcpInstallCommand(env *environment) *cobra.Command {
	var tools []string
	var yes bool
	c := &cobra.Command{
		Use:   "install HOST",
		Short: "Put plc between an MCP host and its servers",
		Long: `Put plc between an MCP host and its servers. The host's configuration in the current folder
(.mcp.json, .cursor/mcp.json or .vscode/mcp.json) then has one server, plc. The servers that
it had move to a file beside it (mcp.plc.json), and plc calls them for the host's agent.

What changes is shown first, and a person is asked; --yes says yes. Comments, and all that
has nothing to do with servers, stay as they are. The old configuration is kept beside the
new one (.before-plc); plc mcp uninstall puts it back.`,
		Example: `  plc mcp install claude-code
  plc mcp install cursor --tools tools.yaml --yes`,
		Args: wants(1, 1, "one host"), ValidArgs: hostNames(),
		RunE: func(c *cobra.Command, args []string) error {
			return env.install(c.Context(), args[0], tools, yes)
		},
	}
	c.Flags().StringArrayVar(&tools, "tools", nil, "a tool file that plc uses as well (repeatable)")
	c.Flags().BoolVar(&yes, "yes", false, "write the files without asking")
	completeFiles(c, "yaml", "tools")
	return c
}

func mcpUninstallCommand(env *environment) *cobra.Command {
	return &cobra.Command{
		Use:     "uninstall HOST",
		Short:   "Give an MCP host its servers back",
		Long:    `Give an MCP host the configuration back that it had before plc mcp install.`,
		Example: `  plc mcp uninstall claude-code`,
		Args:    wants(1, 1, "one host"), ValidArgs: hostNames(),
		RunE: func(_ *cobra.Command, args []string) error { return env.uninstall(args[0]) },
	}
}

// setup holds the files that install writes and uninstall takes away.
type setup struct {
	old    *hostConfig
	config []byte // the new configuration
	behind []byte // the servers, for plc; nil for none
}

func findHost(name string) (host, error) {
	i := slices.IndexFunc(hosts, func(h host) bool { return h.name == name })
	if i < 0 {
		return host{}, fmt.Errorf("there is no host %q; it is one of %s", name, strings.Join(hostNames(), ", "))
	}
	return hosts[i], nil
}

func (h host) behind() string { return filepath.Join(filepath.Dir(h.file), "mcp.plc.json") }
func (h host) backup() string { return h.file + ".before-plc" }

// newSetup returns what is written for a host with these tool files.
func newSetup(h host, tools []string) (*setup, error) {
	old, err := readHostConfig(h)
	if err != nil {
		return nil, err
	}
	if _, ok := old.server(gatewayName); ok {
		return nil, fmt.Errorf("%s has the server %q already; plc mcp uninstall %s takes it away", h.file, gatewayName, h.name)
	}
	args := []string{"mcp"}
	if len(old.servers) > 0 {
		args = append(args, "--mcp", filepath.ToSlash(h.behind()))
	}
	for _, t := range tools {
		args = append(args, "--tools", t)
	}
	if len(args) == 1 {
		return nil, fmt.Errorf("%s has no servers, so there is nothing that plc could call; name a tool file with --tools", h.file)
	}
	list := &texttree.Node{Kind: texttree.Array}
	for _, a := range args {
		list.Entries = append(list.Entries, texttree.Entry{Value: texttree.Text(a)})
	}
	return old.behind(&texttree.Node{Kind: texttree.Object, Entries: []texttree.Entry{
		{Name: "command", Value: texttree.Text("plc")}, {Name: "args", Value: list},
	}}), nil
}

// behind puts the servers of a configuration behind plc, which is started by this entry.
func (c *hostConfig) behind(entry *texttree.Node) *setup {
	s := &setup{old: c, config: c.withServers([]texttree.Entry{{Name: gatewayName, Value: entry}})}
	if len(c.servers) > 0 {
		servers := &texttree.Node{Kind: texttree.Object, Entries: c.servers}
		moved := &texttree.Node{Kind: texttree.Object, Entries: []texttree.Entry{{Name: "mcpServers", Value: servers}}}
		s.behind = indented(moved.JSON())
	}
	return s
}

func indented(doc []byte) []byte {
	var b bytes.Buffer
	if json.Indent(&b, doc, "", "  ") != nil {
		return doc
	}
	return append(bytes.TrimSpace(b.Bytes()), '\n')
}

func (env *environment) install(ctx context.Context, name string, tools []string, yes bool) error {
	h, err := findHost(name)
	if err != nil {
		return err
	}
	s, err := newSetup(h, tools)
	if err != nil {
		return err
	}
	for _, file := range []string{h.behind(), h.backup()} {
		if _, err := os.Lstat(file); err == nil {
			return fmt.Errorf("%s exists; move it away first", file)
		}
	}
	show(env.stderr, display.Sprintf("%s:\n%s\n", display.Name(h.file), display.Block("  ", changed(s.old.was, s.config))))
	if s.behind != nil {
		show(env.stderr, display.Sprintf("%s:\n%s\n", display.Name(h.behind()), display.Block("  ", changed(nil, s.behind))))
	}
	if !yes {
		if !env.canAsk() {
			return fmt.Errorf("nothing was written, since there is nobody to ask; --yes writes the files")
		}
		if ok, _ := env.ask(ctx, nil, display.Lit("write these files?")); !ok {
			return exit(exitRejected)
		}
	}
	if err := s.write(h); err != nil {
		return err
	}
	show(env.stderr, display.Sprintf("done; restart the host. plc mcp uninstall %s undoes it\n", display.Name(name)))
	return nil
}

// write writes the servers first, then the backup, and the host's own file last. An error leaves
// the host as it was.
func (s *setup) write(h host) error {
	if err := os.MkdirAll(filepath.Dir(h.file), 0o755); err != nil {
		return err
	}
	var made []string
	for _, f := range []struct {
		name string
		text []byte
	}{{h.behind(), s.behind}, {h.backup(), s.old.was}} {
		if f.text == nil {
			continue
		}
		if err := durable.Create(f.name, f.text); err != nil { // for its owner alone: it may hold tokens
			return errors.Join(err, remove(made...))
		}
		made = append(made, f.name)
	}
	if err := durable.WriteFile(h.file, s.config); err != nil {
		return errors.Join(err, remove(made...))
	}
	return nil
}

// remove removes files that may be gone.
func remove(files ...string) error {
	for _, file := range files {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}

func (env *environment) uninstall(name string) error {
	h, err := findHost(name)
	if err != nil {
		return err
	}
	now, err := readHostConfig(h)
	if err != nil {
		return err
	}
	entry, ok := now.server(gatewayName)
	if !ok {
		return fmt.Errorf("%s has no server %q", h.file, gatewayName)
	}
	moved, err := readOptional(h.behind())
	if err != nil {
		return err
	}
	was, err := readOptional(h.backup())
	if err != nil {
		return err
	}
	before, err := parseHostConfig(h, h.backup(), was)
	if err != nil {
		return err
	}
	if s := before.behind(entry.Value); bytes.Equal(s.config, now.was) && bytes.Equal(s.behind, moved) {
		if was == nil { // there was no configuration before
			err = os.Remove(h.file)
		} else {
			err = durable.WriteFile(h.file, was)
		}
		if err != nil {
			return err
		}
		show(env.stderr, display.Sprintf("%s is as it was before\n", display.Name(h.file)))
		return remove(h.behind(), h.backup())
	}
	// Something was changed since: that is kept, and the servers come back.
	servers := before.servers
	if moved != nil {
		list, err := parseHostConfig(host{servers: "mcpServers"}, h.behind(), moved)
		if err != nil {
			return err
		}
		servers = list.servers
	}
	if err := durable.WriteFile(h.file, now.withServers(joined(servers, now.servers))); err != nil {
		return err
	}
	show(env.stderr, display.Sprintf("%s has its servers back, and what was changed in it since\n", display.Name(h.file)))
	if was != nil {
		show(env.stderr, display.Sprintf("%s is what it was before\n", display.Name(h.backup())))
	}
	return remove(h.behind())
}

// readOptional reads a file; nil is one that is not there.
func readOptional(name string) ([]byte, error) {
	text, err := os.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

// joined returns servers with those that were added since; of two of a name, the one added. The
// gateway is left out.
func joined(servers, added []texttree.Entry) []texttree.Entry {
	all := slices.DeleteFunc(slices.Clone(servers), func(e texttree.Entry) bool {
		_, again := (&texttree.Node{Entries: added}).Get(e.Name)
		return again
	})
	return append(all, slices.DeleteFunc(slices.Clone(added), func(e texttree.Entry) bool { return e.Name == gatewayName })...)
}
