package lsp

import (
	"context"
	"path/filepath"
	"reflect"
	"slices"
	"strings"

	"github.com/plc-lang/plc/cmd/plc/internal/lsp/protocol"
	"github.com/plc-lang/plc/diag"
)

// published has the published diagnostics, by their owner (a document or a project) and by the
// document that they are about.
type published map[string]map[protocol.URI][]protocol.Diagnostic

// diagnoseAll makes the diagnostics of changed documents, the newest change first, until the
// context is done.
func (s *server) diagnoseAll(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-s.wake:
		}
		for snap := s.unchecked(); snap != nil && ctx.Err() == nil; snap = s.unchecked() {
			s.publish(ctx, snap)
		}
		s.withdraw(ctx)
	}
}

// unchecked returns the snapshot whose diagnostics have to be made next; nil if there is none.
func (s *server) unchecked() *snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	var next *document
	for _, d := range s.documents {
		if (d.current == nil || d.checked != d.current) && (next == nil || d.touched > next.touched) {
			next = d
		}
	}
	if next == nil {
		return nil
	}
	next.checked = s.snapshotOf(next)
	return next.checked
}

// publish makes and sends the diagnostics of a snapshot, unless it is out of date by then.
func (s *server) publish(ctx context.Context, snap *snapshot) {
	a := snap.analysis()
	c := newConverter(snap)
	own := c.byDocument(a.findings)
	if own[snap.uri] == nil {
		own[snap.uri] = []protocol.Diagnostic{}
	}
	if snap.stale() {
		return
	}
	if a.kind != nothing {
		s.set(ctx, a.project.owner(), c.byDocument(a.project.all(), a.project.fault(c)...), "")
	}
	s.set(ctx, "document "+string(snap.uri), own, snap.uri)
}

// owner returns the owner of the project's diagnostics.
func (p *project) owner() string {
	if p.alone != "" {
		return "tools " + p.alone
	}
	return "project " + p.folder
}

// all returns the findings about the project file and the tool files.
func (p *project) all() diag.List {
	if p.checker == nil {
		return p.findings
	}
	return slices.Concat(p.findings, p.checker.Findings)
}

// fault returns a diagnostic of the project file, or else of the document, if the project can't be
// read.
func (p *project) fault(c *converter) []located {
	if p.err == nil || p.findings.HasErrors() {
		return nil
	}
	uri := c.snapshot.uri
	if p.file != "" {
		uri = c.uri(p.file)
	}
	return []located{{uri, protocol.Diagnostic{Severity: protocol.SeverityError, Source: "plc", Message: p.err.Error()}}}
}

// located is a diagnostic of a document.
type located struct {
	uri protocol.URI
	protocol.Diagnostic
}

// withdraw removes the diagnostics of documents that were closed, and of projects without open
// documents.
func (s *server) withdraw(ctx context.Context) {
	s.mu.Lock()
	live := map[string]bool{}
	for _, d := range s.documents {
		live["document "+string(d.uri)] = true
		live["tools "+pathOf(d.uri)] = true
		if d.current != nil {
			live[d.current.project.owner()] = true
		}
	}
	var gone []string
	for owner := range s.published {
		if !live[owner] {
			gone = append(gone, owner)
		}
	}
	for folder, p := range s.projects {
		if !live[p.owner()] {
			delete(s.projects, folder)
		}
	}
	s.mu.Unlock()
	for _, owner := range gone {
		s.set(ctx, owner, nil, "")
	}
}

// set replaces the diagnostics of an owner, and sends those of the documents for which they have
// changed. It always sends those of the document always, so that the client learns their version.
func (s *server) set(ctx context.Context, owner string, made map[protocol.URI][]protocol.Diagnostic, always protocol.URI) {
	s.mu.Lock()
	defer s.mu.Unlock()
	old := s.published[owner]
	if s.published[owner] = made; made == nil {
		delete(s.published, owner)
	}
	for uri := range old {
		if _, ok := made[uri]; !ok {
			s.send(ctx, uri)
		}
	}
	for uri, list := range made {
		if had, ok := old[uri]; !ok || always == uri || !reflect.DeepEqual(had, list) {
			s.send(ctx, uri)
		}
	}
}

