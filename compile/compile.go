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

// Options controls how a plan is compiled. The zero value is the default.
type Options struct {
	// Catalogue holds the tools, to which the tools of the document are added. Nil is none.
	Catalogue *tool.Catalogue

	// Values holds values for kinds: the input, the state, data kinds. They are merged deeply over
	// those of the document's messages, and must be JSON objects.
	Values map[string]Given
	// Schemas holds schemas for kinds, which apply in addition to those of the document.
	Schemas map[string]Given

	// Run compiles for a run: a value that was not given is missing, and a latent call is refused
	// if nothing can make it (PLC606).
	Run bool
	// Lazy makes the plan lazy, whatever it says.
	Lazy bool
	// Models returns the model with this name; "" is the model for the latent calls of tools that
	// name none. It may be called more than once for a name. It returns a nil activity if there is
	// no such model, and an error if the model can't be used. If Models is nil, there are no
	// models. It is only called if Run is set.
	Models func(name string) (tool.Activity, error)

	// Strict warns of references that may not fit (PLC503).
	Strict bool

	Effects Effects
	Refs    Refs
	Budget  Budget
	// Allow lists the tools that may be used; nil allows all. Deny lists tools that may not, even
	// if Allow has them.
	Allow, Deny []string
	// Only holds further lists like Allow: a tool must be in each of them.
	Only [][]string

	// Instances says that instances come when the program runs, in addition to those of the
	// document: the input is open, and the program is a template (plan-language §8).
	Instances bool

	// Delegates holds the documents that the plan may delegate to, by their paths below the folder
	// of the plan (plan-language §9); nil has none. Links can't lead out of the FS of an os.Root.
	// Folder is the folder of the plan itself in it; "" is its root.
	Delegates fs.FS
	Folder    string
	// Fetch reads a document at a URL. If the host of the URL is not allowed, it returns an error
	// that is fs.ErrPermission. Nil refuses all URLs.
	Fetch func(url string) ([]byte, error)
	// YAML reads documents that are written in YAML, as lang.Options.YAML does; nil reads none.
	YAML func(file *diag.File, maxDepth int) (*diag.File, *diag.Finding)
	// MaxDepth limits how deep delegates may nest; 0 is 8.
	MaxDepth int
	// Predicates checks the conditions of choose and repeat. If it is nil, there can be none.
	Predicates Predicates
	// Seen says what the author of the plan knew; Check may use it.
	Seen Seen
	// Check, if not nil, is called with the program of a plan in which no error was found, and may
	// return findings.
	Check func(*Program) diag.List

	// Context, if not nil, ends checks of values and types when it is done; that is a finding
	// (PLC103). It is an option because most compilations are too short to interrupt.
	Context context.Context
	// Meter bounds the work of checking values and types. Nil makes a meter for this compilation;
	// the meter of a program (Program.Meter) bounds the work of several compilations together.
	Meter *schemas.Meter
}

// Given is a JSON value that does not come from the document, and its place.
type Given struct {
	JSON json.RawMessage
	Loc  diag.Loc // zero if it is not from a file
}

// Effects says for which calls their effects determine an order (plan-language §5).
type Effects uint8

// The values of Effects.
const (
	DeclaredEffects Effects = iota // tools declared to change the world
	StrictEffects                  // undeclared tools as well
	NoEffects                      // none: only data and _dependsOn order calls
)

// Seen says what the author of a plan had seen when writing it.
type Seen uint8

// The values of Seen.
const (
	SeenNothing Seen = iota // nothing of what the program holds, as far as is known
	SeenBoard               // the initial whiteboard; the author did not write the messages of the document
	SeenResults             // the initial whiteboard, and the results and errors of calls
)

// Budget bounds what a run may use; 0 is no bound (execution §7).
type Budget struct {
	Steps  int     // calls that start
	Tokens float64 // estimated by _estimatedTokens
	Cost   float64 // estimated by _estimatedCost
}

// Compile compiles a document. It never returns nil; a program that came with an error must not
// run. It does not panic: a bug in the compiler becomes a finding (PLC901) and an empty program. A
// nil Options is the default. It returns at most 100 findings of each code and severity, and then
// one with the number of the others. It takes time and memory linear in the document, except for
// references with [*], whose matches are counted and bounded (PLC103).
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
