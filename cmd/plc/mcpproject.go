package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/display"
	"github.com/plc-lang/plc/internal/durable"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/internal/links"
	"github.com/plc-lang/plc/internal/texttree"
	"github.com/plc-lang/plc/tool/file"
)

// A projectMove is an edit of a trusted project file that goes with a move of the servers of a host
// to another file. The project stays trusted, because it starts no other servers than before.
type projectMove struct {
	name      string
	was, text []byte
	files     []plc.ProjectFile // the files to trust after the edit
}

// moveInProject returns the edit of the project file for moving servers from the file from, whose
// text is was, to the file to, whose text will be text. It returns nil if there is no project file
// or it doesn't name from, if the project is not trusted in its present state, if text has servers
// that are not in was, if a link leads the project file out of its folder, or if the file can't be
// edited in this way.
func (env *environment) moveInProject(from, to string, was, text []byte) *projectMove {
	name, p, at := env.projectNaming(from)
	if at < 0 || env.noProject || !addsNoServer(text, was) {
		return nil
	}
	if at, err := links.Outside(filepath.Dir(name), name); at != "" || err != nil {
		return nil
	}
	files := plc.ProjectFiles(name, p)
	if trusted, _, _ := trustOf(name, files); !trusted {
		return nil
	}
	i := slices.IndexFunc(files, func(f plc.ProjectFile) bool { return f.Name == p.MCP[at] && bytes.Equal(f.Text, was) })
	whole, err := filepath.Abs(to)
	if i < 0 || err != nil {
		return nil
	}
	relative, err := filepath.Rel(filepath.Dir(name), whole)
	if err != nil {
		return nil
	}
	m := &projectMove{name: name, was: files[0].Text}
	if m.text = renamed(m.was, at, filepath.ToSlash(relative)); m.text == nil {
		return nil
	}
	m.files = slices.Clone(files)
	m.files[0].Text = m.text
	m.files[i] = plc.ProjectFile{Name: to, Text: text}
	return m
}

// addsNoServer reports whether every server in text is also in other, with the same settings.
func addsNoServer(text, other []byte) bool {
	servers, read := serversOf(text)
	known, _ := serversOf(other)
	return read && !slices.ContainsFunc(servers, func(e texttree.Entry) bool {
		return !slices.ContainsFunc(known, func(k texttree.Entry) bool {
			return k.Name == e.Name && bytes.Equal(k.Value.JSON(), e.Value.JSON())
		})
	})
}

// serversOf returns the servers that plc reads in a configuration, and whether the configuration
// can be read.
func serversOf(text []byte) (all []texttree.Entry, ok bool) {
	root, fault := texttree.ParseJSON(text, maxConfigDepth)
	if fault != nil {
		return nil, false
	}
	for _, e := range root.Entries {
		if e.Name == "mcpServers" || e.Name == "servers" {
			all = append(all, e.Value.Entries...)
		}
	}
	return all, true
}

// plainName matches file names that are strings in YAML without quotes.
var plainName = regexp.MustCompile(`^[./]?[A-Za-z][A-Za-z0-9._/-]*$`)

// renamed returns text with element at of its list mcp replaced by to, or nil if that is not
// possible. Everything else, comments included, stays as it is.
func renamed(text []byte, at int, to string) []byte {
	root, fault := texttree.YAML{What: "project files", MaxDepth: maxConfigDepth}.Parse(text)
	if fault != nil {
		return nil
	}
	before, _ := file.ReadProject(diag.NewFile(plc.ProjectName, text))
	e, ok := root.Get("mcp")
	if !ok || at >= len(e.Value.Entries) || at >= len(before.MCP) {
		return nil
	}
	old := e.Value.Entries[at].Value
	by := string(jsonscan.Encode(to))
	if string(text[old.Span.Start:old.Span.End]) == old.Str && plainName.MatchString(to) {
		by = to
	}
	now := slices.Concat(text[:old.Span.Start], []byte(by), text[old.Span.End:])
	after, findings := file.ReadProject(diag.NewFile(plc.ProjectName, now))
	before.MCP[at] = to
	if findings.HasErrors() || !slices.Equal(after.MCP, before.MCP) {
		return nil
	}
	return now
}

// show shows the lines of the project file that change.
func (m *projectMove) show(env *environment) {
	if m != nil {
		show(env.stderr, display.Sprintf("%s, which stays trusted:\n%s\n", display.Name(m.name), display.Block("  ", changed(m.was, m.text))))
	}
}

// apply writes the edited project file and records that it is trusted. If m is nil, it asks the
// user to edit a project file that still names from.
func (m *projectMove) apply(env *environment, from, to string) error {
	if m == nil {
		env.tellMoved(from, to)
		return nil
	}
	now, err := os.ReadFile(m.name)
	if err == nil && !bytes.Equal(now, m.was) {
		err = fmt.Errorf("%s has changed meanwhile, and was left as it is", m.name)
	}
	if err == nil {
		err = durable.WriteFile(m.name, m.text)
	}
	if err != nil {
		env.tellMoved(from, to)
		return err
	}
	show(env.stderr, display.Sprintf("%s names %s now, and not %s\n", display.Name(m.name), display.Name(to), display.Name(from)))
	return writeTrust(m.name, m.files)
}

// tellMoved asks the user to edit the project file if it names the configuration from, whose
// servers have moved to the configuration to.
func (env *environment) tellMoved(from, to string) {
	name, _, at := env.projectNaming(from)
	if at < 0 {
		return
	}
	show(env.stderr, display.Sprintf("%s names %s, whose servers are in %s now: name that file instead, and run plc trust; until then plc refuses to use the project file, also when the host starts it\n",
		display.Name(name), display.Name(from), display.Name(to)))
}

// askToRemove asks the user to remove a configuration from the project file if plc itself is its
// only server for plc.
func (env *environment) askToRemove(config string) {
	if name, _, at := env.projectNaming(config); at >= 0 {
		show(env.stderr, display.Sprintf("%s names %s, which now lists no server for plc but plc itself: remove it from mcp, and run plc trust\n", display.Name(name), display.Name(config)))
	}
}

// projectNaming returns the project file, and the index of a file in its list mcp; -1 if the list
// doesn't have the file or there is no project file.
func (env *environment) projectNaming(config string) (string, *file.Project, int) {
	name, p, err := env.project()
	if name == "" || err != nil {
		return "", nil, -1
	}
	whole, err := filepath.Abs(config)
	if err != nil {
		return "", nil, -1
	}
	return name, p, slices.IndexFunc(p.MCP, func(file string) bool {
		path, err := filepath.Abs(file)
		return err == nil && path == whole
	})
}
