package plantest_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/plc-lang/plc/exec/plantest"
)

// pays returns calls with params of so many bytes.
func pays(n, bytes int) string {
	calls := make([]string, n)
	for i := range calls {
		calls[i] = fmt.Sprintf(`{"_tool": "pay", "_id": "p%d", "v": %q}`, i, strings.Repeat("x", bytes))
	}
	return strings.Join(calls, ",")
}

// anyParams are tools that take any params.
const anyParams = `{"pay": {"effects": {"readOnly": false}}}`

// A run that puts together too much has an error, and a brief one keeps none of it.
func TestBytesOfARun(t *testing.T) {
	prog := program("["+pays(30, 100<<10)+"]", anyParams)
	o := &plantest.Options{World: world(), MaxBytes: 1 << 20}
	if out, err := plantest.Run(prog, o); err == nil || out != nil || !strings.Contains(err.Error(), "more than 1 MiB of params and results") {
		t.Errorf("%v", err)
	}
	o.MaxBytes, o.Brief = 0, true
	out, err := plantest.Run(prog, o)
	if err != nil || len(out.Effects) != 30 || len(out.Attempts) > 0 || out.Effects[0].Params != nil || !out.Effects[29].Stands {
		t.Errorf("%v", err)
	}
}

// What is kept of runs with faults has a bound; all runs are counted.
func TestRunsThatAreKept(t *testing.T) {
	prog := program("["+pays(20, 100<<10)+"]", anyParams)
	x, err := plantest.Explore(prog, &plantest.Options{World: world()}, &plantest.Exploration{Samples: 3})
	if err != nil {
		t.Fatal(err)
	}
	bytes := 0
	for _, f := range x.Single {
		for _, e := range f.Outcome.Effects {
			bytes += len(e.Params)
		}
		if f.Outcome.Attempts != nil || f.Outcome.Calls != nil {
			t.Errorf("%v: its attempts or calls are kept", f.Faults)
		}
	}
	if single := len(x.Single) + x.MoreSingle; bytes > 64<<20 || bytes < 60<<20 || x.Runs != single+3 || x.MoreSingle == 0 {
		t.Errorf("%d runs, %d with one fault, of which %d are kept with %d MiB", x.Runs, single, len(x.Single), bytes>>20)
	}
}

// A run is stopped also where it makes no attempt.
func TestStopWithoutAttempts(t *testing.T) {
	prog := program(`[{"_tool": "choose", "value": 1, "when": {"a": "value == 1"}, "_outputPath": "†state.a || †state.b"}]`, anyParams)
	stopped := errors.New("stopped")
	if _, err := plantest.Run(prog, &plantest.Options{Stop: func() error { return stopped }}); err != stopped {
		t.Errorf("%v", err)
	}
}
