package mcp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	nethttp "net/http"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/process"
)

// The bounds of what a server may offer.
const (
	maxTools   = 1000
	maxPages   = 200
	maxListing = 16 << 20 // bytes of all definitions
)

// Client is a server and the connection with it.
type Client struct {
	server Server
	opts   *Options
	turn   chan struct{} // a semaphore, held while somebody connects or lists tools
	// patience bounds the time that a program may leave server/discover unanswered.
	patience time.Duration

	mu    sync.Mutex // guards what follows
	link  *link      // nil when there is none
	tools []*tool.Tool
	texts map[string]string // the definitions that count, by name; nil before they are known
	// refused maps the tools whose current definition is not the one that counts to what differs.
	// The map is never changed.
	refused map[string]string
	listed  [sha256.Size]byte // digest of the definitions that the server listed last
	found   diag.List         // what is wrong with definitions
	err     error             // why there are no tools
	shut    bool
}

// link is a connection.
//
//	connect → in use → broken (it has ended, done is closed) → connect again, by the next call
type link struct {
	session *mcp.ClientSession
	child   *child        // nil over HTTP
	web     *web          // nil otherwise
	done    chan struct{} // closed when it has ended
	gone    atomic.Bool   // a call found out that it has ended, before done is closed
	stale   atomic.Bool   // the server said that its tools have changed

	watched sync.Map     // of func(tool.Progress), by the tokens of calls under way
	clocks  sync.Map     // of tool.Clock of calls under way, by a token
	tokens  atomic.Int64 // the number of tokens that were given out
}

func (l *link) broken() bool {
	if l.gone.Load() {
		return true
	}
	var exited chan struct{}
	if l.child != nil {
		exited = l.child.exited
	}
	select {
	case <-exited:
		return true
	case <-l.done:
		return true
	default:
		return false
	}
}

func newClient(s Server, opts *Options) *Client {
	return &Client{server: s, opts: opts, turn: make(chan struct{}, 1), patience: discoverTime}
}

// Name returns the name of the server.
func (c *Client) Name() string { return c.server.Name }

// Server returns how the server is reached.
func (c *Client) Server() Server { return c.server }

// Tools returns the tools of the server, in its order; they must not be changed.
func (c *Client) Tools() []*tool.Tool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.tools
}

// Err returns why the server has no tools: it could not be started, or listed none that can be
// used. It returns nil if nothing is wrong.
func (c *Client) Err() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.err
}

// open finds out the tools: from the lock if the server need not be started, else from the server.
func (c *Client) open(ctx context.Context) {
	locked, ok := c.opts.Lock.server(c.server.Name)
	if ok {
		c.know(locked)
	}
	if ok && c.opts.Offline {
		return
	}
	_, err := c.connected(ctx)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.err = err
}

// know makes these definitions the tools of the server.
func (c *Client) know(texts []definition) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.texts = map[string]string{}
	for _, d := range texts {
		d.text = c.redactValue(d.text)
		c.texts[d.name] = d.text
		if t := c.define(d); t != nil {
			c.tools = append(c.tools, t)
		}
	}
}

