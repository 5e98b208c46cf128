package main

import (
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/plc-lang/plc/internal/display"
)

// liveLine shows progress on a line of a terminal. The nil liveLine shows nothing.
type liveLine struct {
	done, all   atomic.Int64
	quit, ended chan struct{}
}

// newLiveLine starts a line that shows how many of a total are done. The line appears after the
// given time and once the total is known. The caller must call stop. newLiveLine returns nil if w
// is not a terminal.
func newLiveLine(w io.Writer, after time.Duration, format display.Literal) *liveLine {
	f, ok := w.(*os.File)
	if !ok || !isTerminal(f) {
		return nil
	}
	l := &liveLine{quit: make(chan struct{}), ended: make(chan struct{})}
	go l.show(&screen{file: f}, after, format)
	return l
}

// set sets the number done and the total.
func (l *liveLine) set(done, all int) {
	if l != nil {
		l.done.Store(int64(done))
		l.all.Store(int64(all))
	}
}

// add adds one to the number done.
func (l *liveLine) add() {
	if l != nil {
		l.done.Add(1)
	}
}

// stop removes the line from the screen.
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
