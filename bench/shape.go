package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync/atomic"
	"time"
)

// value is the value that every node passes on.
var value = json.RawMessage(`{"city":"Rome","zip":"00100"}`)

// Shape is a graph whose nodes get the values of the nodes they need and pass on
// the first. Nodes need earlier nodes only; the last node is its only sink.
type Shape struct {
	Name  string
	Needs [][]int         // of each node, without doubles
	Sleep []time.Duration // of each node; nil is none
}

// chain is n nodes, each of which needs the one before.
func chain(n int) *Shape {
	s := &Shape{Name: fmt.Sprintf("chain of %d", n), Needs: make([][]int, n)}
	for i := 1; i < n; i++ {
		s.Needs[i] = []int{i - 1}
	}
	return s
}

// fan is one node, n that need it, and one that needs them all.
func fan(n int) *Shape {
	s := &Shape{Name: fmt.Sprintf("fan 1→%d→1", n), Needs: make([][]int, n+2)}
	for i := 1; i <= n; i++ {
		s.Needs[i] = []int{0}
		s.Needs[n+1] = append(s.Needs[n+1], i)
	}
	return s
}

// layered is layers of nodes, each of which needs three random ones of the layer
// before, between a source and a sink that needs all that nobody else does. Each node
// sleeps between least and most.
func layered(layers, width int, least, most time.Duration) *Shape {
	draw := rand.New(rand.NewPCG(7, uint64(layers*width)))
	n := layers*width + 1
	s := &Shape{Name: fmt.Sprintf("layered %d×%d", layers, width), Needs: make([][]int, n)}
	if most > 0 {
		s.Sleep = make([]time.Duration, n)
		s.Name += fmt.Sprintf(", %v", least)
		if most > least {
			s.Name += fmt.Sprintf("–%v", most)
		}
	}
	for l := range layers {
		for w := range width {
			i := 1 + l*width + w
			if s.Sleep != nil {
				s.Sleep[i] = least + time.Duration(draw.Int64N(int64(most-least)+1))
			}
			if l == 0 {
				s.Needs[i] = []int{0}
				continue
			}
			for _, k := range draw.Perm(width)[:min(3, width)] {
				s.Needs[i] = append(s.Needs[i], 1+(l-1)*width+k)
			}
		}
	}
	return s.join()
}

// join adds a node that needs all that nobody needs.
func (s *Shape) join() *Shape {
	var ends []int
	for i, users := range s.Users() {
		if len(users) == 0 {
			ends = append(ends, i)
		}
	}
	s.Needs = append(s.Needs, ends)
	if s.Sleep != nil {
		s.Sleep = append(s.Sleep, 0)
	}
	return s
}

// CriticalPath is the longest way through the sleeps.
func (s *Shape) CriticalPath() time.Duration {
	end := make([]time.Duration, len(s.Needs))
	var longest time.Duration
	for i, needs := range s.Needs {
		for _, n := range needs {
			end[i] = max(end[i], end[n])
		}
		if s.Sleep != nil {
			end[i] += s.Sleep[i]
		}
		longest = max(longest, end[i])
	}
	return longest
}

// Users are the nodes that need each node.
func (s *Shape) Users() [][]int {
	users := make([][]int, len(s.Needs))
	for i, needs := range s.Needs {
		for _, n := range needs {
			users[n] = append(users[n], i)
		}
	}
	return users
}

// Work is one run of a shape: what each node does, and whether it was right to.
type Work struct {
	shape *Shape
	done  []atomic.Int32
	wrong atomic.Pointer[string]
}

// workKey is the work of a run in its context.
type workKey struct{}

func withWork(ctx context.Context, w *Work) context.Context {
	return context.WithValue(ctx, workKey{}, w)
}

func workOf(ctx context.Context) *Work { return ctx.Value(workKey{}).(*Work) }

// NewWork makes a run of which nothing is done.
func NewWork(s *Shape) *Work { return &Work{shape: s, done: make([]atomic.Int32, len(s.Needs))} }

// Do does the work of a node, given the values of the nodes it needs. For systems
// that carry no values, in is nil.
func (w *Work) Do(node int, in []json.RawMessage) json.RawMessage {
	needs := w.shape.Needs[node]
	if in != nil && len(in) != len(needs) {
		w.fault(fmt.Sprintf("node %d was given %d values, and needs %d", node, len(in), len(needs)))
	}
	for _, v := range in {
		if string(v) != string(value) {
			w.fault(fmt.Sprintf("node %d was given %q", node, v))
		}
	}
	for _, n := range needs {
		if w.done[n].Load() != 1 {
			w.fault(fmt.Sprintf("node %d ran before node %d, which it needs", node, n))
		}
	}
	if w.shape.Sleep != nil {
		time.Sleep(w.shape.Sleep[node])
	}
	if w.done[node].Add(1) != 1 {
		w.fault(fmt.Sprintf("node %d ran twice", node))
	}
	if len(in) > 0 {
		return in[0]
	}
	return value
}

func (w *Work) fault(s string) { w.wrong.CompareAndSwap(nil, &s) }

// Check says what was wrong with a run that gave this in the end.
func (w *Work) Check(result json.RawMessage) error {
	if s := w.wrong.Load(); s != nil {
		return errors.New(*s)
	}
	for i := range w.done {
		if w.done[i].Load() != 1 {
			return fmt.Errorf("node %d did not run", i)
		}
	}
	if string(result) != string(value) {
		return fmt.Errorf("the result is %s", result)
	}
	return nil
}
