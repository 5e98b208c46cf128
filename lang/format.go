package lang

import (
	"bytes"
	"errors"
	"slices"
	"unicode/utf8"

	"github.com/plc-lang/plc/diag"
)

const (
	// maxColumns is the maximum width of a line with a whole array or object on it.
	maxColumns = 100

	// indentation is one step of it.
	indentation = "  "
)

// ErrNotFormattable is the error of Format for a document that could not be read completely, so
// that formatting would lose the rest.
var ErrNotFormattable = errors.New("the document can't be formatted until its errors are mended")

// Format writes a document in canonical form: two spaces of indentation, each call
// and each message on lines of its own, an array or object on one line where it has at
// most 100 columns. Expressions are written canonically; comments, single blank lines, the order of
// members, numbers and all other strings stay as they are. For a model's answer it writes only the
// mended plan. Formatting twice changes nothing. The error is ErrNotFormattable if Parse reported
// the document as NotJSON, OverLimit or NotAPlan.
func Format(doc *Document) ([]byte, error) {
	if doc.broken || doc.Root.IsZero() {
		return nil, ErrNotFormattable
	}
	f := &formatter{tree: doc.tree, doc: doc, src: doc.File.Text}
	span := diag.Span{End: int32(len(f.src))}
	if doc.answer {
		span = doc.Root.Span()
	}
	f.comments = commentsOf(doc.tree, span)
	f.pos = span.Start
	f.expressions = expressionsOf(doc.Calls)
	f.document(span.End)
	return f.out, nil
}

// Expressions returns fixes that write the expressions of a document canonically and change nothing
// else. It is for documents in YAML, which Format would write in JSON. It leaves out expressions
// that can't be written so in their place. The error is that of Format.
func Expressions(doc *Document) (fixes []*diag.Fix, err error) {
	if doc.broken || doc.Root.IsZero() {
		return nil, ErrNotFormattable
	}
	f := &formatter{tree: doc.tree, doc: doc, src: doc.File.Text}
	f.expressions = expressionsOf(doc.Calls)
	for i := range f.tree.nodes {
		n := &f.tree.nodes[i]
		f.out = f.out[:0]
		if n.kind != String || !f.readAsText(int32(i)) {
			continue
		}
		if f.scalar(int32(i)); bytes.Equal(f.out, f.src[n.start:n.end]) {
			continue
		}
		span := diag.Span{Start: n.start, End: n.end}
		found := diag.Finding{Loc: diag.Loc{File: doc.File, Span: span}, Fix: &diag.Fix{Edits: []diag.Edit{{Span: span, Text: string(f.out)}}}}
		if fix := found.Origin().Fix; fix != nil {
			fixes = append(fixes, fix)
		}
	}
	return fixes, nil
}

// formatter writes a document.
type formatter struct {
	tree        *tree
	doc         *Document
	src         []byte
	out         []byte
	line        int         // where the last line of out starts
	pos         int32       // in src: the end of the part that was written last
	comments    []diag.Span // the comments that are not written yet
	expressions []int32     // strings that are expressions, but not texts, in order
}

// expressionsOf returns the strings of calls, other than their params, that are read as
// expressions.
func expressionsOf(calls []Call) (list []int32) {
	add := func(n Node) {
		if n.has(hasDagger) {
			list = append(list, n.i)
		}
	}
	for i := range calls {
		c := &calls[i]
		if add(c.OutputNode); c.Rest == nil {
			continue
		}
		add(c.Rest.ErrorPathNode)
		add(c.Rest.WhenNode)
		for _, s := range c.Rest.Scopes {
			add(s.Node)
		}
	}
	slices.Sort(list)
	return list
}

func (f *formatter) document(end int32) {
	root := &f.tree.nodes[0]
	if f.leading(root.start, 0, true); len(f.out) > 0 {
		f.newline(0, root.start, false)
	}
	f.value(0, 0)
	f.trailing(end, true)
	for len(f.comments) > 0 {
		f.newline(0, f.comments[0].Start, false)
		f.comment()
	}
	f.out = append(f.out, '\n')
}

