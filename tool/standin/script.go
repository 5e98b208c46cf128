package standin

import (
	"time"

	"github.com/plc-lang/plc/tool"
)

// A Script is what stands in for a tool in a test of a plan: a Config, and what only a test can
// say. Its time is that of the test. The zero Script answers null at once.
type Script struct {
	Config
	Outcome string // that the result names; "" names none
	// Lost says that the answer never comes, although the tool has done its work.
	Lost bool
	// Sequence are the answers to the first attempts of the tool, in the order in which they
	// begin; the last one answers all others. Nil is the Script itself.
	Sequence []*Script
	// Calls are those of calls that have one of their own, by their paths without items of loops:
	// see exec.Event.
	Calls map[string]*Script
}

// An Answer is what comes of an attempt, some time after it began. One with an Err has done
// nothing, unless it also has the value of a Result: then it has done its work, and the caller gets
// the Err.
type Answer struct {
	After  time.Duration
	Result tool.Result
	Err    error
	Lost   bool // neither comes; the work was done
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

// Answer returns what comes of an attempt, of which n, from 0, were begun of the script before.
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
