package lsp

import (
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plc-lang/plc/cmd/plc/internal/lsp/protocol"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/tool"
)

// file offers completions in a file that is not a plan.
func (c *completer) file() {
	schema := c.analysis.kind.schema()
	path := c.way(0)
	if !c.inName {
		c.fileValues(schema, path)
		return
	}
	for _, name := range c.ownNames(path[:len(path)-1]) {
		if !slices.Contains(c.inner().names, name) {
			c.name(name, protocol.CompletionItem{Kind: protocol.KindProperty}, "")
		}
	}
	c.described(schema, path, true)
}

// ownNames returns the names of tools, in places where members are named after tools.
func (c *completer) ownNames(path []any) (names []string) {
	if len(path) == 0 || c.analysis.catalogue() == nil {
		return nil
	}
	ofFile := len(path) == 1 && (path[0] == "activities" || path[0] == "limits")
	if last := path[len(path)-1]; !ofFile && last != "standIns" && !(last == "tools" && c.analysis.kind == policyFile) {
		return nil
	}
	for t := range c.tools() {
		if t.Source != tool.BuiltIn {
			names = append(names, t.Definition.Name)
		}
	}
	return names
}

// fileValues offers values for the member that the cursor is in.
func (c *completer) fileValues(schema *description, path []any) {
	offer := func(kind int, words ...string) {
		for _, w := range words {
			c.word(w, protocol.CompletionItem{Kind: kind})
		}
	}
	last := ""
	for _, p := range path {
		if s, ok := p.(string); ok {
			last = s
		}
	}
	inside := func(names ...string) bool { return slices.Contains(names, last) }
	switch {
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
				c.word(code.String(), protocol.CompletionItem{Kind: protocol.KindConstant, Detail: page.Summary})
			}
		}
	case inside("tools", "mcp", "lock", "policies") && c.analysis.kind != toolFile, inside("spec"), inside("plan") && c.analysis.kind != policyFile:
		offer(protocol.KindFile, c.filesBeside()...)
	default:
		c.values(schema.at(path).values())
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
