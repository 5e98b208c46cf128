package compile

import (
	"encoding/json"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/tool"
)

// checkArgs checks params against a definition: those that are required, those that are unknown,
// and the literals among them. It reports whether nothing was wrong. If the call was only read in
// part, only that part is checked.
func (c *templates) checkArgs(d *draft, t *tool.Tool, params []lang.Member, toolNode lang.Node, args *Template, beside beside) bool {
	def, unread := t.Definition, d.Source.Node.Unread()
	sound := !unread
	var misspelt []string // params that are perhaps required ones
	for _, name := range def.Required {
		if unread {
			break
		}
		if !slices.ContainsFunc(params, func(m lang.Member) bool { return m.Name == name }) && !beside.has(name) {
			sound = false
			f := c.errorf(diag.MissingParam, d.loc(toolNode), "%s requires the param %q", spelled(d, t), name).
				related(def.Loc, "declared here").inside(d, d.span(toolNode.Span()))
			if !f.kept() {
				continue
			}
			if around := wrapperOf(params, def, name); around != "" {
				f.Message += fmt.Sprintf("; it belongs in the call itself, and not inside %q", around)
			} else if near, ok := f.nearest(name, undeclared(params, def)); ok {
				f.Message += fmt.Sprintf("; is %q a misspelling of it?", near)
				misspelt = append(misspelt, near)
				i := slices.IndexFunc(params, func(m lang.Member) bool { return m.Name == near })
				f.Fix = &diag.Fix{
					Message: "replace it by " + quote(name),
					Edits:   []diag.Edit{{Span: c.at(d.span(params[i].Key)).Span, Text: quote(name)}},
				}
			}
		}
	}
	for i := range params {
		if !params[i].Value.Unread() && !c.checkArg(d, t, params, &params[i]) {
			sound = false
		}
	}
	c.perhapsMisspelt(d, t, params, misspelt)
	if lit, ok := args.Literal(); sound && ok && beside == nil && def.Params != nil && c.factsOf(t).whole {
		for _, v := range c.violations(def.Params, def.Sent(lit)) {
			c.errorf(diag.BadLiteral, d.loc(toolNode), "the params of %q do not fit: %s: %s", def.Name, orRoot(v.Instance), v.Message).
				related(def.Loc, "declared here").inside(d, d.span(toolNode.Span()))
			sound = false
		}
	}
	return sound
}

// wrapperOf returns the name of a param that def does not declare and whose value has a member
// called name, as in {"arguments": {"path": …}}; "" if there is none.
func wrapperOf(params []lang.Member, def *tool.Definition, name string) string {
	for i := range params {
		if m := &params[i]; def.Param[m.Name] == nil {
			if _, ok := m.Value.Member(name); ok {
				return m.Name
			}
		}
	}
	return ""
}

// undeclared returns the names of params that def does not declare but allows.
func undeclared(params []lang.Member, def *tool.Definition) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range params {
			if name := params[i].Name; def.Param[name] == nil && !def.Closed && !yield(name) {
				return
			}
		}
	}
}

// perhapsMisspelt warns of params that a definition allows, and whose names are similar to those of
// params that it declares and the call does not have. known are the names about which there is a
// finding already.
func (c *templates) perhapsMisspelt(d *draft, t *tool.Tool, params []lang.Member, known []string) {
	def := t.Definition
	var missing []string
	for i := range params {
		m := &params[i]
		if def.Closed || def.Param[m.Name] != nil || slices.Contains(known, m.Name) {
			continue
		}
		if missing == nil {
			given := map[string]bool{}
			for i := range params {
				given[params[i].Name] = true
			}
			missing = slices.DeleteFunc(slices.Sorted(maps.Keys(def.Param)), func(name string) bool { return given[name] })
		}
		if near, ok := c.nearest(m.Name, slices.Values(missing)); ok {
			c.warnf(diag.UnknownParam, c.at(d.span(m.Key)), "%s declares no param %q; did you mean %q?", spelled(d, t), m.Name, near).
				related(def.Loc, "declared here").inside(d, d.span(m.Value.Span())).replace(quote(near))
		}
	}
}

