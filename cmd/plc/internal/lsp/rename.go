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
)

// A renaming is a name in a plan that can be changed: a step of a path, or the id of a call.
type renaming struct {
	name  string
	span  diag.Span   // of the name at the place
	spans []diag.Span // of all its places, in the file of the program
	path  state.Path  // the path that ends in the name; nil for an id
	id    bool
}

// prepareRename returns the name at a place, if it can be renamed.
func prepareRename(_ context.Context, snap *snapshot, p *protocol.TextDocumentPositionParams) (any, error) {
	r, err := snap.analysis().renamingAt(snap.text.offset(p.Position))
	if err != nil {
		return nil, err
	}
	return &protocol.PrepareRename{Range: snap.text.rangeOf(r.span), Placeholder: r.name}, nil
}

// rename renames a step of a path, or the id of a call, everywhere in the plan. It refuses a name
// that another path has, and a name with which the plan would have new errors.
func rename(_ context.Context, snap *snapshot, p *protocol.RenameParams) (any, error) {
	a := snap.analysis()
	r, err := a.renamingAt(snap.text.offset(p.Position))
	if err != nil {
		return nil, err
	}
	if err := a.free(r, p.NewName); err != nil {
		return nil, err
	}
	doc := a.program.Document
	found := diag.Finding{Loc: doc.Root.Loc(), Fix: &diag.Fix{Message: "rename"}}
	for _, at := range r.spans {
		found.Fix.Edits = append(found.Fix.Edits, r.edit(doc.File.Text, at, p.NewName))
	}
	no := &failure{protocol.RequestFailed, fmt.Sprintf("%q can't be written in all places where the name stands", p.NewName)}
	fix := found.Origin().Fix // for a plan in YAML, the fix in the original text
	if fix == nil {
		return nil, no
	}
	text, err := diag.ApplyFixes(snap.text.bytes, []*diag.Fix{fix})
	if err != nil {
		return nil, no
	}
	after := a.project.checker.CheckFile(diag.NewFile(snap.name(), text), snap.planName()).Findings
	if before := a.findings.Count(diag.Error); after.Count(diag.Error) > before {
		for i := range after {
			if after[i].Severity == diag.Error {
				return nil, &failure{protocol.RequestFailed, fmt.Sprintf("with the name %q the plan has an error: %s", p.NewName, after[i].Message)}
			}
		}
	}
	return snap.edit(fix.Edits), nil
}

// edit returns the edit that writes another name at a place: as an id, after a dot, or in brackets
// if the name needs them.
func (r *renaming) edit(text []byte, at diag.Span, name string) diag.Edit {
	if r.id {
		return diag.Edit{Span: at, Text: quoted(name)}
	}
	path := state.Path{{Name: "state"}, {Kind: state.Name, Name: name}}.String()
	segment := quoted(strings.TrimPrefix(path, "†state"))
	segment = segment[1 : len(segment)-1]
	switch dotted := text[at.Start] != '[' && at.Start > 0 && text[at.Start-1] == '.'; {
	case dotted && segment[0] == '.':
		segment = segment[1:]
	case dotted:
		at.Start--
	}
	return diag.Edit{Span: at, Text: segment}
}

// free returns an error if another path already has the new name, since the two would become one.
func (a *analysis) free(r *renaming, name string) error {
	if r.id || name == r.name {
		return nil // duplicate ids are an error of the plan, which is checked later
	}
	path := append(slices.Clone(r.path[:len(r.path)-1]), state.Segment{Kind: state.Name, Name: name})
	taken := len(path) == 2 && slices.Contains(memberNames(a.program.Initial[path[0].Name]), name)
	for o := range a.occurrences() {
		p := o.path()
		taken = taken || len(p) >= len(path) && equalPaths(p[:len(path)], path)
	}
	if taken {
		return &failure{protocol.RequestFailed, fmt.Sprintf("%s is there already", path)}
	}
	return nil
}

// renamingAt returns what can be renamed at an offset.
func (a *analysis) renamingAt(offset int) (*renaming, error) {
	no := func(why string) (*renaming, error) { return nil, &failure{protocol.RequestFailed, why} }
	if a.program == nil || a.plan == nil {
		return no("only paths and ids of plans can be renamed")
	}
	if a.program != a.plan.Program {
		return no("the plan has to be valid first")
	}
	if o, ok := a.occurrenceAt(offset); ok {
		return a.renamingOf(&o, offset)
	}
	c, ok := a.callAt(offset)
	if !ok {
		return no("there is no path and no id here")
	}
	named, at := a.idAt(c, offset)
	switch {
	case named == nil:
		return no("there is no path and no id here")
	case named.IDNode.IsZero():
		return no(fmt.Sprintf("%q is a default id: give the call an _id first", named.ID))
	}
	return &renaming{name: named.ID, span: at, spans: idSpans(a.program.Document, named, true), id: true}, nil
}

// renamingOf returns the step of a path that an offset is in.
func (a *analysis) renamingOf(o *occurrence, offset int) (*renaming, error) {
	path, at := o.path(), -1
	for i, s := range o.expr.Path {
		if span := a.origin(s.Span); int(span.Start) <= offset && offset <= int(span.End) {
			at = i
		}
	}
	switch {
	case at < 0:
		return nil, &failure{protocol.RequestFailed, "a kind can't be renamed: put the cursor on a name behind it"}
	case o.expr.Path[at].Kind != lang.Named:
		return nil, &failure{protocol.RequestFailed, "an index can't be renamed"}
	case path[0].Name == "input":
		return nil, &failure{protocol.RequestFailed, "the input is given from outside: what it is called can't be renamed here"}
	}
	prefix := path[:at+2]
	r := &renaming{name: o.expr.Path[at].Name, path: prefix, span: a.origin(o.expr.Path[at].Span)}
	writes := false
	for other := range a.occurrences() {
		p := other.path()
		if len(p) < len(prefix) || !p[:len(prefix)].Covers(prefix) && !equalPaths(p[:len(prefix)], prefix) {
			continue
		}
		writes = writes || other.write && len(p) == len(prefix)
		r.spans = append(r.spans, other.expr.Path[at].Span)
	}
	if !writes {
		return nil, &failure{protocol.RequestFailed, fmt.Sprintf("%s is no place that the plan writes: its name comes from a tool, a schema or a given value", prefix)}
	}
	return r, nil
}

func equalPaths(a, b state.Path) bool { return a.String() == b.String() }
