package schemas

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/schemas/internal/tree"
	"github.com/plc-lang/plc/schemas/internal/value"
)

// Validation has four steps. First, the text is checked to be JSON. Then the scanner (scan.go)
// accepts, while it reads them, values that obviously meet simple schemas. The evaluator accepts
// nearly all other valid values; it takes one pass over the value and implements all keywords. The
// values that it refuses, or is in doubt about, go to the library, which decides. The library can't
// be interrupted, so its work is estimated beforehand. The messages of violations come from the
// evaluator (explain.go), and from the library only if the evaluator was in doubt.

// Violation is one way in which a value breaks a schema.
type Violation struct {
	Instance string // JSON Pointer into the value
	Keyword  string // JSON Pointer into the schema document, the keyword last
	Message  string // "expected integer, but got string"
	Instead  string // the JSON of the value that was perhaps intended, such as the nearest value of an enum; "" if unknown
}

// ValidationError lists the ways in which a value breaks a schema: at most 20 violations, the most
// helpful first, and the number of others, which are counted up to 980.
type ValidationError struct {
	Violations []Violation
	More       int
}

// The maximum number of violations in an error, and the maximum number that is found.
const (
	maxViolations = 20
	maxFound      = 1000
)

// newValidationError returns the error for at most maxFound violations.
func newValidationError(found []Violation) *ValidationError {
	told := min(len(found), maxViolations)
	return &ValidationError{slices.Clip(found[:told]), len(found) - told}
}

// MoreWords returns a text with the number of violations that are not listed; "" if there are none.
func (e *ValidationError) MoreWords() string {
	switch e.More {
	case 0:
		return ""
	case 1:
		return "1 more violation"
	case maxFound - maxViolations:
		return fmt.Sprintf("%d or more others", e.More)
	}
	return fmt.Sprintf("%d more violations", e.More)
}

func (e *ValidationError) Error() string {
	var b strings.Builder
	for i, v := range e.Violations {
		if i > 0 {
			b.WriteString("; ")
		}
		if v.Instance != "" {
			b.WriteString(v.Instance + ": ")
		}
		b.WriteString(v.Message)
	}
	if more := e.MoreWords(); more != "" {
		b.WriteString("; and " + more)
	}
	return b.String()
}

func refuse(message string) *ValidationError {
	return newValidationError([]Violation{{Message: message}})
}

// Validate checks a JSON value. The error is a *ValidationError, even if the text is not JSON, or
// has numbers of more than 64 digits or exponents beyond ±400. A valid value takes one pass; an
// invalid one takes about fifty times as long.
func (s *Schema) Validate(raw json.RawMessage) error { return s.check(nil, raw) }

// check does what Validate does, within the limits of a meter.
func (s *Schema) check(m *Meter, raw json.RawMessage) error {
	if tree.AdmitsAll(s.node()) {
		if err := jsonscan.Check(raw, jsonscan.Limits{}); err != nil {
			return refuse("not JSON: " + err.Error())
		}
		return nil
	}
	if jsonscan.Check(raw, jsonscan.Limits{}) == nil && scan(s.node(), raw) {
		return nil
	}
	return s.validate(m, raw)
}

// ValidateChecked does what Validate does for a value that is known to be JSON without duplicate
// names, and takes about half as long. Its result for other values is undefined.
func (s *Schema) ValidateChecked(valid json.RawMessage) error {
	if tree.AdmitsAll(s.node()) || scan(s.node(), valid) {
		return nil
	}
	return s.validate(nil, valid)
}

// ValidateWithin does what ValidateChecked does, and stops soon after a context is done, with its
// error.
func (s *Schema) ValidateWithin(ctx context.Context, valid json.RawMessage) error {
	if tree.AdmitsAll(s.node()) || scan(s.node(), valid) {
		return nil
	}
	return s.validate(meterOf(ctx), valid)
}

// validate does the work of check for a value that the scanner did not accept.
func (s *Schema) validate(m *Meter, raw json.RawMessage) error {
	v, err := value.Parse(raw)
	if err != nil {
		return refuse(err.Error())
	}
	err = s.judge(m, &v, len(raw))
	var broken *ValidationError
	if errors.As(err, &broken) {
		s.keepFitting(m, &v, broken.Violations, len(raw))
	}
	return err
}

// judge validates a value. bytes is the size of the text from which it was read.
func (s *Schema) judge(m *Meter, v *value.Value, bytes int) error {
	e := newEvaluator(s.node(), bytes).within(m)
	verdict := e.valid(s.node(), v)
	e.done()
	if verdict == value.Yes {
		return nil
	}
	if err := m.Err(); err != nil {
		return err
	}
	broken := s.refute(m, v, verdict, bytes)
	if err := m.Err(); err != nil {
		return err
	}
	if broken != nil {
		return broken
	}
	return nil
}

// Up to these sizes, the library is also asked about values that the evaluator refuses. The size of
// the value's text is limited because the library makes an error for each fault, with hundreds of
// bytes for two bytes of text; the size of the document, because it takes long to compile.
const (
	maxAsked        = 64 << 10
	maxAskedSchemas = 1000
)

