package cel

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// parser makes a tree of a source. It stops at its first fault: methods return nil then, or a tree
// that nobody looks at.
type parser struct {
	lexer
	tok   token // the next one
	err   error
	depth int
	nodes int
}

// parse returns the tree of a condition. The error is a *compile.PredicateError.
func parse(source string) (*node, error) {
	p := &parser{lexer: lexer{source: source}}
	p.advance()
	n := p.expr()
	if p.err == nil && p.tok.kind != endToken {
		p.unexpected()
	}
	return n, p.err
}

func (p *parser) fail(s span, format string, args ...any) {
	p.stop(fault(p.source, s.start, s.end, format, args...))
}

// stop keeps the first fault, and makes the end of the next token, so that all loops end.
func (p *parser) stop(err error) {
	if p.err == nil {
		p.err, p.tok = err, token{}
	}
}

// unexpected says that the next token can't stand where it is.
func (p *parser) unexpected() {
	if p.tok.kind == endToken {
		p.fail(p.tok.span, "the condition ends too soon")
		return
	}
	p.fail(p.tok.span, "unexpected %q", p.text(p.tok))
}

func (p *parser) text(t token) string { return p.source[t.start:t.end] }

// advance goes to the next token and returns the one before it.
func (p *parser) advance() token {
	before := p.tok
	if p.err != nil {
		return before
	}
	if next, err := p.next(); err != nil {
		p.stop(err)
	} else {
		p.tok = next
	}
	return before
}

// is reports whether the next token is a sign.
func (p *parser) is(sign string) bool { return p.tok.kind == signToken && p.text(p.tok) == sign }

// accept takes a sign when it is the next token.
func (p *parser) accept(sign string) bool {
	ok := p.is(sign)
	if ok {
		p.advance()
	}
	return ok
}

func (p *parser) want(sign string) {
	if !p.accept(sign) {
		p.unexpected()
	}
}

func (p *parser) node(n *node) *node {
	if p.nodes++; p.nodes > maxNodes {
		p.fail(span{0, len(p.source)}, "the condition has more than %d parts", maxNodes)
	}
	return n
}

// expr reads a condition or a part of one: with a choice in it, if there is one.
func (p *parser) expr() *node {
	if p.depth++; p.depth > maxNesting {
		p.fail(p.tok.span, "the condition is nested more than %d levels deep", maxNesting)
		return nil
	}
	defer func() { p.depth-- }()
	n := p.or()
	if !p.is("?") {
		return n
	}
	at := p.advance().span
	then := p.or()
	p.want(":")
	return p.node(&node{kind: choiceNode, span: at, name: "?:", args: []*node{n, then, p.expr()}})
}

func (p *parser) or() *node { return p.logic(orNode, "||", p.and) }

func (p *parser) and() *node { return p.logic(andNode, "&&", p.relation) }

// logic reads a chain of one of the logical operators as one node.
func (p *parser) logic(kind nodeKind, op string, operand func() *node) *node {
	n := operand()
	if !p.is(op) {
		return n
	}
	chain := &node{kind: kind, span: p.tok.span, name: op, args: []*node{n}}
	for p.is(op) {
		chain.ops = append(chain.ops, p.advance().span)
		chain.args = append(chain.args, operand())
		p.node(chain)
	}
	return chain
}

func (p *parser) relation() *node {
	return p.binary([]string{"<", "<=", ">=", ">", "==", "!=", "in"}, p.sum)
}

func (p *parser) sum() *node { return p.binary([]string{"+", "-"}, p.product) }

func (p *parser) product() *node { return p.binary([]string{"*", "/", "%"}, p.unary) }

// binary reads operators that bind equally, from the left.
func (p *parser) binary(ops []string, operand func() *node) *node {
	n := operand()
	for {
		op := ""
		for _, o := range ops {
			if p.is(o) {
				op = o
			}
		}
		if op == "" {
			return n
		}
		at := p.advance().span
		n = p.node(&node{kind: callNode, span: at, name: op, args: []*node{n, operand()}})
	}
}

