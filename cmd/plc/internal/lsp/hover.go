package lsp

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/plc-lang/plc/cmd/plc/internal/lsp/protocol"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/state"
	"github.com/plc-lang/plc/tool"
)

// hover describes the name, path, reference or member at a position.
func hover(_ context.Context, snap *snapshot, p *protocol.TextDocumentPositionParams) (any, error) {
	a := snap.analysis()
	offset := snap.text.offset(p.Position)
	text, span := "", diag.Span{}
	switch {
	case a.program != nil:
		text, span = a.hoverPlan(snap, offset)
	case a.kind != nothing && a.kind != planFile:
		text = a.hoverFile(snap, offset)
	}
	if text == "" {
		return nil, nil
	}
	h := &protocol.Hover{Contents: protocol.Markdown(text)}
	if !span.IsZero() {
		r := snap.text.rangeOf(span)
		h.Range = &r
	}
	return h, nil
}

// hoverFile describes the member at an offset of a file that is not a plan.
func (a *analysis) hoverFile(snap *snapshot, offset int) string {
	schema := a.kind.schema()
	if !snap.isYAML() {
		return schema.at(cursorAt(snap.text.bytes, offset).way(0)).doc()
	}
	if colon := nameEnd(snap.text.bytes, offset); colon > 0 {
		for _, c := range yamlCursors(snap.text.bytes, colon) {
			return schema.at(c.way(0)).doc()
		}
	}
	return ""
}

// nameEnd returns the offset after the colon of the YAML name that an offset is in; 0 if it is in
// none.
func nameEnd(text []byte, offset int) int {
	for i := offset; i < len(text) && !strings.ContainsRune(",[]{}#\r\n", rune(text[i])); i++ {
		if text[i] == ':' {
			return i + 1
		}
	}
	return 0
}

// hoverPlan describes the path, tool, call or member at an offset of a plan.
func (a *analysis) hoverPlan(snap *snapshot, offset int) (string, diag.Span) {
	if o, ok := a.occurrenceAt(offset); ok {
		return a.pathDoc(snap, &o), o.span()
	}
	c, ok := a.callAt(offset)
	if !ok {
		return "", diag.Span{}
	}
	if a.within(c.ToolNode, offset) {
		return a.toolAndCall(c), a.origin(c.ToolNode.Span())
	}
	if named, at := a.idAt(c, offset); named != nil {
		return a.callDoc(named), at
	}
	for m := range c.Node.Members() {
		key := a.origin(m.Key)
		switch {
		case int(key.Start) > offset || offset > int(key.End):
		case strings.HasPrefix(m.Name, "_"):
			return callSchema().at([]any{m.Name}).doc(), key
		default:
			return a.memberOf(c, m.Name), key
		}
	}
	return "", diag.Span{}
}

// within reports whether an offset is in the text of a node of the plan.
func (a *analysis) within(n lang.Node, offset int) bool {
	s := a.origin(n.Span())
	return !n.IsZero() && int(s.Start) <= offset && offset <= int(s.End)
}

// idAt returns the call whose id is at an offset of a call, as its own id or in _dependsOn, and the
// span of the id; nil if there is none.
func (a *analysis) idAt(c *lang.Call, offset int) (*lang.Call, diag.Span) {
	if a.within(c.IDNode, offset) {
		return c, a.origin(c.IDNode.Span())
	}
	if c.Rest != nil {
		for _, d := range c.Rest.DependsOn {
			if other, ok := a.program.Call(d.Name); ok && a.within(d.Node, offset) {
				return other.Source, a.origin(d.Node.Span())
			}
		}
	}
	return nil, diag.Span{}
}

// memberOf returns the documentation of a param of a call's tool.
func (a *analysis) memberOf(c *lang.Call, name string) string {
	t, ok := a.catalogue().Lookup(c.Tool)
	if !ok || t.Definition.Param[name] == nil {
		return ""
	}
	text := block(name + ": " + t.Definition.Param[name].String())
	if doc := schemaDoc(t.Definition.Param[name]); doc != "" {
		text += "\n\n" + escaped(doc)
	}
	if slices.Contains(t.Definition.Required, name) {
		text += "\n\nrequired"
	}
	for _, r := range a.flow() {
		for _, s := range r.Sinks() {
			if s.Call != nil && s.Call.Source == c && s.Param == name && !s.Fallback {
				text += fmt.Sprintf("\n\n%s by %s: may be %s, and has to be %s", s.Verdict(), escaped(r.Policy.Name()), escaped(r.Policy.Said().Words(s.Worst())), s.Bounds())
			}
		}
	}
	return text
}

// labelsOf describes the labels of a value: the value of a reference or, at the name of its tool,
// the result of a call.
func (a *analysis) labelsOf(at diag.Span) string {
	var b strings.Builder
	for _, r := range a.flow() {
		v := r.Values[at]
		if v == nil {
			continue
		}
		said := r.Policy.Said()
		fmt.Fprintf(&b, "\nlabel by %s: %s", escaped(r.Policy.Name()), escaped(said.Words(v.Label)))
		var from []string
		for _, src := range v.Sources[:min(len(v.Sources), maxNamed)] {
			from = append(from, escaped(src.Words(said)))
		}
		if len(v.Sources) > maxNamed {
			from = append(from, "…")
		}
		if len(from) > 0 {
			b.WriteString(", from " + strings.Join(from, "; "))
		}
		b.WriteString("\n")
	}
	return b.String()
}

