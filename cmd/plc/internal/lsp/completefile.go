package lsp

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/plc-lang/plc/cmd/plc/internal/lsp/protocol"
	"github.com/plc-lang/plc/diag"
)

// file offers what may stand in a tool file or a project file.
func (c *completer) file(offset int) {
	schema := toolSchema()
	if c.analysis.kind == projectFile {
		schema = projectSchema()
	}
	if c.isYAML() {
		y := yamlAt(c.text().bytes, offset)
		c.cursor = &cursor{offset: offset, text: c.text().bytes, token: diag.Span{Start: int32(y.start), End: int32(offset)}}
		if y.name {
			c.yamlNames(schema, y)
		} else {
			c.yamlValues(schema, y)
		}
		return
	}
	c.cursor = cursorAt(c.text().bytes, offset)
	c.described(schema, c.way(0), c.inName)
}

// yamlNames offers names of members in YAML.
func (c *completer) yamlNames(schema *description, y *yamlCursor) {
	at := schema.at(y.path)
	names := at.names()
	for _, n := range slices.Concat(names, c.ownNames(y.path)) {
		if slices.Contains(y.have, n) {
			continue
		}
		item := protocol.CompletionItem{Label: n, Kind: protocol.KindProperty}
		if doc := schema.at(append(slices.Clone(y.path), n)).doc(); doc != "" {
			item.Documentation = protocol.Markdown(doc)
		}
		c.add(y.start, item, n+": ")
	}
	c.yamlValues(schema, y) // an element of a list, or a text
}

// ownNames returns the names that a tool file gives to its own things and that may stand at a
// path: tools, under activities and limits.
func (c *completer) ownNames(path []any) (names []string) {
	if len(path) != 1 || path[0] != "activities" && path[0] != "limits" || c.analysis.catalogue() == nil {
		return nil
	}
	for t := range c.tools() {
		if t.Source != "built-in" {
			names = append(names, t.Definition.Name)
		}
	}
	return names
}

// yamlValues offers values in YAML.
func (c *completer) yamlValues(schema *description, y *yamlCursor) {
	offer := func(kind int, words ...string) {
		for _, w := range words {
			c.add(y.start, protocol.CompletionItem{Label: w, Kind: kind}, w)
		}
	}
	last := ""
	for _, p := range y.path {
		if s, ok := p.(string); ok {
			last = s
		}
	}
	inside := func(names ...string) bool { return slices.Contains(names, last) }
	switch {
	case y.name && len(y.path) > 0 && y.path[len(y.path)-1] == last && !y.element:
	case inside("env", "inheritEnv") && c.analysis.kind == toolFile:
		offer(protocol.KindVariable, c.variables()...)
	case inside("server"):
		offer(protocol.KindModule, c.servers()...)
	case inside("allow", "deny"):
		for t := range c.tools() {
			offer(protocol.KindFunction, t.Definition.Name)
		}
	case inside("ignore") && c.analysis.kind == projectFile:
		for code := diag.Code(100); code < 1000; code++ {
			if page, ok := diag.Explain(code); ok && page.Severity != diag.Error {
				item := protocol.CompletionItem{Label: code.String(), Kind: protocol.KindConstant, Detail: page.Summary}
				c.add(y.start, item, code.String())
			}
		}
	case inside("tools", "mcp", "lock") && c.analysis.kind == projectFile, inside("spec"):
		offer(protocol.KindFile, c.filesBeside()...)
	default:
		for _, v := range schema.at(y.path).values() {
			offer(protocol.KindEnum, strings.Trim(v, `"`))
		}
	}
}

