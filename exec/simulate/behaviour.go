package simulate

import (
	"fmt"
	"slices"
	"time"

	"github.com/plc-lang/plc/tool"
)

// A Behaviour describes the attempts of a tool or of one call. Attempts are independent. With the
// zero value they never fail at random, and take as long as their stand-in says, or no time.
type Behaviour struct {
	Fails float64 // the share of attempts that fail, from 0 to 1
	// Only says that attempts fail only at random: the failures of a stand-in do not happen.
	Only bool
	// Failures are equally likely failures. If empty, attempts fail with the code "simulated".
	Failures []Failure
	Takes    Durations
}

// A Failure is a way for an attempt to fail.
type Failure struct {
	Error  tool.Error
	Worked bool          // the tool has done its work all the same
	After  time.Duration // how long it takes; 0 is as long as an attempt that does not fail
}

// Durations describes how long something may take: one of Of or, if that is empty, any time from
// Least to Most. The zero value says nothing.
type Durations struct {
	Of          []time.Duration
	Least, Most time.Duration
}

// Said reports whether the durations say anything.
func (d *Durations) Said() bool { return len(d.Of) > 0 || d.Most > 0 }

// draw returns one of the durations, for a number from 0 to below 1.
func (d *Durations) draw(x float64) time.Duration {
	if n := len(d.Of); n > 0 {
		return d.Of[int(x*float64(n))]
	}
	return d.Least + time.Duration(x*float64(d.Most-d.Least))
}

// failure returns how an attempt fails, for a number from 0 to below 1.
func (b *Behaviour) failure(x float64) Failure {
	if n := len(b.Failures); n > 0 {
		return b.Failures[int(x*float64(n))]
	}
	return Failure{Error: tool.Error{Code: "simulated", Message: "a simulated failure"}}
}

// check returns an error if the behaviour is invalid.
func (b *Behaviour) check(of string) error {
	if b == nil {
		return nil
	}
	switch d := &b.Takes; {
	case !(b.Fails >= 0 && b.Fails <= 1):
		return fmt.Errorf("simulate: %q: Fails is %g; it must be from 0 to 1", of, b.Fails)
	case d.Least < 0 || d.Most < d.Least:
		return fmt.Errorf("simulate: %q: invalid range of durations %s to %s", of, d.Least, d.Most)
	case slices.ContainsFunc(d.Of, func(d time.Duration) bool { return d < 0 }):
		return fmt.Errorf("simulate: %q: negative duration", of)
	}
	return nil
}

// luck holds the numbers that are drawn for an attempt, from 0 to below 1 each. All of them are
// drawn for each attempt, even if they are not needed, so that they do not depend on one another.
type luck struct{ fails, how, takes float64 }

// site is an attempt of a call in a run.
type site struct {
	path     string // of the call, with the items of loops
	fallback bool
	number   int
}

// drawn returns the luck of an attempt.
func drawn(seed uint64, run int, at site) luck {
	state := mixed(mixed(seed^hashed(at)) + uint64(run))
	next := func() float64 {
		state += golden
		return float64(mixed(state)>>11) / (1 << 53)
	}
	return luck{next(), next(), next()}
}

// golden is the step of SplitMix64, and mixed its output function: all bits of its result depend on
// all bits of x. A generator of math/rand would have to be made for each attempt.
const golden = 0x9e3779b97f4a7c15

func mixed(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// hashed returns the FNV-1a hash of a site.
func hashed(at site) uint64 {
	const offset, prime = 14695981039346656037, 1099511628211
	h := uint64(offset)
	add := func(b byte) { h = (h ^ uint64(b)) * prime }
	for i := range len(at.path) {
		add(at.path[i])
	}
	add(0)
	if at.fallback {
		add(1)
	}
	for n := at.number; n > 0; n >>= 8 {
		add(byte(n))
	}
	return h
}
