package main

import (
	"os"
	"slices"

	"golang.org/x/term"

	"github.com/plc-lang/plc/internal/display"
)

// screen is the live list at the bottom of a terminal: lines that are redrawn in place, below lines
// that stay.
//
// Each drawing is one write: move to the top of the list, erase from there, write the lines that
// stay and then the list. Lines of the list are cut, since it is unknown where a wrapped line
// begins. If the terminal has become narrower since, it has wrapped them itself, and their number
// of rows follows from their width. The cursor is always visible and at the beginning of the line
// below the list, so that nothing has to be restored, however the process ends.
type screen struct {
	file  *os.File
	shown []display.Text // the list as it was drawn
}

// A terminal that supports these shows no output between them, so that it does not flicker.
const (
	beginFrame = "\x1b[?2026h"
	endFrame   = "\x1b[?2026l"
)

// draw writes lines that stay and draws the list again.
func (s *screen) draw(stay, list []display.Text) {
	width, height := s.size()
	if most := max(1, height-2); len(list) > most {
		list = list[len(list)-most:]
	}
	for i, l := range list {
		list[i] = l.Cut(width - 1)
	}
	if len(stay) == 0 && slices.Equal(list, s.shown) {
		return
	}
	var b display.Builder
	b.Add(display.Lit(beginFrame))
	if up := min(s.rows(width), height-1); up > 0 {
		b.Add(display.Sprintf("\x1b[%dA", up))
	}
	b.Add(display.Lit("\r\x1b[J"))
	for _, l := range stay {
		b.Line("%s", l.Wrap(width-1, onward))
	}
	for _, l := range list {
		b.Line("%s", l)
	}
	b.Add(display.Lit(endFrame))
	_ = display.Fprint(s.file, b.Text()) // errors of the terminal can't be reported
	s.shown = list
}

// rows returns the number of rows that the list takes up on a terminal of this width.
func (s *screen) rows(width int) int {
	n := 0
	for _, l := range s.shown {
		n += max(1, (l.Columns()+width-1)/width)
	}
	return n
}

// size returns the width and height of the terminal.
func (s *screen) size() (width, height int) {
	width, height, err := term.GetSize(int(s.file.Fd()))
	if err != nil || width < 2 || height < 2 {
		return 80, 24
	}
	return width, height
}
