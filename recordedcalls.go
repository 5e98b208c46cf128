package plc

import (
	"cmp"
	"encoding/json"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
)

// RecordedCalls holds what the record of a run says about its calls, by instance and path.
type RecordedCalls map[CallAt]*RecordedCall

// A CallAt identifies a call of a run.
type CallAt struct{ Instance, Path string }

// A RecordedCall says when a call was made and what it returned. Started is zero if it was never
// made, and Ended is zero while it has no answer.
type RecordedCall struct {
	Attempts       int
	Started, Ended time.Time
	Gave           json.RawMessage
}

// ReadCalls reads the calls of a run from its events, up to the first event that can't be read.
func ReadCalls(events iter.Seq2[*journal.Entry, error]) RecordedCalls {
	past := RecordedCalls{}
	for e := range CallEvents(events) {
		at := CallAt{e.Instance, e.Call}
		c := past[at]
		if c == nil {
			c = &RecordedCall{}
			past[at] = c
		}
		switch e.Type {
		case exec.CallStarted:
			if c.Started.IsZero() {
				c.Started = e.Time
			}
			c.Attempts, c.Ended = max(c.Attempts, e.Attempt), time.Time{}
		case exec.CallRetrying:
			c.Ended = e.Time
		case exec.CallReturned:
			c.Ended, c.Gave = e.Time, e.Value
		case exec.CallCompleted, exec.CallFailed, exec.CallSkipped:
			c.Ended = e.Time
		}
	}
	return past
}

// mayGoOn reports whether a run with this status may still go on.
func mayGoOn(s exec.Status) bool {
	switch s {
	case exec.Completed, exec.Failed, exec.Cancelled, exec.Rejected, exec.Undoing, exec.Undone, exec.UndoneInPart, journal.Cut:
		return false
	}
	return true
}

// Into sets the times of the calls in res from the record. If the run may still continue, it also
// sets the current status of its calls and instances. open are the questions that are open.
func (p RecordedCalls) Into(res *exec.Result, sum *journal.Summary, open []*journal.Question) {
	each := func(instance string, calls []exec.CallResult) {
		p.times(instance, calls)
		if mayGoOn(sum.Status) {
			p.standing(instance, calls, open, sum.Holder != nil)
		}
	}
	each("", res.Calls)
	for i := range res.Instances {
		in := &res.Instances[i]
		each(in.Name, in.Calls)
		if in.Status == exec.Cancelled && mayGoOn(sum.Status) { // the replay of the record ended there
			in.Status, in.Reason = sum.Status, ""
		}
	}
}

// times sets the times of calls from the record.
func (p RecordedCalls) times(instance string, calls []exec.CallResult) {
	for i := range calls {
		c := &calls[i]
		name := cmp.Or(c.Instance, instance)
		past := p[CallAt{name, exec.PathOf(c.ID)}]
		if past == nil {
			continue
		}
		c.StartedAt, c.EndedAt = nil, nil
		if c.Attempts = max(c.Attempts, past.Attempts); !past.Started.IsZero() {
			c.StartedAt = &past.Started
		}
		if !past.Ended.IsZero() {
			c.EndedAt = &past.Ended
		}
	}
}

// standing sets the current status of the calls of a run that has not ended; a replay of its record
// leaves them as if the run had stopped. A call that was started and has no answer is running if a
// process holds the run, and uncertain otherwise.
func (p RecordedCalls) standing(instance string, calls []exec.CallResult, open []*journal.Question, held bool) {
	for i := range calls {
		c := &calls[i]
		switch {
		case c.Status == exec.Cancelled, c.Status == exec.Blocked, c.Status == exec.Pending:
		case c.Status == exec.Failed && c.Error != nil && c.Error.Code == "uncertain" && c.StartedAt != nil && c.EndedAt == nil:
		default:
			continue
		}
		name := cmp.Or(c.Instance, instance)
		past := p[CallAt{name, exec.PathOf(c.ID)}]
		c.Status, c.Reason = exec.Pending, ""
		inner, delegates := p.inside(name, exec.PathOf(c.ID))
		switch {
		case !past.unanswered():
			c.Error = nil
		case held:
			c.Status, c.Reason, c.Error = exec.Running, "it was started, and its answer is not in the record yet", nil
		case delegates && inner == nil:
			c.Reason, c.Error = "it was started; what its calls gave is in the record", nil
		case delegates:
			c.Status, c.Reason = journal.Uncertain, firstOf(inner)+" was started, and its answer is not in the record"
		default:
			c.Status, c.Reason = journal.Uncertain, "it was started, and its answer is not in the record"
		}
		for _, q := range open {
			if q.Path == exec.PathOf(c.ID) && q.Instance == name {
				c.Status, c.Reason = exec.Awaiting, q.Reason
			}
		}
	}
}

// unanswered reports whether a call was started and has no answer.
func (c *RecordedCall) unanswered() bool { return c != nil && !c.Started.IsZero() && c.Ended.IsZero() }

// firstOf lists the first of some paths, and says how many others there are.
func firstOf(paths []string) string {
	const most = 5
	text := strings.Join(paths[:min(most, len(paths))], ", ")
	if len(paths) > most {
		text += fmt.Sprintf(" and %d more", len(paths)-most)
	}
	if len(paths) > 1 {
		text = "each of " + text
	}
	return text
}

// inside reports whether calls were started below a path, and returns the sorted paths of those
// without an answer. It leaves out calls that run other calls.
func (p RecordedCalls) inside(instance, path string) (unanswered []string, any bool) {
	delegates := map[string]bool{}
	for at := range p {
		if at.Instance == instance && isBelow(at.Path, path) {
			any = true
			for i := len(path) + 1; i < len(at.Path); i++ {
				if strings.IndexByte("/[#", at.Path[i]) >= 0 {
					delegates[at.Path[:i]] = true
				}
			}
		}
	}
	for at, c := range p {
		if at.Instance == instance && isBelow(at.Path, path) && c.unanswered() && !delegates[at.Path] {
			unanswered = append(unanswered, at.Path)
		}
	}
	slices.Sort(unanswered)
	return unanswered, any
}

// isBelow reports whether path is below another one, in its document, instances or attempts.
func isBelow(path, above string) bool {
	rest, ok := strings.CutPrefix(path, above)
	return ok && rest != "" && strings.ContainsRune("/[#", rune(rest[0]))
}

// CallEvents yields the events of a run that are about calls, up to the first event that can't be
// read.
func CallEvents(events iter.Seq2[*journal.Entry, error]) iter.Seq[*exec.Event] {
	return func(yield func(*exec.Event) bool) {
		for entry, err := range events {
			if err != nil {
				return
			}
			e, err := entry.Event()
			if err == nil && e.Call != "" && !yield(e) {
				return
			}
		}
	}
}
