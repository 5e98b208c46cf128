package main

import (
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"testing"
	"time"
)

// small are shapes that every system runs, whatever it takes a node.
func small() []*Shape {
	return []*Shape{chain(1), chain(12), fan(9), layered(3, 5, 0, 0), layered(4, 30, 0, 0), layered(2, 4, time.Millisecond, 3*time.Millisecond)}
}

// Every system that is measured does all the work of a graph once, in order, with the
// right values.
func TestSystems(t *testing.T) {
	for _, sys := range systems() {
		t.Run(sys.Name, func(t *testing.T) { right(t, sys, small()...) })
	}
}

func TestNode(t *testing.T) {
	node := new(nodeProcess)
	for _, sys := range node.systems() {
		for _, s := range small() {
			if _, _, err := sys.Time(s); errors.Is(err, errAbsent) {
				t.Skip(err)
			} else if err != nil {
				t.Errorf("%s, %s: %v", sys.Name, s.Name, err)
			}
		}
	}
	if err := node.Close(); err != nil {
		t.Error(err)
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

// What is measured beside the systems gives the right answers too, and the plans that are
// checked have no fault.
func TestSections(t *testing.T) {
	for _, sys := range []System{firstCome(), plcSlots("known", true), plcSlots("not known", false)} {
		right(t, sys, uneven(40), trees(12))
	}
	for _, sys := range []System{readyCount(), errGroup(), plc(), einoWorkflow()} {
		right(t, System{Name: sys.Name, Build: together(sys.Build, 8)}, layered(3, 5, 0, 0))
	}
	for _, sys := range processes() {
		right(t, sys, chain(3), fan(9))
	}
	cat, err := typed(node)
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range planShapes() {
		for _, n := range []int{10, 250} {
			if _, err := check([]byte(s.text(n)), cat); err != nil {
				t.Errorf("%s of %d: %v", s.name, n, err)
			}
		}
	}
}

// A wrong plan is found wrong, so that what is measured is a check.
func TestCheckFindsFaults(t *testing.T) {
	cat, err := typed(node)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := check([]byte(`[{"_tool":"t","n":1,"_outputPath":"†state.x"},{"_tool":"t","n":"†state.x.s"}]`), cat); err == nil {
		t.Error("a text was taken for an integer")
	}
}

// Numbers, tables and the chart.
func TestReport(t *testing.T) {
	for v, want := range map[float64]string{0: "0", 0.0421: "0.042", 0.996: "1.00", 1.234: "1.23", 9.96: "10.0", 99.6: "100", 1234.5: "1234"} {
		if got := number(v); got != want {
			t.Errorf("%v is %s, want %s", v, got, want)
		}
	}
	if got := (Spread{4, 1, 3}).String(); got != "3.00 (1.00–4.00)" {
		t.Error(got)
	}
	if got := (Spread{4, 1, 3, 2}).Median(); got != 2.5 {
		t.Error(got)
	}
	r := new(Report)
	r.table(&Table{Head: []string{"a", "bc"}, Rows: [][]string{{"×µ", "1"}}})
	if got, want := r.String(), "| a   |  bc |\n| --- | --: |\n| ×µ  |   1 |\n\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
	svg := chart([]Bars{{"a < b", []Bar{{"x", 0.5, false}, {"plc", 100, true}}}})
	if err := xml.Unmarshal([]byte(svg), new(struct{})); err != nil || !strings.Contains(svg, "a &lt; b") {
		t.Error(err, svg)
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
