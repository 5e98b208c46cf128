package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/display"
	"github.com/plc-lang/plc/internal/durable"
	"github.com/plc-lang/plc/internal/links"
	"github.com/plc-lang/plc/internal/texttree"
	"github.com/plc-lang/plc/journal/postgres"
	"github.com/plc-lang/plc/tool/file"
)

// A host is an MCP host with a configuration file.
type host struct {
	name, file string
	servers    string // the member that has the servers
	moved      string // the file to which its servers move
	user       bool   // the file belongs to a user and is for all folders
}

// hosts returns the hosts with a configuration for each folder, or those with one for each user.
func hosts(user bool) ([]host, error) {
	if !user {
		return []host{
			{name: "claude-code", file: ".mcp.json", servers: "mcpServers", moved: "mcp.plc.json"},
			{name: "cursor", file: ".cursor/mcp.json", servers: "mcpServers", moved: ".cursor/mcp.plc.json"},
			{name: "vscode", file: ".vscode/mcp.json", servers: "servers", moved: ".vscode/mcp.plc.json"},
		}, nil
	}
	home, err := os.UserHomeDir()
	if err != nil {
		return nil, err
	}
	config, err := os.UserConfigDir()
	if err != nil {
		return nil, err
	}
	of := func(name, dir, file, servers string) host {
		return host{name: name, file: filepath.Join(dir, file), servers: servers, moved: filepath.Join(dir, strings.TrimSuffix(file, ".json")+".plc.json"), user: true}
	}
	return []host{
		of("claude-code", home, ".claude.json", "mcpServers"),
		of("claude-desktop", filepath.Join(config, "Claude"), "claude_desktop_config.json", "mcpServers"),
		of("cursor", filepath.Join(home, ".cursor"), "mcp.json", "mcpServers"),
		of("vscode", filepath.Join(config, "Code", "User"), "mcp.json", "servers"),
	}, nil
}

// hostNames lists the names of all hosts.
var hostNames = []string{"claude-code", "claude-desktop", "cursor", "vscode"}

// gatewayName is the name of the server in a host's configuration.
const gatewayName = "plc"

// installFlags are the flags of plc mcp install.
type installFlags struct {
	user, yes, dryRun bool
	gatewayFlags      // of plc mcp, as the host starts it
}

func mcpInstallCommand(env *environment) *cobra.Command {
	var f installFlags
	c := &cobra.Command{
		Use:   "install HOST",
		Short: "Put plc between an MCP host and its servers",
		Long: `Put plc between an MCP host and its servers. The host's configuration in the current folder
(.mcp.json, .cursor/mcp.json or .vscode/mcp.json), or with --user that of the user for all
folders, then has the server plc. The servers that it had move to a file beside it
(mcp.plc.json), and plc calls them for the host's agent. Those that plc can't call stay.

The other flags are those of plc mcp, with which the host then starts it.

What changes is shown first, and a person is asked; --yes says yes, and --dry-run writes
nothing. Comments, and all that has nothing to do with servers, stay as they are. The old
configuration is kept beside the new one (.before-plc); plc mcp uninstall puts it back. A trusted
plc.yaml that names the configuration is changed to name the new file, and stays trusted.`,
		Example: `  plc mcp install claude-code
  plc mcp install claude-code --approve all --dry-run
  plc mcp install cursor --tools tools.yaml --yes
  plc mcp install claude-desktop --user`,
		Args: wants(1, 1, "one host"), ValidArgs: hostNames,
		RunE: func(c *cobra.Command, args []string) error {
			if _, _, err := f.options(env); err != nil {
				return err
			}
			if len(f.tools.MCP) > 0 {
				return errors.New("--mcp is for plc mcp: install moves the servers that the host has")
			}
			return env.install(c.Context(), args[0], &f, c.Flags())
		},
	}
	f.add(c)
	must(c.Flags().MarkHidden("mcp"))
	addUser(c, &f.user)
	c.Flags().BoolVar(&f.yes, "yes", false, "write the files without asking")
	c.Flags().BoolVar(&f.dryRun, "dry-run", false, "show what would change, and write nothing")
	return c
}

