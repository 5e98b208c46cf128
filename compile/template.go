package compile

import (
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/lang"
)

// Presence says whether a read finds a value (plan-language §5, Branches).
type Presence uint8

// The values of Presence. If both Missing and Gone apply, it is Gone.
const (
	Present Presence = iota
	Missing          // the writer wrote, but not this path: the call fails
	Gone             // the value can't come any more: the call is skipped
)

// Reader resolves reads against a whiteboard.
type Reader interface {
	Read(r *Read) (json.RawMessage, Presence)
}

// Expr is a compiled read expression.
type Expr struct {
	op   lang.Op
	void bool // OpRef: nothing is ever at the path
	read Read // OpRef, as nearly all are
	*operands
}

// operands holds the parts of an expression that is not a reference; nil for references.
type operands struct {
	value json.RawMessage // OpLiteral
	span  diag.Span       // OpLiteral
	args  []*Expr         // OpOr, OpAnd
}

// Op returns the operator of the expression.
func (e *Expr) Op() lang.Op { return e.op }

// Ref returns the reference if the expression is one; otherwise nil. void reports that nothing is
// ever at its path.
func (e *Expr) Ref() (r *Read, void bool) {
	if e.op != lang.OpRef {
		return nil, false
	}
	return &e.read, e.void
}

// Args returns the operands of || and &&; nil for other expressions.
func (e *Expr) Args() []*Expr {
	if e.operands == nil {
		return nil
	}
	return e.args
}

// Eval returns the value of the expression. With Missing and Gone it returns the read that is the
// cause.
func (e *Expr) Eval(r Reader) (json.RawMessage, Presence, *Read) {
	switch e.op {
	case lang.OpRef:
		if e.void {
			return nil, Gone, &e.read
		}
		v, p := r.Read(&e.read)
		return v, p, &e.read
	case lang.OpLiteral:
		return e.value, Present, nil
	case lang.OpOr:
		return e.first(r)
	default:
		return e.gate(r)
	}
}

// first returns the value of the first operand that is present. If none is, the result is gone only
// if all are.
func (e *Expr) first(r Reader) (json.RawMessage, Presence, *Read) {
	worst, blame := Gone, (*Read)(nil)
	for _, a := range e.args {
		v, p, read := a.Eval(r)
		if p == Present {
			return v, Present, nil
		}
		if blame == nil || p == Missing && worst == Gone {
			worst, blame = p, read
		}
	}
	return nil, worst, blame
}

// gate returns the value of the last operand, if all are present.
func (e *Expr) gate(r Reader) (json.RawMessage, Presence, *Read) {
	var (
		value json.RawMessage
		worst = Present
		blame *Read
	)
	for _, a := range e.args {
		v, p, read := a.Eval(r)
		if p > worst {
			worst, blame = p, read
		}
		value = v
	}
	return value, worst, blame
}

// Reads returns the references of the expression, in order.
func (e *Expr) Reads() iter.Seq[*Read] {
	return func(yield func(*Read) bool) { e.each(false, func(x *Expr, _ bool) bool { return yield(&x.read) }) }
}

// each calls f for each reference, with whether it is inside an ||.
func (e *Expr) each(inOr bool, f func(ref *Expr, inOr bool) bool) bool {
	if e.op == lang.OpRef {
		return f(e, inOr)
	}
	for _, a := range e.args {
		if !a.each(inOr || e.op == lang.OpOr, f) {
			return false
		}
	}
	return true
}

// Template is JSON with holes that are filled with the values of expressions (plan-language §3).
// The zero Template has no JSON.
type Template struct {
	json  []byte // the text between the holes
	holes []hole // in order
}

// hole is a place in the JSON of a template where something is inserted.
type hole struct {
	at   int32    // its position in the JSON
	expr *Expr    // set for a string that is one expression
	text *filling // set for anything else
}

// filling is a string with expressions in it, or a long value without any.
type filling struct {
	parts []part
	raw   []byte // the value, in the text of the file
}

// part is literal text of a string, or an expression.
type part struct {
	text string
	expr *Expr
}

// Unresolved says why a template has no value.
type Unresolved struct {
	Presence Presence // Missing or Gone
	Read     *Read
}

func (u *Unresolved) Error() string {
	if u.Presence == Gone {
		return fmt.Sprintf("%s can't come", u.Read.Path)
	}
	return fmt.Sprintf("%s is missing", u.Read.Path)
}

// Literal returns the template's JSON if it has no expressions. It may compute it again each time.
func (t *Template) Literal() (json.RawMessage, bool) {
	switch {
	case !t.isLiteral():
		return nil, false
	case len(t.holes) == 0:
		return t.json, true
	}
	return t.fill(&filler{}), true
}

// isLiteral reports whether the template has no expressions.
func (t *Template) isLiteral() bool {
	return !slices.ContainsFunc(t.holes, func(h hole) bool { return h.expr != nil || h.text.raw == nil })
}

// Exprs returns the expressions of the template, in the order of the original text.
func (t *Template) Exprs() iter.Seq[*Expr] { return t.exprs() }

// A Slot is an expression of a template, with its place.
type Slot struct {
	Expr  *Expr
	Whole bool // the string is this expression
	Last  bool // it is the last one of its string
}

