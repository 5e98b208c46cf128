package server

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
)

// runRecord holds the record of a run up to an event.
type runRecord struct {
	sum    *journal.Summary
	plan   *plc.Plan // nil if it can't be compiled here; problem says why
	broken string
	at     int64

	status  string // of the run, after the event
	began   time.Time
	last    time.Time // the time of the event, or now
	over    bool      // the run has ended
	calls   []*Call   // in the order in which they began
	known   map[callAt]*Call
	entered map[string]time.Time // when instances began
	ended   map[string]instanceEnd
	pauses  []span // of the run
	full    []span // see fullPeriods; nil until computed
	writes  []written
}

// callAt names a call of a run.
type callAt struct{ instance, path string }

// written is a write and the call that made it.
type written struct {
	Write
	call *Call
	time time.Time
}

// instanceEnd says how an instance ended.
type instanceEnd struct{ status, reason string }

// A span is a part of the time of a call, or of its run.
type span struct {
	kind     spanKind
	from, to time.Time // to is zero while the span lasts
	note     string
	number   int  // of an attempt
	fallback bool // it is an attempt of the fallback
	cut      bool // the process ended during the attempt, at an unknown time after to
}

type spanKind uint8

const (
	forCalls  spanKind = iota // it waits for other calls
	forSlot                   // it is ready, but the limit of calls at a time is reached
	forPerson                 // a person is asked
	forRetry                  // it waits for the next attempt
	forWrite                  // it has a result, and waits for the writes of earlier calls
	whilePaused
	attempt
	failedAttempt
)

// follow reads the record of a run up to an event.
func (s *Server) follow(ctx context.Context, sum *journal.Summary, at int64) (*runRecord, error) {
	t := &runRecord{sum: sum, at: at, status: string(exec.Running), known: map[callAt]*Call{}, entered: map[string]time.Time{}, ended: map[string]instanceEnd{}}
	p, err := s.opts.Engine.PlanOf(ctx, sum.Run)
	if err == nil {
		err = p.Err()
	}
	if err != nil {
		t.broken = err.Error()
	} else {
		t.plan = p
	}
	if err := s.each(ctx, sum.Run, at, t.take); err != nil {
		return nil, err
	}
	if at >= sum.Events {
		t.status = string(sum.Status)
		switch sum.Status {
		case exec.Running, exec.Paused:
			t.last = time.Now()
		case journal.Interrupted:
			t.cut(t.last)
		}
	}
	return t, nil
}

// take updates the record with an event.
func (t *runRecord) take(seq int64, e *exec.Event) error {
	copied := e.Run != "" && e.Run != t.sum.Run // a fork has events of another run
	before := t.last
	if !copied {
		if t.began.IsZero() {
			t.began = e.Time
		}
		t.last = later(t.last, e.Time)
	}
	switch e.Type {
	case exec.RunPaused, exec.RunFinished:
		t.status = string(e.Status)
		if e.Type == exec.RunPaused {
			t.status = string(exec.Paused)
		}
		t.pauses = append(t.pauses, span{kind: whilePaused, from: e.Time, note: e.Reason})
		if e.Type == exec.RunFinished {
			t.over = true
			t.stop(e.Time)
		}
	case exec.RunStarted, exec.RunResumed:
		t.cut(before)
		t.status, t.over = string(exec.Running), false
		if n := len(t.pauses); n > 0 && t.pauses[n-1].to.IsZero() {
			t.pauses[n-1].to = e.Time
		}
	case exec.InstanceStarted:
		t.entered[e.Instance] = e.Time
	case exec.InstanceFinished:
		if _, ok := t.entered[e.Instance]; !ok { // its values were wrong
			t.entered[e.Instance] = e.Time
		}
		t.ended[e.Instance] = instanceEnd{string(e.Status), e.Reason}
	}
	if e.Call == "" {
		return nil
	}
	c := t.call(e)
	c.take(seq, e)
	if copied {
		c.from = e.Run
	} else {
		c.note(e)
	}
	if e.Type == exec.Written && !e.Replayed {
		t.writes = append(t.writes, written{c.Writes[len(c.Writes)-1], c, e.Time})
	}
	return nil
}

