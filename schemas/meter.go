package schemas

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
)

// A Meter bounds the work of many validations and questions together, and ends them when a context
// is done. It may be used by several goroutines at once. A nil Meter bounds nothing beyond what
// bounds each of them by itself.
type Meter struct {
	ctx     context.Context
	bounded bool
	left    atomic.Int64
	used    atomic.Int64
}

// ErrSpent says that a Meter has nothing left.
var ErrSpent = errors.New("checking values against their schemas takes too much work in all")

// NewMeter returns a Meter of so many steps, to which Add may add some; 0 is no bound, but for the
// context. A step is about the work of applying one schema to one value without parts, some 50 ns.
func NewMeter(ctx context.Context, steps int) *Meter {
	m := &Meter{ctx: ctx, bounded: steps > 0}
	m.left.Store(int64(steps))
	return m
}

// meterOf returns a Meter that has a context only.
func meterOf(ctx context.Context) *Meter {
	if ctx.Done() == nil {
		return nil
	}
	return NewMeter(ctx, 0)
}

// Add adds steps.
func (m *Meter) Add(steps int) { m.left.Add(int64(steps)) }

// Used returns the steps that were taken.
func (m *Meter) Used() int {
	if m == nil {
		return 0
	}
	return int(m.used.Load())
}

// Err returns ErrSpent when nothing is left, the error of the context when that is done, and nil
// otherwise.
func (m *Meter) Err() error {
	switch {
	case m == nil:
		return nil
	case m.ctx.Err() != nil:
		return m.ctx.Err()
	case m.bounded && m.left.Load() <= 0:
		return ErrSpent
	}
	return nil
}

// most returns how many of so many steps may be taken at most.
func (m *Meter) most(steps int) int {
	if m == nil || !m.bounded {
		return steps
	}
	return int(max(0, min(int64(steps), m.left.Load())))
}

// Take takes steps, for work that belongs to the validations.
func (m *Meter) Take(steps int) {
	if m != nil {
		m.left.Add(-int64(steps))
		m.used.Add(int64(steps))
	}
}

// bytesPerStep are the bytes of a text that are read in about the time of a step.
const bytesPerStep = 32

// Validate does what the method of a schema does, and takes steps for it. The error is not a
// *ValidationError, and says nothing about the value, when the steps do not suffice (ErrSpent) or
// the context is done.
func (m *Meter) Validate(s *Schema, raw json.RawMessage) error {
	if err := m.Err(); err != nil {
		return err
	}
	m.Take(len(raw) / bytesPerStep)
	return s.check(m, raw)
}
