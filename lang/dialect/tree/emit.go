package tree

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect"
)

// Emitter writes a plan as JSON of another notation. It reads back the text, which must be the same
// plan: text that only looks like a reference in the other notation can't be written.
type Emitter struct {
	*dialect.Writer
	notation *dialect.Notation
	// Spell returns a reference in the notation; false if the notation can't express it. text says
	// that the reference is part of a text.
	Spell func(e *lang.Expr, text bool) (string, bool)
	// Rename maps results that can't have their own name in the notation to other names; nil if all
	// keep their names.
	Rename map[string]string

	out []byte
}

// NewEmitter makes an emitter of a document in a notation.
func NewEmitter(doc *lang.Document, n *dialect.Notation) *Emitter {
	return &Emitter{Writer: dialect.NewWriter(doc, n.What), notation: n}
}

// Object opens an object; Close with the bracket ends it.
func (e *Emitter) Object() { e.value("{") }

// List opens a list.
func (e *Emitter) List() { e.value("[") }

// Close ends an object or a list with its bracket.
func (e *Emitter) Close(bracket string) { e.out = append(e.out, bracket...) }

// Name writes the name of a member.
func (e *Emitter) Name(name string) {
	e.String(name)
	e.out = append(e.out, ':')
}

// String writes a string.
func (e *Emitter) String(s string) {
	e.value(string(jsonscan.Encode(s)))
}

// JSON writes a value that is JSON.
func (e *Emitter) JSON(text string) { e.value(text) }

func (e *Emitter) value(text string) {
	if n := len(e.out); n > 0 && !strings.ContainsRune("{[:", rune(e.out[n-1])) {
		e.out = append(e.out, ',')
	}
	e.out = append(e.out, text...)
}

// Node writes a value of the plan, with its references.
func (e *Emitter) Node(n lang.Node) {
	switch n.Kind() {
	case lang.Object:
		e.Object()
		for m := range n.Members() {
			e.Name(m.Name)
			e.Node(m.Value)
		}
		e.Close("}")
	case lang.Array:
		e.List()
		for _, v := range n.Elements() {
			e.Node(v)
		}
		e.Close("]")
	case lang.String:
		e.String(e.text(n))
	default:
		e.JSON(string(n.AppendJSON(nil)))
	}
}

// text returns a string with its references in the notation's spelling.
func (e *Emitter) text(n lang.Node) string {
	text := n.Text()
	if text == nil {
		return n.Str()
	}
	var out strings.Builder
	for _, p := range text.Parts {
		var said string
		switch {
		case p.Expr == nil:
			out.WriteString(p.Literal)
		case p.Expr.Op == lang.OpLiteral && json.Unmarshal(p.Expr.Value, &said) == nil:
			out.WriteString(said)
		default:
			ref, ok := "", p.Expr.Op == lang.OpRef
			if ok {
				ref, ok = e.Spell(p.Expr, len(text.Parts) > 1)
			}
			if !ok {
				e.Refuse(diag.Loc{File: e.Doc.File, Span: p.Expr.Span}, "%s", p.Expr)
			}
			out.WriteString(ref)
		}
	}
	return out.String()
}

// Params writes the params of a call as an object, without those that are named.
func (e *Emitter) Params(c *lang.Call, without ...string) {
	e.Object()
	for _, m := range c.Params {
		if !slices.Contains(without, m.Name) {
			e.Name(m.Name)
			e.Node(m.Value)
		}
	}
	e.Close("}")
}

// Label returns the member of the state that a call writes; "" if it writes none. It refuses a
// write to any other place.
func (e *Emitter) Label(c *lang.Call) string {
	e.Result(c)
	to := c.OutputPath()
	if to == nil || len(to.Alternatives) == 0 {
		return ""
	}
	if p := to.Alternatives[0].Paths[0]; p.Kind == "state" && len(p.Path) == 1 {
		return e.Called(p.Path[0].Name)
	}
	return ""
}

// Called returns the name of a result in the notation.
func (e *Emitter) Called(label string) string { return cmp.Or(e.Rename[label], label) }

// ID returns the id of a call, in a notation in which the id is the name of the result.
func (e *Emitter) ID(c *lang.Call) string {
	if label := e.Label(c); label != "" && label != c.ID {
		e.Refuse(c.OutputNode.Loc(), "an output path with another name than that of the call")
	}
	return c.ID
}

// DependsOn writes the calls that a call waits for as a member.
func (e *Emitter) DependsOn(c *lang.Call, name string, always bool) {
	var list []lang.Name
	if c.Rest != nil {
		list = c.Rest.DependsOn
	}
	if len(list) == 0 && !always {
		return
	}
	e.Name(name)
	e.List()
	for _, d := range list {
		e.String(d.Name)
	}
	e.Close("]")
}

// Description returns the description of a call of the tool step.
func (e *Emitter) Description(c *lang.Call) string {
	if c.Tool != dialect.StepTool {
		e.Refuse(c.ToolNode.Loc(), "a call of the tool %q", c.Tool)
		return ""
	}
	description := ""
	for _, m := range c.Params {
		if m.Name == "description" && m.Value.Kind() == lang.String && e.isWords(m.Value) {
			description = e.text(m.Value)
			continue
		}
		e.Refuse(diag.Loc{File: e.Doc.File, Span: m.Key}, "the param %q", m.Name)
	}
	return description
}

