package http

import (
	"encoding/json"
	"encoding/xml"
	"errors"
	"fmt"
	"mime"
	"net/url"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/tool/internal/driver"
)

const (
	typeJSON = "application/json"
	typeText = "text/plain; charset=utf-8"
)

// body is the template of a body. The zero body sends the params that no placeholder uses.
type body struct {
	given  bool
	value  *node // the template of a JSON value; nil if the body is text
	text   driver.Template
	escape func(string) string // of values in text
	kind   string              // the Content-Type, unless a header has it
}

// parseBody reads the body of the config; contentType is that of the headers, or "".
func parseBody(raw json.RawMessage, contentType string) (body, error) {
	if len(raw) == 0 {
		return body{}, nil
	}
	if err := jsonscan.Check(raw, jsonscan.Limits{}); err != nil {
		return body{}, err
	}
	value := gjson.ParseBytes(raw)
	if value.Type != gjson.String {
		n, err := parseNode(value)
		return body{given: true, value: n, kind: typeJSON}, err
	}
	t, err := driver.ParseTemplate(value.Str)
	if err != nil {
		return body{}, err
	}
	if isJSON(contentType) && !t.Literal() {
		return body{}, errors.New("write it as a JSON value, not as text: a param could break out of the text")
	}
	return body{given: true, text: t, escape: escapeFor(contentType), kind: typeText}, nil
}

// isJSON reports whether a Content-Type is JSON.
func isJSON(contentType string) bool {
	kind, _, _ := mime.ParseMediaType(contentType) // with an error, kind has what could be parsed
	return kind == typeJSON || kind == "text/json" || strings.HasSuffix(kind, "+json")
}

// escapeFor returns the function that escapes a value in a text of this type.
func escapeFor(contentType string) func(string) string {
	kind, _, _ := mime.ParseMediaType(contentType)
	switch {
	case kind == "application/x-www-form-urlencoded":
		return url.QueryEscape
	case kind == "application/xml" || kind == "text/xml" || kind == "text/html" || strings.HasSuffix(kind, "+xml"):
		return func(text string) string {
			var b strings.Builder
			_ = xml.EscapeText(&b, []byte(text)) // a Builder returns no errors
			return b.String()
		}
	}
	return func(text string) string { return text }
}

func (b body) templates() []driver.Template {
	if b.value == nil {
		return []driver.Template{b.text}
	}
	return b.value.templates(nil)
}

// fill makes the body.
func (b body) fill(p driver.Params) ([]byte, error) {
	if b.value == nil {
		text, missing := b.text.Fill(escaped(p.Text, b.escape))
		if missing != "" {
			return nil, fmt.Errorf("param %q is not given, and the body needs it", missing)
		}
		return []byte(text), nil
	}
	text, ok := b.value.append(nil, p)
	if !ok {
		return nil, errors.New("the params that the body needs are not given")
	}
	return text, nil
}

// node is a JSON value with templates in it.
type node struct {
	raw     string          // a value without templates, or "{" or "["
	text    driver.Template // of a string, if raw is ""
	members []child
}

// child is an element, or with a name a member.
type child struct {
	name string // as it is written, with the colon; "" in an array
	node *node
}

// parseNode reads a value. jsonscan bounds its depth.
func parseNode(v gjson.Result) (*node, error) {
	switch {
	case v.Type == gjson.String:
		t, err := driver.ParseTemplate(v.Str)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", v.Str, err)
		}
		return &node{text: t}, nil
	case v.Type != gjson.JSON:
		return &node{raw: v.Raw}, nil
	}
	n := &node{raw: v.Raw[:1]}
	var err error
	v.ForEach(func(name, value gjson.Result) bool {
		var c child
		if c.node, err = parseNode(value); v.IsObject() {
			c.name = name.Raw + ":"
		}
		n.members = append(n.members, c)
		return err == nil
	})
	return n, err
}

func (n *node) templates(all []driver.Template) []driver.Template {
	if n.raw == "" {
		return append(all, n.text)
	}
	for _, c := range n.members {
		all = c.node.templates(all)
	}
	return all
}

// append writes the value. ok is false if one of its params is not given.
func (n *node) append(dst []byte, p driver.Params) (_ []byte, ok bool) {
	switch n.raw {
	case "":
		return n.appendString(dst, p)
	case "{", "[":
	default:
		return append(dst, n.raw...), true
	}
	dst = append(dst, n.raw...)
	first := len(dst)
	for _, c := range n.members {
		mark := len(dst)
		if mark > first {
			dst = append(dst, ',')
		}
		dst = append(dst, c.name...)
		if dst, ok = c.node.append(dst, p); !ok {
			dst = dst[:mark]
		}
	}
	return append(dst, n.raw[0]+2), true // ] is two after [, } two after {
}

// appendString writes a string, or the value of the param if the string is only a placeholder.
func (n *node) appendString(dst []byte, p driver.Params) ([]byte, bool) {
	if name := n.text.Only(); name != "" {
		raw, ok := p.Raw(name)
		return append(dst, raw...), ok
	}
	text, missing := n.text.Fill(p.Text)
	if missing != "" {
		return dst, false
	}
	return gjson.AppendJSONString(dst, text), true
}
