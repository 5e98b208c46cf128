package jq

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/itchyny/gojq"
	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/builtin"
	"github.com/plc-lang/plc/tool/internal/driver"
)

// Name is the name of the tool.
const Name = "json.query"

const definition = `{
	"description": "Runs a jq query on a value. It gives one value; for several put [ ] around the query.",
	"properties": {
		"query": {"type": "string", "minLength": 1, "maxLength": 65536},
		"value": {"description": "what . is"},
		"args": {"type": "object", "description": "values by name, which the query has as $name", "propertyNames": {"pattern": "^[A-Za-z_][A-Za-z0-9_]*$"}}
	},
	"required": ["query", "value"], "additionalProperties": false,
	"outputSchema": {},
	"effects": {"pure": true}
}`

// Tool returns json.query. Calls may run at once.
func Tool() *tool.Tool {
	return &tool.Tool{
		Definition: builtin.Define(Name, definition), Activity: tool.ActivityFunc(call),
		Source: builtin.Driver, Driver: builtin.Driver,
	}
}

// call runs a query once. Errors are *tool.Error, all permanent but those of ctx: "bad-params" for
// an invalid query, "query" if it fails or does not give exactly one value, and "output-too-large"
// if it exceeds its budget.
func call(ctx context.Context, req *tool.Request) (tool.Result, error) {
	p := driver.ReadParams(req.Params)
	text, _ := p.Text("query")
	names, values, err := variables(p)
	if err != nil {
		return tool.Result{}, err
	}
	a := &account{left: budget, known: map[place]measure{}}
	code, err := a.compile(text, names)
	if err != nil {
		return tool.Result{}, driver.Refuse("query: %v", err)
	}
	raw, _ := p.Raw("value")
	input, err := decode(raw)
	if err != nil {
		return tool.Result{}, err
	}
	return a.one(ctx, code.RunWithContext(ctx, input, values...))
}

// variables returns the args, by their names in a query.
func variables(p driver.Params) (names []string, values []any, err error) {
	raw, _ := p.Raw("args")
	gjson.Parse(raw).ForEach(func(name, value gjson.Result) bool {
		var v any
		v, err = decode(value.Raw)
		names, values = append(names, "$"+name.Str), append(values, v)
		return err == nil
	})
	return names, values, err
}

// decode returns a value in the form that the library uses, in which numbers keep their digits.
func decode(raw string) (any, error) {
	if raw == "" {
		return nil, nil
	}
	dec := json.NewDecoder(bytes.NewReader([]byte(raw)))
	dec.UseNumber()
	var v any
	if err := dec.Decode(&v); err != nil {
		return nil, driver.Refuse("%v", err)
	}
	return v, nil
}

// one returns the only value that a query gives.
func (a *account) one(ctx context.Context, values gojq.Iter) (tool.Result, error) {
	v, ok := values.Next()
	if !ok {
		return tool.Result{}, failed("the query gives no value; put [ ] around it for a list, or // null behind it")
	}
	if err, bad := v.(error); bad {
		return tool.Result{}, failure(ctx, err)
	}
	if err := a.pay(v); err != nil {
		return tool.Result{}, failure(ctx, err)
	}
	if more, ok := values.Next(); ok {
		if err, bad := more.(error); bad {
			return tool.Result{}, failure(ctx, err)
		}
		return tool.Result{}, failed("the query gives more than one value; put [ ] around it for a list")
	}
	text, err := gojq.Marshal(v)
	if err != nil {
		return tool.Result{}, failure(ctx, err)
	}
	if err := jsonscan.Check(text, jsonscan.Limits{MaxBytes: builtin.DefaultMaxBytes}); err != nil {
		return tool.Result{}, &tool.Error{Code: driver.TooLarge, Message: err.Error(), Permanent: true}
	}
	return tool.Result{Value: text}, nil
}

func failed(message string) error {
	return &tool.Error{Code: "query", Message: message, Permanent: true}
}

// failure returns an error of a query.
func failure(ctx context.Context, err error) error {
	var over *overdrawn
	switch {
	case errors.As(err, &over):
		return &tool.Error{Code: driver.TooLarge, Message: over.Error(), Permanent: true}
	case ctx.Err() != nil:
		return driver.Stopped(ctx, false)
	}
	return failed(driver.Head(fmt.Append(nil, err), 500))
}
