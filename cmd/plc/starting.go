package main

import (
	"io"
	"os"
	"sync/atomic"
	"time"

	"github.com/plc-lang/plc/internal/display"
)

// starting shows on a terminal how many MCP servers have started: a line that appears after
// startingAfter, and is removed when all have. The nil starting shows
// nothing.
type starting struct {
	screen *screen
	all    int
	begun  atomic.Int64 // servers that have started, or failed to

	quit, ended chan struct{}
}

// startingAfter is the time after which the line appears: most servers start sooner.
const startingAfter = time.Second

// newStarting begins to show the start of servers; stop must follow. It returns nil when w is no
// terminal.
func newStarting(w io.Writer, servers int) *starting {
	f, ok := w.(*os.File)
	if !ok || !isTerminal(f) || servers == 0 {
		return nil
	}
	s := &starting{screen: &screen{file: f}, all: servers, quit: make(chan struct{}), ended: make(chan struct{})}
	go s.show()
	return s
}

// count counts a server that has started, or failed to.
func (s *starting) count(string) {
	if s != nil {
		s.begun.Add(1)
	}
}

// stop takes the line off the screen.
func (s *starting) stop() {
	if s != nil {
		close(s.quit)
		<-s.ended
	}
}

func (s *starting) show() {
	defer close(s.ended)
	late := time.After(startingAfter)
	select {
	case <-s.quit:
		return
	case <-late:
	}
	tick := time.NewTicker(frame)
	defer tick.Stop()
	for {
		s.screen.draw(nil, []display.Text{display.Sprintf("starting servers: %d of %d", s.begun.Load(), s.all)})
		select {
		case <-s.quit:
			s.screen.draw(nil, nil)
			return
		case <-tick.C:
		}
	}
}
