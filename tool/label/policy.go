package label

import (
	"cmp"
	"slices"

	"github.com/plc-lang/plc/diag"
)

// The levels of a policy that names none.
var (
	DefaultTrust   = []string{"untrusted", "user", "operator"}
	DefaultSecrecy = []string{"public", "internal", "secret"}
)

// A Policy says which flows of information are allowed.
type Policy struct {
	Trust      []string // the levels, from the least trusted
	Secrecy    []string // the levels, from public
	Categories []string // the names that labels may have. Sorted.

	Plan    *Label // of what the plan itself says; nil is the second level of trust, and public
	Default *Label // of what nothing is said about; nil is the worst label
	Given   []Path // what the whiteboard holds at the start, by paths
	Tools   []Tool // each holds for all tools that it matches
	Output  Bound  // of the output of the plan

	// Strict treats what only decides about a value or a call as data.
	Strict bool
	// Warn makes warnings of violations.
	Warn bool
}

// A Path is a path of the whiteboard with the label of what is there.
type Path struct {
	Names []string // the kind and members below it, such as input, user, mail
	Label Label
	Loc   diag.Loc `json:"-"`
}

// A Tool says what tools give and take.
type Tool struct {
	Pattern string   // the name, in which * stands for any text
	Loc     diag.Loc `json:"-"`

	Gives *Label // the label of results; nil when nothing is said
	Parts []Path // the labels of parts of results, by paths inside of them
	// Takes are the bounds of params by name; "*" is of all others.
	Takes map[string]Bound
	// TakesLoc are the places of the names in Takes.
	TakesLoc map[string]diag.Loc `json:"-"`
	// Drops says that results do not carry the labels of the params.
	Drops bool
}

// New returns a policy with the default levels that says nothing else.
func New() *Policy { return &Policy{Trust: DefaultTrust, Secrecy: DefaultSecrecy} }

// OfPlan returns the label of what the plan itself says.
func (p *Policy) OfPlan() Label {
	if p.Plan == nil {
		return Label{Trust: min(1, p.Best().Trust)}
	}
	return *p.Plan
}

// OfUnknown returns the label of what the policy says nothing about.
func (p *Policy) OfUnknown() Label {
	if p.Default == nil {
		return p.Worst()
	}
	return *p.Default
}

// Best returns the label of what carries nothing: the most trusted and public.
func (p *Policy) Best() Label { return Label{Trust: Level(len(p.Trust) - 1)} }

// Worst returns the label of what could be anything.
func (p *Policy) Worst() Label {
	return Label{Secrecy: Level(len(p.Secrecy) - 1), Categories: p.Categories}
}

// SameLevels reports whether two policies have the same levels, so that they can be joined.
func (p *Policy) SameLevels(q *Policy) bool {
	return slices.Equal(p.Trust, q.Trust) && slices.Equal(p.Secrecy, q.Secrecy)
}

// Join returns the policy under which only those flows are allowed that both allow. The levels of
// both must be the same.
func (p *Policy) Join(q *Policy) *Policy {
	return &Policy{
		Trust: p.Trust, Secrecy: p.Secrecy, Categories: union(p.Categories, q.Categories),
		Plan: either(p.Plan, q.Plan), Default: either(p.Default, q.Default),
		Given: slices.Concat(p.Given, q.Given), Tools: slices.Concat(p.Tools, q.Tools),
		Output: p.Output.Meet(q.Output), Strict: p.Strict || q.Strict, Warn: p.Warn && q.Warn,
	}
}

// either joins two labels of which each may be nil.
func either(l, m *Label) *Label {
	if l == nil || m == nil {
		return cmp.Or(l, m)
	}
	joined := l.Join(*m)
	return &joined
}
