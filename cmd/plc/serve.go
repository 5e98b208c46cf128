package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/cmd/plc/internal/gateway"
	"github.com/plc-lang/plc/cmd/plc/internal/oidc"
	"github.com/plc-lang/plc/cmd/plc/internal/server"
	"github.com/plc-lang/plc/cmd/plc/internal/webhook"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/display"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/journal"
)

// serveFlags are the flags of plc serve.
type serveFlags struct {
	spec            plc.Spec
	tools           toolFiles
	store, tokens   string
	listen, socket  string
	cert, key       string
	hosts           []string
	runs, queue, by int
	uploads         string
	upload          int64
	others          bool
	webhooks, oidc  string
	agentFlags
}

func serveCommand(env *environment) *cobra.Command {
	var f serveFlags
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve plans, runs and approvals over HTTP, with pages for people",
		Long: `Serve an HTTP API and pages: check, preview and run plans, look at runs, and decide what
waits for a person. Runs that were under way when the server ended are resumed by the next one
with the same store.

The link that is printed logs one browser in, once. All other callers need a token: plc token
makes them. With --socket, who can open the socket needs none. Agents are served over MCP at /mcp,
with a token that allows runs and no approvals; with --agents it needs a role of that file. An
address other than one of this machine is refused as long as there is no token.`,
		Example: `  plc serve --tools tools.yaml
  plc serve --tools tools.yaml --socket run/plc.sock
  plc serve --tools tools.yaml --listen 10.0.0.5:8443 --host plc.example:8443 --tls-cert cert.pem --tls-key key.pem`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			f.spec.Toolset = f.tools.Toolset
			env.keepFiles(&f.spec.Toolset, f.file)
			return env.serve(c.Context(), &f)
		},
	}
	fl, s := c.Flags(), &f.spec
	addTools(fl, c, &f.tools)
	addStore(c, &f.store, "where the records of runs are kept: a path")
	addTokens(c, &f.tokens)
	addAgents(c, &f.agentFlags, "where people reach the pages, as in https://plc.example, for clients of agents and webhooks (default: the address)")
	fl.StringVar(&f.listen, "listen", "127.0.0.1:8080", "the address to listen on")
	fl.StringVar(&f.socket, "socket", "", "listen on a unix socket instead; its folder is made if need be, and has to be for this user alone")
	fl.StringArrayVar(&f.hosts, "host", nil, "a host with its port by which the server is reached, besides the address (repeatable)")
	fl.StringVar(&f.cert, "tls-cert", "", "certificate, for HTTPS")
	fl.StringVar(&f.key, "tls-key", "", "key of the certificate")
	fl.IntVar(&f.runs, "max-runs", server.DefaultRunning, "how many runs execute at once")
	fl.IntVar(&f.queue, "max-queued", server.DefaultQueued, "how many more runs may wait")
	fl.IntVar(&f.by, "max-per-caller", server.DefaultPerCaller, "how many runs of one caller may execute or wait")
	fl.StringVar(&f.uploads, "uploads", "", "folder for the files of instances that callers send; servers that share a store need the same one (default: beside the store)")
	f.upload = server.DefaultMaxUpload
	addSize(c, &f.upload, "max-upload", "most bytes of a file of instances that a caller sends, as in 1GiB")
	fl.BoolVar(&f.others, "others-approve", false, "whoever started or forked a run may not answer its questions")
	addServed(c, s)
	fl.IntVar(&s.Limits.Steps, "max-steps", 0, "how many calls a run may start; 0 is no limit")
	fl.StringVar(&f.oidc, "oidc", "", "a file that names an OpenID Connect issuer whose tokens count, with what they allow")
	completeFiles(c, "yaml,yml,json", "oidc")
	fl.StringVar(&f.webhooks, "webhooks", "", "a file with services that are told what waits for a person, has ended or has failed")
	completeFiles(c, "yaml,yml,json", "webhooks")
	completeFiles(c, "pem", "tls-cert", "tls-key")
	must(c.MarkFlagDirname("uploads"))
	return c
}

