package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/internal/texttree"
)

// A hostConfig is the configuration of a host: JSON that may have comments and trailing commas.
// Everything except the servers is kept as it is written.
type hostConfig struct {
	host    host
	was     []byte // the content of the file; nil if there is none
	text    []byte // the text that it was parsed from
	root    *texttree.Node
	servers []texttree.Entry
}

// maxConfigDepth is the maximum depth of a configuration.
const maxConfigDepth = 100

// readHostConfig reads the configuration of a host; if it does not exist, was is nil.
func readHostConfig(h host) (*hostConfig, error) {
	text, err := jsonscan.ReadFile(h.file)
	if errors.Is(err, fs.ErrNotExist) {
		if _, err := os.Lstat(h.file); err == nil {
			return nil, fmt.Errorf("%s is a link to a file that is not there; make that file, or remove the link", h.file)
		}
		text, err = nil, nil
	}
	if err != nil {
		return nil, err
	}
	return parseHostConfig(h, h.file, text)
}

// parseHostConfig reads the text of a configuration; nil is a new one.
func parseHostConfig(h host, name string, text []byte) (*hostConfig, error) {
	c := &hostConfig{host: h, was: text, text: text}
	if text == nil {
		c.text = []byte("{}\n")
	}
	root, fault := texttree.ParseJSON(c.text, maxConfigDepth)
	if fault != nil {
		line := 1 + bytes.Count(c.text[:min(fault.Offset, len(c.text))], []byte("\n"))
		return nil, fmt.Errorf("%s:%d: it is no JSON: %s", name, line, fault.Message)
	}
	if root.Kind != texttree.Object {
		return nil, fmt.Errorf("%s is not a JSON object", name)
	}
	c.root = root
	if e, ok := root.Get(h.servers); ok && e.Value.Kind != texttree.Null {
		if e.Value.Kind != texttree.Object {
			return nil, fmt.Errorf("%q in %s is %s, and has to be an object", h.servers, name, e.Value.Kind)
		}
		c.servers = e.Value.Entries
	}
	return c, nil
}

// elsewhere returns the names of the servers that Claude Code has for the current folder in the
// user's configuration; none if it can't be read.
func (h host) elsewhere() (names []string) {
	if h.name != "claude-code" || h.user {
		return nil
	}
	all, err := hosts(true)
	if err != nil {
		return nil
	}
	i := slices.IndexFunc(all, func(u host) bool { return u.name == h.name })
	c, err := readHostConfig(all[i])
	folder, err2 := os.Getwd()
	if err != nil || err2 != nil {
		return nil
	}
	at := c.root
	for _, name := range []string{"projects", folder, h.servers} {
		e, ok := at.Get(name)
		if !ok || e.Value.Kind != texttree.Object {
			return nil
		}
		at = e.Value
	}
	for _, e := range at.Entries {
		names = append(names, e.Name)
	}
	return names
}

// server returns the entry of a server.
func (c *hostConfig) server(name string) (texttree.Entry, bool) {
	return (&texttree.Node{Entries: c.servers}).Get(name)
}

// withServers returns the text with other servers.
func (c *hostConfig) withServers(servers []texttree.Entry) []byte {
	value := (&texttree.Node{Kind: texttree.Object, Entries: servers}).JSON()
	e, ok := c.root.Get(c.host.servers)
	if ok {
		return c.replaced(e.Value.Span, c.indented(value, int(e.Key.Start)))
	}
	at := c.root.Span.Start + 1
	member := "\n  " + string(texttree.Text(c.host.servers).JSON()) + ": " + string(c.indented(value, -1))
	if len(c.root.Entries) > 0 {
		member += ","
	} else if !bytes.HasPrefix(c.text[at:], []byte("\n")) && !bytes.HasPrefix(c.text[at:], []byte("\r\n")) {
		member += "\n"
	}
	return c.replaced(texttree.Span{Start: at, End: at}, []byte(member))
}

// replaced returns the text with a part replaced, using the line ends of the text.
func (c *hostConfig) replaced(at texttree.Span, by []byte) []byte {
	if bytes.Contains(c.text, []byte("\r\n")) {
		by = bytes.ReplaceAll(by, []byte("\n"), []byte("\r\n"))
	}
	return slices.Concat(c.text[:at.Start], by, c.text[at.End:])
}

// indented returns a value with the indentation for a place below the member at an offset; -1 is
// the first level.
func (c *hostConfig) indented(value []byte, member int) []byte {
	prefix := "  "
	if member >= 0 {
		line := c.text[bytes.LastIndexByte(c.text[:member], '\n')+1 : member]
		prefix = string(line[:len(line)-len(bytes.TrimLeft(line, " \t"))])
	}
	var b bytes.Buffer
	_ = json.Indent(&b, value, prefix, "  ") // texttree writes JSON
	return b.Bytes()
}

// changed returns the lines that only one of two texts has. It leaves out other lines, since they
// may contain secrets.
func changed(old, now []byte) string {
	a, b := strings.SplitAfter(string(old), "\n"), strings.SplitAfter(string(now), "\n")
	head := 0
	for head < min(len(a), len(b)) && a[head] == b[head] {
		head++
	}
	tail := 0
	for tail < min(len(a), len(b))-head && a[len(a)-1-tail] == b[len(b)-1-tail] {
		tail++
	}
	var out strings.Builder
	write := func(mark string, lines []string) {
		for _, l := range lines {
			if l != "" {
				out.WriteString(mark + strings.TrimRight(l, "\r\n") + "\n")
			}
		}
	}
	write("- ", a[head:len(a)-tail])
	write("+ ", b[head:len(b)-tail])
	return out.String()
}
