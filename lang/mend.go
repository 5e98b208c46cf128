package lang

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
)

// How a reader handles text that is not JSON. Valid documents don't use this code.
//
// A fault is mended only if that invents nothing: quotes, commas, brackets and the words of Python
// are mended, but never a value, the end of a string or the end of a call.

// skipped is the token for text that a reader skips.
const skipped = jsonscan.Token(255)

// noValue reports a token that is not a value where a value belongs.
func (r *reader) noValue(tok jsonscan.Token) {
	switch {
	case tok == jsonscan.EOF && len(r.open) == 0:
		r.stop(diag.Span{}, "the text is empty; a plan is JSON, such as [{\"_tool\": …}]")
	case tok == jsonscan.EOF:
		r.truncated()
	case len(r.open) == 0:
		r.stop(r.here(), "found %s, want a plan", tok)
	case tok == jsonscan.Comma && r.want == wantElement:
		r.fault(r.here(), "a comma too many").fix("leave it out", diag.Edit{Span: r.here()})
	case r.want == wantValue && (tok == jsonscan.Comma || tok == jsonscan.EndObject):
		r.noMemberValue()
	default:
		r.unexpected(tok, "a value")
	}
}

// noMemberValue adds a node for a missing value.
func (r *reader) noMemberValue() {
	n := &r.tree.nodes[len(r.tree.nodes)-1]
	r.fault(n.span(), "the member %s has no value", r.Text[n.start:n.end])
	r.Pos = r.Start
	r.add(Null, bad)
	r.want = wantComma
}

// noName reports a token that is not a name where a name belongs.
func (r *reader) noName(tok jsonscan.Token) {
	switch tok {
	case jsonscan.EOF:
		r.truncated()
	case jsonscan.Comma:
		r.fault(r.here(), "a comma too many").fix("leave it out", diag.Edit{Span: r.here()})
	case jsonscan.True, jsonscan.False, jsonscan.Null, jsonscan.Invalid:
		if isIdentifier(r.Text[r.Start:r.Pos]) && r.followedBy(r.Pos, ":") {
			r.bareName()
			return
		}
		r.unexpected(tok, "a name in double quotes")
	default:
		r.unexpected(tok, "a name in double quotes")
	}
}

// bareName reads a name without quotes.
func (r *reader) bareName() {
	word := r.Text[r.Start:r.Pos]
	r.mendable(fmt.Sprintf("the name %s has no quotes", word), "put in double quotes",
		diag.Edit{Span: r.here(), Text: `"` + string(word) + `"`})
	r.flags = odd
	r.addName()
	r.want = wantColon
}

func isIdentifier(word []byte) bool {
	for i, c := range word {
		letter := c|0x20-'a' <= 'z'-'a' || c == '_' || c == '$'
		if !letter && (i == 0 || c-'0' > 9 && c != '-') {
			return false
		}
	}
	return len(word) > 0
}

// noColon reports a token that is not a colon where a colon belongs.
func (r *reader) noColon(tok jsonscan.Token) {
	name := r.tree.nodes[len(r.tree.nodes)-1].span()
	switch {
	case tok == jsonscan.EOF:
		r.truncated()
	case tok == jsonscan.Comma || tok == jsonscan.EndObject:
		r.noMemberValue()
	case r.startsValue(tok):
		r.fault(name, "there is no colon after the name %s", r.Text[name.Start:name.End]).
			fix("put in a colon", diag.Edit{Span: diag.Span{Start: name.End, End: name.End}, Text: ":"})
		r.back(wantValue)
	default:
		r.unexpected(tok, "a colon")
	}
}

// noComma reports a token that is neither a comma nor the end where one belongs.
func (r *reader) noComma(tok jsonscan.Token, object bool) {
	next := tok == jsonscan.String || tok == jsonscan.Invalid && r.startsValue(tok)
	if object {
		next = next || isIdentifier(r.Text[r.Start:r.Pos]) && r.followedBy(r.Pos, ":")
	} else {
		next = r.startsValue(tok)
	}
	switch {
	case tok == jsonscan.EOF:
		r.truncated()
	case tok == jsonscan.Invalid && r.Text[r.Start] == '"':
		r.stop(diag.Span{Start: int32(r.Err.Offset), End: int32(r.Err.Offset + 1)}, "%s", r.Err.Message)
	case !next:
		r.unexpected(tok, "a comma or the end of "+r.opened())
	case int(r.last.End) == r.Start && r.Text[r.Start-1] == '"' && r.Text[r.Start] == '"':
		r.stop(r.here(), `found a string right after a string: a quote inside a string is written \"`)
	default:
		after := diag.Span{Start: r.last.End, End: r.last.End}
		r.mendable("there is no comma before this", "put in a comma", diag.Edit{Span: after, Text: ","})
		if r.back(wantElement); object {
			r.want = wantName
		}
	}
}