// unary reads a value with the signs before it. Two signs cancel each other.
func (p *parser) unary() *node {
	first, minus := p.tok, p.is("-")
	count := 0
	for minus && p.accept("-") || !minus && p.accept("!") {
		count++
	}
	switch {
	case count == 0:
		return p.chain(p.primary())
	case minus && count == 1 && (p.tok.kind == intToken || p.tok.kind == doubleToken):
		return p.chain(p.negative(first.span))
	}
	var n *node
	if at := p.tok.span; !minus && p.accept("-") { // only a number may have a minus behind a !
		if p.tok.kind != intToken && p.tok.kind != doubleToken {
			p.fail(at, "unexpected %q", "-")
			return nil
		}
		n = p.chain(p.negative(at))
	} else {
		n = p.chain(p.primary())
	}
	if count%2 == 0 {
		return n
	}
	name := "!"
	if minus {
		name = "-_"
	}
	return p.node(&node{kind: callNode, span: first.span, name: name, args: []*node{n}})
}

// negative reads a number with the minus before it.
func (p *parser) negative(minus span) *node {
	t := p.advance()
	return p.number(t, minus, "-"+p.text(t))
}

// number makes a literal of a number. A fault points at the place.
func (p *parser) number(t token, at span, text string) *node {
	n := &node{kind: literalNode, span: at}
	var err error
	switch t.kind {
	case intToken:
		n.typ = intType
		n.value, err = strconv.ParseInt(text, base(text), 64)
		if err != nil {
			p.fail(at, "a whole number beyond 64 bits; with .0 behind it it is the nearest double")
		}
	case uintToken:
		n.typ = uintType
		n.value, err = strconv.ParseUint(text[:len(text)-1], base(text), 64)
		if err != nil {
			p.fail(at, "a whole number beyond 64 bits")
		}
	default:
		n.typ = doubleType
		n.value, err = strconv.ParseFloat(text, 64)
		if err != nil {
			p.fail(at, "a number beyond all doubles")
		}
	}
	return p.node(n)
}

// base returns what ParseInt takes for a number that may begin with 0x, but not with 0 for octal.
func base(text string) int {
	if strings.Contains(text, "0x") {
		return 0
	}
	return 10
}

// chain reads the members, indexes and methods behind a value.
func (p *parser) chain(n *node) *node {
	for p.err == nil {
		switch {
		case p.accept("."):
			n = p.member(n)
		case p.is("["):
			at := p.advance().span
			index := p.expr()
			p.want("]")
			n = p.node(&node{kind: indexNode, span: at, name: "[]", args: []*node{n, index}})
		default:
			return n
		}
	}
	return n
}

// member reads a name behind a dot.
func (p *parser) member(target *node) *node {
	t := p.tok
	switch t.kind {
	case nameToken:
		p.advance()
		if p.is("(") {
			return p.called(&node{kind: callNode, span: t.span, name: p.text(t), args: []*node{target}, method: true})
		}
		return p.node(&node{kind: memberNode, span: t.span, name: p.text(t), args: []*node{target}})
	case quotedName:
		p.advance()
		return p.node(&node{kind: memberNode, span: t.span, name: p.source[t.start+1 : t.end-1], args: []*node{target}})
	}
	p.unexpected()
	return nil
}

// called reads the arguments of a function, and makes of a macro what it stands for.
func (p *parser) called(n *node) *node {
	p.want("(")
	n.args = append(n.args, p.list(")")...)
	if p.err != nil {
		return nil
	}
	if n.rooted {
		return p.node(n)
	}
	m, err := expand(n)
	if err != nil {
		p.stop(err.in(p.source))
		return nil
	}
	return p.node(m)
}

// list reads expressions to the bracket that ends them.
func (p *parser) list(end string) (all []*node) {
	if end == "]" && p.accept(",") {
		p.want(end)
		return nil
	}
	for !p.accept(end) && p.err == nil {
		all = append(all, p.expr())
		if !p.accept(",") {
			p.want(end)
			break
		}
		if end == ")" && p.is(end) { // a comma may end a list, but no arguments
			p.unexpected()
		}
	}
	return all
}

// primary reads a value without signs and members.
func (p *parser) primary() *node {
	t := p.tok
	switch t.kind {
	case intToken, uintToken, doubleToken:
		p.advance()
		return p.number(t, t.span, p.text(t))
	case stringToken, bytesToken:
		return p.string(p.advance())
	case nameToken:
		return p.word(false)
	case signToken:
		return p.sign()
	}
	p.unexpected()
	return nil
}