// spelled returns the name that findings have for a tool, or for what stands for the input of a
// document.
func spelled(d *draft, t *tool.Tool) string {
	if t.Source == fromDocument {
		return "the document " + quote(t.Definition.Name)
	}
	if x := d.Target; x != nil && x.Picked && slices.Contains(x.Owners, t) {
		return fmt.Sprintf("the tool %q, to which the activity %q belongs,", t.Definition.Name, x.Name)
	}
	return fmt.Sprintf("the tool %q", t.Definition.Name)
}

// checkArg checks one param. It reports whether nothing was wrong.
func (c *templates) checkArg(d *draft, t *tool.Tool, params []lang.Member, m *lang.Member) bool {
	def := t.Definition
	schema := def.Param[m.Name]
	if schema == nil && def.Params != nil {
		sub, has := def.Params.At(schemas.Step{Name: m.Name})
		if has == schemas.Never || has == schemas.Unknown && def.Closed {
			c.unknownParam(d, t, params, m)
			return false
		}
		schema = sub
	}
	if schema == nil {
		return true
	}
	lit, ok := c.literalOf(m.Value)
	if !ok {
		return true
	}
	return c.checkLiteral(d, m, lit, schema, def)
}

func (c *templates) unknownParam(d *draft, t *tool.Tool, params []lang.Member, m *lang.Member) {
	def := t.Definition
	f := c.errorf(diag.UnknownParam, c.at(d.span(m.Key)), "%s has no param %q", spelled(d, t), m.Name).
		related(def.Loc, "declared here").inside(d, d.span(m.Value.Span()))
	near, ok := f.suggest(m.Name, maps.Keys(def.Param))
	switch {
	case ok && !slices.ContainsFunc(params, func(m lang.Member) bool { return m.Name == near }):
		f.replace(quote(near))
	case ok: // it is not known which of the two was meant
	case f.kept() && !d.fixed && !c.lacksParam(def, params):
		// Every param that the tool requires is there: this one can only be left out.
		if edit, ok := m.Removal(); ok {
			f.Message += "; leave it out"
			f.Fix = &diag.Fix{Message: "leave it out", Edits: []diag.Edit{edit}}
		}
	}
}

// lacksParam reports whether a param that a tool requires is not among those of a call.
func (c *templates) lacksParam(def *tool.Definition, params []lang.Member) bool {
	return slices.ContainsFunc(def.Required, func(name string) bool {
		return !slices.ContainsFunc(params, func(m lang.Member) bool { return m.Name == name })
	})
}

// checkLiteral validates a literal; it reports whether it is valid.
func (c *templates) checkLiteral(d *draft, m *lang.Member, lit json.RawMessage, s *schemas.Schema, def *tool.Definition) bool {
	if m.Value.Span().Len() == 0 {
		return true // it was not written, which was reported
	}
	bad := c.violations(s, lit)
	if len(bad) == 0 {
		return true
	}
	if said, ok := tool.Said(lit); ok && def.SentAsText(m.Name) && len(c.violations(s, said)) == 0 {
		c.warnf(diag.BadLiteral, d.loc(m.Value), "the param %q of %q is declared as %s; the string is sent as the same text", m.Name, def.Name, s).
			replace(string(said)).related(def.Loc, "declared here").inside(d, d.span(m.Value.Span()))
		return true
	}
	for _, v := range bad {
		at, _ := m.Value.At(v.Instance)
		name := m.Name + strings.ReplaceAll(v.Instance, "/", ".")
		c.errorf(diag.BadLiteral, d.loc(at), "the param %q of %q does not take this: %s", name, def.Name, v.Message).
			instead(v).related(def.Loc, "declared here%s", pointed(v.Keyword)).inside(d, d.span(at.Span()))
	}
	return false
}

// literalOf returns the JSON of a value without expressions in it.
func (c *templates) literalOf(n lang.Node) (json.RawMessage, bool) {
	if n.IsReference() {
		return nil, false
	}
	plain := true
	for s := range n.TextNodes() {
		plain = false
		if s.IsReference() {
			return nil, false
		}
		t := c.texts.Text(s)
		if len(t.Parts) == 0 {
			return nil, false // a part was not understood
		}
		for _, p := range t.Parts {
			if p.Expr != nil {
				return nil, false
			}
		}
	}
	if plain {
		return n.AppendJSON(nil), true
	}
	var t Template
	c.appendValue(nil, &t, n, false)
	return t.Literal()
}
