package compile

import (
	"encoding/json"
	"errors"
	"io/fs"
	"slices"
	"sync"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/state"
	"github.com/plc-lang/plc/tool"
)

// Options say what a plan is compiled against. The zero value is the default.
type Options struct {
	// Catalogue is the tools; those of the document are added to it. Nil is none.
	Catalogue *tool.Catalogue

	// Values are given for kinds beside the document's messages, over which they
	// are merged deeply: the input, the state, data kinds. They must be JSON objects.
	Values map[string]Given
	// Schemas are given for kinds; those of the document hold as well.
	Schemas map[string]Given

	// Run compiles for a run: what is not given is not there, and a latent call
	// that nothing can make is refused (PLC606).
	Run bool
	// Lazy takes the plan as lazy, whatever it says.
	Lazy bool
	// Models gives the model of this name, "" for the one that makes the latent calls of
	// tools that name none; it may be asked more than once. A nil activity is none, an error says why it can't be
	// used. Nil has no models. Only what is compiled for a run asks for them.
	Models func(name string) (tool.Activity, error)

	// Strict warns of references that may not fit (PLC503).
	Strict bool

	Effects Effects
	Refs    Refs
	Budget  Budget
	// Allow are the tools that may be used; nil allows all. Deny wins over it.
	Allow, Deny []string

	// Instances says that instances come when the program runs, beside those of the
	// document: the input is open, and the program is a template (plan-language §8).
	Instances bool

	// Delegates holds the documents that the plan may delegate to, by their paths below the
	// folder of the plan (plan-language §9); nil has none. An os.Root's FS is one
	// that links can't leave. Folder is where in it the plan itself stands; "" is its root.
	Delegates fs.FS
	Folder    string
	// Fetch reads a document at a URL, of hosts that are allowed only: an error that is
	// fs.ErrPermission says that this one is not. Nil refuses all.
	Fetch func(url string) ([]byte, error)
	// MaxDepth is how deep delegates may nest; 0 is 8.
	MaxDepth int
	// Predicates checks the conditions of choose and repeat; nil knows none.
	Predicates Predicates
}

// Given is a JSON value that was given beside the document, and where it stands.
type Given struct {
	JSON json.RawMessage
	Loc  diag.Loc // zero when it is of no file
}

// Effects says which calls are ordered by their effects (plan-language §5).
type Effects uint8

// The ways of effects.
const (
	DeclaredEffects Effects = iota // tools declared to change the world
	StrictEffects                  // undeclared tools as well
	NoEffects                      // none: only data and _dependsOn order calls
)

// Budget bounds what a run may use up; 0 is no bound (execution §7).
type Budget struct {
	Steps  int     // calls started
	Tokens float64 // estimated by _estimatedTokens
	Cost   float64 // estimated by _estimatedCost
}

// Compile compiles a document. It never returns nil; a program that came with an
// error must not run. A nil Options is the default. Of each code and severity at most
// 100 findings are told, and then one that tells how many more there are. It costs time
// and memory linear in the document, but for references with [*], whose matches are
// counted and bounded (PLC103).
func Compile(doc *lang.Document, opts *Options) (*Program, diag.List) {
	if opts == nil {
		opts = &Options{}
	}
	if doc.Profile.LenientRefs && opts.Refs == StrictRefs {
		lenient := *opts
		lenient.Refs = LenientRefs
		opts = &lenient
	}
	return newChecker(doc, opts, newDelegates(doc, opts)).compile()
}

func (c *checker) compile() (*Program, diag.List) {
	c.context()
	c.lowerCalls()
	c.lowerOutput()
	c.finalState()
	c.checkModes()
	c.initialBoard()
	order := c.planOrder()
	c.bind(order)
	prog := c.program()
	c.typeCheck(prog)
	if !c.growing { // what comes later may read what nobody reads yet
		c.lint()
	}
	c.countFindings()
	prog.fault = c.findings.Err()
	if prog.fault == nil && c.doc.Faulty() {
		prog.fault = errors.New("the document has errors")
	}
	return prog, c.findings
}

func newChecker(doc *lang.Document, opts *Options, delegates *delegates) *checker {
	return &checker{
		doc:       doc,
		end:       draft{Call: &Call{}},
		opts:      opts,
		delegates: delegates,
		kinds:     map[string]*kind{},
		facts:     map[*tool.Tool]*toolFacts{},
		byName:    map[string]*instance{},
		layers:    map[string]*kind{},
		told:      map[told]bool{},
		toldOf:    map[*Program]bool{},
		byID: sync.OnceValue(func() map[string]int32 {
			return indexOf(len(doc.Calls), func(i int) string { return doc.Calls[i].ID })
		}),
		index: newPathIndex(),

		starred:       map[string]bool{},
		unread:        map[string]bool{},
		literalGroups: map[int32]bool{},
		reported:      map[kindOfFinding]int{},
		over:          map[kindOfFinding]int{},
	}
}

