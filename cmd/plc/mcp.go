package main

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/spf13/cobra"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/cmd/plc/internal/gateway"
	"github.com/plc-lang/plc/internal/display"
	"github.com/plc-lang/plc/journal/postgres"
)

// gatewayFlags are the flags of plc mcp.
type gatewayFlags struct {
	spec  plc.Spec
	tools toolFiles
	store string
	http  string
	role  string // of the agent
	runs  int
	agentFlags
}

// digestFlag is the flag of plc mcp with the digest that its files had at plc mcp install.
const digestFlag = "digest"

const (
	// tokenVariable is the environment variable with the token that HTTP clients have to send.
	tokenVariable = "PLC_MCP_TOKEN"

	// minToken is the minimum length of that token.
	minToken = 16
)

func mcpCommand(env *environment) *cobra.Command {
	var f gatewayFlags
	var digest string
	c := &cobra.Command{
		Use:   "mcp",
		Short: "Serve plans to agents as an MCP server",
		Long: `Serve plans to agents as an MCP server over standard input and output, or over HTTP.

Whatever tools stand behind it, an agent gets seven: search_tools, check, preview, run, status,
result and cancel. It writes one plan instead of calling tool after tool, and gets back only
what the plan's output names.

No tool approves anything. Calls of destructive tools wait until a person says yes with
plc approve RUN; the run then continues by itself. Runs that were under way when the server
ended are resumed by the next one with the same store.

A client that can open pages is asked to open that of plc serve on which a person decides, if
--page says where that serves the same store.

With --role, the agent sees and plans with the tools of a role of the file that --agents names.
plc mcp sessions shows what agents asked for.

With --http, clients have to send the header "Authorization: Bearer TOKEN" with the token
that the variable PLC_MCP_TOKEN has (at least 16 characters). Only addresses of this machine
can be listened on.`,
		Example: `  plc mcp --tools tools.yaml
  plc mcp --mcp .mcp.json --approve all
  plc mcp --tools tools.yaml --agents agents.yaml --role reader --session-steps 500
  PLC_MCP_TOKEN=$(openssl rand -hex 16) plc mcp --tools tools.yaml --http 127.0.0.1:8765`,
		Args: knownCommand,
		RunE: func(c *cobra.Command, _ []string) error {
			f.spec.Toolset = f.tools.Toolset
			env.keepFiles(&f.spec.Toolset, f.file)
			if err := env.checkDigest(&f, digest); err != nil {
				return err
			}
			return env.serveAgents(c.Context(), &f)
		},
	}
	f.add(c)
	c.Flags().StringVar(&digest, digestFlag, "", "do not start unless the files that the flags name have this SHA-256, which plc mcp install writes")
	c.Flags().StringVar(&f.http, "http", "", "serve over HTTP on this address, as in 127.0.0.1:8765, instead of standard input and output")
	c.AddCommand(mcpInstallCommand(env), mcpUninstallCommand(env), mcpSessionsCommand(env))
	return c
}

// add adds the flags that say how agents are served, but not where.
func (f *gatewayFlags) add(c *cobra.Command) {
	fl, s := c.Flags(), &f.spec
	addTools(fl, c, &f.tools)
	addStore(c, &f.store, "where the records of runs are kept: a path")
	addAgents(c, &f.agentFlags, "where plc serve serves the same store, as in https://plc.example: clients are asked to open its page for what waits")
	fl.StringVar(&f.role, "role", "", "the role of the agent, from the file of --agents")
	fl.IntVar(&f.runs, "max-runs", gateway.DefaultMaxRuns, "how many runs may be under way")
	addServed(c, s)
	fl.IntVar(&s.Limits.Steps, "max-steps", 0, "how many calls a run may start (default 1000)")
	fl.Float64Var(&s.Limits.Tokens, "max-tokens", 0, "how many tokens a run may use; 0 is no limit")
	fl.Float64Var(&s.Limits.Cost, "max-cost", 0, "how much a run may cost; 0 is no limit")
}

// options returns the values of flags that can be checked by themselves.
func (f *gatewayFlags) options(env *environment) (role *gateway.Role, page func(run string) string, err error) {
	if f.runs < 1 {
		return nil, nil, fmt.Errorf("--max-runs is %d, and has to be at least 1", f.runs)
	}
	if role, err = f.agentFlags.role(env, f.role); err == nil {
		page, err = pageOf(f.page)
	}
	return role, page, err
}

