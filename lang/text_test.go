package lang

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/plc-lang/plc/diag"
)

// dumpText shows a text: = and an expression for one that is that as a whole,
// else its literals in quotes and its expressions in braces.
func dumpText(t *Text) string {
	switch {
	case t == nil:
		return "nil"
	case t.Whole:
		return "= " + dump(t.Parts[0].Expr)
	}
	s := ""
	for _, p := range t.Parts {
		if p.Expr != nil {
			s += "{" + dump(p.Expr) + "}"
		} else {
			s += fmt.Sprintf("%q", p.Literal)
		}
	}
	return s
}

// texts are JSON strings, what they say, their canonical form when it is another,
// and what is wrong with them at the place between «».
var texts = []struct {
	token, want, canonical, fault string
}{
	// Plain text.
	{`""`, "nil", "", ""},
	{`"plain \"text\" \u00e9"`, "nil", "", ""},
	{`"a † b†, ††c"`, "nil", "", ""},
	{`"5 «†{»"`, `"5 "`, "", `"†{" is not closed by a "}"; a literal †{ is written ††{`},

	// Expressions as a whole.
	{`"†state.a"`, "= state .a", "", ""},
	{`" †state.a\n"`, "= state .a", `"†state.a"`, ""},
	{`"\u2020state.\u0061b"`, "= state .ab", `"†state.ab"`, ""},
	{`"†state[\"a b\"]['c']"`, "= state .a b .c", `"†state[\"a b\"].c"`, ""},
	{`"†input.lang||\"en\""`, `= (|| input .lang "en")`, `"†input.lang || 'en'"`, ""},
	{`"†input.a || 'x\\ny'"`, `= (|| input .a "x\ny")`, "", ""},
	{`"†input.a || 'x\ny'"`, `= (|| input .a "x\ny")`, `"†input.a || 'x\\ny'"`, ""},
	{`"†input['\ud83d\ude42'].b"`, "= input .🙂 .b", `"†input.🙂.b"`, ""},
	{`"†input.a «is» more"`, "", "", `"is" does not belong to the expression; a name with a space or a sign goes in ["…"], a reference inside text in †{…}`},
	{`"«\u2020» 1892"`, "", "", `"†" wants a kind right after it, as in †state; text that starts with † is written ††`},
	{`"\ud83d\ude42"`, "nil", "", ""},

	// Expressions that begin with a parenthesis.
	{`"(†a || †b) && †c"`, "= (&& (|| a b) c)", "", ""},
	{`" ( \u2020a ) "`, "= a", `"†a"`, ""},
	{`"('x' && †a) || 5"`, `= (|| (&& "x" a) 5)`, "", ""},
	{`"('x' || †a)"`, `= (|| "x" a)`, "", ""},
	{`"(†a || †b «&&» †c)"`, "", "", "the operators are mixed without parentheses; did you mean †a || (†b && †c) or (†a || †b) && †c?"},
	{`"('†a')"`, "nil", "", ""},
	{`"(see †{a})"`, `"(see "{a}")"`, "", ""},
	{`"(the dagger †)"`, "nil", "", ""},
	{`"(«†state.a») was seen"`, "nil", "", "†state.a inside longer text is just text; did you mean †{state.a}?"},

	// Literals that start with a dagger.
	{`"††state.x"`, `"†state.x"`, "", ""},
	{`"\u2020\u2020state.x"`, `"†state.x"`, "", ""},
	{`"  †† x"`, `"  † x"`, "", ""},
	{`"††"`, `"†"`, "", ""},
	{`"††hi †{input.a}"`, `"†hi "{input .a}`, "", ""},
	{`"††{input.a}"`, `"†{input.a}"`, "", ""},
	{`"†††{input.a}"`, `"†"{input .a}`, "", ""},
	{`"††††{a}"`, `"††{a}"`, "", ""},

	// Templates.
	{`"†{input.name}"`, "{input .name}", "", ""},
	{`"Hello †{input.name}!"`, `"Hello "{input .name}"!"`, "", ""},
	{`"†{†input.name}, \u2020{ input['name'] }"`, `{input .name}", "{input .name}`, `"†{input.name}, †{input.name}"`, ""},
	{`"a †{input.n||'}{\"}'} b"`, `"a "{(|| input .n "}{\"}")}" b"`, `"a †{input.n || '}{\"}'} b"`, ""},
	{`"†{a || \"it's }\"}"`, `{(|| a "it's }")}`, "", ""},
	{`"†{a['\\']']}"`, `{a .']}`, `"†{a[\"']\"]}"`, ""},
	{`"†{a || '\\'}'}"`, `{(|| a "'}")}`, `"†{a || \"'}\"}"`, ""},
	{`"†{5} †{true} †{'x'}"`, `{5}" "{true}" "{"x"}`, "", ""},
	{`"†{†true} †{†5.1} †{true.x}"`, `{true}" "{5 #1}" "{true .x}`, "", ""},
	{`"\u00e9\t†{ a }\u00e9"`, `"é\t"{a}"é"`, `"\u00e9\t†{a}\u00e9"`, ""},
	{`"x ††{a} †{b}"`, `"x †{a} "{b}`, "", ""},
	{`"††{a}††{b}"`, `"†{a}†{b}"`, "", ""},
	{`"x †††{a}"`, `"x ††{a}"`, "", ""},
	{`"†{a}†{b}"`, "{a}{b}", "", ""},
	{`"†{a && (b || 'c')}"`, `{(&& a (|| b "c"))}`, "", ""},
	{`"«†{}»"`, "", "", `"†{}" wants an expression inside; a literal †{ is written ††{`},
	{`"x«†{ \n}»y"`, `"xy"`, "", `"†{}" wants an expression inside; a literal †{ is written ††{`},
	{`"†{a} «\u2020{»b"`, `{a}" "`, "", `"†{" is not closed by a "}"; a literal †{ is written ††{`},
	{`"\ud83d\ude42†{a «b»} †{c}"`, `"🙂 "{c}`, "", `"b" does not belong to the expression; a name with a space or a sign goes in ["…"]`},
	{`"†{user«'»s name}"`, "", "", "the quote ' is not closed"},
	{`"†{a || b «&&» \u0063}"`, "", "", "the operators are mixed without parentheses; did you mean †a || (†b && †c) or (†a || †b) && †c?"},
	{`"†{«†»}"`, "", "", `"†" wants a kind right after it, as in †state`},

	// References that are only text.
	{`"say «†state.secret»"`, "nil", "", "†state.secret inside longer text is just text; did you mean †{state.secret}?"},
	{`"say «\u2020state[0].a», \u00e9"`, "nil", "", "†state[0].a inside longer text is just text; did you mean †{state[0].a}?"},
	{`"say «†state.a»: †{b}"`, `"say †state.a: "{b}`, "", "†state.a inside longer text is just text; did you mean †{state.a}?"},
	{`"say †state, †state. Or ††state.a"`, "nil", "", ""},
}

