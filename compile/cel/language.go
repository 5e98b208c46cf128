package cel

import (
	lib "cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/env"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/overloads"
	"cel.dev/cel-go/common/stdlib"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"cel.dev/cel-go/ext"
)

// language returns what conditions may say: the standard library, less what depends on where it
// is evaluated, with strings, math, lists and sets, whose versions are fixed.
func language() []lib.EnvOption {
	return []lib.EnvOption{
		lib.StdLib(lib.StdLibSubset(&env.LibrarySubset{ExcludeFunctions: excluded()})),
		equality(operators.Equals, overloads.Equals),
		equality(operators.NotEquals, overloads.NotEquals),
		membership(),
		ext.Strings(ext.StringsVersion(4)), ext.Math(ext.MathVersion(3)), ext.Lists(ext.ListsVersion(3)),
		lib.CrossTypeNumericComparisons(true),
		lib.DefaultUTCTimeZone(true),
		lib.EnableIdentifierEscapeSyntax(),
		lib.ParserExpressionSizeLimit(maxBytes),
		lib.ParserRecursionLimit(maxNesting),
		lib.ParserErrorRecoveryLimit(1),
		lib.ExpressionNodeLimit(maxNodes),
		lib.RegexProgramSizeLimit(maxNodes),
	}
}

// excluded returns the functions of the standard library that are not there: those that look
// up a time zone in the system's table, and those that are declared again.
func excluded() []*env.Function {
	fs := []*env.Function{{Name: operators.Equals}, {Name: operators.NotEquals}, {Name: operators.In}, {Name: operators.OldIn}}
	for _, f := range stdlib.Functions() {
		for _, o := range f.OverloadDecls() {
			if args := o.ArgTypes(); len(args) == 2 && args[0] == types.TimestampType && args[1] == types.StringType && o.IsMemberFunction() {
				fs = append(fs, &env.Function{Name: f.Name(), Overloads: []*env.Overload{{ID: o.ID()}}})
			}
		}
	}
	return fs
}

// costly reports whether one call of a function may cost the product of the sizes of two
// values, before anybody counts: such functions are refused.
func costly(name string) bool {
	return name == "replace" || name == "join" || name == "distinct" || name == "format"
}

// equality defines == or != over any two values. The standard one wants both to be of one type,
// so that a number could not be compared with 1; checkEquality tells what can never be equal.
func equality(name, overload string) lib.EnvOption {
	return lib.Function(name, lib.Overload(overload, []*lib.Type{lib.DynType, lib.DynType}, lib.BoolType))
}

// membership defines in, which also asks for a member of an object by its name.
func membership() lib.EnvOption {
	return lib.Function(operators.In,
		lib.Overload(overloads.InList, []*lib.Type{lib.DynType, lib.DynType}, lib.BoolType,
			lib.BinaryBinding(func(what, in ref.Val) ref.Val {
				if c, ok := in.(traits.Container); ok {
					return c.Contains(what)
				}
				return types.NewErr("%q wants a list or an object, not %s", "in", in.Type().TypeName())
			})))
}
