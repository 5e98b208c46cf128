package lsp

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/tool/file"
	"github.com/plc-lang/plc/tool/math"
)

// A project has the settings of a folder, and the tools that they name. It reads its files once;
// when one of them changes, a new project is made.
type project struct {
	server   *server
	folder   string // names in settings are relative to it
	file     string // plc.yaml; "" if there is none
	settings settings
	alone    string // the only tool file of a project for a file that no other project has

	once     sync.Once
	named    file.Project // the settings of the project file
	findings diag.List    // about the project file
	checker  *plc.Checker // nil if err is not nil
	err      error        // a file that can't be read, or a setting that is wrong

	mu    sync.Mutex
	files map[string]stamp // the files that were looked up, and the times of their last changes
	texts map[string]bool  // those in files that are documents of delegates
}

// A stamp shows whether a file has changed. A file that does not exist has the zero stamp.
type stamp struct {
	changed time.Time
	size    int64
	dir     bool
}

// stampOf returns the stamp of a file.
func stampOf(path string) stamp {
	info, err := os.Stat(path)
	if err != nil {
		return stamp{}
	}
	return stamp{info.ModTime(), info.Size(), info.IsDir()}
}

// projectOf returns the project of a document. The server is locked.
func (s *server) projectOf(path string) *project {
	folder := s.folderOf(path)
	name, from := "", folder
	if path != "" {
		from = filepath.Dir(path)
	}
	if !s.settings.NoProject {
		name, _ = plc.FindProject(from) // a project file that can't be found counts as none
	}
	if name != "" {
		folder = filepath.Dir(name)
	}
	if p := s.projects[folder]; p != nil && p.file == name {
		return p
	}
	p := &project{server: s, folder: folder, file: name, settings: s.settings, files: map[string]stamp{}, texts: map[string]bool{}}
	s.projects[folder] = p
	return p
}

// forgetProjects discards all projects, so that they are made again. The server is locked.
func (s *server) forgetProjects() {
	clear(s.projects)
	for _, d := range s.documents {
		d.current = nil
	}
	s.awake()
}

// load reads the project when it is first called. The server must not be locked.
func (p *project) load() {
	p.once.Do(func() {
		if p.file != "" {
			if p.err = p.readNamed(); p.err != nil {
				return
			}
		}
		if p.findings.HasErrors() {
			p.err = fmt.Errorf("%s has errors", p.file)
			return
		}
		eng := plc.New(plc.Config{
			Environ: p.server.config.Environ, Version: p.server.config.Version,
			Open: p.open, OpenFolder: p.openFolder, Unstarted: true,
		})
		p.checker, p.err = eng.Checker(p.server.context, p.spec(), plc.ToCheck)
	})
}

// spec returns the Spec with which plans are checked, like plc check in the folder of the project.
func (p *project) spec() plc.Spec {
	tools, mcp, lock := p.named.Tools, p.named.MCP, p.named.Lock
	if len(p.settings.Tools) > 0 {
		tools = p.settings.Tools
	}
	if len(p.settings.MCP) > 0 {
		mcp = p.settings.MCP
	}
	if p.settings.Lock != "" {
		lock = p.settings.Lock
	}
	if p.alone != "" {
		tools, mcp = []string{p.alone}, nil
	}
	spec := plc.Spec{Ignore: slices.Concat(p.named.Ignore, p.settings.Ignore), Severity: p.named.Severity, Strict: p.named.Strict || p.settings.Strict}
	for _, name := range tools {
		if name != math.Name {
			name = p.resolve(name)
		}
		spec.Toolset.Files = append(spec.Toolset.Files, plc.File(name))
	}
	spec.Toolset.Files = append(spec.Toolset.Files, plc.ProjectPolicy(&p.named)...)
	for _, name := range mcp {
		spec.Toolset.MCP = append(spec.Toolset.MCP, p.resolve(name))
	}
	for _, f := range slices.Concat(spec.Toolset.MCP, tools) { // a lock that is created later counts
		p.note(filepath.Join(filepath.Dir(p.resolve(f)), plc.LockName))
	}
	if lock != "" {
		spec.Toolset.Lock = p.resolve(lock)
	}
	spec.Toolset.Deny, spec.Toolset.Policies = p.named.Deny, p.named.Policies
	return spec
}

// readNamed reads the project file. The names of files in it become absolute.
func (p *project) readNamed() error {
	f, err := p.open(p.file)
	if err != nil {
		return err
	}
	defer func() { _ = f.Close() }() // it was only read
	// A text that is too large is refused below.
	text, err := io.ReadAll(io.LimitReader(f, jsonscan.DefaultMaxBytes+1))
	if err != nil {
		return plc.ReadError(err)
	}
	named, findings := file.ReadProject(diag.NewFile(p.file, text))
	for _, names := range [][]string{named.Tools, named.MCP, named.Policies} {
		for i, name := range names {
			if name != math.Name {
				names[i] = p.resolve(name)
			}
		}
	}
	if named.Lock != "" {
		named.Lock = p.resolve(named.Lock)
	}
	p.named, p.findings = *named, findings
	return nil
}