// args returns the arguments of plc mcp for the flags. For a user, it uses absolute paths, because
// the host starts plc in another folder.
func (f *installFlags) args(given *pflag.FlagSet) (args []string, err error) {
	f.eachFile(func(name *string) {
		if f.user && err == nil {
			*name, err = filepath.Abs(*name)
		}
		if err == nil {
			if _, err = os.Stat(*name); err != nil {
				err = plc.ReadError(err)
			}
		}
	})
	if err != nil {
		return nil, err
	}
	if f.user && f.store != "" && f.store != noStore && !postgres.IsURL(f.store) {
		if f.store, err = filepath.Abs(f.store); err != nil {
			return nil, err
		}
	}
	args = f.tools.args()
	given.Visit(func(g *pflag.Flag) {
		switch g.Name {
		case "approve", "on-uncertain", "page", "role", "max-runs", "max-parallel", "max-steps", "max-tokens", "max-cost", "max-time", "max-state",
			"session-steps", "session-tokens", "session-cost":
			args = append(args, "--"+g.Name, g.Value.String())
		case "store":
			args = append(args, "--store", f.store)
		case "agents":
			args = append(args, "--agents", f.file)
		case "lazy":
			args = append(args, "--lazy="+g.Value.String())
		}
	})
	return args, nil
}

// eachFile calls do with the name of each file that plc mcp reads.
func (f *installFlags) eachFile(do func(name *string)) {
	all := []*string{&f.tools.Lock, &f.file}
	for i := range f.tools.Files {
		if t := &f.tools.Files[i]; t.Text == "" && t.Name != "math" { // math comes with plc
			all = append(all, &t.Name)
		}
	}
	for i := range f.tools.Policies {
		all = append(all, &f.tools.Policies[i])
	}
	for _, name := range all {
		if *name != "" {
			do(name)
		}
	}
}

func addUser(c *cobra.Command, user *bool) {
	c.Flags().BoolVar(user, "user", false, "the host's configuration of this user, for all folders, instead of that of the current folder")
}

// setup holds the files that install writes.
type setup struct {
	old    *hostConfig
	config []byte   // the new configuration
	behind []byte   // the configuration of the servers that plc starts; nil if there are none
	stays  []string // reasons why servers stay with the host
}

// findHost returns the host with a name. If its files are in the current folder, no link may lead
// them out of it.
func findHost(name string, user bool) (host, error) {
	all, err := hosts(user)
	if err != nil {
		return host{}, err
	}
	i := slices.IndexFunc(all, func(h host) bool { return h.name == name })
	switch {
	case i >= 0:
		return all[i], all[i].staysInside()
	case slices.Contains(hostNames, name):
		return host{}, fmt.Errorf("%s has one configuration for all folders; add --user", name)
	}
	return host{}, fmt.Errorf("there is no host %q; it is one of %s", name, strings.Join(hostNames, ", "))
}

// staysInside returns an error if a link leads a file of the host out of the current folder.
func (h host) staysInside() error {
	if h.user { // users may keep the file elsewhere
		return nil
	}
	for _, file := range []string{h.file, h.moved, h.backup()} {
		switch at, err := links.Outside(".", file); {
		case err != nil:
			return plc.ReadError(err)
		case at != "":
			return fmt.Errorf("a link leads %s out of this folder, to %s: put a copy of that file in place of the link; --user is for the configuration of all folders", file, at)
		}
	}
	return nil
}

func (h host) backup() string { return h.file + ".before-plc" }