// serve serves until a signal.
func (env *environment) serve(ctx context.Context, f *serveFlags) error {
	if (f.cert == "") != (f.key == "") {
		return errors.New("--tls-cert and --tls-key go together")
	}
	tokens, err := tokensOf(f.tokens)
	if err != nil {
		return err
	}
	l, hosts, err := f.open(tokens)
	if err != nil {
		return err
	}
	defer l.Close()
	store, err := openStore(f.store)
	if err != nil {
		return err
	}
	if store == nil {
		return errors.New("plc serve needs a store: runs are kept in it")
	}
	defer store.Close()
	f.spec.Toolset.Partial = true // work without servers that can't be used
	uploads, err := f.uploadsFolder()
	if err != nil {
		return err
	}
	config, told := env.gatewayConfig(store)
	engine := env.newEngine(config)
	agents, closeAgents, err := f.serveAgents(ctx, env, engine, l, told)
	if err != nil {
		return env.toolsFault(err)
	}
	defer closeAgents()
	issuer, err := f.issuer(l)
	if err != nil {
		return err
	}
	s, err := server.New(ctx, server.Options{
		Issuer: issuer, Engine: engine, Agents: agents, Spec: f.spec, Tokens: tokens,
		Hosts: hosts, Trusted: f.socket != "", Running: f.runs, Queued: f.queue, PerCaller: f.by, OthersApprove: f.others,
		Uploads: uploads, MaxUpload: f.upload,
		Preview: func(p *plc.Preview, most int) string {
			return (&blueprintWriter{full: true}).write(p.Plan.Name, p.DryRun, p.Forecast, most).String()
		},
		Question: func(q *journal.Question) (string, error) {
			asked, err := questionOf(q)
			if err != nil {
				return "", err
			}
			asked.path = exec.CallID(asked.path)
			return asked.full().String(), nil
		},
	})
	if err != nil {
		return env.toolsFault(err)
	}
	defer s.Close()
	env.showFindings(s.Findings)
	endTelling, err := env.tellHooks(ctx, f, store, l)
	if err != nil {
		return err
	}
	defer endTelling()
	if f.socket != "" {
		showf(env.stderr, "serving on the socket %s\n", f.socket)
	} else {
		at := f.address(l)
		showf(env.stderr, "serving on %s\nserving agents on %s/mcp\nlog in, once, within 10 minutes: %s%s\n", at, at, at, s.Link())
		if all, err := tokens.List(); err == nil && issuer == nil && !slices.ContainsFunc(all, func(k server.Token) bool { return !k.Session }) {
			env.hintf("programs need a token, which plc token create makes; who logs in with the link needs none")
		}
	}
	return env.serveUntil(ctx, l, s, f)
}

// issuer returns the provider of the file of --oidc; nil without one.
func (f *serveFlags) issuer(l net.Listener) (*oidc.Provider, error) {
	switch {
	case f.oidc == "":
		return nil, nil
	case f.socket != "":
		return nil, errors.New("--oidc is not for a socket: who can open it may do everything")
	}
	text, err := jsonscan.ReadFile(f.oidc)
	if err != nil {
		return nil, err
	}
	c, err := oidc.Read(f.oidc, text, os.LookupEnv)
	if err != nil {
		return nil, err
	}
	for _, group := range slices.Sorted(maps.Keys(c.Roles)) {
		if _, err := server.ParseRoles(strings.Join(c.Roles[group], ",")); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", f.oidc, group, err)
		}
	}
	c.Redirect = strings.TrimSuffix(cmp.Or(f.page, f.address(l)), "/") + server.CallbackPath
	return oidc.New(*c), nil
}

