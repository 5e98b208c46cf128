package crosscheck

import (
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"strings"
	"testing"

	lib "cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/env"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/stdlib"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/ext"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/compile/cel"
	"github.com/plc-lang/plc/schemas"
)

var conditions = flag.Int("conditions", 4_000, "how many conditions both plc and cel-go are asked about")

// celVariables are the variables of the conditions: their schema, their type for cel-go and their
// value. One without a schema is of any type.
var celVariables = []struct {
	name, schema string
	typ          *lib.Type
	value        string
}{
	{"i", `{"type":"integer"}`, lib.IntType, `7`},
	{"d", `{"type":"number"}`, lib.DoubleType, `2.5`},
	{"s", `{"type":"string"}`, lib.StringType, `"héllo wörld"`},
	{"b", `{"type":"boolean"}`, lib.BoolType, `true`},
	{"l", `{"type":"array","items":{"type":"integer"}}`, lib.ListType(lib.IntType), `[3,1,2,2,-5]`},
	{"t", `{"type":"array","items":{"type":"string"}}`, lib.ListType(lib.StringType), `["b","","a","é"]`},
	{"any", "", lib.DynType, `{"a":1,"b":[1,2.5,"x",null],"c":{"d":true,"e":"2026-01-02T03:04:05Z"},"n":null,"f":1.5}`},
}

// oracle is cel-go with the same functions and settings.
func oracle(t *testing.T) *lib.Env {
	t.Helper()
	out := []*env.Function{{Name: operators.Equals}, {Name: operators.NotEquals}, {Name: operators.In}, {Name: operators.OldIn}}
	for _, f := range stdlib.Functions() {
		for _, o := range f.OverloadDecls() {
			if args := o.ArgTypes(); len(args) == 2 && args[0] == types.TimestampType && args[1] == types.StringType && o.IsMemberFunction() {
				out = append(out, &env.Function{Name: f.Name(), Overloads: []*env.Overload{{ID: o.ID()}}})
			}
		}
	}
	two := []*lib.Type{lib.DynType, lib.DynType}
	opts := []lib.EnvOption{
		lib.StdLib(lib.StdLibSubset(&env.LibrarySubset{ExcludeFunctions: out})),
		lib.Function(operators.Equals, lib.Overload(overloads.Equals, two, lib.BoolType)),
		lib.Function(operators.NotEquals, lib.Overload(overloads.NotEquals, two, lib.BoolType)),
		lib.Function(operators.In, lib.Overload(overloads.InList, two, lib.BoolType, lib.BinaryBinding(func(what, in ref.Val) ref.Val {
			if c, ok := in.(traits.Container); ok {
				return c.Contains(what)
			}
			return types.NewErr("no container")
		}))),
		ext.Strings(ext.StringsVersion(4)), ext.Math(ext.MathVersion(3)), ext.Lists(ext.ListsVersion(3)),
		lib.CrossTypeNumericComparisons(true), lib.DefaultUTCTimeZone(true), lib.EnableIdentifierEscapeSyntax(),
	}
	for _, v := range celVariables {
		opts = append(opts, lib.Variable(v.name, v.typ))
	}
	e, err := lib.NewCustomEnv(opts...)
	if err != nil {
		t.Fatal(err)
	}
	return e
}

// ours reports whether an error is of a rule that only plc has: what is never equal, what takes too
// much work, and constants that are wrong, of which it tells beforehand.
func ours(source string, err error) bool {
	var fault *compile.PredicateError
	if errors.As(err, &fault) && fault.Start == 0 && fault.End == len(source) && !strings.Contains(err.Error(), "is of the type") && !strings.Contains(err.Error(), "no \"") {
		return true
	}
	for _, part := range []string{"never equal", "no name of a member", "wants a list or an object", "too much work"} {
		if strings.Contains(err.Error(), part) {
			return true
		}
	}
	return false
}

// kinder reports whether an error is of what cel-go takes, and the language does not: keys of any
// type.
func kinder(err error) bool { return strings.HasSuffix(err.Error(), "can't be a key") }