// isWords reports whether a string has no references.
func (e *Emitter) isWords(n lang.Node) bool {
	if n.Text() == nil {
		return true
	}
	return !slices.ContainsFunc(n.Text().Parts, func(p lang.Part) bool { return p.Expr != nil && p.Expr.Op != lang.OpLiteral })
}

// Done returns the text, or findings about what the notation can't express.
func (e *Emitter) Done() ([]byte, diag.List) {
	if found := e.Found(); len(found) > 0 {
		return nil, found
	}
	var out bytes.Buffer
	if err := json.Indent(&out, e.out, "", "  "); err != nil {
		panic(err) // the text is JSON
	}
	out.WriteByte('\n')
	back, found := e.notation.Parse(diag.NewFile("", out.Bytes()), nil)
	if i := e.differs(back); i >= 0 || found.HasErrors() {
		at := e.Doc.Root.Loc()
		if i >= 0 && i < len(e.Doc.Calls) {
			at = e.Doc.Calls[i].Node.Loc()
		}
		e.Refuse(at, "what would be read back as something else")
		return nil, e.Found()
	}
	return out.Bytes(), nil
}

// differs returns the place of the first call that differs between the plan and the text that was
// read back, or -1.
func (e *Emitter) differs(back *lang.Document) int {
	a, b := e.Doc, back
	for i := range min(len(a.Calls), len(b.Calls)) {
		if e.meaning(&a.Calls[i]) != e.meaning(&b.Calls[i]) {
			return i
		}
	}
	if len(a.Calls) != len(b.Calls) {
		return min(len(a.Calls), len(b.Calls))
	}
	return -1
}

// meaning returns the parts of a call that must not change.
func (e *Emitter) meaning(c *lang.Call) string {
	params := make([]string, 0, len(c.Params))
	for _, m := range c.Params {
		params = append(params, m.Name+"="+e.said(m.Value))
	}
	slices.Sort(params)
	var after []string
	when := ""
	if c.Rest != nil {
		if c.Rest.When != nil {
			when = e.plain(c.Rest.When)
		}
		for _, d := range c.Rest.DependsOn {
			after = append(after, d.Name)
		}
		slices.Sort(after)
		after = slices.Compact(after)
	}
	return fmt.Sprintf("%q %q %q %q", c.Tool, params, after, when)
}

// said returns the text of a value, with its references in one spelling.
func (e *Emitter) said(n lang.Node) string {
	var out strings.Builder
	switch n.Kind() {
	case lang.Object:
		var members []string
		for m := range n.Members() {
			members = append(members, strconv.Quote(m.Name)+":"+e.said(m.Value))
		}
		slices.Sort(members)
		fmt.Fprintf(&out, "{%s}", strings.Join(members, ","))
	case lang.Array:
		for _, v := range n.Elements() {
			out.WriteString("[" + e.said(v) + "]")
		}
	case lang.String:
		if n.Text() == nil {
			return strconv.Quote(n.Str())
		}
		literal := ""
		for _, p := range n.Text().Parts {
			var s string
			switch {
			case p.Expr == nil:
				literal += p.Literal
			case p.Expr.Op == lang.OpLiteral && json.Unmarshal(p.Expr.Value, &s) == nil:
				literal += s
			default:
				out.WriteString(strconv.Quote(literal) + "⟨" + e.plain(p.Expr) + "⟩")
				literal = ""
			}
		}
		out.WriteString(strconv.Quote(literal))
	default:
		return string(n.AppendJSON(nil))
	}
	return out.String()
}

// plain returns a reference in one spelling, in which [0] and .0 are the same, with the result's
// name in the notation.
func (e *Emitter) plain(x *lang.Expr) string {
	if x.Op != lang.OpRef {
		return x.String()
	}
	path := slices.Clone(x.Path)
	if x.Kind == "state" && len(path) > 0 {
		path[0] = dialect.Member(e.Called(path[0].Name))
	}
	for i, s := range path {
		if s.Kind == lang.Index && s.Index >= 0 {
			path[i] = dialect.Member(strconv.Itoa(s.Index))
		}
	}
	return (&lang.Expr{Kind: x.Kind, Path: path}).String()
}

// SegmentNames returns the steps of a path as names; false if one is neither a name nor an index
// from the beginning.
func SegmentNames(path []lang.Segment) (names []string, ok bool) {
	for _, s := range path {
		switch {
		case s.Kind == lang.Star || s.Kind == lang.Index && s.Index < 0:
			return nil, false
		case s.Kind == lang.Index:
			names = append(names, strconv.Itoa(s.Index))
		default:
			names = append(names, s.Name)
		}
	}
	return names, true
}

// Output writes the result that a call already has as members.
func (e *Emitter) Output(c *lang.Call) {
	if c.Rest != nil && c.Rest.HasOutput {
		e.Name("status")
		e.String("completed")
		e.Name("result")
		e.JSON(string(c.Rest.Output.AppendJSON(nil)))
	}
}

// Meta returns a member of the meta of a solution.
func (e *Emitter) Meta(name string) (lang.Node, bool) {
	return e.Doc.Root.At("/meta/" + name)
}

// Inside returns the text that write writes.
func (e *Emitter) Inside(write func()) string {
	before := e.out
	e.out = nil
	write()
	text := string(e.out)
	e.out = before
	return text
}
