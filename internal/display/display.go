// Package display makes text from outside safe to show to a person.
//
// Plans, tools, servers and models are not trusted: a reason for an approval, the name of a
// param or a server's message may hold line breaks, escape sequences of a terminal, characters
// that turn the direction of text, or ones that can't be seen. A Text is text in which every
// such piece stands on one line and has escapes in place of what could draw. Only this package
// makes a Text, and the program prints nothing else, so that the frame of what it shows is
// always its own.
package display

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"time"

	"github.com/plc-lang/plc/internal/jsonscan"
)

// A Text is text that can be shown. Its zero value is the empty text.
type Text struct{ s string }

// String returns the text.
func (t Text) String() string { return t.s }

// A Literal is text of the program's own source. Callers pass constants, and never convert
// a value to it: a test of the sources makes sure.
type Literal string

// Lit returns text of the program's own source. It may hold line breaks.
func Lit(s Literal) Text { return Text{string(s)} }

// Line returns s on one line, with escapes for what could draw.
func Line(s string) Text {
	if isPlain(s) {
		return Text{s}
	}
	var b strings.Builder
	var g Glyphs
	for s != "" {
		shown, _, size := g.Next(s)
		b.WriteString(shown)
		s = s[size:]
	}
	return Text{b.String()}
}

// Quote returns s on one line in double quotes. Nothing but s yields the same text: quotes
// and backslashes have escapes as well.
func Quote(s string) Text {
	s = quoteEscapes.Replace(s)
	return Text{`"` + Line(s).s + `"`}
}

var quoteEscapes = strings.NewReplacer(`"`, `\"`, `\`, `\\`)

// ShellWord returns s as one word for a POSIX shell, in single quotes if it needs them.
func ShellWord(s string) string {
	if s != "" && !strings.ContainsFunc(s, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("@%+=:,./_-", r))
	}) {
		return s
	}
	return "'" + strings.ReplaceAll(s, "'", `'\''`) + "'"
}

// Name returns the name of something as it is when that is a plain word, and quoted
// otherwise, so that it can't be taken for words of the program's own.
func Name(s string) Text {
	for i, r := range s {
		switch {
		case r == ' ', r == '"', r == '\\', r == '(', r == ')', r == ',', r == ';', r == '?', r == '!':
			return Quote(s)
		case i == 0 && !isWord(r):
			return Quote(s)
		}
	}
	if s == "" || Line(s).s != s || strings.HasSuffix(s, ":") {
		return Quote(s)
	}
	return Text{s}
}

// JSON returns a value on one line. In strings and names what could draw or can't be seen is
// written as \u202e, so that the text is still JSON of the same value. What is no JSON is
// quoted.
func JSON(value []byte) Text {
	var b bytes.Buffer
	if json.Compact(&b, value) != nil {
		return Quote(string(value))
	}
	return Text{string(AppendJSON(nil, b.Bytes()))}
}

// IndentedJSON returns JSON over several lines, with the prefix before each but the first.
func IndentedJSON(value []byte, prefix Literal) Text {
	lines, ok := jsonscan.Indent(value, string(prefix))
	if !ok {
		return Quote(string(value))
	}
	return Text{string(AppendJSON(nil, lines))}
}

// AppendJSON appends JSON, or a text that holds such, in which what could draw or can't be
// seen is written as \u202e. Line breaks and tabs are kept.
func AppendJSON(dst, text []byte) []byte {
	var g Glyphs
	for rest := string(text); rest != ""; {
		shown, size := g.NextJSON(rest)
		dst, rest = append(dst, shown...), rest[size:]
	}
	return dst
}

// Block returns s with the prefix before each of its lines, each of which ends with a line
// break. Tabs are spaces.
func Block(prefix Literal, s string) Text {
	var b strings.Builder
	s = strings.TrimRight(blockLines.Replace(s), "\n")
	for line := range strings.SplitSeq(s, "\n") {
		b.WriteString(strings.TrimRight(string(prefix)+Line(line).s, " ") + "\n")
	}
	return Text{b.String()}
}

var blockLines = strings.NewReplacer("\r\n", "\n", "\t", "    ")

// Sprintf formats as fmt.Sprintf does. Arguments that are a Text, a number, a bool or a time
// are shown as they are. All others are from outside: their text is shown as Line shows it,
// with the verb %q as Quote does, and with %x as the digits
// of its bytes.
func Sprintf(format Literal, args ...any) Text {
	safe := make([]any, len(args))
	for i, a := range args {
		safe[i] = argument(a)
	}
	return Text{fmt.Sprintf(string(format), safe...)}
}

func argument(a any) any {
	switch a := a.(type) {
	case nil, time.Duration, time.Time:
		return a
	case Text:
		return a.s
	case Literal:
		return string(a)
	case string:
		return outside(a)
	case []byte:
		return outside(a)
	}
	switch v := reflect.ValueOf(a); {
	case v.CanInt(), v.CanUint(), v.CanFloat(), v.Kind() == reflect.Bool:
		if _, ok := a.(fmt.Stringer); !ok {
			return a
		}
	case v.Kind() == reflect.Slice && v.Type().Elem().Kind() == reflect.Uint8: // json.RawMessage
		return outside(v.Bytes())
	case v.Kind() == reflect.Array && v.Type().Elem().Kind() == reflect.Uint8: // a sum
		bytes := make([]byte, v.Len())
		reflect.Copy(reflect.ValueOf(bytes), v)
		return outside(bytes)
	}
	return outside(fmt.Sprint(a))
}

// outside is an argument from outside.
type outside string

// Format implements fmt.Formatter.
func (o outside) Format(f fmt.State, verb rune) {
	t := Line(string(o))
	switch verb {
	case 'q':
		t = Quote(string(o))
		verb = 's'
	case 'x', 'X': // digits of the bytes, which can't draw
		t = Text{string(o)}
	}
	fmt.Fprintf(f, fmt.FormatString(f, verb), t.s)
}

// Join joins texts with a separator between them.
func Join(texts []Text, sep Literal) Text {
	all := make([]string, len(texts))
	for i, t := range texts {
		all[i] = t.s
	}
	return Text{strings.Join(all, string(sep))}
}

// A Builder builds a text of several lines. Its zero value is empty.
type Builder struct{ b strings.Builder }

// Line adds a line, formatted as Sprintf does, without spaces at its end.
func (b *Builder) Line(format Literal, args ...any) {
	b.b.WriteString(strings.TrimRight(Sprintf(format, args...).s, " ") + "\n")
}

// Add adds a text.
func (b *Builder) Add(t Text) { b.b.WriteString(t.s) }

// Text returns what was built.
func (b *Builder) Text() Text { return Text{b.b.String()} }

// Fprint writes a text.
func Fprint(w io.Writer, t Text) error {
	_, err := io.WriteString(w, t.s)
	return err
}
