package secret_test

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"flag"
	"fmt"
	"html"
	"math/rand/v2"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/internal/effort"
	"github.com/plc-lang/plc/tool/internal/secret"
)

var encodingRuns = flag.Int("encodings", effort.Of(300, 2000), "how many random encodings of secrets are tried")

// lines breaks a text into lines of n bytes.
func lines(text, end string, n int) string {
	var out strings.Builder
	for i := 0; i < len(text); i += n {
		if i > 0 {
			out.WriteString(end)
		}
		out.WriteString(text[i:min(i+n, len(text))])
	}
	return out.String()
}

// An encoding is a way to write a text. what is random in it is drawn from rnd.
type encoding struct {
	name  string
	write func(rnd *rand.Rand, s string) string
}

func plainly(write func(string) string) func(*rand.Rand, string) string {
	return func(_ *rand.Rand, s string) string { return write(s) }
}

func quoted(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		panic(err)
	}
	return string(text)
}

// eachByte writes each byte in a form, of which some are in upper case.
func eachByte(format string) func(*rand.Rand, string) string {
	return func(rnd *rand.Rand, s string) string {
		var out strings.Builder
		for i := range len(s) {
			digits := fmt.Sprintf("%02x", s[i])
			if rnd.IntN(2) == 0 {
				digits = strings.ToUpper(digits)
			}
			out.WriteString(fmt.Sprintf(format, digits))
		}
		return out.String()
	}
}

// inGroups writes the bytes in hexadecimal, so many of them together.
func inGroups(bytes int) func(*rand.Rand, string) string {
	return func(rnd *rand.Rand, s string) string {
		between := []string{" ", ".", " | ", "\n0x", ", "}
		return lines(hex.EncodeToString([]byte(s)), between[rnd.IntN(len(between))], 2*bytes)
	}
}

// dump writes a text as xxd does, from somewhere in a line on.
func dump(rnd *rand.Rand, s string) string {
	var out strings.Builder
	bytes := "written: "[rnd.IntN(9):] + s
	for i := 0; i < len(bytes); i += 16 {
		line := bytes[i:min(i+16, len(bytes))]
		said := strings.Map(func(r rune) rune {
			if r < ' ' || r >= 0x7f {
				return '.'
			}
			return r
		}, line)
		fmt.Fprintf(&out, "\n%08x: %-39s  %s", i, lines(hex.EncodeToString([]byte(line)), " ", 4), said)
	}
	return out.String() + "\n"
}

// eachRune writes each character in one of these ways.
func eachRune(ways ...func(r rune) string) func(*rand.Rand, string) string {
	return func(rnd *rand.Rand, s string) string {
		var out strings.Builder
		for _, r := range s {
			out.WriteString(ways[rnd.IntN(len(ways))](r))
		}
		return out.String()
	}
}

func escapedInJSON(r rune) string {
	var out string
	for _, unit := range utf16.AppendRune(nil, r) {
		out += fmt.Sprintf(`\u%04X`, unit)
	}
	return out
}

// inBase64 writes a text in base64, as a part of something longer and over several lines or not.
func inBase64(rnd *rand.Rand, s string) string {
	all := []*base64.Encoding{base64.StdEncoding, base64.RawStdEncoding, base64.URLEncoding, base64.RawURLEncoding}
	text := all[rnd.IntN(len(all))].EncodeToString([]byte("user:"[rnd.IntN(6):] + s + " and more"[:rnd.IntN(10)]))
	if rnd.IntN(2) == 0 {
		ends := []string{"\n", "\r\n", "\n    ", "\r\n\t", "\r"}
		text = lines(text, ends[rnd.IntN(len(ends))], 4+rnd.IntN(73))
	}
	return text
}

var encodings = []encoding{
	{"as it is", plainly(func(s string) string { return s })},
	{"JSON", plainly(quoted)},
	{"JSON, / escaped", plainly(func(s string) string { return strings.ReplaceAll(quoted(s), "/", `\/`) })},
	{"JSON, all escaped", eachRune(escapedInJSON)},
	{"JSON, some escaped", eachRune(escapedInJSON, func(r rune) string {
		return strings.Trim(quoted(string(r)), `"`) + map[bool]string{true: `"`}[r == '"']
	})},
	{"Go", plainly(strconv.Quote)},
	{"ASCII", plainly(strconv.QuoteToASCII)},
	{"HTML", plainly(html.EscapeString)},
	{"HTML, by name", plainly(strings.NewReplacer("&", "&amp;", `"`, "&quot;", "<", "&lt;", ">", "&gt;", "'", "&apos;").Replace)},
	{"HTML, by number", eachRune(
		func(r rune) string { return fmt.Sprintf("&#%d;", r) }, func(r rune) string { return fmt.Sprintf("&#x%x;", r) },
		func(r rune) string { return fmt.Sprintf("&#X%05X;", r) })},
	{"HTML, by number and without semicolons", func(_ *rand.Rand, s string) string {
		var out strings.Builder
		for _, r := range s {
			fmt.Fprintf(&out, "&#%d", r)
		}
		return out.String()
	}},
	{"JavaScript", eachRune(func(r rune) string { return fmt.Sprintf(`\u{%x}`, r) }, func(r rune) string { return fmt.Sprintf(`\u{%06X}`, r) })},
	{"query", plainly(url.QueryEscape)},
	{"path", plainly(url.PathEscape)},
	{"each byte in a URL", eachByte("%%%s")},
	{"hexadecimal", eachByte("%s")},
	{"hexadecimal in lines", func(_ *rand.Rand, s string) string { return lines(hex.EncodeToString([]byte(s)), "\n  ", 8) }},
	{"hexadecimal with colons", eachByte(":%s")},
	{"hexadecimal as a dump", eachByte("%s ")},
	{"hexadecimal as a list", eachByte("0x%s,\n  ")},
	{"hexadecimal in a table", eachByte("|%s")},
	{"hexadecimal with slashes", eachByte("%s/")},
	{"hexadecimal with plus signs", eachByte("%s+")},
	{"hexadecimal of an assembler", eachByte("%sh ")},
	{"hexadecimal of Pascal", eachByte("$%s ")},
	{"hexadecimal without separators", eachByte("0x%s")},
	{"hexadecimal in braces", eachByte(`\x{%s}`)},
	{"hexadecimal in groups of 2", inGroups(2)},
	{"hexadecimal in groups of 4", inGroups(4)},
	{"hexadecimal in groups of 8", inGroups(8)},
	{"a dump", dump},
	{"a dump of hexdump", plainly(func(s string) string { return hex.Dump([]byte(s)) })},
	{"bytes of C", eachByte(`\x%s`)},
	{"base64", inBase64},
}

