package journal

import (
	"encoding/json"
	"time"
)

// Given holds all that a run was given. It must hold no secret: of a tool file, its text as it was
// written, with references to secrets and not their values (execution §5).
type Given struct {
	Plan    Text
	Texts   []Text // everything else, in the order in which it counts
	Program string // the digest of the compiled program
	// Settings say how the run runs, as JSON in whatever form the caller has for them; nil
	// is {}.
	Settings json.RawMessage
	Labels   map[string]string // for people
	Created  time.Time         // zero is now
	Fork     *Forked           // nil for a run that is not one; Create ignores it

	// Revision says how often the plan was replaced: Plan is the last one. Create ignores it;
	// see Run.Revise.
	Revision int
}

// Text is a file or a value that a run was given.
type Text struct {
	Role     Role
	Name     string // of the file; of a value, its kind
	Notation string // of a plan or a document: what --from says
	// Digest is the SHA-256 of Bytes, in hexadecimal. Stores compute it, unless Bytes is nil:
	// then the digest is all that they keep.
	Digest string
	Bytes  []byte
}

// Role says what a text is used for.
type Role string

// The roles.
const (
	Plan     Role = "plan"
	Document Role = "document" // that a call delegates to
	Tools    Role = "tools"
	Input    Role = "input"
	State    Role = "state"
	Schema   Role = "schema"

	Instances Role = "instances" // by their digest, when they are too many to be kept

	Manifest Role = "manifest" // of a lazy plan: all that running it would execute
	Pins     Role = "pins"     // of a plan that replaced another: the content of its programs
)

// Forked is where a fork begins.
type Forked struct {
	Run      string // that it is a fork of
	Instance string // of the call
	At       string // the path of the call that is the first to be run again
	Set      map[string]json.RawMessage
}

// AllTexts returns the plan and the other texts, the plan first, with its role.
func (g *Given) AllTexts() []Text {
	all := append([]Text{g.Plan}, g.Texts...)
	all[0].Role = Plan
	return all
}
