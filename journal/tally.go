package journal

import (
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/plc-lang/plc/exec"
)

// tally is what the row of a run says of its events: the goroutine that commits adds them
// up. It knows the calls that go on and the questions that are open, and nothing of
// those that have ended, so that it stays small however long the run is.
type tally struct {
	status   exec.Status
	reason   string
	changed  time.Time
	finished time.Time // zero: not yet
	last     int64
	ended    map[exec.Status]int
	anew     bool // with another plan: what ended before does not count
	going    map[callKey]begun
	open     map[callKey]bool // questions
	lengths  map[string][]time.Duration
	room     lines // for those of the next commit
}

// begun is a call that was started.
type begun struct {
	at     time.Time
	status exec.Status
}

func newTally() *tally {
	return &tally{
		status: exec.Pending, ended: map[exec.Status]int{}, going: map[callKey]begun{},
		open: map[callKey]bool{}, lengths: map[string][]time.Duration{},
	}
}

// summary is a tally as it is written.
type summary struct {
	status   exec.Status
	reason   string
	changed  int64
	finished any
	calls    string
}

// add adds an event up; questions and samples that come of it are written with p.
func (t *tally) add(e *exec.Event, seq int64, p *part) {
	t.last, t.changed = seq, e.Time
	key := callKey{e.Instance, e.Call}
	switch e.Type {
	case exec.RunStarted, exec.RunResumed:
		p.turned = true
		t.status, t.reason, t.finished = exec.Running, "", time.Time{}
	case exec.PlanRevised: // all that the new plan has is told again
		clear(t.ended)
		t.anew = true
	case exec.RunPaused:
		p.turned = true
		t.status, t.reason = exec.Paused, e.Reason
		p.samples = t.samples()
	case exec.RunFinished:
		p.turned = true
		t.status, t.reason, t.finished = e.Status, e.Reason, e.Time
		clear(t.going)
		for _, key := range slices.Collect(maps.Keys(t.open)) {
			t.close(key, nil, p)
		}
		p.samples = t.samples()
	case exec.InstanceFinished:
		p.run.forget(e.Instance)
	case exec.ApprovalAsked:
		t.going[key] = begun{status: exec.Awaiting}
		t.open[key] = true
		p.questions = append(p.questions, question{callKey: key, asked: true, digest: e.Digest, seq: seq})
	case exec.ApprovalGiven:
		delete(t.going, key)
		t.close(key, e.Answer, p)
	case exec.CallStarted:
		t.close(key, nil, p)
		t.going[key] = begun{e.Time, exec.Running}
	case exec.CallRetrying:
		t.going[key] = begun{status: exec.Ready}
	case exec.CallReturned:
		t.close(key, nil, p)
		t.returned(key, e)
	case exec.CallCompleted, exec.CallFailed, exec.CallSkipped:
		t.close(key, nil, p)
		delete(t.going, key)
		t.ended[e.Status]++
		if before := p.run.wasSettled(key); before != "" && !t.anew && t.ended[before] > 0 {
			t.ended[before]--
		}
	}
}

// close notes that a call went on, if a question about it was open.
func (t *tally) close(key callKey, a *exec.Answer, p *part) {
	if !t.open[key] {
		return
	}
	delete(t.open, key)
	p.questions = append(p.questions, question{callKey: key, answer: answerText(a)})
}

// maxSamples is how many durations a store keeps of each tool, and a run until
// it writes them.
const maxSamples = 256

// returned notes how long a call took, if its tool has answered.
func (t *tally) returned(key callKey, e *exec.Event) {
	b := t.going[key]
	if e.Error != nil || b.at.IsZero() || e.Time.Before(b.at) {
		return
	}
	all := append(t.lengths[e.Tool], e.Time.Sub(b.at))
	if len(all) > maxSamples {
		all = slices.Delete(all, 0, len(all)-maxSamples)
	}
	t.lengths[e.Tool] = all
}

// samples takes the durations that are not written yet.
func (t *tally) samples() []samples {
	var all []samples
	for _, tool := range slices.Sorted(maps.Keys(t.lengths)) {
		all = append(all, samples{tool, t.lengths[tool]})
	}
	clear(t.lengths)
	return all
}

func (t *tally) summary() summary {
	s := summary{status: t.status, reason: t.reason, changed: micros(t.changed)}
	if !t.finished.IsZero() {
		s.finished = micros(t.finished)
	}
	calls := maps.Clone(t.ended)
	for _, b := range t.going {
		calls[b.status]++
	}
	s.calls = counts(calls)
	return s
}

// counts are calls by status as a JSON object. Each commit has one.
func counts(calls map[exec.Status]int) string {
	out := append(make(lines, 0, 64), '{')
	for i, status := range slices.Sorted(maps.Keys(calls)) {
		if i > 0 {
			out = append(out, ',')
		}
		out.quote(string(status))
		out = strconv.AppendInt(append(out, ':'), int64(calls[status]), 10)
	}
	return string(append(out, '}'))
}
