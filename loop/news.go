package loop

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
)

// news collects information that arrives while a loop runs.
type news struct {
	mu       sync.Mutex
	messages []json.RawMessage
	reasons  []string
	running  *exec.Handle // nil between runs
}

// pending reports whether there is any news.
func (n *news) pending() bool { return n.why() != "" }

// why returns the reason why the planner has to plan again, or "".
func (n *news) why() string {
	n.mu.Lock()
	defer n.mu.Unlock()
	if len(n.reasons) == 0 {
		return ""
	}
	return n.reasons[0]
}

// interrupt makes the planner plan again.
func (s *solver) interrupt(reason string, messages []json.RawMessage) {
	n := &s.news
	n.mu.Lock()
	defer n.mu.Unlock()
	n.messages = append(n.messages, messages...)
	n.reasons = append(n.reasons, cmp.Or(reason, "another plan is wanted"))
	if n.running != nil {
		n.running.Replan(reason)
	}
}

// pauseForNews returns a callEnd that pauses the run if others does or if news arrived. It also
// catches news that came while the run was starting.
func (s *solver) pauseForNews(others callEnd) callEnd {
	return func(ctx context.Context, c *compile.Call, result json.RawMessage, f *exec.Failure) string {
		if others != nil {
			if why := others(ctx, c, result, f); why != "" {
				return why
			}
		}
		return s.news.why()
	}
}

// callEnd is the type of exec.Options.OnCallEnd.
type callEnd = func(ctx context.Context, c *compile.Call, result json.RawMessage, f *exec.Failure) string

// fits checks messages of new information against the context of the task.
func (s *solver) fits(list []json.RawMessage) error {
	for _, m := range list {
		switch kind := gjson.GetBytes(m, "type"); kind.Str {
		case "tool", "plan", "meta", "advisor":
			return fmt.Errorf("loop: new information is input, state, data and text, not a message of the type %q", kind.Str)
		}
	}
	opts := s.Loop.Compile
	opts.Catalogue = s.Task.Catalogue
	_, _, err := s.Task.board(&opts, list...)
	return err
}

// takeNews adds the news to the next request.
func (s *solver) takeNews() {
	n := &s.news
	n.mu.Lock()
	messages, reasons := n.messages, n.reasons
	n.messages, n.reasons = nil, nil
	n.mu.Unlock()
	for _, r := range reasons {
		s.revise(r)
	}
	if len(messages) == 0 {
		return
	}
	b, err := s.board.with(messages, &s.compile)
	if err != nil { // the news fitted the original context, but not the current one
		s.notes = append(s.notes, "there was new information, which could not be used: "+err.Error())
		s.Emit(Event{Type: Warned, Text: err.Error()})
		return
	}
	s.board = b
}

// run runs a solution, and stops early if news arrives.
func (s *solver) run(a *attempt) (*exec.Result, error) {
	if err := a.launch(); err != nil {
		return nil, err
	}
	n := &s.news
	n.mu.Lock()
	n.running = a.handle
	if len(n.reasons) > 0 {
		a.handle.Replan(n.reasons[0])
	}
	n.mu.Unlock()
	r, err := a.wait()
	n.mu.Lock()
	n.running = nil
	n.mu.Unlock()
	return r, err
}

// revise records that the plan must be replaced, and why. It ends the loop if that happens too
// often.
func (s *solver) revise(reason string) {
	s.notes = append(s.notes, "make a new plan: "+reason)
	s.Emit(Event{Type: Revised, Text: reason})
	if most := s.Loop.MaxRevisions; most < 0 || most > 0 && len(s.result.Revisions) >= most {
		s.end(exec.Failed, fmt.Sprintf("%s; the plan was revised %d times, and may not be again", reason, len(s.result.Revisions)))
		return
	}
	if s.revision == nil {
		s.revision = &Revision{Strategy: s.Loop.OnFailure}
	} else {
		reason = s.revision.Reason + "; " + reason
	}
	s.revision.Reason = reason
}

// revised reports the program that replaces the previous one, if any.
func (s *solver) revised(prog *compile.Program) {
	ids := make([]string, len(prog.Calls))
	for i := range prog.Calls {
		ids[i] = prog.Calls[i].ID
	}
	slices.Sort(ids)
	ids = slices.Compact(ids)
	if s.revision != nil {
		r := RevisionOf(s.ids, ids)
		r.Turn, r.At, r.Reason, r.Strategy = s.result.Turns+1, time.Now(), s.revision.Reason, s.revision.Strategy
		s.result.Revisions = append(s.result.Revisions, r)
	}
	s.ids, s.revision = ids, nil
}
