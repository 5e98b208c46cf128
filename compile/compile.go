package compile

import (
	"context"
	"encoding/json"
	"io/fs"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/schemas"
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
	// Models gives the model of this name, "" for the one that makes the latent calls of tools that
	// name none; it may be asked more than once. A nil activity is none, an error says why it can't
	// be used. Nil has no models. Only what is compiled for a run asks for them.
	Models func(name string) (tool.Activity, error)

	// Strict warns of references that may not fit (PLC503).
	Strict bool

	Effects Effects
	Refs    Refs
	Budget  Budget
	// Allow are the tools that may be used; nil allows all. Deny wins over it.
	Allow, Deny []string
	// Only are more lists like Allow: a tool has to be in each of them.
	Only [][]string

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
	// YAML reads documents that are written in YAML, as lang.Options.YAML does; nil reads none.
	YAML func(file *diag.File, maxDepth int) (*diag.File, *diag.Finding)
	// MaxDepth limits how deep delegates may nest; 0 is 8.
	MaxDepth int
	// Predicates checks the conditions of choose and repeat; nil knows none.
	Predicates Predicates
	// Seen says what the author of the plan knew; Check may use it.
	Seen Seen
	// Check is called with the program of a plan in which no error was found, and may find some.
	// Nil is not called.
	Check func(*Program) diag.List

	// Context ends checks of values and types when it is done, which is a finding (PLC103) then;
	// nil is none. It is an option since most compilations take no time worth interrupting.
	Context context.Context
	// Meter bounds the work of checks of values and types. Nil makes one for this compilation; that
	// of a program (Program.Meter) bounds the work of several together.
	Meter *schemas.Meter
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

// Seen says what the author of a plan had seen when writing it.
type Seen uint8

// What an author has seen.
const (
	SeenNothing Seen = iota // nothing that the program holds, as far as is known
	SeenBoard               // the initial whiteboard; so the messages of the document are not the author's
	SeenResults             // that, and what calls have given: their results and errors
)

// Budget bounds what a run may use up; 0 is no bound (execution §7).
type Budget struct {
	Steps  int     // calls started
	Tokens float64 // estimated by _estimatedTokens
	Cost   float64 // estimated by _estimatedCost
}

// Compile compiles a document. It never returns nil; a program that came with an
// error must not run. It does not panic: a fault of its own is a finding as well (PLC901), and
// then the program is empty. A nil Options is the default. Of each code and severity at most
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
	prog, findings, _ := newUnit(doc, opts, newDelegates(doc, opts)).compile()
	return prog, findings
}
