package main

import (
	"context"
	"encoding/json"
	"runtime"
	"sync"
	"sync/atomic"

	"golang.org/x/sync/errgroup"
)

// inputs are the values of the nodes that a node needs.
func inputs(values []json.RawMessage, needs []int) []json.RawMessage {
	in := make([]json.RawMessage, len(needs))
	for k, n := range needs {
		in[k] = values[n]
	}
	return in
}

// sequential is a loop.
func sequential() System {
	return System{
		Name: "loop", Does: "one node after the other, by hand: no concurrency, no checks, no record",
		Build: func(s *Shape) (Graph, error) {
			return GraphFunc(func(_ context.Context, w *Work) (json.RawMessage, error) {
				values := make([]json.RawMessage, len(s.Needs))
				for i, needs := range s.Needs {
					values[i] = w.Do(i, inputs(values, needs))
				}
				return values[len(values)-1], nil
			}), nil
		},
	}
}

// errGroup returns the code that people write by hand, as a system to compare with.
func errGroup() System {
	return errGroupOf(System{
		Name: "errgroup", Does: "a goroutine a node and a channel an edge, by hand: no limits, no checks, no record",
	}, -1, func(_ context.Context, w *Work, i int, in []json.RawMessage) (json.RawMessage, error) {
		return w.Do(i, in), nil
	})
}

// errGroupOf has a goroutine for each node, which waits for the channels of those that it
// needs; so many at once, or as many as there are if that is negative.
func errGroupOf(sys System, limit int, do func(context.Context, *Work, int, []json.RawMessage) (json.RawMessage, error)) System {
	sys.Build = func(s *Shape) (Graph, error) {
		return GraphFunc(func(ctx context.Context, w *Work) (json.RawMessage, error) {
			values, done := make([]json.RawMessage, len(s.Needs)), make([]chan struct{}, len(s.Needs))
			for i := range done {
				done[i] = make(chan struct{})
			}
			g, ctx := errgroup.WithContext(ctx)
			g.SetLimit(limit)
			for i, needs := range s.Needs {
				g.Go(func() (err error) {
					for _, n := range needs {
						select {
						case <-done[n]:
						case <-ctx.Done():
							return ctx.Err()
						}
					}
					values[i], err = do(ctx, w, i, inputs(values, needs))
					close(done[i])
					return err
				})
			}
			if err := g.Wait(); err != nil {
				return nil, err
			}
			return values[len(values)-1], nil
		}), nil
	}
	return sys
}

// readyCount is the bound to come near: counters of what each node waits for, and
// goroutines that go on with what they made ready.
func readyCount() System {
	return System{
		Name: "ready counts", Does: "an atomic counter a node, by hand: the least that a parallel scheduler can do; no limits, no checks, no record",
		Build: func(s *Shape) (Graph, error) {
			users := s.Users()
			return GraphFunc(func(_ context.Context, w *Work) (json.RawMessage, error) {
				r := &readyRun{s: s, w: w, users: users, values: make([]json.RawMessage, len(s.Needs)), left: make([]atomic.Int32, len(s.Needs))}
				for i, needs := range s.Needs {
					r.left[i].Store(int32(len(needs)))
				}
				if s.Sleep == nil {
					r.slots = make(chan struct{}, runtime.GOMAXPROCS(0))
				}
				r.all.Add(1)
				go r.run(0)
				r.all.Wait()
				return r.values[len(r.values)-1], nil
			}), nil
		},
	}
}

// readyRun is one run of readyCount. When nothing sleeps, no more goroutines than
// there are cores help each other.
type readyRun struct {
	s      *Shape
	w      *Work
	users  [][]int
	values []json.RawMessage
	left   []atomic.Int32
	slots  chan struct{}
	all    sync.WaitGroup
}

func (r *readyRun) run(node int) {
	defer r.all.Done()
	stack := []int{node}
	for len(stack) > 0 {
		i := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		r.values[i] = r.w.Do(i, inputs(r.values, r.s.Needs[i]))
		first := true
		for _, u := range r.users[i] {
			switch {
			case r.left[u].Add(-1) > 0:
			case !first && r.give(u):
			default:
				stack, first = append(stack, u), false
			}
		}
	}
}

// give hands a node to another goroutine, if one may be started.
func (r *readyRun) give(node int) bool {
	if r.slots == nil {
		r.all.Add(1)
		go r.run(node)
		return true
	}
	select {
	case r.slots <- struct{}{}:
		r.all.Add(1)
		go func() {
			r.run(node)
			<-r.slots
		}()
		return true
	default:
		return false
	}
}