// value writes node i, on one line if it may stand on one.
func (f *formatter) value(i int32, depth int) {
	n := &f.tree.nodes[i]
	switch {
	case n.kind != Array && n.kind != Object:
		f.scalar(i)
	case !f.mayFit(i):
		f.lines(i, depth)
	default:
		start := len(f.out)
		if !f.oneLine(i) || f.column()+len(",") > maxColumns {
			f.out = f.out[:start]
			f.lines(i, depth)
		}
	}
	f.pos = n.end
}

// mayFit reports whether a container may be on one line if it is short: it is empty, or contains
// neither a comment nor the calls or messages of the document.
func (f *formatter) mayFit(i int32) bool {
	n := &f.tree.nodes[i]
	if len(f.comments) > 0 && f.comments[0].Start < n.end {
		return false
	}
	return n.next == i+1 || i != 0 && !f.holds(i, f.doc.list) && !f.holds(i, f.doc.context)
}

func (f *formatter) holds(i int32, list Node) bool {
	return !list.IsZero() && i <= list.i && list.i < f.tree.nodes[i].next
}

// column returns the number of characters of the last line.
func (f *formatter) column() int { return utf8.RuneCount(f.out[f.line:]) }

// oneLine writes a value on the last line; it returns false as soon as the line gets too long.
func (f *formatter) oneLine(i int32) bool {
	n := &f.tree.nodes[i]
	if n.kind != Array && n.kind != Object {
		if n.flags&hasDagger == 0 && n.end-n.start > maxColumns*utf8.UTFMax {
			return false // without looking at the rest
		}
		f.scalar(i)
		return f.column() <= maxColumns
	}
	f.out = append(f.out, brackets(n.kind)[0])
	for k := i + 1; k < n.next; k = f.tree.nodes[k].next {
		if k > i+1 {
			f.out = append(f.out, ", "...)
		}
		if n.kind == Object {
			f.name(k)
			k++
		}
		if !f.oneLine(k) {
			return false
		}
	}
	f.out = append(f.out, brackets(n.kind)[1])
	return true
}

func brackets(k Kind) string {
	if k == Object {
		return "{}"
	}
	return "[]"
}

// lines writes a container with each member or element on lines of its own.
func (f *formatter) lines(i int32, depth int) {
	n := &f.tree.nodes[i]
	f.out = append(f.out, brackets(n.kind)[0])
	f.pos = n.start + 1
	f.trailing(f.start(i+1, n), n.next == i+1)
	for k := i + 1; k < n.next; {
		value := k
		if n.kind == Object {
			value++
		}
		f.leading(f.tree.nodes[value].start, depth+1, k == i+1)
		f.newline(depth+1, f.tree.nodes[k].start, k == i+1)
		if value != k {
			f.name(k)
		}
		f.value(value, depth+1)
		if k = f.tree.nodes[value].next; k < n.next {
			f.out = append(f.out, ',')
		}
		f.trailing(f.start(k, n), k == n.next)
	}
	f.leading(n.end, depth+1, n.next == i+1)
	f.pos = n.end
	f.newline(depth, n.end, true)
	f.out = append(f.out, brackets(n.kind)[1])
}

// start returns where node k starts, or the end of its container if it is not in it.
func (f *formatter) start(k int32, container *node) int32 {
	if k < container.next {
		return f.tree.nodes[k].start
	}
	return container.end
}

// newline starts a line for the text at start, after a blank line if the text has one there, unless
// it is the first member or element.
func (f *formatter) newline(depth int, start int32, first bool) {
	if !first && f.pos < start && hasBlankLine(f.src[f.pos:start]) {
		f.out = append(f.out, '\n')
	}
	if len(f.out) > 0 {
		f.out = append(f.out, '\n')
	}
	f.line = len(f.out)
	for range depth {
		f.out = append(f.out, indentation...)
	}
}