// checker is the state of one compilation. Its phases are the files of this
// package: context, calls, reads, order, bind, lint.
type checker struct {
	doc      *lang.Document
	opts     *Options
	findings diag.List
	lost     diag.Finding          // what is said of those that are too many
	reported map[kindOfFinding]int // how many there are, also of those that are not kept
	over     map[kindOfFinding]int // the finding that tells how many more there are
	looks    int                   // at names, to find those that were meant

	cat     *tool.Catalogue
	defs    []*tool.Definition // of the document
	unread  map[string]bool    // tools whose definitions have errors; "" is one whose name is not known
	named   []lang.Node        // tools that the document names
	kinds   map[string]*kind
	board   *state.Whiteboard // the initial whiteboard
	starred map[string]bool   // whether it holds a path with [*], once asked
	facts   map[*tool.Tool]*toolFacts

	// What was asked for last: neighbours in a plan ask for the same.
	lastTool  last[string, *tool.Tool]
	lastFacts last[*tool.Tool, *toolFacts]
	lastKind  last[string, *kind]
	lastPath  state.Path // that was read: see readPath

	calls         []draft                 // in the order of the list, later in plan order
	made          []Call                  // what the drafts come to, in the same order
	byID          func() map[string]int32 // in the order of the list; most plans never ask
	end           draft                   // stands behind all calls: the reads of the output
	output        *Template
	final         []*Expr // the members of the final state, of a document without an output
	outSch        *schemas.Schema
	index         *pathIndex
	groupCount    int32
	literalGroups map[int32]bool // the ||s that hold a literal: one operand is always present

	instances  []*instance // in the order of their first messages
	byName     map[string]*instance
	layers     map[string]*kind // of instances, by their names on the whiteboard
	isTemplate bool             // the plan runs once for each instance
	shapes     *shapes          // of a template: what its instances hold

	delegates *delegates
	within    *caller           // who delegates to this document; nil for the plan itself
	lazy      bool              // nothing of it may have run yet
	told      map[told]bool     // findings of documents
	toldOf    map[*Program]bool // all of whose findings are told
	result    *schemas.Schema   // of a document that is delegated to; nil when it is not known

	growing bool       // the list may go on: what is not there may come
	cyclic  bool       // there is no plan order
	loops   []loopEdge // of the cycles that were reported
	blind   bool       // some output path was not understood: who writes what is not known

	chunks chunks
	queues queues // of chains
	texts  lang.TextReader
	nodes  []int32 // scratch: see nodesOf

	list           string // the JSON Pointer of the list of calls, once asked for
	listed, isList bool

	graphs        graphs
	links         []link   // by node of the path index, when all is bound
	effectOrdered []int32  // calls that wait because of effects
	callFacts     [][]fact // what each call needs to have happened
}

// last is what was found last, and what it was found by; before there is any, the zero value.
type last[K comparable, V any] struct {
	by    K
	found V
}

// draft is a call on its way to become part of the program.
type draft struct {
	*Call
	refs   []ref // its reads, in order
	fixed  bool  // what is lowered is what the tool fixes, not the call
	awaits bool  // it depends on a call that may still come
	loop   bool  // it is on a cycle that was reported
	bad    bool  // it has an error: what follows from it is not reported

	inherits bool                 // its tool fixes what it delegates to
	unfit    bool                 // its params are not what its tool takes
	certain  bool                 // it writes if it does not fail
	instance *instance            // that it works on; nil is the global whiteboard
	document *document            // that it delegates to; nil when there is none that can be used
	survey   *survey              // of the document
	latent   *tool.Implementation // what the tool file says of it, when it is latent; nil is nothing
}

// ref is a reference of a call, with what its place says about it.
type ref struct {
	expr  *Expr
	group int32 // references with the same number stand in one ||; 0 is none
	soft  bool  // inside ||, _when, _scopes or _fallback: nothing there is no error
	after bool  // nothing before it writes it or holds it: it waits for later writers
	held  bool  // the initial whiteboard has it
	void  bool  // nothing at all is there
}

func (c *checker) at(s diag.Span) diag.Loc { return diag.Loc{File: c.doc.File, Span: s} }

// indexOf is the index of n calls by their ids. What has none is no call, which was reported.
func indexOf(n int, id func(int) string) map[string]int32 {
	index := make(map[string]int32, n)
	for i := range n {
		if id := id(i); id != "" {
			index[id] = int32(i)
		}
	}
	return index
}

// program puts the results together.
func (c *checker) program() *Program {
	p := &Program{
		Document: c.doc,
		Mode:     c.doc.Mode,
		Calls:    c.made,
		Starts:   c.graphs.starts,
		Commits:  c.graphs.commits,
		Initial:  map[string]json.RawMessage{},
		Schemas:  map[string][]*schemas.Schema{},

		Output:       c.output,
		OutputSchema: c.outSch,
		Instances:    c.allInstances(),
		Template:     c.isTemplate,
		Refs:         c.opts.Refs,
		tools:        c.cat,
		paths:        c.index,
		board:        c.board,
		loops:        c.loops,
		shapes:       c.shapes,
		open:         c.opts.Instances,
	}
	p.byID = sync.OnceValue(func() map[string]int32 {
		return indexOf(len(p.Calls), func(i int) string { return p.Calls[i].ID })
	})
	if c.within != nil {
		p.copied = c.within.copied
	}
	if c.lazy {
		p.Mode = lang.Lazy
	}
	for name, k := range c.layers {
		p.Initial[name] = k.value
	}
	for name, k := range c.kinds {
		p.Initial[name] = k.value
		if len(k.schemas) > 0 {
			p.Schemas[name] = slices.Clone(k.schemas)
		}
	}
	return p
}