// Slots returns the expressions of the template in the order of Exprs.
func (t *Template) Slots() iter.Seq[Slot] {
	return func(yield func(Slot) bool) {
		for i := range t.holes {
			h := &t.holes[i]
			if h.expr != nil {
				if !yield(Slot{h.expr, true, true}) {
					return
				}
				continue
			}
			last := len(h.text.parts) - 1
			for last >= 0 && h.text.parts[last].expr == nil {
				last--
			}
			for k, p := range h.text.parts {
				if p.expr != nil && !yield(Slot{p.expr, false, k == last}) {
					return
				}
			}
		}
	}
}

// Reads returns the references of the template, in order.
func (t *Template) Reads() iter.Seq[*Read] {
	return func(yield func(*Read) bool) {
		for e := range t.exprs() {
			if !e.each(false, func(x *Expr, _ bool) bool { return yield(&x.read) }) {
				return
			}
		}
	}
}

// Gone returns the references because of which the template can't have a value any more: all
// operands of an ||, and those operands of an && that can't come.
func (t *Template) Gone(r Reader) iter.Seq[*Read] {
	return func(yield func(*Read) bool) {
		for e := range t.exprs() {
			if !e.gone(r, yield) {
				return
			}
		}
	}
}

func (e *Expr) gone(r Reader, yield func(*Read) bool) bool {
	if _, p, _ := e.Eval(r); p != Gone {
		return true
	}
	if e.op == lang.OpRef {
		return yield(&e.read)
	}
	for _, a := range e.args {
		if !a.gone(r, yield) {
			return false
		}
	}
	return true
}

func (t *Template) exprs() iter.Seq[*Expr] {
	return func(yield func(*Expr) bool) {
		for s := range t.Slots() {
			if !yield(s.Expr) {
				return
			}
		}
	}
}

// MaxResolved is the maximum size in bytes of a template with its expressions filled in. It is that
// of a document.
const MaxResolved = jsonscan.DefaultMaxBytes

// TooLarge says that a template has no value because that would be too large.
type TooLarge struct{ Most int }

func (e *TooLarge) Error() string {
	return fmt.Sprintf("what the references come to has more than %d bytes, which is the most for one value", e.Most)
}

// Resolve fills the holes. It returns an *Unresolved for the first read that is gone or, if none
// is, for the first that is missing, and a *TooLarge if the result would have more than MaxResolved
// bytes. If lenient is true, a missing read becomes an empty string, and warn is called for it.
func (t *Template) Resolve(r Reader, lenient bool, warn func(*Read)) (json.RawMessage, error) {
	return t.ResolveWithin(MaxResolved, r, lenient, warn)
}

// ResolveWithin does what Resolve does, with a maximum of most bytes.
func (t *Template) ResolveWithin(most int, r Reader, lenient bool, warn func(*Read)) (json.RawMessage, error) {
	if v, ok := t.Literal(); ok {
		return v, nil
	}
	f := filler{reader: r, lenient: lenient, warn: warn, most: most}
	if len(t.json) == 0 && t.holes[0].expr != nil { // the template is one expression
		v := f.eval(t.holes[0].expr)
		if f.bad != nil {
			return nil, f.bad
		}
		return v, nil
	}
	out := t.fill(&f)
	switch {
	case f.bad != nil:
		return nil, f.bad
	case f.over:
		return nil, &TooLarge{most}
	}
	return out, nil
}

// fill returns the template with its holes filled.
func (t *Template) fill(f *filler) []byte {
	size := len(t.json)
	for i := range t.holes {
		if size += 32; t.holes[i].expr == nil {
			size += len(t.holes[i].text.raw)
		}
	}
	out, done := make([]byte, 0, size), int32(0)
	for i := range t.holes {
		h := &t.holes[i]
		out = f.fill(append(out, t.json[done:h.at]...), h)
		done = h.at
	}
	return append(out, t.json[done:]...)
}

// filler fills one template.
type filler struct {
	reader  Reader
	lenient bool
	warn    func(*Read)
	bad     *Unresolved
	most    int  // maximum number of bytes; 0 means no limit
	over    bool // the maximum would be exceeded
}

// fits reports whether more bytes fit in addition to those that there are. All expressions are
// evaluated anyway, since a read that finds nothing takes precedence over the size.
func (f *filler) fits(have, more int) bool {
	f.over = f.over || f.most > 0 && have+more > f.most
	return !f.over
}

var emptyString = json.RawMessage(`""`)

func (f *filler) eval(e *Expr) json.RawMessage {
	v, p, read := e.Eval(f.reader)
	switch {
	case p == Present:
		return v
	case p == Missing && f.lenient:
		if f.warn != nil {
			f.warn(read)
		}
		return emptyString
	case f.bad == nil || p > f.bad.Presence:
		f.bad = &Unresolved{p, read}
	}
	return nil
}

func (f *filler) fill(out []byte, h *hole) []byte {
	switch {
	case h.expr != nil:
		if v := f.eval(h.expr); f.fits(len(out), len(v)) {
			out = append(out, v...)
		}
		return out
	case h.text.raw != nil:
		return append(out, h.text.raw...)
	}
	var text strings.Builder
	for _, part := range h.text.parts {
		if part.expr == nil {
			text.WriteString(part.text)
			continue
		}
		if v := f.eval(part.expr); f.fits(len(out)+text.Len(), len(v)) {
			text.WriteString(jsonscan.Text(v))
		}
	}
	if f.over {
		return out
	}
	out = jsonscan.AppendQuoted(out, text.String())
	f.fits(len(out), 0) // escaped characters take more space
	return out
}
