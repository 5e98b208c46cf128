package main

import (
	"context"
	"encoding/json"
	"time"
)

// System is something that runs graphs.
type System struct {
	Name string
	// Does says what the system does for each node besides running it, and what it leaves out.
	Does string
	// Most is the largest graph that it is asked to run, in nodes; 0 is any. Beyond it, it
	// takes so long that the others would wait.
	Most int
	// Bound says that it is not a system, but the least that any of them can take.
	Bound bool
	// Build makes a graph ready to run.
	Build func(s *Shape) (Graph, error)
	// Time builds a shape, runs it, checks the answer and says how long both took, for systems
	// that are in another process. Nil is Build.
	Time func(s *Shape) (build, run time.Duration, err error)
}

// Graph is a graph that was built. Run runs it once; the result is that of the last
// node. A Graph that is an io.Closer is closed in the end.
type Graph interface {
	Run(ctx context.Context, w *Work) (json.RawMessage, error)
}

// GraphFunc is a function that is a Graph.
type GraphFunc func(ctx context.Context, w *Work) (json.RawMessage, error)

// Run calls f.
func (f GraphFunc) Run(ctx context.Context, w *Work) (json.RawMessage, error) { return f(ctx, w) }

// systems are those that are measured, the hand-written ones first.
func systems() []System {
	return []System{
		sequential(), readyCount(), errGroup(), plc(), goTaskflow(), heimdalrDAG(), genkitGo(),
		einoGraph(), einoWorkflow(), cueFlow(),
	}
}
