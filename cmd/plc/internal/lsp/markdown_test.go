package lsp

import "testing"

// Texts from outside are shown as they are: Markdown in them draws nothing.
func TestMarkdownOfOthers(t *testing.T) {
	for _, c := range []struct{ got, want string }{
		{escaped("<img src=x> [a](command:b) `c` # d | *e* _f_"), "\\<img src=x\\> \\[a\\](command:b) \\`c\\` \\# d \\| \\*e\\* \\_f\\_"},
		{code("a"), "`a`"},
		{code("a`b"), "`` a`b ``"},
		{code("a\n# b"), "`a # b`"},
		{block("a\n```\n[b](c)"), "````\na\n```\n[b](c)\n````"},
	} {
		if c.got != c.want {
			t.Errorf("got %s, want %s", c.got, c.want)
		}
	}
}
