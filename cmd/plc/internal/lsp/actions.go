package lsp

import (
	"bytes"
	"context"
	"slices"
	"strings"

	"github.com/plc-lang/plc/cmd/plc/internal/lsp/protocol"
	"github.com/plc-lang/plc/diag"
)

// fixAll is the kind of the action that applies all fixes.
const fixAll = protocol.FixAll + ".plc"

// maxFixes limits the rounds of fixes, since some findings appear only after others were fixed.
const maxFixes = 20

// codeActions returns the fixes of the findings in a range, and one action that applies all fixes
// that leave no choice.
func codeActions(_ context.Context, snap *snapshot, p *protocol.CodeActionParams) (any, error) {
	a := snap.analysis()
	wants := func(kind string) bool {
		return len(p.Context.Only) == 0 || slices.ContainsFunc(p.Context.Only, func(only string) bool {
			return kind == only || strings.HasPrefix(kind, only+".")
		})
	}
	actions := []protocol.CodeAction{}
	found := a.fixable(snap)
	if wants(protocol.QuickFix) {
		c := newConverter(snap)
		at := snap.text.spanOf(p.Range)
		for i := range found {
			if f := &found[i]; f.Loc.Span.Start <= at.End && at.Start <= f.Loc.Span.End {
				_, d := c.diagnostic(f)
				actions = append(actions, protocol.CodeAction{
					Title: f.Fix.Message, Kind: protocol.QuickFix, Diagnostics: []protocol.Diagnostic{d},
					IsPreferred: f.Sure(), Edit: snap.edit(f.Fix.Edits),
				})
			}
		}
	}
	if wants(fixAll) {
		if text := a.fixedText(snap, found, len(p.Context.Only) > 0); text != nil {
			actions = append(actions, protocol.CodeAction{
				Title: "make all fixes that are sure", Kind: fixAll,
				Edit: &protocol.WorkspaceEdit{Changes: map[protocol.URI][]protocol.TextEdit{snap.uri: snap.replaceBy(text)}},
			})
		}
	}
	return actions, nil
}

// fixable returns the findings about the document that have a fix. If there are syntax errors, it
// returns only these, like plc.Plan.Fixes.
func (a *analysis) fixable(snap *snapshot) (found diag.List) {
	for _, l := range []diag.List{a.findings, a.project.all()} {
		for i := range l {
			f := l[i].Origin()
			if f.Fix != nil && f.Loc.File != nil && f.Loc.File.Name == snap.name() && bytes.Equal(f.Loc.File.Text, snap.text.bytes) {
				found = append(found, f)
			}
		}
	}
	if slices.ContainsFunc(a.findings, isSyntax) {
		found = slices.DeleteFunc(found, func(f diag.Finding) bool { return !isSyntax(f) })
	}
	return found
}

// fixedText returns the text after the fixes that leave no choice; nil if there are none. With more
// it checks and fixes the text again until there are no more fixes, like plc check --fix.
func (a *analysis) fixedText(snap *snapshot, found diag.List, more bool) []byte {
	text := snap.text.bytes
	for range maxFixes {
		var fixes []*diag.Fix
		for i := range found {
			if found[i].Sure() {
				fixes = append(fixes, found[i].Fix)
			}
		}
		next, _ := diag.ApplyFixes(text, fixes) // a fix that overlaps another is applied in the next round
		if bytes.Equal(next, text) {
			break
		}
		if text = next; !more || a.plan == nil {
			break
		}
		found = a.project.checker.CheckFile(diag.NewFile(snap.name(), text), snap.planName()).Fixes()
	}
	if bytes.Equal(text, snap.text.bytes) {
		return nil
	}
	return text
}

// edit returns edits of the document.
func (snap *snapshot) edit(edits []diag.Edit) *protocol.WorkspaceEdit {
	var all []protocol.TextEdit
	for _, e := range edits {
		all = append(all, protocol.TextEdit{Range: snap.text.rangeOf(e.Span), NewText: e.Text})
	}
	return &protocol.WorkspaceEdit{Changes: map[protocol.URI][]protocol.TextEdit{snap.uri: all}}
}

// replaceBy returns the edit that changes the document into another text, by replacing the lines
// from the first to the last that differ.
func (snap *snapshot) replaceBy(b []byte) []protocol.TextEdit {
	old := snap.text.bytes
	start := 0
	for i := 0; i < len(old) && i < len(b) && old[i] == b[i]; i++ {
		if old[i] == '\n' {
			start = i + 1
		}
	}
	tail := 0
	for i := 1; i <= len(old)-start && i <= len(b)-start && old[len(old)-i] == b[len(b)-i]; i++ {
		if old[len(old)-i] == '\n' {
			tail = i - 1
		}
	}
	if start == len(old) && start == len(b) {
		return []protocol.TextEdit{}
	}
	span := diag.Span{Start: int32(start), End: int32(len(old) - tail)}
	return []protocol.TextEdit{{Range: snap.text.rangeOf(span), NewText: string(b[start : len(b)-tail])}}
}
