package schemas

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/schemas/internal/prover"
	"github.com/plc-lang/plc/schemas/internal/tree"
	"github.com/plc-lang/plc/schemas/internal/value"
)

// Verdict is the answer to the question whether a schema is assignable to another.
type Verdict uint8

// The verdicts.
const (
	Maybe Verdict = iota // it could not be decided
	Yes                  // every value of the first meets the second
	No                   // some value doesn't
)

func (v Verdict) String() string { return [...]string{"maybe", "yes", "no"}[v] }

// Answer is the answer to whether every value of a schema meets another. The zero value means that
// nothing is known.
type Answer struct {
	Verdict Verdict
	// Reason explains a No or Maybe: `/tags/0 may be null: expected string, but got null`. From and
	// To are the pointers to the schemas concerned in the two documents.
	Reason   string
	From, To string
	// Witness is, for the verdict No, a value that the first schema admits and the second refuses;
	// it was validated against both. It is nil if it would be larger than 64 KiB.
	Witness json.RawMessage
}

// AssignOptions limit the work of a question. The zero value stands for the defaults.
type AssignOptions struct {
	// Steps bounds the work; 0 is DefaultSteps.
	Steps int
}

// DefaultSteps is enough for all but very large schemas; hostile schemas use it up in a few
// milliseconds.
const DefaultSteps = 10_000

// Assignable answers whether every value of from meets to. Yes and No are proved; Maybe means that
// it can't be decided, or not within the limit. Each schema is read according to its own draft.
// Several goroutines may call Assignable at once. plan-language §7
func Assignable(from, to *Schema, opts *AssignOptions) Answer {
	return NewMeter(context.Background(), questionSteps).assignable(from, to, opts)
}

const (
	// questionSteps bounds the validations of one question.
	questionSteps = 4 * evalSteps

	// stepsPerProof is the number of evaluation steps that take about as long as one step of a
	// proof.
	stepsPerProof = 8
)

// assignable does what Assignable does, within the limits of a meter.
func (m *Meter) assignable(from, to *Schema, opts *AssignOptions) (a Answer) {
	if from.same(to) || tree.AdmitsAll(to.node()) || from.node().May == value.NoTypes {
		return Answer{Verdict: Yes}
	}
	defer func() {
		if err := m.Err(); err != nil && a.Verdict == Maybe {
			a = Answer{From: from.node().Pointer, To: to.node().Pointer, Reason: err.Error()}
		}
	}()
	if m.Err() != nil {
		return a
	}
	if a, decided := enumerated(m, from, to); decided {
		return a
	}
	steps := DefaultSteps
	if opts != nil && opts.Steps > 0 {
		steps = opts.Steps
	}
	p := prover.New(steps, evaluateWithin)
	defer func() { m.Take(stepsPerProof*(steps-max(0, p.Steps)) + prover.MaxTried - max(0, p.Work)) }()
	r := p.Solve(prover.Meets(from.node()), prover.Breaks(to.node()))
	switch {
	case r.Status == prover.Empty:
		return Answer{Verdict: Yes}
	case r.Status == prover.Found && prover.Huge(r.Witness):
		return Answer{
			Verdict: No, From: from.node().Pointer, To: to.node().Pointer,
			Reason: fmt.Sprintf("%s is not %s; a value that shows it has more than %d KiB", from, to, prover.MaxMade>>10),
		}
	case r.Witness != nil && !prover.Huge(r.Witness):
		if a := refuted(m, from, to, r.Witness); a.Verdict == No {
			return a
		}
	}
	a = Answer{From: from.node().Pointer, To: to.node().Pointer}
	switch {
	case p.Steps < 0:
		a.Reason = fmt.Sprintf("it takes more than %d steps to decide", steps)
	case p.Large:
		a.Reason = "it takes values with too many members or elements to decide"
	default:
		a.Reason = "it depends on what cannot be decided here: a pattern that RE2 cannot read, a dynamic reference or a meta-schema"
	}
	return a
}

