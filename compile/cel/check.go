package cel

import (
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/internal/spell"
)

func fault(source string, start, end int, format string, args ...any) *compile.PredicateError {
	return &compile.PredicateError{Start: min(start, len(source)), End: min(end, len(source)), Message: fmt.Sprintf(format, args...)}
}

// variable has the meaning of a name in a part of a condition.
type variable struct {
	name string
	typ  *typ
	slot int
	loop bool // of a macro
}

// check finds the types of a tree.
type check struct {
	*typing
	unifier
	source string
	scope  []variable // the innermost last
	slots  int
	used   map[string]int // the slots of the variables that are read

	faults []*compile.PredicateError // of types
	late   []*compile.PredicateError // reported only if there are no other faults
}

func (c *check) fail(s span, format string, args ...any) *typ {
	c.faults = append(c.faults, fault(c.source, s.start, s.end, format, args...))
	return dynType
}

// first returns the fault to report. Of type faults it is the first in the text.
func (c *check) first() error {
	switch {
	case len(c.faults) > 0:
		return slices.MinFunc(c.faults, func(a, b *compile.PredicateError) int { return a.Start - b.Start })
	case len(c.late) > 0:
		return c.late[0]
	}
	return nil
}

// typeOf finds the type of a node and of all below it.
func (c *check) typeOf(n *node) *typ {
	if n.typ == nil {
		n.typ = c.find(n)
	}
	return n.typ
}

func (c *check) find(n *node) *typ {
	switch n.kind {
	case nameNode:
		return c.name(n)
	case memberNode:
		return c.member(n)
	case hasNode:
		c.member(n)
		return boolType
	case listNode:
		return listOf(c.joined(n.args))
	case mapNode:
		var keys, values []*node
		for i := 0; i < len(n.args); i += 2 {
			keys, values = append(keys, n.args[i]), append(values, n.args[i+1])
		}
		return mapOf(c.joined(keys), c.joined(values))
	case andNode, orNode:
		return c.logic(n)
	case choiceNode:
		return c.choice(n)
	case loopNode:
		return c.loop(n)
	case indexNode:
		return c.overloads(n, c.checker.functions["[]"], c.all(n.args))
	}
	return c.function(n)
}

func (c *check) all(nodes []*node) []*typ {
	types := make([]*typ, len(nodes))
	for i, n := range nodes {
		types[i] = c.typeOf(n)
	}
	return types
}

// joined returns the type of values that stand beside each other.
func (c *check) joined(nodes []*node) (so *typ) {
	for _, n := range nodes {
		so = c.join(so, c.typeOf(n))
	}
	if so == nil {
		return c.fresh()
	}
	return so
}

// name finds a variable or a type.
func (c *check) name(n *node) *typ {
	for _, v := range slices.Backward(c.scope) {
		if v.name == n.name && !(n.rooted && v.loop) {
			n.slot = v.slot
			if !v.loop {
				c.used[v.name] = v.slot
			}
			return v.typ
		}
	}
	if t := typeLiteral(n, n.name); t != nil {
		return t
	}
	return c.fail(n.span, "%s", c.noName(n.name))
}

// typeLiteral makes a literal of the name of a type.
func typeLiteral(n *node, name string) *typ {
	t, ok := typeNames[name]
	if !ok {
		return nil
	}
	n.kind, n.value = literalNode, typeName(name)
	return typeOf(t)
}

// member finds the type of value.name.
func (c *check) member(n *node) *typ {
	if name, ok := n.qualified(); ok && n.kind == memberNode {
		if t := typeLiteral(n, name); t != nil {
			return t
		}
	}
	of := c.resolve(c.typeOf(n.args[0]), true)
	switch of.kind {
	case mapKind:
		return c.resolve(of.args[1], true)
	case objectKind:
		if f := c.field(c.objects[of.name], n.name); f != nil {
			return f.typ
		}
		return c.fail(n.span, "%s", c.noMember(n.name))
	case dynKind, varKind:
		c.fits([]*typ{dynType}, []*typ{of})
		return dynType
	}
	return c.fail(n.span, "%s has no members", of)
}

func (c *check) logic(n *node) *typ {
	for i, t := range c.all(n.args) {
		if !c.fits([]*typ{t}, []*typ{boolType}) {
			pair := []*typ{boolType, t}
			if i == 0 {
				pair = []*typ{t, c.resolve(n.args[1].typ, false)}
			}
			c.fail(n.ops[max(i-1, 0)], "%s", noOverload(n.name, pair))
		}
	}
	return boolType
}

func (c *check) choice(n *node) *typ {
	types := c.all(n.args)
	v := c.fresh()
	if !c.fits(types, []*typ{boolType, v, v}) {
		return c.fail(n.span, "%s", c.noOverload(n.name, types))
	}
	return c.resolve(v, true)
}

// loop finds the type of a macro that goes through a list or the keys of a map.
func (c *check) loop(n *node) *typ {
	over := c.resolve(c.typeOf(n.args[0]), true)
	elem := dynType
	switch over.kind {
	case listKind, mapKind:
		elem = over.args[0]
	case dynKind, varKind:
		c.fits([]*typ{dynType}, []*typ{over})
	default:
		c.fail(n.args[0].span, "%s has no elements to go through%s", over, asMap(over.String()))
	}
	n.slot = c.slots
	c.slots++
	c.scope = append(c.scope, variable{name: n.value.(string), typ: elem, slot: n.slot, loop: true})
	types := c.all(n.args[1:])
	c.scope = c.scope[:len(c.scope)-1]
	condition := func(t *typ) {
		if !c.fits([]*typ{t}, []*typ{boolType}) {
			c.fail(n.span, "%q wants what is true or false, not %s", n.name, c.resolve(t, false))
		}
	}
	switch n.name {
	case "map":
		if len(types) == 2 {
			condition(types[0])
		}
		return listOf(c.resolve(types[len(types)-1], true))
	case "filter":
		condition(types[0])
		return listOf(elem)
	case "sortBy":
		ways := len(c.candidates(c.checker.functions["sort"], []*typ{listOf(types[0])}, true))
		switch {
		case over.kind == mapKind || ways == 0:
			return c.fail(n.span, "%s", c.noOverload(n.name, []*typ{over, types[0]}))
		case over.kind == listKind:
			return listOf(elem)
		case ways == 1:
			return listOf(c.fresh())
		}
		return dynType
	}
	condition(types[0])
	return boolType
}