func (p *parser) string(t token) *node {
	text, err := unquote(p.text(t), t.kind)
	if err != nil {
		p.fail(t.span, "%s", err)
	}
	if t.kind == bytesToken {
		return p.node(&node{kind: literalNode, span: t.span, typ: bytesType, value: octets(text)})
	}
	return p.node(&node{kind: literalNode, span: t.span, typ: stringType, value: text})
}

// word reads a variable or a call.
func (p *parser) word(rooted bool) *node {
	t := p.advance()
	n := &node{kind: nameNode, span: t.span, name: p.text(t), rooted: rooted}
	switch {
	case isReserved(n.name):
		p.fail(t.span, "%q is a word that can't be a name", n.name)
	case p.is("("):
		n.kind = callNode
		return p.called(n)
	}
	return p.node(n)
}

// sign reads a value that begins with a bracket or is a word like true.
func (p *parser) sign() *node {
	t := p.tok
	literal := func(value any, typ *typ) *node {
		p.advance()
		return p.node(&node{kind: literalNode, span: t.span, value: value, typ: typ})
	}
	switch p.text(t) {
	case "true", "false":
		return literal(p.text(t) == "true", boolType)
	case "null":
		return literal(nil, nullType)
	case "(":
		p.advance()
		n := p.expr()
		p.want(")")
		return n
	case "[":
		p.advance()
		return p.node(&node{kind: listNode, span: t.span, args: p.list("]")})
	case "{":
		p.advance()
		return p.entries(t.span)
	case ".":
		if p.advance(); p.tok.kind == nameToken {
			return p.word(true)
		}
	}
	p.unexpected()
	return nil
}

// entries reads the keys and values of a map.
func (p *parser) entries(at span) *node {
	n := &node{kind: mapNode, span: at}
	if p.accept(",") {
		p.want("}")
		return p.node(n)
	}
	for !p.accept("}") && p.err == nil {
		key := p.expr()
		p.want(":")
		n.args = append(n.args, key, p.expr())
		if !p.accept(",") {
			p.want("}")
			break
		}
	}
	return p.node(n)
}

// misuse is a fault at a place of a source that is not at hand.
type misuse struct {
	span
	err error
}

func (m *misuse) in(source string) error { return fault(source, m.start, m.end, "%s", m.err) }

// expand makes of a call of a macro what it stands for, and returns any other call as it is.
func expand(n *node) (*node, *misuse) {
	switch {
	case !n.method && n.name == "has" && len(n.args) == 1:
		m := n.args[0]
		if m.kind != memberNode {
			return nil, &misuse{n.span, errors.New(`"has" wants a member, as in has(value.name)`)}
		}
		return &node{kind: hasNode, span: m.span, name: m.name, args: m.args}, nil
	case n.method && len(n.args) == 3 && isLoop(n.name), n.method && len(n.args) == 4 && n.name == "map":
		name := n.args[1]
		if name.kind != nameNode || name.rooted {
			return nil, &misuse{name.span, fmt.Errorf("%q wants the name of a variable first", n.name)}
		}
		return &node{kind: loopNode, span: n.span, name: n.name, args: append(n.args[:1:1], n.args[2:]...), value: name.name}, nil
	case n.method && (n.name == "greatest" || n.name == "least") && n.args[0].kind == nameNode && n.args[0].name == "math":
		return extreme(n)
	}
	return n, nil
}

func isLoop(name string) bool {
	switch name {
	case "all", "exists", "exists_one", "map", "filter", "sortBy":
		return true
	}
	return false
}

// extreme makes of math.greatest and math.least calls of two functions that take one value or two,
// or a list.
func extreme(n *node) (*node, *misuse) {
	args := n.args[1:]
	wrong := &misuse{n.span, fmt.Errorf("%q wants numbers, or a list of them", "math."+n.name)}
	var elems []*node
	if elems = args; len(args) == 1 && args[0].kind == listNode {
		elems = args[0].args
	}
	if len(elems) == 0 {
		return nil, wrong
	}
	for _, e := range elems {
		if e.kind == listNode || e.kind == mapNode || e.kind == literalNode && e.typ != intType && e.typ != uintType && e.typ != doubleType {
			return nil, wrong
		}
	}
	if len(args) > 2 {
		args = []*node{{kind: listNode, span: n.span, args: args}}
	}
	return &node{kind: callNode, span: n.span, name: "math." + n.name, args: args}, nil
}