// pathDoc describes a path: its type, the calls that write and read it, and the label of its value.
func (a *analysis) pathDoc(snap *snapshot, o *occurrence) string {
	var b strings.Builder
	path, sources := o.path(), o.sources()
	head := path.String()
	if t := typeOf(sources); t != "" {
		head += ": " + t
	}
	b.WriteString(block(head) + "\n")
	if o.write {
		readers := a.readersOf(path, o)
		if len(readers) == 0 {
			b.WriteString("\nno call reads it\n")
		} else {
			fmt.Fprintf(&b, "\nread by %s\n", strings.Join(readers, ", "))
		}
		return b.String() + a.labelsOf(o.call.ToolNode.Span())
	}
	for _, s := range sources {
		line := ""
		if s.Writer != nil {
			line = fmt.Sprintf("written by %s, line %d", code(s.Writer.ID), snap.text.position(int(a.origin(s.Writer.Source.Node.Span()).Start)).Line+1)
		} else {
			line = "held by the whiteboard at the beginning"
		}
		if len(sources) > 1 && s.Schema != nil {
			line += ": " + code(s.Schema.String())
		}
		b.WriteString("\n" + line + "\n")
	}
	return b.String() + a.labelsOf(o.expr.Span)
}

// maxNamed is the maximum number of calls that are named.
const maxNamed = 12

// readersOf returns the ids of the calls that read a path that is written.
func (a *analysis) readersOf(path state.Path, write *occurrence) (ids []string) {
	for o := range a.occurrences() {
		if o.write || o.call == write.call || !o.path().Overlaps(path) {
			continue
		}
		id := "the output"
		if o.call != nil {
			id = code(o.call.ID)
		}
		if !slices.Contains(ids, id) {
			ids = append(ids, id)
		}
		if len(ids) > maxNamed {
			return append(ids[:maxNamed], "…")
		}
	}
	return ids
}

// toolAndCall describes the tool of a call, and the call.
func (a *analysis) toolAndCall(c *lang.Call) string {
	t, ok := a.catalogue().Lookup(c.Tool)
	if !ok {
		return ""
	}
	text := toolDoc(t)
	if compiled := a.compiled(c); compiled != nil && compiled.Target != nil {
		text += "\n" + escaped(compiled.Target.Words()) + "\n"
	}
	return text + "\n" + a.callDoc(c) + "\n" + a.labelsOf(c.ToolNode.Span())
}

// callDoc describes the effects of a call, the calls that it waits for, and those that wait for it.
func (a *analysis) callDoc(c *lang.Call) string {
	var lines []string
	if compiled := a.compiled(c); compiled != nil {
		lines = append(lines, effectsOf(compiled.Effects))
	}
	before, after := a.neighbours(c)
	if len(before) > 0 {
		lines = append(lines, "waits for "+names(before))
	}
	if len(after) > 0 {
		wait := " wait for it"
		if len(after) == 1 {
			wait = " waits for it"
		}
		lines = append(lines, names(after)+wait)
	}
	if c.Rest != nil && c.Rest.Description != "" {
		lines = append(lines, escaped(c.Rest.Description))
	}
	return strings.Join(lines, "\n\n")
}

// names returns ids as a list for people.
func names(ids []string) string {
	if len(ids) > maxNamed {
		ids = append(ids[:maxNamed:maxNamed], "…")
	}
	return strings.Join(ids, ", ")
}

// maxEdges is the maximum number of edges that are examined to find which call waits for which:
// there may be as many as pairs of calls.
const maxEdges = 100_000

// neighbours returns the calls that a call waits for, and those that wait for it.
func (a *analysis) neighbours(c *lang.Call) (before, after []string) {
	n := 0
	for e := range a.program.Edges() {
		if n++; n > maxEdges {
			break
		}
		switch {
		case e.To.Source == c || e.To.ID == c.ID:
			before = append(before, code(e.From.ID))
		case e.From.Source == c || e.From.ID == c.ID:
			after = append(after, code(e.To.ID))
		}
	}
	return unique(before), unique(after)
}

func unique(ids []string) []string {
	slices.Sort(ids)
	return slices.Compact(ids)
}

// toolDoc describes a tool in Markdown.
func toolDoc(t *tool.Tool) string {
	var b strings.Builder
	b.WriteString(block(t.Definition.Signature()) + "\n")
	if t.Definition.Description != "" {
		b.WriteString("\n" + escaped(t.Definition.Description) + "\n")
	}
	return b.String()
}

// effectsOf describes the effects of a tool.
func effectsOf(e tool.Effects) string {
	words := []string{e.Words()}
	if e.Independent == tool.Yes {
		words = append(words, "independent")
	}
	if e.Domain != "" {
		words = append(words, "domain "+escaped(e.Domain))
	}
	return strings.Join(words, ", ")
}
