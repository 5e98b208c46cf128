package journal

import (
	"encoding/json"
	"time"
)

// Given holds everything that a run was given. It must not contain secrets: the text of a tool
// file, for example, has references to secrets and not their values (execution §5).
type Given struct {
	Plan    Text
	Texts   []Text // everything else, in the order in which it is applied
	Program string // the digest of the compiled program
	// Settings holds the settings of the run as JSON, in a form that the caller chooses; nil is {}.
	Settings json.RawMessage
	Labels   map[string]string // for people
	Created  time.Time         // zero is now
	Fork     *Forked           // nil if the run is not a fork; Create ignores it

	// Revision counts how often the plan was replaced; Plan is the last one. Create ignores it; see
	// Run.Revise.
	Revision int
}

// Text is a file or a value that a run was given.
type Text struct {
	Role     Role
	Name     string // of the file or, for a value, its kind
	Notation string // of a plan or a document, as in --from
	// Digest is the SHA-256 of Bytes, in hexadecimal. The store computes it. If Bytes is nil, the
	// store keeps only the given digest.
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

	Instances Role = "instances" // only their digest, if they are too many to be kept

	Manifest Role = "manifest" // of a lazy plan: everything that running it would execute
	Pins     Role = "pins"     // of a plan that replaced another: the content of its programs
)

// Forked is the place where a fork begins.
type Forked struct {
	Run      string // the run that was forked
	Instance string // of the call
	At       string // path of the first call that is run again
	Set      map[string]json.RawMessage
}

// AllTexts returns all texts, first the plan, with its role.
func (g *Given) AllTexts() []Text {
	all := append([]Text{g.Plan}, g.Texts...)
	all[0].Role = Plan
	return all
}
