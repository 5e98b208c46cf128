package lang

import (
	"bytes"
	"fmt"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
)

// want names what a reader expects next.
type want uint8

const (
	wantValue   want = iota // a value
	wantElement             // a value, or the end of the array
	wantName                // a name, or the end of the object
	wantColon
	wantComma // a comma, or the end of the array or object
	wantEnd   // nothing more
)

// maxFaults is the number of syntax errors after which a reader gives up, since further ones would
// be consequences.
const maxFaults = 20

// reader turns JSON, with comments and trailing commas, into a tree. After a fault it continues if
// it is clear what was meant. With mend set, such a fault is only a warning, and the document is
// read as if it were correct.
type reader struct {
	jsonscan.Lexer
	*findings
	tree     *tree
	names    jsonscan.Names
	open     []container
	want     want
	last     diag.Span // of the last token
	flags    flags     // of the string that is added next
	faults   int       // of syntax, not mended
	looked   int       // how far it searched for the end of a string, if beyond Pos
	start    int       // where it began
	maxDepth int
	mend     bool
	one      bool // reads one value and not what follows
	strict   bool // ends at the first fault
	trial    bool // reads a changed text, to see what is wrong with it
	done     bool
}

// container is an array or object that is being read.
type container struct {
	node  int32
	outer int32 // the result of names.Open
}

// newReader makes a reader of file.Text[start:end]; nodes is the expected number of nodes.
func newReader(file *diag.File, start, end, maxDepth, nodes int) *reader {
	return &reader{
		Lexer:    jsonscan.Lexer{Text: file.Text[:end], Pos: start, Comments: true},
		findings: newFindings(file),
		tree: &tree{
			file:  file,
			nodes: make([]node, 0, nodes),
			index: map[string]int32{},
		},
		start:    start,
		maxDepth: maxDepth,
	}
}

// read reads the document. Its root is zero if nothing could be read.
func (r *reader) read() (root Node) {
	for !r.done {
		r.step()
	}
	if r.inObject() && (r.want == wantColon || r.want == wantValue) {
		r.Start = r.Pos
		r.add(Null, bad) // a name always has a value
	}
	r.tree.faulty = r.faults > 0 || len(r.open) > 0
	for len(r.open) > 0 {
		r.tree.nodes[r.innermost().node].flags |= cut
		r.close(len(r.Text))
	}
	if r.faults > 0 && !r.trial {
		r.dropVainFixes()
	}
	if len(r.tree.nodes) == 0 {
		return Node{}
	}
	return Node{r.tree, 0}
}

func (r *reader) step() {
	tok := r.Next()
	r.flags = 0
	if r.Err != nil {
		if tok = r.mistake(tok); r.done || tok == skipped {
			return
		}
	} else if tok == jsonscan.String {
		r.flags = r.stringFlags(r.Start, r.Pos)
	}
	switch r.want {
	case wantValue, wantElement:
		r.value(tok)
	case wantName:
		r.name(tok)
	case wantColon:
		r.colon(tok)
	case wantComma:
		r.commaOrEnd(tok)
	case wantEnd:
		r.end(tok)
	}
	if tok != jsonscan.EOF && r.Pos > r.Start {
		r.last = r.here()
	}
}

// here returns the span of the token.
func (r *reader) here() diag.Span { return diag.Span{Start: int32(r.Start), End: int32(r.Pos)} }

// back makes the token the next one again.
func (r *reader) back(next want) {
	r.Pos = r.Start
	r.want = next
}

func (r *reader) innermost() container { return r.open[len(r.open)-1] }

func (r *reader) inObject() bool {
	return len(r.open) > 0 && r.tree.nodes[r.innermost().node].kind == Object
}

// stringFlags returns the flags of the string Text[start:end], which was lexed last.
func (r *reader) stringFlags(start, end int) (f flags) {
	if r.Escaped {
		f |= escaped
	}
	if (r.Wide || r.Escaped) && mayHoldDagger(r.Text[start:end]) {
		f |= hasDagger
	}
	return f
}

// add adds a node for the token.
func (r *reader) add(kind Kind, f flags) int32 {
	i := int32(len(r.tree.nodes))
	r.tree.nodes = append(r.tree.nodes, node{int32(r.Start), int32(r.Pos), i + 1, kind, f})
	return i
}

// kinds are the kinds of values by their tokens.
var kinds = [...]Kind{
	jsonscan.String: String, jsonscan.Number: NumberValue,
	jsonscan.True: True, jsonscan.False: False, jsonscan.Null: Null,
}

func (r *reader) value(tok jsonscan.Token) {
	switch {
	case tok >= jsonscan.String:
		r.add(kinds[tok], r.flags)
		r.after()
	case tok == jsonscan.BeginArray:
		r.begin(Array, wantElement)
	case tok == jsonscan.BeginObject:
		r.begin(Object, wantName)
	case tok == jsonscan.EndArray && r.want == wantElement:
		r.close(r.Pos)
	default:
		r.noValue(tok)
	}
}

