package compile

import (
	"encoding/json"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/plc-lang/plc/dag"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/state"
	"github.com/plc-lang/plc/tool"
)

// Program is a compiled plan: calls in plan order, what each waits for, and how its params are
// made. It is immutable.
type Program struct {
	// Document is the document that the program was compiled from.
	Document *lang.Document
	// Mode is the plan's mode, or lazy if the options say so.
	Mode lang.Mode
	// Calls holds the calls in plan order: Calls[i] has place i+1 on the whiteboard.
	Calls []Call
	// Starts is the graph of what calls wait for before they start, with data, order and effect
	// edges. Node i is Calls[i]; further nodes are virtual.
	Starts *dag.Graph
	// Commits is the graph of what the writes of calls wait for: the settling of earlier calls that
	// write overlapping paths (plan-language §6). Its nodes are as in Starts, with virtual nodes of
	// its own. It is nil if no write has to wait.
	Commits *dag.Graph
	// Initial is the initial whiteboard by kind.
	Initial map[string]json.RawMessage
	// Schemas holds the schemas of the kinds, all of which apply.
	Schemas map[string][]*schemas.Schema
	// Output is the solution's output; nil if it has none.
	Output *Template
	// OutputSchema is the schema of the output; nil if there is none.
	OutputSchema *schemas.Schema
	// Refs is the effect of a reference that finds nothing. It is LenientRefs if the profile of the
	// document is lenient.
	Refs Refs
	// Instances holds the instances that the document names, in order (plan-language §8).
	Instances []Instance
	// Seen is the knowledge that the author of the plan had, according to the options.
	Seen Seen
	// Template reports that the program runs once for each instance, isolated from the
	// others. Otherwise calls may work on an instance each.
	Template bool

	fault error           // why the program must not run
	tools *tool.Catalogue // including those of the document
	paths *pathIndex
	board *state.Whiteboard // the initial whiteboard
	byID  func() map[string]int32
	loops []loopEdge // edges of cycles, with places minus 1

	meter *schemas.Meter
	supply
}

// supply holds the values and instances that a program gets from outside.
type supply struct {
	shapes *shapes  // what the instances of a template hold
	open   bool     // more instances come when it runs
	copied []copied // values that a caller puts on the initial whiteboard
	unfed  bool     // no input was given: it may be anything
	given  map[string]Given
}

// Call is a compiled call.
type Call struct {
	Source *lang.Call
	ID     string
	Place  state.Place
	// Repeatable reports that an attempt whose answer was lost may be made again without asking
	// (execution §2).
	Repeatable bool
	Method     state.Method
	Tool       *tool.Tool
	// Target is the activity or document that the call runs. It is nil only if it could not be
	// found, which was reported.
	Target *Target
	// Activity is the activity of Target; nil if the call is latent: see Runner.
	Activity tool.Activity
	// Effects are the effects of Target, joined with those of the fallback if there is one.
	Effects tool.Effects

	Params Template
	When   *Expr // nil: always
	// Alternatives holds the outcomes of its output path, in order; it is empty if the result is
	// not written.
	Alternatives []Alternative
	ErrorPath    *Write // nil: none
	// Undoing undoes the call when the run is undone; nil if nothing does. See also Fallback.
	Undoing *Undoing

	*Rare
}

// Rare holds the members that few calls have.
type Rare struct {
	Instance  string          // the instance that it works on; "" is the global whiteboard
	Delegate  *Delegate       // the document that it runs; nil if it runs none
	Choose    *Chooser        // set for the built-in tool choose
	Model     tool.Activity   // makes the result of a latent call; nil if nothing does, or it is not needed
	Result    json.RawMessage // its _output, in which case the call runs nothing
	DependsOn []int32         // indexes into Calls
	Scopes    []*Expr         // references: what the tool may see
	HasScopes bool            // it has _scopes, even if empty
	Retry     *lang.Retry
	Timeout   time.Duration
	Fallback  *Fallback
	OnFailure string
	Undo      *tool.Undo // its _undo: nil if there is none, and with an empty Tool if it is null
	Approve   lang.Approve
	Expect    *schemas.Schema
	Tokens    float64
	Cost      float64
	Envelope  bool // it stands for an agent: its result is wrapped by exec.Envelope
}

// Alternative is one outcome of a call: the writes that happen together.
type Alternative struct {
	Writes []Write

	source *lang.Alternative // nil if it is a single path
}

