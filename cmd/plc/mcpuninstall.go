package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc/internal/display"
	"github.com/plc-lang/plc/internal/durable"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/internal/texttree"
)

func mcpUninstallCommand(env *environment) *cobra.Command {
	var user, yes, dryRun bool
	c := &cobra.Command{
		Use:   "uninstall HOST",
		Short: "Give an MCP host its servers back",
		Long: `Give an MCP host the configuration back that it had before plc mcp install. If that was changed
since, the changes are kept, and the servers come back.

What changes is shown first, and --dry-run writes nothing. A person is asked if the servers that
come back are not those that install moved; --yes says yes.`,
		Example: `  plc mcp uninstall claude-code
  plc mcp uninstall claude-code --dry-run`,
		Args: wants(1, 1, "one host"), ValidArgs: hostNames,
		RunE: func(c *cobra.Command, args []string) error {
			return env.uninstall(c.Context(), args[0], user, yes, dryRun)
		},
	}
	addUser(c, &user)
	c.Flags().BoolVar(&yes, "yes", false, "write the files without asking")
	c.Flags().BoolVar(&dryRun, "dry-run", false, "show what would change, and write nothing")
	return c
}

// A restoration holds the files that uninstall reads, and the configuration that it writes.
type restoration struct {
	now        *hostConfig
	was, moved []byte // the backup and the servers behind plc; nil if there is none
	config     []byte // nil: there was none before
	exact      bool   // nothing has changed since install, so the configuration is the backup
	doubt      string // why the servers may not be those that install moved; "" if they are
}

// newRestoration reads the files of a host and returns the changes that restore its servers.
func newRestoration(h host) (*restoration, error) {
	now, err := readHostConfig(h)
	if err != nil {
		return nil, err
	}
	entry, ok := now.server(gatewayName)
	if !ok {
		return nil, fmt.Errorf("%s has no server %q", h.file, gatewayName)
	}
	r := &restoration{now: now}
	if r.moved, err = readOptional(h.moved); err != nil {
		return nil, err
	}
	if r.was, err = readOptional(h.backup()); err != nil {
		return nil, err
	}
	names, ours := h.installed(entry)
	switch {
	case !ours && r.moved == nil && r.was == nil: // nothing says that install was here
		return nil, fmt.Errorf("%s has a server %q that plc mcp install did not write; take it out by hand", h.file, gatewayName)
	case names && r.moved == nil && r.was == nil:
		return nil, fmt.Errorf("the servers of %s were moved to %s, which is not here, and neither is %s; nothing was changed", h.file, h.moved, h.backup())
	}
	before, err := parseHostConfig(h, h.backup(), r.was)
	if err != nil {
		return nil, err
	}
	s := before.behind(entry.Value)
	if r.exact = bytes.Equal(s.config, now.was) && bytes.Equal(s.behind, r.moved); r.exact {
		r.config = r.was
		return r, nil
	}
	switch {
	case !ours:
		r.doubt = fmt.Sprintf("%s has a server %q that plc mcp install did not write", h.file, gatewayName)
	case r.moved != nil && r.was == nil:
		r.doubt = fmt.Sprintf("%s, which says what plc mcp install moved to %s, is not here", h.backup(), h.moved)
	case r.moved != nil && !bytes.Equal(s.behind, r.moved):
		r.doubt = fmt.Sprintf("%s does not have the servers that plc mcp install moved there from %s", h.moved, h.backup())
	}
	servers := before.servers
	if r.moved != nil {
		list, err := parseHostConfig(host{servers: "mcpServers"}, h.moved, r.moved)
		if err != nil {
			return nil, err
		}
		servers = list.servers
	}
	r.config = now.withServers(joined(servers, now.servers))
	return r, nil
}

func (env *environment) uninstall(ctx context.Context, name string, user, yes, dryRun bool) error {
	h, err := findHost(name, user)
	if err != nil {
		return err
	}
	r, err := newRestoration(h)
	if err != nil {
		return err
	}
	move := env.moveInProject(h.moved, h.file, r.moved, r.config)
	env.showChanges(fileChange{h.file, r.now.was, r.config})
	move.show(env)
	if dryRun {
		show(env.stderr, display.Sprintf("nothing was written\n"))
		return nil
	}
	if r.doubt != "" && !yes {
		if err := env.askToWrite(ctx, r.doubt); err != nil {
			return err
		}
	}
	if err := r.write(env, h); err != nil {
		return err
	}
	return errors.Join(move.apply(env, h.moved, h.file), remove(h.moved))
}

// write writes the configuration and reports it. It removes the backup, or renames it if the
// configuration is not the same.
func (r *restoration) write(env *environment, h host) error {
	err := h.staysInside() // a link may have been made while plc asked
	switch {
	case err != nil:
	case r.config == nil:
		err = os.Remove(h.file)
	default:
		err = durable.WriteFile(h.file, r.config)
	}
	switch {
	case err != nil:
		return err
	case r.exact:
		show(env.stderr, display.Sprintf("%s is as it was before\n", display.Name(h.file)))
		return remove(h.backup())
	}
	show(env.stderr, display.Sprintf("%s has its servers back, and what was changed in it since\n", display.Name(h.file)))
	if r.was == nil {
		return nil
	}
	kept, err := setAside(h.backup())
	if err == nil {
		show(env.stderr, display.Sprintf("%s is what it was before\n", display.Name(kept)))
	}
	return err
}

// setAside renames a file, so that its name becomes free, and returns the new name.
func setAside(name string) (string, error) {
	for n := 1; ; n++ {
		free := fmt.Sprintf("%s.%d", name, n)
		if _, err := os.Lstat(free); errors.Is(err, fs.ErrNotExist) {
			return free, os.Rename(name, free)
		}
	}
}

// readOptional reads a file; it returns nil if the file does not exist.
func readOptional(name string) ([]byte, error) {
	text, err := jsonscan.ReadFile(name)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return text, err
}

// joined returns servers and the added ones, without the gateway. If two have the same name, it
// keeps the added one.
func joined(servers, added []texttree.Entry) []texttree.Entry {
	all := slices.DeleteFunc(slices.Clone(servers), func(e texttree.Entry) bool {
		_, again := (&texttree.Node{Entries: added}).Get(e.Name)
		return again
	})
	return append(all, slices.DeleteFunc(slices.Clone(added), func(e texttree.Entry) bool { return e.Name == gatewayName })...)
}