// TestConditions compares the conditions of plc with cel-go: what passes, and what it gives.
func TestConditions(t *testing.T) {
	e, checker := oracle(t), cel.New()
	vars, raw, values := map[string]*schemas.Schema{}, map[string]json.RawMessage{}, map[string]any{}
	for _, v := range celVariables {
		vars[v.name], raw[v.name], values[v.name] = nil, json.RawMessage(v.value), celValue(t, v.value)
		if v.schema != "" {
			s, err := schemas.Compile(json.RawMessage(v.schema), nil)
			if err != nil {
				t.Fatal(err)
			}
			vars[v.name] = s
		}
	}
	m := celMaker{newMaker(1)}
	checked, passed, held, failed, differ := 0, 0, 0, 0, 0
	report := func(format string, args ...any) {
		if differ++; differ <= 20 {
			t.Errorf(format, args...)
		}
	}
	for range *conditions {
		source := m.spoiled(m.expr("bool", 4))
		checked++
		p, err := checker.Check(source, vars, nil)
		tree, issues := e.Compile(source)
		theirs := issues.Err()
		if theirs == nil {
			if out := tree.OutputType().Kind(); out != types.BoolKind && out != types.DynKind {
				theirs = errors.New("it is of another type")
			}
		}
		if err != nil && ours(source, err) {
			continue
		}
		if (err == nil) != (theirs == nil) {
			report("%s\nplc: %v\ncel-go: %v", source, err, theirs)
			continue
		}
		if err != nil {
			continue
		}
		prog, theirs := e.Program(tree)
		if theirs != nil { // an index of null, which is wrong only when it is looked up
			continue
		}
		passed++
		ok, err := p.Holds(t.Context(), raw)
		out, _, theirs := prog.Eval(values)
		b, isBool := out.(types.Bool)
		switch {
		case err != nil && kinder(err):
		case (err == nil) != (theirs == nil && isBool):
			report("%s\nplc: %v, %v\ncel-go: %v, %v", source, ok, err, out, theirs)
		case err != nil:
			failed++
		case ok != bool(b):
			report("%s\nplc: %v\ncel-go: %v", source, ok, b)
		case ok:
			held++
		}
	}
	t.Logf("%d conditions, %d of which pass; %d hold, %d fail when they are evaluated; %d differences", checked, passed, held, failed, differ)
}

// celValue returns a JSON value as cel-go takes it: whole numbers are ints.
func celValue(t *testing.T, text string) any {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return celNumbers(v)
}

func celNumbers(v any) any {
	switch v := v.(type) {
	case json.Number:
		if i, err := v.Int64(); err == nil {
			return i
		}
		f, _ := v.Float64()
		return f
	case []any:
		for i := range v {
			v[i] = celNumbers(v[i])
		}
	case map[string]any:
		for k := range v {
			v[k] = celNumbers(v[k])
		}
	}
	return v
}

// celMaker makes conditions: of types that fit, mostly.
type celMaker struct{ maker }

var celTypes = []string{"bool", "int", "uint", "double", "string", "bytes", "list", "texts", "map", "time", "duration", "dyn", "type"}

