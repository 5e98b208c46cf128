package lsp

import (
	"context"
	"iter"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/cmd/plc/internal/lsp/protocol"
	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
)

// A thing is what a name in a plan refers to: a path, a tool, a call or a document.
type thing struct {
	path     *occurrence
	tool     string
	call     *lang.Call
	document string // its file
}

// thingAt returns what the name at an offset refers to.
func (a *analysis) thingAt(snap *snapshot, offset int) (thing, bool) {
	if a.program == nil {
		name := a.toolAt(snap, offset)
		return thing{tool: name}, name != ""
	}
	if o, ok := a.occurrenceAt(offset); ok {
		return thing{path: &o}, true
	}
	if name := a.toolAt(snap, offset); name != "" { // a tool that the plan defines
		return thing{tool: name}, true
	}
	c, ok := a.callAt(offset)
	if !ok {
		return thing{}, false
	}
	named, _ := a.idAt(c, offset)
	switch {
	case a.within(c.ToolNode, offset):
		return thing{tool: c.Tool}, true
	case named != nil:
		return thing{call: named}, true
	case c.Rest == nil:
		return thing{}, false
	case a.within(c.Rest.DelegateNode, offset) && c.Rest.Delegate != compile.Anonymous && !strings.Contains(c.Rest.Delegate, "://"):
		return thing{document: filepath.Join(filepath.Dir(snap.planName()), filepath.FromSlash(path.Clean(c.Rest.Delegate)))}, true
	case c.Rest.Fallback != nil && a.within(c.Rest.Fallback.ToolNode, offset):
		return thing{tool: c.Rest.Fallback.Tool}, true
	}
	return thing{}, false
}

// toolAt returns the name of the tool that is defined at an offset; "" if there is none.
func (a *analysis) toolAt(snap *snapshot, offset int) string {
	cat := a.catalogue()
	if cat == nil {
		return ""
	}
	for t := range cat.Listed() {
		at := t.Definition.Loc.Origin()
		if at.File != nil && at.File.Name == snap.name() && int(at.Span.Start) <= offset && offset <= int(at.Span.End) && at.Span.Len() < 200 {
			return t.Definition.Name
		}
	}
	return ""
}

// definition returns where something is defined: for a path the calls that write it, for a tool its
// definition, for an id its call, for a delegate its document.
func definition(_ context.Context, snap *snapshot, p *protocol.TextDocumentPositionParams) (any, error) {
	a := snap.analysis()
	what, ok := a.thingAt(snap, snap.text.offset(p.Position))
	if !ok {
		return nil, nil
	}
	c := newConverter(snap)
	found := []protocol.Location{}
	switch {
	case what.path != nil && what.path.write:
		found = append(found, c.at(what.path.span()))
	case what.path != nil:
		for _, s := range what.path.sources() {
			if s.Writer != nil && !s.Span.IsZero() {
				found = append(found, c.at(a.origin(s.Span)))
			}
		}
		if len(found) == 0 {
			found = c.messages(a, what.path.path()[0].Name)
		}
	case what.tool != "":
		if t, ok := a.catalogue().Lookup(what.tool); ok && t.Definition.Loc.File != nil {
			found = append(found, c.location(t.Definition.Loc))
		}
	case what.call != nil:
		found = append(found, c.at(a.idSpan(what.call)))
	default:
		found = append(found, protocol.Location{URI: c.uri(what.document)})
	}
	return found, nil
}

// at returns the location of a span of the document.
func (c *converter) at(s diag.Span) protocol.Location {
	return protocol.Location{URI: c.snapshot.uri, Range: c.snapshot.text.rangeOf(s)}
}

// idSpan returns the span of a call's id, or else of its tool.
func (a *analysis) idSpan(c *lang.Call) diag.Span {
	if c.IDNode.IsZero() {
		return a.origin(c.ToolNode.Span())
	}
	return a.origin(c.IDNode.Span())
}

