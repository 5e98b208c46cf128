package tree

import (
	"bytes"
	"slices"
	"strings"

	"go.yaml.in/yaml/v4"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/internal/yamlpos"
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
	y := &yamlReader{Builder: b, at: yamlpos.New(b.File.Text, b.Start()), in: &source{origin: b.File, pieces: []diag.Piece{}}}
	var doc yaml.Node
	if err := yaml.Load(b.File.Text[b.Start():], &doc); err != nil || len(doc.Content) == 0 {
		y.syntax(err)
		return Value{}, false
	}
	if y.node(doc.Content[0], 0); b.Found() {
		return Value{}, false
	}
	in := y.in
	outer := diag.Piece{At: dialect.Span(0, len(y.out)), From: dialect.Span(0, len(b.File.Text))}
	in.file = diag.NewDerived(y.out, b.File, slices.Insert(y.nested, 0, outer))
	root, found := lang.ReadValue(in.file, &lang.Options{MaxBytes: 4 * max(len(y.out), 1<<20), MaxDepth: depth(b.Options)})
	b.Add(found)
	return Value{root, in}, !root.IsZero() && !found.HasErrors()
}

// yamlReader writes YAML as JSON, with where each piece of it stands.
type yamlReader struct {
	*dialect.Builder
	at    *yamlpos.Text
	out   []byte
	in    *source
	nodes int // with those of aliases, each time
	// nested are the pieces of in, and before those of a string one that is the string.
	nested []diag.Piece
}

// maxNodes bounds what aliases make of a small text.
const maxNodes = 1 << 21

// maxOut is how long the text may become.
const maxOut = 256 << 20

// syntax reports a fault that the library found.
func (y *yamlReader) syntax(err error) {
	if err == nil {
		y.Errorf(diag.Span{}, diag.NotJSON, "there is nothing in the text")
		return
	}
	message, at := y.at.Fault(err)
	if at < 0 {
		y.Errorf(diag.Span{}, diag.NotJSON, "the text is not YAML: %s", message)
		return
	}
	at = min(at, len(y.File.Text))
	y.Errorf(dialect.Span(at, min(at+1, len(y.File.Text))), diag.NotJSON, "the text is not YAML here: %s", message)
}

// put writes JSON that comes from a span.
func (y *yamlReader) put(text string, from diag.Span) { y.putAs(diag.Construct, text, from) }

func (y *yamlReader) putAs(kind diag.PieceKind, text string, from diag.Span) {
	at := len(y.out)
	y.out = append(y.out, text...)
	p := diag.Piece{At: dialect.Span(at, len(y.out)), From: from, Kind: kind}
	y.in.pieces, y.nested = append(y.in.pieces, p), append(y.nested, p)
}

// node writes a node, and returns its end in the original.
func (y *yamlReader) node(n *yaml.Node, depth int) int {
	start := y.at.Offset(n.Line, n.Column)
	if y.nodes++; y.nodes > maxNodes || depth > 1000 || len(y.out) > maxOut {
		if !y.Found() {
			y.Errorf(dialect.Span(start, start), diag.OverLimit, "the text has more than %d values, or they nest too deep", maxNodes)
		}
		return start
	}
	end := start
	switch n.Kind {
	case yaml.AliasNode:
		y.node(n.Alias, depth+1)
		return start + 1 + len(n.Value)
	case yaml.MappingNode:
		y.put("{", dialect.Span(start, start))
		for i := 0; i+1 < len(n.Content) && !y.Found(); i += 2 {
			if i > 0 {
				y.out = append(y.out, ',')
			}
			y.key(n.Content[i])
			y.out = append(y.out, ':')
			end = y.node(n.Content[i+1], depth+1)
		}
		y.put("}", dialect.Span(end, end))
	case yaml.SequenceNode:
		y.put("[", dialect.Span(start, start))
		for i, c := range n.Content {
			if i > 0 {
				y.out = append(y.out, ',')
			}
			if end = y.node(c, depth+1); y.Found() {
				break
			}
		}
		y.put("]", dialect.Span(end, end))
	default:
		return y.scalar(n, start)
	}
	return end
}

// key writes the name of a member: a number, true or null is one as it is written.
func (y *yamlReader) key(n *yaml.Node) {
	start := y.at.Offset(n.Line, n.Column)
	switch {
	case n.Kind != yaml.ScalarNode:
		y.Errorf(dialect.Span(start, start), diag.BadNotation, "the name of a member is no list or object")
	case n.ShortTag() == "!!merge":
		y.Errorf(dialect.Span(start, start+2), diag.BadNotation, "<< merges, which is not read; write the members out")
	default:
		y.text(n.Value, dialect.Span(start, y.at.ScalarEnd(n.Value, start)))
	}
}

func (y *yamlReader) scalar(n *yaml.Node, start int) int {
	end := y.at.ScalarEnd(n.Value, start)
	at := dialect.Span(start, end)
	lex := jsonscan.Lexer{Text: []byte(n.Value)}
	isNumber := lex.Next() == jsonscan.Number && lex.Pos == len(n.Value)
	switch tag := n.ShortTag(); {
	case tag == "!!null":
		y.put("null", at)
	case tag == "!!bool":
		y.put(strings.ToLower(n.Value), at)
	case (tag == "!!int" || tag == "!!float" || n.Style == 0) && isNumber:
		y.put(n.Value, at)
	case tag == "!!int" || tag == "!!float":
		y.Errorf(at, diag.BadNotation, "the number %s is not written as in JSON; put quotes round it if it is text", n.Value)
	default:
		y.text(n.Value, at)
	}
	return end
}

// text writes a string that stands at a span.
func (y *yamlReader) text(s string, at diag.Span) {
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

// escapeOf is the escape of a character, without its backslash.
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
