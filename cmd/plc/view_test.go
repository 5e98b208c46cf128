package main

import (
	"strconv"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/plc-lang/plc/internal/display"
)

// view is what a terminal shows, with what has scrolled off above. It knows the few
// things that plc does, and panics at anything else.
type view struct {
	width, height int
	rows          [][]rune // from the first that was ever shown
	top           int      // of the rows, the first on the screen
	row, column   int      // of the cursor
	pending       []byte   // the beginning of something
	frames        []string // what was shown at the end of each frame
}

// Write takes in what was written to the terminal.
func (v *view) Write(text []byte) (int, error) {
	v.pending = append(v.pending, text...)
	for len(v.pending) > 0 {
		n := v.next()
		if n == 0 {
			break
		}
		v.pending = v.pending[n:]
	}
	return len(text), nil
}

// next takes in one character or sequence, and returns its size; 0 is for one that
// is not complete.
func (v *view) next() int {
	if v.pending[0] == 0x1b {
		return v.sequence()
	}
	if !utf8.FullRune(v.pending) {
		return 0
	}
	r, size := utf8.DecodeRune(v.pending)
	switch {
	case r == '\r':
		v.column = 0
	case r == '\n':
		v.lineFeed()
	case r == '\t': // in what the runtime says when plc is made to show what it does
		v.put(' ')
	case r < ' ':
		panic("a control character: " + strconv.QuoteRune(r))
	default:
		v.put(r)
	}
	return size
}

func (v *view) lineFeed() {
	if v.row++; v.row-v.top >= v.height {
		v.top++
	}
}

// put shows a character; at the end of a row it wraps.
func (v *view) put(r rune) {
	n := display.Line(string(r)).Columns()
	if v.column+n > v.width {
		v.column = 0
		v.lineFeed()
	}
	for len(v.rows) <= v.row {
		v.rows = append(v.rows, nil)
	}
	line := v.rows[v.row]
	for len(line) < v.column+n {
		line = append(line, ' ')
	}
	line[v.column] = r
	if n == 2 {
		line[v.column+1] = 0 // the other half
	}
	v.rows[v.row] = line
	v.column += n
}

// sequence takes in an escape sequence.
func (v *view) sequence() int {
	end := 2
	for end < len(v.pending) && (v.pending[end] < 0x40 || v.pending[end] > 0x7e) {
		end++
	}
	if end >= len(v.pending) {
		return 0
	}
	arg := string(v.pending[2:end])
	switch final := v.pending[end]; {
	case final == 'm':
	case final == 'A':
		n, err := strconv.Atoi(arg)
		if err != nil {
			panic(err)
		}
		v.row = max(v.top, v.row-n)
	case final == 'J' && arg == "":
		if v.row < len(v.rows) {
			v.rows = v.rows[:v.row+1]
			v.rows[v.row] = v.rows[v.row][:min(v.column, len(v.rows[v.row]))]
		}
	case "\x1b["+arg+string(final) == beginFrame:
	case "\x1b["+arg+string(final) == endFrame:
		v.frames = append(v.frames, v.String())
	default:
		panic("an unknown sequence: " + strconv.Quote(string(v.pending[:end+1])))
	}
	return end + 1
}

// String is all that is shown, a line a row, without white space at the ends.
func (v *view) String() string {
	var b strings.Builder
	for _, row := range v.rows {
		line := strings.ReplaceAll(string(row), "\x00", "")
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return strings.TrimRight(b.String(), "\n")
}

func TestScreenRows(t *testing.T) {
	s := &screen{shown: []display.Text{{}, display.Lit("ten chars."), display.Lit("中文中文中"), display.Lit("eleven char")}}
	for width, want := range map[int]int{80: 4, 10: 5, 5: 8, 4: 10} {
		if got := s.rows(width); got != want {
			t.Errorf("%d columns: %d rows, want %d", width, got, want)
		}
	}
}

func TestCut(t *testing.T) {
	for _, c := range []struct {
		s    string
		n    int
		want string
	}{
		{"", 5, ""},
		{"short", 5, "short"},
		{"longer", 5, "long…"},
		{"中文中", 6, "中文中"},
		{"中文中文", 6, "中文…"},
		{"中文中文", 5, "中文…"},
		{"ab", 1, "…"},
	} {
		if got := cut(c.s, c.n); got != c.want || display.Line(got).Columns() > c.n {
			t.Errorf("cut(%q, %d) = %q, want %q", c.s, c.n, got, c.want)
		}
	}
}

func TestOutputIsSafeOnATerminal(t *testing.T) {
	const said = "†ünï 中 \x1b[1m\n\u009b2J \u202e\u2066 \u200d \U000e0041 \x9b\x1b[2J\x1b[8m\r."
	const want = "†ünï 中 \x1b[1m\n" + `\u009b2J \u202e\u2066 ` + `\u200d \udb40\udc41 \ufffd\u001b[2J\u001b[8m\u000d.`
	for size := 1; size < 8; size++ { // of what is written at once
		var b strings.Builder
		o := &output{w: &b, safe: true}
		for rest := said; rest != ""; {
			n := min(size, len(rest))
			o.Write([]byte(rest[:n]))
			rest = rest[n:]
		}
		if b.String() != want {
			t.Errorf("by %d bytes: %q, want %q", size, b.String(), want)
		}
	}
	var b strings.Builder
	o := newOutput(&b)
	o.Write([]byte(said))
	if b.String() != said {
		t.Errorf("to a file: %q", b.String())
	}
}

func TestDuration(t *testing.T) {
	for text, want := range map[string]time.Duration{
		"90s": 90 * time.Second, "1m30s": 90 * time.Second, "5": 5 * time.Second, "0.25": 250 * time.Millisecond, "0": 0,
	} {
		d := time.Hour
		if err := (duration{&d}).Set(text); err != nil || d != want {
			t.Errorf("%s: %s, %v", text, d, err)
		}
	}
	for _, text := range []string{"", "soon", "-1", "-1s", "NaN", "Inf", "1e300", "5 s"} {
		d := time.Hour
		if err := (duration{&d}).Set(text); err == nil || d != time.Hour {
			t.Errorf("%s: %s, %v", text, d, err)
		}
	}
}