// newSetup returns the files to write for a host that starts plc mcp with these arguments, in
// addition to its servers. digest returns the digest of the files that plc mcp will read, given the
// text of the file to which servers move.
func newSetup(h host, given []string, digest func(moved []byte) string) (*setup, error) {
	old, err := readHostConfig(h)
	if err != nil {
		return nil, err
	}
	if entry, ok := old.server(gatewayName); ok {
		if _, ours := h.installed(entry); !ours {
			return nil, fmt.Errorf("%s has a server %q that plc mcp install did not write; give it another name first", h.file, gatewayName)
		}
		return nil, fmt.Errorf("%s has the server %q already; plc mcp uninstall %s takes it away", h.file, gatewayName, h.named())
	}
	args := []string{"mcp"}
	moves, stays := old.movable()
	if len(moves) > 0 {
		args = append(args, "--mcp", filepath.ToSlash(h.moved))
	}
	if args = append(args, given...); !slices.Contains(args, "--mcp") && !slices.Contains(args, "--tools") {
		return nil, fmt.Errorf("%s has no servers that plc could call; name a tool file with --tools%s", h.file, strings.Join(stays, ""))
	}
	args = append(args, "--"+digestFlag, digest(movedFile(moves)))
	list := &texttree.Node{Kind: texttree.Array}
	for _, a := range args {
		list.Entries = append(list.Entries, texttree.Entry{Value: texttree.Text(a)})
	}
	return old.behind(&texttree.Node{Kind: texttree.Object, Entries: []texttree.Entry{
		{Name: "command", Value: texttree.Text(ownCommand())}, {Name: "args", Value: list},
	}}), nil
}

// installed reports whether install wrote the entry of the gateway (ours), and whether the entry
// names the file of the moved servers (names).
func (h host) installed(entry texttree.Entry) (names, ours bool) {
	list, ok := entry.Value.Get("args")
	if !ok || len(list.Value.Entries) == 0 || list.Value.Entries[0].Value.Str != "mcp" {
		return false, false
	}
	for i, e := range list.Value.Entries[1:] { // e comes behind the one at i
		if list.Value.Entries[i].Value.Str != "--mcp" {
			continue
		}
		if e.Value.Str != filepath.ToSlash(h.moved) {
			return false, false
		}
		names = true
	}
	return names, true
}

// ownCommand returns the command with which a host starts plc: its name if that is found in PATH,
// and otherwise the path of this program.
func ownCommand() string {
	if _, err := exec.LookPath("plc"); err == nil {
		return "plc"
	}
	own, err := os.Executable()
	if err != nil {
		return "plc"
	}
	return own
}

// named returns the arguments that name a host.
func (h host) named() string {
	if h.user {
		return h.name + " --user"
	}
	return h.name
}

// movable returns the servers of a configuration that plc can call, and why the others stay with
// the host.
func (c *hostConfig) movable() (moves []texttree.Entry, stays []string) {
	for _, e := range c.servers {
		if e.Name == gatewayName {
			continue
		}
		if why := unusable(e); why != "" {
			stays = append(stays, fmt.Sprintf("\n%q stays: %s", e.Name, why))
		} else {
			moves = append(moves, e)
		}
	}
	return moves, stays
}

// hostVariable matches variables whose values only a host knows.
var hostVariable = regexp.MustCompile(`\$\{(?:(?:workspaceFolder|fileWorkspaceFolder|workspaceFolderBasename|userHome|pathSeparator|/)|(?:config|command):[^}]*)\}`)

// unusable returns the reason why plc can't call a server in any environment; "" if it can.
func unusable(e texttree.Entry) string {
	text := serversFile([]texttree.Entry{e})
	if bytes.Contains(text, []byte("${input:")) {
		return "the host asks for its inputs"
	}
	if what := hostVariable.Find(text); what != nil {
		return "only the host knows " + string(what)
	}
	if _, ok := e.Value.Get("envFile"); ok {
		return "plc does not read its envFile"
	}
	_, found := file.ReadServers(diag.NewFile("", text))
	for _, f := range found {
		if f.Severity == diag.Error {
			return f.Message
		}
	}
	return ""
}

// serversFile returns a configuration of servers.
func serversFile(servers []texttree.Entry) []byte {
	all := &texttree.Node{Kind: texttree.Object, Entries: servers}
	return (&texttree.Node{Kind: texttree.Object, Entries: []texttree.Entry{{Name: "mcpServers", Value: all}}}).JSON()
}

