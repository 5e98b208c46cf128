// Package math has tools for arithmetic: the operations of MathQA formulas (lang/dialect/mathqa),
// from add and divide to volume_cone.
//
//	catalogue := tool.NewCatalogue(math.Tools()...)
//
// Rational numbers are calculated exactly, as fractions. A result that is not a decimal fraction,
// or is too long, is rounded to 34 digits. Roots, logarithms, angles and results with π are as
// exact as a float64. All tools are pure.
package math

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/tool"
)

// Name is the name of these tools for --tools.
const Name = "math"

// Tools returns the tools, by name.
func Tools() []*tool.Tool {
	var list []*tool.Tool
	for _, o := range operations() {
		list = append(list, o.tool())
	}
	return list
}

// operation is a tool.
type operation struct {
	name, params, description string
	calculate                 func(x []*big.Rat) (*big.Rat, error)
}

func (o *operation) tool() *tool.Tool {
	names := strings.Fields(o.params)
	return &tool.Tool{
		Definition: o.definition(names),
		Activity:   tool.ActivityFunc(func(_ context.Context, r *tool.Request) (tool.Result, error) { return o.call(names, r) }),
		Source:     "go", Driver: "go",
	}
}

func (o *operation) definition(names []string) *tool.Definition {
	var b bytes.Buffer
	fmt.Fprintf(&b, `{"type": "object", "description": %q, "properties": {`, o.description)
	for _, name := range names {
		fmt.Fprintf(&b, `%q: {"type": "number"}, `, name)
	}
	required, err := json.Marshal(names)
	if err != nil {
		panic(err) // they are strings
	}
	fmt.Fprintf(&b, `"_output": {"type": "number"}}, "required": %s, "additionalProperties": false, "effects": {"pure": true}}`, required)
	def, findings := tool.ParseDefinition(b.Bytes(), o.name, diag.Loc{})
	if len(findings) > 0 {
		panic(fmt.Sprintf("%s: %s", o.name, findings[0].Message))
	}
	return def
}

// call calculates.
func (o *operation) call(names []string, r *tool.Request) (tool.Result, error) {
	var params map[string]json.Number
	if err := json.Unmarshal(r.Params, &params); err != nil {
		return tool.Result{}, fmt.Errorf("%s wants numbers: %w", o.name, err)
	}
	x := make([]*big.Rat, len(names))
	for i, name := range names {
		var ok bool
		if x[i], ok = new(big.Rat).SetString(params[name].String()); !ok {
			return tool.Result{}, &tool.Error{Code: "params", Message: fmt.Sprintf("%q is no number", name), Permanent: true}
		}
	}
	result, err := o.calculate(x)
	if err != nil {
		return tool.Result{}, &tool.Error{Code: "undefined", Message: fmt.Sprintf("%s: %v", o.name, err), Permanent: true}
	}
	return tool.Result{Value: []byte(Text(result))}, nil
}

// digits is the number of digits to which a result is rounded that is not a decimal fraction.
const digits = 34

// Text returns a number as JSON: exactly if that takes at most 64 digits, else rounded to 34
// digits.
func Text(r *big.Rat) string {
	const most = 64
	if r.IsInt() && r.Num().BitLen() < most*3 {
		return r.Num().String()
	}
	if n, exact := r.FloatPrec(); exact && n < most && r.Num().BitLen() < most*3 {
		return r.FloatString(n)
	}
	s := new(big.Float).SetPrec(256).SetRat(r).Text('g', digits)
	if i := strings.IndexByte(s, 'e'); i < 0 && strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}
