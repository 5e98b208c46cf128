// Package yaml converts YAML to JSON, and keeps the place in the YAML of each piece of the JSON.
package yaml

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/internal/texttree"
)

// Read returns a file in YAML as one in JSON that is derived from it: places in it lead to the
// YAML. Values nest at most maxDepth deep. Features that JSON does not have, such as aliases and
// tags, are errors. Read returns the first error, without a file.
func Read(file *diag.File, maxDepth int) (*diag.File, *diag.Finding) {
	y, fault := Convert(file, texttree.YAML{What: "plans", MaxDepth: maxDepth})
	if fault != nil {
		return nil, fault
	}
	return diag.NewDerived(y.Text, file, y.Nested), nil
}

// Decode decodes a file in YAML or JSON into a value. A member that the value does not have is an
// error, and so are values that nest deeper than maxDepth. Errors name the file.
func Decode(name string, text []byte, maxDepth int, into any) error {
	doc, fault := Read(diag.NewFile(name, text), maxDepth)
	if fault != nil {
		return fmt.Errorf("%s: %s", name, fault.Message)
	}
	dec := json.NewDecoder(bytes.NewReader(doc.Text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(into); err != nil {
		return fmt.Errorf("%s: %w", name, err)
	}
	return nil
}

// Part returns the value at a place of a file in YAML as a file in JSON that is derived from it. It
// returns nil if the file can't be read, or if no value has exactly that span.
func Part(file *diag.File, at diag.Span, maxDepth int) *diag.File {
	y, fault := Convert(file, texttree.YAML{What: "files", MaxDepth: maxDepth})
	if fault != nil {
		return nil
	}
	for _, p := range y.Nested[1:] { // after that of the whole file
		if p.From == at {
			return diag.NewDerived(y.Text, file, y.Nested).Part(p.At)
		}
	}
	return nil
}

// A JSON holds a text of YAML as JSON.
type JSON struct {
	Text []byte
	// Pieces has the places of the pieces of Text, one after the other.
	Pieces []diag.Piece
	// Nested has the Pieces, and for each string, object and list a piece that contains the pieces
	// within it, as diag.NewDerived needs them.
	Nested []diag.Piece
}

// Convert converts a file to JSON. It returns nil and a finding if that is not possible.
func Convert(file *diag.File, how texttree.YAML) (*JSON, *diag.Finding) {
	root, err := how.Parse(file.Text)
	if err != nil {
		return nil, malformed(file, err)
	}
	w := &writer{from: file.Text, JSON: JSON{Pieces: []diag.Piece{}, Nested: make([]diag.Piece, 1)}}
	w.value(root)
	w.Nested[0] = diag.Piece{At: span(0, len(w.Text)), From: span(0, len(file.Text))}
	return &w.JSON, nil
}

func span(from, to int) diag.Span { return diag.Span{Start: int32(from), End: int32(to)} }

// malformed returns the finding about a text that can't be read.
func malformed(file *diag.File, err *jsonscan.Error) *diag.Finding {
	at := func(offset int) diag.Loc { return diag.Loc{File: file, Span: wordAt(file.Text, offset)} }
	f := &diag.Finding{Code: diag.NotJSON, Message: "the text is not YAML here: " + err.Message, Loc: at(err.Offset)}
	switch err.Kind {
	case jsonscan.Limit:
		f.Code, f.Message = diag.OverLimit, err.Message
	case jsonscan.Foreign:
		f.Code, f.Message = diag.BadNotation, err.Message
	case jsonscan.Duplicate:
		f.Code, f.Message = diag.DuplicateMember, err.Message
		f.Related = []diag.Related{{Loc: at(err.Other), Message: "first written here"}}
	}
	return f
}

// wordAt returns the span of the word at an offset.
func wordAt(text []byte, offset int) diag.Span {
	offset = min(offset, len(text))
	end := bytes.IndexAny(text[offset:], ":,[]{} \t\r\n")
	if end < 0 {
		end = len(text) - offset
	}
	return span(offset, min(offset+max(end, 1), len(text)))
}

// writer writes values as JSON.
type writer struct {
	JSON
	from []byte // the YAML
	flow bool   // the YAML at this point is in brackets
}

// put writes JSON that comes from a span.
func (w *writer) put(text string, from diag.Span) { w.putAs(diag.Construct, text, from) }

func (w *writer) putAs(kind diag.PieceKind, text string, from diag.Span) {
	at := len(w.Text)
	w.Text = append(w.Text, text...)
	p := diag.Piece{At: span(at, len(w.Text)), From: from, Kind: kind}
	w.Pieces, w.Nested = append(w.Pieces, p), append(w.Nested, p)
}

func (w *writer) value(n *texttree.Node) {
	brackets := "[]"
	switch n.Kind {
	case texttree.String:
		w.text(n.Str, n.Span)
		return
	case texttree.Object:
		brackets = "{}"
	case texttree.Array:
	default:
		w.put(n.Raw, n.Span)
		return
	}
	outer, whole, start := w.flow, len(w.Nested), len(w.Text)
	w.Nested = append(w.Nested, diag.Piece{From: n.Span})
	w.flow = w.flow || int(n.Span.Start) < len(w.from) && bytes.IndexByte([]byte("[{"), w.from[n.Span.Start]) >= 0
	w.put(brackets[:1], diag.Span{Start: n.Span.Start, End: n.Span.Start})
	for i, e := range n.Entries {
		if i > 0 {
			w.Text = append(w.Text, ',')
		}
		if n.Kind == texttree.Object {
			w.text(e.Name, e.Key)
			w.Text = append(w.Text, ':')
		}
		w.value(e.Value)
	}
	w.put(brackets[1:], diag.Span{Start: n.Span.End, End: n.Span.End})
	w.Nested[whole].At = span(start, len(w.Text))
	w.flow = outer
}

// text writes a string from a span.
func (w *writer) text(s string, at diag.Span) {
	start, kind, opening := int(at.Start), diag.Scalar, 0
	switch first := w.from[start:min(start+1, len(w.from))]; string(first) {
	case `"`:
		opening, kind = 1, diag.Verbatim
	case `'`:
		opening = 1
	case "|", ">":
	default:
		if w.flow {
			kind = diag.FlowScalar
		}
	}
	whole, from := len(w.Nested), len(w.Text)
	w.Nested = append(w.Nested, diag.Piece{From: at})
	w.put(`"`, span(start, start+opening))
	for _, r := range align(w.from[start:], s, at.Len()) {
		w.run(r, start, kind)
	}
	w.put(`"`, diag.Span{Start: at.End, End: at.End})
	w.Nested[whole].At = span(from, len(w.Text))
}

// run writes a part of a string from a scalar that begins at an offset.
func (w *writer) run(r run, start int, kind diag.PieceKind) {
	done := 0
	flush := func(to int) {
		switch {
		case to == done:
		case r.same:
			w.putAs(kind, r.text[done:to], span(start+r.start+done, start+r.start+to))
		default:
			w.put(r.text[done:to], span(start+r.start, start+r.end))
		}
	}
	for i := range len(r.text) {
		c := r.text[i]
		if c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		flush(i)
		from := span(start+r.start, start+r.end)
		if r.same {
			from = span(start+r.start+i, start+r.start+i+1)
		}
		w.put(`\`+escapeOf(c), from)
		done = i + 1
	}
	flush(len(r.text))
}

// escapeOf returns the escape of a character, without its backslash.
func escapeOf(c byte) string {
	const hex = "0123456789abcdef"
	switch c {
	case '"', '\\':
		return string(rune(c))
	case '\n':
		return "n"
	}
	return "u00" + string(hex[c>>4]) + string(hex[c&15])
}
