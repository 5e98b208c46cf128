package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/tool"
	"golang.org/x/sync/errgroup"
)

// slots limits the number of nodes that run at once, for systems that have such a limit.
const slots = 16

// uneven are n short nodes and behind them in the order of the plan a chain of long
// ones that takes half of the time that all of it takes at least: who begins it late
// ends late.
func uneven(n int) *Shape {
	draw := rand.New(rand.NewPCG(11, uint64(n)))
	s := &Shape{Name: fmt.Sprintf("%d short nodes and a chain", n), Needs: make([][]int, 1, n+2), Sleep: make([]time.Duration, 1, n+2)}
	var total time.Duration
	for range n {
		d := time.Duration(1+draw.IntN(20)) * time.Millisecond
		s.Needs, s.Sleep, total = append(s.Needs, []int{0}), append(s.Sleep, d), total+d
	}
	sinks := len(s.Needs)
	least := total / slots
	for length := time.Duration(0); length < least/2; length += 15 * time.Millisecond {
		from := len(s.Needs) - 1
		if from == sinks-1 {
			from = 0
		}
		s.Needs, s.Sleep = append(s.Needs, []int{from}), append(s.Sleep, 15*time.Millisecond)
	}
	return s.join()
}

// trees are chains of different lengths, the longest last, whose nodes take different times.
func trees(n int) *Shape {
	draw := rand.New(rand.NewPCG(13, uint64(n)))
	s := &Shape{Name: fmt.Sprintf("%d chains, longer and longer", n), Needs: make([][]int, 1), Sleep: make([]time.Duration, 1)}
	for c := range n {
		from := 0
		for range 1 + c*c/(6*n)*2 {
			s.Needs, s.Sleep = append(s.Needs, []int{from}), append(s.Sleep, time.Duration(1+draw.IntN(12))*time.Millisecond)
			from = len(s.Needs) - 1
		}
	}
	return s.join()
}

// LowerBound is the least that a shape takes with so many slots.
func (s *Shape) LowerBound(slots int) time.Duration {
	var total time.Duration
	for _, d := range s.Sleep {
		total += d
	}
	return max(s.CriticalPath(), total/time.Duration(slots))
}

// firstCome is a queue of what is ready, and workers that take the oldest.
func firstCome() System {
	return System{
		Name: "first come, first served",
		Build: func(s *Shape) (Graph, error) {
			users := s.Users()
			return GraphFunc(func(ctx context.Context, w *Work) (json.RawMessage, error) {
				var mu sync.Mutex
				left, values, ready := make([]int, len(s.Needs)), make([]json.RawMessage, len(s.Needs)), make(chan int, len(s.Needs))
				for i, needs := range s.Needs {
					if left[i] = len(needs); left[i] == 0 {
						ready <- i
					}
				}
				settled := 0
				var g errgroup.Group
				for range slots {
					g.Go(func() error {
						for i := range ready {
							v := w.Do(i, inputs(values, s.Needs[i]))
							mu.Lock()
							values[i] = v
							for _, u := range users[i] {
								if left[u]--; left[u] == 0 {
									ready <- u
								}
							}
							if settled++; settled == len(left) {
								close(ready)
							}
							mu.Unlock()
						}
						return nil
					})
				}
				err := g.Wait()
				return values[len(values)-1], err
			}), nil
		},
	}
}

// plcSlots is this project with bounded slots; it may know how long its calls take.
func plcSlots(name string, known bool) System {
	return System{
		Name: name,
		Build: func(s *Shape) (Graph, error) {
			prog, err := program(s, tool.Effects{Pure: tool.Yes})
			opts := &exec.Options{MaxParallel: slots}
			if known {
				opts.Duration = func(c *compile.Call) float64 { return s.Sleep[int(c.Place)-1].Seconds() }
			}
			return GraphFunc(func(ctx context.Context, w *Work) (json.RawMessage, error) {
				o := *opts
				return run(withWork(ctx, w), prog, &o, len(s.Needs)-1)
			}), err
		},
	}
}

func scheduleSection(set *Settings, r *Report) error {
	r.say("## Bounded slots")
	r.say("Nodes that sleep for different times, %d at once: the time of the whole run over the least that it can take, which is the critical path or all sleeps over the slots.", slots)
	all := []System{firstCome(), plcSlots("plc, durations not known", false), plcSlots("plc, durations known", true)}
	table := &Table{Head: []string{"graph", "least"}}
	for i := range all {
		table.Head = append(table.Head, all[i].Name)
	}
	for _, s := range []*Shape{uneven(pick(set, 600, 200)), trees(60), layered(10, 60, time.Millisecond, 19*time.Millisecond)} {
		timings, err := compare(&Settings{Rounds: set.Rounds}, all, s, s)
		if err != nil {
			return err
		}
		least := s.LowerBound(slots)
		row := []string{fmt.Sprintf("%s, %d nodes", s.Name, len(s.Needs)), least.Round(time.Millisecond).String()}
		for _, t := range timings {
			over := make(Spread, len(t.Run))
			for i := range over {
				over[i] = t.Run[i] / least.Seconds()
			}
			row = append(row, over.String())
			if t == timings[2] {
				r.atMost("slots, "+s.Name+": critical path first over the least", 1.1, over.Median(), "×")
			}
		}
		table.add(row...)
	}
	r.table(table)
	return manyRuns(set, r)
}

// manyRuns measures runs beside each other.
func manyRuns(set *Settings, r *Report) error {
	const many = 64
	s := layered(10, 100, 0, 0)
	table := &Table{Head: []string{"system", "1 run", fmt.Sprintf("%d runs at once", many), "ratio"}}
	all := []System{readyCount(), errGroup(), plc(), einoWorkflow()}
	for i := range all {
		all[i].Build = together(all[i].Build, many)
	}
	one, err := compare(set, []System{readyCount(), errGroup(), plc(), einoWorkflow()}, s, s)
	if err != nil {
		return err
	}
	for i, t := range one {
		at, err := compare(&Settings{Rounds: set.Rounds}, all[i:i+1], s, s)
		if err != nil {
			return err
		}
		each := at[0].PerNode(at[0].Run)
		for k := range each {
			each[k] /= many
		}
		table.add(t.System.Name, t.PerNode(t.Run).String(), each.String(), number(each.Median()/t.PerNode(t.Run).Median()))
	}
	r.say("### %d runs at once", many)
	r.say("%s, microseconds a node.", s.Name)
	r.table(table)
	return nil
}

// together runs a graph so many times at once, each with its own work.
func together(build func(*Shape) (Graph, error), many int) func(*Shape) (Graph, error) {
	return func(s *Shape) (Graph, error) {
		graph, err := build(s)
		return GraphFunc(func(ctx context.Context, w *Work) (json.RawMessage, error) {
			var g errgroup.Group
			for range many - 1 {
				g.Go(func() error {
					w := NewWork(s)
					v, err := graph.Run(ctx, w)
					if err != nil {
						return err
					}
					return w.Check(v)
				})
			}
			v, err := graph.Run(ctx, w)
			return v, errors.Join(err, g.Wait())
		}), err
	}
}
