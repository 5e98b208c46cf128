package tea

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"
	"time"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/internal/python"
	"github.com/plc-lang/plc/loop"
)

// Object is a JSON object that preserves the order of its members and the spelling of their values.
type Object = loop.Object

// Float is a number formatted like a Python float: 1.0, not 1.
type Float float64

// MarshalJSON returns the number, always with a fraction or an exponent.
func (f Float) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(f)) || math.IsInf(float64(f), 0) {
		return nil, errors.New("a number that is not finite is no JSON")
	}
	b := strconv.AppendFloat(nil, float64(f), 'f', -1, 64)
	if !bytes.ContainsRune(b, '.') {
		b = append(b, ".0"...)
	}
	return b, nil
}

// epoch returns a time in seconds since 1970, to the microsecond.
func epoch(t time.Time) Float { return Float(float64(t.UnixMicro()) / 1e6) }

// fields are the members of an object by their exact names.
type fields map[string]json.RawMessage

// fieldsOf returns the members of a JSON object; it returns false if text isn't one.
func fieldsOf(text json.RawMessage) (fields, bool) {
	var f fields
	if !isKind(text, '{') || json.Unmarshal(text, &f) != nil {
		return nil, false
	}
	return f, true
}

// has reports whether there is a member of this name that is not null.
func (f fields) has(name string) bool { return len(f[name]) > 0 && string(f[name]) != "null" }

// isKind reports whether a JSON text begins with the given byte, which tells the kind of value.
func isKind(text json.RawMessage, first byte) bool {
	text = bytes.TrimLeft(text, " \t\r\n")
	return len(text) > 0 && text[0] == first
}

// wordOf returns a string, or a number as written; it returns false for other values.
func wordOf(v json.RawMessage) (string, bool) {
	var s string
	if json.Unmarshal(v, &s) == nil && isKind(v, '"') {
		return s, true
	}
	var n json.Number
	if json.Unmarshal(v, &n) == nil && string(v) != "null" {
		return n.String(), true
	}
	return "", false
}

var fence = regexp.MustCompile("(?s)```(?:json)?\\s*(.*?)```")

// answerIn returns the JSON in a model's answer: the whole text, or else its first fenced block, or
// else the part from the first { to the last }.
func answerIn(text string) (json.RawMessage, error) {
	if text == "" {
		return nil, message("Empty response from LLM")
	}
	tries := []string{text}
	if m := fence.FindStringSubmatch(text); m != nil {
		tries = append(tries, m[1])
	}
	if from, to := strings.IndexByte(text, '{'), strings.LastIndexByte(text, '}'); from >= 0 && from < to {
		tries = append(tries, text[from:to+1])
	}
	for _, t := range tries {
		if v, err := jsonscan.Compacting([]byte(strings.TrimSpace(t)), jsonscan.Limits{}); err == nil {
			return v, nil
		}
	}
	return nil, message("Could not parse JSON from response: " + python.First(text, 200) + "...")
}

// message is an error worded as in The Edge Agent.
type message string

func (m message) Error() string { return string(m) }

func messagef(format string, args ...any) message { return message(fmt.Sprintf(format, args...)) }
