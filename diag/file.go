package diag

import (
	"sort"
	"sync"
	"unicode/utf8"
)

// File is a source text with the name that findings show. It is immutable and
// may be shared by goroutines.
type File struct {
	Name string
	Text []byte

	once  sync.Once
	lines []int32 // offset of the first byte of each line
}

// NewFile makes a file of a name and its text. The text must not be changed
// afterwards.
func NewFile(name string, text []byte) *File { return &File{Name: name, Text: text} }

// Position is a place for people: Line and Column count from 1, Column in
// characters (Unicode code points); Offset is in bytes from 0.
type Position struct{ Line, Column, Offset int }

// Position is the place of a byte offset; offsets outside the file are those
// of its nearest end. The first call costs one pass over the text, later ones a
// binary search and the length of the line.
func (f *File) Position(offset int) Position {
	offset = max(0, min(offset, len(f.Text)))
	f.once.Do(f.index)
	line := sort.Search(len(f.lines), func(i int) bool { return int(f.lines[i]) > offset }) - 1
	start := int(f.lines[line])
	return Position{line + 1, utf8.RuneCount(f.Text[start:offset]) + 1, offset}
}

// Line is the text of the line with this number, counted from 1, without its
// line ending.
func (f *File) Line(n int) []byte {
	f.once.Do(f.index)
	if n < 1 || n > len(f.lines) {
		return nil
	}
	end := len(f.Text)
	if n < len(f.lines) {
		end = int(f.lines[n]) - 1
	}
	line := f.Text[f.lines[n-1]:end]
	if k := len(line); k > 0 && line[k-1] == '\r' {
		line = line[:k-1]
	}
	return line
}

func (f *File) index() {
	f.lines = append(f.lines, 0)
	for i, c := range f.Text {
		if c == '\n' {
			f.lines = append(f.lines, int32(i+1))
		}
	}
}
