package main

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/heimdalr/dag"
)

// heimdalrDAG is heimdalr/dag.
func heimdalrDAG() System {
	return System{
		Name: "heimdalr/dag", Does: "a goroutine a node; results are any, not checked; no limits, no record",
		Build: func(s *Shape) (Graph, error) {
			d := dag.NewDAG()
			for i, needs := range s.Needs {
				if err := d.AddVertexByID(strconv.Itoa(i), i); err != nil {
					return nil, err
				}
				for _, n := range needs {
					if err := d.AddEdge(strconv.Itoa(n), strconv.Itoa(i)); err != nil {
						return nil, err
					}
				}
			}
			return GraphFunc(func(_ context.Context, w *Work) (json.RawMessage, error) {
				results, err := d.DescendantsFlow("0", nil, func(_ *dag.DAG, id string, parents []dag.FlowResult) (any, error) {
					i, err := strconv.Atoi(id)
					if err != nil {
						return nil, err
					}
					in := make([]json.RawMessage, len(parents))
					for k := range parents {
						if parents[k].Error != nil {
							return nil, parents[k].Error
						}
						in[k] = parents[k].Result.(json.RawMessage)
					}
					return w.Do(i, in), nil
				})
				if err != nil {
					return nil, err
				}
				return results[0].Result.(json.RawMessage), results[0].Error
			}), nil
		},
	}
}
