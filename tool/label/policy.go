package label

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/plc-lang/plc/diag"
)

// Violation says what becomes of a plan, or of a call, that breaks a rule.
type Violation uint8

// The violations.
const (
	Reject  Violation = iota // the plan is refused, or the call fails
	Approve                  // a person has to approve the call
	Warn                     // it is a warning
)

// Violations are the names of the violations, by number.
var Violations = [...]string{"reject", "approve", "warn"}

func (v Violation) String() string { return Violations[v] }

// A Policy says which flows of information are allowed, and what a run may do as a whole.
type Policy struct {
	Name       string   // of the file; "" for the policy of the tool files together
	Trust      *Order   // untrusted < user < operator, and what files add
	Secrecy    *Order   // public < internal < secret, and what files add
	Categories []string // the names that labels may have. A * at the end stands for any text. Sorted.
	Worst      []string // the categories of what could be anything: all that labels name. Sorted.

	Plan    *Label // of what the plan itself says; nil is user and public
	Default *Label // of what nothing is said about; nil is the worst label
	Given   []Path // what the whiteboard holds at the start, by paths
	Tools   []Tool // each holds for all tools that it matches
	Output  []Want // of the output of the plan
	Rules   []Rule

	// Strict treats what only decides about a value or a call as data.
	Strict bool
	// Raw is all that the files say, as JSON: another text would be another policy.
	Raw json.RawMessage
	// Labels reports that the policy says something of labels. One that does not checks no flows.
	Labels bool
}

// The levels that every policy has.
var (
	BaseTrust   = NewOrder("untrusted", "user", "operator")
	BaseSecrecy = NewOrder("public", "internal", "secret")
)

// New returns a policy with the levels that every policy has, which says nothing else.
func New() *Policy { return &Policy{Trust: BaseTrust, Secrecy: BaseSecrecy} }

// A Path is a path with the label of what is there.
type Path struct {
	Names []string // members; elements of lists are left out
	Label Label
	Loc   diag.Loc
}

// A Selector says which tools are meant: by a name, in which * stands for any text, or by an
// annotation.
type Selector struct {
	Text string // "pay", "mail.*", "@destructive"
	Loc  diag.Loc
}

// Annotation returns the annotation by which tools are selected; false if it is a name.
func (s Selector) Annotation() (string, bool) {
	if s.Text != "" && s.Text[0] == '@' {
		return s.Text[1:], true
	}
	return "", false
}

// Annotations are the annotations that select tools. A tool that says nothing counts as MCP has
// it: it may be destructive and open, and does not only read.
var Annotations = []string{"destructive", "openWorld", "readOnly"}

// A Tool says what tools give and take.
type Tool struct {
	Selector

	Gives *Label // the label of results; nil when nothing is said
	Parts []Path // the labels of parts of results, by paths inside of them
	Takes []Want
	// Endorses and Declassifies are the names under which results do not carry the trust, or the
	// secrecy and categories, of the params; "" is that they do.
	Endorses, Declassifies string
	// Leaves says whether others than the tool may see its params; nil is what its effects say.
	Leaves *bool
}

// A Want says which values a param, or the output, may be given.
type Want struct {
	Param string // "*" is all params that no other entry of the tool names
	Bound
	In *Source    // the value has to be an element of this list, whose trust it then has; nil is any
	Or *Condition // when this holds, the value may have any trust; nil is never
	Violation
	Loc diag.Loc
}

// IsZero reports whether everything is wanted.
func (w *Want) IsZero() bool { return w.Bound.IsZero() && w.In == nil }

// StandsIn reports whether something else may stand in for the trust of a value.
func (w *Want) StandsIn() bool { return w.In != nil || w.Or != nil }

// A Source names a list: of the input, or of what a tool gives.
type Source struct {
	Text string // "input.payees", "listHotels.hotels.name": elements of lists are left out
	Loc  diag.Loc
}

// OfInput returns the path below the input that is meant; false if it is of a tool.
func (s *Source) OfInput() (names []string, ok bool) {
	first, rest, ok := strings.Cut(s.Text, ".")
	if first != "input" || !ok {
		return nil, first == "input"
	}
	return strings.Split(rest, "."), true
}

// A Condition is text in CEL.
type Condition struct {
	Text string
	Loc  diag.Loc
}

// RuleKind tells rules apart.
type RuleKind uint8

// The kinds of rules.
const (
	Sum      RuleKind = iota // sum(pay.amount) <= 1000
	Count                    // count(pay) <= 3
	Distinct                 // distinct(pay.iban) <= 1
	Never                    // delete never after send [where now.id == before.id]
	Before                   // approve before deploy
	OnlyIf                   // pay only if params.amount < 100
)

// A Rule says what a run may do.
type Rule struct {
	Kind  RuleKind
	Text  string // as it is written
	Tools Selector
	Param string   // Sum and Distinct
	Most  Amount   // Sum, Count and Distinct
	Other Selector // Never: the tools that came before; Before: those that have to come first are Tools
	If    *Condition
	Violation
	Loc diag.Loc
}

// An Amount is a number, or what the input has at a path.
type Amount struct {
	Number string   // as JSON; "" when it is of the input
	Input  []string // the path below the input
}

// OfPlan returns the label of what the plan itself says.
func (p *Policy) OfPlan() Label {
	if p.Plan != nil {
		return *p.Plan
	}
	user, _ := p.Trust.Level("user")
	public, _ := p.Secrecy.Level("public")
	return Label{Trust: user, Secrecy: public}
}

// OfUnknown returns the label of what the policy says nothing about.
func (p *Policy) OfUnknown() Label {
	if p.Default != nil {
		return *p.Default
	}
	return p.OfAnything()
}

// Best returns the label of what carries nothing.
func (p *Policy) Best() Label { return Label{Trust: p.Trust.Top(), Secrecy: p.Secrecy.Bottom()} }

// OfAnything returns the label of what could be anything: the worst.
func (p *Policy) OfAnything() Label {
	return Label{Trust: p.Trust.Bottom(), Secrecy: p.Secrecy.Top(), Categories: p.Worst}
}

// Joined returns the policy that says what both say. The levels of q must extend those of p.
func (p *Policy) Joined(q *Policy) *Policy {
	x := *q // with its levels
	x.Categories, x.Worst = union(p.Categories, q.Categories), union(p.Worst, q.Worst)
	x.Plan, x.Default = x.either(p.Plan, q.Plan), x.either(p.Default, q.Default)
	x.Given, x.Tools = slices.Concat(p.Given, q.Given), slices.Concat(p.Tools, q.Tools)
	x.Output, x.Rules = slices.Concat(p.Output, q.Output), slices.Concat(p.Rules, q.Rules)
	x.Strict, x.Labels = p.Strict || q.Strict, p.Labels || q.Labels
	return &x
}

// either joins two labels of which each may be nil.
func (p *Policy) either(l, m *Label) *Label {
	switch {
	case l == nil:
		return m
	case m == nil:
		return l
	}
	joined := p.Join(*l, *m)
	return &joined
}
