package plc

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/plantest"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/tool/file"
)

func (r *PlanTestResult) fail(loc diag.Loc, format string, args ...any) {
	r.Failures = append(r.Failures, TestFailure{loc, fmt.Sprintf(format, args...)})
}

// check compares a run with what its test expects.
func (r *PlanTestResult) check() {
	x, out := &r.Test.file.Expect, r.Outcome
	for _, name := range out.Unknown {
		r.fail(r.Test.Loc, "nothing stands in for the tool %q: say what it gives, as in standIns: {%s: {return: …}}", name, name)
	}
	r.checkStatus()
	if x.Reason != nil && !strings.Contains(out.Reason, x.Reason.Text) {
		r.fail(x.Reason.Loc, "the reason is %q, and %q is expected in it", out.Reason, x.Reason.Text)
	}
	r.value(x.Output, "output", out.Output, true)
	r.value(x.State, "state", out.State, false)
	r.value(x.Data, "data", out.Data, false)
	r.checkCalls()
	r.checkEffects()
	r.checkFindings(out.Findings)
	if x.Asked != nil {
		r.names(*x.Asked, x.AskedLoc, out.Asked(), "the calls that wait for a person are")
	}
	r.checkProperties()
}

func (r *PlanTestResult) checkStatus() {
	x, out := &r.Test.file.Expect, r.Outcome
	want, at := string(exec.Completed), r.Test.Loc
	if x.Status != nil {
		want, at = x.Status.Text, x.Status.Loc
	}
	if string(out.Status) != want {
		r.fail(at, "the run is %s, and %s is expected%s", out.Status, want, because(out.Reason))
	}
}

func because(reason string) string {
	if reason == "" {
		return ""
	}
	return ": " + reason
}

// value compares a value with the expected one.
func (r *PlanTestResult) value(want *file.Wanted, name string, got json.RawMessage, whole bool) {
	if want == nil {
		return
	}
	if got == nil {
		got = json.RawMessage("null")
	}
	if d := difference(name, got, want.JSON, whole); d != "" {
		r.fail(want.Loc, "%s", d)
	}
}

func (r *PlanTestResult) checkCalls() {
	known := maps.Collect(r.Outcome.All())
	for i := range r.Test.file.Expect.Calls {
		want := &r.Test.file.Expect.Calls[i]
		got, ok := known[want.Path]
		if !ok {
			r.fail(want.Loc, "the run has no call %q%s", want.Path, didYouMean(want.Path, maps.Keys(known)))
			continue
		}
		if want.Status != nil && string(got.Status) != want.Status.Text {
			why := got.Reason
			if got.Error != nil {
				why = got.Error.String()
			}
			r.fail(want.Status.Loc, "%q is %s, and %s is expected%s", want.Path, got.Status, want.Status.Text, because(why))
		}
		if want.Outcome != nil && got.Outcome != want.Outcome.Text && strings.TrimPrefix(got.Outcome, "†") != want.Outcome.Text {
			r.fail(want.Outcome.Loc, "the outcome of %q is %q, and %q is expected", want.Path, got.Outcome, want.Outcome.Text)
		}
		if want.Error != nil && (got.Error == nil || got.Error.Code != want.Error.Text) {
			said := "it did not fail"
			if got.Error != nil {
				said = "it failed with " + got.Error.String()
			}
			r.fail(want.Error.Loc, "%q should fail with the code %q: %s", want.Path, want.Error.Text, said)
		}
		if want.Attempts != nil && strconv.Itoa(got.Attempts) != string(want.Attempts.JSON) {
			r.fail(want.Attempts.Loc, "%q was tried %d times, and %s is expected", want.Path, got.Attempts, want.Attempts.JSON)
		}
		r.value(want.Params, fmt.Sprintf("the params of %q", want.Path), r.params(want.Path), false)
		r.value(want.Result, fmt.Sprintf("the result of %q", want.Path), got.Result, false)
	}
}

// params returns the params of the last attempt of a call.
func (r *PlanTestResult) params(path string) json.RawMessage {
	for _, a := range slices.Backward(r.Outcome.Attempts) {
		if a.Call == path {
			return a.Params
		}
	}
	return nil
}

