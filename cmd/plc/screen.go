package main

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"golang.org/x/term"
)

// screen is the live list at the bottom of a terminal: some lines that are drawn
// anew in place, below lines that stay.
//
// Each drawing is one write: up to the top of the list, erase from there, the lines
// that stay, the list. Lines of the list are cut, since of one that wraps nobody knows
// where it begins. When the terminal has become narrower since, it has wrapped
// them itself, and they are as many rows as they have columns for. The cursor is
// always visible and at the beginning of the line below the list, so that there is
// nothing to restore, however the process ends.
type screen struct {
	file  *os.File
	shown []string // the list as it was drawn
}

// Between these a terminal that knows them shows nothing, so that it does not flicker.
const (
	beginFrame = "\x1b[?2026h"
	endFrame   = "\x1b[?2026l"
)

// draw writes lines that stay and draws the list anew.
func (s *screen) draw(stay, list []string) {
	width, height := s.size()
	if most := max(1, height-2); len(list) > most {
		list = list[len(list)-most:]
	}
	for i, l := range list {
		list[i] = cut(l, width-1)
	}
	if len(stay) == 0 && slices.Equal(list, s.shown) {
		return
	}
	var b strings.Builder
	b.WriteString(beginFrame)
	if up := min(s.rows(width), height-1); up > 0 {
		fmt.Fprintf(&b, "\x1b[%dA", up)
	}
	b.WriteString("\r\x1b[J")
	for _, l := range slices.Concat(stay, list) {
		b.WriteString(l + "\n")
	}
	b.WriteString(endFrame)
	_, _ = s.file.WriteString(b.String()) // a terminal that is gone can't be told
	s.shown = list
}

// rows is how many rows the list takes up on a terminal of this width.
func (s *screen) rows(width int) int {
	n := 0
	for _, l := range s.shown {
		n += max(1, (columns(l)+width-1)/width)
	}
	return n
}

// size is the width and height of the terminal.
func (s *screen) size() (width, height int) {
	width, height, err := term.GetSize(int(s.file.Fd()))
	if err != nil || width < 2 || height < 2 {
		return 80, 24
	}
	return width, height
}