// Name returns the alternative's whole path: †state.receipt.
func (a *Alternative) Name() string {
	if a.source == nil {
		return written(a.Writes[0].Path)
	}
	if len(a.source.Paths) == 1 {
		return a.source.Paths[0].String()
	}
	var b strings.Builder
	for i, e := range a.source.Paths {
		if i > 0 {
			b.WriteString(" && ")
		}
		b.WriteString(e.String())
	}
	return b.String()
}

// Write is a path that a call may write.
type Write struct {
	Path state.Path
	Span diag.Span
	// Schemas are the schemas of the value at the path, from the schemas of its kind; empty if
	// nothing is known.
	Schemas []*schemas.Schema

	node   int32 // of the path
	commit int32 // of the part of the path before the first index
}

// Fallback is the call that is made if a call has failed.
type Fallback struct {
	Target   *Target
	Tool     *tool.Tool
	Activity tool.Activity // or the model that stands in for it
	Params   *Template     // nil means the params of the call
	Timeout  time.Duration
	Undo     *tool.Undo // as that of a call
	Undoing  *Undoing   // as that of a call
}

// HandlesFailure reports whether the plan says where a failure of the call goes: to its error path,
// or to the last of its alternatives, unless its tool lists its outcomes or a condition picks that
// one (plan-language §4).
func (c *Call) HandlesFailure() bool {
	last := len(c.Alternatives) - 1
	switch {
	case c.ErrorPath != nil:
		return true
	case last < 1 || len(c.Tool.Definition.Outcomes) > 0:
		return false
	}
	return c.Rare == nil || c.Choose == nil || !slices.ContainsFunc(c.Choose.Cases, func(s Case) bool { return s.Outcome == last })
}

// OwnUndo returns the plan's _undo for the call, which replaces that of its tool: nil if there is
// none, and with an empty Tool if it is null.
func (c *Call) OwnUndo() *tool.Undo {
	if c.Rare == nil {
		return nil
	}
	return c.Rare.Undo
}

// Read is a reference, bound.
type Read struct {
	Path state.Path
	Span diag.Span
	// Under is set for a read of a call of an instance: it is the same path on the global
	// whiteboard, over which the values of the instance are merged.
	Under *Read
	// Since is the place of the write that ends the binding; 0 if the initial whiteboard is seen
	// (plan-language §5).
	Since state.Place

	spot int32 // its place in the path index, once it was found: see pathIndex.place
}

// Refs is the effect of a reference that finds nothing (plan-language §3).
type Refs uint8

// The values of Refs.
const (
	StrictRefs  Refs = iota // the call fails
	LenientRefs             // it becomes an empty string, with a warning
)

// Err returns nil if the program may run: neither reading its document nor compiling it found an
// error. Package exec refuses any other (plan-language §11).
func (p *Program) Err() error { return p.fault }

// Meter returns the meter with which the values and types of the program were checked.
func (p *Program) Meter() *schemas.Meter { return p.meter }

// Call returns the call of this _id. The first call takes time linear in the program.
func (p *Program) Call(id string) (*Call, bool) {
	i, ok := p.byID()[id]
	if !ok {
		return nil, false
	}
	return &p.Calls[i], true
}

// Writers returns the calls that may write a path that overlaps path, at places in
// [since, before), in plan order.
func (p *Program) Writers(path state.Path, since, before state.Place) iter.Seq[*Call] {
	return func(yield func(*Call) bool) {
		f := frontiers.Get().(*frontier)
		defer frontiers.Put(f)
		for _, w := range p.paths.writersOf(path, since, before, f) {
			if !yield(&p.Calls[w-1]) {
				return
			}
		}
	}
}

// Holds reports whether the whiteboard may hold something at a path when the program starts, apart
// from what a caller puts there.
func (p *Program) Holds(path state.Path) bool {
	path = named(path)
	switch {
	case p.unfed && kindOf(path) == "input", p.board.Held(path):
		return true
	case p.shapes == nil:
		return false
	}
	return p.open && path[0].Name == "input" || p.shapes.holding(path) > 0
}

// Given returns the value that Options.Values has for a kind of the whiteboard, nil if none.
// Initial also includes the values of the document's messages.
func (p *Program) Given(kind string) json.RawMessage { return p.given[kind].JSON }

// Catalogue returns the tools that the calls of the program were looked up in: those of
// Options.Catalogue and those of the document, after what they are allowed to change.
func (p *Program) Catalogue() *tool.Catalogue { return p.tools }

// File returns the file of the plan.
func (p *Program) File() *diag.File { return p.Document.File }

// Loc returns a place in the plan's file.
func (p *Program) Loc(s diag.Span) diag.Loc { return diag.Loc{File: p.Document.File, Span: s} }
