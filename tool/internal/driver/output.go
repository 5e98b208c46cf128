package driver

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/internal/jsonscan"
)

// shown is the maximum number of bytes of an unusable output that its error quotes.
const shown = 200

// JSON returns an output as a value: it must be exactly one JSON text; an empty output is null.
// Neither the value nor the error, which quotes the beginning of the output, contains a secret that
// the redactor of ctx knows.
func JSON(ctx context.Context, output []byte) (json.RawMessage, error) {
	output = bytes.TrimPrefix(output, []byte("\ufeff"))
	output = bytes.Trim(output, " \t\r\n")
	if len(output) == 0 {
		return nil, nil
	}
	output = CleanJSON(ctx, output)
	if err := jsonscan.Check(output, jsonscan.Limits{MaxBytes: len(output)}); err != nil {
		return nil, fmt.Errorf("the output is not usable JSON: %w; it begins with %q", err, Head(Clean(ctx, output), shown))
	}
	return output, nil
}

// Text returns an output as a JSON string. It returns an error if the output is not UTF-8, and
// never repairs it silently.
func Text(output []byte) (json.RawMessage, error) {
	if err := CheckText(output); err != nil {
		return nil, err
	}
	return gjson.AppendJSONString(nil, string(output)), nil
}

// CheckText returns an error if an output is not UTF-8.
func CheckText(output []byte) error {
	if utf8.Valid(output) {
		return nil
	}
	at := 0
	for at < len(output) {
		r, n := utf8.DecodeRune(output[at:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		at += n
	}
	return fmt.Errorf("the output is not UTF-8 text (byte %d is 0x%02x)", at, output[at])
}

// bullet is the character that replaces, three times, a secret.
const bullet = "•"

// Head returns the beginning of an output, safe to show: at most n bytes, or a little more to
// complete the bullets of a secret.
func Head(output []byte, n int) string {
	if len(output) <= n {
		return Printable(output)
	}
	cut := output[n:]
	for range 2 {
		if bytes.HasSuffix(output[:n], []byte(bullet)) && bytes.HasPrefix(cut, []byte(bullet)) {
			n += len(bullet)
			cut = output[n:]
		}
	}
	if len(cut) == 0 {
		return Printable(output)
	}
	return Printable(output[:n]) + " …"
}

// Tail returns the last n bytes of an output, or a little more to complete its first character or
// the bullets of a secret.
func Tail(output []byte, n int) []byte {
	start := max(0, len(output)-n)
	for start > 0 && start < len(output) && !utf8.RuneStart(output[start]) && len(output)-start < n+utf8.UTFMax {
		start--
	}
	for range 2 {
		if bytes.HasSuffix(output[:start], []byte(bullet)) && bytes.HasPrefix(output[start:], []byte(bullet)) {
			start -= len(bullet)
		}
	}
	return output[start:]
}

// Printable returns text that is safe on a terminal and in a log: UTF-8 without characters that
// change the direction of text, and without control characters other than line ends and tabs.
func Printable(output []byte) string {
	clean := strings.Map(func(r rune) rune {
		switch {
		case r == '\n' || r == '\t':
			return r
		case r == '\r':
			return -1
		case unicode.IsControl(r), unicode.Is(unicode.Bidi_Control, r):
			return ' '
		}
		return r
	}, strings.ToValidUTF8(string(output), "\ufffd"))
	return strings.TrimSpace(clean)
}
