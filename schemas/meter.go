package schemas

import (
	"context"
	"encoding/json"
	"errors"
	"sync/atomic"
)

// A Meter limits the work of many validations and questions together, and ends them when a context
// is done. Several goroutines may use it at once. A nil Meter adds no limit to those of each single
// validation or question.
type Meter struct {
	ctx     context.Context
	bounded bool
	left    atomic.Int64
	used    atomic.Int64
}

// ErrSpent means that a Meter has no steps left.
var ErrSpent = errors.New("checking values against their schemas takes too much work in all")

// NewMeter returns a Meter with a number of steps, to which Add may add more; with 0, only the
// context limits the work. A step is roughly the work of applying one schema to one value without
// parts, about 50 ns.
func NewMeter(ctx context.Context, steps int) *Meter {
	m := &Meter{ctx: ctx, bounded: steps > 0}
	m.left.Store(int64(steps))
	return m
}

// meterOf returns a Meter with a context but without a limit on steps.
func meterOf(ctx context.Context) *Meter {
	if ctx.Done() == nil {
		return nil
	}
	return NewMeter(ctx, 0)
}

// Add adds steps.
func (m *Meter) Add(steps int) { m.left.Add(int64(steps)) }

// Used returns the number of steps taken so far.
func (m *Meter) Used() int {
	if m == nil {
		return 0
	}
	return int(m.used.Load())
}

// Err returns ErrSpent if no steps are left, the error of the context if that is done, and nil
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

// most returns how many of the given steps may be taken.
func (m *Meter) most(steps int) int {
	if m == nil || !m.bounded {
		return steps
	}
	return int(max(0, min(int64(steps), m.left.Load())))
}

// Take takes steps for other work that belongs to the validations.
func (m *Meter) Take(steps int) {
	if m != nil {
		m.left.Add(-int64(steps))
		m.used.Add(int64(steps))
	}
}

// bytesPerStep is the number of bytes of text that are read in about the time of a step.
const bytesPerStep = 32

// Validate does what Schema.Validate does, and uses steps of the meter. If there are too few
// (ErrSpent) or the context is done, the error is not a *ValidationError, and nothing is known
// about the value.
func (m *Meter) Validate(s *Schema, raw json.RawMessage) error {
	if err := m.Err(); err != nil {
		return err
	}
	m.Take(len(raw) / bytesPerStep)
	return s.check(m, raw)
}
