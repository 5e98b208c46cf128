package exec_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/plc-lang/plc/exec"
)

// What the command line promises of a call is always there; it comes back as it was.
func TestCallResultJSON(t *testing.T) {
	at := time.Date(2026, 1, 2, 3, 4, 5, 6000, time.UTC)
	for want, c := range map[string]exec.CallResult{
		`{"id":"a","tool":"t","status":"pending","handled":false,"attempts":0,` +
			`"outcome":null,"error":null,"reason":null,"startedAt":null,"endedAt":null}`: {ID: "a", Tool: "t", Status: exec.Pending},
		`{"id":"a","tool":"t","status":"failed","handled":true,"attempts":2,"outcome":"†state.x && †state.y",` +
			`"error":{"code":"c","message":"<m>"},"reason":"r","startedAt":"2026-01-02T03:04:05.000006Z","endedAt":"2026-01-02T03:04:05.000006Z"}`: {
			ID: "a", Tool: "t", Status: exec.Failed, Handled: true, Attempts: 2, Outcome: "†state.x && †state.y",
			Error: &exec.Failure{Code: "c", Message: "<m>"}, Reason: "r", StartedAt: &at, EndedAt: &at,
		},
	} {
		got, err := c.MarshalJSON()
		if err != nil || string(got) != want {
			t.Errorf("%s, %v, want\n%s", got, err, want)
		}
		var back exec.CallResult
		if err := json.Unmarshal(got, &back); err != nil || !reflect.DeepEqual(back, c) {
			t.Errorf("%+v, %v, want %+v", back, err, c)
		}
	}
}
