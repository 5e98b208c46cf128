package driver

import (
	"slices"
	"strings"
	"testing"
)

// templates are well-formed texts with their placeholders, and what they become when
// each placeholder is filled with its name in angle brackets.
var templates = []struct {
	text   string
	names  []string
	filled string
}{
	{"", nil, ""},
	{"plain", nil, "plain"},
	{"{city}", []string{"city"}, "<city>"},
	{"--author={name}", []string{"name"}, "--author=<name>"},
	{"{a}{b}{a}", []string{"a", "b", "a"}, "<a><b><a>"},
	{"{{city}}", nil, "{city}"},
	{"{{{city}}}", []string{"city"}, "{<city>}"},
	{"stash@{{0}}", nil, "stash@{0}"},
	{`{{"a": {b}}}`, []string{"b"}, `{"a": <b>}`},
	{"}}{{", nil, "}{"},
	{"{user-name_2.x$}", []string{"user-name_2.x$"}, "<user-name_2.x$>"},
	{"{größe} µ", []string{"größe"}, "<größe> µ"},
	{"\xff{a}", []string{"a"}, "\xff<a>"},
}

func TestTemplate(t *testing.T) {
	for _, c := range templates {
		tmpl, err := ParseTemplate(c.text)
		if err != nil {
			t.Errorf("%q: %v", c.text, err)
			continue
		}
		if got := tmpl.Names(); !slices.Equal(got, c.names) {
			t.Errorf("%q: names %q, want %q", c.text, got, c.names)
		}
		if tmpl.Literal() != (c.names == nil) {
			t.Errorf("%q: literal %v", c.text, tmpl.Literal())
		}
		filled, missing := tmpl.Fill(func(name string) (string, bool) { return "<" + name + ">", true })
		if filled != c.filled || missing != "" {
			t.Errorf("%q: filled %q (missing %q), want %q", c.text, filled, missing, c.filled)
		}
	}
}

var badTemplates = []struct{ text, want string }{
	{"{", "byte 0"},
	{"a{b", "byte 1"},
	{"{}", "byte 0"},
	{"{a b}", "write {{"},
	{"awk {print $1}", "byte 4"},
	{"{a{b}}", "byte 0"},
	{"}", "write }}"},
	{"ok {a} }", "byte 7"},
	{"{\xff}", "byte 0"},
}

func TestTemplateErrors(t *testing.T) {
	for _, c := range badTemplates {
		if tmpl, err := ParseTemplate(c.text); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: %v, %v; want an error with %q", c.text, tmpl, err, c.want)
		}
	}
}

func TestFillStopsAtTheFirstMissing(t *testing.T) {
	tmpl, err := ParseTemplate("{here}/{gone}/{lost}")
	if err != nil {
		t.Fatal(err)
	}
	text, missing := tmpl.Fill(func(name string) (string, bool) { return "x", name == "here" })
	if text != "" || missing != "gone" {
		t.Errorf("got %q, missing %q", text, missing)
	}
}

func TestTemplateShape(t *testing.T) {
	for _, c := range []struct {
		text, only string
		open       bool
	}{
		{"{a}", "a", true}, {"{a}b", "", true}, {"-{a}", "", false}, {"a", "", false}, {"", "", false},
	} {
		tmpl, err := ParseTemplate(c.text)
		if err != nil || tmpl.Only() != c.only || tmpl.StartsOpen() != c.open {
			t.Errorf("%q: only %q, open %v, %v", c.text, tmpl.Only(), tmpl.StartsOpen(), err)
		}
	}
}

// FuzzTemplate: what parses prints as it was, any text can be escaped, and a value
// never changes the text around it.
func FuzzTemplate(f *testing.F) {
	for _, c := range templates {
		f.Add(c.text)
	}
	for _, c := range badTemplates {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		literal, err := ParseTemplate(Escape(text))
		if err != nil || !literal.Literal() {
			t.Fatalf("escaped %q: %v", text, err)
		}
		if got, _ := literal.Fill(nil); got != text {
			t.Fatalf("escaped %q becomes %q", text, got)
		}
		tmpl, err := ParseTemplate(text)
		if err != nil {
			return
		}
		if got := tmpl.String(); got != text {
			t.Fatalf("%q prints as %q", text, got)
		}
		const value = "{x}{{}}"
		got, missing := tmpl.Fill(func(string) (string, bool) { return value, true })
		empty, _ := tmpl.Fill(func(string) (string, bool) { return "", true })
		if missing != "" || len(got) != len(empty)+len(value)*len(tmpl.Names()) {
			t.Fatalf("%q filled is %q, empty %q", text, got, empty)
		}
	})
}
