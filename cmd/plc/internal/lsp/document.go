package lsp

import (
	"path/filepath"
	"sync"

	"github.com/plc-lang/plc/cmd/plc/internal/lsp/protocol"
)

// A document is a text that is open in the editor. The mutex of the server guards it.
type document struct {
	uri      protocol.URI
	language string
	version  int
	text     *text
	touched  int       // the number of its last change, counting the changes of all documents
	current  *snapshot // nil if it has to be made
	checked  *snapshot // the snapshot whose diagnostics were made
}

// A snapshot is a version of a document, and the project in which it is checked. It is immutable.
type snapshot struct {
	server   *server
	uri      protocol.URI
	path     string // of its file; "" if it has none
	language string
	version  int
	text     *text
	project  *project

	once sync.Once
	made *analysis
}

// name returns the name of the document in findings.
func (snap *snapshot) name() string {
	if snap.path == "" {
		return string(snap.uri)
	}
	return snap.path
}

// snapshot returns the newest version of a document; nil if it is not open.
func (s *server) snapshot(uri protocol.URI) *snapshot {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.documents[uri]; d != nil {
		return s.snapshotOf(d)
	}
	return nil
}

// snapshotOf returns the newest version of a document. The server is locked.
func (s *server) snapshotOf(d *document) *snapshot {
	if d.current == nil {
		path := pathOf(d.uri)
		d.current = &snapshot{
			server: s, uri: d.uri, path: path, language: d.language, version: d.version, text: d.text,
			project: s.projectOf(path),
		}
	}
	return d.current
}

// stale reports whether there is a newer version of the document.
func (snap *snapshot) stale() bool {
	s := snap.server
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.documents[snap.uri]
	return d == nil || d.text != snap.text
}

// opened adds a document that was opened.
func (s *server) opened(p *protocol.DidOpenParams) {
	s.mu.Lock()
	defer s.mu.Unlock()
	item := &p.TextDocument
	d := &document{uri: item.URI, language: item.LanguageID, version: item.Version, text: newText([]byte(item.Text), s.encoding)}
	s.documents[d.uri] = d
	s.changed(d)
}

// edited applies changes of a document.
func (s *server) edited(p *protocol.DidChangeParams) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.documents[p.TextDocument.URI]
	if d == nil {
		return
	}
	for _, c := range p.ContentChanges {
		t, err := d.text.apply(c)
		if err != nil {
			go s.showMessage(protocol.MessageError, err.Error())
			return
		}
		d.text = t
	}
	d.version = p.TextDocument.Version
	s.changed(d)
}

// closed removes a document that was closed: its file is used again.
func (s *server) closed(p *protocol.TextDocumentParams) {
	s.mu.Lock()
	defer s.mu.Unlock()
	d := s.documents[p.TextDocument.URI]
	if d == nil {
		return
	}
	delete(s.documents, d.uri)
	s.touch(pathOf(d.uri))
	s.awake()
}

// changed marks everything that depends on a document, so that it is made again. The server is
// locked.
func (s *server) changed(d *document) {
	d.current = nil
	for _, other := range s.documents {
		d.touched = max(d.touched, other.touched+1)
	}
	s.touch(pathOf(d.uri))
	s.awake()
}

// openText returns the text of an open document, by the name of its file.
func (s *server) openText(path string) ([]byte, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if d := s.byPath(path); d != nil {
		return d.text.bytes, true
	}
	return nil, false
}

// byPath returns the open document of a file; nil if there is none. The server is locked.
func (s *server) byPath(path string) *document {
	if d := s.documents[uriOf(path)]; d != nil {
		return d
	}
	for _, d := range s.documents { // clients spell URIs in their own ways
		if pathOf(d.uri) == path {
			return d
		}
	}
	return nil
}

// folderOf returns the folder of a document without a project file: the innermost one that is
// open in the editor, or else its own. The server is locked.
func (s *server) folderOf(path string) string {
	best := ""
	for _, f := range s.folders {
		if rel, err := filepath.Rel(f, path); (path == "" || err == nil && filepath.IsLocal(rel)) && len(f) > len(best) {
			best = f
		}
	}
	switch {
	case best != "":
		return best
	case path != "":
		return filepath.Dir(path)
	}
	return "."
}
