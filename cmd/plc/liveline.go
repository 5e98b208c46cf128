package main

import (
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/plc-lang/plc/internal/display"
)

// liveLine is a line on a terminal that says how far something is. The nil liveLine shows nothing.
type liveLine struct {
	done, all   atomic.Int64
	quit, ended chan struct{}
}

// newLiveLine begins to show how many are done of how many, once that is known and so much time has
// passed; stop must follow. It returns nil when w is no terminal.
func newLiveLine(w io.Writer, after time.Duration, format display.Literal) *liveLine {
	f, ok := w.(*os.File)
	if !ok || !isTerminal(f) {
		return nil
	}
	l := &liveLine{quit: make(chan struct{}), ended: make(chan struct{})}
	go l.show(&screen{file: f}, after, format)
	return l
}

// set takes note of how many are done.
func (l *liveLine) set(done, all int) {
	if l != nil {
		l.done.Store(int64(done))
		l.all.Store(int64(all))
	}
}

// add counts one more that is done.
func (l *liveLine) add() {
	if l != nil {
		l.done.Add(1)
	}
}

// stop takes the line off the screen.
func (l *liveLine) stop() {
	if l != nil {
		close(l.quit)
		<-l.ended
	}
}

func (l *liveLine) show(s *screen, after time.Duration, format display.Literal) {
	defer close(l.ended)
	tick := time.NewTicker(max(after, frame))
	defer tick.Stop()
	for {
		select {
		case <-l.quit:
			s.draw(nil, nil)
			return
		case <-tick.C:
			tick.Reset(frame)
			if all := l.all.Load(); all > 0 {
				s.draw(nil, []display.Text{display.Sprintf(format, l.done.Load(), all)})
			}
		}
	}
}
