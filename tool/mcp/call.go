package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	nethttp "net/http"
	"strconv"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/internal/driver"
)

const (
	// Driver is the kind of the tools of MCP servers, as tool.Tool.Driver has it.
	Driver = "mcp"

	// keyMeta is the member of _meta that tells servers the idempotency key of a call, which
	// is the same for all its attempts.
	keyMeta = "plc/idempotencyKey"
)

// define makes a tool of a definition; nil when it can't be used.
func (c *Client) define(d definition) *tool.Tool {
	def, findings := tool.ParseDefinition(json.RawMessage(d.text), "", c.server.Loc)
	for _, f := range findings {
		f.Message = fmt.Sprintf("MCP server %q: %s", c.server.Name, f.Message)
		if f.Severity == diag.Error { // one bad tool is no reason not to use the others
			f.Severity = diag.Warning
			f.Message += "; the tool can't be used"
		}
		f.Pointer = ""
		c.found = append(c.found, f)
	}
	if def == nil {
		return nil
	}
	// What the language reads into a definition besides is for tool files to say.
	def.Fixed, def.Outcomes, def.Activity, def.HasActivity = nil, nil, "", false
	if !c.server.Trust {
		def.Effects, def.Data = tool.Effects{}.MoreCareful(def.Effects), tool.Data{}
	}
	where, _ := json.Marshal(map[string]any{Driver: map[string]string{"server": c.server.Name, "tool": d.name}})
	place := c.server.Place
	place.Server, place.Tool = c.server.Name, d.name
	return &tool.Tool{
		Definition: def, Activity: &activity{c, d.name}, Source: "mcp:" + c.server.Name, Driver: Driver, Raw: where, Place: place,
	}
}

// activity calls a tool of a server.
type activity struct {
	client *Client
	name   string
}

var _ tool.Activity = (*activity)(nil)

// Call calls the tool once. The value is structuredContent where the server gives it;
// else the text, when there is one content and it is text: a string, or what it says as JSON where
// the definition has no place for a string; else a list of the contents.
//
// Errors are *tool.Error. The codes:
//
//   - "tool": the tool says that it failed; the message is what it says.
//   - "bad-params", "unknown-tool", "protocol": the server refuses the request, or fails.
//   - "no-server": it can't be reached, or is not who it was; nothing was sent.
//   - "connection-lost": the answer was lost; uncertain. The call is never sent again.
//   - "timeout", "cancelled": ctx is done; the server is told; uncertain once sent.
//   - "input-required": the server wants to know something, and there is nobody to ask.
//   - "changed": the definition of the tool is not the one that was shown or locked.
//   - "changed-program": the server has to be started again, and a file of it that was pinned has
//     changed; nothing was sent.
//   - "bad-output": it did its work, but there is no usable result; permanent and
//     uncertain. One of over 64 MiB ends the connection instead.
//   - "busy": the server has no room for the call just now.
//   - "http-N": the status of an HTTP server; 500, 502 and 504 are uncertain.
func (a *activity) Call(ctx context.Context, req *tool.Request) (tool.Result, error) {
	l, err := a.ready(ctx)
	if err != nil {
		return tool.Result{}, err
	}
	l.annotate(ctx)
	res, err := a.client.rounds(ctx, l, a.params(ctx, req), req)
	if errors.Is(err, errUnsent) && ctx.Err() == nil {
		l.gone.Store(true)
		if l, err = a.ready(ctx); err != nil {
			return tool.Result{}, err
		}
		res, err = a.client.rounds(ctx, l, a.params(ctx, req), req)
	}
	if err != nil {
		return tool.Result{}, a.failure(ctx, l, err)
	}
	value, err := value(ctx, raw(res.Meta), req.Definition, a.client.hider())
	if err != nil {
		return tool.Result{}, a.fail(err)
	}
	return tool.Result{Value: value}, nil
}

// annotate says what is spoken with a server, by the names of the conventions of OpenTelemetry
// for MCP. The id of a session stays out of it: it may be all that a server asks for.
func (l *link) annotate(ctx context.Context) {
	tool.Annotate(ctx, "mcp.method.name", "tools/call")
	transport := "pipe"
	if l.child == nil {
		transport = "tcp"
	}
	tool.Annotate(ctx, "network.transport", transport)
	if told := l.session.InitializeResult(); told != nil {
		tool.Annotate(ctx, "mcp.protocol.version", told.ProtocolVersion)
	}
}

