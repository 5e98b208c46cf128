package undo

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/tool"
)

// Check finds what is wrong with the undo of the calls of a program, and of the documents that it
// delegates to: a tool that does not exist or is not permitted, params that do not fit its
// definition, or a reference that leads nowhere. The options are those with which the program was
// compiled.
func Check(prog *compile.Program, o *compile.Options) diag.List {
	c := &checker{options: apart(o), run: o.Run, seen: map[string]bool{}, known: map[string]diag.List{}}
	c.options.Run = false          // the input has no value
	c.options.Meter = prog.Meter() // the plan and the undo of its calls share one
	for p := range programs(prog) {
		for i := range p.Calls {
			if c.spent {
				return c.found
			}
			c.call(p, &p.Calls[i])
		}
	}
	return c.found
}

// programs yields a program and all those that it delegates to, each once.
func programs(prog *compile.Program) func(yield func(*compile.Program) bool) {
	return func(yield func(*compile.Program) bool) {
		seen, todo := map[*compile.Program]bool{prog: true}, []*compile.Program{prog}
		for ; len(todo) > 0; todo = todo[1:] {
			if !yield(todo[0]) {
				return
			}
			for i := range todo[0].Calls {
				if c := &todo[0].Calls[i]; c.Delegates() && !seen[c.Delegate.Program] {
					seen[c.Delegate.Program] = true
					todo = append(todo, c.Delegate.Program)
				}
			}
		}
	}
}

type checker struct {
	options *compile.Options
	run     bool
	seen    map[string]bool      // findings so far
	known   map[string]diag.List // the findings about undos that were compiled, by their keys
	spent   bool                 // the meter is used up, which was reported
	found   diag.List
}

// made is a call, or its fallback, that may need an undo.
type made struct {
	prog   *compile.Program
	call   *compile.Call
	target *compile.Target
	params []lang.Member // as written
	own    *lang.Undo    // the plan's _undo; nil if there is none
}

// call checks the undo of a call, and of its fallback.
func (c *checker) call(prog *compile.Program, p *compile.Call) {
	rest := p.Source.Rest
	if rest == nil {
		rest = &lang.Rest{}
	}
	if p.Target == nil {
		return
	}
	if why := unused(p); why == "" {
		c.checkUndo(&made{prog, p, p.Target, p.Source.Params, rest.Undo})
	} else if !rest.UndoNode.IsZero() {
		f := diag.Finding{Code: diag.PassedOver, Severity: diag.Warning, Loc: rest.UndoNode.Loc(), Message: "the \"_undo\" is not used: " + why}
		c.report(f, p, rest.UndoNode)
	}
	if p.Rare == nil || p.Fallback == nil || rest.Fallback == nil {
		return
	}
	m := &made{prog, p, p.Fallback.Target, p.Source.Params, rest.Fallback.Undo}
	if rest.Fallback.Own {
		m.params = rest.Fallback.Params
	}
	c.checkUndo(m)
}

// unused returns why the call itself, apart from its fallback, is never undone; "" if it may be.
func unused(p *compile.Call) string {
	switch e := p.Target.Effects; {
	case p.Delegates():
		return "the call runs a document, whose calls are undone"
	case p.Rare != nil && (p.Choose != nil || p.Result != nil):
		return "the call runs nothing"
	case e.ReadOnly == tool.Yes || e.Pure == tool.Yes:
		return fmt.Sprintf("the tool %q is declared to change nothing", p.Source.Tool)
	}
	return ""
}

// checkUndo checks the undo of a call of a target.
func (c *checker) checkUndo(m *made) {
	if m.own != nil {
		if m.own.Tool != "" {
			c.own(m)
		}
		return
	}
	u := m.target.Undo
	if u == nil {
		return
	}
	def := m.target.Tool.Definition
	for _, f := range c.defined(m, u) {
		if f.Severity != diag.Error { // it depends on the call
			f.Loc, f.Message, f.Fix, f.Related = m.call.Source.ToolNode.Loc(), "its undo: "+f.Message, nil, nil
			c.report(f, m.call, m.call.Source.ToolNode)
			continue
		}
		f.Loc, f.Pointer, f.Fix, f.Related = def.Loc, "/undo", nil, nil
		f.Message = fmt.Sprintf("tool %q: its undo: %s", def.Name, f.Message)
		c.add(f)
	}
}

// defined returns what is wrong with the undo of a definition.
func (c *checker) defined(m *made, u *tool.Undo) diag.List {
	text, err := textOf(u, given)
	return c.once(fmt.Sprintf("%p %q", u, m.written()), m, text, err, u.WhenUncertain)
}

// own checks the plan's _undo for a call.
func (c *checker) own(m *made) {
	text, err := textIn(m.own, given)
	key := fmt.Sprintf("%p %q %t %s", m.target.Tool.Definition, m.written(), m.own.WhenUncertain, text.text)
	found := c.once(key, m, text, err, m.own.WhenUncertain)
	if len(found) > 0 {
		delete(c.known, key) // the findings have places in this call
	}
	for _, f := range found {
		if f.Loc.File == nil {
			f.Loc = m.own.ToolNode.Loc()
		}
		f.Message = "the \"_undo\": " + f.Message
		c.report(f, m.call, m.own.ToolNode)
	}
}

