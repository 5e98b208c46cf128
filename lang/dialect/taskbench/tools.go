package taskbench

import (
	"fmt"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect"
	"github.com/plc-lang/plc/lang/dialect/tree"
)

// catalogue reads tool descriptions: {"nodes": [{id, desc, input-type, output-type}]} or
// with parameters [{name, type, desc}]. They do not say which params must be given.
func catalogue(b *dialect.Builder) {
	root, ok := tree.Read(b)
	if !ok {
		return
	}
	list := root
	if root.Is(lang.Object) {
		list = root.Get("nodes")
	}
	if !list.Is(lang.Array) {
		b.Errorf(root.At(), diag.BadNotation, "the tool descriptions are {\"nodes\": […]}")
		return
	}
	b.Object(root.At())
	b.Member("tools", root.At())
	b.Object(root.At())
	for _, n := range list.Elements() {
		definition(b, n)
	}
	b.Close()
	b.Close()
}

func definition(b *dialect.Builder, v tree.Value) {
	id := v.Get("id")
	if !id.Is(lang.String) || id.Str() == "" {
		b.Errorf(v.At(), diag.BadNotation, "the tool has no id")
		return
	}
	b.Member(id.Str(), id.All())
	b.Object(v.At())
	if d := v.Get("desc"); d.Is(lang.String) {
		b.Member("description", d.All())
		b.String(d.Str(), d.All())
	}
	kinds(b, v)
	b.Member("properties", v.At())
	b.Object(v.At())
	taken := map[string]bool{}
	for _, p := range v.Get("parameters").Elements() {
		if name := p.Get("name"); name.Str() != "" && !taken[name.Str()] && tree.Param(b, name.Str(), name.All()) {
			taken[name.Str()] = true
			tree.LooseSchema(b, p)
		}
	}
	for _, t := range v.Get("input-type").Elements() {
		b.Member(numbered(strings.ToLower(t.Str()), taken), t.All())
		b.Object(t.At())
		b.Close()
	}
	b.Close()
	if p := v.Get("parameters"); p.Is(lang.Array) {
		tree.Closed(b, p.At())
	}
	b.Close()
}

// kinds writes the kinds of a tool's params and results, if they are given.
func kinds(b *dialect.Builder, v tree.Value) {
	if v.Get("input-type").Len() == 0 && v.Get("output-type").Len() == 0 {
		return
	}
	b.Member("x-kinds", v.At())
	b.Object(v.At())
	for _, side := range []struct{ name, of string }{{"takes", "input-type"}, {"gives", "output-type"}} {
		m := v.Member(side.of)
		if m.Value.Len() == 0 {
			continue
		}
		b.Member(side.name, m.Key)
		b.List(m.Value.At())
		for _, t := range m.Value.Elements() {
			b.String(strings.ToLower(t.Str()), t.All())
		}
		b.Close()
	}
	b.Close()
}

// numbered returns a name, with a number if it is already used.
func numbered(name string, taken map[string]bool) string {
	free := name
	for i := 2; taken[free]; i++ {
		free = fmt.Sprintf("%s%d", name, i)
	}
	taken[free] = true
	return free
}
