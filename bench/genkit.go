package main

import (
	"context"
	"encoding/json"
	"strconv"

	"github.com/firebase/genkit/go/genkit"
	"golang.org/x/sync/errgroup"
)

// genkitGo is firebase/genkit: a flow whose steps are wired by hand, as errGroup is.
func genkitGo() System {
	return System{
		Name: "genkit-go", Does: "a span and a cached result a step, JSON in and out of the flow; order, concurrency and values are wired by hand; no limits, no checks, no record",
		Build: func(s *Shape) (Graph, error) {
			names := make([]string, len(s.Needs))
			for i := range names {
				names[i] = strconv.Itoa(i)
			}
			g := genkit.Init(context.Background())
			flow := genkit.DefineFlow(g, "graph", func(ctx context.Context, _ struct{}) (json.RawMessage, error) {
				w, values, done := workOf(ctx), make([]json.RawMessage, len(s.Needs)), make([]chan struct{}, len(s.Needs))
				for i := range done {
					done[i] = make(chan struct{})
				}
				all, ctx := errgroup.WithContext(ctx)
				for i, needs := range s.Needs {
					all.Go(func() (err error) {
						for _, n := range needs {
							select {
							case <-done[n]:
							case <-ctx.Done():
								return ctx.Err()
							}
						}
						values[i], err = genkit.Run(ctx, names[i], func() (json.RawMessage, error) { return w.Do(i, inputs(values, needs)), nil })
						close(done[i])
						return err
					})
				}
				err := all.Wait()
				return values[len(values)-1], err
			})
			return GraphFunc(func(ctx context.Context, w *Work) (json.RawMessage, error) {
				return flow.Run(withWork(ctx, w), struct{}{})
			}), nil
		},
	}
}
