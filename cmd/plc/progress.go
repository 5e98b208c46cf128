package main

import (
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/term"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
)

// progress shows a run while it goes on: on a terminal a live list of the calls
// that run, elsewhere a line for each call that has come to its end. The nil
// progress shows nothing.
type progress struct {
	w     io.Writer
	live  bool
	color bool
	total int

	mu      sync.Mutex
	running []runningCall
	done    int
	failed  int
	skipped int
	lines   int // that the live list has on the screen
	quit    chan struct{}
	ended   chan struct{}
}

type runningCall struct {
	id      string
	attempt int
	since   time.Time
}

// maxLive is how many running calls the live list shows.
const maxLive = 8

func newProgress(w io.Writer, p *compile.Program) *progress {
	return &progress{w: w, live: isTerminal(w), color: colored(w), total: len(p.Calls)}
}

// start begins to draw; stop must follow.
func (p *progress) start() {
	if p == nil || !p.live {
		return
	}
	p.quit, p.ended = make(chan struct{}), make(chan struct{})
	go func() {
		defer close(p.ended)
		tick := time.NewTicker(100 * time.Millisecond)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				p.mu.Lock()
				p.draw()
				p.mu.Unlock()
			case <-p.quit:
				return
			}
		}
	}()
}

func (p *progress) stop() {
	if p == nil || !p.live {
		return
	}
	close(p.quit)
	<-p.ended
	p.mu.Lock()
	defer p.mu.Unlock()
	p.erase()
}

// event takes note of an event.
func (p *progress) event(e *exec.Event) {
	if p == nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	switch e.Type {
	case exec.CallStarted:
		p.running = append(p.running, runningCall{e.Call, e.Attempt, e.Time})
	case exec.CallRetrying:
		p.leave(e.Call)
		p.say("↻", "33", fmt.Sprintf("%s: attempt %d failed: %s; again in %s", e.Call, e.Attempt, e.Error.Message, e.Delay.Round(time.Millisecond)))
	case exec.CallCompleted:
		p.done++
		p.say("✓", "32", e.Call+p.leave(e.Call))
	case exec.CallFailed:
		p.failed++
		p.say("✗", "31", fmt.Sprintf("%s: %s: %s%s", e.Call, e.Error.Code, e.Error.Message, p.leave(e.Call)))
	case exec.CallSkipped:
		p.skipped++
		p.leave(e.Call)
		p.say("-", "2", fmt.Sprintf("%s: skipped: %s", e.Call, e.Reason))
	case exec.ApprovalAsked:
		p.say("?", "33", fmt.Sprintf("%s waits for approval: %s", e.Call, e.Reason))
	case exec.Warned:
		p.say("!", "33", fmt.Sprintf("%s: %s", e.Call, e.Reason))
	}
}

// leave takes a call off the list of those that run; it returns how long it ran.
func (p *progress) leave(id string) string {
	i := slices.IndexFunc(p.running, func(r runningCall) bool { return r.id == id })
	if i < 0 {
		return ""
	}
	took := time.Since(p.running[i].since).Round(time.Millisecond)
	p.running = slices.Delete(p.running, i, i+1)
	return fmt.Sprintf(" (%s)", took)
}

// say writes a line that stays, above the live list.
func (p *progress) say(mark, sgr, text string) {
	if p.live {
		p.erase()
	}
	if p.color {
		mark = "\x1b[" + sgr + "m" + mark + "\x1b[0m"
	}
	fmt.Fprintf(p.w, "%s %s\n", mark, printable(text))
	if p.live {
		p.draw()
	}
}

// draw draws the live list anew.
func (p *progress) draw() {
	p.erase()
	width := 80
	if f, ok := p.w.(*os.File); ok {
		if w, _, err := term.GetSize(int(f.Fd())); err == nil && w > 0 {
			width = w
		}
	}
	var lines []string
	for i, r := range p.running {
		if i == maxLive {
			lines = append(lines, fmt.Sprintf("  … and %d more", len(p.running)-maxLive))
			break
		}
		line := fmt.Sprintf("  %s %s", r.id, time.Since(r.since).Round(100*time.Millisecond))
		if r.attempt > 1 {
			line += fmt.Sprintf(", attempt %d", r.attempt)
		}
		lines = append(lines, line)
	}
	lines = append(lines, fmt.Sprintf("  %d of %d done, %d running", p.done+p.failed+p.skipped, p.total, len(p.running)))
	for _, l := range lines {
		fmt.Fprintln(p.w, cut(printable(l), width-1))
	}
	p.lines = len(lines)
}

// erase takes the live list off the screen.
func (p *progress) erase() {
	if p.lines > 0 {
		fmt.Fprintf(p.w, "\x1b[%dA\x1b[J", p.lines)
		p.lines = 0
	}
}

// printable is text without what could take over a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if r < 0x20 || r >= 0x7f && r < 0xa0 || r >= 0x202a && r <= 0x202e || r >= 0x2066 && r <= 0x2069 {
			return '�'
		}
		return r
	}, s)
}

// cut is the first n characters of s.
func cut(s string, n int) string {
	r := []rune(s)
	if len(r) <= n || n < 2 {
		return s
	}
	return string(r[:n-1]) + "…"
}