// leading writes the comments that start before end, each on a line of its own.
func (f *formatter) leading(end int32, depth int, first bool) {
	for len(f.comments) > 0 && f.comments[0].Start < end {
		f.newline(depth, f.comments[0].Start, first)
		f.comment()
		first = false
	}
}

// trailing writes, on the last line, the comments before end that are on the line of the value that
// was written last, unless something follows on their line, to which they belong; last says that
// nothing follows.
func (f *formatter) trailing(end int32, last bool) {
	for len(f.comments) > 0 && f.comments[0].Start < end {
		c := f.comments[0]
		followed := !last && f.src[c.Start+1] == '*' && !hasBreak(f.src[c.End:end])
		if hasBreak(f.src[f.pos:c.Start]) || followed {
			return
		}
		f.out = append(f.out, ' ')
		f.comment()
	}
}

// comment writes the next comment.
func (f *formatter) comment() {
	c := f.comments[0]
	f.out = append(f.out, bytes.TrimRight(f.src[c.Start:c.End], " \t")...)
	f.pos = c.End
	f.comments = f.comments[1:]
}

func (f *formatter) name(i int32) {
	f.out = append(f.tree.appendString(f.out, i), ": "...)
}

func (f *formatter) scalar(i int32) {
	n := &f.tree.nodes[i]
	if n.kind != String || n.flags&hasDagger == 0 {
		f.out = f.tree.appendJSON(f.out, i)
		return
	}
	token := f.tree.appendString(nil, i)
	span := diag.Span{End: int32(len(token))}
	if f.readAsText(i) {
		text, _ := readText(token, span, nil)
		token = formatText(token, span, text)
	}
	f.out = append(f.out, token...)
}

// readAsText reports whether a string may hold expressions, or is one.
func (f *formatter) readAsText(i int32) bool {
	flags := f.tree.nodes[i].flags
	_, isExpression := slices.BinarySearch(f.expressions, i)
	return flags&hasDagger != 0 && (flags&hasText != 0 || isExpression)
}

// commentsOf returns the comments inside span, in order.
func commentsOf(t *tree, span diag.Span) (list []diag.Span) {
	pos := span.Start
	scan := func(end int32) {
		list = appendComments(list, t.file.Text, pos, end)
	}
	for i := range t.nodes {
		n := &t.nodes[i]
		scan(n.start)
		if pos = n.end; n.kind == Array || n.kind == Object {
			pos = n.start + 1
		}
	}
	scan(span.End)
	return list
}

// appendComments appends the comments in src[pos:end], where nothing but comments
// has a slash.
func appendComments(list []diag.Span, src []byte, pos, end int32) []diag.Span {
	for {
		gap := src[pos:end]
		i := bytes.IndexByte(gap, '/')
		if i < 0 {
			return list
		}
		var length int
		if gap[i+1] == '*' {
			length = 2 + bytes.Index(gap[i+2:], []byte("*/")) + 2
		} else if length = bytes.IndexAny(gap[i:], "\r\n"); length < 0 {
			length = len(gap) - i
		}
		start := pos + int32(i)
		pos = start + int32(length)
		list = append(list, diag.Span{Start: start, End: pos})
	}
}

func hasBreak(text []byte) bool { return bytes.ContainsAny(text, "\r\n") }

// hasBlankLine reports whether two ends of lines follow each other.
func hasBlankLine(text []byte) bool {
	breaks := 0
	for i, c := range text {
		switch {
		case c == '\n', c == '\r' && !bytes.HasPrefix(text[i+1:], []byte("\n")):
			if breaks++; breaks == 2 {
				return true
			}
		case c != ' ' && c != '\t' && c != '\r':
			breaks = 0
		}
	}
	return false
}