// cut ends the attempts that were under way when the process of the run ended, at the time of the
// last event. It marks them as cut off unless the run had paused.
func (t *runRecord) cut(last time.Time) {
	n := len(t.pauses)
	off := n == 0 || !t.pauses[n-1].to.IsZero()
	for _, c := range t.calls {
		if n := len(c.spans); n > 0 && c.spans[n-1].kind == attempt && c.spans[n-1].to.IsZero() {
			c.spans[n-1].to, c.spans[n-1].cut = last, off
		}
	}
}

// stop ends the calls that are under way when the run ends: a call that was started and has no
// result becomes uncertain.
func (t *runRecord) stop(at time.Time) {
	delegates := t.delegates()
	for _, c := range t.calls {
		if c.Status == string(exec.Pending) { // a person had approved it, but it was not called yet
			c.Status = string(exec.Cancelled)
		}
		n := len(c.spans)
		if n == 0 || !c.spans[n-1].to.IsZero() {
			continue
		}
		c.spans[n-1].to = at
		switch exec.Status(c.Status) {
		case exec.Running:
			c.Status = string(exec.Cancelled)
			if !delegates[callAt{c.Instance, c.Call}] {
				c.Status = string(journal.Uncertain)
			}
		case exec.Awaiting, "retrying":
			c.Status = string(exec.Cancelled)
		}
	}
}

// hasEnded reports whether the instance, or the run if there is none, has ended, so that no further
// call begins.
func (t *runRecord) hasEnded(instance string) bool {
	_, ended := t.ended[instance]
	return t.over || ended && t.isTemplate()
}

// callOf returns the data about a call of a program, in an instance and below a path prefix; nil if
// the call has not begun.
func (t *runRecord) callOf(c *compile.Call, instance, prefix string) *Call {
	if c.Rare != nil && c.Instance != "" {
		instance = c.Instance
	}
	return t.known[callAt{instance, prefix + exec.PathOf(c.ID)}]
}

// failed reports whether the call failed and the plan did not handle the failure. A handled failure
// has been written.
func (c *Call) failed() bool {
	return c != nil && c.Status == string(exec.Failed) && len(c.Writes) == 0
}

// begun reports whether the call was made, has ended, or waits for a person.
func (c *Call) begun() bool {
	return c != nil && (c.Attempts > 0 || c.Ended != "" || c.Status == string(exec.Awaiting))
}

// fate returns the status of a call that has not begun.
func (t *runRecord) fate(instance, call string) string {
	if !t.hasEnded(instance) {
		return string(exec.Pending)
	}
	if outer, ok := exec.Outer(call); ok && t.known[callAt{instance, outer}] == nil {
		return t.fate(instance, outer)
	}
	p, id := t.program(call)
	if p == nil {
		return string(exec.Cancelled)
	}
	c, ok := p.Call(id)
	if !ok {
		return string(exec.Cancelled)
	}
	prefix := call[:strings.LastIndexByte(call, '/')+1]
	return neverBegun(p, func(c *compile.Call) bool { return t.callOf(c, instance, prefix).failed() })[c.Place-1]
}

func (t *runRecord) call(e *exec.Event) *Call {
	at := callAt{e.Instance, e.Call}
	c := t.known[at]
	if c == nil {
		c = newCall(e)
		t.known[at], t.calls = c, append(t.calls, c)
	}
	return c
}

// note updates the spans of a call with an event.
func (c *Call) note(e *exec.Event) {
	if n := len(c.spans); n > 0 && c.spans[n-1].to.IsZero() && e.Type != exec.Written {
		last := &c.spans[n-1]
		last.to = e.Time
		switch {
		case last.kind == attempt && e.Error != nil:
			last.kind, last.note = failedAttempt, e.Error.Code
		case last.kind == forPerson && e.Answer != nil:
			last.note = strings.TrimSpace(answered(e.Answer) + " " + by(e.Answer.By))
		}
	}
	switch e.Type {
	case exec.CallStarted:
		c.spans = append(c.spans, span{kind: attempt, from: e.Time, number: e.Attempt, fallback: e.Fallback})
	case exec.CallRetrying:
		c.spans = append(c.spans, span{kind: forRetry, from: e.Time})
	case exec.CallReturned:
		c.spans = append(c.spans, span{kind: forWrite, from: e.Time})
	case exec.ApprovalAsked:
		c.spans = append(c.spans, span{kind: forPerson, from: e.Time})
	}
}

