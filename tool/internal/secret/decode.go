package secret

import (
	"html"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// depth is how many encodings around each other are undone.
const depth = 3

// A text is searched in pieces of this size, and grown is how much longer encodings make a secret.
const (
	piece = 1 << 20
	grown = 64
)

// longestEntity is the length of the longest character reference of HTML that is read.
const longestEntity = 40

// A view is a text, or what one says when an encoding of it is undone. from and to hold the place
// in the text that each byte comes from; they are nil for the text itself, and where nobody asks.
type view struct {
	text     string
	from, to []int32
}

// source returns the place in the text that the bytes from start to end come from.
func (v *view) source(start, end int) span {
	if v.from == nil {
		return span{start, end}
	}
	return span{int(v.from[start]), int(v.to[end-1])}
}

// A writer makes a view of another.
type writer struct {
	in       *view
	placed   bool // places are wanted
	out      strings.Builder
	from, to []int32
}

// add writes bytes that stand for those of the input from start to end.
func (w *writer) add(start, end int, decoded ...byte) {
	for _, c := range decoded {
		w.out.WriteByte(c)
	}
	if !w.placed {
		return
	}
	at := w.in.source(start, end)
	for range decoded {
		w.from, w.to = append(w.from, int32(at.start)), append(w.to, int32(at.end))
	}
}

// copy writes bytes of the input as they are.
func (w *writer) copy(start, end int) {
	if !w.placed {
		w.out.WriteString(w.in.text[start:end])
		return
	}
	for i := start; i < end; i++ {
		w.add(i, i+1, w.in.text[i])
	}
}

func (w *writer) view() *view { return &view{w.out.String(), w.from, w.to} }

// search calls report with the places of secrets in a text, some of them more than once, until
// report returns false, as search does then. A long text is searched in pieces that overlap.
func (r *Redactor) search(s string, placed bool, report func(span) bool) bool {
	if len(r.plain) == 0 {
		return true
	}
	for start := 0; ; start += piece {
		end := min(len(s), start+piece+r.overlap)
		if !r.each(&view{text: s[start:end]}, depth, placed, func(at span) bool {
			return report(span{start + at.start, start + at.end})
		}) {
			return false
		}
		if end == len(s) {
			return true
		}
	}
}

// each calls report with every place of a secret in a view, and in what it says when up to deep
// encodings are undone, until report returns false; each then returns false too.
func (r *Redactor) each(v *view, deep int, placed bool, report func(span) bool) bool {
	for _, s := range r.plain {
		for from := 0; ; {
			i := strings.Index(v.text[from:], s)
			if i < 0 {
				break
			}
			if !report(v.source(from+i, from+i+len(s))) {
				return false
			}
			from += i + 1
		}
	}
	if deep == 0 || len(v.text) < r.shortest {
		return true
	}
	for _, decode := range []func(*Redactor, *writer) bool{backslashes, entities, percents, pluses, hexadecimal, base64s} {
		w := &writer{in: v, placed: placed}
		if decode(r, w) && !r.each(w.view(), deep-1, placed, report) {
			return false
		}
	}
	return true
}

// units undoes the escapes that begin with mark. read appends what the escape at the beginning of a
// text stands for, and returns its length; 0 is that it is none. units reports whether there was
// one.
func units(w *writer, mark byte, read func(to []byte, s string) ([]byte, int)) bool {
	text, done, found := w.in.text, 0, false
	var scratch [longestEntity]byte
	for {
		i := strings.IndexByte(text[done:], mark)
		if i < 0 {
			break
		}
		w.copy(done, done+i)
		done += i
		decoded, n := read(scratch[:0], text[done:])
		if n == 0 {
			w.copy(done, done+1)
			done++
			continue
		}
		w.add(done, done+n, decoded...)
		done, found = done+n, true
	}
	if found {
		w.copy(done, len(text))
	}
	return found
}

// backslashes undoes the escapes of strings in JSON, Go and languages like them.
func backslashes(_ *Redactor, w *writer) bool { return units(w, '\\', backslash) }

func backslash(to []byte, s string) ([]byte, int) {
	const names, meanings = `"\/'bfnrtav0`, "\"\\/'\b\f\n\r\t\a\v\x00"
	if len(s) < 2 {
		return nil, 0
	}
	switch c := s[1]; {
	case c == 'x':
		if n, ok := number(s, 2, 4, 16); ok {
			return append(to, byte(n)), 4
		}
	case c == 'u':
		n, ok := number(s, 2, 6, 16)
		if !ok {
			return nil, 0
		}
		if low, ok := number(s, 8, 12, 16); ok && s[6:8] == `\u` {
			if pair := utf16.DecodeRune(rune(n), rune(low)); pair != utf8.RuneError {
				return utf8.AppendRune(to, pair), 12
			}
		}
		return utf8.AppendRune(to, rune(n)), 6
	case c == 'U':
		if n, ok := number(s, 2, 10, 16); ok {
			return utf8.AppendRune(to, rune(n)), 10
		}
	default:
		if n, ok := number(s, 1, 4, 8); ok && n < 256 {
			return append(to, byte(n)), 4
		}
		if i := strings.IndexByte(names, c); i >= 0 {
			return append(to, meanings[i]), 2
		}
	}
	return nil, 0
}

// number returns the one that stands from start to end in a text, in digits alone.
func number(s string, start, end, base int) (int64, bool) {
	if len(s) < end || s[start] == '-' || s[start] == '+' {
		return 0, false
	}
	n, err := strconv.ParseInt(s[start:end], base, 64)
	return n, err == nil
}

// entities undoes the character references of HTML and XML.
func entities(_ *Redactor, w *writer) bool {
	return units(w, '&', func(to []byte, s string) ([]byte, int) {
		end := strings.IndexByte(s[:min(len(s), longestEntity)], ';') + 1
		if end == 0 {
			return nil, 0
		}
		said := html.UnescapeString(s[:end])
		if strings.HasSuffix(said, ";") && said != ";" { // it was none, or only the beginning was one
			return nil, 0
		}
		return append(to, said...), end
	})
}

// percents undoes the escapes of URLs.
func percents(_ *Redactor, w *writer) bool { return units(w, '%', percent) }

func percent(to []byte, s string) ([]byte, int) {
	if n, ok := number(s, 1, 3, 16); ok {
		return append(to, byte(n)), 3
	}
	return nil, 0
}

// pluses does what percents does for the query of a URL, where a plus sign stands for a space.
func pluses(r *Redactor, w *writer) bool {
	if !strings.Contains(w.in.text, "+") || !r.spaces && !strings.Contains(w.in.text, "%") {
		return false
	}
	spaced := &writer{in: w.in, placed: w.placed}
	units(spaced, '+', func(to []byte, _ string) ([]byte, int) { return append(to, ' '), 1 })
	w.in = spaced.view()
	if !percents(r, w) {
		w.copy(0, len(w.in.text))
	}
	return true
}

// hexadecimal undoes pairs of hexadecimal digits, in upper and lower case, wherever in a run of
// digits they begin.
func hexadecimal(r *Redactor, w *writer) bool {
	return runs(w, isHex, 2*r.shortest, func(at []int) {
		for first := range 2 {
			one := &writer{in: w.in, placed: w.placed}
			for i := first; i+1 < len(at); i += 2 {
				one.add(at[i], at[i+1]+1, nibble(w.in.text[at[i]])<<4|nibble(w.in.text[at[i+1]]))
			}
			w.keep(r, one)
		}
	})
}

// base64s undoes base64, standard and of URLs, wherever in a run of its characters it begins.
func base64s(r *Redactor, w *writer) bool {
	return runs(w, func(c byte) bool { return sextet(c) >= 0 }, (r.shortest*8+5)/6, func(at []int) {
		for first := range 4 {
			one := &writer{in: w.in, placed: w.placed}
			bits, n := 0, 0 // those that are read and not yet written, and how many
			for i := first; i < len(at); i++ {
				bits, n = bits<<6|sextet(w.in.text[at[i]]), n+6
				if n < 8 {
					continue
				}
				n -= 8
				one.add(at[i-1], at[i]+1, byte(bits>>n))
				bits &= 1<<n - 1
			}
			w.keep(r, one)
		}
	})
}

// keep writes what one says that may be a text, and a zero byte after each part: most of what is
// decoded from the wrong place, or was no encoding, is none. Secrets that are none keep it whole.
func (w *writer) keep(r *Redactor, one *writer) {
	v, start := one.view(), 0
	end := func(end int) {
		if end-start < r.shortest {
			return
		}
		w.out.WriteString(v.text[start:end])
		w.out.WriteByte(0)
		if w.placed {
			w.from = append(append(w.from, v.from[start:end]...), v.from[start])
			w.to = append(append(w.to, v.to[start:end]...), v.to[start])
		}
	}
	for i := 0; i < len(v.text) && !r.binary; {
		size := 1
		if c := v.text[i]; c >= utf8.RuneSelf {
			_, size = utf8.DecodeRuneInString(v.text[i:])
		}
		if !isText(v.text[i : i+size]) {
			end(i)
			start = i + size
		}
		i += size
	}
	end(len(v.text))
}

// isText reports whether a character, or a byte that is none, stands in texts.
func isText(c string) bool {
	return len(c) > 1 || ' ' <= c[0] && c[0] < 0x7f || c[0] == '\n' || c[0] == '\r' || c[0] == '\t'
}

// runs calls decode with the places of the characters of each run that has at least so many of
// them. A run goes on in the next line, also where that is indented.
func runs(w *writer, in func(byte) bool, least int, decode func(at []int)) bool {
	text, found := w.in.text, false
	var at []int
	for i := 0; i <= len(text); i++ {
		if i < len(text) && in(text[i]) {
			at = append(at, i)
			continue
		}
		if i < len(text) && (text[i] == '\n' || text[i] == '\r') {
			for i+1 < len(text) && strings.IndexByte(" \t\r\n", text[i+1]) >= 0 {
				i++
			}
			continue
		}
		if len(at) >= least {
			decode(at)
			found = true
		}
		at = at[:0]
	}
	return found
}

// nibble returns what a hexadecimal digit stands for.
func nibble(c byte) byte {
	if c <= '9' {
		return c - '0'
	}
	return c | 0x20 - 'a' + 10
}

func isHex(c byte) bool { return '0' <= c && c <= '9' || 'a' <= c|0x20 && c|0x20 <= 'f' }

// sextet returns what a character of base64 stands for; -1 when it is none.
func sextet(c byte) int {
	switch {
	case 'A' <= c && c <= 'Z':
		return int(c - 'A')
	case 'a' <= c && c <= 'z':
		return int(c-'a') + 26
	case '0' <= c && c <= '9':
		return int(c-'0') + 52
	case c == '+' || c == '-':
		return 62
	case c == '/' || c == '_':
		return 63
	}
	return -1
}
