package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/display"
	"github.com/plc-lang/plc/tool"
)

// progress shows a run while it goes on. Events become lines that stay: the end of every call in a
// run of few calls, and only problems in a run of many. Below these lines, on a terminal, is a list
// of the calls that are running (screen.go); elsewhere a run of many calls reports its progress now
// and then.
//
// The handling of an event only takes notes, since the scheduler waits for it and a terminal may be
// slow. Another goroutine writes. The nil progress shows nothing.
type progress struct {
	w      io.Writer
	screen *screen // nil if it is not a terminal
	color  bool
	total  int  // the number of calls; 0 if unknown, as in a loop that makes more plans
	batch  bool // instances are counted, whose total is unknown

	out sync.Mutex // held while writing

	mu      sync.Mutex
	begun   time.Time
	nobody  bool               // nobody answers questions, so a call that waits for approval is shown
	running map[string]attempt // including calls that wait for another attempt or an answer
	done    int
	failed  int
	skipped int
	undoing bool                // the calls that are shown undo the run
	ends    map[exec.Status]int // of instances
	told    int                 // the number of lines so far
	lines   []display.Text      // lines that are not written yet

	wake  chan struct{} // there are lines
	quit  chan struct{}
	ended chan struct{}
}

// attempt is a running attempt of a call, or one that is about to follow.
type attempt struct {
	call   display.Text
	number int
	since  time.Time
	waits  string // what it waits for; "" if it is running
	far    string // the progress that its tool reported; "" if none
}

// Bounds of what is shown.
const (
	fewCalls  = 50  // a run of more calls shows only problems
	maxTold   = 200 // lines of a run of many calls; the end of the run counts the rest
	maxLine   = 300 // columns
	maxLive   = 8   // calls in the live list
	frame     = 100 * time.Millisecond
	heartbeat = 10 * time.Second
)

func newProgress(w io.Writer, p *compile.Program) *progress {
	s := &progress{
		w: w, color: colored(w), total: len(p.Calls) * max(1, len(p.Instances)), running: map[string]attempt{}, ends: map[exec.Status]int{},
		wake: make(chan struct{}, 1), quit: make(chan struct{}), ended: make(chan struct{}),
	}
	if f, ok := w.(*os.File); ok && isTerminal(f) {
		s.screen = &screen{file: f}
	}
	return s
}

// start starts showing; stop must follow. nobody says that nobody answers questions.
func (p *progress) start(nobody bool) {
	if p == nil {
		return
	}
	p.begun, p.nobody = time.Now(), nobody
	go p.show()
}

// stop writes the remaining lines and removes the live list from the screen.
func (p *progress) stop() {
	if p == nil {
		return
	}
	close(p.quit)
	<-p.ended
}

// pause removes the live list from the screen, so that other code can write, until resume is
// called.
func (p *progress) pause() (resume func()) {
	if p == nil {
		return func() {}
	}
	p.out.Lock()
	if p.screen != nil {
		p.screen.draw(nil, nil)
	}
	return p.out.Unlock
}

// show writes until quit is closed.
func (p *progress) show() {
	defer close(p.ended)
	period := heartbeat
	if p.screen != nil {
		period = frame
	}
	tick := time.NewTicker(period)
	defer tick.Stop()
	for {
		select {
		case <-p.wake:
			p.flush(false)
		case <-tick.C:
			p.flush(true)
		case <-p.quit:
			p.flush(false)
			p.pause()()
			return
		}
	}
}

// flush writes the waiting lines and, if due is true, the progress of the run.
func (p *progress) flush(due bool) {
	p.mu.Lock()
	lines, standing := p.lines, p.standing()
	p.lines = nil
	var live []display.Text
	if p.screen != nil {
		live = p.live()
	}
	p.mu.Unlock()
	p.out.Lock()
	defer p.out.Unlock()
	switch {
	case p.screen != nil:
		p.screen.draw(lines, append(live, display.Sprintf("  %s", standing)))
		return
	case due && (p.total > fewCalls || p.batch):
		lines = append(lines, display.Sprintf("· %s", standing))
	}
	for _, l := range lines {
		showf(p.w, "%s\n", l)
	}
}