// checkDigest returns an error unless the files that flags of plc mcp name, without those of the
// project, have a digest; any will do if it is "".
func (env *environment) checkDigest(f *gatewayFlags, digest string) error {
	if digest == "" {
		return nil
	}
	files := env.keepFiles(&env.given, f.file)
	now := plc.ProjectDigest(files)
	if now == digest {
		return nil
	}
	var names []string
	for _, file := range files {
		if file.Name != "" {
			names = append(names, file.Name)
		}
	}
	return fmt.Errorf("files of plc mcp have changed since plc mcp install: look at %s; then plc mcp uninstall HOST and plc mcp install HOST, or --%s %s, accept them as they are", strings.Join(names, ", "), digestFlag, now)
}

// serveAgents serves until the client is gone, or a signal.
func (env *environment) serveAgents(ctx context.Context, f *gatewayFlags) error {
	role, page, err := f.options(env)
	if err != nil {
		return err
	}
	guard, err := env.listener(f.http)
	if err != nil {
		return err
	}
	if guard != nil {
		defer guard.Close()
	}
	store, err := openStore(f.store)
	if err != nil {
		return err
	}
	if store == nil {
		return errors.New("plc mcp needs a store: runs that wait for a person are kept in it")
	}
	defer store.Close()
	folder, err := os.Getwd()
	if err != nil {
		return err
	}
	f.spec.Toolset.Partial = true // work without servers that can't be used, like hosts do
	config, told := env.gatewayConfig(store)
	g, err := gateway.New(ctx, gateway.Options{
		Engine: env.newEngine(config), Spec: f.spec, MaxRuns: f.runs, Version: version(), Folder: folder,
		Approve: f.answerText, Page: page, Role: role, Session: f.session,
	})
	if err != nil {
		return env.toolsFault(err)
	}
	defer g.Close()
	env.showFindings(g.Findings)
	told.Store(g)
	if guard == nil {
		err = g.Serve(ctx, &mcp.IOTransport{Reader: io.NopCloser(env.stdin), Writer: unclosed{env.stdout}})
	} else {
		err = env.serveHTTP(ctx, guard, g.Handler(nil))
	}
	if ctx.Err() != nil {
		return exit(exitCancelled)
	}
	return err
}

// answerText returns a text that says how a person answers for a run of the gateway.
func (f *gatewayFlags) answerText(run string) string {
	command := "plc approve " + run
	if at, err := storePath(f.store); err == nil && (f.store != "" || os.Getenv("PLC_STORE") != "") {
		if whole, err := filepath.Abs(at); err == nil && !postgres.IsURL(at) { // the person is in another folder
			at = whole
		}
		command += fmt.Sprintf(" --store %q", postgres.WithoutPassword(at))
	}
	where := ""
	if page, err := pageOf(f.page); err == nil && page != nil {
		where = "a person decides at " + page(run) + ", or "
	}
	return where + "a person runs this in a terminal: " + command
}

// listener listens on an address of this machine; nil for "".
func (env *environment) listener(address string) (net.Listener, error) {
	if address == "" {
		return nil, nil
	}
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("--http %q: %w; give a host and a port, as in 127.0.0.1:8765", address, err)
	}
	if ip := net.ParseIP(host); host != "localhost" && (ip == nil || !ip.IsLoopback()) {
		return nil, fmt.Errorf("--http %q: only addresses of this machine are allowed, as in 127.0.0.1:8765", address)
	}
	if len(os.Getenv(tokenVariable)) < minToken {
		return nil, fmt.Errorf("--http needs a token of at least %d characters in the variable %s", minToken, tokenVariable)
	}
	return net.Listen("tcp", address)
}

// serveHTTP serves clients that have the token until ctx is done.
func (env *environment) serveHTTP(ctx context.Context, l net.Listener, h http.Handler) error {
	want := sha256.Sum256([]byte("Bearer " + os.Getenv(tokenVariable)))
	server := &http.Server{
		ReadHeaderTimeout: 10 * time.Second,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			got := sha256.Sum256([]byte(r.Header.Get("Authorization")))
			if subtle.ConstantTimeCompare(got[:], want[:]) != 1 {
				w.Header().Set("WWW-Authenticate", "Bearer")
				http.Error(w, "the token in the header Authorization is missing or wrong", http.StatusUnauthorized)
				return
			}
			h.ServeHTTP(w, r)
		}),
	}
	showf(env.stderr, "serving MCP on http://%s\n", display.Line(l.Addr().String()))
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(l); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return nil
}

// unclosed is a writer that a transport can't close.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }
