// Package secret removes secrets from the output of programs and servers: they may quote the
// secrets that they got, and their output goes into records, to models and to people.
//
//	r := secret.New(token)
//	message = r.Message(message)
//
// A secret is found as it is and in the usual encodings: in JSON, in a URL, in HTML, in hexadecimal
// and in base64, also over several lines and as a part of something longer, such as a name and a
// password; and in up to three nested encodings. It is not found if it was changed on purpose.
package secret

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/tool/internal/driver"
)

const (
	least        = 4               // bytes; shorter texts occur everywhere and are not treated as secrets
	leastEncoded = 6               // the same for its encoded forms
	leastLine    = 8               // the same for a line of a secret with several lines
	redacted     = "•••"           // what stands for a secret
	quotation    = "it had said: " // where a quotation begins that does not begin the message
)

// Redactor knows some secrets. Nil knows none, and changes nothing. It may be used by
// several goroutines at once.
type Redactor struct {
	forms    []string // of the secrets, the longest first
	folded   []string // the same in lower case
	written  *finder  // of forms
	plain    []string // the secrets without any encoding
	finder   *finder  // of plain
	shortest int      // the length of the shortest of plain
	overlap  int      // of neighbouring pieces of a long text
	spaces   bool     // one of plain has a space
	binary   bool     // one of plain is not text
}

// New returns a redactor of these secrets; nil if none of them is long enough.
func New(secrets ...string) *Redactor {
	var forms, plain []string
	for _, s := range secrets {
		for _, part := range partsOf(s) {
			if len(part) >= least {
				forms = append(forms, formsOf(part)...)
				plain = append(plain, part, driver.Printable([]byte(part)))
			}
		}
	}
	plain = slices.DeleteFunc(plain, func(s string) bool { return len(s) < least || strings.TrimSpace(s) == "" })
	slices.Sort(plain)
	plain = slices.Compact(plain)
	forms = slices.DeleteFunc(forms, func(form string) bool { return len(form) < least }) // some forms leave out unprintable bytes
	if len(forms) == 0 {
		return nil
	}
	slices.SortFunc(forms, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	forms = slices.Compact(forms)
	r := &Redactor{forms: forms, written: newFinder(forms), plain: plain, finder: newFinder(plain)}
	for _, form := range forms {
		r.folded = append(r.folded, strings.ToLower(form))
	}
	for i, s := range plain {
		if i == 0 || len(s) < r.shortest {
			r.shortest = len(s)
		}
		r.overlap = max(r.overlap, grown*len(s))
		for _, c := range s {
			r.binary = r.binary || c == utf8.RuneError || !isText([]byte(string(c)))
		}
		r.spaces = r.spaces || strings.Contains(s, " ")
	}
	return r
}

// partsOf returns a secret and the parts of it that are secret by themselves: the credential of a
// header, the password in it, the lines of a key.
func partsOf(s string) []string {
	parts := []string{s}
	scheme, credential, _ := strings.Cut(s, " ")
	switch strings.ToLower(scheme) {
	case "basic":
		parts = append(parts, credential)
		if pair, err := base64.StdEncoding.DecodeString(strings.TrimSpace(credential)); err == nil {
			_, password, _ := strings.Cut(string(pair), ":")
			parts = append(parts, string(pair), password)
		}
	case "bearer", "token", "apikey":
		parts = append(parts, strings.TrimSpace(credential))
	}
	if strings.Contains(s, "\n") {
		for line := range strings.Lines(s) {
			if line = strings.TrimSpace(line); len(line) >= leastLine {
				parts = append(parts, line)
			}
		}
	}
	return parts
}

// formsOf returns the ways in which a text is written: as it is, in JSON, quoted by us, in HTML,
// in a URL, in base64 and in hexadecimal.
func formsOf(s string) []string {
	web, _ := json.Marshal(s) // with < as \u003c
	forms := []string{s, driver.Printable([]byte(s)), unquoted(quote(s)), unquoted(string(web))}
	for _, form := range forms {
		forms = append(forms, unquoted(strconv.Quote(form)), unquoted(strconv.QuoteToASCII(form)))
	}
	forms = append(forms, html.EscapeString(s))
	for _, form := range append(encodings(s), url.QueryEscape(s), url.PathEscape(s)) {
		if len(form) >= leastEncoded {
			forms = append(forms, form, url.QueryEscape(form), lowerEscapes(form))
		}
	}
	return forms
}

// quote returns a text as JSON without escaping <, > and &.
func quote(s string) string { return string(jsonscan.Encode(s)) }

// unquoted returns a text without its first and last byte.
func unquoted(s string) string { return s[1 : len(s)-1] }

// lowerEscapes returns a text with %2F as %2f.
func lowerEscapes(s string) string {
	return regexp.MustCompile(`%[0-9A-F]{2}`).ReplaceAllStringFunc(s, strings.ToLower)
}

// encodings returns a text in hexadecimal, and in base64 for each offset at which it may begin in a
// longer text, without the characters that also encode bytes before or after it.
func encodings(s string) []string {
	all := []string{hex.EncodeToString([]byte(s)), strings.ToUpper(hex.EncodeToString([]byte(s)))}
	for _, e := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		all = append(all, e.EncodeToString([]byte(s)))
		for before := range 3 {
			text := e.EncodeToString(append(make([]byte, before), s...))
			begin, end := (before*8+5)/6, (before+len(s))*8/6
			if begin < end {
				all = append(all, text[begin:end])
			}
		}
	}
	return all
}

