package texttree

import (
	"strings"
	"testing"

	"go.yaml.in/yaml/v4"
)

func TestOffset(t *testing.T) {
	const text = "\ufeffa: ü\r\nb: x\u2028cé: 1\n"
	y := newPositions([]byte(text), len("\ufeff"))
	for _, c := range []struct {
		line, col int
		at        string
	}{{1, 1, "a: ü"}, {1, 4, "ü"}, {2, 1, "b: x"}, {3, 2, "é: 1"}, {3, 5, "1"}, {1, 2, ": ü"}, {9, 1, ""}} {
		if at := y.offset(c.line, c.col); !strings.HasPrefix(text[at:], c.at) || c.at == "" && at != len(text) {
			t.Errorf("%d:%d is %q, want %q", c.line, c.col, text[at:], c.at)
		}
	}
}

func TestScalarEnd(t *testing.T) {
	for text, value := range map[string]string{
		`plain`: "plain", `"a\"b"`: `a"b`, `'it''s'`: "it's", "folded text  ": "folded\ntext", `"open`: "open ",
	} {
		y := newPositions([]byte(text+"\nnext"), 0)
		if end := y.scalarEnd(value, 0); end != len(strings.TrimRight(text, " ")) {
			t.Errorf("%q ends at %d", text, end)
		}
	}
}

func TestFault(t *testing.T) {
	for _, c := range []struct{ text, message, at string }{
		{"a: [1,\nb: {", "did not find", "b"},
		{"a:\n\tb: 1", "a tab: YAML is indented by spaces", "\tb"},
		{"a: 1\n---\nb: 2", "multiple", "?"},
	} {
		var n yaml.Node
		message, at := newPositions([]byte(c.text), 0).fault(yaml.Load([]byte(c.text), &n))
		if !strings.Contains(message, c.message) || (at < 0) != (c.at == "?") || at >= 0 && c.at == "\tb" && !strings.HasPrefix(c.text[at:], c.at) {
			t.Errorf("%q: %q at %d", c.text, message, at)
		}
	}
}
