package driver

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/plc-lang/plc/tool"
)

func TestParams(t *testing.T) {
	p := ReadParams(json.RawMessage(`{"s": "a\u00e9\n", "n": 1e21, "big": 12345678901234567890, "b": false, "o": {"a": [1, 2]}, "z": null, "a\"b": 1}`))
	for name, want := range map[string]string{
		"s": "aé\n", "n": "1e21", "big": "12345678901234567890", "b": "false", "o": `{"a":[1,2]}`, `a"b`: "1",
	} {
		if got, ok := p.Text(name); !ok || got != want {
			t.Errorf("%s: %q, %v; want %q", name, got, ok, want)
		}
	}
	for _, name := range []string{"z", "nobody"} {
		if got, ok := p.Text(name); ok {
			t.Errorf("%s has the text %q", name, got)
		}
	}
	if raw, ok := p.Raw("z"); raw != "null" || !ok {
		t.Errorf("the raw z is %q, %v", raw, ok)
	}
	if _, ok := p.Raw("nobody"); ok {
		t.Error("a param that is not given has a value")
	}
	var order []string
	for name := range p.All() {
		order = append(order, name)
	}
	if got := strings.Join(order, " "); got != `s n big b o z a"b` {
		t.Errorf("in the order %s", got)
	}
	for range ReadParams(nil).All() {
		t.Error("no params have a param")
	}
}

func TestJSON(t *testing.T) {
	for output, want := range map[string]string{
		"":                      "",
		" \r\n\t":               "",
		"{\"a\": 1}\n":          `{"a": 1}`,
		"\ufeff[1]":             "[1]",
		"12345678901234567890 ": "12345678901234567890",
	} {
		if got, err := JSON(t.Context(), []byte(output)); err != nil || string(got) != want {
			t.Errorf("%q: %q, %v; want %q", output, got, err, want)
		}
	}
	for _, output := range []string{"oops", `{"a":1}{"b":2}`, `{"a":1,"a":2}`, "\"\xff\"", `{"a":tru}`, strings.Repeat("[", 5000)} {
		if got, err := JSON(t.Context(), []byte(output)); err == nil || len(err.Error()) > 2*shown+200 {
			t.Errorf("%.20q: %q, error %v", output, got, err)
		}
	}
}

func TestText(t *testing.T) {
	got, err := Text([]byte("a\"<\n†"))
	var back string
	if err != nil || json.Unmarshal(got, &back) != nil || back != "a\"<\n†" {
		t.Errorf("%s, %v", got, err)
	}
	if _, err := Text([]byte("caf\xe9")); err == nil || !strings.Contains(err.Error(), "byte 3 is 0xe9") {
		t.Errorf("Latin-1: %v", err)
	}
}

func TestPrintable(t *testing.T) {
	for text, want := range map[string]string{
		"plain\n":             "plain",
		"\x1b[31mred\x1b[0m":  "[31mred [0m",
		"a\r\nb\tc":           "a\nb\tc",
		"caf\xe9":             "caf\ufffd",
		"safe\u202egnp.exe":   "safe gnp.exe",
		"\x00\x07 x \u0085  ": "x",
	} {
		if got := Printable([]byte(text)); got != want {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	if got := Head([]byte("€€"), 4); got != "€\ufffd …" {
		t.Errorf("cut inside a character: %q", got)
	}
}

func TestStopped(t *testing.T) {
	why := errors.New("the user left")
	cancelled, cancel := context.WithCancelCause(t.Context())
	cancel(why)
	late, stop := context.WithDeadline(t.Context(), time.Unix(0, 0))
	defer stop()
	for _, c := range []struct {
		ctx  context.Context
		code string
		is   []error
	}{
		{cancelled, Cancelled, []error{context.Canceled, why}},
		{late, TimedOut, []error{context.DeadlineExceeded}},
	} {
		err := Stopped(c.ctx, true)
		var e *tool.Error
		if !errors.As(err, &e) || e.Code != c.code || !e.Uncertain || e.Permanent {
			t.Errorf("%+v, want %s", e, c.code)
		}
		for _, target := range c.is {
			if !errors.Is(err, target) {
				t.Errorf("%v is not %v", err, target)
			}
		}
	}
}

// A cut leaves the three bullets that stand for a secret together.
func TestHead(t *testing.T) {
	for _, c := range []struct {
		output string
		n      int
		want   string
	}{
		{"abc", 3, "abc"},
		{"abcd", 3, "abc …"},
		{"a•••b", 1, "a …"},
		{"a•••b", 4, "a••• …"},
		{"a•••b", 7, "a••• …"},
		{"a•••", 7, "a•••"},
		{"a••••••••", 4, "a••• …"},
	} {
		if got := Head([]byte(c.output), c.n); got != c.want {
			t.Errorf("Head(%q, %d) = %q, want %q", c.output, c.n, got, c.want)
		}
	}
}

func TestTail(t *testing.T) {
	for _, c := range []struct {
		output string
		n      int
		want   string
	}{
		{"abc", 3, "abc"},
		{"abc", 0, ""},
		{"abcd", 3, "bcd"},
		{"a€", 1, "€"},
		{"a•••b", 1, "b"},
		{"a•••b", 2, "•••b"},
		{"a•••b", 4, "•••b"},
		{"a•••b", 8, "•••b"},
		{"\x80\x80\x80\x80\x80\x80", 1, "\x80\x80\x80\x80\x80"},
	} {
		if got := string(Tail([]byte(c.output), c.n)); got != c.want {
			t.Errorf("Tail(%q, %d) = %q, want %q", c.output, c.n, got, c.want)
		}
	}
}
