package record

import (
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
)

// A Key identifies a call of a run.
type Key struct{ Instance, Path string }

// A Tally is the summary that the events of a run add up to. It keeps the calls under way and the
// open questions, but not those that have ended, so it stays small however long the run is. Only
// one goroutine at a time may use it, except for Settled.
type Tally struct {
	Status   exec.Status
	Reason   string
	Changed  time.Time
	Finished time.Time // zero if the run has not finished
	Last     int64     // the number of the last event
	Ended    map[exec.Status]int
	Open     map[Key]bool // open questions

	revised bool // the plan was replaced: calls that ended before do not count
	pending map[Key]begun
	lengths map[string][]time.Duration

	mu     sync.Mutex
	before map[string]map[string]exec.Status // statuses of calls that ended before, by instance and path
}

// begun is a call that was started.
type begun struct {
	at     time.Time
	status exec.Status
}

// NewTally returns the tally of a run without events.
func NewTally() *Tally {
	return &Tally{
		Status: exec.Pending, Ended: map[exec.Status]int{}, Open: map[Key]bool{},
		pending: map[Key]begun{}, lengths: map[string][]time.Duration{}, before: map[string]map[string]exec.Status{},
	}
}

// Effects lists the changes to a store that events cause in addition to the tally.
type Effects struct {
	Turned    bool       // an event is about the run itself
	Questions []Question // questions that were asked or closed, in order
	Samples   []Samples  // durations of calls
}

// A Question is a question that is asked, or closed.
type Question struct {
	Key
	Asked  bool
	Digest string
	Seq    int64
	Answer *exec.Answer // the answer that closed it; nil if there was none
}

// Samples holds the durations of the latest calls of a tool.
type Samples struct {
	Tool    string
	Lengths []time.Duration // journal.MaxDurations at most, the oldest first
}

// Add adds an event.
func (t *Tally) Add(e *exec.Event, seq int64, to *Effects) {
	t.Last, t.Changed = seq, e.Time
	key := Key{e.Instance, e.Call}
	if e.Type == exec.CallStarted || e.Type == exec.ApprovalAsked {
		t.delegates(key)
	}
	switch e.Type {
	case exec.RunStarted, exec.RunResumed:
		to.Turned = true
		t.Status, t.Reason, t.Finished = exec.Running, "", time.Time{}
	case exec.PlanRevised: // events report all calls of the new plan again
		clear(t.Ended)
		t.revised = true
	case exec.RunPaused:
		to.Turned = true
		t.Status, t.Reason = exec.Paused, e.Reason
		to.Samples = t.Samples()
	case exec.RunFinished, exec.RunUndoing:
		to.Turned = true
		t.Status, t.Reason, t.Finished = e.Status, e.Reason, e.Time
		if e.Type == exec.RunUndoing { // more events follow
			t.Finished = time.Time{}
		}
		t.unanswered()
		for _, key := range slices.Collect(maps.Keys(t.Open)) {
			t.close(key, nil, to)
		}
		to.Samples = t.Samples()
	case exec.InstanceFinished:
		t.forget(e.Instance)
	case exec.ApprovalAsked:
		t.pending[key] = begun{status: exec.Awaiting}
		t.Open[key] = true
		to.Questions = append(to.Questions, Question{Key: key, Asked: true, Digest: e.Digest, Seq: seq})
	case exec.ApprovalGiven:
		delete(t.pending, key)
		t.close(key, e.Answer, to)
	case exec.CallStarted:
		t.close(key, nil, to)
		t.pending[key] = begun{e.Time, exec.Running}
	case exec.CallRetrying:
		t.pending[key] = begun{status: exec.Ready}
	case exec.CallReturned:
		t.close(key, nil, to)
		t.returned(key, e)
	case exec.CallCompleted, exec.CallFailed, exec.CallSkipped:
		t.close(key, nil, to)
		delete(t.pending, key)
		t.Ended[e.Status]++
		if before := t.wasSettled(key); before != "" && !t.revised && t.Ended[before] > 0 {
			t.Ended[before]--
		}
	}
}

// delegates notes that a call began inside a document, so that the calls that lead to it delegate.
func (t *Tally) delegates(key Key) {
	for in := true; in; {
		if key.Path, in = exec.Outer(key.Path); in {
			b := t.pending[key]
			if in = b.status == exec.Running; in { // otherwise it was noted before
				t.pending[key] = begun{b.at, journal.Delegating}
			}
		}
	}
}

// unanswered counts the calls that were started and had no answer when the run ended.
func (t *Tally) unanswered() {
	for _, b := range t.pending {
		if b.status == exec.Running {
			t.Ended[journal.Uncertain]++
		}
	}
	clear(t.pending)
}

// close notes that a call went on, which closes an open question about it.
func (t *Tally) close(key Key, a *exec.Answer, to *Effects) {
	if !t.Open[key] {
		return
	}
	delete(t.Open, key)
	to.Questions = append(to.Questions, Question{Key: key, Answer: a})
}

// returned notes how long a call took, if its tool has answered.
func (t *Tally) returned(key Key, e *exec.Event) {
	b := t.pending[key]
	if e.Error != nil || b.at.IsZero() || e.Time.Before(b.at) {
		return
	}
	all := append(t.lengths[e.Tool], e.Time.Sub(b.at))
	if len(all) > journal.MaxDurations {
		all = slices.Delete(all, 0, len(all)-journal.MaxDurations)
	}
	t.lengths[e.Tool] = all
}

// Samples removes and returns the durations that are not stored yet.
func (t *Tally) Samples() []Samples {
	var all []Samples
	for _, tool := range slices.Sorted(maps.Keys(t.lengths)) {
		all = append(all, Samples{tool, t.lengths[tool]})
	}
	clear(t.lengths)
	return all
}

// Fork changes the tally of copied events into that of a run that has not begun.
func (t *Tally) Fork() {
	t.Status = exec.Pending
	clear(t.lengths)
}

// Calls returns how many calls have each status, of those that were started or have ended.
func (t *Tally) Calls() map[exec.Status]int {
	calls := maps.Clone(t.Ended)
	for _, b := range t.pending {
		calls[b.status]++
	}
	return calls
}

// Counts returns the numbers of calls by status as a JSON object.
func Counts(calls map[exec.Status]int) string {
	out := append(make(Lines, 0, 64), '{')
	for i, status := range slices.Sorted(maps.Keys(calls)) {
		if i > 0 {
			out = append(out, ',')
		}
		out.quote(string(status))
		out = strconv.AppendInt(append(out, ':'), int64(calls[status]), 10)
	}
	return string(append(out, '}'))
}

// Settled notes the calls that had ended before, so that they are not counted twice if they end
// again. It only keeps a small part of p.
func (t *Tally) Settled(instance string, p Past) {
	of := map[string]exec.Status{}
	for path, c := range p {
		if c.Settled != "" {
			of[path] = c.Settled
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.before[instance] = of
}

// wasSettled returns the status with which a call had ended before. It may be called once for each
// call.
func (t *Tally) wasSettled(key Key) exec.Status {
	t.mu.Lock()
	defer t.mu.Unlock()
	status := t.before[key.Instance][key.Path]
	delete(t.before[key.Instance], key.Path)
	return status
}

// forget drops what Settled noted about an instance, after the instance has ended.
func (t *Tally) forget(instance string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.before, instance)
}
