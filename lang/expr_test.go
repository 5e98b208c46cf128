package lang

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"unicode"

	"github.com/plc-lang/plc/diag"
)

// reads are expressions and what they are, as dump shows it.
var reads = []struct{ text, want string }{
	// References.
	{"†state", "state"},
	{"†state.a", "state .a"},
	{"†input.user.name", "input .user .name"},
	{" \t\r\n†state.a\u00a0\u2003", "state .a"},
	{"†my-kind.$ref.a_b.x:y.größe.名前.🙂", "my-kind .$ref .a_b .x:y .größe .名前 .🙂"},
	{"†3d.2nd", "3d .2nd"},
	{"†true.false.null", "true .false .null"},

	// Indexes.
	{"†state.l.1", "state .l #1"},
	{"†state.l.0.10", "state .l #0 #10"},
	{"†state.l[1][-1][0]", "state .l [1] [-1] [0]"},
	{"†state.l[007]", "state .l [7]"},
	{"†state.l.007", "state .l .007"}, // a name: an index is not spelled so
	{"†state.l.-1", "state .l .-1"},
	{"†state.l.2147483647.2147483648", "state .l #2147483647 .2147483648"},
	{"†state.l[2147483647][-2147483648]", "state .l [2147483647] [-2147483648]"},
	{"†state.l.99999999999999999999999999", "state .l .99999999999999999999999999"},
	{"†state.users[*].tags[*]", "state .users [*] .tags [*]"},

	// Names in brackets.
	{`†state["odd name"]['x'].y`, "state .odd name .x .y"},
	{`†state["a\"b\\c\u0041\ud83d\ude42"]['it\'s']`, `state .a"b\cA🙂 .it's`},
	{`†state["]"]["1"][""]['"']`, `state .] .1 . ."`},
	{`†["x"]`, ""},

	// Operators.
	{"†a || †b", "(|| a b)"},
	{"†a||†b||†c", "(|| a b c)"},
	{"†a && †b && †c", "(&& a b c)"},
	{"†a <|> †b", "(<|> a b)"},
	{"†a *> †b", "(*> a b)"},
	{"†a || †b <|> †c", "(<|> a b c)"},
	{"†a.x\n||\r\n†b.y", "(|| a .x b .y)"},
	{"(†a)", "a"},
	{"((†a || †b))", "(|| a b)"},
	{"( †a || †b ) && †c", "(&& (|| a b) c)"},
	{"†a || (†b && †c)", "(|| a (&& b c))"},
	{"†a || (†b || (†c <|> †d))", "(<|> a b c d)"},
	{"(†a *> †b) || (†c && †d)", "(|| (*> a b) (&& c d))"},

	// Literals.
	{"†a || 'en'", `(|| a "en")`},
	{`†a || "en"`, `(|| a "en")`},
	{`†a || ''`, `(|| a "")`},
	{`†a || 'it\'s "so"\n\u00e9'`, `(|| a "it's \"so\"\né")`},
	{"†a || 'raw\nline\x01'", `(|| a "raw\nline\u0001")`},
	{`†a || '\ud800'`, `(|| a "` + "\uFFFD" + `")`},
	{"†a || 5", "(|| a 5)"},
	{"†a || -1.50e+3", "(|| a -1.50e+3)"},
	{"†a || 12345678901234567890", "(|| a 12345678901234567890)"},
	{"†a || true || false || null", "(|| a true false null)"},
	{"'x'", `"x"`},
	{"(5)", "5"},
}

// dump shows what an expression is: (op args), JSON for literals, the kind and
// the segments for references, with # before a Number.
func dump(e *Expr) string {
	switch e.Op {
	case OpLiteral:
		return string(e.Value)
	case OpRef:
		s := e.Kind
		for _, seg := range e.Path {
			switch seg.Kind {
			case Named:
				s += " ." + seg.Name
			case Number:
				s += fmt.Sprintf(" #%d", seg.Index)
				if seg.Name != fmt.Sprint(seg.Index) {
					s += "?" + seg.Name
				}
			case Index:
				s += fmt.Sprintf(" [%d]", seg.Index)
			case Star:
				s += " [*]"
			}
		}
		return s
	}
	s := "(" + e.operator()
	for _, a := range e.Args {
		s += " " + dump(a)
	}
	return s + ")"
}

