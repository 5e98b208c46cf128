package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"time"
)

// Settings say how long all of it may take.
type Settings struct {
	Rounds int           // how often each is measured, one after the other
	Least  time.Duration // for which a graph is run again and again in one round
	Quick  bool          // smaller sizes
}

// pick is full, or quick when that is asked for.
func pick[T any](set *Settings, full, quick T) T {
	if set.Quick {
		return quick
	}
	return full
}

// Spread holds the measurements of one thing, one for each round.
type Spread []float64

// Median is the middle of it.
func (s Spread) Median() float64 {
	if len(s) == 0 {
		return 0
	}
	sorted := slices.Sorted(slices.Values(s))
	return (sorted[(len(sorted)-1)/2] + sorted[len(sorted)/2]) / 2
}

// Over is the median of the ratios to what was measured in the same rounds.
func (s Spread) Over(base Spread) float64 {
	var ratios Spread
	for i := range min(len(s), len(base)) {
		ratios = append(ratios, s[i]/base[i])
	}
	return ratios.Median()
}

// String is the median and, in brackets, the least and the most.
func (s Spread) String() string {
	if len(s) == 0 {
		return "–"
	}
	return fmt.Sprintf("%s (%s–%s)", number(s.Median()), number(slices.Min(s)), number(slices.Max(s)))
}

// number is a number of three digits or more.
func number(v float64) string {
	switch {
	case v == 0:
		return "0"
	case v < 0.995:
		return fmt.Sprintf("%.2g", v)
	case v < 9.95:
		return fmt.Sprintf("%.2f", v)
	case v < 99.5:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

// Timing holds the measurements of a system on a shape.
type Timing struct {
	System     *System
	Shape      *Shape // the one that was run: a smaller one than was asked for, if that would take too long
	Build, Run Spread // in seconds
	Absent     error  // why nothing was measured
}

// PerNode is a time in microseconds a node.
func (t *Timing) PerNode(s Spread) Spread {
	per := make(Spread, len(s))
	for i := range s {
		per[i] = s[i] * 1e6 / float64(len(t.Shape.Needs))
	}
	return per
}

// compare measures systems on a shape, in rounds in which each has its turn, so that
// whatever else the machine does slows down all of them. A system for which the shape
// is too large gets the small one.
func compare(set *Settings, all []System, shape, small *Shape) ([]*Timing, error) {
	timings := make([]*Timing, len(all))
	for i := range all {
		timings[i] = &Timing{System: &all[i], Shape: shape}
		if all[i].Most > 0 && len(shape.Needs) > all[i].Most {
			timings[i].Shape = small
		}
	}
	for range set.Rounds {
		for _, t := range timings {
			if t.Absent != nil {
				continue
			}
			build, run, err := once(set, t.System, t.Shape)
			if errors.Is(err, errAbsent) {
				t.Absent = err
				continue
			}
			if err != nil {
				return nil, fmt.Errorf("%s, %s: %w", t.System.Name, t.Shape.Name, err)
			}
			t.Build, t.Run = append(t.Build, build.Seconds()), append(t.Run, run.Seconds())
		}
	}
	return timings, nil
}

// once builds a shape and runs it, again and again until the least time has passed; the
// time is the median of its runs, so that what the machine did meanwhile in one of them
// does not count.
func once(set *Settings, sys *System, s *Shape) (build, run time.Duration, err error) {
	if sys.Time != nil {
		return sys.Time(s)
	}
	runtime.GC()
	start := time.Now()
	g, err := sys.Build(s)
	if err != nil {
		return 0, 0, err
	}
	build = time.Since(start)
	if c, ok := g.(io.Closer); ok {
		defer func() { err = errors.Join(err, c.Close()) }()
	}
	var runs Spread
	for total := time.Duration(0); total < set.Least || len(runs) == 0; {
		w := NewWork(s)
		start := time.Now()
		res, err := g.Run(context.Background(), w)
		took := time.Since(start)
		if err == nil {
			err = w.Check(res)
		}
		if err != nil {
			return 0, 0, err
		}
		total += took
		runs = append(runs, float64(took))
	}
	return build, time.Duration(runs.Median()), nil
}
