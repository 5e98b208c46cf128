package tree

import (
	"bytes"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/texttree"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect"
	"github.com/plc-lang/plc/lang/yaml"
)

// ReadAny reads the original as JSON if it begins with a bracket, and as YAML otherwise. If that is
// not possible, it reports why and returns false.
func ReadAny(b *dialect.Builder) (Value, bool) {
	start := bytes.TrimLeft(b.File.Text[b.Start():], " \t\r\n")
	if len(start) == 0 || start[0] == '{' || start[0] == '[' || bytes.HasPrefix(start, []byte("//")) {
		return Read(b)
	}
	y, fault := yaml.Convert(b.File, texttree.YAML{
		What: "plans", MaxDepth: 1000, MaxNodes: maxNodes, MaxBytes: maxOut, Aliases: true, Loose: true,
	})
	if fault != nil {
		b.Add(diag.List{*fault})
		return Value{}, false
	}
	in := &source{file: diag.NewDerived(y.Text, b.File, y.Nested), origin: b.File, pieces: y.Pieces}
	read, found := lang.ReadValue(in.file, &lang.Options{MaxBytes: 4 * max(len(y.Text), 1<<20), MaxDepth: depth(b.Options)})
	b.Add(found)
	return Value{read, in}, !read.IsZero() && !found.HasErrors()
}

// maxNodes and maxOut bound the size of a small text after its aliases are expanded.
const (
	maxNodes = 1 << 21
	maxOut   = 256 << 20
)
