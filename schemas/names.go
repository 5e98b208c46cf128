package schemas

import "iter"

// Names returns the names of the members that the schema declares, in the order of
// its document, through $ref, allOf, anyOf and oneOf. A name may come twice.
func (s *Schema) Names() iter.Seq[string] {
	return func(yield func(string) bool) { s.node().declared(map[*node]bool{}, yield) }
}

func (n *node) declared(seen map[*node]bool, yield func(string) bool) bool {
	if n == nil || seen[n] {
		return true
	}
	seen[n] = true
	for _, p := range n.props {
		if !yield(p.name) {
			return false
		}
	}
	for _, parts := range [][]*node{{n.ref}, n.allOf, n.anyOf, n.oneOf} {
		for _, p := range parts {
			if !p.declared(seen, yield) {
				return false
			}
		}
	}
	return true
}
