package lang

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"

	"github.com/plc-lang/plc/diag"
)

// The grammar is that of plan-language §3, except that a chain may mix its operators, and a path
// may lack its dagger. The builder below checks these two, because it can give better messages. A
// path without a dagger is a reference in braces, and a number, true, false or null anywhere: names
// may contain digits, + and -, so -1.5e+3 is two names and a dot.

type exprChain struct {
	First *exprTerm   `parser:"@@"`
	Rest  []*exprLink `parser:"@@*"`
}

type exprLink struct {
	Pos  lexer.Position
	Op   string    `parser:"@(Or | And)"`
	Term *exprTerm `parser:"@@"`
}

type exprTerm struct {
	Pos    lexer.Position
	Group  *exprChain `parser:"Open @@ Close"`
	Path   *exprPath  `parser:"| @@"`
	String string     `parser:"| @String"`
	EndPos lexer.Position
}

type exprPath struct {
	Pos    lexer.Position
	Kind   string      `parser:"( Dagger @Name | @Word )"`
	Steps  []*exprStep `parser:"@@*"`
	EndPos lexer.Position
}

type exprStep struct {
	Pos    lexer.Position
	Name   string `parser:"Dot @Name"`
	Index  string `parser:"| @Index"`
	Quoted string `parser:"| @Quoted"`
	Star   bool   `parser:"| @Star"`
	EndPos lexer.Position
}

const (
	spaceClass  = `\t\n\v\f\r \x{85}\x{A0}\x{1680}\x{2000}-\x{200A}\x{2028}\x{2029}\x{202F}\x{205F}\x{3000}`
	nameToken   = `[^.\[\]"'|&()<>*,{}†` + spaceClass + `]+`
	stringToken = `(?s:"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')`
)

// rules returns the tokens. The state Path keeps white space out of references: it ends at the
// first character that can't continue one.
func rules() lexer.Rules {
	return lexer.Rules{
		"Root": {
			{Name: "Space", Pattern: `[` + spaceClass + `]+`},
			{Name: "Or", Pattern: `\|\||<\|>`},
			{Name: "And", Pattern: `&&|\*>`},
			{Name: "Open", Pattern: `\(`},
			{Name: "Close", Pattern: `\)`},
			{Name: "String", Pattern: stringToken},
			{Name: "Dagger", Pattern: dagger, Action: lexer.Push("Path")},
			{Name: "Word", Pattern: nameToken, Action: lexer.Push("Path")},
			{Name: "Bad", Pattern: `(?s:.)`},
		},
		"Path": {
			{Name: "Dot", Pattern: `\.`},
			{Name: "Index", Pattern: `\[-?[0-9]+\]`},
			{Name: "Star", Pattern: `\[\*\]`},
			{Name: "Quoted", Pattern: `\[` + stringToken + `\]`},
			{Name: "Name", Pattern: nameToken},
			lexer.Return(),
		},
	}
}

// grammar is the parser and its tokens. It is immutable.
type grammar struct {
	parser *participle.Parser[exprChain]
	lexer  *lexer.StatefulDefinition
	names  map[lexer.TokenType]string

	space, open, close, bad lexer.TokenType
}

// theGrammar builds the grammar when it is first needed, and only once, since that takes a
// millisecond and many regular expressions. It is never assigned again.
var theGrammar = sync.OnceValue(func() *grammar {
	def := lexer.MustStateful(rules())
	types := def.Symbols()
	return &grammar{
		parser: participle.MustBuild[exprChain](participle.Lexer(def), participle.Elide("Space")),
		lexer:  def,
		names:  lexer.SymbolsByRune(def),
		space:  types["Space"],
		open:   types["Open"],
		close:  types["Close"],
		bad:    types["Bad"],
	}
})

// The limits of one expression: the parser recurses into parentheses, and takes about 10 µs for
// each name, operator and literal.
const (
	maxNesting = 256
	maxTokens  = 100_000
)

// guard is between the lexer and the parser. It ends the text at the first token that can't be
// right, and marks it as Bad, so that a hostile megabyte is not read to its end and the parser
// never recurses too deep.
type guard struct {
	lexer.Lexer
	*grammar
	depth  int
	count  int
	ended  bool
	reason string // why the last token is Bad, if the guard decided that
}

func (g *guard) Next() (lexer.Token, error) {
	t, err := g.Lexer.Next()
	if err != nil {
		return t, err
	}
	if g.ended {
		t = lexer.EOFToken(t.Pos)
	}
	g.count++
	switch t.Type {
	case g.open:
		g.depth++
	case g.close:
		g.depth--
	}
	switch {
	case t.EOF():
		return t, nil
	case g.depth > maxNesting:
		g.reason = fmt.Sprintf("parentheses are nested more than %d deep", maxNesting)
	case g.depth < 0:
		g.reason = `")" closes nothing: there is no "(" before it`
	case g.count > maxTokens:
		g.reason = fmt.Sprintf("the expression is too long: it has more than %d names, operators and literals", maxTokens)
	}
	if g.reason != "" {
		t.Type = g.bad
	}
	g.ended = t.Type == g.bad
	return t, nil
}

