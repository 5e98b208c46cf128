package tree

import (
	"bytes"
	"slices"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/internal/texttree"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect"
)

// ReadAny reads the original as JSON when it begins with a bracket, and as YAML
// otherwise. It is false when that was not possible; why is reported then.
func ReadAny(b *dialect.Builder) (Value, bool) {
	start := bytes.TrimLeft(b.File.Text[b.Start():], " \t\r\n")
	if len(start) == 0 || start[0] == '{' || start[0] == '[' || bytes.HasPrefix(start, []byte("//")) {
		return Read(b)
	}
	root, err := texttree.YAML{
		What: "plans", MaxDepth: 1000, MaxNodes: maxNodes, MaxBytes: maxOut, Aliases: true, Loose: true,
	}.Parse(b.File.Text)
	if err != nil {
		malformed(b, err)
		return Value{}, false
	}
	y := &yamlWriter{Builder: b, in: &source{origin: b.File, pieces: []diag.Piece{}}}
	y.value(root)
	in := y.in
	outer := diag.Piece{At: dialect.Span(0, len(y.out)), From: dialect.Span(0, len(b.File.Text))}
	in.file = diag.NewDerived(y.out, b.File, slices.Insert(y.nested, 0, outer))
	read, found := lang.ReadValue(in.file, &lang.Options{MaxBytes: 4 * max(len(y.out), 1<<20), MaxDepth: depth(b.Options)})
	b.Add(found)
	return Value{read, in}, !read.IsZero() && !found.HasErrors()
}

// maxNodes and maxOut bound what aliases make of a small text.
const (
	maxNodes = 1 << 21
	maxOut   = 256 << 20
)

// malformed reports a text that can't be read.
func malformed(b *dialect.Builder, err *jsonscan.Error) {
	code, message := diag.NotJSON, "the text is not YAML here: "+err.Message
	switch err.Kind {
	case jsonscan.Limit:
		code, message = diag.OverLimit, err.Message
	case jsonscan.Foreign:
		code, message = diag.BadNotation, err.Message
	case jsonscan.Duplicate:
		code, message = diag.DuplicateMember, err.Message
	}
	at := func(offset int) diag.Span { return wordAt(b.File.Text, offset) }
	f := b.Errorf(at(err.Offset), code, "%s", message)
	if err.Kind == jsonscan.Duplicate {
		f.Related = []diag.Related{{Loc: diag.Loc{File: b.File, Span: at(err.Other)}, Message: "first written here"}}
	}
}

// wordAt returns the place of the word that stands at an offset.
func wordAt(text []byte, offset int) diag.Span {
	offset = min(offset, len(text))
	end := bytes.IndexAny(text[offset:], ":,[]{} \t\r\n")
	if end < 0 {
		end = len(text) - offset
	}
	return dialect.Span(offset, min(offset+max(end, 1), len(text)))
}

// yamlWriter writes YAML as JSON, with where each piece of it stands.
type yamlWriter struct {
	*dialect.Builder
	out []byte
	in  *source
	// nested are the pieces of in, and before those of a string one that is the string.
	nested []diag.Piece
}

// put writes JSON that comes from a span.
func (y *yamlWriter) put(text string, from diag.Span) { y.putAs(diag.Construct, text, from) }

func (y *yamlWriter) putAs(kind diag.PieceKind, text string, from diag.Span) {
	at := len(y.out)
	y.out = append(y.out, text...)
	p := diag.Piece{At: dialect.Span(at, len(y.out)), From: from, Kind: kind}
	y.in.pieces, y.nested = append(y.in.pieces, p), append(y.nested, p)
}

func (y *yamlWriter) value(n *texttree.Node) {
	brackets := "[]"
	switch n.Kind {
	case texttree.String:
		y.text(n.Str, n.Span)
		return
	case texttree.Object:
		brackets = "{}"
	case texttree.Array:
	default:
		y.put(n.Raw, n.Span)
		return
	}
	y.put(brackets[:1], diag.Span{Start: n.Span.Start, End: n.Span.Start})
	for i, e := range n.Entries {
		if i > 0 {
			y.out = append(y.out, ',')
		}
		if n.Kind == texttree.Object {
			y.text(e.Name, e.Key)
			y.out = append(y.out, ':')
		}
		y.value(e.Value)
	}
	y.put(brackets[1:], diag.Span{Start: n.Span.End, End: n.Span.End})
}

// text writes a string that stands at a span.
func (y *yamlWriter) text(s string, at diag.Span) {
	inside := at.Start
	if source := y.File.Text[at.Start:at.End]; len(source) > 1 && (source[0] == '"' || source[0] == '\'') {
		inside++
	}
	same := bytes.HasPrefix(y.File.Text[inside:], []byte(s))
	whole, start := len(y.nested), len(y.out)
	y.nested = append(y.nested, diag.Piece{From: at})
	y.put(`"`, dialect.Span(int(at.Start), int(inside)))
	done := 0
	flush := func(to int) {
		if to > done {
			from, kind := at, diag.Construct
			if same {
				from, kind = dialect.Span(int(inside)+done, int(inside)+to), diag.Words
			}
			y.putAs(kind, s[done:to], from)
		}
	}
	for i := range len(s) {
		if c := s[i]; c >= ' ' && c != '"' && c != '\\' {
			continue
		}
		flush(i)
		from := at
		if same {
			from = dialect.Span(int(inside)+i, int(inside)+i+1)
		}
		y.put(`\`+escapeOf(s[i]), from)
		done = i + 1
	}
	flush(len(s))
	y.put(`"`, dialect.Span(int(at.End), int(at.End)))
	y.nested[whole].At = dialect.Span(start, len(y.out))
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
