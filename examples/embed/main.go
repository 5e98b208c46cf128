// Embed runs a plan from Go, with two Go functions as its tools.
package main

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/plc-lang/plc"
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
	eng := plc.New(plc.Config{Tools: []*tool.Tool{
		tool.Func("split", "The words of a text.", split),
		tool.Func("count", "How often each word is there.", count),
	}})
	defer eng.Close()
	res, err := eng.Run(context.Background(), plc.Spec{Plan: plc.Text(plan)})
	if err != nil {
		log.Fatal(err) // a plan with an error never runs
	}
	fmt.Println(res.Status, string(res.State))
}