// ready returns a connection over which the tool may be called.
func (a *activity) ready(ctx context.Context) (*link, error) {
	if ctx.Err() != nil {
		return nil, driver.Stopped(ctx, false)
	}
	l, err := a.client.connected(ctx)
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, driver.Stopped(ctx, false)
	case err != nil:
		return nil, a.unreachable(err)
	}
	if how := a.client.changed()[a.name]; how != "" {
		return nil, a.fail(&tool.Error{
			Code: "changed", Permanent: true,
			Message: fmt.Sprintf("the definition of %q has changed (%s); look at it, and start or lock again", a.name, how),
		})
	}
	return l, nil
}

// params returns those of the request to the server. They are made again for each, since the
// SDK adds to them.
func (a *activity) params(ctx context.Context, req *tool.Request) *mcp.CallToolParams {
	p := &mcp.CallToolParams{Name: a.name, Arguments: req.Params}
	if len(req.Params) == 0 {
		p.Arguments = json.RawMessage("{}")
	}
	p.Meta = mcp.Meta{}
	if req.Key != "" {
		p.Meta[keyMeta] = req.Key
	}
	if trace := tool.TraceOf(ctx); trace.Parent != "" { // as the conventions of OpenTelemetry for MCP have it
		p.Meta["traceparent"] = trace.Parent
		if trace.State != "" {
			p.Meta["tracestate"] = trace.State
		}
	}
	return p
}

func (a *activity) unreachable(err error) error {
	var fault *startFault
	var told *tool.Error
	if errors.As(err, &told) {
		return a.fail(told)
	}
	return a.fail(&tool.Error{Code: "no-server", Message: err.Error(), Permanent: errors.As(err, &fault), Err: err})
}

// maxFailure is the maximum number of bytes of a failure's message. What a server says has at most
// maxStderr of them, before something is added.
const maxFailure = 2 * maxStderr

// fail returns an error that names the server, is not long and holds no secret.
func (a *activity) fail(err error) error {
	var e *tool.Error
	if !errors.As(err, &e) {
		e = &tool.Error{Code: "protocol", Message: err.Error(), Err: err}
	}
	clean := *e
	clean.Message = a.client.hider().head([]byte(clean.Message), maxFailure)
	if clean.Code != "tool" {
		clean.Message = fmt.Sprintf("MCP server %q: %s", a.client.server.Name, clean.Message)
	}
	return &clean
}

// failure returns the error of a call that had no result.
func (a *activity) failure(ctx context.Context, l *link, err error) error {
	var own *tool.Error
	var told *jsonrpc.Error
	switch {
	case errors.As(err, &own):
		return a.fail(own)
	case errors.Is(err, errUnsent) && ctx.Err() == nil:
		return a.unreachable(a.client.because(l, err))
	case ctx.Err() != nil:
		return driver.Stopped(ctx, true)
	case errors.As(err, &told):
		tool.Annotate(ctx, "rpc.response.status_code", strconv.FormatInt(told.Code, 10))
		return a.fail(refusal(told, a.client.hider().head([]byte(told.Message), maxStderr)))
	}
	if l.child != nil {
		l.gone.Store(true)
	}
	err = a.client.because(l, err)
	return a.fail(&tool.Error{
		Code: "connection-lost", Uncertain: true, Err: err,
		Message: "the connection was lost before the answer came: " + err.Error(),
	})
}

// refusal returns the error of a tool for an error of the protocol, with its message as it may be
// shown.
func refusal(told *jsonrpc.Error, message string) *tool.Error {
	e := &tool.Error{Code: "protocol", Message: fmt.Sprintf("%s (error %d)", message, told.Code), Err: told}
	switch told.Code {
	case unusable:
		e.Code, e.Message, e.Permanent, e.Uncertain = driver.BadOutput, message, true, true
	case jsonrpc.CodeInvalidParams:
		e.Code, e.Permanent = driver.BadParams, true
		if strings.Contains(strings.ToLower(message), "unknown tool") {
			e.Code = "unknown-tool"
		}
	case jsonrpc.CodeMethodNotFound, jsonrpc.CodeInvalidRequest, jsonrpc.CodeParseError:
		e.Permanent = true
	}
	return e
}

