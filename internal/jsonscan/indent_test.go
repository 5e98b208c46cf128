package jsonscan

import (
	"strings"
	"testing"
)

func TestIndent(t *testing.T) {
	for text, want := range map[string]string{
		`{"a": [1, "x\",{"], "b": {}}`: "{\n>  \"a\": [\n>    1,\n>    \"x\\\",{\"\n>  ],\n>  \"b\": {}\n>}",
		`[]`:                           "[]",
		` "é" `:                        `"é"`,
	} {
		got, ok := Indent([]byte(text), ">")
		if !ok || string(got) != want {
			t.Errorf("%s: %s, want %s", text, got, want)
		}
		if n := indented(Compact(nil, []byte(text)), 1); n < len(got) {
			t.Errorf("%s: %d bytes, and at least %d were expected", text, len(got), n)
		}
	}
	if _, ok := Indent([]byte("{"), ""); ok {
		t.Error("{ is JSON")
	}
	deep := strings.Repeat("[", 200) + strings.Repeat("1,", 200_000) + "1" + strings.Repeat("]", 200)
	if got, ok := Indent([]byte(deep), ""); !ok || string(got) != deep {
		t.Errorf("%d bytes of deep JSON become %d", len(deep), len(got))
	}
}
