package lang

import "github.com/plc-lang/plc/diag"

// Form is the shape of a document (plan-language §1).
type Form uint8

// The forms of a document.
const (
	NoForm      Form = iota // not a plan
	CallList                // [ {"_tool": …}, … ]
	PlanMessage             // {"type": "plan", "plan": [calls]}
	Solution                // {"calls": [calls], "output": …}
	Context                 // [ messages ]
	Request                 // {"context": …, "schema": …, "solution": …}
)

// Mode says when a plan runs (plan-language §10).
type Mode uint8

// The modes. A plan that says nothing is eager.
const (
	Eager Mode = iota
	Lazy
)

// modes returns the modes as they are written, by Mode.
func modes() []string { return []string{"eager", "lazy"} }

// Document is a parsed document. Its nodes keep its file alive.
type Document struct {
	File *diag.File
	Form Form
	Mode Mode
	// OnFailure says what happens on an unhandled failure, like --on-failure; "" if the plan does
	// not say.
	OnFailure     string
	OnFailureNode Node
	Root          Node
	Messages      []Message // of its context, in order; the plan message among them
	Calls         []Call    // of its plan, in order
	Output        Node      // a solution's output that is not null; else zero
	Schema        Node      // a request's schema; else zero
	Profile       Profile   // of a plan in another notation; else zero
	// Envelopes has the ids of calls that stand for agents, in a plan in another notation: their
	// results are {"message", "response", "status"}; see exec.Envelope.
	Envelopes map[string]bool
	// Beside has other plans of the same text, in another notation, which are checked but not run.
	Beside []*Document

	tree    *tree
	list    Node // of calls
	context Node // the list of messages
	broken  bool // a part of it could not be read
	faulty  bool // it has errors
	answer  bool // it is part of a model's answer
	model   bool // a model wrote it
	foreign bool // it was made from a plan in another notation
	yaml    bool // it is written in YAML
}

// Model reports whether a model wrote the document. Then text that is nearly a reference is an
// error, so that the model can correct it, since no person will see a warning.
func (d *Document) Model() bool { return d.model }

// Translated reports whether the document was made from a plan in another notation.
func (d *Document) Translated() bool { return d.foreign }

// YAML reports whether the document is written in YAML.
func (d *Document) YAML() bool { return d.yaml }

// Faulty reports whether errors were found when the document was read: it must
// not run.
func (d *Document) Faulty() bool { return d.faulty }

// Message is a message of a context (plan-language §1).
type Message struct {
	Node     Node
	Type     string // "tool", "input", "state", "data", "plan", "text", "system", "error", "meta", or another
	Kind     string // the kind in references: input, state, data, or the kind of a data message; "" for other messages
	Instance string // "" is global
	// Payload is the value that the message brings: the member named as the type
	// or "data" when it is the only one that is not reserved. When it is zero, the
	// payload is the object of Members.
	Payload Node
	Members []Member // the members that are not reserved
	Schema  Node     // the message's schema; zero if none
}

// Member is a member of an object: its name, where the name stands, and its value.
type Member struct {
	Name  string
	Key   diag.Span // with its quotes
	Value Node
}

// Call is a call of a plan (plan-language §2). Members that are absent, or that
// are of the wrong type and were reported, are zero.
type Call struct {
	Index int    // its place in the list, from 0, and in Document.Calls
	Node  Node   // the whole object; another value if that was reported
	ID    string // its _id, or the default one
	Tool  string

	IDNode   Node // zero if the ID is the default one
	ToolNode Node

	Params     []Member // members without a leading underscore, in order
	OutputNode Node     // the value of _outputPath: see OutputPath
	Method     string   // the value of _outputMethod as spelled, or ""
	MethodNode Node
	Rest       *Rest // the members that are rarely used; nil if it has none
}

// Rest has the members of a call that are rarely used.
type Rest struct {
	ErrorPath     *Write // one path
	ErrorPathNode Node
	Output        Node // _output that is not null
	HasOutput     bool // _output is there and not null
	Instance      string
	InstanceNode  Node
	Scopes        []Scope
	ScopesNode    Node
	Delegate      string
	DelegateNode  Node
	Activity      string
	ActivityNode  Node // zero if there is no _activity; "" forces latent
	DependsOn     []Name
	When          *Expr
	WhenNode      Node
	Retry         *Retry
	RetryNode     Node
	Timeout       Duration // 0 when not given
	TimeoutNode   Node
	Fallback      *Fallback
	FallbackNode  Node
	OnFailure     string
	OnFailureNode Node
	Undo          *Undo // nil if there is no _undo, or it was reported
	UndoNode      Node
	Approve       Approve
	ApproveNode   Node
	Description   string
	Reasoning     string
	Expect        Node // zero if none
	EstTokens     float64
	EstTokensNode Node
	EstCost       float64
	EstCostNode   Node
	EstTime       Duration
	FixedOutput   Node // the _outputPath that its tool fixes, once known; zero if it has one itself
}

// OutputPath returns the call's _outputPath, or the one that its tool fixes; nil if there is none,
// or it was reported. It must not be changed. A single plain path, which is the usual case, is
// parsed each time; use a TextReader to read many.
func (c *Call) OutputPath() *Write { return c.outputPath(nil) }

func (c *Call) outputPath(m *memory) *Write {
	n := c.OutputNode
	if n.IsZero() && c.Rest != nil {
		n = c.Rest.FixedOutput
	}
	if !n.has(isWrite) {
		return nil
	}
	if n.has(isRef) {
		w, _ := m.writeOne(m.reference(n))
		return w
	}
	return n.tree.writes[n.i]
}

// Name is a name and its place.
type Name struct {
	Name string
	Node Node
}

// Scope is an entry of _scopes: a kind or a path.
type Scope struct {
	Node Node
	Ref  *Expr // always an OpRef
}

// Retry is a call's _retry. Delays that are not given are 0; the executor has defaults.
type Retry struct {
	Max      int // retries after the first attempt
	Delay    Duration
	Factor   float64
	MaxDelay Duration
	Jitter   *bool
	On       []string // error codes that are retried; empty is all
}

// Fallback is a call's _fallback: a tool that gets the same params, or a call of its own.
type Fallback struct {
	Tool         string
	ToolNode     Node
	Params       []Member // only if Own
	Own          bool     // it is a call with params of its own
	Activity     string
	ActivityNode Node
	Timeout      Duration
	TimeoutNode  Node
	Undo         *Undo
}

// Undo is a call's _undo: the call that undoes it. If it is null, Tool is empty, and the call can't
// be undone.
type Undo struct {
	Tool          string
	ToolNode      Node
	Params        Node // an object; zero when there are none
	WhenUncertain bool
}

// ParamsJSON returns the params as JSON.
func (u *Undo) ParamsJSON() []byte {
	if u.Params.IsZero() {
		return []byte("{}")
	}
	return u.Params.AppendJSON(nil)
}

// Approve is a call's _approve.
type Approve struct {
	Set    bool // the member is there
	Needed bool
	Reason string
}
