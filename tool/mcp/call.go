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

	// keyMeta is the member of _meta with the idempotency key of a call, which is the same for all
	// its attempts.
	keyMeta = "plc/idempotencyKey"
)

// define makes a tool from a definition; nil if it can't be used.
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
	// A server must not use the members that only tool files may use.
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

// Call calls the tool once. The value is structuredContent if the server sends it. Otherwise, if
// there is one content and it is text, the value is the text as a string, or the JSON in it if the
// definition does not allow that string. Otherwise it is a list of the contents.
//
// Errors are *tool.Error. The codes:
//
//   - "tool": the tool reports that it failed; the message is the tool's.
//   - "bad-params", "unknown-tool", "protocol": the server refuses the request, or fails.
//   - "no-server": the server can't be reached, or is not the same one any more; nothing was sent.
//   - "connection-lost": the answer was lost; uncertain. The call is never sent again.
//   - "timeout", "cancelled": ctx is done; the server is notified; uncertain once sent.
//   - "input-required": the server asks a question, and there is nobody to answer it.
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

// annotate adds the attributes of the connection to the trace, with the names of the OpenTelemetry
// conventions for MCP. It leaves out the id of the session, since a server may accept requests that
// have no other credential.
func (l *link) annotate(ctx context.Context) {
	tool.Annotate(ctx, "mcp.method.name", "tools/call")
	transport := "pipe"
	if l.child == nil {
		transport = "tcp"
	}
	tool.Annotate(ctx, "network.transport", transport)
	if initialized := l.session.InitializeResult(); initialized != nil {
		tool.Annotate(ctx, "mcp.protocol.version", initialized.ProtocolVersion)
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

// params returns the params of the request to the server. They are made for each request, since the
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
	if trace := tool.TraceOf(ctx); trace.Parent != "" { // as in the OpenTelemetry conventions for MCP
		p.Meta["traceparent"] = trace.Parent
		if trace.State != "" {
			p.Meta["tracestate"] = trace.State
		}
	}
	return p
}

func (a *activity) unreachable(err error) error {
	var fault *startFault
	var toolErr *tool.Error
	if errors.As(err, &toolErr) {
		return a.fail(toolErr)
	}
	return a.fail(&tool.Error{Code: "no-server", Message: err.Error(), Permanent: errors.As(err, &fault), Err: err})
}

// maxFailure is the maximum number of bytes of a failure's message. The part that a server wrote
// has at most maxStderr.
const maxFailure = 2 * maxStderr

// fail returns an error that names the server, is not too long and contains no secret.
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
	var rpcErr *jsonrpc.Error
	switch {
	case errors.As(err, &own):
		return a.fail(own)
	case errors.Is(err, errUnsent) && ctx.Err() == nil:
		return a.unreachable(a.client.because(l, err))
	case ctx.Err() != nil:
		return driver.Stopped(ctx, true)
	case errors.As(err, &rpcErr):
		tool.Annotate(ctx, "rpc.response.status_code", strconv.FormatInt(rpcErr.Code, 10))
		return a.fail(refusal(rpcErr, a.client.hider().head([]byte(rpcErr.Message), maxStderr)))
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
func refusal(rpcErr *jsonrpc.Error, message string) *tool.Error {
	e := &tool.Error{Code: "protocol", Message: fmt.Sprintf("%s (error %d)", message, rpcErr.Code), Err: rpcErr}
	switch rpcErr.Code {
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
		return nil, nil // an empty result
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

// fromText returns a text as a value: a string, unless the definition does not allow that string
// and the text is JSON.
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

// content returns one of several contents as an object with its type and data.
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

// httpError returns the error for an HTTP status.
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
