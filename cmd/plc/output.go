package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"

	"golang.org/x/term"

	"github.com/plc-lang/plc/diag"
)

// output is standard output. It remembers that writing failed, so that nobody
// else has to look: what was lost is told once, at the end. Its Write never fails.
type output struct {
	w    io.Writer
	safe bool   // w is a terminal: what could act on it is shown as an escape
	rest []byte // the beginning of a character
	err  error
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

// escaped is text with the control characters of C1, and those that turn the direction
// of text or can't be seen, as escapes of JSON, in which alone they are still to be
// found: in JSON they mean the same. Those of C0 are our own colours and line ends.
func (o *output) escaped(p []byte) []byte {
	text := append(o.rest, p...)
	var out []byte
	for len(text) > 0 && utf8.FullRune(text) {
		r, size := utf8.DecodeRune(text)
		switch {
		case r == '\u200c', r == '\u200d': // part of how words and emoji are spelled
			out = append(out, text[:size]...)
		case r == utf8.RuneError && size == 1:
			out = utf8.AppendRune(out, r)
		case r >= 0x7f && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)):
			for _, u := range utf16.Encode([]rune{r}) {
				out = fmt.Appendf(out, `\u%04x`, u)
			}
		default:
			out = append(out, text[:size]...)
		}
		text = text[size:]
	}
	o.rest = text
	return out
}

// lost is why output was lost; nil when its reader had enough (plc … | head).
func (o *output) lost() error {
	if errors.Is(o.err, syscall.EPIPE) {
		return nil
	}
	return o.err
}

// writeJSON writes a value as indented JSON, without escaping HTML.
func (env *environment) writeJSON(v any) error {
	e := json.NewEncoder(env.stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

// showFindings shows findings to people, on standard error.
func (env *environment) showFindings(l diag.List) {
	writeText(env.stderr, l, maxShown)
}

// How many findings are shown to people, and how many that don't keep a plan from
// running, before it runs.
const (
	maxShown  = 200
	maxWarned = 20
)

// writeText writes findings for people, most of them at most. What a terminal does
// not take can't be told anywhere else.
func writeText(w io.Writer, l diag.List, most int) {
	_ = diag.WriteText(w, l, &diag.TextOptions{Color: colored(w), Max: most})
}

// colored reports whether w is a terminal that wants colour.
func colored(w io.Writer) bool { return os.Getenv("NO_COLOR") == "" && isTerminal(w) }

// isTerminal reports whether a file is a terminal on which one can move about.
func isTerminal(file any) bool { return isAnyTerminal(file) && os.Getenv("TERM") != "dumb" }

// isAnyTerminal reports whether a file is a terminal, dumb as it may say it is.
func isAnyTerminal(file any) bool {
	if o, ok := file.(*output); ok {
		file = o.w
	}
	f, ok := file.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

// printable is text on one line, without what could take over a terminal.
func printable(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\n', r == '\t':
			return ' '
		case r == '\u200c', r == '\u200d': // part of how words and emoji are spelled
			return r
		case !unicode.IsGraphic(r):
			return unicode.ReplacementChar
		}
		return r
	}, s)
}

// printableLines is text without what could take over a terminal, its lines kept.
func printableLines(s string) string {
	lines := strings.Split(s, "\n")
	for i, l := range lines {
		lines[i] = printable(l)
	}
	return strings.Join(lines, "\n")
}

// columns is how many columns of a terminal s may take up. Terminals differ; it
// is rather too many.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += runeColumns(r)
	}
	return n
}

func runeColumns(r rune) int {
	if r < 0x1100 || 0x2000 <= r && r < 0x2300 { // the latter: punctuation, arrows, mathematics
		return 1
	}
	return 2
}

// cut is the beginning of s that fits into n columns.
func cut(s string, n int) string {
	if columns(s) <= n {
		return s
	}
	for i, r := range s {
		if n -= runeColumns(r); n < 1 {
			return s[:i] + "…"
		}
	}
	return s
}

// pad is s with spaces up to n columns.
func pad(s string, n int) string { return s + strings.Repeat(" ", max(0, n-columns(s))) }

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
