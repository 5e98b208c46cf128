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

// Config says what an engine has and what it may reach. What it was not given, it can't
// reach: no environment variable, no store, no person. The zero Config checks and runs
// plans over the tools that they define and the files that they name.
type Config struct {
	// Tools are Go functions that every plan may call: see package tool. Their definitions are in
	// the records of runs, so that others can show and replay these; to resume one takes the tools.
	Tools []*tool.Tool
	// Toolset names the tool files and MCP servers of all plans; a Spec may add some.
	Toolset Toolset
	// Store keeps the records of runs. Nil keeps none: what is paused can't be resumed.
	Store journal.Store
	// OpenStore opens the store when it is first needed, if Store is nil. It may return nil
	// for none.
	OpenStore func() (journal.Store, error)
	// Environ is the environment, as os.Environ returns it, in which secrets are looked up
	// and MCP servers are started. Nil is an empty one.
	Environ []string
	// Open opens the files that a Spec and its tool files name. Nil opens those of the
	// operating system.
	Open func(name string) (io.ReadCloser, error)
	// OpenFolder opens the folder of a plan, which has the documents that the plan delegates
	// to. Nil opens folders of the operating system, which links do not lead out of.
	OpenFolder func(name string) (Folder, error)
	// Unstarted starts no MCP server to check a plan: what its tools are is known from a lock
	// only. It is for editors, in which opening a file must run nothing.
	Unstarted bool
	// Memory keeps the results of tools that a tool file declares as cached. Nil keeps
	// them as long as the engine.
	Memory guard.Memory
	// OpenMemory opens the long-term memory of an agent that the options of a Task's style name
	// as a file. One that is an io.Closer is closed with the loop. Nil is flux.OpenFile, which
	// keeps a JSON object.
	OpenMemory func(file string) (flux.Memory, error)
	// PlanFolder is where the plans of loops wait as files for somebody to approve them, when
	// nobody can be asked. "" is nowhere: they are rejected.
	PlanFolder string

	// Approver answers questions about calls, AskServer those of MCP servers, and
	// ApprovePlan the one about a lazy plan as a whole; Approver is then asked about those of its
	// calls that the dry run of the preview does not say are covered. They may be called by several
	// goroutines at once. Nil is nobody: the run pauses, and Answer answers; only a call whose
	// answer was lost fails, unless Spec.OnUncertain says otherwise.
	Approver    func(ctx context.Context, q *exec.Question) (exec.Answer, error)
	ApprovePlan func(ctx context.Context, p *Preview) (approved bool, reason string)
	AskServer   func(ctx context.Context, q *mcp.Question) (*mcp.Answer, error)
	// OnServers is called with the names of MCP servers that are about to start, which may take
	// long when they have to be installed first. It returns started, which is called by several
	// goroutines at once for each server that has started or failed to start, and done, which is
	// called after the last of them. done must not be nil.
	OnServers func(names []string) (started func(name string), done func())
	// OnToolsChanged is called when an MCP server says that its tools have changed.
	OnToolsChanged func(server string)
	// OnEvent is called with each event of each run, in the order of the run. It must be
	// quick, must not call the run, and must not keep the event.
	OnEvent func(*exec.Event)
	// Middleware wraps every activity, the first outermost.
	Middleware []tool.Middleware
	// Version is told to MCP servers.
	Version string
}

// A Folder is an open folder with documents. An *os.Root is one.
type Folder interface {
	FS() fs.FS
	Close() error
}

// An Engine checks, previews and runs plans. Its methods may be called by several
// goroutines at once. Close ends what it has started.
type Engine struct {
	config  Config
	store   func() (journal.Store, error) // nil: none
	servers mcp.Cache                     // that were started
	dryRuns chan struct{}                 // that are under way
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

// records returns the store; the error is ErrNoStore when there is none.
func (e *Engine) records() (journal.Store, error) {
	store, err := e.store()
	if err == nil && store == nil {
		err = ErrNoStore
	}
	return store, err
}

// NeedStore returns nil when the engine has a store, ErrNoStore when it has none, and else why it
// can't be opened.
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

// A session prepares one run, or one set of checks: it has the texts that were read for it.
type session struct {
	engine *Engine
	texts  texts
	sets   map[string]json.RawMessage // values that a fork sets, by path
	sealed bool                       // a record is read: no secret is looked up, and no server started
	looks  bool                       // secrets are looked up although it is sealed: they decide what would run
	forget bool                       // no result is remembered
}

// remembers returns where results are remembered; nil is in memory.
func (s *session) remembers() guard.Memory {
	switch {
	case s.forget:
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