// once returns what is wrong with a call that undoes another. It compiles the call only if it has
// compiled none with this key.
func (c *checker) once(key string, m *made, text *call, err error, whenUncertain bool) diag.List {
	found, ok := c.known[key]
	if !ok {
		found = c.compile(m, text, err, whenUncertain)
		c.known[key] = found
	}
	return found
}

// report adds a finding about a call, at a node of it.
func (c *checker) report(f diag.Finding, p *compile.Call, at lang.Node) {
	f.Call, f.Pointer = p.ID, at.Pointer()
	c.add(f)
}

func (c *checker) add(f diag.Finding) {
	if key := fmt.Sprint(f.Code, f.Call, f.Message); !c.seen[key] {
		c.seen[key] = true
		c.found = append(c.found, f)
	}
}

// given is the name of the input's member that describes the undone call while its undo is checked.
const given = "call"

// compile compiles the call that undoes another, and returns what is wrong with it. The values that
// it reads have the types that the definition of the undone tool says.
func (c *checker) compile(m *made, text *call, err error, whenUncertain bool) diag.List {
	if err == nil && whenUncertain && slices.Contains(text.reads, resultKind) {
		err = errors.New("it reads †result, which is not there when nobody knows whether the call did its work; leave whenUncertain out, or the reference")
	}
	if err != nil {
		return diag.List{{Code: diag.BadMember, Severity: diag.Error, Message: err.Error()}}
	}
	const head, tail = "[{", "}]"
	pieces := slices.Clone(text.pieces)
	for i := range pieces {
		pieces[i].At.Start, pieces[i].At.End = pieces[i].At.Start+int32(len(head)), pieces[i].At.End+int32(len(head))
	}
	f := diag.NewDerived(slices.Concat([]byte(head), text.text, []byte(tail)), cmp.Or(text.file, m.prog.File()), pieces)
	doc, found := lang.Parse(f, nil)
	o := *c.options
	o.Schemas = map[string]compile.Given{"input": {JSON: m.schema(), Loc: diag.Loc{File: f}}}
	prog, more := compile.Compile(doc, &o)
	c.spent = o.Meter.Err() != nil
	found = slices.DeleteFunc(append(found, more...), func(f diag.Finding) bool {
		return f.Severity != diag.Error && f.Code != diag.OptionalRead
	})
	if c.run && !found.HasErrors() && prog.Calls[0].Runner() == nil {
		found = append(found, diag.Finding{
			Code: diag.NobodyMakesIt, Severity: diag.Error, Loc: doc.Calls[0].ToolNode.Loc(),
			Message: fmt.Sprintf("nothing runs the tool %q", doc.Calls[0].Tool),
		})
	}
	if !found.HasErrors() {
		found = append(found, unfit(prog.Calls[0].Tool, whenUncertain)...)
	}
	for i := range found {
		found[i].Message = readable.Replace(found[i].Message)
		if len(text.pieces) == 0 {
			found[i].Loc = diag.Loc{}
		}
	}
	return found
}

// unfit returns a finding for each member that plc sets in calls that undo others and that the
// definition of t does not allow.
func unfit(t *tool.Tool, whenUncertain bool) (found diag.List) {
	for _, name := range slices.Sorted(maps.Keys(members)) {
		cure := "let the definition allow it"
		switch {
		case allows(t, name), name == "_retry":
			continue
		case name == "_approve" && whenUncertain:
			continue
		case name == "_approve":
			cure += ", or say whenUncertain"
		}
		found = append(found, diag.Finding{
			Code: diag.FixedByTool, Severity: diag.Error,
			Message: fmt.Sprintf("the tool %q does not allow the %s that plc gives to calls that undo others; %s", t.Definition.Name, name, cure),
		})
	}
	return found
}

// readable replaces references in messages by those that people have written.
var readable = strings.NewReplacer("†input."+given+".", "†", "†input."+failureKind, "†"+failureKind)

// written returns the names of the params that the plan gives.
func (m *made) written() []string {
	names := []string{}
	for _, p := range m.params {
		names = append(names, p.Name)
	}
	return names
}

// schema returns the schema of the input.
func (m *made) schema() json.RawMessage {
	def := m.target.Tool.Definition
	text := json.RawMessage(`{"type": "string"}`)
	of := map[string]any{
		paramsKind: map[string]any{"allOf": []any{schemaText(def.Params), map[string]any{"type": "object", "required": m.written()}}},
		keyKind:    text, resultKind: schemaText(def.Output),
	}
	return encoded(object(map[string]any{
		given: object(of), failureKind: object(map[string]any{"code": text, "message": text}),
	}))
}

// object returns the schema of an object that has these members and no others.
func object(members map[string]any) map[string]any {
	return map[string]any{
		"type": "object", "properties": members, "required": slices.Sorted(maps.Keys(members)), "additionalProperties": false,
	}
}

// schemaText returns the text of a schema that stands by itself. If the schema refers to others, it
// returns the schema of any value.
func schemaText(s *schemas.Schema) json.RawMessage {
	if s == nil || strings.Contains(string(s.Text()), `"$`) {
		return json.RawMessage("true")
	}
	return s.Text()
}