// Text returns a text without secrets. Overlapping secrets are removed completely.
func (r *Redactor) Text(s string) string {
	if r == nil || !r.written.any(s) && !r.hides(s) {
		return s
	}
	return without(s, r.spans(s))
}

// Folded returns a text without secrets, even if letters have changed their case, as in names of
// headers.
func (r *Redactor) Folded(s string) string {
	if r == nil {
		return s
	}
	s = r.Text(s)
	lower := strings.ToLower(s)
	if len(lower) != len(s) {
		return s
	}
	var all []span
	for _, form := range r.folded {
		all = appendSpans(all, lower, form)
	}
	return without(s, merged(all))
}

// without returns a text with some of its parts redacted.
func without(s string, parts []span) string {
	var clean strings.Builder
	done := 0
	for _, at := range parts {
		clean.WriteString(s[done:at.start])
		clean.WriteString(redacted)
		done = at.end
	}
	clean.WriteString(s[done:])
	return clean.String()
}

// hides reports whether a text contains a secret after its encodings are undone.
func (r *Redactor) hides(s string) bool {
	return !r.search(s, false, func(span) bool { return false })
}

// span is the place of a secret in a text.
type span struct{ start, end int }

// spans returns the places of secrets in a text, in order; overlapping ones are joined.
func (r *Redactor) spans(s string) []span {
	var all []span
	for _, form := range r.forms {
		all = appendSpans(all, s, form)
	}
	r.search(s, true, func(at span) bool {
		if last := len(all) - 1; last >= 0 && all[last].start <= at.start && at.start < all[last].end {
			all[last].end = max(all[last].end, at.end)
		} else {
			all = append(all, at)
		}
		return true
	})
	return merged(all)
}

// merged returns spans in order; overlapping ones are joined.
func merged(all []span) []span {
	slices.SortFunc(all, func(a, b span) int { return cmp.Or(a.start-b.start, a.end-b.end) })
	merged := all[:0]
	for _, at := range all {
		if last := len(merged) - 1; last >= 0 && at.start < merged[last].end {
			merged[last].end = max(merged[last].end, at.end)
			continue
		}
		merged = append(merged, at)
	}
	return merged
}

// appendSpans appends the places of a form in a text, including places that overlap.
func appendSpans(all []span, s, form string) []span {
	first := len(all)
	for from := 0; ; {
		i := strings.Index(s[from:], form)
		if i < 0 {
			return all
		}
		at := span{from + i, from + i + len(form)}
		from = at.start + 1
		if last := len(all) - 1; last >= first && at.start < all[last].end {
			all[last].end = at.end
			continue
		}
		all = append(all, at)
	}
}

