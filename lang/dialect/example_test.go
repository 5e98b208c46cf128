package dialect_test

import (
	"fmt"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang/dialect"
)

// A notation in which each line is the name of a tool.
func Example() {
	n := &dialect.Notation{Name: "lines", What: "a plan in lines", Read: func(b *dialect.Builder) {
		whole := dialect.Span(b.Start(), len(b.File.Text))
		b.List(whole)
		for line := range b.Lines(whole) {
			if line = b.Trim(line); line.Len() == 0 {
				continue
			}
			b.Object(line)
			b.Member("_tool", line)
			b.String(b.Text(line), line)
			b.Close()
		}
		b.Close()
	}}
	doc, findings := n.Parse(diag.NewFile("plan.txt", []byte("search\nsummarize\n")), nil)
	fmt.Println(findings.Err())
	for _, c := range doc.Calls {
		fmt.Println(string(c.Node.AppendJSON(nil)))
	}
	// Output:
	// <nil>
	// {"_tool":"search"}
	// {"_tool":"summarize"}
}
