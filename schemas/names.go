package schemas

import (
	"iter"

	"github.com/plc-lang/plc/schemas/internal/tree"
)

// Names returns the names of the members that the schema declares, in the order of
// its document, through $ref, allOf, anyOf and oneOf. A name may appear twice.
func (s *Schema) Names() iter.Seq[string] {
	return func(yield func(string) bool) { declared(s.node(), map[*tree.Node]bool{}, yield) }
}

func declared(n *tree.Node, seen map[*tree.Node]bool, yield func(string) bool) bool {
	if n == nil || seen[n] {
		return true
	}
	seen[n] = true
	for _, p := range n.Props {
		if !yield(p.Name) {
			return false
		}
	}
	for _, parts := range [][]*tree.Node{{n.Ref}, n.AllOf, n.AnyOf, n.OneOf} {
		for _, p := range parts {
			if !declared(p, seen, yield) {
				return false
			}
		}
	}
	return true
}