// after continues after a value.
func (r *reader) after() {
	if r.want = wantComma; len(r.open) == 0 {
		r.want, r.done = wantEnd, r.one
	}
}

func (r *reader) begin(kind Kind, next want) {
	if len(r.open) == r.maxDepth {
		r.errorf(r.here(), diag.OverLimit, "nested more than %d deep", r.maxDepth)
		r.done = true
		return
	}
	c := container{node: r.add(kind, 0)}
	if r.want = next; kind == Object {
		c.outer = r.names.Open()
	}
	r.open = append(r.open, c)
}

// close closes the innermost container.
func (r *reader) close(end int) {
	c := r.innermost()
	r.open = r.open[:len(r.open)-1]
	n := &r.tree.nodes[c.node]
	n.end, n.next = int32(end), int32(len(r.tree.nodes))
	if n.kind == Object {
		r.names.Close(c.outer)
	}
	r.after()
}

func (r *reader) name(tok jsonscan.Token) {
	switch tok {
	case jsonscan.String:
		r.addName()
		r.want = wantColon
	case jsonscan.EndObject:
		r.close(r.Pos)
	default:
		r.noName(tok)
	}
}

func (r *reader) addName() {
	i := r.add(String, r.flags|isName)
	in := r.tree.inside(i)
	first, end, twice := r.names.Add(r.Text, int(in.Start), int(in.End), r.flags&escaped != 0)
	if twice && r.flags&bad == 0 {
		r.errorf(r.here(), diag.DuplicateMember, "the name %q stands twice in one object", clipTo(string(r.tree.decoded(i)), 40)).
			related(diag.Span{Start: int32(first - 1), End: int32(end + 1)}, "first written here")
	}
	r.tree.nodes[i].next = r.tree.intern(r.tree.decoded(i))
}

func (r *reader) colon(tok jsonscan.Token) {
	if tok == jsonscan.Colon {
		r.want = wantValue
		return
	}
	r.noColon(tok)
}

func (r *reader) commaOrEnd(tok jsonscan.Token) {
	object := r.inObject()
	switch {
	case tok == jsonscan.Comma:
		if r.want = wantElement; object {
			r.want = wantName
		}
	case tok == jsonscan.EndArray && !object, tok == jsonscan.EndObject && object:
		r.close(r.Pos)
	default:
		r.noComma(tok, object)
	}
}

func (r *reader) end(tok jsonscan.Token) {
	r.done = true
	if tok != jsonscan.EOF {
		rest := diag.Span{Start: int32(r.Start), End: int32(r.Start + len(bytes.TrimRight(r.Text[r.Start:], " \t\r\n")))}
		first, cure := r.tree.nodes[0].span(), ""
		if r.isLine(first, rest) {
			cure = "; plans that stand on a line each are read with plc check --jsonl"
		}
		r.stop(rest, "there is more text after the end of the document%s", cure).
			related(first, "the document")
	}
}

// isLine reports whether a document is a line of its own, and the rest begins like another
// document.
func (r *reader) isLine(first, rest diag.Span) bool {
	begin := r.Text[rest.Start]
	return (begin == '[' || begin == '{') && bytes.IndexByte(r.Text[first.Start:first.End], '\n') < 0 &&
		bytes.IndexByte(r.Text[first.End:rest.Start], '\n') >= 0
}

// fault reports a syntax error after which the reader can continue.
func (r *reader) fault(span diag.Span, format string, args ...any) *finding {
	f := r.errorf(span, diag.NotJSON, format, args...)
	if r.faults++; r.faults == maxFaults && !r.done {
		r.errorf(span, diag.NotJSON, "reading ended here, after %d faults of syntax; what follows was not read", maxFaults)
	}
	r.done = r.done || r.strict || r.faults >= maxFaults
	return f
}

// stop reports a syntax error and ends the reading.
func (r *reader) stop(span diag.Span, format string, args ...any) *finding {
	r.done = true
	return r.fault(span, format, args...)
}

// mendable reports a syntax error for which it is clear what was meant. cure describes the repair
// in words that fit both before and after it, such as "put in a comma".
func (r *reader) mendable(what, cure string, edits ...diag.Edit) {
	span := edits[0].Span
	if span.Len() == 0 {
		span = r.here()
	}
	if !r.mend {
		r.fault(span, "%s", what).fix(cure, edits...)
		return
	}
	r.add104(span, what, cure).fix(cure, edits...)
}

func (r *reader) add104(span diag.Span, what, cure string) *finding {
	return r.findings.add(diag.Warning, span, diag.Mended, "%s; mended: %s", what, cure)
}

// lineOf returns the number of the line of an offset.
func (r *reader) lineOf(offset int32) int { return r.file.Position(int(offset)).Line }

// opened describes the innermost container and where it starts.
func (r *reader) opened() string {
	n := &r.tree.nodes[r.innermost().node]
	what := "list"
	if n.kind == Object {
		what = "object"
	}
	return fmt.Sprintf("the %s that starts at line %d", what, r.lineOf(n.start))
}
