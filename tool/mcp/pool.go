package mcp

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/plc-lang/plc/diag"
)

// Server is how to reach a server: Command or URL.
type Server struct {
	Name    string
	Command string   // a program that speaks over standard input and output
	Args    []string // of Command
	Dir     string   // where Command runs; "" is the current directory
	Env     map[string]string
	URL     string // of a server that speaks streamable HTTP
	Headers map[string]string
	Trust   bool // its annotations also count where they make us less careful
	// Roots are the folders that it is told it may work in; none is told otherwise.
	Roots []string
	// Secrets are texts (of Env and Headers) that no error may quote.
	Secrets []string
	// Redact takes the secrets out of a text; nil when there are none.
	Redact func(string) string
	Loc    diag.Loc // where it is declared
}

// Options are what servers may have. The zero Options are the defaults.
type Options struct {
	// Environ is the environment (KEY=value) of which servers get the basic variables
	// (process.BasicEnv); nil gives them none.
	Environ []string
	// StartTime bounds start and first answers of a server; 0 is DefaultStartTime.
	StartTime time.Duration
	// Ask puts what a server wants to know to a person; nil is nobody, and such calls fail.
	// It is called by several goroutines at once.
	Ask func(ctx context.Context, q *Question) (*Answer, error)
	// Version is that of plc, as it is told to servers.
	Version string
	// Lock has the definitions that were locked; of servers that it has, tools that
	// differ are refused. nil locks nothing.
	Lock *Lock
	// Offline starts no server that Lock has before one of its tools is called.
	Offline bool
}

// DefaultStartTime is how long a server has to start: npx may have to install it first.
const DefaultStartTime = 60 * time.Second

// Pool is servers that run, each once for all calls. Its methods may be called by several
// goroutines at once.
type Pool struct {
	clients []*Client
	byName  map[string]*Client
}

// Open starts servers, all at once, and returns when each has told its tools or failed
// to: see Client.Err. ctx bounds Open only. Of two servers of one name the later
// counts.
func Open(ctx context.Context, servers []Server, opts *Options) *Pool {
	if opts == nil {
		opts = &Options{}
	}
	p := &Pool{byName: map[string]*Client{}}
	for _, s := range servers {
		p.byName[s.Name] = newClient(s, opts)
	}
	for _, c := range p.byName {
		p.clients = append(p.clients, c)
	}
	slices.SortFunc(p.clients, func(a, b *Client) int {
		if a.server.Name < b.server.Name {
			return -1
		}
		return 1
	})
	p.each(func(c *Client) { c.open(ctx) })
	return p
}

// Servers are the servers by name.
func (p *Pool) Servers() []*Client {
	if p == nil {
		return nil
	}
	return p.clients
}

// Close ends all servers and what they have started, and waits for that: some seconds
// when they don't want to. Calls that go on fail. A nil Pool has nothing to end.
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