// Value returns a JSON value without secrets, however its strings are escaped. A number that is or
// contains a secret becomes a string, and names of an object that become equal are numbered. If the
// value is not JSON, it is treated as a text. Value does not modify its argument. It costs one
// pass, and one more if names were changed.
func (r *Redactor) Value(value json.RawMessage) json.RawMessage {
	if r == nil || len(value) == 0 {
		return value
	}
	clean, names := r.value(value, false)
	if names == 0 || jsonscan.Check(clean, jsonscan.Limits{}) == nil {
		return clean
	}
	if jsonscan.Check(value, jsonscan.Limits{MaxBytes: len(value)}) != nil {
		return clean // names that were equal before stay equal
	}
	if clean, _ = r.value(value, true); jsonscan.Check(clean, jsonscan.Limits{MaxBytes: len(clean)}) != nil {
		return json.RawMessage(`"` + redacted + `"`)
	}
	return clean
}

// value does what Value does, and numbers changed names if number is true; names is the number of
// changed names.
func (r *Redactor) value(value json.RawMessage, number bool) (_ json.RawMessage, names int) {
	text := string(value)
	var clean []byte // the redacted beginning of value; nil while nothing has changed
	done := 0
	lexer := jsonscan.Lexer{Text: value}
	for kind := lexer.Next(); kind != jsonscan.EOF; kind = lexer.Next() {
		if lexer.Err != nil {
			return json.RawMessage(r.Text(text)), 0
		}
		if kind != jsonscan.String && kind != jsonscan.Number {
			continue
		}
		token := text[lexer.Start:lexer.Pos]
		better := r.token(token, lexer.Escaped)
		if better == token {
			continue
		}
		if strings.HasPrefix(strings.TrimLeft(text[lexer.Pos:], " \t\r\n"), ":") {
			if names++; number {
				better = better[:len(better)-1] + " " + strconv.Itoa(names) + `"`
			}
		}
		clean = append(append(clean, text[done:lexer.Start]...), better...)
		done = lexer.Pos
	}
	if clean == nil {
		return value, 0
	}
	return append(clean, text[done:]...), names
}

// token returns a string or a number of JSON without secrets.
func (r *Redactor) token(token string, escaped bool) string {
	switch {
	case token[0] != '"' && r.saysNumber(token):
		return `"` + redacted + `"`
	case token[0] != '"':
		return token
	case !escaped:
		if said := unquoted(token); r.Text(said) != said {
			return `"` + r.Text(said) + `"`
		}
		return token
	}
	said := string(jsonscan.AppendString(nil, []byte(unquoted(token))))
	if clean := r.Text(said); clean != said {
		return quote(clean)
	}
	return token
}

// saysNumber reports whether a number is a secret, or contains one that is too long to occur in
// numbers by chance.
func (r *Redactor) saysNumber(number string) bool {
	return r.written.any(number) && slices.ContainsFunc(r.forms, func(form string) bool {
		return number == form || len(form) >= leastEncoded && strings.Contains(number, form)
	})
}

// Message returns a message without secrets. It also finds a secret that is cut off at the
// beginning or the end of a quotation.
func (r *Redactor) Message(s string) string {
	if r == nil {
		return s
	}
	return r.cutEnd(r.cutStart(r.Text(s)))
}

// cutStart redacts the end of a secret at the beginning of a quotation.
func (r *Redactor) cutStart(message string) string {
	start := 0
	if i := strings.Index(message, quotation); i >= 0 {
		start = i + len(quotation)
	}
	said, n := message[start:], 0
	for _, form := range r.forms {
		for k := min(len(form)-1, len(said)); k >= least && k > n; k-- {
			if strings.HasPrefix(said, form[len(form)-k:]) {
				n = k
			}
		}
	}
	if n == 0 {
		return message
	}
	return message[:start] + redacted + said[n:]
}

// cutEnd redacts the beginning of a secret at the end of a quotation.
func (r *Redactor) cutEnd(message string) string {
	said, n := strings.TrimRight(message, ` …"`), 0
	for _, form := range r.forms {
		for k := min(len(form)-1, len(said)); k >= least && k > n; k-- {
			if strings.HasSuffix(said, form[:k]) {
				n = k
			}
		}
	}
	if n == 0 {
		return message
	}
	return said[:len(said)-n] + redacted + message[len(said):]
}
