package openapi

import (
	"bytes"
	"context"
	"mime"
	"mime/multipart"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/http"
	"github.com/plc-lang/plc/tool/internal/driver"
)

const (
	jsonType      = "application/json"
	formType      = "application/x-www-form-urlencoded"
	multipartType = "multipart/form-data"
)

// activity calls an operation.
type activity struct {
	op   *operation
	web  *http.Activity
	auth []credential
}

// Call makes the request once. Its result and its errors are like those of http.Activity.Call.
func (a *activity) Call(ctx context.Context, req *tool.Request) (tool.Result, error) {
	m, err := a.op.message(gjson.ParseBytes(req.Params))
	if err != nil {
		return tool.Result{}, err
	}
	m.Key = req.Key
	for _, c := range a.auth {
		c.add(m)
	}
	return a.web.Send(ctx, m)
}

// message returns the request for params.
func (op *operation) message(params gjson.Result) (*http.Message, error) {
	m := &http.Message{Method: op.method, Path: op.path, Header: map[string]string{}}
	var query []string
	fill := map[string]string{} // placeholder → value
	for _, p := range op.parameters {
		v := member(params, p.param)
		given := v.Exists() && v.Type != gjson.Null
		switch {
		case p.in == "path":
			text := ""
			if given {
				text = p.inPath(v)
			}
			if text == "" {
				return nil, driver.Refuse("param %q is not given or empty, and the path needs it", p.param)
			}
			fill["{"+p.name+"}"] = text
		case !given:
		case p.in == "query":
			query = append(query, p.inQuery(v)...)
		case p.in == "header":
			m.Header[p.name] = p.simple(v, func(s string) string { return s })
		default:
			for _, pair := range p.inQuery(v) {
				addCookie(m, pair)
			}
		}
	}
	m.Path = fillPath(op.path, fill)
	m.Query = strings.Join(query, "&")
	if op.body == nil {
		return m, nil
	}
	v := member(params, op.body.param)
	if !v.Exists() || v.Type == gjson.Null && !op.body.required {
		return m, nil
	}
	return m, op.body.write(m, v)
}

// fillPath replaces the placeholders of a path, all at once, since a value may look like a
// placeholder.
func fillPath(path string, fill map[string]string) string {
	var pairs []string
	for name, text := range fill {
		pairs = append(pairs, name, text)
	}
	return strings.NewReplacer(pairs...).Replace(path)
}

// written reports whether the body is a value that has to be encoded, rather than a text that is
// sent as it is.
func (b *body) written() bool {
	base, _, _ := mime.ParseMediaType(b.kind)
	return isJSON(b.kind) || base == formType || base == multipartType
}

// write writes the body of a request.
func (b *body) write(m *http.Message, v gjson.Result) error {
	m.ContentType = b.kind
	base, _, _ := mime.ParseMediaType(b.kind)
	switch {
	case isJSON(b.kind):
		m.Body = []byte(v.Raw)
	case base == formType:
		p := parameter{style: "form", explode: true}
		var all []string
		v.ForEach(func(name, value gjson.Result) bool {
			if p.name = name.Str; value.Type != gjson.Null {
				p.asJSON = value.IsObject()
				all = append(all, p.inQuery(value)...)
			}
			return true
		})
		m.Body = []byte(strings.Join(all, "&"))
	case base == multipartType:
		return b.parts(m, v)
	default:
		m.Body = []byte(scalar(v))
	}
	return nil
}

// parts writes a multipart body with a part for each member; a member that is a list has a part for
// each element.
func (b *body) parts(m *http.Message, v gjson.Result) error {
	var out bytes.Buffer
	w := multipart.NewWriter(&out)
	var err error
	part := func(name string, value gjson.Result) {
		if err == nil && value.Type != gjson.Null {
			err = w.WriteField(name, scalar(value))
		}
	}
	v.ForEach(func(name, value gjson.Result) bool {
		if !value.IsArray() {
			part(name.Str, value)
			return true
		}
		for _, e := range value.Array() {
			part(name.Str, e)
		}
		return true
	})
	if err == nil {
		err = w.Close()
	}
	m.Body, m.ContentType = out.Bytes(), w.FormDataContentType()
	return err
}
