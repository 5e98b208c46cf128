package exec

import (
	"bytes"
	"encoding/json"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/schemas"
)

// In a dry run values are made up, so it means nothing if params do not fit a tool, a reference
// finds nothing in a result, or a result or a write breaks a schema. Such a call goes on as if the
// values fitted, and a warning reports it.

// madeUp reports whether the params of a call may hold made-up values: in a dry run, the call is in
// a document, whose input came from another call, or it reads what calls write.
func (s *scheduler) madeUp(p *compile.Call) bool {
	if s.opts.Dry == nil || s.parent != nil {
		return s.opts.Dry != nil
	}
	return readsWrites(s.prog(), p)
}

// tolerates reports whether a failure does not count, because in a dry run it may come from values
// that were made up. It emits a warning in that case.
func (s *scheduler) tolerates(i int32, f *Failure) bool {
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
		return false // the sampler only chooses outcomes that exist
	default: // a failure about a result
		if s.opts.Dry == nil || p.Result != nil {
			return false
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.emitCall(i, Event{Type: Warned, Reason: f.String(), Error: f})
	return true
}

// How many bytes of Options.Room are taken by something that is not a value.
const (
	bytesOfRun  = 1 << 10 // a run of a document
	bytesOfItem = 64      // an item of a list that a loop runs over
	bytesOfWarn = 1 << 10
)

// spendRoom takes n bytes from Options.Room. If too few are left, it stops the run and returns
// false. held reports whether the caller holds mu.
func (s *scheduler) spendRoom(n int, held bool) bool {
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

// spendItems takes the room for the items of a list, before a loop takes the list apart.
func (s *scheduler) spendItems(list json.RawMessage) bool {
	if s.opts.Room == nil {
		return true
	}
	return s.spendRoom(bytesOfItem*bytes.Count(list, []byte(",")), false)
}

// validate validates a value, within the run's meter if there is one.
func (s *scheduler) validate(schema *schemas.Schema, v json.RawMessage) error {
	if s.opts.Meter != nil {
		return s.opts.Meter.Validate(schema, v)
	}
	return schema.ValidateWithin(s.ctx, v)
}

// given reports whether a read is of the input of a document in a dry run. That input may hold less
// than a real one, so a value that is not there is missing, and does not skip the call.
func (r *placeReader) given(read *compile.Read) bool {
	if r.s.opts.Dry == nil || r.s.parent == nil || read.Path[0].Name != "input" {
		return false
	}
	for range r.s.prog().Writers(read.Path, read.Since, r.before) {
		return false
	}
	return true
}
