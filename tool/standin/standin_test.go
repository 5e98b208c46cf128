package standin

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plc-lang/plc/tool"
)

func TestWhatItReturns(t *testing.T) {
	each := map[string]json.RawMessage{"second": json.RawMessage(`2`)}
	tests := []struct {
		about  string
		config Config
		call   string
		want   string
	}{
		{"a value", Config{Return: json.RawMessage(`{"ok":true}`)}, "first", `{"ok":true}`},
		{"nothing is null", Config{}, "first", ``},
		{"a value by call", Config{ReturnEach: each, Return: json.RawMessage(`1`)}, "second", `2`},
		{"the value of all others", Config{ReturnEach: each, Return: json.RawMessage(`1`)}, "first", `1`},
		{"the params of all others", Config{ReturnEach: each, Echo: true}, "first", `{"a":1}`},
		{"its params", Config{Echo: true}, "first", `{"a":1}`},
	}
	for _, c := range tests {
		a, err := New(c.config)
		if err != nil {
			t.Fatal(err)
		}
		res, err := a.Call(t.Context(), &tool.Request{Call: c.call, Params: json.RawMessage(`{"a":1}`), Attempt: 1})
		if err != nil || string(res.Value) != c.want {
			t.Errorf("%s: %s, %v, want %s", c.about, res.Value, err, c.want)
		}
	}
}

func TestWhenItFails(t *testing.T) {
	busy := &tool.Error{Code: "busy", Message: "try again", Permanent: true, Uncertain: true, RetryAfter: time.Second}
	tests := []struct {
		about  string
		config Config
		codes  []string // of the attempts 1, 2, 3; "" is none
	}{
		{"always", Config{Fail: busy, Return: json.RawMessage(`1`)}, []string{"busy", "busy", "busy"}},
		{"the first attempts", Config{Fail: busy, FailTimes: 2}, []string{"busy", "busy", ""}},
		{"the first attempt, with no error given", Config{FailTimes: 1}, []string{"stand-in", "", ""}},
		{"never", Config{}, []string{"", "", ""}},
	}
	for _, c := range tests {
		a, err := New(c.config)
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range []string{"one", "two"} { // each call has attempts of its own
			for i, want := range c.codes {
				_, err := a.Call(t.Context(), &tool.Request{Call: call, Attempt: i + 1})
				var e *tool.Error
				switch {
				case want == "" && err != nil, want != "" && !errors.As(err, &e), e != nil && e.Code != want:
					t.Errorf("%s: attempt %d of %s: %v, want %q", c.about, i+1, call, err, want)
				case want == "busy" && *e != *busy:
					t.Errorf("%s: %+v", c.about, e)
				}
			}
		}
	}
}

func TestHowLongItTakes(t *testing.T) {
	took := func(c Config, req tool.Request) (d time.Duration) {
		synctest.Test(t, func(t *testing.T) {
			a, err := New(c)
			if err != nil {
				t.Fatal(err)
			}
			start := time.Now()
			_, _ = a.Call(t.Context(), &req)
			d = time.Since(start)
		})
		return d
	}
	if d := took(Config{After: 2 * time.Second}, tool.Request{}); d != 2*time.Second {
		t.Errorf("after 2s it took %s", d)
	}
	if d := took(Config{After: time.Second, Fail: &tool.Error{}}, tool.Request{}); d != time.Second {
		t.Errorf("a failure after 1s took %s", d)
	}
	jitter := Config{After: time.Second, Jitter: time.Second}
	drawn := map[time.Duration]bool{}
	for seed := range uint64(50) {
		first := took(jitter, tool.Request{Seed: seed, Attempt: 1})
		if again := took(jitter, tool.Request{Seed: seed, Attempt: 1}); again != first {
			t.Errorf("seed %d: %s, then %s", seed, first, again)
		}
		if first < time.Second || first > 2*time.Second {
			t.Errorf("1s with a jitter of 1s took %s", first)
		}
		drawn[first] = true
	}
	if len(drawn) < 25 {
		t.Errorf("50 seeds draw only %d delays", len(drawn))
	}
}

func TestCancelledAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a, err := New(Config{After: time.Hour, Return: json.RawMessage(`1`)})
		if err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		start := time.Now()
		if _, err := a.Call(ctx, &tool.Request{}); !errors.Is(err, context.DeadlineExceeded) || time.Since(start) != time.Second {
			t.Errorf("%v after %s", err, time.Since(start))
		}
	})
	a, _ := New(Config{Return: json.RawMessage(`1`)})
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := a.Call(ctx, &tool.Request{}); !errors.Is(err, context.Canceled) {
		t.Errorf("a call that is over before it began: %v", err)
	}
}

func TestBadConfigs(t *testing.T) {
	for text, c := range map[string]Config{
		"return, echo":       {Return: json.RawMessage(`1`), Echo: true},
		"echo and sample":    {Sample: true, Echo: true},
		"after is -1s":       {After: -time.Second},
		"jitter is -1s":      {Jitter: -time.Second},
		"failTimes is -1, l": {FailTimes: -1},
	} {
		if _, err := New(c); err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%+v: %v, want %q", c, err, text)
		}
	}
}
