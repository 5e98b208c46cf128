package texttree

import (
	"fmt"

	"github.com/plc-lang/plc/internal/jsonscan"
)

// ParseJSON reads JSON with comments and trailing commas, nested at most maxDepth deep. It stops at
// the first fault.
func ParseJSON(src []byte, maxDepth int) (*Node, *jsonscan.Error) {
	r := &jsonReader{jsonscan.Lexer{Text: src, Pos: BOM(src), Comments: true}, maxDepth}
	n, err := r.value(r.lex.Next(), 0)
	if err != nil {
		return nil, err
	}
	if tok := r.lex.Next(); tok != jsonscan.EOF {
		return nil, r.unexpected(tok, "the end of the text")
	}
	return n, nil
}

type jsonReader struct {
	lex      jsonscan.Lexer
	maxDepth int
}

func (r *jsonReader) unexpected(tok jsonscan.Token, want string) *jsonscan.Error {
	if r.lex.Err != nil {
		return r.lex.Err
	}
	return &jsonscan.Error{Offset: r.lex.Start, Message: fmt.Sprintf("found %s, want %s", tok, want)}
}

func (r *jsonReader) span() Span {
	return Span{Start: int32(r.lex.Start), End: int32(r.lex.Pos)}
}

// value reads the value that starts with tok.
func (r *jsonReader) value(tok jsonscan.Token, depth int) (*Node, *jsonscan.Error) {
	n := &Node{Span: r.span()}
	switch tok {
	case jsonscan.BeginArray, jsonscan.BeginObject:
		if depth == r.maxDepth {
			return nil, &jsonscan.Error{Kind: jsonscan.Limit, Offset: r.lex.Start, Message: fmt.Sprintf("nested more than %d deep", r.maxDepth)}
		}
		err := r.composite(n, tok, depth)
		n.Span.End = int32(r.lex.Pos)
		return n, err
	case jsonscan.String:
		n.Kind = String
	case jsonscan.Number:
		n.Kind = Number
	case jsonscan.True, jsonscan.False:
		n.Kind = Boolean
	case jsonscan.Null:
	default:
		return nil, r.unexpected(tok, "a value")
	}
	n.Raw = string(r.lex.Text[r.lex.Start:r.lex.Pos])
	if n.Kind == String {
		n.Str = r.string()
	}
	return n, r.lex.Err
}

// string returns the text of the last token, which is a string.
func (r *jsonReader) string() string {
	if r.lex.Err != nil {
		return ""
	}
	return string(jsonscan.AppendString(nil, r.lex.Text[r.lex.Start+1:r.lex.Pos-1]))
}

// composite reads the entries of an object or list, up to its end.
func (r *jsonReader) composite(n *Node, begin jsonscan.Token, depth int) *jsonscan.Error {
	n.Kind = Array
	end := jsonscan.EndArray
	first := names{}
	if begin == jsonscan.BeginObject {
		n.Kind, end = Object, jsonscan.EndObject
	}
	for tok := r.lex.Next(); tok != end; tok = r.lex.Next() {
		if len(n.Entries) > 0 {
			if tok != jsonscan.Comma {
				return r.unexpected(tok, `"," or the end of the list or object`)
			}
			if tok = r.lex.Next(); tok == end { // a trailing comma
				break
			}
		}
		e := element(len(n.Entries), nil)
		var err *jsonscan.Error
		if n.Kind == Object {
			if e, err = r.name(tok, first); err != nil {
				return err
			}
			tok = r.lex.Next()
		}
		if e.Value, err = r.value(tok, depth+1); err != nil {
			return err
		}
		n.Entries = append(n.Entries, e)
	}
	return nil
}

// name reads the name of a member and its colon; first holds the earlier names of the object.
func (r *jsonReader) name(tok jsonscan.Token, first names) (Entry, *jsonscan.Error) {
	if tok != jsonscan.String || r.lex.Err != nil {
		return Entry{}, r.unexpected(tok, `a name in double quotes or "}"`)
	}
	e := Entry{Name: r.string(), Key: r.span()}
	if err := first.add(e); err != nil {
		return e, err
	}
	if tok := r.lex.Next(); tok != jsonscan.Colon {
		return e, r.unexpected(tok, `":" after a name`)
	}
	return e, nil
}