// tellHooks starts to notify the webhooks of the file, until end is called.
func (env *environment) tellHooks(ctx context.Context, f *serveFlags, store journal.Store, l net.Listener) (end func(), err error) {
	if f.webhooks == "" {
		return func() {}, nil
	}
	text, err := jsonscan.ReadFile(f.webhooks)
	if err != nil {
		return nil, err
	}
	hooks, err := webhook.Read(f.webhooks, text, os.LookupEnv)
	if err != nil {
		return nil, err
	}
	o := webhook.Options{Store: store, Hooks: hooks, Log: func(text string) { showf(env.stderr, "%s\n", display.Line(text)) }}
	if f.page != "" || f.socket == "" {
		o.Page, err = addressesOf(cmp.Or(f.page, f.address(l)))
		if err != nil {
			return nil, err
		}
	}
	return webhook.Start(ctx, o).Close, nil
}

// uploadsFolder returns the folder for files of instances.
func (f *serveFlags) uploadsFolder() (string, error) {
	if f.uploads != "" {
		return filepath.Abs(f.uploads)
	}
	path, err := localPath(f.store)
	if err != nil {
		return "", err
	}
	return filepath.Abs(path + ".uploads")
}

// toolsFault shows the findings of an error about tool files, and returns the error that the
// command ends with.
func (env *environment) toolsFault(err error) error {
	if faulty, ok := errors.AsType[*plc.PlanError](err); ok {
		env.showFindings(faulty.Findings)
		return exit(exitErrors)
	}
	return err
}

func (f *serveFlags) scheme() string {
	if f.cert != "" {
		return "https"
	}
	return "http"
}

// address returns a URL by which the server is reached.
func (f *serveFlags) address(l net.Listener) string {
	host := l.Addr().String()
	if onAll(l) {
		_, port, _ := net.SplitHostPort(host)
		host = cmp.Or(append(f.hosts, "localhost:"+port)...)
	}
	return f.scheme() + "://" + host
}

// onAll reports whether a listener listens on all addresses of this machine.
func onAll(l net.Listener) bool {
	a, ok := l.Addr().(*net.TCPAddr)
	return ok && a.IP.IsUnspecified()
}

// serveAgents returns the handler that serves agents over MCP; nil on a socket, where people and
// agents can't be distinguished.
func (f *serveFlags) serveAgents(ctx context.Context, env *environment, engine *plc.Engine, l net.Listener, told *atomic.Pointer[gateway.Gateway]) (h http.Handler, end func(), err error) {
	if f.socket != "" {
		if f.agentFlags != (agentFlags{page: f.page}) {
			return nil, nil, errors.New("--agents and --session-… are for agents, which are not served on a socket: who can open it may approve")
		}
		return nil, func() {}, nil
	}
	roles, err := f.roles(env)
	if err != nil {
		return nil, nil, err
	}
	if f.session != (gateway.Budget{}) && roles == nil {
		return nil, nil, errors.New("--session-… need --agents: a token without a role of agents may also start runs at /v1, which no budget bounds")
	}
	page, err := pageOf(cmp.Or(f.page, f.address(l)))
	if err != nil {
		return nil, nil, err
	}
	folder, err := os.Getwd()
	if err != nil {
		return nil, nil, err
	}
	g, err := gateway.New(ctx, gateway.Options{
		Engine: engine, Spec: f.spec, MaxRuns: f.runs, Version: version(), Folder: folder, Page: page, Session: f.session,
		Approve: func(run string) string { return "a person decides at " + page(run) },
	})
	if err != nil {
		return nil, nil, err
	}
	if err := g.CheckRoles(roles); err != nil {
		return nil, nil, errors.Join(err, g.Close())
	}
	told.Store(g)
	return agentsOf(g, roles), func() { g.Close() }, nil
}

