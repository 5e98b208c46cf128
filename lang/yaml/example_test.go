package yaml_test

import (
	"fmt"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/yaml"
)

func Example() {
	file := diag.NewFile("plan.yaml", []byte("- _tool: show\n  text: Hello †{state.user}\n"))
	doc, findings := lang.Parse(file, &lang.Options{YAML: yaml.Read})
	if err := findings.Err(); err != nil {
		panic(err)
	}
	fmt.Println(string(doc.Root.AppendJSON(nil)))
	// Output: [{"_tool":"show","text":"Hello †{state.user}"}]
}