// parse parses text[from:to], which is trimmed, by the grammar.
func (s source) parse(from, to int, bare bool) (*Expr, *fault) {
	g := theGrammar()
	lex, err := g.lexer.LexString("", s.text[from:to])
	if err != nil {
		panic(err) // it only wraps a string
	}
	guarded := &guard{Lexer: lex, grammar: g}
	tokens, err := lexer.Upgrade(guarded, g.space)
	if err != nil {
		panic(err) // the rule Bad matches any character
	}
	tree, err := g.parser.ParseFromLexer(tokens)
	if err != nil {
		m := newMisfit(guarded, s.text[from:to], tokens.Range(0, lexer.RawCursor(guarded.count)))
		m.bare = bare
		i, j, message := m.explain()
		return nil, badExpression(s.span(from+i, from+j), message)
	}
	b := &builder{source: s, from: from, bare: bare}
	e := b.chain(tree)
	if b.fault != nil {
		return nil, b.fault
	}
	return e, nil
}

func badExpression(span diag.Span, message string) *fault {
	return &fault{Code: diag.BadExpression, Span: span, Message: message}
}

// builder turns the parse tree into an expression. It keeps the first of several faults.
type builder struct {
	source
	from  int // of the parsed text in the source
	bare  bool
	fault *fault
}

func (b *builder) place(from, to int) diag.Span { return b.span(b.from+from, b.from+to) }

func (b *builder) fail(f *fault) {
	if b.fault == nil {
		b.fault = f
	}
}

func (b *builder) chain(c *exprChain) *Expr {
	e := b.term(c.First)
	if len(c.Rest) == 0 {
		return e
	}
	args := make([]*Expr, 1, 1+len(c.Rest))
	args[0] = e
	for _, l := range c.Rest {
		args = append(args, b.term(l.Term))
	}
	if b.fault == nil {
		b.fault = b.mixed(c, args)
	}
	if b.fault != nil {
		return nil
	}
	last := c.Rest[len(c.Rest)-1].Term
	e = join(opOf(c.Rest[0]), args)
	e.Angle = e.Angle || slices.ContainsFunc(c.Rest, isAngle)
	e.Span = b.place(c.First.Pos.Offset, last.EndPos.Offset)
	return e
}

func opOf(l *exprLink) Op {
	if l.Op == "||" || l.Op == "<|>" {
		return OpOr
	}
	return OpAnd
}

func isAngle(l *exprLink) bool { return l.Op == "<|>" || l.Op == "*>" }

// join combines operands; operands with the same operator are merged into it.
func join(op Op, args []*Expr) *Expr {
	e := &Expr{Op: op, Args: make([]*Expr, 0, len(args))}
	for _, a := range args {
		if a.Op != op {
			e.Args = append(e.Args, a)
			continue
		}
		e.Args = append(e.Args, a.Args...)
		e.Angle = e.Angle || a.Angle
	}
	return e
}

func (b *builder) term(t *exprTerm) *Expr {
	switch {
	case t.Group != nil:
		return b.chain(t.Group)
	case t.Path != nil:
		return b.path(t.Path)
	}
	text := b.unquote(t.Pos.Offset, t.String)
	return &Expr{
		Op:    OpLiteral,
		Span:  b.place(t.Pos.Offset, t.EndPos.Offset),
		Value: appendQuoted(nil, text, '"'),
	}
}

func (b *builder) path(p *exprPath) *Expr {
	from, to := p.Pos.Offset, p.EndPos.Offset
	word := b.text[b.from+from : b.from+to]
	kind := from
	if strings.HasPrefix(word, dagger) {
		kind += len(dagger)
	} else if isLiteral(word) {
		return &Expr{Op: OpLiteral, Span: b.place(from, to), Value: json.RawMessage(word)}
	} else if !b.bare {
		b.fail(b.noDagger(p, word))
	}
	e := &Expr{Span: b.place(from, to), Kind: p.Kind, KindSpan: b.place(kind, kind+len(p.Kind))}
	if len(p.Steps) > 0 {
		e.Path = make([]Segment, len(p.Steps))
	}
	for i, s := range p.Steps {
		e.Path[i] = b.segment(s)
	}
	return e
}

func (b *builder) segment(p *exprStep) Segment {
	from, to := p.Pos.Offset, p.EndPos.Offset
	var s Segment
	switch {
	case p.Star:
		s.Kind = Star
	case p.Index != "":
		n, ok := parseIndex(p.Index[1 : len(p.Index)-1])
		if !ok {
			b.fail(badExpression(b.place(from, to), fmt.Sprintf("the index %s is beyond 32 bits", clip(p.Index))))
		}
		s = Segment{Kind: Index, Index: n}
	case p.Quoted != "":
		s.Name = b.unquote(from+1, p.Quoted[1:len(p.Quoted)-1])
	default:
		s = named(p.Name)
		from = to - len(p.Name)
	}
	s.Span = b.place(from, to)
	return s
}

// unquote decodes a string, quotes included, at an offset.
func (b *builder) unquote(at int, s string) string {
	text, wrong := unquote(s)
	if wrong >= 0 {
		at += len(`"`) + wrong
		b.fail(b.wrongEscape(at, b.text[b.from+at:]))
	}
	return text
}