// behind moves the servers of a configuration behind plc. The host starts plc with this entry.
func (c *hostConfig) behind(entry *texttree.Node) *setup {
	moves, stays := c.movable()
	kept := slices.DeleteFunc(slices.Clone(c.servers), func(e texttree.Entry) bool {
		return slices.ContainsFunc(moves, func(m texttree.Entry) bool { return m.Name == e.Name })
	})
	config := c.withServers(append([]texttree.Entry{{Name: gatewayName, Value: entry}}, kept...))
	return &setup{old: c, stays: stays, config: config, behind: movedFile(moves)}
}

// movedFile returns the text of the file of servers that move; nil for none.
func movedFile(moves []texttree.Entry) []byte {
	if len(moves) == 0 {
		return nil
	}
	return indented(serversFile(moves))
}

func indented(doc []byte) []byte {
	var b bytes.Buffer
	if json.Indent(&b, doc, "", "  ") != nil {
		return doc
	}
	return append(bytes.TrimSpace(b.Bytes()), '\n')
}

func (env *environment) install(ctx context.Context, name string, f *installFlags, given *pflag.FlagSet) error {
	h, err := findHost(name, f.user)
	if err != nil {
		return err
	}
	args, err := f.args(given)
	if err != nil {
		return err
	}
	s, err := newSetup(h, args, func(moved []byte) string { return env.installedDigest(h, f, moved) })
	if err != nil {
		return err
	}
	for _, file := range []string{h.moved, h.backup()} {
		if _, err := os.Lstat(file); err == nil {
			return fmt.Errorf("%s exists; move it away first", file)
		}
	}
	var move *projectMove
	if s.behind != nil {
		move = env.moveInProject(h.file, h.moved, s.old.was, s.behind)
	}
	env.showSetup(h, s, move)
	if f.dryRun {
		show(env.stderr, display.Sprintf("nothing was written\n"))
		return nil
	}
	if !f.yes {
		if err := env.askToWrite(ctx, ""); err != nil {
			return err
		}
	}
	if err := s.write(h); err != nil {
		return err
	}
	show(env.stderr, display.Sprintf("done; restart the host. plc mcp uninstall %s undoes it\n", display.Line(h.named())))
	if s.behind == nil {
		env.askToRemove(h.file)
		return nil
	}
	return move.apply(env, h.file, h.moved)
}

// installedDigest returns the digest of the files that plc mcp will read, given the text of the
// file to which servers of the host move.
func (env *environment) installedDigest(h host, f *installFlags, moved []byte) string {
	tools := f.tools.Toolset
	if moved != nil {
		tools.MCP = []string{h.moved}
	}
	files := env.keepFiles(&tools, f.file)
	for i := range files {
		if moved != nil && files[i].Name == h.moved {
			files[i].Text = moved
		}
	}
	return plc.ProjectDigest(files)
}

// askToWrite asks the user whether it may write the shown files. It returns an error if not, or if
// there is nobody to ask. why is the reason for asking; it may be "".
func (env *environment) askToWrite(ctx context.Context, why string) error {
	if !env.canAsk() {
		if why != "" {
			why += ", and "
		}
		return fmt.Errorf("nothing was written, since %sthere is nobody to ask; --yes writes the files", why)
	}
	if why != "" {
		show(env.stderr, display.Sprintf("%s\n", display.Line(why)))
	}
	if ok, _ := env.ask(ctx, nil, display.Lit("write these files?")); !ok {
		return exit(exitRejected)
	}
	return nil
}

// showSetup shows the changes that install makes, and the servers that it doesn't move.
func (env *environment) showSetup(h host, s *setup, move *projectMove) {
	env.showChanges(fileChange{h.file, s.old.was, s.config}, fileChange{h.moved, nil, s.behind})
	move.show(env)
	for _, why := range s.stays {
		show(env.stderr, display.Sprintf("%s\n", display.Line(strings.TrimSpace(why))))
	}
	if local := h.elsewhere(); len(local) > 0 {
		show(env.stderr, display.Sprintf("warning: for this folder, Claude Code has more servers in ~/.claude.json, whose tools its agent calls without plc: %s; claude mcp remove NAME takes one out\n", display.Line(strings.Join(local, ", "))))
	}
}

// A fileChange holds the old and the new text of a configuration of servers; nil if the file does
// not exist.
type fileChange struct {
	name     string
	was, now []byte
}