// standing describes how far the run is. The caller holds mu.
func (p *progress) standing() string {
	if p.batch {
		return p.instancesStanding()
	}
	s := fmt.Sprint(p.done + p.failed + p.skipped)
	if p.total > 0 {
		s += fmt.Sprintf(" of %d", p.total)
	}
	s += fmt.Sprintf(" done, %d running", p.underWay())
	if p.failed > 0 {
		s += fmt.Sprintf(", %d failed", p.failed)
	}
	if p.skipped > 0 {
		s += fmt.Sprintf(", %d skipped", p.skipped)
	}
	return s + ", " + time.Since(p.begun).Round(time.Second).String()
}

// instancesStanding describes how far a run is when the number of its instances is unknown.
func (p *progress) instancesStanding() string {
	took, all := time.Since(p.begun), total(p.ends)
	s := fmt.Sprintf("%s done", count(all, "instance"))
	if n := all - p.ends[exec.Completed]; n > 0 {
		s += fmt.Sprintf(", %d did not complete", n)
	}
	return s + fmt.Sprintf(", %.0f a second, %s", float64(all)/max(took.Seconds(), 1), took.Round(time.Second))
}

// instance processes the outcome of an instance.
func (p *progress) instance(r *exec.InstanceResult) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ends[r.Status]++; r.Status != exec.Completed {
		p.sayf("✗", red, "%s: %s: %s", display.Name(r.Name), r.Status, r.Reason)
	}
}

// underWay returns the number of calls that are being made, without those that wait for a person.
// The caller holds mu.
func (p *progress) underWay() int {
	n := 0
	for _, a := range p.running {
		if a.waits == "" {
			n++
		}
	}
	return n
}

// live lists the calls that are being made, the longest first. The caller holds mu.
func (p *progress) live() []display.Text {
	all := make([]attempt, 0, len(p.running))
	for _, a := range p.running {
		all = append(all, a)
	}
	slices.SortFunc(all, func(a, b attempt) int {
		if d := a.since.Compare(b.since); d != 0 {
			return d
		}
		return strings.Compare(a.call.String(), b.call.String())
	})
	var lines []display.Text
	for i, a := range all {
		if i == maxLive {
			lines = append(lines, display.Sprintf("       … and %d more", len(all)-maxLive))
			break
		}
		line := display.Sprintf("%5s  %s", time.Since(a.since).Truncate(time.Second), a.call)
		if a.number > 1 {
			line = display.Sprintf("%s, attempt %d", line, a.number)
		}
		if a.waits != "" {
			line = display.Sprintf("%s, waits %s", line, a.waits)
		}
		if a.far != "" {
			line = display.Sprintf("%s, %s", line, a.far)
		}
		lines = append(lines, line)
	}
	return lines
}

// undo shows that the run is being undone, with this number of calls.
func (p *progress) undo(calls int) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.undoing, p.batch, p.total = true, false, calls
	p.done, p.failed, p.skipped = 0, 0, 0
	clear(p.running)
	p.sayf("·", "2", "undoing %s", count(calls, "effect"))
}

// cancelled shows that the run was interrupted, and what happens now.
func (p *progress) cancelled() {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sayf("!", yellow, "interrupted: %s told to end; once more ends plc at once", count(p.underWay(), "running call"))
}

// note shows a warning that is not an event.
func (p *progress) note(text string) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sayf("!", yellow, "%s", text)
}

// say shows a line that is not a warning.
func (p *progress) say(line display.Text) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.sayf("·", "2", "%s", line)
}

