package cel

import (
	"slices"
	"strings"
)

// nodeKind says what a node of a condition does.
type nodeKind int8

const (
	literalNode nodeKind = iota
	nameNode             // of a variable or a type
	memberNode           // value.name
	hasNode              // has(value.name)
	indexNode            // value[index]
	listNode             // [a, b]
	mapNode              // {key: value}; args are keys and values in turn
	callNode             // of a function or an operator; the target of a method is the first of args
	andNode              // of two and more
	orNode
	choiceNode // a ? b : c
	loopNode   // a macro that goes through a list or the keys of a map: args are the range and what is done
)

// node is a part of a condition.
type node struct {
	kind nodeKind
	span        // what a fault of it points at: the name or the operator
	name string // of a variable, a member, a function, an operator or a macro
	args []*node
	ops  []span // of an andNode or an orNode: where the operators are

	method bool // a callNode with a target
	rooted bool // a name with a dot before it, which no variable of a loop has
	value  any  // of a literal
	typ    *typ
	slot   int    // of a variable: where its value is; of a loop: where its element is
	call   native // of a callNode, once it was checked
	regex  *regex // of a call of matches with a literal
}

// maxParts is the maximum number of parts of the name of a type or a function.
const maxParts = 8

// qualified returns the dotted name that a chain of members, such as a.b.c, spells. It reports
// false for other nodes and for more than maxParts parts, so that asking each member of a long
// chain takes linear time.
func (n *node) qualified() (string, bool) {
	var parts []string
	for range maxParts {
		parts = append(parts, n.name)
		switch n.kind {
		case nameNode:
			slices.Reverse(parts)
			return strings.Join(parts, "."), true
		case memberNode:
			n = n.args[0]
		default:
			return "", false
		}
	}
	return "", false
}

// reserved are the words that can't be names of variables.
const reserved = " as break const continue else for function if import let loop package namespace return var void while "

func isReserved(name string) bool { return strings.Contains(reserved, " "+name+" ") }
