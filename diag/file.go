package diag

import (
	"bytes"
	"sort"
	"sync"
	"unicode/utf8"
)

// File is a source text and the name that findings show for it. It is immutable, and goroutines may
// share it.
type File struct {
	Name string
	Text []byte

	once  sync.Once
	lines []int32 // offset of the first byte of each line
	chars []int32 // number of characters before each checkpoint; see index

	source *sourceMap // the origin of the text; nil if it was not derived
}

// NewFile makes a file with a name and a text, which must not be changed afterwards.
func NewFile(name string, text []byte) *File { return &File{Name: name, Text: text} }

// Position is a position as people count it: Line and Column start at 1, and Column counts
// characters (Unicode code points). Offset is in bytes, from 0.
type Position struct{ Line, Column, Offset int }

// stride is the number of bytes between two checkpoints of a file. Position counts the characters
// in at most that many bytes, even in long lines.
const stride = 1024

// Position returns the position of a byte offset. An offset outside the file stands for the nearest
// end of the file, and an offset inside a character for the start of that character. A byte order
// mark doesn't count as a character. The first call takes one pass over the text, later calls take
// a binary search over the lines.
func (f *File) Position(offset int) Position {
	offset = max(0, min(offset, len(f.Text)))
	f.once.Do(f.index)
	at := max(f.characterAt(offset), int(f.lines[0]))
	line := f.lineAt(at)
	return Position{line, f.charactersBefore(at) - f.charactersBefore(int(f.lines[line-1])) + 1, offset}
}

// Line returns the text of line n, counted from 1, without its line ending and byte order mark. It
// returns nil if there is no such line.
func (f *File) Line(n int) []byte {
	f.once.Do(f.index)
	if n < 1 || n > len(f.lines) {
		return nil
	}
	end := len(f.Text)
	if n < len(f.lines) {
		end = int(f.lines[n]) - 1
	}
	return bytes.TrimSuffix(f.Text[f.lines[n-1]:end], []byte{'\r'})
}

// lineAt returns the number of the line that contains the offset.
func (f *File) lineAt(offset int) int {
	return sort.Search(len(f.lines), func(i int) bool { return int(f.lines[i]) > offset })
}

// characterAt returns the start of the character that contains the offset.
func (f *File) characterAt(offset int) int {
	for i := offset - 1; i >= 0 && offset-i < utf8.UTFMax; i-- {
		if utf8.RuneStart(f.Text[i]) {
			if _, size := utf8.DecodeRune(f.Text[i:]); i+size > offset {
				return i
			}
			break
		}
	}
	return offset
}

// charactersBefore counts the characters before the start of one.
func (f *File) charactersBefore(offset int) int {
	n := offset / stride
	from := f.checkpoint(n)
	if from > offset {
		n--
		from = f.checkpoint(n)
	}
	return int(f.chars[n]) + utf8.RuneCount(f.Text[from:offset])
}

// checkpoint returns the offset of the nth checkpoint: n strides into the text, or up to three
// bytes later so that it isn't inside a character.
func (f *File) checkpoint(n int) int {
	if n == 0 {
		return 0
	}
	at := n * stride
	for end := min(at+utf8.UTFMax-1, len(f.Text)); at < end && !utf8.RuneStart(f.Text[at]); {
		at++
	}
	return at
}

// index finds the lines, and counts the characters before each checkpoint. A plan may be one line
// of many megabytes with a finding every hundred bytes; counting from the start of the line for
// each of them would take hours.
func (f *File) index() {
	start := 0
	if bytes.HasPrefix(f.Text, []byte("\uFEFF")) {
		start = len("\uFEFF")
	}
	f.lines = make([]int32, 1, 1+bytes.Count(f.Text, []byte{'\n'}))
	f.lines[0] = int32(start)
	for i := start; ; {
		n := bytes.IndexByte(f.Text[i:], '\n')
		if n < 0 {
			break
		}
		i += n + 1
		f.lines = append(f.lines, int32(i))
	}
	f.chars = make([]int32, len(f.Text)/stride+1)
	for n, from := 1, 0; n < len(f.chars); n++ {
		to := f.checkpoint(n)
		f.chars[n] = f.chars[n-1] + int32(utf8.RuneCount(f.Text[from:to]))
		from = to
	}
}
