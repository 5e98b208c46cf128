package model

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/tool"
)

// Codes of failures in addition to those of HTTPClient.
const (
	BadResult  = "result"     // the answer is not JSON, or not what the definition says
	Unexpected = "unexpected" // the result is not what _expect says
	Truncated  = "truncated"  // the answer was cut off
	Refused    = "refusal"    // the model would not answer
)

var (
	errNoModel = errors.New("there is no name of a model")
	errBaseURL = errors.New("baseURL is not an address like https://models.example/v1")
)

// Options configures the use of a model; the zero value and nil are the defaults.
type Options struct {
	Prices Prices // zero counts tokens only
	// Provider and Model are attributes of traces (tool.Annotate); "" is left out.
	Provider, Model string
}

// New returns the activity in which a model makes results.
func New(c Client, o *Options) tool.Activity {
	if o == nil {
		o = &Options{}
	}
	return tool.ActivityFunc(func(ctx context.Context, req *tool.Request) (tool.Result, error) {
		o.annotate(ctx)
		a, err := c.Complete(ctx, requestOf(req))
		if err != nil {
			return tool.Result{}, err
		}
		res := tool.Result{Usage: o.Prices.usage(a)}
		if err := a.stopped(); err != nil {
			return res, err
		}
		res.Outcome, res.Value, err = read(ctx, a.Text, req)
		return res, err
	})
}

// annotate adds the provider and the model to the trace, with the names of the OpenTelemetry
// conventions.
func (o *Options) annotate(ctx context.Context) {
	tool.Annotate(ctx, "gen_ai.operation.name", "chat")
	if o.Provider != "" {
		tool.Annotate(ctx, "gen_ai.provider.name", o.Provider)
	}
	if o.Model != "" {
		tool.Annotate(ctx, "gen_ai.request.model", o.Model)
	}
}

// stopped returns the error of an answer that ended without a result.
func (a *Answer) stopped() error {
	switch a.Stop {
	case "":
		return nil
	case Length:
		return &tool.Error{Code: Truncated, Message: fmt.Sprintf("the answer was cut off after %d tokens; raise maxTokens", a.Output)}
	}
	e := &tool.Error{Code: Refused, Message: "the model refused to answer"}
	if a.Reason != "" {
		e.Message += ": " + shorten(a.Reason)
	}
	return e
}

// read returns the outcome and the result of an answer.
func read(ctx context.Context, text string, req *tool.Request) (outcome string, value json.RawMessage, err error) {
	raw := []byte(unfenced(text))
	if err := jsonscan.Check(raw, jsonscan.Limits{}); err != nil {
		return "", nil, bad(BadResult, "the answer is not JSON: %v; it begins %q", err, shorten(text))
	}
	found := false
	gjson.ParseBytes(raw).ForEach(func(k, v gjson.Result) bool {
		switch k.Str {
		case "_outcome":
			outcome = v.String()
		case "_value":
			value, found = json.RawMessage(v.Raw), true
		}
		return true
	})
	if raw[0] != '{' || !found {
		return "", nil, bad(BadResult, "the answer is no object with a %q; it begins %q", "_value", shorten(text))
	}
	schema, err := outcomeSchema(outcome, req)
	if err != nil {
		return "", nil, err
	}
	if err := meets(ctx, value, schema, BadResult, fmt.Sprintf("what the definition of %q says", req.Tool)); err != nil {
		return "", nil, err
	}
	if req.Brief == nil {
		return outcome, value, nil
	}
	return outcome, value, meets(ctx, value, req.Brief.Expect, Unexpected, "what _expect says")
}

// outcomeSchema returns the schema of a result with this outcome; nil if there is none.
func outcomeSchema(outcome string, req *tool.Request) (*schemas.Schema, error) {
	if len(outcomes(req)) == 0 {
		return output(req), nil
	}
	var names []string
	for _, o := range outcomes(req) {
		if o.Name == outcome {
			return o.Schema, nil
		}
		names = append(names, o.Name)
	}
	return nil, bad("outcome", "the answer has the outcome %q; there are %s", shorten(outcome), strings.Join(names, ", "))
}

func meets(ctx context.Context, value json.RawMessage, schema *schemas.Schema, code, what string) error {
	if schema == nil {
		return nil
	}
	err := schemas.NewMeter(ctx, 0).Validate(schema, value)
	switch {
	case err != nil && ctx.Err() != nil:
		return ctx.Err()
	case err != nil:
		return bad(code, "the answer is not %s: %v", what, err)
	}
	return nil
}

func bad(code, format string, args ...any) error {
	return &tool.Error{Code: code, Message: fmt.Sprintf(format, args...)}
}

// unfenced returns a text without white space and a code fence around it, which servers without
// structured output may add.
func unfenced(text string) string {
	text = strings.TrimSpace(text)
	rest, ok := strings.CutPrefix(text, "```")
	rest, ended := strings.CutSuffix(rest, "```")
	if !ok || !ended {
		return text
	}
	if tag, body, found := strings.Cut(rest, "\n"); found && !strings.ContainsAny(tag, `{["`) {
		rest = body // without the name of the language
	}
	return strings.TrimSpace(rest)
}
