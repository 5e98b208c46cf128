package main

import (
	"context"
	"encoding/json"
	"strconv"
	"sync/atomic"

	gotaskflow "github.com/noneback/go-taskflow"
)

// goTaskflow is noneback/go-taskflow.
func goTaskflow() System {
	return System{
		Name: "go-taskflow", Does: "control flow only: values are passed by hand; 1,024 workers, no checks, no errors, no record",
		Build: func(s *Shape) (Graph, error) {
			var work atomic.Pointer[Work]
			values := make([]json.RawMessage, len(s.Needs))
			flow := gotaskflow.NewTaskFlow("graph")
			tasks := make([]*gotaskflow.Task, len(s.Needs))
			for i, needs := range s.Needs {
				tasks[i] = flow.NewTask(strconv.Itoa(i), func() { values[i] = work.Load().Do(i, inputs(values, needs)) })
				for _, n := range needs {
					tasks[n].Precede(tasks[i])
				}
			}
			workers := gotaskflow.NewExecutor(1024)
			return GraphFunc(func(_ context.Context, w *Work) (json.RawMessage, error) {
				work.Store(w)
				clear(values)
				workers.Run(flow).Wait()
				return values[len(values)-1], nil
			}), nil
		},
	}
}