// event processes an event.
func (p *progress) event(e *exec.Event) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	call := display.Name(e.Call)
	if p.undoing {
		call = display.Sprintf("undo of %s", call)
	}
	if e.Instance != "" {
		call = display.Sprintf("%s: %s", display.Name(e.Instance), call)
	}
	key := call.String()
	switch e.Type {
	case exec.CallStarted:
		p.running[key] = attempt{call: call, number: e.Attempt, since: e.Time}
	case exec.CallProgress:
		if a, ok := p.running[key]; ok {
			a.far = howFar(e.Progress)
			p.running[key] = a
		}
	case exec.CallRetrying:
		p.running[key] = attempt{call: call, number: e.Attempt + 1, since: e.Time, waits: "to try again"}
		if e.Fallback {
			p.sayf("↻", yellow, "%s: attempt %d failed: %s; its fallback is next", call, e.Attempt, e.Error.Message)
			break
		}
		p.sayf("↻", yellow, "%s: attempt %d failed: %s; again in %s", call, e.Attempt, e.Error.Message, e.Delay.Round(time.Millisecond))
	case exec.CallCompleted, exec.CallFailed, exec.CallSkipped:
		p.end(e, call)
	case exec.ApprovalAsked:
		p.running[key] = attempt{call: call, since: e.Time, waits: waitsFor(e.Question)}
		if p.nobody {
			p.sayf("?", yellow, "%s waits %s: %s", call, waitsFor(e.Question), e.Reason)
		}
	case exec.Warned:
		p.sayf("!", yellow, "%s: %s", call, e.Reason)
	}
}

// howFar describes the progress of a call that its tool has reported.
func howFar(p *tool.Progress) string {
	text := fmt.Sprint(p.Done)
	if p.Total > 0 {
		text += fmt.Sprint(" of ", p.Total)
	}
	if p.Message != "" {
		text += ": " + p.Message
	}
	return text
}

// waitsFor returns what a call waits for after a question of this kind.
func waitsFor(k exec.QuestionKind) string {
	if k == exec.ApprovalQuestion {
		return "for approval"
	}
	return "for a person"
}

// end processes the end of a call. It does not count calls of a delegate's document, and in a batch
// shows only instances. The caller holds mu.
func (p *progress) end(e *exec.Event, call display.Text) {
	took := p.leave(e, call.String())
	one := 1
	if strings.Contains(e.Call, "/") {
		one = 0
	}
	tell := !p.batch
	switch e.Type {
	case exec.CallFailed:
		if p.failed += one; tell {
			p.sayf("✗", red, "%s: %s: %s%s", call, e.Error.Code, e.Error.Message, took)
		}
	case exec.CallSkipped:
		if p.skipped += one; tell {
			p.sayf("-", dim, "%s: skipped: %s", call, e.Reason)
		}
	default:
		if p.done += one; tell && one > 0 && p.total <= fewCalls {
			p.sayf("✓", green, "%s%s", call, took)
		}
	}
}

// leave removes a call from the list of running calls, and returns its duration as text.
func (p *progress) leave(e *exec.Event, call string) string {
	a, ok := p.running[call]
	delete(p.running, call)
	if !ok || a.waits != "" {
		return ""
	}
	return fmt.Sprintf(" (%s)", e.Time.Sub(a.since).Round(time.Millisecond))
}

// The colours of marks (SGR).
const (
	red    = "31"
	green  = "32"
	yellow = "33"
	dim    = "2"
)

// sayf makes a line that stays. The caller holds mu.
func (p *progress) sayf(mark, sgr, format display.Literal, args ...any) {
	p.told++
	if p.told > maxTold {
		return
	}
	shown := display.Lit(mark)
	if p.color {
		shown = display.Sprintf("\x1b[%sm%s\x1b[0m", sgr, mark)
	}
	p.lines = append(p.lines, display.Sprintf("%s %s", shown, display.Sprintf(format, args...).Cut(maxLine)))
	if p.told == maxTold {
		p.lines = append(p.lines, display.Lit("… what else does not go well is only counted"))
	}
	select {
	case p.wake <- struct{}{}:
	default:
	}
}
