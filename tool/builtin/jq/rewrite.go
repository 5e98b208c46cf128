package jq

import (
	"fmt"
	"math"
	"reflect"
	"slices"

	"github.com/itchyny/gojq"
)

// The names of the functions that this package adds to queries. Queries can't use them themselves:
// see refuse.
const (
	payName       = "_plc_pay"
	timesName     = "_plc_times"
	joinName      = "_plc_join"
	transposeName = "_plc_transpose"
	shortName     = "_plc_short"
)

// compile compiles a query that pays for what it does.
func (a *account) compile(text string, variables []string) (*gojq.Code, error) {
	q, err := gojq.Parse(text)
	if err != nil {
		return nil, err
	}
	if err := rewrite(reflect.ValueOf(q)); err != nil {
		return nil, err
	}
	return gojq.Compile(entered(q),
		gojq.WithVariables(variables),
		gojq.WithEnvironLoader(func() []string { return nil }),
		gojq.WithFunction(payName, 0, 0, func(v any, _ []any) any {
			if err := a.pay(v); err != nil {
				return err
			}
			return v // v itself, so that a path expression through it still works
		}),
		gojq.WithFunction(timesName, 2, 2, func(_ any, args []any) any { return a.times(args[0], args[1]) }),
		gojq.WithFunction(joinName, 1, 1, func(v any, args []any) any { return a.join(v, args[0]) }),
		gojq.WithFunction(shortName, 0, 0, func(v any, _ []any) any {
			if s, ok := v.(string); ok && len(s) > longest {
				return &overdrawn{fmt.Sprintf("a text that expressions are matched with has more than %d bytes", longest)}
			}
			return v
		}),
		gojq.WithFunction(transposeName, 0, 0, func(v any, _ []any) any { return a.transpose(v) }),
	)
}

// rewrite changes all queries within a part of a query.
func rewrite(v reflect.Value) error {
	switch v.Kind() {
	case reflect.Pointer:
		if v.IsNil() {
			return nil
		}
		if err := rewrite(v.Elem()); err != nil {
			return err
		}
		return change(v.Interface())
	case reflect.Slice:
		for i := range v.Len() {
			if err := rewrite(v.Index(i)); err != nil {
				return err
			}
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if err := rewrite(v.Field(i)); err != nil {
				return err
			}
		}
	}
	return nil
}

// change changes one part, whose own parts are changed already.
func change(part any) error {
	switch part := part.(type) {
	case *gojq.Query:
		if len(part.Imports) > 0 || part.Meta != nil {
			return fmt.Errorf("there are no modules")
		}
		multiply(part)
		if t := part.Term; t != nil && t.Func != nil && matches(t.Func) {
			*part = *pipe(function(shortName), ref(*part))
		}
		if part.Term == nil || !plain(part.Term) {
			*part = *group(entered(ref(*part))) // in parentheses: the library wants a term in an interpolation
		}
	case *gojq.FuncDef:
		return refuse(part.Name)
	case *gojq.Func:
		return called(part)
	case *gojq.Array:
		if part.Query != nil {
			part.Query = pipe(part.Query, function(payName))
		}
	}
	return nil
}

func ref(q gojq.Query) *gojq.Query { return &q }

// plain reports whether a term can't make a value larger than its input, so that it need not be
// changed.
func plain(t *gojq.Term) bool {
	switch t.Type {
	case gojq.TermTypeIdentity, gojq.TermTypeNumber, gojq.TermTypeNull, gojq.TermTypeTrue, gojq.TermTypeFalse, gojq.TermTypeIndex:
		return true
	}
	return t.Type == gojq.TermTypeString && t.Str.Queries == nil
}

// matches reports a function that matches a text with an expression, in time quadratic in the text.
func matches(f *gojq.Func) bool {
	switch f.Name {
	case "match", "test", "capture", "scan", "sub", "gsub", "splits":
		return true
	}
	return f.Name == "split" && len(f.Args) == 2
}

// called changes a call of a function.
func called(f *gojq.Func) error {
	if err := refuse(f.Name); err != nil {
		return err
	}
	for i, arg := range f.Args {
		f.Args[i] = pipe(arg, function(payName))
	}
	switch {
	case f.Name == "join" && len(f.Args) == 1:
		f.Name = joinName
	case f.Name == "transpose" && len(f.Args) == 0:
		f.Name = transposeName
	}
	return nil
}

// refuse refuses functions that are not pure, and those that are ours.
func refuse(name string) error {
	if slices.Contains([]string{
		"now", "localtime", "mktime", "strflocaltime", "input", "inputs", "debug", "stderr", "halt", "halt_error",
		"env", "$ENV", "input_filename", "input_line_number", "modulemeta", "get_search_list",
		payName, timesName, joinName, transposeName, shortName,
	}, name) {
		return fmt.Errorf("%s is not to be had here", name)
	}
	return nil
}

// multiply changes l * r and l *= r into calls of our function.
func multiply(q *gojq.Query) {
	switch q.Op {
	case gojq.OpMul:
		*q = *function(timesName, q.Left, q.Right)
	case gojq.OpUpdateMul: // r as $x | l |= . * $x
		const name = "$_plc_factor"
		update := &gojq.Query{Left: q.Left, Op: gojq.OpModify, Right: function(timesName, identity(), function(name))}
		*q = gojq.Query{Left: group(q.Right), Patterns: []*gojq.Pattern{{Name: name}}, Op: gojq.OpPipe, Right: update}
	}
}

// entered returns a query that pays for its input before it begins.
func entered(q *gojq.Query) *gojq.Query { return pipe(function(payName), q) }

func pipe(l, r *gojq.Query) *gojq.Query {
	return &gojq.Query{Left: group(l), Op: gojq.OpPipe, Right: group(r)}
}

// group returns a query in parentheses.
func group(q *gojq.Query) *gojq.Query {
	return &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeQuery, Query: q}}
}

func function(name string, args ...*gojq.Query) *gojq.Query {
	return &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeFunc, Func: &gojq.Func{Name: name, Args: args}}}
}

func identity() *gojq.Query { return &gojq.Query{Term: &gojq.Term{Type: gojq.TermTypeIdentity}} }

// times returns l * r. A text times a number is so many of it.
func (a *account) times(l, r any) any {
	text, number := l, r
	if _, ok := r.(string); ok {
		text, number = r, l
	}
	if s, ok := text.(string); ok && float64(len(s))*toFloat(number) > largest {
		return &overdrawn{"the query makes too large a value"}
	}
	return operate(". as [$l, $r] | $l * $r", []any{l, r})
}

// join returns v | join(separator).
func (a *account) join(v, separator any) any {
	list, _ := v.([]any)
	if s, ok := separator.(string); ok && len(list)*len(s) > largest {
		return &overdrawn{"the query makes too large a value"}
	}
	return operate(". as [$l, $r] | $l | join($r)", []any{v, separator})
}

// transpose returns v | transpose: rows of the length of the longest.
func (a *account) transpose(v any) any {
	rows, _ := v.([]any)
	longest := 0
	for _, row := range rows {
		if cells, ok := row.([]any); ok {
			longest = max(longest, len(cells))
		}
	}
	if len(rows)*longest*nodeCost > largest {
		return &overdrawn{"the query makes too large a value"}
	}
	return operate("transpose", v)
}

// operate runs a query that is written in this package.
func operate(text string, v any) any {
	q, err := gojq.Parse(text)
	if err != nil {
		panic(err) // it is written here
	}
	result, _ := q.Run(v).Next()
	return result
}

func toFloat(v any) float64 {
	f, _ := gojq.ToFloat64(v)
	return math.Max(f, 0)
}