// messages returns the messages of the document with the initial values of a kind.
func (c *converter) messages(a *analysis, kind string) (found []protocol.Location) {
	for i := range a.program.Document.Messages {
		if m := &a.program.Document.Messages[i]; m.Kind == kind {
			found = append(found, c.at(a.origin(m.Node.Span())))
		}
	}
	return found
}

// findReferences returns where something is used: a path in this plan, a tool or a document in all
// plans of the folder.
func findReferences(ctx context.Context, snap *snapshot, p *protocol.ReferenceParams) (any, error) {
	a := snap.analysis()
	what, ok := a.thingAt(snap, snap.text.offset(p.Position))
	if !ok {
		return nil, nil
	}
	c := newConverter(snap)
	found := []protocol.Location{}
	switch {
	case what.path != nil:
		for o := range a.occurrences() {
			if o.path().Overlaps(what.path.path()) && (!o.write || p.Context.IncludeDeclaration) {
				found = append(found, c.at(o.span()))
			}
		}
	case what.call != nil:
		for _, s := range a.idSpans(what.call, p.Context.IncludeDeclaration) {
			found = append(found, c.at(s))
		}
	default:
		if t, ok := a.catalogue().Lookup(what.tool); ok && p.Context.IncludeDeclaration && t.Definition.Loc.File != nil {
			found = append(found, c.location(t.Definition.Loc))
		}
		found = append(found, c.across(ctx, &what)...)
	}
	return found, nil
}

// idSpans returns the spans of a call's id in the document.
func (a *analysis) idSpans(c *lang.Call, declared bool) []diag.Span {
	spans := idSpans(a.program.Document, c, declared)
	for i, s := range spans {
		spans[i] = a.origin(s)
	}
	return spans
}

// idSpans returns the spans of a call's id in the file of a program; with declared, including that
// of its declaration.
func idSpans(doc *lang.Document, c *lang.Call, declared bool) (spans []diag.Span) {
	switch {
	case declared && c.IDNode.IsZero():
		spans = append(spans, c.ToolNode.Span())
	case declared:
		spans = append(spans, c.IDNode.Span())
	}
	for i := range doc.Calls {
		if doc.Calls[i].Rest == nil {
			continue
		}
		for _, d := range doc.Calls[i].Rest.DependsOn {
			if d.Name == c.ID {
				spans = append(spans, d.Node.Span())
			}
		}
	}
	return spans
}

// Bounds of the search of a folder.
const (
	maxSearched = 2000    // files
	maxPlan     = 8 << 20 // bytes of each
)

// across returns the places where plans in the folder of the project use a tool or delegate to a
// document.
func (c *converter) across(ctx context.Context, what *thing) (found []protocol.Location) {
	look := func(name string, b []byte) {
		file := diag.NewFile(name, b)
		doc, _, err := plc.Parse(file, "")
		if err != nil {
			return
		}
		for i := range doc.Calls {
			for _, at := range uses(&doc.Calls[i], what, name) {
				found = append(found, c.location(diag.Loc{File: doc.File, Span: at}))
			}
		}
	}
	if c.snapshot.kind() == planFile { // it may not be saved yet
		look(c.snapshot.name(), c.snapshot.text.bytes)
	}
	for name, e := range c.snapshot.plansBelow(c.snapshot.project.folder, maxSearched) {
		if ctx.Err() != nil {
			break
		}
		b, open := c.snapshot.server.openText(name)
		if info, err := e.Info(); !open && err == nil && info.Mode().IsRegular() && info.Size() <= maxPlan {
			b, _ = os.ReadFile(name)
		}
		if callsTool.Match(b) {
			look(name, b)
		}
	}
	return found
}

