package lang

import (
	"strings"
	"testing"

	"github.com/plc-lang/plc/diag"
)

// dumpWrite shows the alternatives of a write expression, and the source text of
// each.
func dumpWrite(text string, w *Write) string {
	var alternatives []string
	for _, a := range w.Alternatives {
		var paths []string
		for _, p := range a.Paths {
			paths = append(paths, dump(p))
		}
		alternatives = append(alternatives, strings.Join(paths, " + ")+" «"+text[a.Span.Start:a.Span.End]+"»")
	}
	return strings.Join(alternatives, " | ")
}

func TestParseWrite(t *testing.T) {
	tests := []struct {
		text, want, canonical string
	}{
		{"†state.a", "state .a «†state.a»", "†state.a"},
		{" (†state) ", "state «†state»", "†state"},
		{"†a && †b&&†c.1", "a + b + c #1 «†a && †b&&†c.1»", "†a && †b && †c.1"},
		{"†ok || †state.error", "ok «†ok» | state .error «†state.error»", "†ok || †state.error"},
		{"(†a && †b) || †c", "a + b «†a && †b» | c «†c»", "(†a && †b) || †c"},
		{"†a || (†b || †c)", "a «†a» | b «†b» | c «†c»", "†a || †b || †c"},
		{"†a <|> (†b *> †c)", "a «†a» | b + c «†b *> †c»", "†a <|> (†b *> †c)"},
		{"†a *> †b", "a + b «†a *> †b»", "†a *> †b"},
	}
	for _, test := range tests {
		w, err := ParseWrite(test.text)
		if err != nil {
			t.Errorf("%s: %v", test.text, err)
			continue
		}
		if got := dumpWrite(test.text, w); got != test.want {
			t.Errorf("%s: got %s, want %s", test.text, got, test.want)
		}
		if got := w.String(); got != test.canonical {
			t.Errorf("%s: got %s, want %s", test.text, got, test.canonical)
		}
		if got := test.text[w.Span.Start:w.Span.End]; got != strings.Trim(test.text, " ()") && !strings.Contains(got, "(") {
			t.Errorf("%s: the whole is %s", test.text, got)
		}
	}
}

func TestParseWriteMistakes(t *testing.T) {
	tests := []struct {
		text string // the place between «»
		code diag.Code
		want string
	}{
		{"†a || «'x'»", diag.BadExpression, "a literal can't be written to; an output path is made of references only"},
		{"«5»", diag.BadExpression, "a literal can't be written to; an output path is made of references only"},
		{"†a.l«[*]».b", diag.BadExpression, "[*] can't be written to; an output path names one place"},
		{"†a && («†b || †c»)", diag.BadExpression, "alternatives can't stand inside &&; name each outcome with all of its paths, as in (†a && †b) || (†a && †c)"},
		{"«†»{state.a}", diag.BadExpression, `"†{" belongs inside longer text; an expression is written without it, as in †state.x`},
		{"«state.a»", diag.BadExpression, "a reference starts with †; did you mean †state.a?"},
		{"«$state.a»", diag.BadExpression, "a reference starts with †; did you mean †state.a?"},
		{"†a || †b «&&» †c", diag.MixedOperators, "the operators are mixed without parentheses; did you mean †a || (†b && †c) or (†a || †b) && †c?"},
		{"«»", diag.BadExpression, "an expression is missing"},
	}
	for _, test := range tests {
		text, span := unmark(test.text)
		w, err := ParseWrite(text)
		if err == nil {
			t.Errorf("%s: got %s, want an error", test.text, w)
			continue
		}
		if got, want := *err.(*ExprError), (ExprError{test.code, span, test.want}); got != want {
			t.Errorf("%s:\n got %v\nwant %v", test.text, got, want)
		}
	}
}

// The members of a call that hold one expression, as they stand in a file.
func TestReadMembers(t *testing.T) {
	expr := func(src []byte, span diag.Span) (string, []fault) {
		e, f := readExpr(src, span, nil)
		if e == nil {
			return "", f
		}
		return e.String(), f
	}
	write := func(src []byte, span diag.Span) (string, []fault) {
		w, f := readWrite(src, span, nil)
		if w == nil {
			return "", f
		}
		return w.String(), f
	}
	ref := func(src []byte, span diag.Span) (string, []fault) {
		e, f := readRef(src, span, nil)
		if e == nil {
			return "", f
		}
		return e.String(), f
	}
	tests := []struct {
		name  string
		read  func([]byte, diag.Span) (string, []fault)
		token string
		want  string
	}{
		{"_when", expr, `" (†a || \u2020b) "`, "†a || †b"},
		{"_when", expr, `"'x'"`, "'x'"},
		{"_when", expr, `«"  "»`, "an expression is missing"},
		{"_when", expr, `"«†»{a}"`, `"†{" belongs inside longer text; an expression is written without it, as in †state.x`},
		{"_outputPath", write, `"†state[\"a b\"] || †state.e"`, `†state["a b"] || †state.e`},
		{"_outputPath", write, `"†s.l\u005b0] && \u2020s.l«\u005b*]»"`, "[*] can't be written to; an output path names one place"},
		{"_outputPath", write, `«""»`, "an expression is missing"},
		{"_scopes", ref, `"state"`, "†state"},
		{"_scopes", ref, `"†state"`, "†state"},
		{"_scopes", ref, `"\u2020state.x[0]"`, "†state.x[0]"},
		{"_scopes", ref, `"user.name"`, "†user.name"},
		{"_scopes", ref, `"«state || input»"`, "a scope is one kind or one path, such as state or †state.user"},
		{"_scopes", ref, `"«5»"`, "a scope is one kind or one path, such as state or †state.user"},
		{"_scopes", ref, `"state.l«[*]».x"`, "a scope names one place, without [*]"},
		{"_scopes", ref, `"«state.l[-1]»"`, "a scope names one place, without an index from the end"},
		{"_scopes", ref, `«""»`, "an expression is missing"},
	}
	for _, test := range tests {
		const before = "{\r\n\"é\": "
		token, at := unmark(test.token)
		src := []byte(before + token + "}")
		offset := int32(len(before))
		got, faults := test.read(src, diag.Span{Start: offset, End: offset + int32(len(token))})
		if len(faults) == 1 {
			got = faults[0].Message
			if want := (diag.Span{Start: at.Start + offset, End: at.End + offset}); faults[0].Span != want {
				t.Errorf("%s %s: at %v, want %v", test.name, test.token, faults[0].Span, want)
			}
		}
		if got != test.want || len(faults) > 1 {
			t.Errorf("%s %s: got %s, want %s", test.name, test.token, got, test.want)
		}
	}
}