func TestParseRead(t *testing.T) {
	for _, test := range reads {
		e, err := ParseRead(test.text)
		switch {
		case test.want == "":
			if err == nil {
				t.Errorf("%s: got %s, want an error", test.text, dump(e))
			}
		case err != nil:
			t.Errorf("%s: %v", test.text, err)
		case dump(e) != test.want:
			t.Errorf("%s: got %s, want %s", test.text, dump(e), test.want)
		}
	}
}

func TestExprSpans(t *testing.T) {
	tests := []struct {
		text string
		want []string // the expression, its parts and so on, outermost first
	}{
		{"  †state.ab[0]['c d'].1 ", []string{"†state.ab[0]['c d'].1", "state", "ab", "[0]", "['c d']", "1"}},
		{"( (†a || 'é')&&†b.x )", []string{"(†a || 'é')&&†b.x", "†a || 'é'", "†a", "a", "'é'", "†b.x", "b", "x"}},
		{"((†a) || (†b))", []string{"(†a) || (†b)", "†a", "a", "†b", "b"}},
		{"(†a || †b) || -1.5", []string{"(†a || †b) || -1.5", "†a", "a", "†b", "b", "-1.5"}},
	}
	for _, test := range tests {
		e, err := ParseRead(test.text)
		if err != nil {
			t.Errorf("%s: %v", test.text, err)
			continue
		}
		var got []string
		for _, s := range spans(e) {
			got = append(got, test.text[s.Start:s.End])
		}
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s:\n got %q\nwant %q", test.text, got, test.want)
		}
	}
}

// spans are all the spans of an expression, outermost first.
func spans(e *Expr) []diag.Span {
	s := []diag.Span{e.Span}
	if e.Op == OpRef {
		s = append(s, e.KindSpan)
	}
	for _, seg := range e.Path {
		s = append(s, seg.Span)
	}
	for _, a := range e.Args {
		s = append(s, spans(a)...)
	}
	return s
}

