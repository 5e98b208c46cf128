package server

import (
	"context"
	"encoding/json"
	"strings"
	"sync"
	"time"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
)

// An approvedCall is a call that a person has approved.
type approvedCall struct {
	run, instance, call, tool, by string
	at                            time.Time
	params                        json.RawMessage
}

// approvedIn holds the approvals of people in a run.
type approvedIn struct {
	events   int64 // the number of events that were read
	calls    []approvedCall
	plan     bool                   // the plan was approved as a whole
	refusals map[callAt]*exec.Event // the latest answers about calls, if they were refused
}

// approvals caches the approvals of people in runs whose events were read. The zero value is empty.
type approvals struct {
	mu   sync.Mutex
	runs map[string]*approvedIn
}

// How far back earlier approvals are searched.
const (
	runsLookedAt   = 300
	eventsLookedAt = 5000 // of a run; longer runs are skipped
)

// approvedIn returns the approvals of people in a run.
func (s *Server) approvedIn(ctx context.Context, sum *journal.Summary) (*approvedIn, error) {
	s.approved.mu.Lock()
	known := s.approved.runs[sum.Run]
	s.approved.mu.Unlock()
	if known != nil && known.events == sum.Events {
		return known, nil
	}
	in := &approvedIn{events: sum.Events, refusals: map[callAt]*exec.Event{}}
	open := map[callAt]*exec.Event{}
	waited := false
	err := s.each(ctx, sum.Run, 0, func(_ int64, e *exec.Event) error {
		at := callAt{e.Instance, e.Call}
		switch e.Type {
		case exec.RunPaused:
			waited = waited || strings.HasPrefix(e.Reason, plc.WaitsForApproval)
		case exec.CallStarted:
			in.plan = in.plan || waited
		case exec.ApprovalAsked:
			open[at] = e
		case exec.ApprovalGiven:
			q := open[at]
			if q == nil || e.Answer == nil {
				break
			}
			if delete(in.refusals, at); answered(e.Answer) == refused {
				in.refusals[at] = e
			}
			if !e.Answer.Approved {
				break
			}
			c := approvedCall{run: sum.Run, instance: e.Instance, call: e.Call, tool: q.Tool, by: e.Answer.By, at: e.Time, params: q.Value}
			if e.Answer.Params != nil {
				c.params = e.Answer.Params
			}
			in.calls = append(in.calls, c)
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	s.approved.mu.Lock()
	defer s.approved.mu.Unlock()
	if s.approved.runs == nil || len(s.approved.runs) > 4*runsLookedAt {
		s.approved.runs = map[string]*approvedIn{}
	}
	s.approved.runs[sum.Run] = in
	return in, nil
}

// eachApproved calls f with the approvals in each of the newest runs, until f returns false.
func (s *Server) eachApproved(ctx context.Context, f func(*journal.Summary, *approvedIn) bool) error {
	runs, err := s.opts.Engine.Runs(ctx, journal.Filter{Limit: runsLookedAt})
	if err != nil {
		return err
	}
	for _, sum := range runs {
		if sum.Events > eventsLookedAt || len(sum.Calls) == 0 {
			continue
		}
		in, err := s.approvedIn(ctx, sum)
		if err != nil {
			return err
		}
		if !f(sum, in) {
			return nil
		}
	}
	return nil
}

// lastApproved returns the last approved call of the tool of a question; nil if there is none in
// the newest runs.
func (s *Server) lastApproved(ctx context.Context, q *journal.Question) (last *approvedCall, err error) {
	err = s.eachApproved(ctx, func(_ *journal.Summary, in *approvedIn) bool {
		for i := range in.calls {
			if c := &in.calls[i]; c.tool == q.Tool && (last == nil || c.at.After(last.at)) {
				last = c
			}
		}
		return true
	})
	return last, err
}

// planApprovedBefore returns the run of the last approved plan of the same name, and how the plan
// of a run differs from it.
func (s *Server) planApprovedBefore(ctx context.Context, sum *journal.Summary) (run string, diff []changedLine, err error) {
	err = s.eachApproved(ctx, func(other *journal.Summary, in *approvedIn) bool {
		if in.plan && other.Run != sum.Run && other.Plan == sum.Plan {
			run = other.Run
		}
		return run == ""
	})
	if err != nil || run == "" {
		return "", nil, err
	}
	now, err := s.opts.Engine.Given(ctx, sum.Run)
	if err != nil {
		return "", nil, err
	}
	was, err := s.opts.Engine.Given(ctx, run)
	if err != nil {
		return "", nil, err
	}
	return run, diffLines(string(was.Plan.Bytes), string(now.Plan.Bytes)), nil
}

// A changedLine is a line of a text, and whether it is new, removed or unchanged.
type changedLine struct {
	sign byte // '+' is new, '-' is removed, ' ' is unchanged
	text string
}

// mostDiffed is the maximum number of lines that are compared one by one.
const mostDiffed = 1000

// diffLines returns the lines of two texts, and marks those that only one of them has.
func diffLines(was, now string) (all []changedLine) {
	a, b := strings.Split(was, "\n"), strings.Split(now, "\n")
	if len(a) > mostDiffed || len(b) > mostDiffed {
		return []changedLine{{' ', "the plans are too long to be compared here"}}
	}
	common := make([][]int, len(a)+1) // the length of the common part from a line of each on
	for i := range common {
		common[i] = make([]int, len(b)+1)
	}
	for i := len(a) - 1; i >= 0; i-- {
		for j := len(b) - 1; j >= 0; j-- {
			if a[i] == b[j] {
				common[i][j] = common[i+1][j+1] + 1
			} else {
				common[i][j] = max(common[i+1][j], common[i][j+1])
			}
		}
	}
	i, j := 0, 0
	for i < len(a) || j < len(b) {
		switch {
		case i < len(a) && j < len(b) && a[i] == b[j]:
			all = append(all, changedLine{' ', a[i]})
			i, j = i+1, j+1
		case j == len(b) || i < len(a) && common[i+1][j] >= common[i][j+1]:
			all = append(all, changedLine{'-', a[i]})
			i++
		default:
			all = append(all, changedLine{'+', b[j]})
			j++
		}
	}
	return all
}
