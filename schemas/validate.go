package schemas

import (
	"encoding/json"
	"errors"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v5"

	"github.com/plc-lang/plc/internal/jsonscan"
)

// Validating goes by four steps. The scanner (scan.go) settles the values that plainly meet
// plain schemas while it reads them, once they are known to be JSON. The evaluator, one
// pass over the value without short cuts in meaning, settles nearly all others that are
// valid. What it refuses or is in doubt about goes to the library, whose word counts. But the library cannot
// be interrupted, so its work is counted beforehand. The words of the violations are
// the evaluator's (explain.go) and only where it was in doubt the library's.

// Violation is one way in which a value breaks a schema.
type Violation struct {
	Instance string // JSON Pointer into the value
	Keyword  string // JSON Pointer into the schema document, the keyword last
	Message  string // "expected integer, but got string"
}

// ValidationError says how a value breaks a schema: at most 20 violations, the
// most telling first.
type ValidationError struct{ Violations []Violation }

const maxViolations = 20

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
	return b.String()
}

func refuse(message string) *ValidationError {
	return &ValidationError{[]Violation{{Message: message}}}
}

// Validate checks a value, which is JSON. The error is a *ValidationError, also for
// what is not JSON or has numbers of more than 64 digits or exponents beyond ±400.
// A valid value costs one pass; one that is not, some fifty times that.
func (s *Schema) Validate(raw json.RawMessage) error {
	if admitsAll(s.node) {
		if err := jsonscan.Check(raw, jsonscan.Limits{}); err != nil {
			return refuse("not JSON: " + err.Error())
		}
		return nil
	}
	if jsonscan.Check(raw, jsonscan.Limits{}) == nil && scan(s.node, raw) {
		return nil
	}
	return s.validate(raw)
}

// ValidateChecked is Validate for a value that is known to be JSON without a name twice in an
// object, and costs about half of it. What comes of other values is not said.
func (s *Schema) ValidateChecked(valid json.RawMessage) error {
	if admitsAll(s.node) || scan(s.node, valid) {
		return nil
	}
	return s.validate(valid)
}

// validate is Validate for what the scanner does not know to be valid.
func (s *Schema) validate(raw json.RawMessage) error {
	v, err := parseValue(raw)
	if err != nil {
		return refuse(err.Error())
	}
	verdict := newEvaluator(s.node, len(raw)).valid(s.node, &v)
	if verdict == yes {
		return nil
	}
	if err := s.refute(&v, verdict, len(raw)); err != nil {
		return err
	}
	return nil
}

// Up to these sizes the library is asked also about values that the evaluator refuses:
// of the value's text, as it makes an error for each fault, some hundred bytes for two;
// and of the document, as it takes long to compile.
const (
	maxAsked        = 64 << 10
	maxAskedSchemas = 1000
)

// refute finds the violations of a value that the evaluator does not find valid; nil
// if the library does. The value was read from a text of some bytes.
func (s *Schema) refute(v *value, mine verdict, bytes int) *ValidationError {
	var broken error
	doc := s.node.doc
	ask := doc != nil && (mine == doubt || bytes <= maxAsked && doc.library.size <= maxAskedSchemas)
	switch {
	case ask && !tooMuchWork(s.node, v, bytes):
		if broken = doc.library.validate(s.node.pointer, v); broken == nil {
			return nil
		}
	case mine == doubt:
		return refuse("checking this value against its schema takes too much work: the schema applies itself to the same members again and again")
	}
	e := &explainer{evaluator: newEvaluator(s.node, bytes)}
	if e.explain(s.node, v, ""); len(e.found) == 0 {
		return libraryViolations(broken)
	}
	return &ValidationError{e.found}
}

// libraryViolations words the library's error by its leaves.
func libraryViolations(err error) *ValidationError {
	var broken *jsonschema.ValidationError
	if !errors.As(err, &broken) {
		if err == nil {
			return refuse("the schema forbids this value")
		}
		return refuse(strings.ReplaceAll(err.Error(), baseURL, ""))
	}
	out := &ValidationError{}
	var collect func(e *jsonschema.ValidationError)
	collect = func(e *jsonschema.ValidationError) {
		if len(e.Causes) == 0 && len(out.Violations) < maxViolations {
			_, keyword, _ := strings.Cut(e.AbsoluteKeywordLocation, "#")
			out.Violations = append(out.Violations, Violation{plainPointer(e.InstanceLocation), plainPointer(keyword), e.Message})
		}
		for _, c := range e.Causes {
			collect(c)
		}
	}
	collect(broken)
	return out
}

// The library may apply maxWork schemas for one value, and for long ones maxWorkPerByte
// of the text.
const (
	maxWork        = 1 << 20
	maxWorkPerByte = 4
)

// tooMuchWork counts what the library does, which stops at nothing: every schema in
// place and inside, each costing as much as the value has members.
func tooMuchWork(n *node, v *value, bytes int) bool {
	left := maxWork + maxWorkPerByte*bytes
	count(n, v, &left)
	return left < 0
}

func count(n *node, v *value, left *int) {
	*left -= 1 + len(v.kids) + len(n.enum)/8
	if *left < 0 || n.may == noTypes {
		return
	}
	n.inPlace(func(c *node) { count(c, v, left) })
	if v.kind != kindArray && v.kind != kindObject {
		return
	}
	for i := range v.kids {
		for _, c := range n.insideAt(v, i) {
			count(c, &v.kids[i], left)
		}
	}
	*left -= len(n.patterns) * len(v.kids)
}

// insideAt lists the schemas that n may apply to the i-th member or element of v.
func (n *node) insideAt(v *value, i int) []*node {
	var out []*node
	add := func(c *node) {
		if c != nil {
			out = append(out, c)
		}
	}
	if v.kind == kindArray {
		if i < len(n.prefix) {
			add(n.prefix[i])
		} else {
			add(n.rest)
		}
		add(n.contains)
		add(n.restItems)
		return out
	}
	name := v.kids[i].name
	add(n.property(name))
	for _, p := range n.patterns {
		if p.pattern.re != nil && p.pattern.re.MatchString(name) {
			add(p.node)
		}
	}
	if len(out) == 0 {
		add(n.additional)
	}
	add(n.restProps)
	return out
}
