// Embed compiles and runs a plan from Go, with two Go functions as its tools.
package main

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
)

const plan = `[
  {"_tool": "split", "text": "the cat and the dog", "_outputPath": "†state.words"},
  {"_tool": "count", "words": "†state.words", "_outputPath": "†state.counts"}
]`

type text struct {
	Text string `json:"text"`
}

type words struct {
	Words []string `json:"words"`
}

func split(_ context.Context, in text) ([]string, error) { return strings.Fields(in.Text), nil }

func count(_ context.Context, in words) (map[string]int, error) {
	counts := map[string]int{}
	for _, w := range in.Words {
		counts[w]++
	}
	return counts, nil
}

func main() {
	tools := tool.NewCatalogue(
		tool.Func("split", "The words of a text.", split),
		tool.Func("count", "How often each word is there.", count),
	)
	doc, findings := lang.Parse(diag.NewFile("plan.json", []byte(plan)), nil)
	prog, more := compile.Compile(doc, &compile.Options{Catalogue: tools, Run: true})
	if err := append(findings, more...).Err(); err != nil {
		log.Fatal(err) // a plan with an error never runs
	}
	result, err := exec.Run(context.Background(), prog, nil)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Status, string(result.State))
}