// send sends all diagnostics of a document, each once. The server is locked.
func (s *server) send(ctx context.Context, uri protocol.URI) {
	p := &protocol.PublishDiagnosticsParams{URI: uri, Diagnostics: []protocol.Diagnostic{}}
	if d := s.documents[uri]; d != nil {
		p.Version = &d.version
	}
	seen := map[string]bool{}
	for _, lists := range s.published {
		for _, d := range lists[uri] {
			key := string(must(d))
			if !seen[key] {
				p.Diagnostics = append(p.Diagnostics, d)
			}
			seen[key] = true
		}
	}
	slices.SortStableFunc(p.Diagnostics, func(a, b protocol.Diagnostic) int {
		return comparePositions(a.Range.Start, b.Range.Start)
	})
	_ = s.conn.Notify(ctx, "textDocument/publishDiagnostics", p)
}

// A converter converts findings to diagnostics of the protocol.
type converter struct {
	snapshot *snapshot
	texts    map[*diag.File]*text
}

func newConverter(snap *snapshot) *converter {
	return &converter{snapshot: snap, texts: map[*diag.File]*text{}}
}

// byDocument returns findings as diagnostics, by the documents that they are about.
func (c *converter) byDocument(l diag.List, more ...located) map[protocol.URI][]protocol.Diagnostic {
	all := map[protocol.URI][]protocol.Diagnostic{}
	for i := range l {
		f := l[i].Origin()
		uri, d := c.diagnostic(&f)
		all[uri] = append(all[uri], d)
	}
	for _, d := range more {
		all[d.uri] = append(all[d.uri], d.Diagnostic)
	}
	return all
}

// codePages is the URL of the pages of codes.
const codePages = "https://github.com/plc-lang/plc/blob/main/docs/codes/"

// diagnostic returns a finding as a diagnostic, and the document that it is about.
func (c *converter) diagnostic(f *diag.Finding) (protocol.URI, protocol.Diagnostic) {
	at := c.location(f.Loc)
	d := protocol.Diagnostic{
		Range: at.Range, Severity: severityOf(f.Severity), Source: "plc", Message: f.Message,
		Code: f.Code.String(), CodeDescription: &protocol.CodeDescription{Href: codePages + f.Code.String() + ".md"},
	}
	switch f.Code {
	case diag.DeadWrite, diag.NeverRuns, diag.ResultDropped, diag.ResultIgnored:
		d.Tags = []int{protocol.Unnecessary}
	}
	for _, r := range f.Related {
		d.RelatedInformation = append(d.RelatedInformation, protocol.RelatedInformation{Location: c.location(r.Loc), Message: r.Message})
	}
	return at.URI, d
}

func severityOf(s diag.Severity) int {
	return [...]int{protocol.SeverityError, protocol.SeverityWarning, protocol.SeverityInformation}[s]
}

// location returns a place as a location.
func (c *converter) location(l diag.Loc) protocol.Location {
	l = l.Origin()
	if l.File == nil {
		return protocol.Location{URI: c.snapshot.uri}
	}
	return protocol.Location{URI: c.uri(l.File.Name), Range: c.text(l.File).rangeOf(l.Span)}
}

// uri returns the URI of a file, in the client's spelling if the file is open. The names of
// documents of delegates are relative to the folder of the plan.
func (c *converter) uri(name string) protocol.URI {
	switch {
	case name == c.snapshot.name():
		return c.snapshot.uri
	case strings.Contains(name, "://"):
		return protocol.URI(name)
	case !filepath.IsAbs(name):
		name = filepath.Join(filepath.Dir(c.snapshot.planName()), filepath.FromSlash(name))
	}
	s := c.snapshot.server
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.byPath(name); d != nil {
		return d.uri
	}
	return uriOf(name)
}

// text returns the text of a file.
func (c *converter) text(f *diag.File) *text {
	if f.Name == c.snapshot.name() {
		return c.snapshot.text
	}
	t := c.texts[f]
	if t == nil {
		t = fileText(f.Text, c.snapshot.text.encoding)
		c.texts[f] = t
	}
	return t
}

// showMessage shows a message to the person at the editor.
func (s *server) showMessage(kind int, message string) {
	_ = s.conn.Notify(context.Background(), "window/showMessage", &protocol.ShowMessageParams{Type: kind, Message: message})
}
