package diag

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strings"

	"github.com/plc-lang/plc/internal/display"
)

// TextOptions are the options of WriteText. The zero value stands for the defaults.
type TextOptions struct {
	Color bool // use SGR colours; the caller decides whether the output is a terminal
	Max   int  // show the first Max findings and count the rest; 0 shows all
	Width int  // maximum columns of a source line, without its gutter; longer lines are cut; 0 is 100
	Wrap  int  // columns of the terminal; longer lines are wrapped, and the continuation marked; 0 is no limit
}

// WriteText writes the findings for people: "file:line:col: error: … [PLC302]",
// the source line with marks under the span, related places as notes, and the
// fix. Control characters and other invisible characters of messages and files are escaped. A nil
// opts stands for the defaults; the error is w's. The cost is the number of findings times the
// width, even if lines are long.
func WriteText(w io.Writer, l List, opts *TextOptions) error {
	t := textWriter{out: bufio.NewWriter(w), limit: defaultWidth}
	shown := l
	if opts != nil {
		t.color, t.wrap = opts.Color, opts.Wrap
		if opts.Width > 0 {
			t.limit = opts.Width
		}
		if opts.Max > 0 && opts.Max < len(l) {
			shown = l[:opts.Max]
		}
	}
	for i := range shown {
		t.finding(shown[i].view())
		// Stop when the writer has failed, for example with a million findings and a closed pipe.
		if _, err := t.out.Write(nil); err != nil {
			return err
		}
	}
	if rest := l[len(shown):]; len(rest) > 0 {
		t.printf("… and %d more (%s)\n", len(rest), rest.tally())
	}
	return t.out.Flush()
}

const defaultWidth = 100

// The styles, in the form of SGR parameters.
const (
	bold   = "1"
	red    = "1;31"
	yellow = "1;33"
	cyan   = "1;36"
	green  = "1;32"
	dim    = "2"
)

func (s Severity) style() display.Literal {
	switch s {
	case Error:
		return red
	case Warning:
		return yellow
	}
	return cyan
}

// Style returns the length of the SGR sequence at the beginning of text if it is one that WriteText
// writes, and otherwise 0; more is whether text is only the beginning of such a sequence.
func Style(text []byte) (length int, more bool) {
	for _, sgr := range []display.Literal{bold, red, yellow, cyan, green, dim, "0"} {
		seq := "\x1b[" + string(sgr) + "m"
		switch {
		case bytes.HasPrefix(text, []byte(seq)):
			return len(seq), false
		case bytes.HasPrefix([]byte(seq), text):
			more = true
		}
	}
	return 0, more
}

// tally counts the findings of each severity: "3 errors, 1 warning".
func (l List) tally() string {
	var parts []string
	for _, s := range []Severity{Error, Warning, Info} {
		switch n := l.Count(s); n {
		case 0:
		case 1:
			parts = append(parts, fmt.Sprintf("1 %s", s))
		default:
			parts = append(parts, fmt.Sprintf("%d %ss", n, s))
		}
	}
	return strings.Join(parts, ", ")
}

// textWriter writes findings in the form of text. out keeps the first write error.
type textWriter struct {
	out   *bufio.Writer
	color bool
	limit int
	wrap  int
}

func (t *textWriter) printf(format display.Literal, args ...any) {
	text := display.Sprintf(format, args...)
	if t.wrap > 0 {
		text = text.Wrap(t.wrap, "  │ ")
	}
	_ = display.Fprint(t.out, text) // out keeps the error
}

// style returns s between the sequences that switch a style on and off.
func (t *textWriter) style(sgr display.Literal, s string) display.Text {
	if !t.color || s == "" {
		return display.Line(s)
	}
	return display.Sprintf("\x1b[%sm%s\x1b[0m", sgr, s)
}

func (t *textWriter) finding(v view) {
	t.printf("%s%s %s [%s]\n", t.style(bold, v.place.head()), t.style(v.Severity.style(), v.Severity.String()+":"),
		t.style(bold, visible(v.Message)), v.Code)
	if !v.Secret {
		t.excerpt(v.place, v.Severity.style())
	}
	for _, n := range v.Related {
		t.printf("%s%s %s\n", t.style(bold, n.place.head()), t.style(cyan, "note:"), visible(n.Message))
		t.excerpt(n.place, cyan)
	}
	if v.Fix != nil {
		word := "fix:"
		if v.Fix.Choice {
			word = "perhaps:"
		}
		t.printf("  %s %s\n", t.style(green, word), t.suggestion(v.Fix))
	}
}

// head returns the place in the form in which it begins a line: "file:line:col: ".
func (p *place) head() string {
	if p == nil {
		return ""
	}
	return fmt.Sprintf("%s:%d:%d: ", visible(p.File), p.Line, p.Column)
}

// suggestion describes a fix: its message, and the new text unless the message already contains it.
func (t *textWriter) suggestion(p *proposal) string {
	s := visible(p.Message)
	if len(p.Edits) != 1 || p.Edits[0].Text == "" {
		return s
	}
	text := layOut([]byte(visible(p.Edits[0].Text)), 0, 0, t.limit).text
	if strings.Contains(s, text) {
		return s
	}
	return strings.TrimPrefix(s+": "+text, ": ")
}

// excerpt shows the lines of a span with marks under it; of several lines, it shows the first and
// the last. A finding about a whole file has no excerpt.
func (t *textWriter) excerpt(p *place, sgr display.Literal) {
	if p == nil || p.loc.Span.IsZero() {
		return
	}
	f := p.loc.File
	start, end := int(p.loc.Span.Start), int(p.loc.Span.End)
	end = start + len(bytes.TrimRight(f.Text[start:end], "\r\n"))
	last := f.lineAt(end)
	from := f.offsetIn(p.Line, start)
	if p.Line == last {
		t.line(f, p.Line, from, f.offsetIn(last, end), sgr)
		return
	}
	first := f.Line(p.Line)
	t.line(f, p.Line, from, len(first), sgr)
	if p.Line+1 < last {
		t.printf("%s\n", t.style(dim, "    … |"))
	}
	line := f.Line(last)
	t.line(f, last, len(line)-len(bytes.TrimLeft(line, " \t")), f.offsetIn(last, end), sgr)
}

// offsetIn returns an offset relative to a line, at most the end of the line.
func (f *File) offsetIn(line, offset int) int {
	return max(0, min(offset-int(f.lines[line-1]), len(f.Line(line))))
}

// line shows one line of a file with the bytes from..to marked.
func (t *textWriter) line(f *File, n, from, to int, sgr display.Literal) {
	r := layOut(f.Line(n), from, to, t.limit)
	gutter := fmt.Sprintf("%5d |", n)
	source := r.text
	if source != "" {
		source = " " + source
	}
	t.printf("%s%s\n", t.style(dim, gutter), source)
	t.printf("%s %s%s\n", t.style(dim, strings.Repeat(" ", len(gutter)-1)+"|"),
		strings.Repeat(" ", r.pad), t.style(sgr, strings.Repeat("^", r.marked)))
}
