package tree_test

import (
	"fmt"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang/dialect"
	"github.com/plc-lang/plc/lang/dialect/tree"
)

// A notation that is a list of names in JSON or YAML.
func ExampleReadAny() {
	n := &dialect.Notation{Name: "names", What: "a list of names", Read: func(b *dialect.Builder) {
		root, ok := tree.ReadAny(b)
		if !ok {
			return
		}
		b.List(root.At())
		for _, v := range root.Elements() {
			b.Object(v.At())
			b.Member("_tool", v.At())
			tree.Scalar(b, v)
			b.Close()
		}
		b.Close()
	}}
	doc, findings := n.Parse(diag.NewFile("plan.yaml", []byte("- search\n- summarize\n")), nil)
	fmt.Println(findings.Err())
	for _, c := range doc.Calls {
		fmt.Println(string(c.Node.AppendJSON(nil)))
	}
	// Output:
	// <nil>
	// {"_tool":"search"}
	// {"_tool":"summarize"}
}
