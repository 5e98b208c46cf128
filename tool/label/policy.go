package label

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/plc-lang/plc/diag"
)

// Violation says what happens to a plan, or to a call, that breaks a requirement or a rule.
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
	Worst      []string // the categories of the worst label: all that labels have. Sorted.

	Plan    *Label // the label of literals in the plan; nil is user and public
	Default *Label // the label of everything that the policy does not mention; nil is the worst label
	Given   []Path // the labels of the whiteboard at the start
	Tools   []Tool // each entry applies to all tools that it matches
	Output  []Want // the requirements on the output of the plan
	Rules   []Rule

	// Strict treats values that only decide about a value or a call as data.
	Strict bool
	// Raw is the whole text of the files as JSON. It identifies the policy.
	Raw json.RawMessage
	// Labels reports that the policy has labels. Without them flows are not checked.
	Labels bool
}

// The levels that every policy has.
var (
	BaseTrust   = NewOrder("untrusted", "user", "operator")
	BaseSecrecy = NewOrder("public", "internal", "secret")
)

// New returns a policy that has only the levels that every policy has.
func New() *Policy { return &Policy{Trust: BaseTrust, Secrecy: BaseSecrecy} }

// A Path is a path with a label.
type Path struct {
	Names []string // members; elements of lists are left out
	Label Label
	Loc   diag.Loc
}

// A Selector selects tools by a name, in which * stands for any text, or by an annotation.
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

// Annotations are the annotations that select tools. The defaults are those of MCP: a tool may be
// destructive and reach the open world, and is not read-only.
var Annotations = []string{"destructive", "openWorld", "readOnly"}

// A Tool is the entry of a policy for the tools that it selects.
type Tool struct {
	Selector

	Gives *Label // the label of results; nil if the entry has none
	Parts []Path // the labels of parts of results
	Takes []Want
	// Endorses and Declassifies are the names under which results do not take over the trust, or
	// the secrecy and categories, of the params; "" if they do.
	Endorses, Declassifies string
	// Leaves says whether others than the tool may see its params; if it is nil, that depends on
	// the effects of the tool.
	Leaves *bool
}

// A Want is a requirement on a param or on the output.
type Want struct {
	Param string // "*" stands for all params that the entry does not name
	Bound
	In *Source    // the value has to be an element of this list, and is then trusted as the list; nil for no list
	Or *Condition // if this holds, the value may have any trust; nil for no condition
	Violation
	Loc diag.Loc
}

// StandsIn reports whether a list or a condition may replace the trust of a value.
func (w *Want) StandsIn() bool { return w.In != nil || w.Or != nil }

// A Source names a list in the input or in the result of a tool.
type Source struct {
	Text string // "input.payees", "listHotels.hotels.name": elements of lists are left out
	Loc  diag.Loc
}

// OfInput returns the path of a list below the input; false if the list is in the result of a tool.
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

// RuleKind is the kind of a rule.
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
	Other Selector // Never: the tools that come first; Before: the tools that come later
	If    *Condition
	Violation
	Loc diag.Loc
}

// An Amount is a number, or the number at a path of the input.
type Amount struct {
	Number string   // as JSON; "" if it is in the input
	Input  []string // the path below the input
}

// OfPlan returns the label of literals in the plan.
func (p *Policy) OfPlan() Label {
	if p.Plan != nil {
		return *p.Plan
	}
	user, _ := p.Trust.Level("user")
	public, _ := p.Secrecy.Level("public")
	return Label{Trust: user, Secrecy: public}
}

// OfUnknown returns the label of everything that the policy does not mention.
func (p *Policy) OfUnknown() Label {
	if p.Default != nil {
		return *p.Default
	}
	return p.OfAnything()
}

// Best returns the label of a value that reveals nothing.
func (p *Policy) Best() Label { return Label{Trust: p.Trust.Top(), Secrecy: p.Secrecy.Bottom()} }

// OfAnything returns the worst label.
func (p *Policy) OfAnything() Label {
	return Label{Trust: p.Trust.Bottom(), Secrecy: p.Secrecy.Top(), Categories: p.Worst}
}

// Joined returns a policy with the entries of both. The levels of q must extend those of p.
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