func by(name string) string {
	if name == "" {
		return ""
	}
	return "by " + name
}

// program returns the program that contains the call with a path, and the call's id in it; nil if
// it is unknown.
func (t *runRecord) program(call string) (*compile.Program, string) {
	if t.plan == nil {
		return nil, ""
	}
	p, steps := t.plan.Program, strings.Split(call, "/")
	for _, step := range steps[:len(steps)-1] {
		c, ok := p.Call(idOf(step))
		if !ok || c.Rare == nil || c.Delegate == nil || c.Delegate.Program == nil {
			return nil, ""
		}
		p = c.Delegate.Program
	}
	return p, idOf(steps[len(steps)-1])
}

// idOf returns the id of the call in a step of a path.
func idOf(step string) string {
	if i := strings.IndexAny(step, "[#"); i >= 0 {
		step = step[:i]
	}
	return exec.CallID(step)
}

// before returns the spans before a call's own first span, from the start of the run, instance or
// document that it belongs to: what it waited for.
func (t *runRecord) before(c *Call) []span {
	if len(c.spans) == 0 {
		return nil
	}
	first := c.spans[0].from
	base, path := t.began, ""
	if outer, ok := exec.Outer(c.Call); ok {
		path = c.Call[:strings.LastIndexByte(c.Call, '/')+1]
		parent := t.known[callAt{c.Instance, outer}]
		if parent == nil || len(parent.spans) == 0 {
			return nil
		}
		base = parent.spans[len(parent.spans)-1].from
		for _, s := range parent.spans {
			if s.kind == attempt && s.from.Before(first) {
				base = s.from
			}
		}
	} else if at, ok := t.entered[c.Instance]; ok && c.Instance != "" {
		base = at
	}
	var all []span
	ready, names := base, ""
	if p, id := t.program(c.Call); p != nil {
		if own, ok := p.Call(id); ok {
			if of, end := t.latest(p, own, c.Instance, path); end.After(base) && !end.After(first) {
				ready, names = end, of
			}
		}
	}
	if names != "" {
		all = append(all, span{kind: forCalls, from: base, to: ready, note: names})
	}
	at := ready
	for _, s := range t.pauses {
		if s.to.IsZero() || !s.to.After(at) || !s.from.Before(first) {
			continue
		}
		all = append(all, t.slotWait(at, s.from)...)
		all = append(all, span{kind: whilePaused, from: later(at, s.from), to: earlier(s.to, first)})
		at = earlier(s.to, first)
	}
	return append(all, t.slotWait(at, first)...)
}

// slotWait returns the time between from and to as a wait for a free slot, if the limit of calls at
// a time was reached in it. Other reasons for a delay are not in the record.
func (t *runRecord) slotWait(from, to time.Time) []span {
	if t.full == nil {
		t.full = t.fullPeriods()
	}
	i := sort.Search(len(t.full), func(i int) bool { return t.full[i].to.After(from) })
	if i == len(t.full) || !t.full[i].from.Before(to) {
		return nil
	}
	return []span{{kind: forSlot, from: from, to: to}}
}

// fullPeriods returns the periods during which the limit of calls at a time was reached, in order.
// It never returns nil.
func (t *runRecord) fullPeriods() []span {
	most, full := t.parallel(), []span{}
	if most == 0 {
		return full
	}
	type change struct {
		at time.Time
		by int
	}
	var changes []change
	delegates := t.delegates()
	for _, c := range t.calls {
		for _, s := range c.spans {
			if (s.kind == attempt || s.kind == failedAttempt) && !delegates[callAt{c.Instance, c.Call}] {
				changes = append(changes, change{s.from, 1}, change{cmp.Or(s.to, t.last), -1})
			}
		}
	}
	slices.SortStableFunc(changes, func(a, b change) int { return a.at.Compare(b.at) })
	running := 0
	for _, c := range changes {
		switch running += c.by; {
		case c.by > 0 && running == most:
			full = append(full, span{from: c.at, to: t.last})
		case c.by < 0 && running == most-1:
			full[len(full)-1].to = c.at
		}
	}
	return full
}

