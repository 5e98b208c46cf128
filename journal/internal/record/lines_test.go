package record

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/tool"
)

// fill gives a field a value that is not zero.
func fill(t *testing.T, v reflect.Value, text string) {
	t.Helper()
	switch v.Interface().(type) {
	case time.Time:
		v.Set(reflect.ValueOf(time.Date(2026, 11, 21, 12, 30, 1, 120_000_000, time.FixedZone("", 3600))))
		return
	case json.RawMessage:
		v.Set(reflect.ValueOf(json.RawMessage(" { \"a\" : [ 1.0, \"<†>\" ] } ")))
		return
	case *tool.Usage:
		v.Set(reflect.ValueOf(&tool.Usage{Tokens: 3, Input: 2, Output: 1, Cost: 0.125}))
		return
	case *tool.Progress:
		v.Set(reflect.ValueOf(&tool.Progress{Message: text}))
		return
	case *exec.Answer:
		v.Set(reflect.ValueOf(&exec.Answer{Approved: true, Reason: text, Params: json.RawMessage(`{"n": 1}`)}))
		return
	case *exec.Terms:
		v.Set(reflect.ValueOf(&exec.Terms{Tool: text, Target: text, Retries: 2, Params: json.RawMessage(`{"n": 1}`), Fallback: &exec.Terms{Tool: text}}))
		return
	case *exec.Intent:
		v.Set(reflect.ValueOf(&exec.Intent{Repeatable: true, Params: json.RawMessage(`{"n": 1}`), Undo: &tool.Undo{Tool: text}}))
		return
	case *exec.Failure:
		v.Set(reflect.ValueOf(&exec.Failure{Code: text, Message: text}))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(text)
	case reflect.Int, reflect.Int64:
		v.SetInt(-7)
	case reflect.Bool:
		v.SetBool(true)
	default:
		t.Fatalf("what is a value of %s?", v.Type())
	}
}

// checkLine compares the line of an event with what package json makes of it.
func checkLine(t *testing.T, e *exec.Event) {
	t.Helper()
	want, wantErr := Encode(e)
	l := Lines("before")
	err := l.Add(e)
	if (err != nil) != (wantErr != nil) {
		t.Fatalf("%+v: %v, want %v", e, err, wantErr)
	}
	if err == nil {
		want = "\n" + want
	}
	if got := strings.TrimPrefix(string(l), "before"); got != want {
		t.Errorf("\n%s, want\n%s", got, want)
	}
}

// A line has each field of an event, as its tag says, alone and with all others.
func TestLines(t *testing.T) {
	var none exec.Event
	checkLine(t, &none)
	for _, text := range []string{"call12", "größe \u2028 <b> \"q\" \\ \n \x00 \x7f", "\xff"} {
		var all exec.Event
		for i := range reflect.TypeFor[exec.Event]().NumField() {
			var one exec.Event
			fill(t, reflect.ValueOf(&one).Elem().Field(i), text)
			fill(t, reflect.ValueOf(&all).Elem().Field(i), text)
			checkLine(t, &one)
		}
		checkLine(t, &all)
	}
	for _, e := range []*exec.Event{
		{Value: json.RawMessage(`{"a":`)}, {Value: json.RawMessage(`1 2`)}, {Value: json.RawMessage{}},
		{Time: time.Date(10_000, 1, 1, 0, 0, 0, 0, time.UTC)},
		{Answer: &exec.Answer{Params: json.RawMessage(`{`)}},
	} {
		checkLine(t, e)
	}
}

func FuzzLines(f *testing.F) {
	f.Add("run1", "call12", "no <way>", []byte(`{"a": "†"}`), int64(1), 2)
	f.Add("\u2029", "\xff", "\"\\", []byte(`1 2`), int64(-1), 0)
	f.Fuzz(func(t *testing.T, run, call, reason string, value []byte, nanos int64, attempt int) {
		checkLine(t, &exec.Event{
			Type: exec.CallReturned, Time: time.Unix(0, nanos).UTC(), Run: run, Call: call, Value: value, Attempt: attempt,
			Error: &exec.Failure{Code: call, Message: reason}, Reason: reason,
		})
	})
}

// usual is an event as most are.
func usual() *exec.Event {
	return &exec.Event{
		Type: exec.CallReturned, Call: "call12", Value: []byte(`{"city":"Rome","zip":"00100"}`),
		Time: time.Date(2026, 11, 21, 12, 0, 0, 0, time.UTC), Run: "run1", Tool: "node", Attempt: 1, Content: strings.Repeat("a", 64),
	}
}

func TestAllocationsOfLines(t *testing.T) {
	e, l := usual(), make(Lines, 0, 1024)
	if n := testing.AllocsPerRun(100, func() {
		l = l[:0]
		if err := l.Add(e); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkLines(b *testing.B) {
	e := usual()
	var l Lines
	b.ReportAllocs()
	for b.Loop() {
		l = l[:0]
		if err := l.Add(e); err != nil {
			b.Fatal(err)
		}
	}
}