// mistakes are texts that are no expressions: where they go wrong, and what is
// said about it. The place is marked by «».
var mistakes = []struct{ text, want string }{
	{"«»", "an expression is missing"},
	{" \n«»", "an expression is missing"},

	// Operands.
	{"†a «||»", `"||" wants a reference or a literal after it`},
	{"«&&» †a", `"&&" wants a reference or a literal before it`},
	{"†a «||» && †b", `"||" wants a reference or a literal after it`},
	{"(†a «<|>»)", `"<|>" wants a reference or a literal after it`},
	{"(†a «||» ", `"||" wants a reference or a literal after it`},
	{"(«*>» †a)", `"*>" wants a reference or a literal before it`},
	{"†a || «,» †b", `"," stands where a reference or a literal should`},
	{"†a || «.»5", `"." stands where a reference or a literal should`},
	{"†a || «en»", `"en" is neither a reference nor a literal; did you mean 'en' or †en?`},
	{"†a || «01»", `"01" is neither a reference nor a literal; did you mean '01' or †01?`},
	{"«state.a»", "a reference starts with †; did you mean †state.a?"},
	{"†a || «input.l[0]»", "a reference starts with †; did you mean †input.l[0]?"},

	// Operators.
	{"†a «|» †b", `a lone "|"; did you mean "||"?`},
	{"†a ||«|» †b", `a lone "|"; did you mean "||"?`},
	{"†a «&» †b", `a lone "&"; did you mean "&&"?`},
	{"†a «<» †b", `a lone "<"; did you mean "<|>"? (the tool choose tests conditions)`},
	{"†a «>» †b", `a lone ">"; did you mean "<|>"? (the tool choose tests conditions)`},
	{"†a «*» †b", `a lone "*"; did you mean "*>"?`},
	{"†a «or» †b", `"or" is no operator; did you mean "||"? a name with a space or a sign goes in ["…"], a reference inside text in †{…}`},
	{"†a «and» more", `"and" is no operator; did you mean "&&"? a name with a space or a sign goes in ["…"], a reference inside text in †{…}`},
	{"†a «is» more", `"is" does not belong to the expression; a name with a space or a sign goes in ["…"], a reference inside text in †{…}`},
	{"†state.odd «name»", `"name" does not belong to the expression; a name with a space or a sign goes in ["…"], a reference inside text in †{…}`},
	{"†a«,» †b", `"," does not belong to the expression; a name with a space or a sign goes in ["…"], a reference inside text in †{…}`},
	{"(†a)«.»b", `"." does not belong to the expression; a name with a space or a sign goes in ["…"], a reference inside text in †{…}`},
	{"†a «†»b", `an operator, "||" or "&&", is missing before "†"; a name with a space or a sign goes in ["…"], a reference inside text in †{…}`},
	{"†a «'x'»", `an operator, "||" or "&&", is missing before "'x'"; a name with a space or a sign goes in ["…"], a reference inside text in †{…}`},
	{"†a «5»", `"5" does not belong to the expression; a name with a space or a sign goes in ["…"], a reference inside text in †{…}`},
	{"†a «(»†b)", `an operator, "||" or "&&", is missing before "("; a name with a space or a sign goes in ["…"], a reference inside text in †{…}`},

	// Mixed operators.
	{"†a || †b «&&» †c", "the operators are mixed without parentheses; did you mean †a || (†b && †c) or (†a || †b) && †c?"},
	{"†a && †b «||» 'c' && †d", "the operators are mixed without parentheses; did you mean (†a && †b) || ('c' && †d) or †a && (†b || 'c') && †d?"},
	{"†a || †b «*>» †c", "the operators are mixed without parentheses; did you mean †a || (†b *> †c) or (†a || †b) *> †c?"},
	{"†x && (†a || †b «&&» †c)", "the operators are mixed without parentheses; did you mean †a || (†b && †c) or (†a || †b) && †c?"},

	// Parentheses.
	{"«(»)", `"()" wants an expression inside`},
	{"«(»", `"(" is not closed`},
	{"(†a) || («(»†b || (†c)", `"(" is not closed`},
	{"†a«)»", `")" closes nothing: there is no "(" before it`},
	{"«)»", `")" closes nothing: there is no "(" before it`},

	// Daggers and kinds.
	{"«†»", `"†" wants a kind right after it, as in †state; text that starts with † is written ††`},
	{"«†» state", `"†" wants a kind right after it, as in †state; text that starts with † is written ††`},
	{"«†».a", `"†" wants a kind right after it, as in †state; text that starts with † is written ††`},
	{"«†»†a", `"†" wants a kind right after it, as in †state; text that starts with † is written ††`},
	{"†a || «†»{b}", `"†{" belongs inside longer text; an expression is written without it, as in †state.x`},

	// Names.
	{"†state«.»", `"." wants a name right after it; a name with a space or a sign goes in ["…"]`},
	{"†state.a«.» ", `"." wants a name right after it; a name with a space or a sign goes in ["…"]`},
	{"†state«.»(", `"." wants a name right after it; a name with a space or a sign goes in ["…"]`},
	{"†state.«.»a", "a name is missing between the dots"},
	{"†state. «a»", `white space inside a reference; a name with a space or a sign goes in ["…"]`},
	{"†state «.»a", "white space inside a reference"},
	{"†state «[»0]", "white space inside a reference"},
	{"†state«.»[0]", `a "." too many; did you mean [0] without it?`},
	{"†state«.»['x']", `a "." too many; did you mean ['x'] without it?`},
	{"†state«.»'x'", "a quoted name goes in brackets; did you mean ['x'] without the dot?"},
	{"†state.«*»", `"*" is no name; did you mean [*] without the dot?`},
	{"†state[0]«b»", `"." is missing before the name "b"`},
	{"†state.it«'»s", "the quote ' is not closed"},

	// Brackets.
	{"«[»0]", `"[" follows no reference`},
	{"†state«[»", `"[" is not closed`},
	{"†state«[»0", `"[" is not closed`},
	{"†state«[»'x'", `"[" is not closed`},
	{"†state«[»'x", "the quote ' is not closed"},
	{"†state«[»\"x]", `the quote " is not closed`},
	{"†state«[»]", `"[]" wants an index, a quoted name or * inside`},
	{"†state«[»odd name]", `[odd name] is no index, no quoted name and no [*]; did you mean ["odd name"]?`},
	{"†state«[»1.5]", `[1.5] is no index, no quoted name and no [*]; did you mean ["1.5"]?`},
	{"†state«[» 0 ]", "there is more than a name or an index in [ 0 ]"},
	{"†state«[»'x' ]", "there is more than a name or an index in ['x' ]"},
	{"†state«[»+1]", `[+1] is no index, no quoted name and no [*]; did you mean ["+1"]?`},
	{"†state«[2147483648]»", "the index [2147483648] is beyond 32 bits"},
	{"†state«[-2147483649]»", "the index [-2147483649] is beyond 32 bits"},
	{"†state«]»", `"]" closes nothing: there is no "[" before it`},

	// Strings.
	{"†a || «'»x", "the quote ' is not closed"},
	{"†a || «\"»x'", `the quote " is not closed`},
	{`†a || 'x«\q»'`, `"\\q" is no escape of a JSON string`},
	{`†a || '«\u»12'`, `"\\u" is no escape of a JSON string`},
	{`†a["é«\é»"]`, `"\\é" is no escape of a JSON string`},

	// Not UTF-8.
	{"†a || †\uFFFD«\xe2»\x80.b", "an expression is written in UTF-8, which this byte is not"},
	{"†a['«\xff»']", "an expression is written in UTF-8, which this byte is not"},

	// What is quoted is cut to size.
	{"†a «" + strings.Repeat("é", 100) + "»", `"` + strings.Repeat("é", 39) + `…" does not belong to the expression; a name with a space or a sign goes in ["…"], a reference inside text in †{…}`},
}