// startsValue reports whether the token starts a value, with any kind of quotes.
func (r *reader) startsValue(tok jsonscan.Token) bool {
	if tok != jsonscan.Invalid {
		return tok >= jsonscan.String && tok != skipped || tok == jsonscan.BeginArray || tok == jsonscan.BeginObject
	}
	quote, _ := utf8.DecodeRune(r.Text[r.Start:])
	return closingQuote(quote) != 0
}

// unexpected reports a token for which it is unclear what was meant.
func (r *reader) unexpected(tok jsonscan.Token, want string) {
	closer := tok == jsonscan.EndArray || tok == jsonscan.EndObject
	switch {
	case closer && r.inObject() != (tok == jsonscan.EndObject):
		n := r.tree.nodes[r.innermost().node]
		r.stop(r.here(), "%s does not close %s", tok, r.opened()).
			related(diag.Span{Start: n.start, End: n.start + 1}, "opened here")
	case tok == jsonscan.Invalid:
		r.stop(r.here(), "found %q, want %s", clipTo(string(r.Text[r.Start:r.Pos]), 40), want)
	default:
		r.stop(r.here(), "found %s, want %s", tok, want)
	}
}

// truncated handles a text that ends too soon. It adds brackets only if everything before them is
// complete: a list of calls or of messages.
func (r *reader) truncated() {
	end := diag.Span{Start: int32(len(r.Text)), End: int32(len(r.Text))}
	if !r.mend || r.want != wantComma || !r.closable() {
		n := r.tree.nodes[r.innermost().node]
		r.stop(end, "the text ends inside %s", r.opened()).
			related(diag.Span{Start: n.start, End: n.start + 1}, "opened here")
		return
	}
	var brackets []byte
	for len(r.open) > 0 {
		brackets = append(brackets, "]}"[b2i(r.inObject())])
		r.close(len(r.Text))
	}
	cure := fmt.Sprintf("put in %q", brackets)
	r.add104(end, "the text ends too soon", cure).fix(cure, diag.Edit{Span: end, Text: string(brackets)})
	r.done = true
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// closable reports whether only lists are open, and the last value is not a number, whose last
// digits may be missing. The end of an object is never invented, since an important member, such as
// its mode, may be cut off.
func (r *reader) closable() bool {
	if r.tree.nodes[len(r.tree.nodes)-1].kind == NumberValue && r.Text[len(r.Text)-1]-'0' <= 9 {
		return false
	}
	return !slices.ContainsFunc(r.open, func(c container) bool { return r.tree.nodes[c.node].kind == Object })
}

// mistake reads a token with a fault in it if its meaning is clear. It returns skipped if there is
// nothing more to do about it.
func (r *reader) mistake(tok jsonscan.Token) jsonscan.Token {
	c, width := utf8.DecodeRune(r.Text[r.Start:])
	value := r.want <= wantName
	switch {
	case isBlank(c):
		r.mendable(fmt.Sprintf("the character U+%04X is no white space in JSON", c), "cut out", diag.Edit{Span: r.here()})
		return skipped
	case c == '/' || c == utf8.RuneError && width == 1:
		r.stop(diag.Span{Start: int32(r.Err.Offset), End: int32(r.Err.Offset + 1)}, "%s", r.Err.Message)
		return skipped
	case value && closingQuote(c) != 0 && (c == '"' || len(r.open) > 0):
		return r.quoted(tok, c, width)
	case value && tok == jsonscan.Invalid && r.want != wantName && len(r.open) > 0:
		return r.word()
	case tok == jsonscan.Invalid && len(r.open) == 0 && r.want == wantValue:
		r.stop(diag.Span{Start: int32(r.Err.Offset), End: int32(r.Pos)}, "%s", r.Err.Message)
		return skipped
	}
	return tok
}

// isBlank reports whether a character is white space that JSON does not allow.
func isBlank(c rune) bool { return strings.ContainsRune("\u00a0\u200b\u202f\u2060\u3000\ufeff", c) }

// closingQuote returns the quote that closes a string that starts with this one; 0 if that is
// no quote.
func closingQuote(c rune) rune {
	switch c {
	case '"', '\'', '`':
		return c
	case '“', '”':
		return '”'
	case '„':
		return '“'
	case '‘', '‚', '’':
		return '’'
	}
	return 0
}

// quoted reads a string in other quotes, or with a fault inside.
func (r *reader) quoted(tok jsonscan.Token, open rune, width int) jsonscan.Token {
	err := *r.Err
	at := diag.Span{Start: int32(err.Offset), End: int32(err.Offset + 1)}
	inside := r.Start + width
	end, ok := r.quoteEnd(inside, closingQuote(open))
	r.looked = end
	switch {
	case ok:
		last := end + utf8.RuneLen(closingQuote(open))
		if open == '"' {
			last = end + 1
		}
		r.Pos = last
		if r.flags = escaped | odd; mayHoldDagger(r.Text[inside:end]) {
			r.flags |= hasDagger
		}
		what, cure := err.Message, "put in as JSON writes it"
		if open != '"' {
			what, cure = "the string is not in double quotes", "put in double quotes"
		}
		text := appendQuoted(nil, string(jsonscan.AppendString(nil, r.Text[inside:end])), '"')
		r.mendable(what, cure, diag.Edit{Span: r.here(), Text: string(text)})
	case tok == jsonscan.String:
		r.fault(at, "%s", err.Message)
		r.flags = escaped | bad
	default:
		r.stop(at, "%s", err.Message)
	}
	return jsonscan.String
}

// quoteEnd returns the place of the quote that closes a string, and whether the string can be read
// without guessing: its escapes are valid, and the first such quote is followed by something that
// may follow a string.
func (r *reader) quoteEnd(i int, quote rune) (end int, ok bool) {
	for i < len(r.Text) {
		c, n := utf8.DecodeRune(r.Text[i:])
		switch {
		case c == quote:
			return i, r.followedBy(i+n, ",]}:")
		case c == '\\':
			e, width := escape(string(r.Text[i:min(i+12, len(r.Text))]))
			if n = width; width == 0 || e == utf8.RuneError {
				return i, false
			}
		case c == utf8.RuneError && n == 1:
			return i, false
		}
		i += n
	}
	return i, false
}

// followedBy reports whether the first character from i on that is not white space is one of these.
func (r *reader) followedBy(i int, chars string) bool {
	for i < len(r.Text) && strings.IndexByte(" \t\r\n", r.Text[i]) >= 0 {
		i++
	}
	return i < len(r.Text) && strings.IndexByte(chars, r.Text[i]) >= 0
}

// python returns the JSON word, and its token, for a word of Python.
func python(word string) (json string, tok jsonscan.Token, ok bool) {
	switch word {
	case "True":
		return "true", jsonscan.True, true
	case "False":
		return "false", jsonscan.False, true
	case "None":
		return "null", jsonscan.Null, true
	}
	return "", 0, false
}

// word reads a word or number that JSON does not have, where a value belongs.
func (r *reader) word() jsonscan.Token {
	word := string(r.Text[r.Start:r.Pos])
	if json, tok, ok := python(word); ok {
		r.mendable(word+" is not JSON", fmt.Sprintf("put %s in its place", json), diag.Edit{Span: r.here(), Text: json})
		return tok
	}
	message := r.Err.Message
	switch word {
	case "NaN", "Infinity", "-Infinity", "+Infinity", "nan", "inf", "-inf":
		message = fmt.Sprintf("JSON has no %s; write null, or a string", word)
	case "undefined":
		message += "; write null, or leave the member out"
	default:
		if isIdentifier([]byte(word)) {
			message += "; a string is written in double quotes"
		}
	}
	if !r.followedBy(r.Pos, ",]}") {
		r.stop(r.here(), "%s", message)
		return skipped
	}
	r.fault(r.here(), "%s", message)
	r.flags = bad
	return jsonscan.Null
}
