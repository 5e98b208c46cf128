package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/internal/driver"
)

// Question is a server's question to a person. Its texts come from the server: they are safe to
// show, but no more trustworthy than the server.
type Question struct {
	Server  string
	Tool    string // the tool whose call asks; "" if the server does not say
	Message string
	Fields  []Field // of the answer, by name; if there are none, the question is for yes or no
	URL     string  // a page that the person should open; "" if the person answers here
}

// Field is a member of an answer.
type Field struct {
	Name        string
	Type        string // "string", "number", "integer", "boolean", or "array" of some of Choices
	Description string
	Choices     []string // of a string or an array; nil is any
	Titles      []string // of Choices, in the same order; nil if they have none
	Required    bool
	Default     json.RawMessage // the value if the answer leaves it out; nil if there is none

	schema *schemas.Schema // nil accepts all values
}

// Check returns an error if a value does not fit the field. Package json must be able to encode the
// value.
func (f Field) Check(value any) error {
	text, err := json.Marshal(value)
	if err != nil || f.schema == nil {
		return err
	}
	return f.schema.Validate(text)
}

// fieldsOf returns the members of the answer that a schema describes.
func fieldsOf(schema string) ([]Field, error) {
	var fields []Field
	var err error
	v := gjson.Parse(schema)
	v.Get("properties").ForEach(func(name, s gjson.Result) bool {
		if len(fields) == maxFields {
			err = fmt.Errorf("the server asks for more than %d fields at once", maxFields)
			return false
		}
		f := Field{
			Name: driver.Printable([]byte(name.Str)), Type: s.Get("type").Str,
			Description: driver.Head([]byte(cmp.Or(s.Get("description").Str, s.Get("title").Str)), shownBytes),
		}
		f.Choices, f.Titles = choicesOf(s)
		f.Required = slices.ContainsFunc(v.Get("required").Array(), func(r gjson.Result) bool { return r.Str == name.Str })
		if f.schema, err = schemas.Compile(json.RawMessage(s.Raw), nil); err != nil {
			return false
		}
		if d := s.Get("default"); d.Exists() && f.schema.Validate(json.RawMessage(d.Raw)) == nil {
			f.Default = json.RawMessage(d.Raw)
		}
		fields = append(fields, f)
		return true
	})
	return fields, err
}

// choicesOf returns the choices of a schema, in each of the forms that versions of the protocol
// have used.
func choicesOf(s gjson.Result) (values, titles []string) {
	if items := s.Get("items"); items.IsObject() {
		s = items
	}
	for i, c := range s.Get("enum").Array() {
		values = append(values, driver.Printable([]byte(c.Str)))
		if name := s.Get("enumNames").Array(); i < len(name) {
			titles = append(titles, driver.Printable([]byte(name[i].Str)))
		}
	}
	for _, c := range slices.Concat(s.Get("oneOf").Array(), s.Get("anyOf").Array()) {
		values = append(values, driver.Printable([]byte(c.Get("const").Str)))
		titles = append(titles, driver.Printable([]byte(c.Get("title").Str)))
	}
	if len(titles) != len(values) {
		titles = nil
	}
	return values, titles
}

// maxFields is the maximum number of fields in a server's question.
const maxFields = 50

// Answer is a person's answer.
type Answer struct {
	Accept  bool           // false declines
	Content map[string]any // by the names of the fields
}

// maxRounds is the maximum number of times that a server may ask within one call.
const maxRounds = 10

