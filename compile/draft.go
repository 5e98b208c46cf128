package compile

import (
	"github.com/plc-lang/plc/schemas"
)

// lowered holds the calls and the output of a document, each lowered by itself.
type lowered struct {
	calls  []draft // in list order, and in plan order once that is known
	made   []Call  // the calls made from the drafts, in the same order
	end    draft   // the reads of the output, after all calls
	output *Template
	outSch *schemas.Schema
	final  []*Expr // the members of the final state, if the document has no output

	index         *pathIndex
	literalGroups map[int32]bool // the || expressions with a literal, so that one operand is always present
	blind         bool           // some output path was not understood, so it is not known who writes where
}

// draft is a call while it is being compiled. The draft of the output, after all calls, has no
// Source.
type draft struct {
	*Call
	refs   []ref // its reads, in order
	fixed  bool  // a member that the tool fixes is being lowered, not one of the call
	awaits bool  // it depends on a call that may still come
	loop   bool  // it is on a reported cycle
	bad    bool  // it has an error, whose consequences are not reported

	inherits bool      // its tool fixes what it delegates to
	unfit    bool      // its params do not fit its tool
	denied   bool      // it names a tool that the policy does not permit
	certain  bool      // it always writes, unless it fails
	instance *instance // the instance that it works on; nil is the global whiteboard
	document *document // the document that it delegates to; nil if there is none, or it can't be used
	survey   *survey   // of the document
}

// ref is a reference of a call, with what follows from its place.
type ref struct {
	expr  *Expr
	group int32 // references in one || have the same number; 0 means none
	soft  bool  // inside ||, _when, _scopes or _fallback: it is no error if nothing is there
	after bool  // no earlier call writes it and nothing holds it, so it waits for later writers
	held  bool  // the initial whiteboard has it
	void  bool  // nothing is ever there
}

// isOutput reports whether this is the draft of the output.
func (d *draft) isOutput() bool { return d.Source == nil }
