package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"os/exec"
	"slices"
	"sync"
	"time"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/spell"
	"github.com/plc-lang/plc/tool"
)

// Server says how to reach a server: with Command or URL.
type Server struct {
	Name    string
	Command string   // a program that speaks over standard input and output
	Args    []string // of Command
	Dir     string   // where Command runs; "" is the current directory
	Env     map[string]string
	URL     string // of a server that speaks streamable HTTP
	Headers map[string]string
	Trust   bool // its annotations also count if they say that a tool is harmless
	// Redact removes the secrets from a text; nil if there are none.
	Redact func(string) string
	// RedactValue removes them from a JSON value; nil if there are none.
	RedactValue func(json.RawMessage) json.RawMessage
	Loc         diag.Loc // where it is declared
	// Place says where the server's program is and runs; the places of its tools include it.
	Place tool.Place
	// UsePinned makes a command start the program that was pinned, and returns an error if one of
	// its files has changed. It is called whenever the program is started; nil pins nothing.
	UsePinned func(*exec.Cmd) error
}

// Options holds the settings for all servers. The zero Options are the defaults.
type Options struct {
	// Environ is the environment (KEY=value) from which servers get the basic variables
	// (process.BasicEnv); nil gives them none.
	Environ []string
	// StartTime bounds the start and the first answers of a server; 0 is DefaultStartTime.
	StartTime time.Duration
	// Ask asks a person a server's question; if it is nil, calls with a question fail. It is called
	// by several goroutines at once.
	Ask func(ctx context.Context, q *Question) (*Answer, error)
	// Version is the version of plc that servers are given.
	Version string
	// Lock has the locked definitions: tools of its servers that differ from it are refused. nil
	// locks nothing.
	Lock *Lock
	// Offline starts no server that Lock has before one of its tools is called.
	Offline bool
	// TryAgain is the time that a Cache waits before it tries a failed server again; 0 is no wait.
	TryAgain time.Duration
	// OnChanged is called when a server says that its tools have changed. It may be nil.
	OnChanged func(server string)
	// OnStarted is called, by several goroutines at once, for each server that has listed its tools
	// or failed to. It may be nil.
	OnStarted func(server string)
}

// DefaultStartTime is the default of Options.StartTime: npx may have to install the server first.
const DefaultStartTime = 60 * time.Second

// Pool holds running servers, each of which serves all calls. Its methods may be called by several
// goroutines at once.
type Pool struct {
	clients []*Client
	byName  map[string]*Client
}

// Open starts all servers at once, and returns when each has listed its tools or failed to: see
// Client.Err. ctx bounds Open only. If two servers have the same name, the later one counts.
func Open(ctx context.Context, servers []Server, opts *Options) *Pool {
	if opts == nil {
		opts = &Options{}
	}
	return pooled(servers, opts, func(s Server) *Client {
		c := newClient(s, opts)
		c.open(ctx)
		return c
	})
}

// pooled makes a pool of the clients that start returns. It calls start for all servers at once.
func pooled(servers []Server, opts *Options, start func(Server) *Client) *Pool {
	p := &Pool{byName: map[string]*Client{}}
	wanted := map[string]Server{}
	for _, s := range servers {
		wanted[s.Name] = s
	}
	names := slices.Sorted(maps.Keys(wanted))
	p.clients = make([]*Client, len(names))
	var all sync.WaitGroup
	for i, name := range names {
		all.Go(func() {
			p.clients[i] = start(wanted[name])
			if opts.OnStarted != nil {
				opts.OnStarted(name)
			}
		})
	}
	all.Wait()
	for i, name := range names {
		p.byName[name] = p.clients[i]
	}
	return p
}

// Servers returns the servers by name.
func (p *Pool) Servers() []*Client {
	if p == nil {
		return nil
	}
	return p.clients
}

// Working returns a pool of the servers that have not failed. It shares them with p.
func (p *Pool) Working() *Pool {
	w := &Pool{byName: map[string]*Client{}}
	for _, c := range p.Servers() {
		if c.Err() == nil {
			w.clients, w.byName[c.server.Name] = append(w.clients, c), c
		}
	}
	return w
}

// Close ends all servers and the processes that they have started, and waits until they have ended,
// which takes some seconds if they don't end by themselves. Calls that are under way fail. Close of
// a nil Pool does nothing.
func (p *Pool) Close() {
	if p != nil {
		p.each((*Client).close)
	}
}

func (p *Pool) each(f func(*Client)) {
	var all sync.WaitGroup
	for _, c := range p.clients {
		all.Go(func() { f(c) })
	}
	all.Wait()
}

// Tools returns the tools of all servers.
func (p *Pool) Tools() []*tool.Tool {
	var all []*tool.Tool
	for _, c := range p.Servers() {
		all = append(all, c.Tools()...)
	}
	return all
}

// Has reports whether there is a server of this name.
func (p *Pool) Has(server string) bool { return p.byName[server] != nil }

// Tool returns a tool by the server's name for it. It returns nil, without an error, if the tools
// are not known because the server has failed.
func (p *Pool) Tool(server, name string) (*tool.Tool, error) {
	c, ok := p.byName[server]
	if !ok {
		return nil, fmt.Errorf("there is no MCP server %q%s", server, nearest(server, maps.Keys(p.byName)))
	}
	var names []string
	for _, t := range c.Tools() {
		if t.Definition.Name == name {
			return t, nil
		}
		names = append(names, t.Definition.Name)
	}
	if c.Err() != nil {
		return nil, nil
	}
	return nil, fmt.Errorf("the MCP server %q has no tool %q%s", server, name, nearest(name, slices.Values(names)))
}

func nearest(word string, names iter.Seq[string]) string {
	if best, ok := spell.Nearest(word, names); ok {
		return fmt.Sprintf("; did you mean %q?", best)
	}
	return ""
}

// Findings returns what is wrong with the servers: servers that failed, definitions that can't be
// used, tools that differ from the lock.
func (p *Pool) Findings() diag.List {
	var all diag.List
	for _, c := range p.Servers() {
		if err := c.Err(); err != nil {
			all = append(all, diag.Finding{
				Code: diag.BadServer, Loc: c.server.Loc, Message: fmt.Sprintf("MCP server %q: %v", c.server.Name, err),
			})
		}
		c.mu.Lock()
		all = append(all, c.found...)
		c.mu.Unlock()
		changed := c.changed()
		for _, name := range slices.Sorted(maps.Keys(changed)) {
			all = append(all, diag.Finding{
				Code: diag.BadServer, Loc: c.server.Loc,
				Message: fmt.Sprintf("MCP server %q: the tool %q is not the one that was locked: %s; look at it, then plc tools lock", c.server.Name, name, changed[name]),
			})
		}
	}
	return all
}
