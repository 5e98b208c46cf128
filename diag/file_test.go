package diag

import (
	"bytes"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestPosition(t *testing.T) {
	for _, c := range []struct {
		name         string
		text         string
		offset       int
		line, column int
	}{
		{"start", "ab", 0, 1, 1},
		{"end", "ab", 2, 1, 3},
		{"empty file", "", 0, 1, 1},
		{"before the file", "ab", -5, 1, 1},
		{"behind the file", "ab", 9, 1, 3},
		{"line end belongs to its line", "a\nb", 1, 1, 2},
		{"next line", "a\nb", 2, 2, 1},
		{"last line is empty", "a\n", 2, 2, 1},
		{"CR is a character of its line", "a\r\nb", 2, 1, 3},
		{"CR alone is no line end", "a\rb", 2, 1, 3},
		{"characters, not bytes", "†x", 3, 1, 2},
		{"inside a character", "a†x", 2, 1, 2},
		{"last byte of a character", "a†x", 3, 1, 2},
		{"astral", "😀x", 4, 1, 2},
		{"each byte that is not UTF-8 is one", "\xff\x80\x80x", 3, 1, 4},
		{"cut off character", "\xe2\x80x", 2, 1, 3},
		{"combining mark is a character", "e\u0301x", 3, 1, 3},
		{"byte order mark is none", "\ufeffab", 4, 1, 2},
		{"in the byte order mark", "\ufeffab", 1, 1, 1},
	} {
		p := NewFile("f", []byte(c.text)).Position(c.offset)
		if p.Line != c.line || p.Column != c.column {
			t.Errorf("%s: %d:%d, want %d:%d", c.name, p.Line, p.Column, c.line, c.column)
		}
		if want := max(0, min(c.offset, len(c.text))); p.Offset != want {
			t.Errorf("%s: offset %d, want %d", c.name, p.Offset, want)
		}
	}
}

func TestLine(t *testing.T) {
	f := NewFile("f", []byte("\ufeffa\r\n\nb\rc\n"))
	for n, want := range map[int]string{0: "", 1: "a", 2: "", 3: "b\rc", 4: "", 5: ""} {
		if got := string(f.Line(n)); got != want {
			t.Errorf("line %d is %q, want %q", n, got, want)
		}
	}
	if f.Line(4) == nil || f.Line(5) != nil {
		t.Error("the last line is empty, and no line is behind it")
	}
}

// A position must not count from the start of a line of any length.
func TestCheckpointsAreClose(t *testing.T) {
	for _, unit := range []string{"a", "†", "a†", "😀", "\x80", "\xe2\x80"} {
		f := NewFile("f", bytes.Repeat([]byte(unit), 3000))
		f.Position(0)
		if want := len(f.Text)/stride + 1; len(f.chars) != want {
			t.Errorf("%q: %d checkpoints, want %d", unit, len(f.chars), want)
		}
		for n := 1; n < len(f.chars); n++ {
			if d := f.checkpoint(n) - f.checkpoint(n-1); d > stride+utf8.UTFMax-1 {
				t.Errorf("%q: %d bytes between checkpoints %d and %d", unit, d, n-1, n)
			}
		}
	}
}

// slowPosition counts every line and character from the start.
func slowPosition(text string, offset int) (line, column int) {
	offset = max(0, min(offset, len(text)))
	line, column = 1, 1
	for i, size := 0, 0; i < len(text); i += size {
		var r rune
		r, size = utf8.DecodeRuneInString(text[i:])
		if i+size > offset {
			return line, column
		}
		switch {
		case i == 0 && r == '\uFEFF':
		case r == '\n':
			line, column = line+1, 1
		default:
			column++
		}
	}
	return line, column
}

func FuzzPosition(f *testing.F) {
	for _, s := range []string{"", "a\r\n†b\n", "\ufeffx", "\x80\x80\x80\x80", strings.Repeat("†", 1000), strings.Repeat("a\n\x80", 700)} {
		f.Add(s, len(s)/2)
	}
	f.Fuzz(func(t *testing.T, text string, offset int) {
		// One unit is longer than any checkpoint, so that all of them are at work.
		text = strings.Repeat(text, min(1+2*stride/(len(text)+1), 2*stride))
		file := NewFile("f", []byte(text))
		for _, o := range []int{offset, offset % (len(text) + 1), len(text)} {
			p := file.Position(o)
			if line, column := slowPosition(text, o); p.Line != line || p.Column != column {
				t.Fatalf("offset %d of %q is %d:%d, want %d:%d", o, text, p.Line, p.Column, line, column)
			}
			if file.Line(p.Line) == nil {
				t.Fatalf("no line %d", p.Line)
			}
		}
	})
}

func BenchmarkPosition(b *testing.B) {
	f := NewFile("f", bytes.Repeat([]byte(`"†state.user", `), 700_000)) // a line of 11 MB
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		f.Position(i)
		i = (i + 7919) % len(f.Text)
	}
}

func BenchmarkIndex(b *testing.B) {
	for _, unit := range []struct{ name, text string }{{"one line", `"†state.user", `}, {"lines", "\"†state.user\",\n"}} {
		b.Run(unit.name, func(b *testing.B) {
			text := bytes.Repeat([]byte(unit.text), 700_000)
			b.ReportAllocs()
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				NewFile("f", text).Position(0)
			}
		})
	}
}
