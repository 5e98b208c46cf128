package secret

import (
	"html"
	"strings"
	"unicode"
	"unicode/utf16"
	"unicode/utf8"
)

// depth is the maximum number of nested encodings that are undone.
const depth = 3

// A text is searched in pieces of this size. grown is the factor by which encodings may lengthen a
// secret.
const (
	piece = 1 << 20
	grown = 64
)

// longestEntity is the length of the longest character reference of HTML that is read.
const longestEntity = 40

// A view is a text, or the text after an encoding of it was undone. from and to hold the place in
// the original text that each byte comes from; they are nil for the text itself, and if places are
// not needed.
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
	placed   bool // places are needed
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
	w.out.WriteString(w.in.text[start:end])
	switch {
	case !w.placed:
	case w.in.from == nil:
		for i := start; i < end; i++ {
			w.from, w.to = append(w.from, int32(i)), append(w.to, int32(i+1))
		}
	default:
		w.from, w.to = append(w.from, w.in.from[start:end]...), append(w.to, w.in.to[start:end]...)
	}
}

func (w *writer) view() *view { return &view{w.out.String(), w.from, w.to} }

// search calls report with the places of secrets in a text, some of them more than once, until
// report returns false. It returns false if it was stopped. A long text is searched in pieces that
// overlap.
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

// each calls report with every place of a secret in a view, and in the view after up to deep nested
// encodings are undone, until report returns false. It returns false if it was stopped.
func (r *Redactor) each(v *view, deep int, placed bool, report func(span) bool) bool {
	if !r.finder.each(v.text, func(start, end int) bool { return report(v.source(start, end)) }) {
		return false
	}
	if deep == 0 || len(v.text) < r.shortest {
		return true
	}
	for _, decode := range []func(*Redactor, *writer) bool{backslashes, entities, percents, pluses, hexadecimal, groups, dumps, base64s} {
		w := &writer{in: v, placed: placed}
		if decode(r, w) && !r.each(w.view(), deep-1, placed, report) {
			return false
		}
	}
	return true
}

