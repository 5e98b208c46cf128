// Package display makes text from outside safe to show to a person.
//
// Plans, tools, servers and models are not trusted: a reason for an approval, the name of a param
// or a server's message may contain line breaks, terminal escape sequences, characters that change
// the direction of text, or invisible ones. In a Text, every piece from outside is on one line, and
// such characters are escaped. Only this package makes Texts, and the program prints nothing else,
// so text from outside can't imitate the program's own output.
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

// A Text is text that is safe to show. Its zero value is the empty text.
type Text struct{ s string }

// String returns the text.
func (t Text) String() string { return t.s }

// A Literal is text from the program's source. Callers pass constants and never convert a value to
// it; a test checks the sources for that.
type Literal string

// Lit returns text from the program's source. It may contain line breaks.
func Lit(s Literal) Text { return Text{string(s)} }

// Line returns s on one line, with unsafe characters escaped.
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

// Quote returns s on one line in double quotes. It escapes quotes and backslashes as well, so that
// different strings have different texts.
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

// Name returns a name unchanged if it is a plain word, and quoted otherwise, so that nobody takes
// it for the program's own words.
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

// JSON returns a value on one line. Unsafe and invisible characters in strings and names are
// written in the form \u202e, so that the text is still JSON of the same value. A text that is not
// JSON is quoted.
func JSON(value []byte) Text {
	var b bytes.Buffer
	if json.Compact(&b, value) != nil {
		return Quote(string(value))
	}
	return Text{string(AppendJSON(nil, b.Bytes()))}
}

// IndentedJSON returns JSON over several lines, with the prefix before each line except the first.
func IndentedJSON(value []byte, prefix Literal) Text {
	lines, ok := jsonscan.Indent(value, string(prefix))
	if !ok {
		return Quote(string(value))
	}
	return Text{string(AppendJSON(nil, lines))}
}

// AppendJSON appends JSON, or a text that contains JSON, with unsafe and invisible characters in
// the form \u202e. Line breaks and tabs are kept.
func AppendJSON(dst, text []byte) []byte {
	var g Glyphs
	for rest := string(text); rest != ""; {
		shown, size := g.NextJSON(rest)
		dst, rest = append(dst, shown...), rest[size:]
	}
	return dst
}

// Block returns s with the prefix before each line and a line break after each. Tabs become spaces.
func Block(prefix Literal, s string) Text {
	var b strings.Builder
	s = strings.TrimRight(blockLines.Replace(s), "\n")
	for line := range strings.SplitSeq(s, "\n") {
		b.WriteString(strings.TrimRight(string(prefix)+Line(line).s, " ") + "\n")
	}
	return Text{b.String()}
}

var blockLines = strings.NewReplacer("\r\n", "\n", "\t", "    ")

// Sprintf formats like fmt.Sprintf. Arguments that are a Text, a number, a bool or a time are shown
// unchanged. All others are from outside: their text is shown in the form of Line, with the verb %q
// in that of Quote, and with %x as the hexadecimal digits of its bytes.
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

// Line adds a line, formatted like Sprintf, without spaces at its end.
func (b *Builder) Line(format Literal, args ...any) {
	b.b.WriteString(strings.TrimRight(Sprintf(format, args...).s, " ") + "\n")
}

// Add adds a text.
func (b *Builder) Add(t Text) { b.b.WriteString(t.s) }

// Text returns the text built so far.
func (b *Builder) Text() Text { return Text{b.b.String()} }

// Fprint writes a text.
func Fprint(w io.Writer, t Text) error {
	_, err := io.WriteString(w, t.s)
	return err
}
