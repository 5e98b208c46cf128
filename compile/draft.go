package compile

import (
	"github.com/plc-lang/plc/schemas"
)

// lowered is the calls and the output of a document, each lowered by itself.
type lowered struct {
	calls  []draft // in the order of the list, and in plan order once that is known
	made   []Call  // what the drafts come to, in the same order
	end    draft   // stands behind all calls: the reads of the output
	output *Template
	outSch *schemas.Schema
	final  []*Expr // the members of the final state, of a document without an output

	index         *pathIndex
	literalGroups map[int32]bool // the ||s that hold a literal: one operand is always present
	blind         bool           // some output path was not understood: who writes what is not known
}

// draft is a call on its way to become part of the program. The one behind all calls, which reads
// what the output reads, has no Source.
type draft struct {
	*Call
	refs   []ref // its reads, in order
	fixed  bool  // what is lowered is what the tool fixes, not the call
	awaits bool  // it depends on a call that may still come
	loop   bool  // it is on a cycle that was reported
	bad    bool  // it has an error: what follows from it is not reported

	inherits bool      // its tool fixes what it delegates to
	unfit    bool      // its params are not what its tool takes
	denied   bool      // the policy does not permit a tool that it names
	certain  bool      // it writes if it does not fail
	instance *instance // that it works on; nil is the global whiteboard
	document *document // that it delegates to; nil when there is none that can be used
	survey   *survey   // of the document
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

// isOutput reports whether this is the draft that stands behind all calls.
func (d *draft) isOutput() bool { return d.Source == nil }
