package dialect_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect"
)

// plain returns a notation whose text is one param: parts with bars between, in which <x> is a
// reference to x.
func plain() *dialect.Notation {
	return &dialect.Notation{Name: "plain", Read: func(b *dialect.Builder) {
		all := dialect.Span(0, len(b.File.Text))
		b.List(all)
		b.Object(all)
		b.Member("_tool", all)
		b.String("say", all)
		b.Member("text", all)
		var parts []dialect.Part
		at := 0
		for part := range strings.SplitSeq(string(b.File.Text), "|") {
			span := dialect.Span(at, at+len(part))
			if name, ok := strings.CutPrefix(part, "<"); ok {
				parts = append(parts, dialect.Ref(dialect.StateRef(strings.TrimSuffix(name, ">")), span))
			} else {
				parts = append(parts, dialect.Literal(part, span))
			}
			at += len(part) + 1
		}
		b.Parts(all, parts...)
		b.Close()
		b.Close()
	}}
}

// said returns what the text of the plan says, with references between ⟨ and ⟩.
func said(t *testing.T, doc *lang.Document) string {
	t.Helper()
	value := doc.Calls[0].Params[0].Value
	text := value.Text()
	if text == nil {
		return value.Str()
	}
	var out strings.Builder
	for _, p := range text.Parts {
		switch {
		case p.Expr == nil:
			out.WriteString(p.Literal)
		case p.Expr.Op == lang.OpLiteral:
			var s string
			if err := json.Unmarshal(p.Expr.Value, &s); err != nil {
				s = strings.Trim(string(p.Expr.Value), "'")
			}
			out.WriteString(s)
		default:
			out.WriteString("⟨" + p.Expr.String() + "⟩")
		}
	}
	return out.String()
}

func TestParts(t *testing.T) {
	for _, text := range []string{
		"", "plain", "†state.x", " †state.x", "††", "†††", "†{", "††{", "†††{", "x†{", "x††{", "x†††{", "†{state.x}", "a †state.x b",
		"<a>", "<a b.c>", "†|<a>", "††|<a>", "x†|<a>", " †|<a>", "<a>|†", "<a>|†{", "<a>|<b>", "†|†", "†|{", "a†|{b", "†|†|<a>",
		"quotes \" and \\ and \t\n", "‡ † ‡", "<a>|†state.x", "$100-$200", "{}", "†'", "\u2028",
	} {
		doc, findings := plain().Parse(diag.NewFile("p", []byte(text)), nil)
		if len(findings) > 0 {
			t.Errorf("%q: %v", text, findings)
			continue
		}
		if got, want := said(t, doc), meant(text); got != want {
			t.Errorf("%q says %q, want %q, written as %s", text, got, want, doc.File.Text)
		}
	}
}

// meant returns what a text of the plain notation says.
func meant(text string) string {
	var out strings.Builder
	for part := range strings.SplitSeq(text, "|") {
		if name, ok := strings.CutPrefix(part, "<"); ok {
			part = "⟨" + dialect.StateRef(strings.TrimSuffix(name, ">")).String() + "⟩"
		}
		out.WriteString(part)
	}
	return out.String()
}

func FuzzParts(f *testing.F) {
	for _, s := range []string{"†|<a>", "††{|†", " †{<a>", "a|†|{b}", "(†state.a)", " |(|†a || †b)"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		doc, findings := plain().Parse(diag.NewFile("p", []byte(text)), nil)
		if len(findings) > 0 {
			return // not UTF-8
		}
		if got, want := said(t, doc), meant(text); got != want {
			t.Errorf("%q says %q, want %q, written as %s", text, got, want, doc.File.Text)
		}
	})
}
