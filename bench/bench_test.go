package main

import (
	"errors"
	"io"
	"testing"
	"time"
)

// small are shapes that every system runs, whatever it takes a node.
func small() []*Shape {
	return []*Shape{chain(1), chain(12), fan(9), layered(3, 5, 0, 0), layered(2, 4, time.Millisecond, 3*time.Millisecond)}
}

// Every system that is measured does all the work of a graph once, in order, with the
// right values.
func TestSystems(t *testing.T) {
	for _, sys := range systems() {
		t.Run(sys.Name, func(t *testing.T) { right(t, sys, small()...) })
	}
}

func TestDurables(t *testing.T) {
	for _, sys := range durables() {
		t.Run(sys.Name, func(t *testing.T) { right(t, sys, chain(1), chain(12), fan(9)) })
	}
}

// right runs shapes, each three times, and wants the right answer.
func right(t *testing.T, sys System, shapes ...*Shape) {
	for _, s := range shapes {
		g, err := sys.Build(s)
		if errors.Is(err, errAbsent) {
			t.Skip(err)
		}
		if err != nil {
			t.Fatalf("%s: %v", s.Name, err)
		}
		for range 3 {
			w := NewWork(s)
			res, err := g.Run(t.Context(), w)
			if err == nil {
				err = w.Check(res)
			}
			if err != nil {
				t.Errorf("%s: %v", s.Name, err)
			}
		}
		if c, ok := g.(io.Closer); ok {
			if err := c.Close(); err != nil {
				t.Errorf("%s: %v", s.Name, err)
			}
		}
	}
}

// What checks the work finds what is wrong with it.
func TestWorkFindsFaults(t *testing.T) {
	s := chain(3)
	for name, work := range map[string]func(w *Work){
		"too early": func(w *Work) { w.Do(1, nil); w.Do(0, nil); w.Do(2, nil) },
		"twice":     func(w *Work) { w.Do(0, nil); w.Do(1, nil); w.Do(1, nil); w.Do(2, nil) },
		"left out":  func(w *Work) { w.Do(0, nil); w.Do(1, nil) },
		"too few":   func(w *Work) { w.Do(0, nil); w.Do(1, nil); w.Do(2, inputs(nil, nil)) },
	} {
		w := NewWork(s)
		work(w)
		if w.Check(value) == nil {
			t.Errorf("%s: nothing was found", name)
		}
	}
	w := NewWork(chain(1))
	w.Do(0, nil)
	if err := w.Check([]byte(`{}`)); err == nil {
		t.Error("a wrong result was taken")
	}
}