// function finds the type of a call of a function or an operator.
func (c *check) function(n *node) *typ {
	args := n.args
	if n.method {
		args = n.args[1:]
		if prefix, ok := n.args[0].qualified(); ok {
			if f := c.checker.functions[prefix+"."+n.name]; f != nil {
				n.method, n.name, n.args = false, f.name, args
			}
		}
	}
	f := c.checker.functions[n.name]
	switch {
	case refused(n.name):
		c.all(n.args)
		c.later(n, "%q may take too much work, and is not there", n.name)
		return dynType
	case f == nil:
		c.all(args)
		return c.fail(n.span, "there is no function %q%s", n.name, meant(n.name, c.checker.names()))
	}
	n.call = f.call
	types := c.all(n.args)
	switch n.name {
	case "==", "!=", "in":
		c.comparison(n, types)
		return boolType
	}
	t := c.overloads(n, f, types)
	if len(c.faults) == 0 {
		c.constant(n)
	}
	return t
}

func (c *check) later(n *node, format string, args ...any) {
	c.late = append(c.late, fault(c.source, n.start, n.end, format, args...))
}

// overloads returns what a call gives: dyn, if that depends on types that are not known.
func (c *check) overloads(n *node, f *function, types []*typ) *typ {
	found := c.candidates(f, types, n.method)
	if len(found) == 0 {
		return c.fail(n.span, "%s", c.noOverload(n.name, types))
	}
	for _, t := range found[1:] {
		if !found[0].isDyn() && !t.same(found[0]) {
			return dynType
		}
	}
	return found[0]
}

// candidates returns what each overload gives that takes values of these types.
func (c *check) candidates(f *function, types []*typ, method bool) (all []*typ) {
	for i := range f.overloads {
		o := &f.overloads[i]
		if o.method != method || len(o.takes) != len(types) {
			continue
		}
		takes, gives := o.instance(&c.unifier)
		if c.fits(types, takes) {
			all = append(all, c.resolve(gives, true))
		}
	}
	return all
}

// comparison reports what is never equal.
func (c *check) comparison(n *node, types []*typ) {
	a, b := c.resolve(types[0], false), c.resolve(types[1], false)
	switch {
	case n.name == "in":
		if words := memberFault(a, b); words != "" {
			c.later(n, "%s", words)
		}
	case !mayEqual(a, b):
		c.later(n, "%s and %s are never equal", a, b)
	}
}

// constant does beforehand what does not depend on values: conversions, and regular expressions.
// What is wrong with them is wrong with the condition.
func (c *check) constant(n *node) {
	last := n.args[len(n.args)-1]
	if last.kind != literalNode {
		return
	}
	var err error
	switch n.name {
	case "matches":
		text, _ := last.value.(string)
		n.regex, err = compileRegex(text)
	case "bool", "bytes", "double", "duration", "int", "string", "timestamp", "uint":
		_, err = n.call(&frame{}, n, []any{last.value})
	}
	if err != nil {
		c.late = append(c.late, fault(c.source, 0, len(c.source), "%s", lowered(err.Error())))
	}
}

// noMember says that an object never has a member of this name.
func (c *check) noMember(name string) string {
	for _, o := range c.order {
		if f, asked := o.fields[name]; asked && f == nil {
			return fmt.Sprintf("%s has no member %q%s", o.typ, name, meant(name, o.schema.Names()))
		}
	}
	return fmt.Sprintf("there is no member %q", name)
}

// noName says that there is neither a variable nor a type of this name.
func (c *check) noName(name string) string {
	names := slices.Sorted(maps.Keys(c.vars))
	cure := meant(name, slices.Values(names))
	if cure == "" {
		cure = fmt.Sprintf("; the condition is over %s", strings.Join(names, " and "))
	}
	return fmt.Sprintf("there is no %q%s", name, cure)
}

func meant(name string, names iter.Seq[string]) string {
	if near, ok := spell.Nearest(name, names); ok {
		return fmt.Sprintf("; did you mean %q?", near)
	}
	return ""
}

func (c *check) noOverload(name string, types []*typ) string {
	known := make([]*typ, len(types))
	for i, t := range types {
		known[i] = c.resolve(t, false)
	}
	return noOverload(name, known)
}

// noOverload says that a function or an operator does not take values of these types.
func noOverload(name string, types []*typ) string {
	of := "(" + typeList(types) + ")"
	cure := asMap(of)
	if strings.Contains(of, "int") && strings.Contains(of, "double") {
		cure = "; double(…) makes a double of an int"
	}
	return fmt.Sprintf("%q does not take %s%s", strings.TrimSuffix(name, "_"), of, cure)
}

// asMap returns the cure for an object in the place of a map.
func asMap(of string) string {
	if strings.Contains(of, "{") {
		return "; dyn(…) makes a map of an object"
	}
	return ""
}
