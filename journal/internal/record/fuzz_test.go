package record

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/plc-lang/plc/exec"
)

// Whatever the events of a run are, in whatever order: they are kept as they are, the past and the
// row of the run come of them without a panic, and the counts are those of a run.
func FuzzEvents(f *testing.F) {
	f.Add(`{"type":"runStarted"}
{"type":"callStarted","call":"a","attempt":1,"key":"k"}
{"type":"callReturned","call":"a","value":{"n":1.0}}
{"type":"callCompleted","call":"a","status":"completed"}`)
	f.Add(`{"type":"approvalAsked","call":"a","digest":"d","question":"approval"}
{"type":"approvalAnswered","call":"a","answer":{"approved":true}}
{"type":"callFailed","call":"a","status":"failed","error":{"code":"x","message":"y"}}
{"type":"runFinished","status":"failed"}`)
	f.Add(`{"type":"callCompleted","call":"a","status":"completed"}
{"type":"callCompleted","call":"a","status":"","instance":"①"}
{"type":"callSkipped","call":"","time":"9999-12-31T23:59:59Z"}
{"type":"nobody knows","call":"a","content":"c"}`)
	f.Fuzz(func(t *testing.T, lines string) {
		r := &Held{}
		(&Queue{}).Hold(r, 1, "r")
		p := NewPart(r)
		known := Past{}
		n := 0
		for line := range strings.Lines(lines) {
			e := &exec.Event{}
			if json.Unmarshal([]byte(line), e) != nil {
				continue
			}
			p.Add(e, int64(n+1))
			if p.err != nil {
				t.Fatalf("%s: %v", line, p.err)
			}
			n++
		}
		next := int64(1)
		for _, row := range p.Rows {
			for _, entry := range Entries(row.ID, p.Lines[row.Start:row.End]) {
				back, err := entry.Event()
				if err != nil || entry.Seq != next {
					t.Fatalf("%d is read back as %d: %s: %v", next, entry.Seq, entry.Body, err)
				}
				next++
				known.Add(next-1, back)
			}
		}
		if next != int64(n+1) {
			t.Fatalf("%d of %d events are read back", next-1, n)
		}
		calls := map[exec.Status]int{}
		if err := json.Unmarshal([]byte(SummaryOf(r.Tally).Calls), &calls); err != nil {
			t.Fatal(err)
		}
		for status, count := range calls {
			if count < 0 || count > n {
				t.Errorf("%d events, and %d calls %s", n, count, status)
			}
		}
	})
}
