package file

import (
	"fmt"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
)

// parseJSON reads JSON with comments and trailing commas. It stops at the first fault.
func parseJSON(src []byte) (*node, *jsonscan.Error) {
	r := &jsonReader{jsonscan.Lexer{Text: src, Pos: bom(src), Comments: true}}
	n, err := r.value(r.lex.Next(), 0)
	if err != nil {
		return nil, err
	}
	if tok := r.lex.Next(); tok != jsonscan.EOF {
		return nil, r.unexpected(tok, "the end of the text")
	}
	return n, nil
}

// bom is the length of the byte order mark.
func bom(src []byte) int {
	if len(src) >= 3 && string(src[:3]) == "\ufeff" {
		return 3
	}
	return 0
}

type jsonReader struct{ lex jsonscan.Lexer }

func (r *jsonReader) unexpected(tok jsonscan.Token, want string) *jsonscan.Error {
	if r.lex.Err != nil {
		return r.lex.Err
	}
	return &jsonscan.Error{Offset: r.lex.Start, Message: fmt.Sprintf("found %s, want %s", tok, want)}
}

func (r *jsonReader) span() diag.Span {
	return diag.Span{Start: int32(r.lex.Start), End: int32(r.lex.Pos)}
}

// value reads the value that starts with tok.
func (r *jsonReader) value(tok jsonscan.Token, depth int) (*node, *jsonscan.Error) {
	n := &node{span: r.span()}
	switch tok {
	case jsonscan.BeginArray, jsonscan.BeginObject:
		if depth == maxDepth {
			return nil, &jsonscan.Error{Kind: jsonscan.Limit, Offset: r.lex.Start, Message: fmt.Sprintf("nested more than %d deep", maxDepth)}
		}
		err := r.composite(n, tok, depth)
		n.span.End = int32(r.lex.Pos)
		return n, err
	case jsonscan.String:
		n.kind = text
	case jsonscan.Number:
		n.kind = number
	case jsonscan.True, jsonscan.False:
		n.kind = boolean
	case jsonscan.Null:
	default:
		return nil, r.unexpected(tok, "a value")
	}
	n.raw = string(r.lex.Text[r.lex.Start:r.lex.Pos])
	if n.kind == text {
		n.str = r.string()
	}
	return n, r.lex.Err
}

// string is what the last token, a string, says.
func (r *jsonReader) string() string {
	if r.lex.Err != nil {
		return ""
	}
	return string(jsonscan.AppendString(nil, r.lex.Text[r.lex.Start+1:r.lex.Pos-1]))
}

// composite reads the entries of an object or list, up to its end.
func (r *jsonReader) composite(n *node, begin jsonscan.Token, depth int) *jsonscan.Error {
	n.kind = array
	end := jsonscan.EndArray
	first := map[string]diag.Span{}
	if begin == jsonscan.BeginObject {
		n.kind, end = object, jsonscan.EndObject
	}
	for tok := r.lex.Next(); tok != end; tok = r.lex.Next() {
		if len(n.entries) > 0 {
			if tok != jsonscan.Comma {
				return r.unexpected(tok, `"," or the end of the list or object`)
			}
			if tok = r.lex.Next(); tok == end { // a trailing comma
				break
			}
		}
		e := element(len(n.entries), nil)
		var err *jsonscan.Error
		if n.kind == object {
			if e, err = r.name(tok, first); err != nil {
				return err
			}
			tok = r.lex.Next()
		}
		if e.value, err = r.value(tok, depth+1); err != nil {
			return err
		}
		n.entries = append(n.entries, e)
	}
	return nil
}

// name reads the name of a member and its colon; first holds the names before it.
func (r *jsonReader) name(tok jsonscan.Token, first map[string]diag.Span) (entry, *jsonscan.Error) {
	if tok != jsonscan.String || r.lex.Err != nil {
		return entry{}, r.unexpected(tok, `a name in double quotes or "}"`)
	}
	e := entry{name: r.string(), key: r.span()}
	if err := twice(first, e); err != nil {
		return e, err
	}
	if tok := r.lex.Next(); tok != jsonscan.Colon {
		return e, r.unexpected(tok, `":" after a name`)
	}
	return e, nil
}

// twice is the fault of a name that is among the first ones, to which it is added.
func twice(first map[string]diag.Span, e entry) *jsonscan.Error {
	if other, ok := first[e.name]; ok {
		return &jsonscan.Error{Kind: jsonscan.Duplicate, Offset: int(e.key.Start), Other: int(other.Start),
			Message: fmt.Sprintf("the name %q stands twice in one object", e.name)}
	}
	first[e.name] = e.key
	return nil
}

// quote is a string as JSON, in which <, > and & stay what they are.
func quote(s string) []byte { return jsonscan.Encode(s) }