// variables returns the names of the variables of the environment, sorted.
func (c *completer) variables() (names []string) {
	for _, v := range c.snapshot.server.config.Environ {
		if name, _, ok := strings.Cut(v, "="); ok && name != "" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	return slices.Compact(names)
}

// servers returns the names of the MCP servers of the project.
func (c *completer) servers() []string {
	names := map[string]bool{}
	if c.analysis.project.checker != nil {
		for _, f := range c.analysis.project.checker.Files {
			for name := range f.MCPServers {
				names[name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// filesBeside returns the JSON and YAML files in the folder of the document.
func (c *completer) filesBeside() (names []string) {
	entries, err := os.ReadDir(filepath.Dir(c.snapshot.path))
	if err != nil {
		return nil
	}
	for _, e := range entries {
		switch filepath.Ext(e.Name()) {
		case ".yaml", ".yml", ".json", ".jsonc":
			if e.Name() != filepath.Base(c.snapshot.path) && len(names) < maxFiles {
				names = append(names, e.Name())
			}
		}
	}
	return names
}

// A yamlCursor is a place in a text of YAML: the names that lead there, by indentation and by the
// braces on its line.
type yamlCursor struct {
	path    []any
	name    bool // the name of a member may stand here
	element bool // the place is an element of a list
	start   int  // where what is typed begins
	have    []string
}

// yamlKey is a line that begins with a name.
var yamlKey = regexp.MustCompile(`^(\s*(?:- +)*)("[^"]*"|'[^']*'|[^\s#:{}\[\],"'-][^:#{}\[\],]*?)\s*:(?:\s|$)`)

// yamlAt finds the place of an offset.
func yamlAt(text []byte, offset int) *yamlCursor {
	lines := strings.Split(string(text[:offset]), "\n")
	line := lines[len(lines)-1]
	y := &yamlCursor{name: true, start: offset}
	rest, indent := line, 0
	body := strings.TrimLeft(line, " ")
	indent = len(line) - len(body)
	for strings.HasPrefix(body, "- ") {
		y.element = true
		body = strings.TrimLeft(body[2:], " ")
		indent = len(line) - len(body)
	}
	rest = body
	y.path = parents(lines[:len(lines)-1], indent, y.element)
	if m := yamlKey.FindStringSubmatch(line); m != nil {
		y.path, y.name, y.element = append(y.path, strings.Trim(m[2], `"'`)), false, false
		rest = line[len(m[0]):]
	} else {
		y.have = siblings(string(text), len(lines)-1, indent)
	}
	y.flow(rest)
	word := rest[strings.LastIndexAny(rest, " \t{}[],\"'")+1:]
	y.start = offset - len(word)
	return y
}

// parents returns the names of the lines above that are indented less.
func parents(lines []string, indent int, element bool) (path []any) {
	for i := len(lines) - 1; i >= 0 && (indent > 0 || element); i-- {
		m := yamlKey.FindStringSubmatch(lines[i])
		if m == nil {
			continue
		}
		at := len(m[1])
		dashed := strings.Contains(m[1], "-")
		if at < indent || element && at <= indent && !dashed {
			if element {
				path = append([]any{0}, path...)
			}
			path = append([]any{strings.Trim(m[2], `"'`)}, path...)
			if indent, element = at, dashed; dashed {
				indent = len(m[1]) - len(strings.TrimLeft(m[1], " "))
			}
		}
	}
	return path
}

// siblings returns the names on the lines round one that are indented alike.
func siblings(text string, line, indent int) (names []string) {
	lines := strings.Split(text, "\n")
	look := func(i, by int) {
		for i += by; i >= 0 && i < len(lines); i += by {
			if strings.TrimSpace(lines[i]) == "" {
				continue
			}
			at := len(lines[i]) - len(strings.TrimLeft(lines[i], " "))
			if at < indent {
				return
			}
			if m := yamlKey.FindStringSubmatch(lines[i]); m != nil && at == indent {
				names = append(names, strings.Trim(m[2], `"'`))
			}
		}
	}
	look(line, -1)
	look(line, 1)
	return names
}

// flow follows braces and brackets on the line of the place.
func (y *yamlCursor) flow(rest string) {
	type level struct {
		object bool
		key    string
		index  int
		have   []string
	}
	var open []level
	word := ""
	for _, r := range rest {
		last := len(open) - 1
		switch {
		case r == '{' || r == '[':
			open, word = append(open, level{object: r == '{'}), ""
		case (r == '}' || r == ']') && last >= 0:
			open, word = open[:last], ""
		case r == ':' && last >= 0 && open[last].object && open[last].key == "":
			open[last].key = strings.Trim(strings.TrimSpace(word), `"'`)
			open[last].have, word = append(open[last].have, open[last].key), ""
		case r == ',' && last >= 0:
			open[last].key, word = "", ""
			open[last].index++
		default:
			word += string(r)
		}
	}
	for _, l := range open {
		y.name, y.element, y.have = l.object && l.key == "", !l.object, l.have
		switch {
		case !l.object:
			y.path = append(y.path, l.index)
		case l.key != "":
			y.path = append(y.path, l.key)
		}
	}
}
