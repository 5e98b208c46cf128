package lsp

import (
	"encoding/json"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plc-lang/plc/cmd/plc/internal/lsp/protocol"
	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/schemas"
)

// described offers the names or values that a schema has at a place.
func (c *completer) described(d *description, path []any, name bool) {
	if name {
		var have []string
		if f := c.inner(); f != nil {
			have, path = f.names, path[:len(path)-1]
		}
		at := d.at(path)
		for _, n := range at.names() {
			if !slices.Contains(have, n) {
				item := protocol.CompletionItem{Kind: protocol.KindProperty}
				member := d.at(append(slices.Clone(path), n))
				if doc := member.doc(); doc != "" {
					item.Documentation = protocol.Markdown(doc)
				}
				c.name(n, item, "$1")
			}
		}
		return
	}
	c.values(d.at(path).values())
}

// values offers values of JSON.
func (c *completer) values(all []string) {
	for _, v := range all {
		var s string
		if json.Unmarshal([]byte(v), &s) == nil && v[0] == '"' {
			c.word(s, protocol.CompletionItem{Kind: protocol.KindEnum})
		} else if c.open == 0 {
			c.add(c.start(), protocol.CompletionItem{Label: v, Kind: protocol.KindValue}, v)
		}
	}
}

// param offers completions for a param: the values that its schema lists, members of objects, and
// references that fit.
func (c *completer) param(name string, inside []any) {
	var wanted *schemas.Schema
	if def := c.definition(); def != nil {
		wanted = def.Param[name]
	}
	path := stepsOf(inside)
	if c.inName && len(inside) > 0 {
		path = stepsOf(inside[:len(inside)-1])
	}
	if wanted != nil && len(path) > 0 {
		wanted, _ = wanted.At(path...)
	}
	if c.inName {
		if wanted == nil {
			return
		}
		for n := range wanted.Names() {
			if !slices.Contains(c.inner().names, n) {
				member, _ := wanted.At(schemas.Step{Name: n})
				item := protocol.CompletionItem{Kind: protocol.KindField}
				if member != nil {
					item.Detail = member.String()
				}
				c.name(n, item, "$1")
			}
		}
		return
	}
	if wanted != nil {
		c.values(schemaValues(wanted))
	}
	c.references(c.thisCall(), wanted)
}

// stepsOf returns names and indexes as steps into the values of a schema.
func stepsOf(path []any) (steps []schemas.Step) {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			steps = append(steps, schemas.Step{Name: p})
		case int:
			steps = append(steps, schemas.Step{Index: p, Kind: schemas.Element})
		}
	}
	return steps
}

// schemaValues returns the values that a schema lists.
func schemaValues(s *schemas.Schema) (all []string) {
	var of struct {
		Type     any
		Const    json.RawMessage
		Enum     []json.RawMessage
		Default  json.RawMessage
		Examples []json.RawMessage
	}
	if json.Unmarshal(s.Text(), &of) != nil {
		return nil
	}
	add := func(raw json.RawMessage) {
		if text := string(raw); len(raw) > 0 && !slices.Contains(all, text) {
			all = append(all, text)
		}
	}
	add(of.Const)
	for _, v := range of.Enum {
		add(v)
	}
	add(of.Default)
	for _, v := range of.Examples {
		add(v)
	}
	if of.Type == "boolean" {
		add(json.RawMessage("true"))
		add(json.RawMessage("false"))
	}
	return all
}

// maxFiles is the maximum number of files that are offered.
const maxFiles = 200

// documents offers the documents that a call can delegate to.
func (c *completer) documents() {
	c.word(compile.Anonymous, protocol.CompletionItem{Kind: protocol.KindKeyword})
	if c.snapshot.path == "" {
		return
	}
	folder := filepath.Dir(c.snapshot.path)
	for name := range c.snapshot.plansBelow(folder, maxFiles) {
		if rel, err := filepath.Rel(folder, name); err == nil && isPlan(name) {
			c.word(filepath.ToSlash(rel), protocol.CompletionItem{Kind: protocol.KindFile})
		}
	}
}

// plansBelow returns the other files in a folder and below it whose names may be those of plans, up
// to most. It skips folders that can't be read.
func (snap *snapshot) plansBelow(folder string, most int) iter.Seq2[string, fs.DirEntry] {
	return func(yield func(string, fs.DirEntry) bool) {
		n := 0
		_ = filepath.WalkDir(folder, func(name string, e fs.DirEntry, err error) error {
			switch base := filepath.Base(name); {
			case err != nil, e.IsDir() && name != folder && (strings.HasPrefix(base, ".") || base == "node_modules"):
				return fs.SkipDir
			case e.IsDir() || name == snap.path || !isPlanName(base):
				return nil
			}
			if n++; n > most || !yield(name, e) {
				return fs.SkipAll
			}
			return nil
		})
	}
}

// isPlan reports whether a file looks like a plan.
func isPlan(name string) bool {
	info, err := os.Stat(name)
	if err != nil || !info.Mode().IsRegular() || info.Size() > 1<<20 {
		return false
	}
	text, err := os.ReadFile(name)
	return err == nil && callsTool.Match(text)
}
