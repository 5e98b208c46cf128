package standin

import (
	"time"

	"github.com/plc-lang/plc/tool"
)

// A Script describes the stand-in for a tool in a test of a plan: a Config, and members that only
// tests have. Its times are simulated. The zero Script returns null at once.
type Script struct {
	Config
	Outcome string // that the result names; "" names none
	// Lost says that the result never arrives, although the tool has done its work.
	Lost bool
	// Sequence has a script for each attempt of the tool, in the order in which they begin; the
	// last one is for all further attempts. If it is nil, the Script itself is for all.
	Sequence []*Script
	// Calls has the scripts of calls that have one of their own, by their paths without items of
	// loops: see exec.Event.
	Calls map[string]*Script
}

// An Answer is the result of an attempt, and the time after which it comes. An attempt with an Err
// has done nothing, unless the Answer also has the value of a Result: then it has done its work,
// but the caller gets the Err.
type Answer struct {
	After  time.Duration
	Result tool.Result
	Err    error
	Lost   bool // neither arrives; the work was done
}

// Of returns the script for a call of this path.
func (s *Script) Of(path string) *Script {
	if own, ok := s.Calls[path]; ok {
		return own
	}
	return s
}

// Worked reports whether the tool has done its work.
func (a *Answer) Worked() bool { return a.Err == nil || a.Result.Value != nil }

// Answer returns the answer to an attempt, given the number n of attempts that were begun with the
// script before.
func (s *Script) Answer(req *tool.Request, n int) Answer {
	if len(s.Sequence) > 0 {
		return s.Sequence[min(n, len(s.Sequence)-1)].Answer(req, 0)
	}
	a, err := New(s.Config)
	if err != nil {
		return Answer{Err: &tool.Error{Code: "stand-in", Message: err.Error(), Permanent: true, Err: err}}
	}
	after, res, err := a.Answer(req)
	if err == nil {
		res.Outcome = s.Outcome
	}
	return Answer{After: after, Result: res, Err: err, Lost: s.Lost}
}