// uses returns the spans where a call of a plan in a file uses something.
func uses(c *lang.Call, what *thing, file string) (at []diag.Span) {
	if what.tool != "" && c.Tool == what.tool {
		at = append(at, c.ToolNode.Span())
	}
	r := c.Rest
	if r == nil {
		return at
	}
	if what.tool != "" && r.Fallback != nil && r.Fallback.Tool == what.tool {
		at = append(at, r.Fallback.ToolNode.Span())
	}
	if what.document != "" && r.Delegate != "" && filepath.Join(filepath.Dir(file), filepath.FromSlash(path.Clean(r.Delegate))) == what.document {
		at = append(at, r.DelegateNode.Span())
	}
	return at
}

// highlights returns the places of the path or call at a position in the document.
func highlights(_ context.Context, snap *snapshot, p *protocol.TextDocumentPositionParams) (any, error) {
	a := snap.analysis()
	what, ok := a.thingAt(snap, snap.text.offset(p.Position))
	if !ok || a.program == nil {
		return nil, nil
	}
	found := []protocol.DocumentHighlight{}
	add := func(s diag.Span, write bool) {
		kind := protocol.HighlightRead
		if write {
			kind = protocol.HighlightWrite
		}
		found = append(found, protocol.DocumentHighlight{Range: snap.text.rangeOf(s), Kind: kind})
	}
	switch {
	case what.path != nil:
		for o := range a.occurrences() {
			if o.path().Overlaps(what.path.path()) {
				add(o.span(), o.write)
			}
		}
	case what.call != nil:
		for i, s := range a.idSpans(what.call, true) {
			add(s, i == 0)
		}
	default:
		calls := a.program.Document.Calls
		for i := range calls {
			for _, s := range uses(&calls[i], &what, snap.planName()) {
				add(a.origin(s), false)
			}
		}
	}
	return found, nil
}

// links returns the names of files in a plan, tool file or project file, with their targets.
func links(_ context.Context, snap *snapshot, _ *protocol.TextDocumentParams) (any, error) {
	a := snap.analysis()
	found := []protocol.DocumentLink{}
	switch {
	case a.program != nil:
		c := newConverter(snap)
		calls := a.program.Document.Calls
		for i := range calls {
			if r := calls[i].Rest; r != nil && r.Delegate != "" && r.Delegate != compile.Anonymous {
				s := a.origin(r.DelegateNode.Span())
				if first := snap.text.bytes[s.Start]; first == '"' || first == '\'' {
					s.Start, s.End = s.Start+1, s.End-1
				}
				found = append(found, protocol.DocumentLink{Range: snap.text.rangeOf(s), Target: c.uri(r.Delegate)})
			}
		}
	case a.kind != nothing && a.kind != planFile:
		for m := range fileNames(snap.text.bytes) {
			name := filepath.Join(filepath.Dir(snap.path), filepath.FromSlash(string(snap.text.bytes[m.Start:m.End])))
			if a.project.reads(name) && name != snap.path {
				found = append(found, protocol.DocumentLink{Range: snap.text.rangeOf(m), Target: uriOf(name)})
			}
		}
	}
	return found, nil
}

// yamlWord matches a comment in YAML, or a word that could be a value: quoted, or without spaces.
var yamlWord = regexp.MustCompile(`(?m)(?:^|[ \t])#.*$|"([^"\n]*)"|'([^'\n]*)'|([^\s\[\]{},"'#][^\s\[\]{},"']*)`)

// fileNames returns the spans in a YAML text that could be names of files.
func fileNames(text []byte) iter.Seq[diag.Span] {
	return func(yield func(diag.Span) bool) {
		for _, m := range yamlWord.FindAllSubmatchIndex(text, -1) {
			for g := 2; g < len(m); g += 2 {
				if m[g] >= 0 && !yield(diag.Span{Start: int32(m[g]), End: int32(m[g+1])}) {
					return
				}
			}
		}
	}
}

// reads reports whether the project has looked up a file.
func (p *project) reads(path string) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	_, ok := p.files[path]
	return ok
}
