// Package html builds HTML in which no text from outside becomes markup.
//
// An Item is made by the functions of this package only. Names of elements and attributes are
// constants from a short list, which has none that can contain a script or a style. Texts and
// values are always escaped, and everything that a person sees is written by package display, so
// that invisible characters and characters that change the direction of text are shown as escapes.
// URLs are paths on this server.
package html

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"

	"github.com/plc-lang/plc/internal/display"
)

// An Item is a piece of a page: elements, text, attributes, or several of these. The zero value is
// empty.
type Item struct{ attrs, content string } // markup

// A Name is the name of an element or attribute, or a text that the program itself contains; it is
// always a constant.
type Name string

// elements has the elements that El makes; the value is true for elements without content.
var elements = map[Name]bool{
	"article": false, "aside": false, "button": false, "body": false, "caption": false, "code": false, "dd": false, "del": false, "details": false, "div": false,
	"dl": false, "dt": false, "fieldset": false, "form": false, "h1": false, "h2": false, "h3": false, "head": false, "html": false, "img": true,
	"input": true, "ins": false, "label": false, "legend": false, "li": false, "link": true, "main": false, "meta": true, "nav": false, "option": false,
	"p": false, "pre": false, "rect": false, "section": false, "select": false, "small": false, "span": false, "strong": false, "summary": false,
	"svg": false, "table": false, "tbody": false, "td": false, "textarea": false, "th": false, "thead": false, "time": false, "title": false,
	"tr": false, "ul": false,
}

// attributes has the attributes that Attr makes, in addition to those whose names begin with
// "data-".
var attributes = map[Name]bool{
	"accept": true, "alt": true, "aria-current": true, "aria-describedby": true, "aria-hidden": true, "aria-label": true, "aria-live": true, "autocomplete": true,
	"autofocus": true, "charset": true, "class": true, "colspan": true, "content": true, "datetime": true, "enctype": true, "form": true, "height": true, "hidden": true,
	"id": true, "lang": true, "max": true, "method": true, "min": true, "name": true, "open": true, "preserveAspectRatio": true, "rel": true,
	"required": true, "role": true, "rows": true, "scope": true, "selected": true, "size": true, "spellcheck": true, "tabindex": true, "type": true,
	"value": true, "viewBox": true, "width": true, "x": true, "y": true,
}

// El returns an element with attributes and content.
func El(name Name, items ...Item) Item {
	void, ok := elements[name]
	if !ok {
		panic("html: the element " + string(name) + " is not on the list")
	}
	in := Join(items...)
	switch {
	case void && in.content != "":
		panic("html: " + string(name) + " has no content")
	case void:
		return Item{content: "<" + string(name) + in.attrs + ">"}
	case name == "pre" || name == "textarea": // a first line break of theirs is dropped
		in.content = "\n" + in.content
	}
	return Item{content: "<" + string(name) + in.attrs + ">" + in.content + "</" + string(name) + ">"}
}

// Join returns several items as one.
func Join(items ...Item) Item {
	var attrs, content strings.Builder
	for _, it := range items {
		attrs.WriteString(it.attrs)
		content.WriteString(it.content)
	}
	return Item{attrs.String(), content.String()}
}

// Each returns an item for each element of a list, as one.
func Each[T any](list []T, f func(T) Item) Item {
	all := make([]Item, len(list))
	for i, v := range list {
		all[i] = f(v)
	}
	return Join(all...)
}

// If returns the items as one if the condition holds, and nothing otherwise.
func If(condition bool, items ...Item) Item {
	if condition {
		return Join(items...)
	}
	return Item{}
}

// Text returns values as one line of text, with nothing between them.
func Text(values ...any) Item { return Item{content: escape(shown(values))} }

// JSON returns JSON as text over several lines.
func JSON(value json.RawMessage) Item {
	return Item{content: escape(display.IndentedJSON(value, "").String())}
}

// Lines returns a text over several lines, with its line breaks.
func Lines(s string) Item { return Item{content: escape(string(display.AppendJSON(nil, []byte(s))))} }

// Attr returns an attribute whose value a person may see: values are written like those of Text.
func Attr(name Name, values ...any) Item { return attr(name, shown(values)) }

// Exactly returns an attribute whose value nobody sees, such as that of a hidden input.
func Exactly(name Name, value string) Item { return attr(name, value) }

// Set returns attributes that have no value.
func Set(name Name) Item { return attr(name, "") }

func attr(name Name, value string) Item {
	if !attributes[name] && (!strings.HasPrefix(string(name), "data-") || strings.Trim(string(name), "abcdefghijklmnopqrstuvwxyz-") != "") {
		panic("html: the attribute " + string(name) + " is not on the list")
	}
	return Item{attrs: " " + string(name) + `="` + escape(value) + `"`}
}

func shown(values []any) string {
	var b strings.Builder
	for _, v := range values {
		if own, ok := v.(Name); ok {
			v = string(own)
		}
		b.WriteString(display.Line(fmt.Sprint(v)).String())
	}
	return b.String()
}

// escape escapes a text for an element and for a quoted attribute.
func escape(s string) string { return escapes.Replace(strings.ToValidUTF8(s, "\uFFFD")) }

var escapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", `"`, "&#34;", "'", "&#39;", "\r", "&#13;", "\x00", "\uFFFD")

// A URL is an address on this server.
type URL struct{ text string }

// Path returns the URL whose path has these segments. If a segment would lead elsewhere, such as
// "..", it returns the URL of the first page.
func Path(segments ...string) URL {
	var b strings.Builder
	for _, s := range segments {
		if s == "" || s == "." || s == ".." {
			return URL{"/"}
		}
		b.WriteString("/" + url.PathEscape(s))
	}
	if b.Len() == 0 {
		return URL{"/"}
	}
	return URL{b.String()}
}

// With returns the URL with another value in its query.
func (u URL) With(name Name, value string) URL {
	sep := "?"
	if strings.Contains(u.text, "?") {
		sep = "&"
	}
	return URL{u.text + sep + url.QueryEscape(string(name)) + "=" + url.QueryEscape(value)}
}

// String returns the address as text.
func (u URL) String() string { return u.text }

// A returns a link.
func A(to URL, items ...Item) Item {
	in := Join(items...)
	return Item{content: "<a" + target("href", to).attrs + in.attrs + ">" + in.content + "</a>"}
}

// Href returns the attribute href.
func Href(u URL) Item { return target("href", u) }

// Src returns the attribute src.
func Src(u URL) Item { return target("src", u) }

// Action returns the attribute action, of a form.
func Action(u URL) Item { return target("action", u) }

func target(name Name, u URL) Item {
	return Item{attrs: " " + string(name) + `="` + escape(u.text) + `"`}
}

// Picture returns an element that shows an SVG; a script in it does not run.
func Picture(svg []byte, alt Name) Item {
	return Item{content: `<img src="data:image/svg+xml;base64,` + base64.StdEncoding.EncodeToString(svg) + `" alt="` + escape(string(alt)) + `">`}
}

// Module returns a script element with a module of this server.
func Module(u URL) Item {
	return Item{content: `<script type="module"` + Src(u).attrs + `></script>`}
}

// NoIcon returns an element that keeps browsers from requesting an icon.
func NoIcon() Item { return Item{content: `<link rel="icon" href="data:,">`} }

// Page returns a whole document.
func Page(head, body Item) []byte {
	return []byte("<!doctype html>\n" + El("html", Attr("lang", "en"), El("head", El("meta", Attr("charset", "utf-8")), head), El("body", body)).content)
}