// unmark takes the marks out of a text and gives the place between them.
func unmark(marked string) (text string, span diag.Span) {
	before, rest, _ := strings.Cut(marked, "«")
	at, after, _ := strings.Cut(rest, "»")
	return before + at + after, diag.Span{Start: int32(len(before)), End: int32(len(before) + len(at))}
}

func TestParseReadMistakes(t *testing.T) {
	for _, test := range mistakes {
		text, span := unmark(test.text)
		code := diag.BadExpression
		if strings.Contains(test.want, "mixed") {
			code = diag.MixedOperators
		}
		e, err := ParseRead(text)
		if err == nil {
			t.Errorf("%s: got %s, want an error", test.text, dump(e))
			continue
		}
		if got, want := *err.(*ExprError), (ExprError{code, span, test.want}); got != want {
			t.Errorf("%s:\n got %v\nwant %v", test.text, got, want)
		}
	}
}

func TestMixedOperatorsFix(t *testing.T) {
	tests := []struct{ text, want string }{
		{"†a || †b && †c", "†a || (†b && †c)"},
		{" †a&&(†b)||'c' && †d ", " (†a&&(†b))||('c' && †d) "},
		{"†a || †b && †c && †d || †e", "†a || (†b && †c && †d) || †e"},
	}
	for _, test := range tests {
		s := source{text: test.text}
		_, f := s.read(0, len(s.text), false)
		if f == nil || f.Fix == nil {
			t.Errorf("%s: no fix", test.text)
			continue
		}
		if got := apply(test.text, f.Fix); got != test.want {
			t.Errorf("%s: mended to %s, want %s", test.text, got, test.want)
		}
	}
}

