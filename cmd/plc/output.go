package main

import (
	"bufio"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/display"
	"github.com/plc-lang/plc/internal/jsonscan"
)

// output is standard output. Its Write never fails: output remembers the first error, which is
// reported once, at the end.
type output struct {
	w      io.Writer
	safe   bool           // w is a terminal, so control characters are shown as escapes
	rest   []byte         // an incomplete character or style at the end
	glyphs display.Glyphs // the glyphs that were written
	err    error
}

func newOutput(w io.Writer) *output { return &output{w: w, safe: isAnyTerminal(w)} }

func (o *output) Write(p []byte) (int, error) {
	text := p
	if o.safe {
		text = o.escaped(p)
	}
	if o.err == nil {
		_, o.err = o.w.Write(text)
	}
	return len(p), nil
}

// escaped returns the text with JSON escapes instead of characters that could control the terminal.
// At this point such characters are only in JSON, where the escape means the same. Line breaks,
// tabs and our own styles are kept.
func (o *output) escaped(p []byte) []byte {
	text := append(o.rest, p...)
	var out []byte
	for len(text) > 0 && utf8.FullRune(text) {
		if text[0] == '\x1b' {
			style, more := diag.Style(text)
			if more {
				break
			}
			if style > 0 {
				out, text = append(out, text[:style]...), text[style:]
				continue
			}
		}
		shown, size := o.glyphs.NextJSON(string(text[:min(len(text), utf8.UTFMax)]))
		out, text = append(out, shown...), text[size:]
	}
	o.rest = text
	return out
}

// lost returns the error because of which output was lost; nil if its reader stopped reading (plc …
// | head).
func (o *output) lost() error {
	if errors.Is(o.err, syscall.EPIPE) {
		return nil
	}
	return o.err
}

// writeJSON writes a value as indented JSON, without escaping HTML.
func (env *environment) writeJSON(v any) error {
	compact, err := jsonscan.Marshal(v)
	if err != nil {
		return err
	}
	text, _ := jsonscan.Indent(compact, "") // Marshal returns JSON
	_, err = env.stdout.Write(append(text, '\n'))
	return err
}

// jsonLines writes values as lines of JSON, each in one write, so that readers of the file see it
// at once. The nil jsonLines writes nothing.
type jsonLines struct {
	file *os.File // nil for standard output
	enc  *json.Encoder
	err  error
}

func newLines(w io.Writer) *jsonLines {
	l := &jsonLines{enc: json.NewEncoder(w)}
	l.enc.SetEscapeHTML(false)
	return l
}

// createLines creates a file for lines; what describes them in errors. It returns nil for the name
// "".
func createLines(what, name string) (*jsonLines, error) {
	if name == "" {
		return nil, nil
	}
	f, err := os.Create(name)
	if err != nil {
		return nil, fmt.Errorf("can't write the %s: %w", what, err)
	}
	l := newLines(f)
	l.file = f
	return l, nil
}

func (l *jsonLines) write(v any) {
	if l != nil && l.err == nil {
		l.err = l.enc.Encode(v)
	}
}

// close closes the file, and returns an error if a line was lost.
func (l *jsonLines) close() error {
	if l == nil {
		return nil
	}
	if l.file != nil {
		l.err = cmp.Or(l.err, l.file.Close())
	}
	return l.err
}

// showFindings shows findings to people, on standard error.
func (env *environment) showFindings(l diag.List) {
	writeText(env.stderr, l, maxShown)
}

// The maximum number of findings that are shown to people, and of warnings that are shown before a
// plan runs.
const (
	maxShown  = 200
	maxWarned = 20
)

// writeText writes at most most findings for people. It ignores errors of the terminal, since there
// is no other place to report them.
func writeText(w io.Writer, l diag.List, most int) {
	_ = diag.WriteText(w, l, &diag.TextOptions{Color: colored(w), Max: most, Wrap: widthOf(w)})
}

// colored reports whether w is a terminal, and NO_COLOR is not set.
func colored(w io.Writer) bool { return os.Getenv("NO_COLOR") == "" && isTerminal(w) }

// isTerminal reports whether a file is a terminal on which the cursor can be moved.
func isTerminal(file any) bool { return isAnyTerminal(file) && os.Getenv("TERM") != "dumb" }

// isAnyTerminal reports whether a file is a terminal, even a dumb one.
func isAnyTerminal(file any) bool {
	if o, ok := file.(*output); ok {
		file = o.w
	}
	f, ok := file.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// cut returns the beginning of s, on one line, that fits into n columns.
func cut(s string, n int) string { return display.Line(s).Cut(n).String() }

// show writes a text for people. On a terminal it wraps lines that are too long, so that text from
// outside can't begin a row. It ignores errors of the terminal, since there is no other place to
// report them.
func show(w io.Writer, t display.Text) {
	if width := widthOf(w); width > 0 {
		t = t.Wrap(width, onward)
	}
	_ = display.Fprint(w, t)
}

// showf shows a text that is formatted as display.Sprintf does.
func showf(w io.Writer, format display.Literal, args ...any) {
	show(w, display.Sprintf(format, args...))
}

// buffered is a writer with a buffer for texts that are shown.
type buffered struct {
	*bufio.Writer
	width int // of the terminal; 0 is none
}

func newBuffered(w io.Writer) *buffered { return &buffered{bufio.NewWriter(w), widthOf(w)} }

// widthOf returns the number of columns of a terminal; 0 for anything else.
func widthOf(w io.Writer) int {
	switch o := w.(type) {
	case *buffered:
		return o.width
	case *output:
		w = o.w
	}
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return 0
	}
	width, _, err := term.GetSize(int(f.Fd()))
	if err != nil || width < 2 {
		return 80
	}
	return width - 1
}

// onward is the beginning of lines that continue a line that was too long.
const onward = "  │ "

// said returns a text from outside after a head of our own; its further lines follow below.
func said(head display.Text, text string) display.Text {
	first, rest, more := strings.Cut(strings.TrimRight(text, "\n"), "\n")
	out := display.Sprintf("%s%s\n", head, first)
	if more {
		out = display.Sprintf("%s%s", out, display.Block(onward, rest))
	}
	return out
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