// showChanges shows the lines that change. Secrets are not shown.
func (env *environment) showChanges(all ...fileChange) {
	some := false
	for _, c := range all {
		if c.was == nil && c.now == nil {
			continue
		}
		was, hidden := hideSecrets(c.was)
		now, again := hideSecrets(c.now)
		some = some || hidden || again
		show(env.stderr, display.Sprintf("%s:\n%s\n", display.Name(c.name), display.Block("  ", changed(was, now))))
	}
	if some {
		show(env.stderr, display.Sprintf("%s stands for a value that may be a secret; it is written as it is\n", display.Lit(hiddenSecret)))
	}
}

// hiddenSecret is shown in place of a secret.
const hiddenSecret = `"(hidden)"`

// shownOfServer lists the members of a server that are shown, except for parts that look like
// secrets.
var shownOfServer = []string{"args", "command", "cwd", "dir", "transport", "type", "url"}

// hideSecrets returns the text of a configuration without possible secrets, and whether there are
// any. These are strings and numbers other than ${NAME}, except in shownOfServer.
func hideSecrets(text []byte) (shown []byte, hidden bool) {
	if text == nil {
		return nil, false
	}
	var secrets []diag.Span
	enabled := slices.Clone(text)
	if root, fault := texttree.ParseJSON(text, maxConfigDepth); fault == nil {
		for _, top := range root.Entries {
			if top.Name != "mcpServers" && top.Name != "servers" {
				secrets = writtenOut(secrets, top.Value)
				continue
			}
			for _, server := range top.Value.Entries {
				for _, member := range server.Value.Entries {
					if !slices.Contains(shownOfServer, member.Name) {
						secrets = writtenOut(secrets, member.Value)
					}
					if at := member.Value.Span; member.Name == "disabled" && member.Value.Raw == "true" {
						copy(enabled[at.Start:at.End], "null") // ReadServers looks only at servers that are enabled
					}
				}
			}
		}
	}
	_, found := file.ReadServers(diag.NewFile("", enabled))
	for _, f := range found {
		if f.Secret {
			secrets = append(secrets, f.Loc.Span)
		}
	}
	slices.SortFunc(secrets, func(a, b diag.Span) int { return int(b.Start - a.Start) })
	secrets = slices.Compact(secrets)
	for _, s := range secrets {
		text = slices.Concat(text[:s.Start], []byte(hiddenSecret), text[s.End:])
	}
	return text, len(secrets) > 0
}

// variable matches a string that only names a variable: ${NAME}, or ${env:NAME} in VS Code.
var variable = regexp.MustCompile(`^\$\{(\w+:)?\w[\w-]*\}$`)

// writtenOut appends the places of the strings and numbers in a value, except for variables.
func writtenOut(all []diag.Span, n *texttree.Node) []diag.Span {
	if n.Kind == texttree.String && !variable.MatchString(n.Str) || n.Kind == texttree.Number {
		all = append(all, diag.Span(n.Span))
	}
	for _, e := range n.Entries {
		all = writtenOut(all, e.Value)
	}
	return all
}

// write writes the servers first, then the backup, and the host's own file last. An error leaves
// the host as it was.
func (s *setup) write(h host) error {
	if err := h.staysInside(); err != nil { // a link may have been made while plc asked
		return err
	}
	if err := os.MkdirAll(filepath.Dir(h.file), 0o755); err != nil {
		return err
	}
	var made []string
	for _, f := range []struct {
		name string
		text []byte
	}{{h.moved, s.behind}, {h.backup(), s.old.was}} {
		if f.text == nil {
			continue
		}
		if err := durable.Create(f.name, f.text); err != nil { // readable only by its owner: it may contain tokens
			return errors.Join(err, remove(made...))
		}
		made = append(made, f.name)
	}
	if err := durable.WriteFile(h.file, s.config); err != nil {
		return errors.Join(err, remove(made...))
	}
	return nil
}

// remove removes files that may not exist.
func remove(files ...string) error {
	for _, file := range files {
		if err := os.Remove(file); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
