package exec

import (
	"bytes"
	"encoding/json"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/schemas"
)

// In a dry run values are made up, and the result of that says nothing about the run: params that
// do not fit a tool, a reference that finds nothing in a result, a result or a write that breaks a
// schema. Such a call goes on as if the values fitted, and a warning says what did not.

// madeUp reports whether the params of a call may be made up: it is in a document, which got its
// input from another call, or it reads what calls write.
func (s *scheduler) madeUp(p *compile.Call) bool {
	if s.opts.Dry == nil || s.parent != nil {
		return s.opts.Dry != nil
	}
	return readsWrites(s.prog(), p)
}

// doubts warns of what would fail a call of a dry run with the values that were made up. It reports
// false when the failure stands.
func (s *scheduler) doubts(i int32, f *Failure) bool {
	p := &s.prog().Calls[i]
	if f == calledOff {
		return false
	}
	switch f.Code {
	case "params", "choice":
		if !s.madeUp(p) {
			return false
		}
	case "outcome":
		return false // the sampler names those there are
	default: // of a result
		if s.opts.Dry == nil || p.Result != nil {
			return false
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.emitCall(i, Event{Type: Warned, Reason: f.String(), Error: f})
	return true
}

// What counts as put together for what a value is not, in bytes.
const (
	bytesOfRun  = 1 << 10 // of a document
	bytesOfItem = 64      // of a list that a loop runs over
	bytesOfWarn = 1 << 10
)

// built counts bytes that the run puts together. If that is too much, the run stops and built
// returns false. held reports whether the caller holds mu.
func (s *scheduler) built(n int, held bool) bool {
	if s.opts.Room == nil || s.opts.Room.Add(-int64(n)) >= 0 {
		return true
	}
	if !held {
		s.mu.Lock()
		defer s.mu.Unlock()
	}
	if s.root.stopped.status == "" {
		s.overBudget("the run puts together more params and results than it may")
	}
	return false
}

// builtItems counts the items of a list before a loop takes it apart.
func (s *scheduler) builtItems(list json.RawMessage) bool {
	if s.opts.Room == nil {
		return true
	}
	return s.built(bytesOfItem*bytes.Count(list, []byte(",")), false)
}

// validate validates a value, with steps of the run's meter if it has one.
func (s *scheduler) validate(schema *schemas.Schema, v json.RawMessage) error {
	if s.opts.Meter != nil {
		return s.opts.Meter.Validate(schema, v)
	}
	return schema.ValidateWithin(s.ctx, v)
}

// given reports whether a read of a dry run is of the input of a document, which may hold what
// nobody made up.
func (r *placeReader) given(read *compile.Read) bool {
	if r.s.opts.Dry == nil || r.s.parent == nil || read.Path[0].Name != "input" {
		return false
	}
	for range r.s.prog().Writers(read.Path, read.Since, r.before) {
		return false
	}
	return true
}
