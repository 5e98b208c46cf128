package draw_test

import (
	"os"

	"github.com/plc-lang/plc/dag/draw"
)

func ExampleMermaid() {
	g := &draw.Graph{
		Nodes: []draw.Node{{ID: "fetch", Kind: draw.ReadOnly}, {ID: "send", Kind: draw.Changes}},
		Edges: []draw.Edge{{From: 0, To: 1, Label: "profile"}},
	}
	if err := draw.Mermaid(os.Stdout, g); err != nil {
		panic(err)
	}
	// Output:
	// flowchart TD
	//   n0("fetch"):::reads
	//   n1{{"send"}}:::changes
	//   n0 -->|"profile"| n1
	//   classDef reads fill:#e8f1fc,stroke:#3b73b9,color:#1f2933
	//   classDef changes fill:#fdebd3,stroke:#b85c00,color:#1f2933
}
