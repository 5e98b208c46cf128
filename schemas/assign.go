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
	Yes                  // every value of the one meets the other
	No                   // there is a value that does not
)

func (v Verdict) String() string { return [...]string{"maybe", "yes", "no"}[v] }

// Answer says whether every value of a schema meets another. The zero value says that
// nothing is known.
type Answer struct {
	Verdict Verdict
	// Reason says in words why it is No or Maybe: `/tags/0 may be null: expected
	// string, but got null`. From and To are the pointers into the two schema documents
	// that it is about.
	Reason   string
	From, To string
	// Witness is a value that the one schema admits and the other refuses, when the
	// verdict is No: it was validated against both. Nil when it would have more than 64 KiB.
	Witness json.RawMessage
}

// AssignOptions say how much work a question may be. The zero value is the default.
type AssignOptions struct {
	// Steps bounds the work; 0 is DefaultSteps.
	Steps int
}

// DefaultSteps is enough for all but very large schemas, and is used up by hostile ones
// in a few milliseconds.
const DefaultSteps = 10_000

// Assignable answers whether every value of from meets to. Yes and No are proved;
// what cannot be decided, or not with so much work, is Maybe. Each schema is read by
// its own draft. It may be called by goroutines at once. plan-language §7
func Assignable(from, to *Schema, opts *AssignOptions) Answer {
	return NewMeter(context.Background(), questionSteps).assignable(from, to, opts)
}

const (
	// questionSteps bounds the validations of one question.
	questionSteps = 4 * evalSteps

	// stepsPerProof are the steps of an evaluation that take about the time of one of a proof.
	stepsPerProof = 8
)

// assignable does what Assignable does with what a meter has left.
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

// enumerated answers by trying all values of from, when it lists them.
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

// admits does what Validate does, without words.
func (s *Schema) admits(m *Meter, v *value.Value) bool { return s.judge(m, v, 0) == nil }

// same reports whether two schemas are the same text.
func (s *Schema) same(t *Schema) bool {
	return s.node() == t.node() || s.node().Doc != nil && t.node().Doc != nil &&
		s.node().Pointer == t.node().Pointer && bytes.Equal(s.node().Doc.Raw, t.node().Doc.Raw)
}

// refuted returns the answer No, if the witness is one.
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

// Relation remembers the answers of Assignable. The zero value is empty and ready; it
// may be used by goroutines at once, and keeps the schemas alive that it was asked
// about.
type Relation struct {
	Options AssignOptions
	// Meter bounds the work of all questions together; of those that it has nothing left for the
	// answer is Maybe. Nil bounds each by itself.
	Meter *Meter

	mu      sync.Mutex
	answers map[[2]*tree.Node]Answer
	fits    map[[2]*tree.Node]Fit // of those that are No
}

// Assignable answers as the function of the same name, and costs next to nothing when the
// same was asked before.
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
		return a // and not of the schemas
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.answers == nil {
		r.answers = make(map[[2]*tree.Node]Answer)
	}
	r.answers[key] = a
	return a
}