func (r *PlanTestResult) checkEffects() {
	x := &r.Test.file.Expect
	if x.Effects == nil {
		return
	}
	got, want := r.Outcome.Effects, *x.Effects
	for i := range min(len(got), len(want)) {
		g, w := &got[i], &want[i]
		switch {
		case w.Tool != "" && g.Tool != w.Tool:
			r.fail(w.Loc, "effect %d is that of %q, and %q is expected; they are %s", i+1, g.Tool, w.Tool, effectNames(got))
			return
		case w.Call != "" && g.Call != w.Call:
			r.fail(w.Loc, "effect %d is that of the call %q, and %q is expected", i+1, g.Call, w.Call)
			return
		}
		r.value(w.Params, fmt.Sprintf("the params of effect %d", i+1), g.Params, false)
		r.value(w.Result, fmt.Sprintf("the result of effect %d", i+1), g.Result, false)
	}
	if len(got) != len(want) {
		r.fail(x.EffectsLoc, "there are %d effects, and %d are expected; they are %s", len(got), len(want), effectNames(got))
	}
}

func effectNames(effects []plantest.Effect) string {
	if len(effects) == 0 {
		return "none"
	}
	var names []string
	for _, e := range effects {
		names = append(names, e.Tool)
	}
	return strings.Join(names, ", ")
}

// checkFindings compares the codes of the errors and warnings about the plan and its run with those
// that are expected.
func (r *PlanTestResult) checkFindings(run diag.List) {
	x := &r.Test.file.Expect
	if x.Findings == nil {
		return
	}
	var got []string
	for _, f := range slices.Concat(r.Test.Plan.AllFindings(), run) {
		if code := f.Code.String(); f.Severity != diag.Info && !slices.Contains(got, code) {
			got = append(got, code)
		}
	}
	r.names(*x.Findings, x.FindingsLoc, got, "the findings are")
}

// names compares two sets of names.
func (r *PlanTestResult) names(want []file.Wanted, at diag.Loc, got []string, are string) {
	var names []string
	for _, w := range want {
		names = append(names, w.Text)
	}
	got = slices.Sorted(slices.Values(got))
	slices.Sort(names)
	if !slices.Equal(got, slices.Compact(names)) {
		r.fail(at, "%s %s, and %s is expected", are, listed(got), listed(names))
	}
}

func listed(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

func (r *PlanTestResult) checkProperties() {
	for _, p := range r.Test.properties {
		ok, err := p.Holds(r.Outcome)
		switch {
		case err != nil:
			r.fail(r.Test.Loc, "%v", err)
		case !ok:
			r.fail(r.Test.Loc, "%s: that is not so; the run is %s, and the effects are %s", p, r.Outcome.Status, effectNames(r.Outcome.Effects))
		}
	}
}

// difference names the place where a value differs from the expected one, or returns "". An object
// may have more members than are expected, unless whole is true.
func difference(at string, got, want json.RawMessage, whole bool) string {
	var wantObject, gotObject map[string]json.RawMessage
	var wantList, gotList []json.RawMessage
	switch {
	case want[0] == '{' && got[0] == '{':
		_ = json.Unmarshal(want, &wantObject) // both are JSON
		_ = json.Unmarshal(got, &gotObject)
		for _, name := range slices.Sorted(maps.Keys(wantObject)) {
			g, ok := gotObject[name]
			if !ok {
				return fmt.Sprintf("%s.%s is not there, and %s is expected", at, name, brief(wantObject[name]))
			}
			if d := difference(at+"."+name, g, wantObject[name], whole); d != "" {
				return d
			}
		}
		for _, name := range slices.Sorted(maps.Keys(gotObject)) {
			if _, ok := wantObject[name]; !ok && whole {
				return fmt.Sprintf("%s.%s is %s, and is not expected", at, name, brief(gotObject[name]))
			}
		}
		return ""
	case want[0] == '[' && got[0] == '[':
		_ = json.Unmarshal(want, &wantList)
		_ = json.Unmarshal(got, &gotList)
		for i := range min(len(wantList), len(gotList)) {
			if d := difference(fmt.Sprintf("%s[%d]", at, i), gotList[i], wantList[i], whole); d != "" {
				return d
			}
		}
		if len(wantList) != len(gotList) {
			return fmt.Sprintf("%s has %d elements, and %d are expected", at, len(gotList), len(wantList))
		}
		return ""
	}
	if s, err := schemas.Const(want); err == nil && s.Validate(got) == nil {
		return ""
	}
	return fmt.Sprintf("%s is %s, and %s is expected", at, brief(got), brief(want))
}

// brief returns a value, shortened for a message.
func brief(v json.RawMessage) string {
	if r := []rune(string(v)); len(r) > maxBrief {
		return string(r[:maxBrief]) + "…"
	}
	return string(v)
}

const maxBrief = 200
