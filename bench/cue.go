package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"cuelang.org/go/cue"
	"cuelang.org/go/cue/cuecontext"
	"cuelang.org/go/tools/flow"
)

// cueText is a shape as tasks in CUE.
func cueText(s *Shape) string {
	var b strings.Builder
	for i, needs := range s.Needs {
		fmt.Fprintf(&b, "n%d: {$node: %d, in: [", i, i)
		for _, n := range needs {
			fmt.Fprintf(&b, "n%d.out, ", n)
		}
		b.WriteString("], out: {city: string, zip: string}}\n")
	}
	return b.String()
}

// cueFlow is cuelang.org/go/tools/flow.
func cueFlow() System {
	return System{
		Name: "CUE tools/flow", Most: 102, Does: "all values unified and checked as CUE; no limits, no record",
		Build: func(s *Shape) (Graph, error) {
			text := cueText(s)
			v := cuecontext.New().CompileString(text)
			if err := v.Err(); err != nil {
				return nil, err
			}
			last := cue.ParsePath(fmt.Sprintf("n%d.out", len(s.Needs)-1))
			return GraphFunc(func(ctx context.Context, w *Work) (json.RawMessage, error) {
				c := flow.New(nil, v, func(v cue.Value) (flow.Runner, error) {
					n := v.LookupPath(cue.ParsePath("$node"))
					if !n.Exists() || len(v.Path().Selectors()) != 1 {
						return nil, nil
					}
					i, err := n.Int64()
					return cueTask(s, w, int(i)), err
				})
				if err := c.Run(ctx); err != nil {
					return nil, err
				}
				return c.Value().LookupPath(last).MarshalJSON()
			}), nil
		},
	}
}

// cueTask is the work of a node of CUE.
func cueTask(s *Shape, w *Work, node int) flow.Runner {
	return flow.RunnerFunc(func(t *flow.Task) error {
		given := t.Value().LookupPath(cue.ParsePath("in"))
		in := make([]json.RawMessage, len(s.Needs[node]))
		for k := range in {
			text, err := given.LookupPath(cue.MakePath(cue.Index(k))).MarshalJSON()
			if err != nil {
				return err
			}
			in[k] = text
		}
		var out map[string]string
		if err := json.Unmarshal(w.Do(node, in), &out); err != nil {
			return err
		}
		return t.Fill(map[string]any{"out": out})
	})
}
