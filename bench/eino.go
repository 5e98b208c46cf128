package main

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/cloudwego/eino/compose"
)

// einoInput are the values that a node of eino needs, by the names of the nodes.
func einoInput(s *Shape, node int, in map[string]any) []json.RawMessage {
	values := make([]json.RawMessage, 0, len(s.Needs[node]))
	for _, n := range s.Needs[node] {
		v, _ := in[strconv.Itoa(n)].(json.RawMessage)
		values = append(values, v)
	}
	return values
}

// einoNode is the work of a node of eino.
func einoNode(s *Shape, node int) *compose.Lambda {
	return compose.InvokableLambda(func(ctx context.Context, in map[string]any) (json.RawMessage, error) {
		return workOf(ctx).Do(node, einoInput(s, node, in)), nil
	})
}

// einoGraph is cloudwego/eino's Graph: nodes put their results into maps, which are
// merged for those that follow.
func einoGraph() System {
	return System{
		Name: "eino Graph", Does: "types of edges checked when built, callbacks, results merged into maps; no limits, no record",
		Build: func(s *Shape) (Graph, error) {
			g := compose.NewGraph[map[string]any, map[string]any]()
			for i, needs := range s.Needs {
				key := strconv.Itoa(i)
				if err := g.AddLambdaNode(key, einoNode(s, i), compose.WithOutputKey(key)); err != nil {
					return nil, err
				}
				for _, n := range needs {
					if err := g.AddEdge(strconv.Itoa(n), key); err != nil {
						return nil, err
					}
				}
			}
			last := strconv.Itoa(len(s.Needs) - 1)
			if err := g.AddEdge(compose.START, "0"); err != nil {
				return nil, err
			}
			if err := g.AddEdge(last, compose.END); err != nil {
				return nil, err
			}
			run, err := g.Compile(context.Background(), compose.WithNodeTriggerMode(compose.AllPredecessor))
			if err != nil {
				return nil, err
			}
			return GraphFunc(func(ctx context.Context, w *Work) (json.RawMessage, error) {
				out, err := run.Invoke(withWork(ctx, w), map[string]any{})
				if err != nil {
					return nil, err
				}
				v, _ := out[last].(json.RawMessage)
				return v, nil
			}), nil
		},
	}
}

// einoWorkflow is cloudwego/eino's Workflow: each node says which results become which
// fields of its input.
func einoWorkflow() System {
	return System{
		Name: "eino Workflow", Does: "types of fields checked when built and at each call, callbacks; no limits, no record",
		Build: func(s *Shape) (Graph, error) {
			wf := compose.NewWorkflow[map[string]any, json.RawMessage]()
			for i, needs := range s.Needs {
				node := wf.AddLambdaNode(strconv.Itoa(i), einoNode(s, i))
				if len(needs) == 0 {
					node.AddInput(compose.START)
				}
				for _, n := range needs {
					node.AddInput(strconv.Itoa(n), compose.ToField(strconv.Itoa(n)))
				}
			}
			wf.End().AddInput(strconv.Itoa(len(s.Needs) - 1))
			run, err := wf.Compile(context.Background())
			if err != nil {
				return nil, err
			}
			return GraphFunc(func(ctx context.Context, w *Work) (json.RawMessage, error) {
				return run.Invoke(withWork(ctx, w), map[string]any{})
			}), nil
		},
	}
}