// place puts a JSON string into a file of two lines with wide characters.
func place(token string) (src []byte, span diag.Span) {
	const before = "{\r\n\"é\": "
	src = []byte(before + token + "}\r\n")
	return src, diag.Span{Start: int32(len(before)), End: int32(len(before) + len(token))}
}

func TestReadText(t *testing.T) {
	for _, test := range texts {
		token, at := unmark(test.token)
		src, span := place(token)
		text, faults := readText(src, span, nil)
		if got := dumpText(text); got != test.want {
			t.Errorf("%s: got %s, want %s", test.token, got, test.want)
		}
		if test.fault == "" {
			if len(faults) > 0 {
				t.Errorf("%s: %s", test.token, faults[0].Message)
			}
			continue
		}
		if len(faults) != 1 {
			t.Errorf("%s: got %d faults, want %s", test.token, len(faults), test.fault)
			continue
		}
		want := diag.Span{Start: span.Start + at.Start, End: span.Start + at.End}
		if f := faults[0]; f.Message != test.fault || f.Span != want {
			t.Errorf("%s:\n got %v %s\nwant %v %s", test.token, f.Span, f.Message, want, test.fault)
		}
	}
}

func TestReadTextSeverities(t *testing.T) {
	src, span := place(`"†{a || b && c} †{a b} †state.a"`)
	_, faults := readText(src, span, nil)
	var got []string
	for _, f := range faults {
		got = append(got, fmt.Sprint(f.Code, " ", f.Severity))
	}
	if want := []string{"PLC111 error", "PLC110 error", "PLC112 warning"}; !reflect.DeepEqual(got, want) {
		t.Errorf("got %s, want %s", got, want)
	}
}