func (env *environment) serveUntil(ctx context.Context, l net.Listener, h http.Handler, f *serveFlags) error {
	env.graceful.Store(true) // running runs are interrupted in an orderly way
	srv := &http.Server{Handler: h, ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, IdleTimeout: 2 * time.Minute}
	stop := context.AfterFunc(ctx, func() { srv.Close() })
	defer stop()
	var err error
	if f.cert != "" {
		err = srv.ServeTLS(l, f.cert, f.key)
	} else {
		err = srv.Serve(l)
	}
	if ctx.Err() != nil {
		return exit(exitCancelled)
	}
	return err
}

// open listens, and returns the hosts that requests may name.
func (f *serveFlags) open(tokens *server.Tokens) (net.Listener, []string, error) {
	if f.socket != "" {
		l, err := listenSocket(f.socket)
		return l, nil, err
	}
	host, _, err := net.SplitHostPort(f.listen)
	if err != nil {
		return nil, nil, fmt.Errorf("--listen %q: %w; give a host and a port, as in 127.0.0.1:8080", f.listen, err)
	}
	ip := net.ParseIP(host)
	here := host == "localhost" || ip != nil && ip.IsLoopback()
	if !here {
		all, err := tokens.List()
		if err != nil {
			return nil, nil, err
		}
		if len(all) == 0 && f.oidc == "" {
			return nil, nil, fmt.Errorf("--listen %q: others can reach this address, and there is no token yet; plc token create makes one, and --oidc names an issuer", f.listen)
		}
	}
	l, err := net.Listen("tcp", f.listen)
	if errors.Is(err, syscall.EADDRINUSE) {
		return nil, nil, fmt.Errorf("--listen %q: another program listens there; name another address, or port 0 for any that is free", f.listen)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("--listen %q: %w", f.listen, err)
	}
	_, port, _ := net.SplitHostPort(l.Addr().String())
	hosts := []string{net.JoinHostPort(host, port)}
	if here || onAll(l) {
		hosts = append(hosts, "localhost:"+port, "127.0.0.1:"+port, "[::1]:"+port)
	}
	for _, h := range f.hosts {
		hosts = append(hosts, strings.ToLower(h))
	}
	return l, hosts, nil
}

// listenSocket listens on a unix socket in a folder that only this user may enter.
func listenSocket(name string) (net.Listener, error) {
	dir := filepath.Dir(name)
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return nil, err
	}
	info, err := os.Stat(dir)
	if err != nil {
		return nil, err
	}
	if info.Mode().Perm()&0o077 != 0 {
		return nil, fmt.Errorf("--socket %q: others may enter its folder; chmod 700 %s, or name a folder that is not there yet", name, dir)
	}
	if c, err := net.Dial("unix", name); err == nil {
		c.Close()
		return nil, fmt.Errorf("--socket %q: another server listens on it", name)
	}
	if info, err := os.Lstat(name); err == nil && info.Mode().Type() == os.ModeSocket { // left by a server that was killed
		os.Remove(name)
	}
	l, err := net.Listen("unix", name)
	if err != nil {
		return nil, err
	}
	if err := os.Chmod(name, 0o600); err != nil {
		return nil, errors.Join(err, l.Close())
	}
	return l, nil
}

// addTokens adds the flag that names the file of tokens.
func addTokens(c *cobra.Command, path *string) {
	c.Flags().StringVar(path, "tokens", "", "the file of the tokens' hashes (default: a file in the user's state directory)")
	completeFiles(c, "json", "tokens")
}

// tokensOf returns the tokens in the file that a flag names.
func tokensOf(flag string) (*server.Tokens, error) {
	if flag != "" {
		return &server.Tokens{Path: flag}, nil
	}
	dir, err := stateFolder()
	if err != nil {
		return nil, fmt.Errorf("there is no folder for tokens: %w; --tokens names a file", err)
	}
	return &server.Tokens{Path: filepath.Join(dir, "plc", "tokens.json")}, nil
}