// resolve returns the absolute name of a file.
func (p *project) resolve(name string) string {
	if filepath.IsAbs(name) {
		return filepath.Clean(name)
	}
	return filepath.Join(p.folder, name)
}

// note records that a file was read or looked up.
func (p *project) note(path string) {
	is := stampOf(path)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.files[path] = is
}

// noteText records that a file is a document that plans delegate to.
func (p *project) noteText(path string) {
	p.note(path)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.texts[path] = true
}

// open opens a file that settings or tool files name: the open document of the editor, or the file.
func (p *project) open(name string) (io.ReadCloser, error) {
	path := p.resolve(name)
	p.note(path)
	if text, ok := p.server.openText(path); ok {
		return io.NopCloser(bytes.NewReader(text)), nil
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, plc.ReadError(err)
	}
	if !info.Mode().IsRegular() && !info.IsDir() { // opening a pipe would block
		return nil, fmt.Errorf("%s is no regular file", path)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, plc.ReadError(err)
	}
	return f, nil
}

// openFolder opens the folder of a plan.
func (p *project) openFolder(name string) (plc.Folder, error) {
	root, err := os.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	return &folder{Root: root, name: name, project: p}, nil
}

// A folder has the documents of delegates: open documents of the editor, or files.
type folder struct {
	*os.Root
	name    string
	project *project
}

// FS implements plc.Folder.
func (f *folder) FS() fs.FS { return &folderFS{f.Root.FS(), f} }

// folderFS is the file system of a folder.
type folderFS struct {
	fs.FS
	folder *folder
}

// text returns the text of a file that is open in the editor.
func (f *folderFS) text(name string) ([]byte, bool) {
	path := filepath.Join(f.folder.name, filepath.FromSlash(name))
	f.folder.project.noteText(path)
	return f.folder.project.server.openText(path)
}

// Open implements fs.FS.
func (f *folderFS) Open(name string) (fs.File, error) {
	if text, ok := f.text(name); ok {
		return &openFile{bytes.NewReader(text), name}, nil
	}
	return f.FS.Open(name)
}

// Stat implements fs.StatFS.
func (f *folderFS) Stat(name string) (fs.FileInfo, error) {
	if text, ok := f.text(name); ok {
		return (&openFile{bytes.NewReader(text), name}).Stat()
	}
	return fs.Stat(f.FS, name)
}

// openFile is a document that is open in the editor as a file.
type openFile struct {
	*bytes.Reader
	name string
}

// The methods of fs.File and fs.FileInfo.
func (f *openFile) Stat() (fs.FileInfo, error) { return openInfo{f}, nil }
func (f *openFile) Close() error               { return nil }

type openInfo struct{ f *openFile }

func (i openInfo) Name() string       { return filepath.Base(i.f.name) }
func (i openInfo) Size() int64        { return i.f.Reader.Size() }
func (i openInfo) Mode() fs.FileMode  { return 0o444 }
func (i openInfo) ModTime() time.Time { return time.Time{} }
func (i openInfo) IsDir() bool        { return false }
func (i openInfo) Sys() any           { return nil }

// touch marks everything that depends on a file, so that it is made again. The server is locked.
func (s *server) touch(path string) {
	if path == "" {
		return
	}
	for folder, p := range s.projects {
		p.mu.Lock()
		_, reads := p.files[path]
		delegate := p.texts[path]
		p.mu.Unlock()
		if !reads {
			continue
		}
		if !delegate {
			delete(s.projects, folder)
		}
		for _, d := range s.documents {
			if d.current != nil && (d.current.project == p || d.current.project.folder == folder) {
				d.current = nil
			}
		}
	}
}

// watch looks at the files that the server depends on until the context is done.
func (s *server) watch(ctx context.Context) {
	tick := time.NewTicker(500 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			s.look()
		}
	}
}

// look finds files that have changed, and project files that appeared or disappeared, and marks
// everything that depends on them.
func (s *server) look() {
	s.mu.Lock()
	known := map[string]stamp{}
	for _, p := range s.projects {
		p.mu.Lock()
		maps.Copy(known, p.files)
		p.mu.Unlock()
	}
	for _, d := range s.documents { // the client reports their changes
		delete(known, pathOf(d.uri))
	}
	s.mu.Unlock()
	var touched []string
	for path, was := range known {
		if stampOf(path) != was {
			touched = append(touched, path)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, path := range touched {
		s.restamp(path)
		s.touch(path)
	}
	moved := false
	for _, d := range s.documents {
		if d.current == nil {
			continue
		}
		if old := d.current.project; old.alone == "" && s.projectOf(pathOf(d.uri)) != old {
			d.current, moved = nil, true
		}
	}
	if moved || len(touched) > 0 {
		s.awake()
	}
}

// restamp updates the stamp of a file in all projects that read it. The server is locked.
func (s *server) restamp(path string) {
	is := stampOf(path)
	for _, p := range s.projects {
		p.mu.Lock()
		if _, ok := p.files[path]; ok {
			p.files[path] = is
		}
		p.mu.Unlock()
	}
}