// made are the ways to write a value of a type. In them $type is a value of that type, and $x a
// variable of a macro.
var made = map[string][]string{
	"bool": {
		"true", "false", "b", "!$bool", "$bool && $bool", "$bool || $bool", "$bool ? $bool : $bool", "$int < $int", "$double >= $int", "$uint > $double",
		"$string <= $string", "$bytes < $bytes", "$time < $time", "$duration >= $duration", "$bool > $bool", "$dyn < $dyn", "$dyn == $dyn", "$int == $double", "$string != $string",
		"$list == $list", "$map == $map", "$bytes == $bytes", "$time == $time", "$type == $type", "$int in $list", "$string in $texts", "$string in $map", "$dyn in $dyn",
		"$list.all(x, $bool)", "$list.exists(x, x > $int)", "$list.exists_one(x, x == $int)", "$texts.all(y, y != $string)", "$map.exists(k, k == $string)", "[$dyn].all(z, z == $dyn)",
		"has(any.a)", "has(any.c.d)", "has(any.$name)", "has($map.$name)", "$string.contains($string)", "$string.startsWith($string)", "$string.endsWith($string)",
		"$string.matches($string)", "matches($string, 'l+')", "bool($string)", "bool('true')", "math.isNaN($double)", "math.isInf($double)", "math.isFinite($double)", "any.c.d", "$dyn",
		"'x' in any", "[$dyn, $dyn] == $list", "$dyn ? $bool : $dyn", "any.b.exists(e, e == 'x')", "any.b.all(e, e > 1)", "any.$name == $dyn", "any[$string] == $dyn",
	},
	"int": {
		"0", "1", "-1", "42", "0x1F", "9223372036854775807", "-9223372036854775808", "i", "$int + $int", "$int - $int", "$int * $int", "$int / $int", "$int % $int", "-$int", "size($string)", "$string.size()", "size($list)", "$bytes.size()", "$map.size()",
		"int($double)", "int($string)", "int('12')", "int($uint)", "int($time)", "int($duration)", "$time.getFullYear()", "$time.getMonth()", "$time.getDate()", "$time.getDayOfMonth()", "$time.getDayOfWeek()", "$time.getDayOfYear()", "$time.getHours()", "$time.getMinutes()", "$time.getSeconds()", "$time.getMilliseconds()",
		"$duration.getHours()", "$duration.getMinutes()", "$duration.getSeconds()", "$duration.getMilliseconds()", "$string.indexOf($string)", "$string.indexOf($string, $int)", "$string.lastIndexOf($string)", "$string.lastIndexOf($string, $int)",
		"math.greatest($int, $int)", "math.least($int, $int, $int)", "math.greatest($list)", "math.abs($int)", "math.sign($int)", "math.bitAnd($int, $int)", "math.bitOr($int, $int)", "math.bitXor($int, $int)", "math.bitNot($int)", "math.bitShiftLeft($int, $int)", "math.bitShiftRight($int, $int)", "$list[$int]", "$bool ? $int : $int", "$dyn", "any.a",
	},
	"uint":     {"0u", "3u", "18446744073709551615u", "$uint + $uint", "$uint - $uint", "$uint * $uint", "$uint / $uint", "$uint % $uint", "uint($int)", "uint($double)", "uint($string)", "math.abs($uint)", "math.bitNot($uint)", "math.bitShiftLeft($uint, $int)", "math.greatest($uint, $uint)"},
	"double":   {"0.0", "1.5", "-2.5", "1e3", ".5", "1e308", "d", "$double + $double", "$double - $double", "$double * $double", "$double / $double", "-$double", "double($int)", "double($uint)", "double($string)", "double('1.25')", "math.ceil($double)", "math.floor($double)", "math.round($double)", "math.trunc($double)", "math.abs($double)", "math.sign($double)", "math.sqrt($double)", "math.sqrt($int)", "math.greatest($double, $double)", "math.least($double, $int)", "any.f"},
	"string":   {"''", "'a'", "'l'", `"o w"`, "r'\\d'", "'\\u00e9'", "'''x'y'''", "s", "$string + $string", "string($int)", "string($double)", "string($bool)", "string($uint)", "string($time)", "string($duration)", "string($bytes)", "$string.charAt($int)", "$string.substring($int)", "$string.substring($int, $int)", "$string.lowerAscii()", "$string.upperAscii()", "$string.trim()", "$string.reverse()", "strings.quote($string)", "$texts[$int]", "any.c.e", "$bool ? $string : $string"},
	"bytes":    {"b''", "b'ab'", `b'\xff\101'`, "bytes($string)", "$bytes + $bytes"},
	"list":     {"[]", "[1, 2, 3]", "l", "[$int, $int]", "$list + $list", "$list.map(x, x + $int)", "$list.filter(x, x > $int)", "$list.map(x, $bool, x)", "$list.sort()", "$list.sortBy(x, -x)", "$list.reverse()", "$list.slice($int, $int)", "lists.range($int)", "lists.range(4)", "[$list, $list].flatten()", "[[1], [[2]]].flatten(2)", "any.b", "[$int, $dyn]", "$list.sortBy(x, $dyn)"},
	"texts":    {"t", "['a']", "[$string]", "$string.split($string)", "$string.split($string, $int)", "$texts + $texts", "$texts.sort()", "$texts.map(y, y + $string)", "$map.map(k, k).sort()", "$texts.sortBy(y, size(y))"},
	"map":      {"{}", "{'a': 1}", "{$string: $int}", "{$string: $dyn, 'b': $dyn}", "any.c", "any"},
	"time":     {"timestamp('2026-01-02T03:04:05Z')", "timestamp('1999-12-31T23:59:59.25+02:00')", "timestamp($int)", "timestamp($string)", "$time + $duration", "$time - $duration", "timestamp(any.c.e)"},
	"duration": {"duration('90m')", "duration('-1.5s')", "duration($string)", "$time - $time", "$duration + $duration", "$duration - $duration"},
	"type":     {"int", "string", "list", "map", "null_type", "type($dyn)", "type($int)", "type($list)", "type(type($int))", "google.protobuf.Timestamp", "type($time)"},
	"dyn":      {"any", "any.a", "any.b", "any.c", "any.n", "any.f", "any.b[$int]", "any.$name", "any.c.e", "null", "dyn($int)", "dyn($string)", "dyn($list)", "dyn($double)", "dyn($map)", "$map[$string]", "{1: 'a', 2u: 'b', true: 'c'}[$dyn]"},
}

// expr returns an expression of a type: in one of twelve cases another one, or without its brackets.
func (m celMaker) expr(typ string, depth int) string {
	if m.chance(60) {
		typ = pick(m.maker, celTypes...)
	}
	ways := made[typ]
	way := pick(m.maker, ways...)
	if depth <= 0 {
		way = ways[m.IntN(min(len(ways), 3))]
	}
	var b strings.Builder
	for {
		before, rest, found := strings.Cut(way, "$")
		b.WriteString(before)
		if !found {
			return b.String()
		}
		n := strings.IndexFunc(rest, func(r rune) bool { return r < 'a' || r > 'z' })
		if n < 0 {
			n = len(rest)
		}
		switch hole := rest[:n]; {
		case hole == "name":
			b.WriteString(pick(m.maker, "a", "b", "c", "q", "`a`"))
		case m.chance(20):
			b.WriteString(m.expr(hole, depth-1))
		default:
			fmt.Fprintf(&b, "(%s)", m.expr(hole, depth-1))
		}
		way = rest[n:]
	}
}

// spoiled returns a condition, in one of four cases with a mistake in its text.
func (m celMaker) spoiled(source string) string {
	if !m.chance(4) {
		return source
	}
	at := m.IntN(len(source))
	part := pick(m.maker, "", "", "(", ")", "[", "]", ",", ".", "?", ":", "!", "-", "--", "'", `"`, `\\`, "x", "1", " ", "in", "`", "\n", "//", "0x", "u", "e5", "&&", "{", "}", "r'", "b", "é")
	return source[:at] + part + source[at+m.IntN(2):]
}
