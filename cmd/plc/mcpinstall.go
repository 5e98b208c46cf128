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
	"github.com/tidwall/gjson"
	"github.com/tidwall/sjson"

	"github.com/plc-lang/plc/internal/display"
	"github.com/plc-lang/plc/internal/durable"
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

Both files are shown first, and a person is asked; --yes says yes. The old configuration is
kept beside the new one (.before-plc); plc mcp uninstall puts it back.`,
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

// setup is what install writes, and uninstall takes away.
type setup struct {
	host   host
	old    []byte // the configuration; nil when there is none
	config []byte // the new one
	behind []byte // the servers, for plc
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

// newSetup returns the two configurations for a host.
func newSetup(name string, tools []string) (*setup, error) {
	h, err := findHost(name)
	if err != nil {
		return nil, err
	}
	s := &setup{host: h}
	if s.old, err = os.ReadFile(h.file); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	doc := s.old
	if doc == nil {
		doc = []byte("{}")
	}
	if !gjson.ValidBytes(doc) || !gjson.ParseBytes(doc).IsObject() {
		return nil, fmt.Errorf("%s is not a JSON object", h.file)
	}
	servers := gjson.GetBytes(doc, h.servers)
	if servers.Get(gatewayName).Exists() {
		return nil, fmt.Errorf("%s has the server %q already; plc mcp uninstall %s takes it away", h.file, gatewayName, h.name)
	}
	if !servers.Exists() {
		servers = gjson.Parse("{}")
	}
	args := []string{"mcp"}
	if len(servers.Map()) > 0 {
		args = append(args, "--mcp", h.behind())
	}
	for _, t := range tools {
		args = append(args, "--tools", t)
	}
	if len(args) == 1 {
		return nil, fmt.Errorf("%s has no servers, so there is nothing that plc could call; name a tool file with --tools", h.file)
	}
	if s.behind, err = sjson.SetRawBytes([]byte("{}"), "mcpServers", []byte(servers.Raw)); err != nil {
		return nil, err
	}
	entry := map[string]any{"command": "plc", "args": args}
	if s.config, err = sjson.SetBytes(doc, h.servers, map[string]any{gatewayName: entry}); err != nil {
		return nil, err
	}
	s.config, s.behind = indented(s.config), indented(s.behind)
	return s, nil
}

func indented(doc []byte) []byte {
	var b bytes.Buffer
	if json.Indent(&b, doc, "", "  ") != nil {
		return doc
	}
	return append(bytes.TrimSpace(b.Bytes()), '\n')
}

func (env *environment) install(ctx context.Context, name string, tools []string, yes bool) error {
	s, err := newSetup(name, tools)
	if err != nil {
		return err
	}
	for _, file := range []string{s.host.behind(), s.host.backup()} {
		if _, err := os.Lstat(file); err == nil {
			return fmt.Errorf("%s exists; move it away first", file)
		}
	}
	show(env.stderr, display.Sprintf("%s:\n%s\n%s:\n%s\n",
		display.Name(s.host.file), display.Block("  ", string(s.config)), display.Name(s.host.behind()), display.Block("  ", string(s.behind))))
	if !yes {
		if !env.canAsk() {
			return fmt.Errorf("nothing was written, since there is nobody to ask; --yes writes the files")
		}
		if ok, _ := env.ask(ctx, nil, display.Lit("write these files?")); !ok {
			return exit(exitRejected)
		}
	}
	if err := s.write(); err != nil {
		return err
	}
	show(env.stderr, display.Sprintf("done; restart the host. plc mcp uninstall %s undoes it\n", display.Name(name)))
	return nil
}

// write writes the servers first, then the backup, and the host's own file last, so that an
// error leaves the host as it was.
func (s *setup) write() error {
	if err := os.MkdirAll(filepath.Dir(s.host.file), 0o755); err != nil {
		return err
	}
	if err := writeNew(s.host.behind(), s.behind); err != nil {
		return err
	}
	if s.old != nil {
		if err := writeNew(s.host.backup(), s.old); err != nil {
			return errors.Join(err, os.Remove(s.host.behind()))
		}
	}
	write := durable.WriteFile
	if s.old == nil {
		write = writeNew
	}
	if err := write(s.host.file, s.config); err != nil {
		return errors.Join(err, os.Remove(s.host.behind()))
	}
	return nil
}

// writeNew writes a file for its owner alone: it may hold tokens.
func writeNew(name string, text []byte) error { return os.WriteFile(name, text, 0o600) }

// restored returns the configuration with the servers that plc had taken, and with what was
// changed in it since.
func (h host) restored(doc []byte) ([]byte, error) {
	servers := map[string]json.RawMessage{}
	moved, err := os.ReadFile(h.behind())
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	for _, list := range []gjson.Result{gjson.GetBytes(moved, "mcpServers"), gjson.GetBytes(doc, h.servers)} {
		for name, server := range list.Map() {
			servers[name] = json.RawMessage(server.Raw)
		}
	}
	delete(servers, gatewayName)
	if len(servers) == 0 {
		doc, err = sjson.DeleteBytes(doc, h.servers)
	} else {
		doc, err = sjson.SetBytes(doc, h.servers, servers)
	}
	return indented(doc), err
}

func (env *environment) uninstall(name string) error {
	h, err := findHost(name)
	if err != nil {
		return err
	}
	doc, err := os.ReadFile(h.file)
	if err != nil {
		return err
	}
	if !gjson.GetBytes(doc, h.servers+"."+gatewayName).Exists() {
		return fmt.Errorf("%s has no server %q", h.file, gatewayName)
	}
	if doc, err = h.restored(doc); err != nil {
		return err
	}
	_, err = os.Lstat(h.backup())
	created := errors.Is(err, fs.ErrNotExist) // there was no configuration before
	if created && len(gjson.ParseBytes(doc).Map()) == 0 {
		err = os.Remove(h.file)
	} else {
		err = durable.WriteFile(h.file, doc)
	}
	if err != nil {
		return err
	}
	for _, file := range []string{h.behind(), h.backup()} {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	show(env.stderr, display.Sprintf("%s is as it was before\n", display.Name(h.file)))
	return nil
}
