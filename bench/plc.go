package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
)

// definition is the tool of all nodes: what it is given is validated at each call.
const definition = `{"properties": {
	"node": {"type": "integer"},
	"in": {"type": "array", "items": {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}}
}, "required": ["node", "in"], "additionalProperties": false}`

// plan is a shape as a plan.
func plan(s *Shape) string {
	var b strings.Builder
	b.WriteByte('[')
	for i, needs := range s.Needs {
		if i > 0 {
			b.WriteString(",\n")
		}
		fmt.Fprintf(&b, `{"_tool":"node","node":%d,"in":[`, i)
		for k, n := range needs {
			if k > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `"†state.n%d"`, n)
		}
		fmt.Fprintf(&b, `],"_outputPath":"†state.n%d"}`, i)
	}
	b.WriteByte(']')
	return b.String()
}

// node is the activity of all nodes. It takes its values from the params as a
// program would that knows their shape.
func node(ctx context.Context, req *tool.Request) (tool.Result, error) {
	text := string(req.Params)
	number, list, ok := strings.Cut(strings.TrimPrefix(text, `{"node":`), `,"in":`)
	i, err := strconv.Atoi(number)
	if !ok || err != nil {
		return tool.Result{}, fmt.Errorf("params %s", text)
	}
	var in []json.RawMessage
	if list = strings.TrimSuffix(strings.TrimPrefix(list, "["), "]}"); list != "" {
		size := len(value) + 1
		for k := 0; k*size < len(list); k++ {
			in = append(in, req.Params[len(text)-len(list)-2+k*size:][:len(value)])
		}
	}
	return tool.Result{Value: workOf(ctx).Do(i, in)}, nil
}

// plc is this project as a library.
func plc() System {
	return System{
		Name: "plc", Does: "params resolved from the whiteboard and validated, results written to it in the order of the plan, events, at most 1,024 at once; no record",
		Build: func(s *Shape) (Graph, error) {
			prog, err := program(s, tool.Effects{Pure: tool.Yes})
			return GraphFunc(func(ctx context.Context, w *Work) (json.RawMessage, error) {
				return run(withWork(ctx, w), prog, &exec.Options{MaxParallel: 1024, OnEvent: func(*exec.Event) {}, ReuseEvents: true}, len(s.Needs)-1)
			}), err
		},
	}
}

// program compiles a shape for a tool with these effects, and tells all findings.
func program(s *Shape, effects tool.Effects) (*compile.Program, error) {
	return programOf(s, effects, node)
}

// programOf is program with another activity.
func programOf(s *Shape, effects tool.Effects, activity tool.ActivityFunc) (*compile.Program, error) {
	def, findings := tool.ParseDefinition(json.RawMessage(definition), "node", diag.Loc{})
	if err := findings.Err(); err != nil {
		return nil, err
	}
	def.Effects = effects
	cat := tool.NewCatalogue(&tool.Tool{Definition: def, Activity: activity})
	doc, findings := lang.Parse(diag.NewFile("plan.json", []byte(plan(s))), nil)
	prog, more := compile.Compile(doc, &compile.Options{Catalogue: cat, Run: true})
	return prog, append(findings, more...).Err()
}

// run runs a program and gives the value of its last node.
func run(ctx context.Context, prog *compile.Program, opts *exec.Options, last int) (json.RawMessage, error) {
	res, err := exec.Run(ctx, prog, opts)
	if err != nil {
		return nil, err
	}
	if res.Status != exec.Completed {
		return nil, fmt.Errorf("%s: %s", res.Status, res.Reason)
	}
	return res.Calls[last].Result, nil
}