// enumerated answers by trying all values of from, if from lists them.
func enumerated(m *Meter, from, to *Schema) (a Answer, decided bool) {
	n := from.node()
	for n.Ref != nil && n.Const == nil && !n.HasEnum {
		n = n.Ref
	}
	values := n.Enum
	if n.Const != nil {
		values = []value.Value{*n.Const}
	} else if !n.HasEnum {
		return a, false
	}
	for i := range values {
		if m.Err() != nil {
			return a, true
		}
		if !to.admits(m, &values[i]) && from.admits(m, &values[i]) {
			return refuted(m, from, to, &values[i]), true
		}
	}
	if m.Err() != nil {
		return a, true
	}
	return Answer{Verdict: Yes}, len(to.Warnings()) == 0
}

// admits does what Validate does, without messages.
func (s *Schema) admits(m *Meter, v *value.Value) bool { return s.judge(m, v, 0) == nil }

// same reports whether two schemas are the same text.
func (s *Schema) same(t *Schema) bool {
	return s.node() == t.node() || s.node().Doc != nil && t.node().Doc != nil &&
		s.node().Pointer == t.node().Pointer && bytes.Equal(s.node().Doc.Raw, t.node().Doc.Raw)
}

// refuted returns the answer No if the witness is valid.
func refuted(m *Meter, from, to *Schema, witness *value.Value) Answer {
	raw := json.RawMessage(witness.AppendJSON(nil))
	if from.check(m, raw) != nil {
		return Answer{}
	}
	broken, _ := to.check(m, raw).(*ValidationError)
	if broken == nil {
		return Answer{}
	}
	v := broken.Violations[0]
	a := Answer{Verdict: No, To: v.Keyword, From: from.node().Pointer, Witness: raw}
	path, at := pathTo(witness, v.Instance)
	if sub, _ := from.At(path...); sub != nil && sub.node().Doc != nil {
		a.From = sub.node().Pointer
	}
	a.Reason = reason(v, at)
	return a
}

// pathTo follows a pointer into a value.
func pathTo(v *value.Value, pointer string) (path []Step, at *value.Value) {
	for token := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		if pointer == "" || v == nil {
			break
		}
		token = jsonscan.UnescapePointer(token)
		step := Step{Kind: Member, Name: token}
		if v.Kind == value.Array {
			i, _ := strconv.Atoi(token)
			step = Step{Kind: Element, Index: i}
		}
		path = append(path, step)
		v = v.Child(token)
	}
	return path, v
}

func reason(v Violation, at *value.Value) string {
	place := "the value"
	if v.Instance != "" {
		place = v.Instance
	}
	word := v.Keyword[strings.LastIndexByte(v.Keyword, '/')+1:]
	switch {
	case word == "required":
		return fmt.Sprintf("%s may lack a member: %s", place, v.Message)
	case strings.HasPrefix(v.Message, "unknown member"):
		return fmt.Sprintf("there may be %s, and no others than the declared are allowed", place)
	case at == nil:
		return v.Message
	}
	return fmt.Sprintf("%s may be %s: %s", place, short(at), v.Message)
}

// Relation remembers the answers of Assignable. The zero value is empty and ready to use. Several
// goroutines may use it at once. It keeps the schemas in its questions alive.
type Relation struct {
	Options AssignOptions
	// Meter limits the work of all questions together; when it has nothing left, the answer is
	// Maybe. If it is nil, each question has its own limit.
	Meter *Meter

	mu      sync.Mutex
	answers map[[2]*tree.Node]Answer
	fits    map[[2]*tree.Node]Fit // for pairs whose answer is No
}

// Assignable does what the function Assignable does. It is very fast if the same question was asked
// before.
func (r *Relation) Assignable(from, to *Schema) Answer {
	key := [2]*tree.Node{from.node(), to.node()}
	r.mu.Lock()
	a, known := r.answers[key]
	r.mu.Unlock()
	if known {
		return a
	}
	if r.Meter == nil {
		a = Assignable(from, to, &r.Options)
	} else if a = r.Meter.assignable(from, to, &r.Options); a.Verdict == Maybe && r.Meter.Err() != nil {
		return a // the error is about the limits, not about the schemas
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.answers == nil {
		r.answers = make(map[[2]*tree.Node]Answer)
	}
	r.answers[key] = a
	return a
}