// apply makes the edits of a fix.
func apply(text string, fix *diag.Fix) string {
	var b strings.Builder
	done := int32(0)
	for _, e := range fix.Edits {
		b.WriteString(text[done:e.Span.Start] + e.Text)
		done = e.Span.End
	}
	return b.String() + text[done:]
}

// A hostile text gets an answer without being read to its end where that can't
// help, and none overflows the stack.
func TestExprLimits(t *testing.T) {
	million := large(1 << 20)
	deep := func(n int) string { return strings.Repeat("(", n) + "†a" + strings.Repeat(")", n) }
	tests := []struct {
		name, text, want string
	}{
		{"at the depth", deep(maxNesting), ""},
		{"too deep", deep(maxNesting + 1), "parentheses are nested more than 256 deep"},
		{"a million (", strings.Repeat("(", million), "parentheses are nested more than 256 deep"},
		{"a million )", strings.Repeat(")", million), `")" closes nothing: there is no "(" before it`},
		{"a million [", "†a" + strings.Repeat("[", million), `"[" is not closed`},
		{"a million quotes", "†a || '" + strings.Repeat(`"`, million), "the quote ' is not closed"},
		{"a long path", "†state" + strings.Repeat(".segment[0]", 10_000), ""},
		{"a long path in a chain", "†a || †state" + strings.Repeat(".segment[0]", 10_000), ""},
		{"a long chain", "†a" + strings.Repeat(" || †b", 10_000), ""},
		{"a long name", "†a || †" + strings.Repeat("x", million), ""},
		{"too long", "(†a)" + strings.Repeat(" || †b", 50_000), "the expression is too long: it has more than 100000 names, operators and literals"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := ""
			if _, err := ParseRead(test.text); err != nil {
				got = err.Error()
			}
			if got != test.want {
				t.Errorf("got %q, want %q", got, test.want)
			}
		})
	}
}

// The lexer's classes of white space and of name characters are those of the
// fast path.
func TestNameCharacters(t *testing.T) {
	for r := range rune(unicode.MaxRune + 1) {
		s := string(r)
		if s == "\uFFFD" {
			r = '\uFFFD' // half a surrogate pair
		}
		isName := !unicode.IsSpace(r) && !strings.Contains(`.[]"'|&()<>*,{}†`, s)
		if got := nameEnd(s, 0) == len(s); got != isName {
			t.Errorf("nameEnd takes %U: %t, want %t", r, got, isName)
		}
		if !isName && r < unicode.MaxLatin1 || unicode.IsSpace(r) || r%97 == 0 {
			text := "†a.x" + s + s + "y"
			_, err := (source{text: text}).parse(0, len(text), false)
			if got := err == nil; got != isName {
				t.Errorf("the grammar takes %U: %t, want %t", r, got, isName)
			}
		}
	}
}

func TestSimpleExpressionsAreFast(t *testing.T) {
	tests := []struct {
		text string
		bare bool
		want bool
	}{
		{"†state", false, true},
		{"†state.a.1[0][-1]['x y'][\"z\"][*].b", false, true},
		{"state.a", true, true},
		{"true.a", true, true},
		{"state.a", false, false},
		{"true", true, true},
		{"-1.5e+3", false, true},
		{"'it'", false, true},
		{`'it\'s'`, false, false},
		{"†a || †b||'x'", false, true},
		{"†a.b <|> null || 3", false, true},
		{"†a *> †b[0]", false, true},
		{"a && b", true, true},
		{"a && b", false, false},
		{"†a || †b && †c", false, false},
		{"†a || (†b)", false, false},
		{"†a || ", false, false},
		{"†a †b", false, false},
		{`†state["\n"]`, false, false},
	}
	for _, test := range tests {
		s := source{text: test.text}
		if got := s.simple(0, len(s.text), test.bare) != nil; got != test.want {
			t.Errorf("%s: fast %t, want %t", test.text, got, test.want)
		}
	}
}
