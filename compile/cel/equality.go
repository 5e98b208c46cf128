package cel

import (
	"fmt"
	"strings"

	"cel.dev/cel-go/common/ast"
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"

	"github.com/plc-lang/plc/compile"
)

// checkCalls finds what the library lets through: comparisons of what is never equal, and
// functions that are refused.
func checkCalls(source string, tree *ast.AST) error {
	var found *compile.PredicateError
	ast.PostOrderVisit(tree.Expr(), ast.NewExprVisitor(func(e ast.Expr) {
		if e.Kind() != ast.CallKind || found != nil {
			return
		}
		if words := callFault(tree, e.AsCall()); words != "" {
			start, end := token(source, offset(source, tree.SourceInfo().GetStartLocation(e.ID())))
			found = fault(source, start, end, "%s", words)
		}
	}))
	if found == nil {
		return nil
	}
	return found
}

// callFault returns what is wrong with a call; "" is nothing.
func callFault(tree *ast.AST, call ast.CallExpr) string {
	name, args := call.FunctionName(), call.Args()
	if costly(name) {
		return fmt.Sprintf("%q may take too much work, and is not there", name)
	}
	if len(args) != 2 {
		return ""
	}
	a, b := tree.GetType(args[0].ID()), tree.GetType(args[1].ID())
	switch name {
	case operators.Equals, operators.NotEquals:
		if !mayEqual(a, b) {
			return fmt.Sprintf("%s and %s are never equal", a, b)
		}
	case operators.In:
		return memberFault(a, b)
	}
	return ""
}

// memberFault returns what is wrong with "a in b".
func memberFault(a, b *types.Type) string {
	switch b.Kind() {
	case types.DynKind, types.AnyKind, types.TypeParamKind:
	case types.StructKind:
		if !mayEqual(a, types.StringType) {
			return fmt.Sprintf("%s is no name of a member", a)
		}
	case types.ListKind, types.MapKind:
		if of := b.Parameters()[0]; !mayEqual(a, of) {
			return fmt.Sprintf("%s and %s are never equal", a, of)
		}
	default:
		return fmt.Sprintf(`"in" wants a list or an object, not %s`, b)
	}
	return ""
}

// mayEqual reports whether a value of the one type may be equal to one of the other. What
// may be null is not always known of a type: anything can be compared with it.
func mayEqual(a, b *types.Type) bool {
	ka, kb := group(a), group(b)
	switch {
	case ka == types.DynKind || kb == types.DynKind || ka == types.NullTypeKind || kb == types.NullTypeKind:
		return true
	case ka == types.ListKind && kb == types.ListKind:
		return mayEqual(a.Parameters()[0], b.Parameters()[0])
	}
	return ka == kb
}

// group returns the kind of a type, one for all numbers, one for all objects and one for all
// of which nothing is known.
func group(t *types.Type) types.Kind {
	switch k := t.Kind(); k {
	case types.IntKind, types.UintKind, types.DoubleKind:
		return types.DoubleKind
	case types.StructKind, types.MapKind:
		return types.MapKind
	case types.AnyKind, types.TypeParamKind, types.ErrorKind:
		return types.DynKind
	default:
		return k
	}
}

// typeWords returns the type of a value for people.
func typeWords(name string) string { return strings.TrimSuffix(name, "_type") }
