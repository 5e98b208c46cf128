package html_test

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/plc-lang/plc/cmd/plc/internal/server/html"
)

// hostile are texts that would be markup, or lie, if they were written as they are.
var hostile = []string{
	"<script>alert(1)</script>", `"><img src=x onerror=alert(1)>`, "' onmouseover='alert(1)", "javascript:alert(1)", "&lt;b&gt;",
	"</textarea><script>alert(1)</script>", "</title><script>", "<!--", "]]>", "<svg onload=alert(1)>", "[x](javascript:alert(1))", "\u202egpj.exe",
	"\u2066a\u2069", "zero\u200bwidth", "a\x00b", "esc\x1b[31m", "line\nbreak\rback", "\xff\xfe", "//evil.example", "../..", "..", "`", "=",
}

// tokens reads a page as a browser would as far as it is made of what this package writes, and
// returns the names of its elements, their attributes, and its text.
func tokens(t *testing.T, page []byte) (names, attrs []string, text string) {
	t.Helper()
	// HTML may hold an escape character, and XML may not.
	d := xml.NewDecoder(strings.NewReader(strings.ReplaceAll(strings.TrimPrefix(string(page), "<!doctype html>\n"), "\x1b", "\u241b")))
	d.Strict, d.AutoClose, d.Entity = false, xml.HTMLAutoClose, xml.HTMLEntity
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			return names, attrs, text
		}
		if err != nil {
			t.Fatalf("%v in\n%s", err, page)
		}
		switch tok := tok.(type) {
		case xml.StartElement:
			names = append(names, tok.Name.Local)
			for _, a := range tok.Attr {
				attrs = append(attrs, a.Name.Local+"="+a.Value)
			}
		case xml.CharData:
			text += string(tok)
		case xml.Comment, xml.Directive, xml.ProcInst:
			t.Fatalf("%#v in\n%s", tok, page)
		}
	}
}

// Wherever a hostile text stands, a page has the elements and attributes that it has with a plain
// one, and what can be seen has no character that draws, turns or hides text.
func TestHostileTexts(t *testing.T) {
	build := func(s string) []byte {
		raw, _ := json.Marshal(s)
		to := html.Path("runs", s, "decide").With("from", s).With("then", s)
		return html.Page(html.El("title", html.Text(s)), html.Join(
			html.El("p", html.Attr("class", s), html.Attr("data-call", s), html.Text(s, 1)),
			html.El("form", html.Action(to), html.El("input", html.Exactly("value", s)), html.El("textarea", html.Lines(s))),
			html.A(to, html.Attr("aria-label", s), html.Text(s)), html.El("img", html.Src(to), html.Attr("alt", s)),
			html.El("pre", html.JSON(raw), html.JSON(json.RawMessage(s))), html.El("select", html.El("option", html.Attr("value", s), html.Text(s))),
			html.Picture([]byte(s), "picture"), html.Module(to),
		))
	}
	plain, plainAttrs, _ := tokens(t, build("plain"))
	for _, s := range hostile {
		page := build(s)
		names, attrs, text := tokens(t, page)
		if !slices.Equal(names, plain) || len(attrs) != len(plainAttrs) {
			t.Errorf("%q: elements %v, attributes %q", s, names, attrs)
			continue
		}
		for i, a := range attrs {
			name, value, _ := strings.Cut(a, "=")
			if want, _, _ := strings.Cut(plainAttrs[i], "="); name != want {
				t.Errorf("%q: the attribute %s, want %s", s, name, want)
			}
			if slices.Contains([]string{"href", "src", "action"}, name) && !strings.HasPrefix(value, "data:image/svg+xml;base64,") && (!strings.HasPrefix(value, "/") || strings.HasPrefix(value, "//")) {
				t.Errorf("%q: the URL %s", s, value)
			}
		}
		if i := strings.IndexFunc(text, func(r rune) bool {
			return r < ' ' && r != '\n' || strings.ContainsRune("\u202e\u2066\u2069\u200b\u241b", r)
		}); i >= 0 {
			t.Errorf("%q: the text has %q", s, text[i:])
		}
	}
}

// What nobody sees comes back from a form as it was.
func TestExactly(t *testing.T) {
	for _, s := range hostile {
		if strings.ContainsAny(s, "\x00\x1b") || !utf8.ValidString(s) {
			continue // no HTML can hold these, or no XML
		}
		_, attrs, _ := tokens(t, html.Page(html.El("title"), html.El("input", html.Exactly("value", s))))
		if got := attrs[len(attrs)-1]; got != "value="+s {
			t.Errorf("%q, want %q", got, s)
		}
	}
}

// What could hold a script or a style can't be written.
func TestNotOnTheList(t *testing.T) {
	for name, f := range map[string]func(){
		"script":      func() { html.El("script") },
		"style":       func() { html.El("style") },
		"iframe":      func() { html.El("iframe") },
		"onclick":     func() { html.Attr("onclick", "x") },
		"style=":      func() { html.Attr("style", "x") },
		"srcdoc":      func() { html.Exactly("srcdoc", "x") },
		"href":        func() { html.Attr("href", "javascript:x") },
		"formaction":  func() { html.Attr("formaction", "javascript:x") },
		"with spaces": func() { html.Attr("data-x y", "x") },
		"in an img":   func() { html.El("img", html.Text("x")) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s can be written", name)
				}
			}()
			f()
		}()
	}
}