// connected returns a connection that is not broken. It connects again if necessary.
func (c *Client) connected(ctx context.Context) (*link, error) {
	select {
	case c.turn <- struct{}{}:
		defer func() { <-c.turn }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	c.mu.Lock()
	l, shut := c.link, c.shut
	c.mu.Unlock()
	switch {
	case shut:
		return nil, errors.New("it was shut down")
	case l != nil && !l.broken() && !l.stale.Load():
		return l, nil
	case l == nil || l.broken():
		var err error
		l, err = c.connect(ctx, c.patience)
		for patience := max(2*c.patience, 5*time.Second); err != nil && l != nil && l.child != nil; patience *= 2 { // the SDK may have begun the older handshake
			was, mayBe := l.child.wasSlow()
			if !was && (!mayBe || patience > c.startTime()) {
				break
			}
			if was {
				patience = 0
			}
			l, err = c.connect(ctx, patience)
		}
		if err != nil {
			return nil, err
		}
	}
	l.stale.Store(false)
	if err := c.list(ctx, l); err != nil {
		_ = l.session.Close()
		return nil, c.because(l, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.link = l; c.shut {
		_ = l.session.Close()
		return nil, errors.New("it was shut down")
	}
	return l, nil
}

// connect starts the server, or a session with it. patience is how long a program may leave
// server/discover unanswered; 0 is no bound. With an error it returns the connection that it tried,
// unless there was none or it timed out.
func (c *Client) connect(ctx context.Context, patience time.Duration) (*link, error) {
	l := &link{done: make(chan struct{})}
	transport, err := c.transport(l)
	if err != nil {
		return nil, err
	}
	if l.child != nil {
		l.child.patience = patience
	}
	limited, cancel := context.WithTimeout(ctx, c.startTime())
	defer cancel()
	l.session, err = c.sdk(l).Connect(limited, transport, nil)
	switch {
	case err == nil:
		go func() {
			_ = l.session.Wait()
			_ = l.session.Close()
			close(l.done)
		}()
		return l, nil
	case l.child != nil && l.child.cmd.Process != nil:
		_ = l.child.Close()
	}
	if limited.Err() != nil && ctx.Err() == nil {
		err = fmt.Errorf("it did not answer within %s; if it installs or compiles something first, try again", c.startTime())
		return nil, c.because(l, err)
	}
	return l, c.because(l, err)
}

// startTime bounds the start and the first answers of the server.
func (c *Client) startTime() time.Duration { return cmp.Or(c.opts.StartTime, DefaultStartTime) }

// because returns an error with the beginning of the message of err and the last lines that the
// server wrote to standard error, without secrets.
func (c *Client) because(l *link, err error) error {
	text := err.Error()
	var fault *startFault
	switch {
	case errors.As(err, &fault):
		return c.noProgram(fault.err)
	case l.child != nil && (l.child.fault.Load() != nil || errors.Is(err, io.EOF) || errors.Is(err, mcp.ErrConnectionClosed)):
		text = l.child.ending()
	}
	if l.web != nil {
		text = l.web.explain(err)
	}
	text = c.hider().head([]byte(text), maxStderr)
	if l.child != nil {
		if said := l.child.stderr.String(); said != "" {
			text += "; it had said: " + said
		}
	}
	return &safeError{onOneLine(c.redact(text)), err}
}

// onOneLine joins the non-empty lines of a text with " | ".
func onOneLine(text string) string {
	var lines []string
	for line := range strings.Lines(text) {
		if line = strings.TrimSpace(line); line != "" {
			lines = append(lines, line)
		}
	}
	return strings.Join(lines, " | ")
}

// safeError is an error whose text was made safe.
type safeError struct {
	text string
	err  error
}

func (e *safeError) Error() string { return e.text }
func (e *safeError) Unwrap() error { return e.err }

func (c *Client) redact(text string) string {
	if c.server.Redact == nil {
		return text
	}
	return c.server.Redact(text)
}

// hider returns the hider for the secrets of the server.
func (c *Client) hider() hider { return hider{c.server.Redact, c.server.RedactValue} }

// redactValue returns a JSON value without secrets.
func (c *Client) redactValue(value string) string {
	if c.server.RedactValue == nil {
		return value
	}
	return string(c.server.RedactValue(json.RawMessage(value)))
}

// noProgram returns an error that says why a program could not be started, and what to do.
func (c *Client) noProgram(err error) error {
	name := c.server.Command
	var toolErr *tool.Error
	switch {
	case errors.As(err, &toolErr):
		return toolErr
	case errors.Is(err, exec.ErrDot):
		err = fmt.Errorf("the program %q is in the current directory only; write ./%s", name, name)
	case errors.Is(err, exec.ErrNotFound):
		err = fmt.Errorf("the program %q is not in PATH; install it, or give its path", name)
	case errors.Is(err, fs.ErrNotExist):
		err = fmt.Errorf("the program %q does not exist; correct the path", name)
	case errors.Is(err, fs.ErrPermission):
		err = fmt.Errorf("the program %q may not be run; make it executable (chmod +x)", name)
	default:
		err = fmt.Errorf("the program %q could not be started: %w", name, err)
	}
	return &startFault{err}
}

// transport returns the transport to the server.
func (c *Client) transport(l *link) (mcp.Transport, error) {
	s := &c.server
	if s.URL != "" {
		var err error
		if l.web, err = newWeb(s, c.hider()); err != nil {
			return nil, err
		}
		return &mcp.StreamableClientTransport{
			Endpoint: s.URL, HTTPClient: &nethttp.Client{Transport: l.web, CheckRedirect: l.web.redirect},
			MaxEventSize: maxMessage, MaxRetries: maxReconnects, DisableStandaloneSSE: c.opts.Ask == nil && c.opts.OnChanged == nil,
		}, nil
	}
	cmd := exec.Command(s.Command, s.Args...)
	if s.UsePinned != nil {
		if err := s.UsePinned(cmd); err != nil {
			return nil, c.noProgram(err)
		}
	}
	cmd.Dir = s.Dir
	cmd.Env = process.Inherited(c.opts.Environ, process.BasicEnv())
	for name, value := range s.Env {
		cmd.Env = append(cmd.Env, name+"="+value)
	}
	slices.Sort(cmd.Env[len(cmd.Env)-len(s.Env):])
	l.child = &child{cmd: cmd, hide: c.hider(), stderr: &tail{hide: c.hider()}}
	return l.child, nil
}

// sdk returns the client of the SDK, which implements the protocol.
func (c *Client) sdk(l *link) *mcp.Client {
	o := &mcp.ClientOptions{
		Capabilities:   &mcp.ClientCapabilities{},
		MultiRoundTrip: &mcp.MultiRoundTripOptions{Disabled: true}, // see Client.rounds
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) {
			l.stale.Store(true)
			if c.opts.OnChanged != nil {
				c.opts.OnChanged(c.server.Name)
			}
		},
		ProgressNotificationHandler: func(_ context.Context, n *mcp.ProgressNotificationClientRequest) {
			c.progressed(l, n.Params)
		},
	}
	if c.opts.Ask != nil {
		o.ElicitationHandler = func(ctx context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
			defer l.pause()()
			return c.elicit(ctx, "", req.Params)
		}
	}
	return mcp.NewClient(&mcp.Implementation{Name: "plc", Version: c.opts.Version}, o)
}

// list asks the server for its tools. The first time their definitions become those that count;
// later they are compared with them.
func (c *Client) list(ctx context.Context, l *link) error {
	limited, cancel := context.WithTimeout(ctx, DefaultStartTime)
	defer cancel()
	defs, err := c.listing(limited, l)
	if err != nil {
		return err
	}
	c.mu.Lock()
	known := c.texts
	c.mu.Unlock()
	defs = slices.DeleteFunc(defs, func(d definition) bool {
		why := ""
		switch {
		case c.redact(d.name) != d.name:
			why = "its name has a secret in it that the server was given"
		case d.badHeaders:
			why = "its params that go into headers (x-mcp-header) are not what the protocol allows"
		}
		if why != "" && known == nil {
			c.cannotUse(d, why)
		}
		return why != ""
	})
	for i := range defs {
		defs[i].text = c.redactValue(defs[i].text)
	}
	c.mu.Lock()
	c.listed = digestOf(defs)
	c.mu.Unlock()
	if known == nil {
		c.know(defs)
		return nil
	}
	refused := differences(known, defs)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.refused = refused
	return nil
}

// digestOf returns the digest of definitions, in any order.
func digestOf(all []definition) [sha256.Size]byte {
	lines := make([]string, len(all))
	for i, d := range all {
		lines[i] = d.digest()
	}
	slices.Sort(lines)
	return sha256.Sum256([]byte(strings.Join(lines, "\n")))
}

// cannotUse reports a tool of the server that can't be used.
func (c *Client) cannotUse(d definition, why string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.found = append(c.found, diag.Finding{
		Code: diag.BadServer, Severity: diag.Warning, Loc: c.server.Loc,
		Message: fmt.Sprintf("MCP server %q: the tool %q can't be used: %s", c.server.Name, c.redact(d.name), why),
	})
}

func (c *Client) changed() map[string]string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.refused
}

// listing returns all definitions of the server, in its order.
func (c *Client) listing(ctx context.Context, l *link) ([]definition, error) {
	if caps := l.session.InitializeResult().Capabilities; caps == nil || caps.Tools == nil {
		return nil, nil
	}
	var all []definition
	seen := map[string]bool{}
	cursor, bytes := "", 0
	for page := 1; ; page++ {
		res, err := l.session.ListTools(ctx, &mcp.ListToolsParams{Cursor: cursor})
		if err != nil {
			return nil, err
		}
		usable := map[string]bool{} // the SDK leaves out tools with invalid headers
		for _, t := range res.Tools {
			usable[t.Name] = true
		}
		for _, t := range raw(res.Meta).Get("tools").Array() {
			d := definitionOf(t)
			d.badHeaders = !usable[d.name]
			switch bytes += len(d.text); {
			case d.name == "":
				return nil, fmt.Errorf("its tool %d has no name", len(all)+1)
			case seen[d.name]:
				return nil, fmt.Errorf("it has two tools named %q", d.name)
			case len(all) == maxTools:
				return nil, fmt.Errorf("it has more than %d tools", maxTools)
			case bytes > maxListing:
				return nil, fmt.Errorf("the definitions of its tools have more than %d MiB", maxListing>>20)
			}
			seen[d.name] = true
			all = append(all, d)
		}
		if cursor = res.NextCursor; cursor == "" {
			return all, nil
		}
		if page == maxPages {
			return nil, fmt.Errorf("its list of tools has more than %d pages", maxPages)
		}
	}
}

// close ends the connection.
func (c *Client) close() {
	c.mu.Lock()
	c.shut = true
	l := c.link
	c.mu.Unlock()
	if l == nil {
		return
	}
	if l.child != nil {
		_ = l.child.Close() // at once, even if calls are under way
	}
	closed := make(chan struct{})
	go func() {
		_ = l.session.Close()
		close(closed)
	}()
	select {
	case <-closed:
	case <-time.After(2 * grace):
	}
}

// definition is a tool as its server defines it.
type definition struct {
	name string
	text string // the members that plc uses, as compact JSON
	// badHeaders says that its HTTP headers for params are invalid, so that it must not be called.
	badHeaders bool
}

// definitionOf returns a definition with only the members that MCP defines, so that a server can't
// use members that only tool files may use (effects, _activity, …).
func definitionOf(v gjson.Result) definition {
	text := []byte{'{'}
	for _, name := range []string{"name", "title", "description", "inputSchema", "outputSchema", "annotations"} {
		m := v.Get(name)
		if !m.Exists() || m.Type == gjson.Null {
			continue
		}
		if len(text) > 1 {
			text = append(text, ',')
		}
		text = append(append(append(text, quote(name)...), ':'), m.Raw...)
	}
	d := definition{text: string(compact(append(text, '}')))}
	if n := v.Get("name"); n.Type == gjson.String {
		d.name = n.Str
	}
	return d
}
