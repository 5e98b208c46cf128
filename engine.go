package plc

import (
	"context"
	"encoding/json"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"
	"sync"
	"time"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/loop/flux"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/guard"
	"github.com/plc-lang/plc/tool/mcp"
)

// Config holds everything that an engine can reach. It has no access to anything else: no
// environment variable, no store, no person. The zero Config checks and runs plans that use the
// tools that they define and the files that they name.
type Config struct {
	// Tools holds Go functions that every plan may call: see package tool. The records of runs have
	// their definitions, so that other programs can show and replay the runs; resuming a run needs
	// the tools themselves.
	Tools []*tool.Tool
	// Toolset names the tool files and MCP servers of all plans; a Spec may add others.
	Toolset Toolset
	// Store keeps the records of runs. If it is nil, none are kept, and a paused run can't be
	// resumed.
	Store journal.Store
	// OpenStore opens the store when it is first needed, if Store is nil. It may return nil if
	// there is none.
	OpenStore func() (journal.Store, error)
	// Environ is the environment, as os.Environ returns it, in which secrets are looked up and with
	// which MCP servers are started. Nil is an empty environment.
	Environ []string
	// Open opens the files that a Spec and its tool files name. If it is nil, they are opened in
	// the file system of the operating system.
	Open func(name string) (io.ReadCloser, error)
	// OpenFolder opens the folder of a plan, which has the documents that the plan delegates to. If
	// it is nil, the folder is opened in the file system of the operating system, and links do not
	// lead out of it.
	OpenFolder func(name string) (Folder, error)
	// Unstarted prevents MCP servers from being started to check a plan: their tools are then only
	// known from a lock. It is for editors, where opening a file must not run anything.
	Unstarted bool
	// Memory keeps the results of tools that a tool file declares as cached. If it is nil, the
	// engine keeps them in memory.
	Memory guard.Memory
	// OpenMemory opens the long-term memory of an agent, which the options of a Task's style name
	// as a file. If the memory is an io.Closer, it is closed with the loop. Nil is flux.OpenFile,
	// which keeps a JSON object in the file.
	OpenMemory func(file string) (flux.Memory, error)
	// PlanFolder is the folder in which the plans of loops wait, as files, for somebody to approve
	// them if nobody can be asked. If it is "", such plans are rejected.
	PlanFolder string

	// Approver answers questions about calls, AskServer questions of MCP servers, and ApprovePlan
	// the question about a lazy plan as a whole; the Approver is then only asked about calls that
	// the preview's dry run does not mark as covered. They may be called by several goroutines at
	// once. If they are nil, nobody is asked: the run pauses, and Answer answers. Only a call whose
	// answer was lost fails then, unless Spec.OnUncertain says otherwise.
	Approver    func(ctx context.Context, q *exec.Question) (exec.Answer, error)
	ApprovePlan func(ctx context.Context, p *Preview) (approved bool, reason string)
	AskServer   func(ctx context.Context, q *mcp.Question) (*mcp.Answer, error)
	// OnServers is called with the names of MCP servers that are about to start, which may take
	// long if they have to be installed first. It returns two functions. started is called, perhaps
	// by several goroutines at once, for each server that has started or failed to start; done is
	// called after that and must not be nil.
	OnServers func(names []string) (started func(name string), done func())
	// OnToolsChanged is called when an MCP server reports that its tools have changed.
	OnToolsChanged func(server string)
	// OnEvent is called with each event of each run, in the order of the run. It must be
	// quick, must not call the run, and must not keep the event.
	OnEvent func(*exec.Event)
	// Middleware wraps every activity, the first outermost.
	Middleware []tool.Middleware
	// Version is the version of the program, which MCP servers are sent.
	Version string
}

// A Folder is an open folder with documents. An *os.Root is one.
type Folder interface {
	FS() fs.FS
	Close() error
}

// An Engine checks, previews and runs plans. Its methods may be called by several goroutines at
// once. Close ends the servers that it has started.
type Engine struct {
	config  Config
	store   func() (journal.Store, error) // its result is nil if there is none
	servers mcp.Cache                     // the servers that were started
	dryRuns chan struct{}                 // has an element for each dry run under way
}

// New returns an engine.
func New(c Config) *Engine {
	e := &Engine{config: c, dryRuns: make(chan struct{}, max(2, runtime.GOMAXPROCS(0)))}
	e.store = sync.OnceValues(func() (journal.Store, error) {
		if c.Store != nil || c.OpenStore == nil {
			return c.Store, nil
		}
		return c.OpenStore()
	})
	return e
}

// records returns the store, or ErrNoStore if there is none.
func (e *Engine) records() (journal.Store, error) {
	store, err := e.store()
	if err == nil && store == nil {
		err = ErrNoStore
	}
	return store, err
}

// NeedStore returns nil if the engine has a store, ErrNoStore if it has none, and otherwise the
// error of opening it.
func (e *Engine) NeedStore() error {
	_, err := e.records()
	return err
}

// Close ends the MCP servers that the engine has started. It does not close the store.
func (e *Engine) Close() error {
	e.servers.Close()
	return nil
}

// openFolder opens the folder of a plan.
func (e *Engine) openFolder(name string) (Folder, error) {
	if e.config.OpenFolder != nil {
		return e.config.OpenFolder(name)
	}
	return os.OpenRoot(name)
}

// lookupEnv looks a variable up in the engine's environment.
func (e *Engine) lookupEnv(name string) (string, bool) {
	for i := len(e.config.Environ) - 1; i >= 0; i-- { // the last one counts
		if value, ok := strings.CutPrefix(e.config.Environ[i], name+"="); ok {
			return value, true
		}
	}
	return "", false
}

// A session prepares one run, or one set of checks. It holds the texts that were read for it.
type session struct {
	engine   *Engine
	texts    texts
	sets     map[string]json.RawMessage // values that a fork sets, by path
	sealed   bool                       // for reading a record: no secret is looked up, and no server is started
	looksUp  bool                       // secrets are looked up even if sealed, since they decide what would run
	noMemory bool                       // results of tools are not cached
}

// memory returns the cache for results of tools; nil keeps them in memory.
func (s *session) memory() guard.Memory {
	switch {
	case s.noMemory:
		return forgetful{}
	case s.sealed:
		return nil
	}
	return s.engine.config.Memory
}

// forgetful is a memory that remembers nothing.
type forgetful struct{}

// Recall implements guard.Memory.
func (forgetful) Recall([]byte) ([]byte, string, bool) { return nil, "", false }

// Keep implements guard.Memory.
func (forgetful) Keep(_, _ []byte, _ string, _ time.Duration) {}