// value returns the result of a tool as a value.
func value(ctx context.Context, res gjson.Result, def *tool.Definition, hide hider) (json.RawMessage, error) {
	if res.Get("isError").Type == gjson.True {
		return nil, toolError(res, hide)
	}
	if s := res.Get("structuredContent"); s.Exists() {
		return compact([]byte(s.Raw)), nil
	}
	contents := res.Get("content").Array()
	if len(contents) == 1 && contents[0].Get("type").Str == "text" {
		return fromText(ctx, contents[0].Get("text"), def), nil
	}
	list := []byte{'['}
	for i, c := range contents {
		v, err := content(c, hide)
		if err != nil {
			return nil, err
		}
		if i > 0 {
			list = append(list, ',')
		}
		list = append(list, v...)
	}
	if len(contents) == 0 {
		return nil, nil // it has nothing to say
	}
	return append(list, ']'), nil
}

// toolError returns the error that a tool reported.
func toolError(res gjson.Result, hide hider) error {
	var said []string
	for _, c := range res.Get("content").Array() {
		if text := c.Get("text"); text.Type == gjson.String {
			said = append(said, text.Str)
		}
	}
	message := hide.head([]byte(strings.Join(said, "\n")), maxStderr)
	if s := res.Get("structuredContent"); message == "" && s.Exists() {
		message = hide.head(hide.cleanJSON([]byte(s.Raw)), maxStderr)
	}
	if message == "" {
		message = "the tool failed and said nothing"
	}
	return &tool.Error{Code: "tool", Message: message}
}

// fromText returns a text as a value: a string, unless the definition has no place for that
// string and the text is JSON.
func fromText(ctx context.Context, text gjson.Result, def *tool.Definition) json.RawMessage {
	literal := json.RawMessage(text.Raw)
	if def == nil || def.Output == nil || schemas.NewMeter(ctx, 0).Validate(def.Output, literal) == nil {
		return literal
	}
	if jsonscan.Check([]byte(text.Str), jsonscan.Limits{}) != nil {
		return literal
	}
	return compact([]byte(text.Str))
}

// content returns a content that stands beside others: an object with its type and what it is.
func content(c gjson.Result, hide hider) ([]byte, error) {
	kind := c.Get("type").Str
	from := c
	var members []string
	switch kind {
	case "text":
		members = []string{"text"}
	case "image", "audio":
		members = []string{"mimeType", "data"}
	case "resource":
		from, members = c.Get("resource"), []string{"uri", "mimeType", "text", "blob"}
	case "resource_link":
		members = []string{"uri", "name", "title", "description", "mimeType", "size"}
	default:
		return nil, &tool.Error{
			Code: driver.BadOutput, Permanent: true, Uncertain: true,
			Message: fmt.Sprintf("a content of the type %q, which is none of the protocol", hide.head([]byte(kind), 40)),
		}
	}
	out := append([]byte(`{"type":`), quote(kind)...)
	for _, name := range members {
		if m := from.Get(name); m.Exists() && m.Type != gjson.Null {
			if name == "blob" {
				name = "data"
			}
			out = append(append(append(append(out, ','), quote(name)...), ':'), m.Raw...)
		}
	}
	return append(out, '}'), nil
}

// compact returns valid JSON without white space.
func compact(valid []byte) []byte { return jsonscan.Compact(nil, valid) }

// httpError returns the error of a status.
func httpError(s *sent) *tool.Error {
	e := &tool.Error{Code: "http-" + strconv.Itoa(s.status), Message: fmt.Sprintf("status %d %s", s.status, nethttp.StatusText(s.status))}
	if s.said != "" {
		e.Message += ": " + s.said
	}
	if s.cure != "" {
		e.Message += "; " + s.cure
	}
	switch s.status {
	case nethttp.StatusRequestTimeout, nethttp.StatusTooManyRequests, nethttp.StatusServiceUnavailable:
	case nethttp.StatusInternalServerError, nethttp.StatusBadGateway, nethttp.StatusGatewayTimeout:
		e.Uncertain = true
	default:
		e.Permanent = true
	}
	return e
}
