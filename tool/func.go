package tool

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"runtime/debug"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
)

// Func makes a tool of a Go function. The schemas of its params and its result describe the JSON
// that encoding/json reads into In and writes for Out; In is a struct, or another type that is an
// object in JSON. A description is given to a field by the tag `jsonschema:"…"`. An In or Out of
// struct{} is no params and a null result.
//
// Its effects are undeclared; set them, and limits and timeout, before the tool goes into a
// catalogue:
//
//	t := tool.Func("weather", "The weather of a city.", weather)
//	t.Definition.Effects.ReadOnly = tool.Yes
//	u := tool.Func("note", "Writes a note.", note)
//	u.Definition.Effects = tool.Effects{ReadOnly: tool.No, Idempotent: tool.Yes} // changes the world
//
// f is called by several goroutines at once and should end soon after its context
// is done. RequestOf(ctx) returns the current attempt, with the idempotency key of the call. An
// error that is, or wraps, an *Error keeps its code. A panic in f fails the call with the code
// "panic". To choose an outcome, return Chosen.
//
// Func panics if the name is empty or a jsonschema tag is not a description ("minimum=3").
func Func[In, Out any](name, description string, f func(context.Context, In) (Out, error)) *Tool {
	def, err := define(name, description, reflect.TypeFor[In](), resultType[Out]())
	if err != nil {
		panic(fmt.Sprintf("tool.Func(%q): %v", name, err))
	}
	call := func(ctx context.Context, req *Request) (Result, error) {
		in, err := decode[In](req.Params)
		if err != nil {
			return Result{}, err
		}
		out, err := protect(requestContext{ctx, req}, in, f)
		if err != nil {
			return Result{}, err
		}
		return encode(out)
	}
	return &Tool{Definition: def, Activity: ActivityFunc(call), Source: "go", Driver: "go"}
}

// RequestOf returns the attempt for which a function of Func is called, given the context of the
// function; for any other context it returns nil. The Key of the request is the same for each
// attempt of a call, also after a crash: a service that supports idempotency keys does the work
// only once for the same key. The request must not be modified.
func RequestOf(ctx context.Context) *Request {
	req, _ := ctx.Value(requestKey{}).(*Request)
	return req
}

// requestContext is a context with the request of a function.
type requestContext struct {
	context.Context
	req *Request
}

type requestKey struct{}

// Value returns the request for its key.
func (c requestContext) Value(key any) any {
	if key == (requestKey{}) {
		return c.req
	}
	return c.Context.Value(key)
}

// Chosen is the result of a function that chooses an alternative of its output path (plan-language
// §4). Outcome is the alternative's whole path, its last name or its 0-based index; "" is the
// first.
type Chosen[T any] struct {
	Outcome string
	Value   T
}

// chosen is any Chosen.
type chosen interface {
	outcome() (name string, value any)
	value() reflect.Type
}

func (c Chosen[T]) outcome() (string, any) { return c.Outcome, c.Value }
func (c Chosen[T]) value() reflect.Type    { return reflect.TypeFor[T]() }

// resultType returns the type of the result of a function that returns Out.
func resultType[Out any]() reflect.Type {
	var out Out
	if c, ok := any(out).(chosen); ok {
		return c.value()
	}
	return reflect.TypeFor[Out]()
}

// define makes a definition in the form of an MCP tool, which separates the params from the rest.
func define(name, description string, in, out reflect.Type) (*Definition, error) {
	input, err := schemaOr(in, noParams)
	if err != nil {
		return nil, err
	}
	output, err := schemaOr(out, `{"type":"null"}`)
	if err != nil {
		return nil, err
	}
	raw, err := jsonscan.Marshal(struct {
		Name         string          `json:"name"`
		Description  string          `json:"description,omitempty"`
		InputSchema  json.RawMessage `json:"inputSchema"`
		OutputSchema json.RawMessage `json:"outputSchema"`
	}{name, description, input, output})
	if err != nil {
		return nil, err
	}
	def, findings := ParseDefinition(raw, "", diag.Loc{})
	return def, findings.Err()
}

// schemaOr returns the schema of a type, and empty for struct{}.
func schemaOr(t reflect.Type, empty string) (json.RawMessage, error) {
	if t == reflect.TypeFor[struct{}]() {
		return json.RawMessage(empty), nil
	}
	return schemaOf(t)
}

func decode[In any](params json.RawMessage) (in In, err error) {
	if len(params) == 0 {
		return in, nil
	}
	dec := json.NewDecoder(bytes.NewReader(params))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&in); err != nil {
		return in, &Error{Code: "params", Message: err.Error(), Permanent: true, Err: err}
	}
	return in, nil
}

// protect calls f and turns a panic into an error: a tool that breaks must not
// take the run with it.
func protect[In, Out any](ctx context.Context, in In, f func(context.Context, In) (Out, error)) (out Out, err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &Error{
				Code: "panic", Message: fmt.Sprint(v), Permanent: true, Uncertain: true,
				Err: fmt.Errorf("%v\n\n%s", v, debug.Stack()),
			}
		}
	}()
	return f(ctx, in)
}

func encode(out any) (Result, error) {
	var res Result
	if c, ok := out.(chosen); ok {
		res.Outcome, out = c.outcome()
	}
	if _, ok := out.(struct{}); ok {
		return res, nil
	}
	var err error
	if res.Value, err = jsonscan.Marshal(out); err != nil {
		return Result{}, &Error{Code: "result", Message: err.Error(), Permanent: true, Uncertain: true, Err: err}
	}
	return res, nil
}