// refute returns the violations of a value that the evaluator did not accept; nil if the library
// accepts it. bytes is the size of the text from which the value was read.
func (s *Schema) refute(m *Meter, v *value.Value, mine value.Verdict, bytes int) *ValidationError {
	var broken error
	doc := s.node().Doc
	ask := doc != nil && (mine == value.Doubt || bytes <= maxAsked && doc.Size() <= maxAskedSchemas)
	switch {
	case ask && !tooMuchWork(m, s.node(), v, bytes):
		if broken = s.node().Ask(v); broken == nil {
			return nil
		}
	case mine == value.Doubt:
		return refuse("checking this value against its schema takes too much work: the schema applies itself to the same members again and again, or a pattern is too large for so long a text")
	}
	e := &explainer{evaluator: newEvaluator(s.node(), bytes).within(m)}
	defer e.done()
	if e.explain(s.node(), v, ""); len(e.found) == 0 {
		return libraryViolations(broken)
	}
	return newValidationError(e.found)
}

// keepFitting removes suggested values (Instead) that don't help: with all of them in their places,
// v still breaks the schema there. While it runs, it changes v.
func (s *Schema) keepFitting(m *Meter, v *value.Value, told []Violation, bytes int) {
	was := map[*value.Value]value.Value{}
	for _, t := range told {
		if t.Instead == "" {
			continue
		}
		meant, err := value.Parse([]byte(t.Instead))
		at := v.At(t.Instance)
		if err != nil || at == nil {
			continue
		}
		if _, twice := was[at]; !twice {
			was[at] = *at
		}
		meant.Name = at.Name
		*at = meant
	}
	if len(was) == 0 {
		return
	}
	e := &explainer{evaluator: newEvaluator(s.node(), bytes).within(m)}
	defer e.done()
	e.explain(s.node(), v, "")
	for at, old := range was {
		*at = old
	}
	for i := range told {
		if at := told[i].Instance; slices.ContainsFunc(e.found, func(f Violation) bool { return f.Instance == at }) {
			told[i].Instead = ""
		}
	}
}

// libraryViolations returns a violation for each leaf of the library's error.
func libraryViolations(err error) *ValidationError {
	if err == nil {
		return refuse("the schema forbids this value")
	}
	var found []Violation
	for instance, of := range tree.Leaves(err) {
		if found = append(found, Violation{Instance: instance, Keyword: of.Pointer, Message: of.Message}); len(found) == maxFound {
			break
		}
	}
	return newValidationError(found)
}

// The library may apply maxWork schemas for one value, or maxWorkPerByte for each byte of a long
// text.
const (
	maxWork        = 1 << 20
	maxWorkPerByte = 4
)

// tooMuchWork reports whether the library would do too much work for a value. It counts every
// schema that applies to the value and its parts, and for each the number of members, since the
// library never stops early. If the work is not too much, it is taken from the meter.
func tooMuchWork(m *Meter, n *tree.Node, v *value.Value, bytes int) bool {
	most := m.most(maxWork + maxWorkPerByte*bytes)
	left := most
	count(n, v, &left)
	m.Take(most - max(0, left))
	return left < 0
}

func count(n *tree.Node, v *value.Value, left *int) {
	*left -= 1 + len(v.Kids) + (n.EnumWork+len(n.Required))/8
	if v.Kind == value.String && n.Pattern != nil {
		n.Pattern.Count(v.Text, left)
	}
	if *left -= len(n.Patterns) * len(v.Kids); *left < 0 {
		return
	}
	for i := range n.Patterns {
		for j := range v.Kids {
			n.Patterns[i].Pattern.Count(v.Kids[j].Name, left)
		}
	}
	if *left < 0 || n.May == value.NoTypes {
		return
	}
	n.InPlace(func(c *tree.Node) { count(c, v, left) })
	if v.Kind != value.Array && v.Kind != value.Object {
		return
	}
	for i := range v.Kids {
		for _, c := range insideAt(n, v, i) {
			count(c, &v.Kids[i], left)
		}
	}
}

// insideAt lists the schemas that n may apply to the i-th member or element of v.
func insideAt(n *tree.Node, v *value.Value, i int) []*tree.Node {
	var out []*tree.Node
	add := func(c *tree.Node) {
		if c != nil {
			out = append(out, c)
		}
	}
	if v.Kind == value.Array {
		if i < len(n.Prefix) {
			add(n.Prefix[i])
		} else {
			add(n.Rest)
		}
		add(n.Contains)
		add(n.RestItems)
		return out
	}
	name := v.Kids[i].Name
	add(n.Property(name))
	for _, p := range n.Patterns {
		if !p.Pattern.Unread() && p.Pattern.Match(name) == value.Yes {
			add(p.Node)
		}
	}
	if len(out) == 0 {
		add(n.Additional)
	}
	add(n.RestProps)
	return out
}