func tokenCommand(env *environment) *cobra.Command {
	c := &cobra.Command{
		Use:     "token",
		Short:   "Make, list and revoke tokens for plc serve",
		Long:    "Make, list and revoke the tokens that callers of plc serve have. Only their hashes are kept.",
		Example: "  plc token create ci --roles run",
		Args:    knownCommand,
		RunE:    func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	c.AddCommand(tokenCreateCommand(env), tokenListCommand(env), tokenRevokeCommand(env))
	return c
}

func tokenCreateCommand(env *environment) *cobra.Command {
	var path, words, agent string
	var lasts time.Duration
	c := &cobra.Command{
		Use:     "create NAME",
		Short:   "Make a token and print it, once",
		Long:    "Make a token for somebody and print it. It can't be shown again.",
		Example: "  plc token create ada --roles run,approve --expires 720h\n  plc token create bot --roles run --agent reader",
		Args:    wants(1, 1, "one name"),
		RunE: func(_ *cobra.Command, args []string) error {
			roles, err := server.ParseRoles(words)
			if err != nil {
				return err
			}
			tokens, err := tokensOf(path)
			if err != nil {
				return err
			}
			k := server.Token{Name: args[0], Roles: roles, Agent: agent}
			if server.IsOfIssuer(args[0]) {
				return fmt.Errorf("%q is the name of somebody whom an issuer knows (--oidc); give another one", args[0])
			}
			if agent != "" && slices.Contains(roles, server.Approve) {
				return errors.New("--agent: the token of an agent must not have the role approve; who approves has a token of their own")
			}
			if lasts > 0 {
				k.Expires = time.Now().Add(lasts).UTC()
			}
			secret, err := tokens.Make(k)
			if err != nil {
				return err
			}
			showf(env.stdout, "%s\n", secret)
			return nil
		},
	}
	addTokens(c, &path)
	c.Flags().StringVar(&words, "roles", "read", "what it allows: read, run, approve, with commas between")
	c.Flags().StringVar(&agent, "agent", "", "the role that an agent with the token has, from the file of plc serve --agents")
	addDuration(c, &lasts, "expires", "how long it counts, as in 720h; 0 is until it is revoked")
	return c
}

func tokenListCommand(env *environment) *cobra.Command {
	var path string
	c := &cobra.Command{
		Use:     "list",
		Short:   "List the tokens, and the sessions of people",
		Long:    "List who has a token, or has logged in on a page, with the roles. The tokens themselves\nare not kept.",
		Example: "  plc token list",
		Args:    cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			tokens, err := tokensOf(path)
			if err != nil {
				return err
			}
			all, err := tokens.List()
			if err != nil {
				return err
			}
			for _, k := range all {
				var words []string
				for _, r := range k.Roles {
					words = append(words, string(r))
				}
				kind, expires := "token", "never"
				if k.Session {
					kind = "session"
				}
				if k.Agent != "" {
					words = append(words, "agent "+k.Agent)
				}
				if !k.Expires.IsZero() {
					expires = k.Expires.Format(time.RFC3339)
				}
				showf(env.stdout, "%s\t%s\t%s\tcreated %s\texpires %s\n", display.Name(k.Name), kind, strings.Join(words, ","), k.Created.Format(time.RFC3339), expires)
			}
			return nil
		},
	}
	addTokens(c, &path)
	return c
}

func tokenRevokeCommand(env *environment) *cobra.Command {
	var path string
	c := &cobra.Command{
		Use:     "revoke NAME",
		Short:   "Revoke a token and the sessions begun with it",
		Long:    "Revoke the token of this name, with all sessions that were begun with it. A server that runs\nrefuses it from then on.",
		Example: "  plc token revoke ci",
		Args:    wants(1, 1, "one name"),
		RunE: func(_ *cobra.Command, args []string) error {
			tokens, err := tokensOf(path)
			if err == nil {
				err = tokens.Revoke(args[0])
			}
			if err == nil {
				env.hintf("revoked %s", args[0])
			}
			return err
		},
	}
	addTokens(c, &path)
	return c
}