// rounds calls a tool, and answers the server's questions in between. Each round is a request of
// its own: the request before it has ended with a question.
func (c *Client) rounds(ctx context.Context, l *link, params *mcp.CallToolParams, req *tool.Request) (*mcp.CallToolResult, error) {
	defer l.timed(req.Clock)()
	for range maxRounds {
		done := c.listen(l, params, req.Progress)
		res, err := l.call(ctx, params)
		done()
		if err != nil || !res.NeedsInput() {
			return res, err
		}
		next := *params
		next.RequestState, next.InputResponses = res.RequestState, mcp.InputResponseMap{}
		if len(res.InputRequests) == 0 {
			return nil, &tool.Error{Code: "busy", Message: "the server has no room for the call just now"}
		}
		for id, want := range res.InputRequests {
			if p, ok := want.(*mcp.ElicitParams); ok {
				asked := raw(res.Meta).Get("inputRequests").Map()[id]
				p.Meta = mcp.Meta{rawKey: asked.Get("params.requestedSchema").Raw}
			}
			if next.InputResponses[id], err = c.answer(ctx, req, params.Name, want); err != nil {
				return nil, err
			}
		}
		params = &next
	}
	return nil, &tool.Error{Code: "input-required", Permanent: true, Message: fmt.Sprintf("it asked more than %d times", maxRounds)}
}

// answer answers one question.
func (c *Client) answer(ctx context.Context, req *tool.Request, name string, want mcp.InputRequest) (mcp.InputResponse, error) {
	if p, ok := want.(*mcp.ElicitParams); ok {
		if req.Clock != nil {
			defer req.Clock.Pause()()
		}
		return c.elicit(ctx, name, p)
	}
	return nil, &tool.Error{Code: "input-required", Permanent: true, Message: "the server asks for a model or for folders, which servers are not given"}
}

// elicit asks a person a question.
func (c *Client) elicit(ctx context.Context, name string, p *mcp.ElicitParams) (*mcp.ElicitResult, error) {
	shown := driver.Head([]byte(c.redact(p.Message)), 4<<10)
	if c.opts.Ask == nil {
		return nil, &tool.Error{Code: "input-required", Permanent: true, Message: fmt.Sprintf("the server asks %q, and there is nobody to ask", shown)}
	}
	q := &Question{Server: c.server.Name, Tool: name, Message: shown, URL: driver.Head([]byte(c.redact(p.URL)), 4<<10)}
	var err error
	schema, _ := p.Meta[rawKey].(string)
	if q.Fields, err = fieldsOf(c.redactValue(schema)); err != nil {
		return nil, err
	}
	a, err := c.opts.Ask(ctx, q)
	switch {
	case err != nil:
		return nil, &tool.Error{Code: "input-required", Message: fmt.Sprintf("the server asks %q: %v", shown, err), Err: err}
	case !a.Accept:
		return &mcp.ElicitResult{Action: "decline"}, nil
	}
	res := &mcp.ElicitResult{Action: "accept"}
	if p.URL == "" {
		res.Content, err = contentOf(q.Fields, a.Content)
	}
	if err != nil {
		return nil, &tool.Error{Code: "input-required", Permanent: true, Message: fmt.Sprintf("the server asks %q, and %v", shown, err), Err: err}
	}
	return res, nil
}

// contentOf returns an answer with the defaults of fields that it leaves out.
func contentOf(fields []Field, given map[string]any) (map[string]any, error) {
	content := map[string]any{}
	for _, f := range fields {
		value, ok := given[f.Name]
		if !ok && f.Default != nil {
			value, ok = f.Default, true
		}
		switch err := f.Check(value); {
		case !ok && f.Required:
			return nil, fmt.Errorf("the answer has no %q", f.Name)
		case !ok:
			continue
		case err != nil:
			return nil, fmt.Errorf("the answer's %q is not what it wants: %w", f.Name, err)
		}
		text, _ := json.Marshal(value) // it was checked
		content[f.Name] = plain(gjson.ParseBytes(text))
	}
	return content, nil
}

// plain returns a value for the SDK, which does not accept numbers as text. Integers keep their
// digits.
func plain(v gjson.Result) any {
	if v.Type != gjson.Number {
		return v.Value()
	}
	if n, err := strconv.ParseInt(v.Raw, 10, 64); err == nil {
		return n
	}
	if n, err := strconv.ParseUint(v.Raw, 10, 64); err == nil {
		return n
	}
	return v.Num
}