func TestBareDaggerFix(t *testing.T) {
	tests := []struct{ token, want string }{
		{`"say †state.secret!"`, `"say †{state.secret}!"`},
		{`"é say \u2020state[\"a b\"]\u002ec, ok"`, `"é say \u2020{state[\"a b\"]\u002ec}, ok"`},
	}
	for _, test := range tests {
		src, span := place(test.token)
		_, faults := readText(src, span, nil)
		if len(faults) != 1 || faults[0].Fix == nil {
			t.Errorf("%s: no fix", test.token)
			continue
		}
		want, _ := place(test.want)
		if got := apply(string(src), faults[0].Fix); got != string(want) {
			t.Errorf("%s: mended to %s", test.token, got)
		}
	}
}

// Every expression stands where its span says, whatever escapes the string is
// written with.
func TestReadTextSpans(t *testing.T) {
	src, span := place(`"\ud83d\ude42 †{ \u2020a\u002eb || \"\\u00e9\" } \n\u00e9🙂 †{c[\"d\"]}"`)
	text, faults := readText(src, span, nil)
	if len(faults) > 0 {
		t.Fatal(faults[0].Message)
	}
	var got []string
	for _, p := range text.Parts {
		if p.Expr == nil {
			continue
		}
		for _, s := range spans(p.Expr) {
			got = append(got, string(src[s.Start:s.End]))
		}
	}
	want := []string{`\u2020a\u002eb || \"\\u00e9\"`, `\u2020a\u002eb`, "a", "b", `\"\\u00e9\"`, `c[\"d\"]`, "c", `[\"d\"]`}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %q\nwant %q", got, want)
	}
}

func TestFormatText(t *testing.T) {
	for _, test := range texts {
		token, _ := unmark(test.token)
		want := token
		if test.canonical != "" {
			want = test.canonical
		}
		src, span := place(token)
		text, _ := readText(src, span, nil)
		if got := string(formatText(src, span, text)); got != want {
			t.Errorf("%s: got %s, want %s", token, got, want)
		}
	}
}

func TestUnescape(t *testing.T) {
	tests := []struct{ text, want string }{
		{`plain`, "plain"},
		{`\"\\\/\b\f\n\r\t`, "\"\\/\b\f\n\r\t"},
		{`\u0041\u00e9\u00E9\u2020`, "Aéé†"},
		{`\ud83d\ude42\uD83D\uDE42`, "🙂🙂"},
		{`\ud83d`, "\uFFFD"},
		{`\ude42x`, "\uFFFDx"},
		{`\ud83d\ud83d\ude42`, "\uFFFD🙂"},
		{`\ud83d\u0041`, "\uFFFDA"},
	}
	for _, test := range tests {
		var std string
		if err := json.Unmarshal([]byte(`"`+test.text+`"`), &std); err != nil || std != test.want {
			t.Fatalf("%s: the test is wrong: %q %v", test.text, std, err)
		}
		if got, wrong := unescape(test.text, func(int, int) {}); got != test.want || wrong >= 0 {
			t.Errorf("%s: got %q, wrong at %d", test.text, got, wrong)
		}
	}
	for _, s := range []string{`\`, `\x`, `\u12`, `\u12g4`, `\U0041`} {
		if got, wrong := unescape("é"+s, func(int, int) {}); got != "é"+s || wrong != len("é") {
			t.Errorf("%s: got %q, wrong at %d", s, got, wrong)
		}
	}
}

// Texts made to be read again and again, from each of their daggers to the end,
// are not.
func TestReadTextLong(t *testing.T) {
	const n = 200_000
	tests := []struct {
		name, inside string
		parts        int
	}{
		{"templates", strings.Repeat("†{a.b}", n), n},
		{"escapes", strings.Repeat("††{", n), 1},
		{"open", strings.Repeat("†{'", n), 0},
		{"bare", "x" + strings.Repeat("†a.b", n), 0},
		{"brackets", "x" + strings.Repeat("†a[", n), 0},
		{"quotes", "x" + strings.Repeat("†a['", n), 0},
		{"unicode", strings.Repeat(`\u2020{\u0061}`, n), n},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			src, span := place(`"` + test.inside + `"`)
			text, _ := readText(src, span, nil)
			parts := 0
			if text != nil {
				parts = len(text.Parts)
			}
			if parts != test.parts {
				t.Errorf("got %d parts, want %d", parts, test.parts)
			}
		})
	}
}
