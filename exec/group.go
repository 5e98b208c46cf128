package exec

import (
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/state"
)

// GivenInstance is an instance for NewInstances.
type GivenInstance struct {
	compile.Instance
	Fault string // why it fails before it starts; "" if nothing is wrong with it
}

// NewInstances begins a run of a template in steps, or continues one that has a history: see
// NewStepper. The given instances replace those of the document. The instances of one run may be
// shared out among several steppers if Divisible allows it: keys and seeds are the same as if one
// stepper ran them all. The Result covers only the given instances. boards are those of the other
// steppers (Stepper.Boards); with them, Result.Digest covers all instances.
func NewInstances(prog *compile.Program, opts *Options, given []GivenInstance, boards []string, past *History, now time.Time) (*Stepper, error) {
	if err := steppable(prog, opts); err != nil {
		return nil, err
	}
	if !prog.Template {
		return nil, errors.New("exec: instances are for templates, and the program was not compiled as one")
	}
	o := *opts
	m := newStepper(&o, past, now)
	if o.Guard != nil {
		m.pool.guard = o.Guard(prog)
	}
	for _, sum := range boards {
		raw, err := hex.DecodeString(sum)
		if err != nil || len(raw) != len(m.pool.boards) {
			return nil, fmt.Errorf("exec: %q is no digest of whiteboards", sum)
		}
		m.pool.mergeBoard(raw)
	}
	board, err := state.New(prog.Initial)
	if err != nil {
		return nil, fmt.Errorf("exec: the initial whiteboard: %w", err)
	}
	s := newTemplate(context.Background(), prog, board, m.pool)
	s.template.steps, s.template.given = true, given
	if err := s.load(); err != nil {
		return nil, err
	}
	m.start(s)
	return m, nil
}

// Boards returns the combined digest of the whiteboards of the instances that have ended, for
// NewInstances.
func (m *Stepper) Boards() string { return hex.EncodeToString(m.pool.boards[:]) }

// Divisible reports whether the instances of a template may be shared out among several steppers.
// They may not if something counts for all their calls together: a budget, a guard, the limits of a
// tool, or the order of a sequential run. Nor may those of a dry run.
func Divisible(prog *compile.Program, opts *Options) bool {
	return divisible(prog, opts) && opts.Guard == nil
}

// feedGiven starts the given instances, as long as there is room for them.
func (in *instances) feedGiven() {
	s := in.s
	for in.came < len(in.given) && in.hasRoom() {
		one := &in.given[in.came]
		var wrong error
		if one.Fault != "" {
			wrong = errors.New(one.Fault)
		}
		if !in.take(&one.Instance, wrong) {
			break
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	in.full = in.came < len(in.given) && in.mayStart()
	s.open = false // if all that run wait for a person, so does the run
	s.checkIdle()
}

func (in *instances) hasRoom() bool {
	in.s.mu.Lock()
	defer in.s.mu.Unlock()
	return in.live < in.width && in.mayStart()
}