// delegates returns the calls that ran a document.
func (t *runRecord) delegates() map[callAt]bool {
	all := map[callAt]bool{}
	for _, c := range t.calls {
		if outer, ok := exec.Outer(c.Call); ok {
			all[callAt{c.Instance, outer}] = true
		}
	}
	return all
}

func later(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
}

func earlier(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

// mostBlamed is the maximum number of calls that are examined to find out what a call waited for.
const mostBlamed = 10_000

// latest returns which of the calls that a call waits for ended last, and when.
func (t *runRecord) latest(p *compile.Program, c *compile.Call, instance, prefix string) (name string, end time.Time) {
	seen := map[int32]bool{}
	for todo := p.Starts.Pred(int32(c.Place) - 1); len(todo) > 0 && len(seen) < mostBlamed; {
		n := todo[0]
		todo = todo[1:]
		if seen[n] {
			continue
		}
		seen[n] = true
		if p.Starts.IsVirtual(n) {
			todo = append(slices.Clone(p.Starts.Pred(n)), todo...)
			continue
		}
		if d := t.callOf(&p.Calls[n], instance, prefix); d != nil && d.ended().After(end) {
			name, end = d.Call[len(prefix):], d.ended()
		}
	}
	return name, end
}

// ended returns when a call ended; the zero time if it has not.
func (c *Call) ended() time.Time {
	if n := len(c.spans); n > 0 && c.Ended != "" {
		return c.spans[n-1].to
	}
	return time.Time{}
}

// parallel returns how many calls may run at once; 0 if unknown.
func (t *runRecord) parallel() int {
	if t.plan == nil {
		return 0
	}
	switch s := t.plan.Spec(); s.Schedule {
	case plc.Adaptive: // the number changes as the run goes on
		return 0
	case plc.Sequential:
		return 1
	default:
		return cmp.Or(s.Limits.Parallel, exec.DefaultMaxParallel)
	}
}

// spent describes how the time of a call was spent. It gives no duration for a span that has not
// ended, since that would be out of date when it is read.
func (t *runRecord) spent(c *Call) string {
	if c.from != "" && len(c.spans) == 0 {
		return "taken over from the run " + c.from
	}
	var words []string
	last := 0 // the last attempt
	for _, s := range slices.Concat(t.before(c), c.spans) {
		waited, length := "waits", ""
		if !s.to.IsZero() {
			took := s.to.Sub(s.from)
			if took < time.Millisecond && s.kind != attempt && s.kind != failedAttempt && s.kind != forPerson {
				continue
			}
			waited, length = "waited", " ("+duration(took)+")"
		}
		var say string
		switch s.kind {
		case forCalls:
			say = fmt.Sprintf("%s for %s%s", waited, exec.CallID(s.note), length)
		case forSlot:
			n := t.parallel()
			say = fmt.Sprintf("%s for its turn%s, with at most %d %s at a time", waited, length, n, plural("call", n))
		case whilePaused:
			say = waited + " while the run was paused" + length
		case forPerson:
			say = strings.TrimSuffix(waited+" for a person"+length+": "+s.note, ": ")
		case forRetry:
			say = waited + " before the next attempt" + length
		case forWrite:
			say = waited + " for earlier writes" + length
		case attempt, failedAttempt:
			switch {
			case s.cut:
				length = " (cut off when its process ended)"
			case length == "":
				length = " goes on"
			}
			what := fmt.Sprintf("attempt %d", s.number)
			switch {
			case s.fallback:
				what = "its fallback"
			case s.number == last: // of a call that delegates
				what = "went on with " + what
			}
			last = s.number
			say = strings.TrimSuffix(what+length+": "+cmp.Or(s.note, map[bool]string{true: "failed"}[s.kind == failedAttempt]), ": ")
		}
		words = append(words, say)
	}
	return strings.Join(words, ", then ")
}

// duration returns a duration with as many digits as a person reads.
func duration(d time.Duration) string {
	switch {
	case d < 100*time.Microsecond:
		return "under 0.1ms"
	case d < 10*time.Millisecond:
		return d.Round(100 * time.Microsecond).String()
	case d < time.Second:
		return d.Round(time.Millisecond).String()
	case d < time.Minute:
		return d.Round(100 * time.Millisecond).String()
	}
	return d.Round(time.Second).String()
}