// units undoes the escapes that begin with mark. read appends the value of the escape at the
// beginning of a text, and returns the length of the escape, or 0 if there is none. units reports
// whether there was an escape.
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
	case c == 'x' && !strings.HasPrefix(s[2:], "{"):
		if n, ok := number(s, 2, 4, 16); ok {
			return append(to, byte(n)), 4
		}
	case (c == 'u' || c == 'x') && strings.HasPrefix(s[2:], "{"): // of JavaScript, Rust, Swift and Perl
		end := strings.IndexByte(s[:min(len(s), len(`\u{00000000}`))], '}')
		if n, ok := number(s, 3, end, 16); ok && end > 3 {
			return utf8.AppendRune(to, rune(n)), end + 1
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

// number returns the number between start and end in a text, which must be only digits.
func number(s string, start, end, base int) (n int64, ok bool) {
	if len(s) < end {
		return 0, false
	}
	for i := start; i < end; i++ {
		d := hexDigits[s[i]]
		if d < 0 || int(d) >= base {
			return 0, false
		}
		n = n*int64(base) + int64(d)
	}
	return n, true
}

// entities undoes the character references of HTML and XML.
func entities(_ *Redactor, w *writer) bool {
	return units(w, '&', func(to []byte, s string) ([]byte, int) {
		end := strings.IndexByte(s[:min(len(s), longestEntity)], ';') + 1
		if n := numbered(s); n > 0 { // also without the semicolon, as browsers read it
			end = n
		}
		if end == 0 {
			return nil, 0
		}
		said := html.UnescapeString(s[:end])
		if strings.HasSuffix(said, ";") && said != ";" { // not a character reference, or only its beginning is one
			return nil, 0
		}
		return append(to, said...), end
	})
}

// numbered returns the length of the numeric character reference that a text begins with, 0 if it
// begins with none.
func numbered(s string) int {
	s = s[:min(len(s), longestEntity)]
	digits, base, found := strings.TrimPrefix(s, "&#"), 10, len(s) > 2 && s[:2] == "&#"
	if found && (digits[0] == 'x' || digits[0] == 'X') {
		digits, base = digits[1:], 16
	}
	begin := len(s) - len(digits)
	end := begin
	for end < len(s) && hexDigits[s[end]] >= 0 && int(hexDigits[s[end]]) < base {
		end++
	}
	switch {
	case !found || end == begin:
		return 0
	case end < len(s) && s[end] == ';':
		end++
	}
	return end
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
	return runs(w, &hexDigits, 2*r.shortest, func(digits []byte, at []int32) {
		for first := range 2 {
			decoded := make([]byte, 0, len(digits)/2)
			for i := first; i+1 < len(digits); i += 2 {
				decoded = append(decoded, digits[i]<<4|digits[i+1])
			}
			w.keep(r, decoded, func(i int) (from, to int32) { return at[first+2*i], at[first+2*i+1] })
		}
	})
}

// groups undoes hexadecimal digits in groups of whole bytes with something between them, as in
// "6b:65", "6b65 7920", "|6b|65|", "6bh 65h", "\x{6b}\x{65}" or a list of numbers such as 0x6b.
// White space may stand there, and a few other characters of ASCII, but no letters or digits other
// than those that mark a number as hexadecimal.
func groups(r *Redactor, w *writer) bool {
	const longest = 8 // characters between two groups, not counting white space
	text, found := w.in.text, false
	var decoded []byte
	var at []int32 // where the pairs of digits begin
	parts := 0
	for i := 0; i < len(text); {
		if hexDigits[text[i]] < 0 {
			i++
			continue
		}
		start := i
		for i < len(text) && hexDigits[text[i]] >= 0 {
			i++
		}
		end := i
		if i < len(text) && text[i-1] == '0' && (text[i] == 'x' || text[i] == 'X') {
			end-- // of the next group
		}
		whole := (end-start)%2 == 0
		if whole && end > start {
			for k := start; k < end; k += 2 {
				decoded = append(decoded, byte(hexDigits[text[k]]<<4|hexDigits[text[k+1]]))
				if w.placed {
					at = append(at, int32(k))
				}
			}
			parts++
		}
		between := 0
		for whole && i < len(text) && between <= longest && separators[text[i]] != 0 {
			between += int(separators[text[i]] - 1)
			i++
		}
		if whole && i < len(text) && hexDigits[text[i]] >= 0 && between <= longest {
			continue
		}
		if parts > 1 && len(decoded) >= max(r.shortest, 2) { // hexadecimal handles a single group
			w.keep(r, decoded, func(i int) (from, to int32) { return at[i], at[i] + 1 })
			found = true
		}
		decoded, at, parts = decoded[:0], at[:0], 0
	}
	return found
}

// dumps undoes the lines of a dump, as xxd and hexdump -C write them: an address, hexadecimal
// digits in groups of whole bytes, and the bytes as text beside them.
func dumps(r *Redactor, w *writer) bool {
	text, found := w.in.text, false
	if !strings.Contains(text, ": ") && !strings.Contains(text, "  ") {
		return false
	}
	var decoded []byte
	var at, ends []int32 // where the pairs of digits begin, and the last characters of their lines
	flush := func() {
		if len(decoded) >= r.shortest {
			w.keep(r, decoded, func(i int) (from, to int32) { return at[i], ends[i] })
			found = true
		}
		decoded, at, ends = decoded[:0], at[:0], ends[:0]
	}
	for start := 0; start < len(text); {
		end := len(text)
		if i := strings.IndexByte(text[start:], '\n'); i >= 0 {
			end = start + i
		}
		i, column := addressed(text[:end], start)
		if i == 0 {
			flush()
		}
		for i > 0 && i < end {
			from := i
			for i < end && hexDigits[text[i]] >= 0 {
				i++
			}
			if i == from || (i-from)%2 != 0 {
				break
			}
			for k := from; k < i; k += 2 {
				decoded = append(decoded, byte(hexDigits[text[k]]<<4|hexDigits[text[k+1]]))
				if w.placed {
					at, ends = append(at, int32(k)), append(ends, int32(end-1))
				}
			}
			if strings.HasPrefix(text[i:end], column) {
				break
			}
			for i < end && text[i] == ' ' {
				i++
			}
		}
		start = end + 1
	}
	flush()
	return found
}

// addressed returns where the bytes of a line of a dump begin, and what separates them from their
// text; 0 if it is no such line. The line may have something before its address, such as a quote.
func addressed(line string, start int) (bytes int, column string) {
	const shortest = 6 // digits of an address
	for i, digits := start, 0; i+1 < len(line); i++ {
		if hexDigits[line[i]] >= 0 {
			digits++
			continue
		}
		switch {
		case digits < shortest:
		case line[i:i+2] == ": ": // of xxd
			return i + 2, "  "
		case line[i:i+2] == "  ": // of hexdump, with two blanks also in the middle
			return i + 2, "  |"
		}
		digits = 0
	}
	return 0, ""
}

// base64s undoes base64, the standard one and the one for URLs, wherever in a run of its characters
// it begins.
func base64s(r *Redactor, w *writer) bool {
	return runs(w, &sextets, (r.shortest*8+5)/6, func(digits []byte, at []int32) {
		for first := range 4 {
			decoded := make([]byte, 0, len(digits)*3/4+3)
			i := first
			for ; i+3 < len(digits); i += 4 {
				a, b, c, d := digits[i], digits[i+1], digits[i+2], digits[i+3]
				decoded = append(decoded, a<<2|b>>4, b<<4|c>>2, c<<6|d)
			}
			switch len(digits) - i { // digits after the last group of four
			case 3:
				decoded = append(decoded, digits[i]<<2|digits[i+1]>>4, digits[i+1]<<4|digits[i+2]>>2)
			case 2:
				decoded = append(decoded, digits[i]<<2|digits[i+1]>>4)
			}
			w.keep(r, decoded, func(i int) (from, to int32) {
				digit := first + i/3*4 + i%3
				return at[digit], at[digit+1]
			})
		}
	})
}

// keep writes the parts of decoded bytes that may be text, and a zero byte after each part: bytes
// that were decoded from the wrong place, or from text that was no encoding, are mostly not text.
// If a secret is not text, keep writes all bytes. places returns the places in the input of the
// first and the last character that a byte comes from; keep calls it only if places are needed.
func (w *writer) keep(r *Redactor, decoded []byte, places func(i int) (from, to int32)) {
	start := 0
	end := func(end int) {
		if end-start < r.shortest {
			return
		}
		w.out.Write(decoded[start:end])
		w.out.WriteByte(0)
		if !w.placed {
			return
		}
		for i := start; i <= end; i++ {
			from, to := places(min(i, end-1))
			at := w.in.source(int(from), int(to)+1)
			w.from, w.to = append(w.from, int32(at.start)), append(w.to, int32(at.end))
		}
	}
	for i := 0; i < len(decoded) && !r.binary; {
		c := decoded[i]
		if ' ' <= c && c < 0x7f {
			i++
			continue
		}
		size := 1
		if c >= utf8.RuneSelf {
			_, size = utf8.DecodeRune(decoded[i:])
		}
		if !isText(decoded[i : i+size]) {
			end(i)
			start = i + size
		}
		i += size
	}
	end(len(decoded))
}

// isText reports whether a character may be part of a text.
func isText(c []byte) bool {
	return len(c) > 1 || ' ' <= c[0] && c[0] < 0x7f || c[0] == '\n' || c[0] == '\r' || c[0] == '\t'
}

// runs calls decode with the values of the digits of each run that has at least this many, and with
// their places if these are needed. A run continues in the next line, even if that is indented.
func runs(w *writer, digits *[256]int8, least int, decode func(digits []byte, at []int32)) bool {
	text, found := w.in.text, false
	var said []byte
	var at []int32
	for i := 0; i <= len(text); i++ {
		if i < len(text) {
			if d := digits[text[i]]; d >= 0 {
				said = append(said, byte(d))
				if w.placed {
					at = append(at, int32(i))
				}
				continue
			}
			if len(said) > 0 && (text[i] == '\n' || text[i] == '\r') {
				for i+1 < len(text) && strings.IndexByte(" \t\r\n", text[i+1]) >= 0 {
					i++
				}
				continue
			}
		}
		if len(said) >= least {
			decode(said, at)
			found = true
		}
		said, at = said[:0], at[:0]
	}
	return found
}

// The values of the characters of base64 and of hexadecimal digits; -1 for other characters.
var (
	sextets   = valuesOf("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/", "-_", 62)
	hexDigits = valuesOf("0123456789abcdef", "ABCDEF", 10)
)

// separators has 1 for white space, 2 for the other characters that may stand between groups of
// hexadecimal digits, and 0 for the rest.
var separators = func() (kinds [256]byte) {
	for c := range utf8.RuneSelf {
		switch {
		case strings.ContainsRune(" \t\r\n", rune(c)):
			kinds[c] = 1
		case !unicode.IsLetter(rune(c)) && !unicode.IsDigit(rune(c)) || strings.ContainsRune("xXhH", rune(c)):
			kinds[c] = 2
		}
	}
	return kinds
}()

// valuesOf returns the values of digits: the index in digits, or from plus the index in others.
func valuesOf(digits, others string, from int8) (values [256]int8) {
	for i := range values {
		values[i] = -1
	}
	for i := range len(digits) {
		values[digits[i]] = int8(i)
	}
	for i := range len(others) {
		values[others[i]] = from + int8(i)
	}
	return values
}
