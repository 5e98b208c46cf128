package mcp

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/internal/jsonscan"
)

// Lock holds the definitions of servers' tools that somebody has reviewed. For the servers in it, a
// tool that differs is refused with an error that says what changed, and a new tool is ignored. nil
// locks nothing.
type Lock struct {
	servers map[string][]definition
}

const maxLock = 64 << 20

// lockFile is the format of a lock.
type lockFile struct {
	PLC     string                `json:"plc"`
	Version int                   `json:"version"`
	Servers map[string]lockServer `json:"servers"`
}

type lockServer struct {
	Tools []lockTool `json:"tools"`
}

type lockTool struct {
	Name       string          `json:"name"`
	Digest     string          `json:"digest"`
	Definition json.RawMessage `json:"definition"`
}

// Lock returns a lock with the definitions that the servers have listed. A server that failed is an
// error.
func (p *Pool) Lock() (*Lock, error) {
	l := &Lock{map[string][]definition{}}
	for _, c := range p.Servers() {
		if err := c.Err(); err != nil {
			return nil, fmt.Errorf("MCP server %q: %w", c.Name(), err)
		}
		c.mu.Lock()
		list := []definition{}
		for _, name := range slices.Sorted(maps.Keys(c.texts)) {
			list = append(list, definition{name: name, text: c.texts[name]})
		}
		c.mu.Unlock()
		l.servers[c.Name()] = list
	}
	return l, nil
}

// MarshalJSON returns the text of the lock's file.
func (l *Lock) MarshalJSON() ([]byte, error) {
	f := lockFile{"lock", 1, map[string]lockServer{}}
	for name, list := range l.servers {
		s := lockServer{[]lockTool{}}
		for _, d := range list {
			s.Tools = append(s.Tools, lockTool{d.name, d.digest(), json.RawMessage(d.text)})
		}
		f.Servers[name] = s
	}
	return json.Marshal(f)
}

// ReadLock reads a lock. It returns an error if a digest does not match its definition.
func ReadLock(text []byte) (*Lock, error) {
	if err := jsonscan.Check(text, jsonscan.Limits{MaxBytes: maxLock}); err != nil {
		return nil, fmt.Errorf("it is no lock: %w", err)
	}
	v := gjson.ParseBytes(text)
	if v.Get("plc").Str != "lock" || v.Get("version").Raw != "1" || !v.Get("servers").IsObject() {
		return nil, fmt.Errorf("it is no lock of this version: plc tools lock writes one")
	}
	strict := json.NewDecoder(bytes.NewReader(text))
	strict.DisallowUnknownFields()
	err := strict.Decode(&lockFile{})
	if err != nil {
		return nil, fmt.Errorf("it is no lock: %s; write it again with plc tools lock", strings.TrimPrefix(err.Error(), "json: "))
	}
	l := &Lock{map[string][]definition{}}
	v.Get("servers").ForEach(func(server, s gjson.Result) bool {
		list := []definition{}
		for _, t := range s.Get("tools").Array() {
			d := definitionOf(t.Get("definition"))
			if d.name == "" || d.name != t.Get("name").Str || d.digest() != t.Get("digest").Str {
				err = fmt.Errorf("what it says of the tool %q of server %q was edited; write it again with plc tools lock", t.Get("name").Str, server.Str)
				return false
			}
			list = append(list, d)
		}
		l.servers[server.Str] = list
		return true
	})
	return l, err
}

// Has reports whether the lock has a server.
func (l *Lock) Has(server string) bool {
	_, ok := l.server(server)
	return ok
}

func (l *Lock) server(name string) ([]definition, bool) {
	if l == nil {
		return nil, false
	}
	list, ok := l.servers[name]
	return list, ok
}

// digest returns the digest of the definition's value, which does not depend on its formatting.
func (d definition) digest() string {
	sum := sha256.Sum256(jsonscan.Canonical(nil, []byte(d.text)))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// differences returns the tools that differ from the known definitions, with what changed.
func differences(known map[string]string, defs []definition) map[string]string {
	changed := map[string]string{}
	now := map[string]bool{}
	for _, d := range defs {
		now[d.name] = true
		old, ok := known[d.name]
		if was := (definition{name: d.name, text: old}); ok && was.digest() != d.digest() {
			changed[d.name] = difference(was, d)
		}
	}
	for name := range known {
		if !now[name] {
			changed[name] = "the server does not have it any more"
		}
	}
	return changed
}

// difference names the members that differ.
func difference(was, is definition) string {
	var names []string
	for _, name := range []string{"title", "description", "inputSchema", "outputSchema", "annotations"} {
		if !same(gjson.Get(was.text, name), gjson.Get(is.text, name)) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}

func same(a, b gjson.Result) bool {
	if !a.Exists() || !b.Exists() {
		return a.Exists() == b.Exists()
	}
	return string(jsonscan.Canonical(nil, []byte(a.Raw))) == string(jsonscan.Canonical(nil, []byte(b.Raw)))
}

// Changed returns the tools, as "server.tool", whose definitions differ from the locked ones or
// from those that were listed first, each with what changed.
func (p *Pool) Changed() map[string]string {
	changed := map[string]string{}
	for _, c := range p.Servers() {
		for name, how := range c.changed() {
			changed[c.server.Name+"."+name] = how
		}
	}
	return changed
}