// randomSecret returns a secret, often with what encodings treat in their own ways.
func randomSecret(rnd *rand.Rand) string {
	letters := []rune(`abcXYZ0189"'<>&/\+=%;:#-_ u x41 \n%2F&amp;€é😀`)
	var out strings.Builder
	for range 8 + rnd.IntN(40) {
		out.WriteRune(letters[rnd.IntN(len(letters))])
	}
	return "k" + out.String() + "z"
}

// window is how many bytes of a secret that stand side by side may be left, in any encoding: those
// that other texts hold by chance.
const window = 4

// left returns a part of a secret of more than window bytes that a text still says in the encoding
// that it was written in, or as it is; "" is none. What stands around secrets has no part of theirs.
func left(rnd *rand.Rand, e encoding, s, text string) string {
	for i := 0; i+window < len(s); i++ {
		part := s[i : i+window+1]
		if !utf8.ValidString(part) || blank(part) {
			continue
		}
		if strings.Contains(text, part) || !strings.Contains(e.name, "base64") && strings.Contains(text, e.write(rnd, part)) {
			return part
		}
	}
	return ""
}

func blank(s string) bool { return strings.TrimSpace(s) == "" }

// Whatever two encodings of a secret there are around each other, nothing of it is left: neither
// all of it nor a part of more than a few bytes.
func TestEncodings(t *testing.T) {
	rnd := rand.New(rand.NewPCG(13, 3))
	for run := range *encodingRuns {
		s := randomSecret(rnd)
		inner, outer := encodings[run%len(encodings)], encodings[run/len(encodings)%len(encodings)]
		text := outer.write(rnd, inner.write(rnd, s))
		r := secret.New(s)
		got := r.Text("{ " + text + " }")
		if !strings.HasPrefix(got, "{ ") || !strings.HasSuffix(got, " }") || !strings.Contains(got, "•••") || len(got) > len(text)/2+40 {
			t.Fatalf("run %d, %s in %s: %q of %q, the secret %q", run, inner.name, outer.name, got, text, s)
		}
		value := r.Value(json.RawMessage(`{"a":[` + quoted(text) + `,1]}`))
		if !json.Valid(value) || !strings.Contains(string(value), "•••") {
			t.Fatalf("run %d, %s in %s: %s of %q, the secret %q", run, inner.name, outer.name, value, text, s)
		}
		for _, e := range []encoding{inner, outer} {
			for _, clean := range []string{got, gjson.GetBytes(value, "a.0").Str} {
				if part := left(rnd, e, s, clean); part != "" {
					t.Fatalf("run %d, %s in %s: %q is left in %q of %q, the secret %q", run, inner.name, outer.name, part, clean, text, s)
				}
			}
		}
	}
	t.Logf("%d encodings", *encodingRuns)
}

// What is quoted twice around another encoding is found as well.
func TestQuotedTwice(t *testing.T) {
	rnd := rand.New(rand.NewPCG(1, 2))
	for _, e := range encodings {
		text := quoted(quoted(e.write(rnd, hard)))
		if got := secret.New(hard).Text(text); !strings.Contains(got, "•••") {
			t.Errorf("%s: %q of %q", e.name, got, text)
		}
	}
}

// A secret is found where the pieces of a long text meet.
func TestLongText(t *testing.T) {
	r := secret.New(hard)
	text := base64.StdEncoding.EncodeToString([]byte(hard))
	for before := 1<<20 - 40; before < 1<<20+4; before += 3 {
		long := strings.Repeat(".", before) + lines(text, "\n", 5) + strings.Repeat(".", 4000)
		if got := r.Text(long); strings.Count(got, "•••") != 1 || len(got) > len(long)-20 {
			t.Fatalf("%d bytes before it: it is not found", before)
		}
	}
}

func BenchmarkText(b *testing.B) {
	secrets := []string{hard, "another-secret-that-is-longer"}
	for i := range 18 {
		secrets = append(secrets, fmt.Sprintf("%c%d-one-of-many-secrets", 'a'+i, i*i))
	}
	r := secret.New(secrets...)
	for name, text := range map[string]string{
		"prose":       strings.Repeat("a text that says nothing of note, in lines\n", 50_000),
		"base64":      base64.StdEncoding.EncodeToString([]byte(strings.Repeat("an image or so", 150_000))),
		"backslashes": strings.Repeat(`\\\\\"%25&amp;`, 150_000),
		"found":       strings.Repeat("a text that says "+base64.StdEncoding.EncodeToString([]byte(hard))+"\n", 40_000),
	} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				r.Text(text)
			}
		})
	}
}
