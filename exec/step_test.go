package exec_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/tool"
)

// noon is when runs in steps begin.
var noon = time.Date(2026, 1, 2, 12, 0, 0, 0, time.UTC)

// steps drives a stepper in a test, with nothing but what the test says.
type steps struct {
	*exec.Stepper
	t      *testing.T
	prog   *compile.Program
	opts   exec.Options
	events []string // types of those of calls
}

func inSteps(t *testing.T, prog *compile.Program, o exec.Options) *steps {
	t.Helper()
	o.ID, o.Seed = "run", 7
	s := &steps{t: t, prog: prog, opts: o}
	s.opts.OnEvent = func(e *exec.Event) { s.events = append(s.events, string(e.Type)) }
	s.begin(nil, noon)
	return s
}

func (s *steps) begin(past *exec.History, now time.Time) {
	s.t.Helper()
	m, err := exec.NewStepper(s.prog, &s.opts, past, now)
	if err != nil {
		s.t.Fatal(err)
	}
	s.Stepper = m
}

// hop goes on in another stepper, with a history that was written and read.
func (s *steps) hop(now time.Time) {
	s.t.Helper()
	text, err := json.Marshal(s.History())
	past := &exec.History{}
	if err := errors.Join(err, json.Unmarshal(text, past)); err != nil {
		s.t.Fatal(err)
	}
	s.begin(past, now)
}

// wants checks which attempts are to be made now.
func (s *steps) wants(ids ...string) []*exec.Attempt {
	s.t.Helper()
	all := s.Next()
	got := make([]string, len(all))
	for i, a := range all {
		got[i] = a.ID
	}
	if !slices.Equal(got, ids) {
		s.t.Fatalf("it wants %q, want %q", got, ids)
	}
	return all
}

func (s *steps) gives(id, value string) {
	s.t.Helper()
	if err := s.Answer(id, tool.Result{Value: json.RawMessage(value)}, nil); err != nil {
		s.t.Fatal(err)
	}
}

func (s *steps) fails(id string, e *tool.Error) {
	s.t.Helper()
	if err := s.Answer(id, tool.Result{}, e); err != nil {
		s.t.Fatal(err)
	}
}

// wakes checks when the stepper wants to be told the time, and tells it.
func (s *steps) wakes(after time.Duration) {
	s.t.Helper()
	at, ok := s.Wake()
	if !ok || at.Sub(noon) != after {
		s.t.Fatalf("it wakes at %v %v, want after %v", at.Sub(noon), ok, after)
	}
	s.Advance(at)
}

// ends checks how the run ended.
func (s *steps) ends(status exec.Status, state string) *exec.Result {
	s.t.Helper()
	res := s.Result()
	if res == nil {
		s.t.Fatal("the run goes on")
	}
	if res.Status != status || string(res.State) != state {
		s.t.Fatalf("%s: %s, %s; want %s, %s", res.Status, res.Reason, res.State, status, state)
	}
	return res
}

// asks is the only question.
func (s *steps) asks(kind exec.QuestionKind) *exec.Question {
	s.t.Helper()
	all := s.Questions()
	if len(all) != 1 || all[0].Kind != kind {
		s.t.Fatalf("questions: %+v, want one of the kind %s", all, kind)
	}
	return all[0]
}

var effects = tools{
	`look "effects":{"pure":true}`:        echo,
	`pay "effects":{"readOnly":false}`:    echo,
	`wipe "effects":{"destructive":true}`: echo,
}

func TestStepperRunsAsMuchAtOnceAsItMay(t *testing.T) {
	prog := program(t, `[{"_id":"a","_tool":"look","_outputPath":"†state.a"},{"_id":"b","_tool":"look","_outputPath":"†state.b"},
		{"_id":"c","_tool":"look","_outputPath":"†state.c"},{"_id":"d","_tool":"pay","x":"†state.a","_outputPath":"†state.d"}]`, effects)
	s := inSteps(t, prog, exec.Options{MaxParallel: 2})
	first := s.wants("a@1", "b@1")
	if a := first[0]; a.Timeout != exec.DefaultTimeout || !a.Repeatable || a.Request.Key == "" || a.Request.Call != "a" || a.Activity() == nil {
		t.Errorf("%+v", a)
	}
	s.gives("b@1", `2`)
	s.wants("c@1")
	s.gives("a@1", `1`)
	s.gives("c@1", `3`)
	if d := s.wants("d@1")[0]; d.Repeatable || string(d.Request.Params) != `{"x":1}` {
		t.Errorf("%+v", d)
	}
	if err := s.Answer("c@1", tool.Result{}, nil); err == nil {
		t.Error("an answer is taken twice")
	}
	s.gives("d@1", `4`)
	s.ends(exec.Completed, `{"a":1,"b":2,"c":3,"d":4}`)
}

func TestStepperTime(t *testing.T) {
	t.Run("a retry waits, and is made at once in another stepper", func(t *testing.T) {
		prog := program(t, `[{"_id":"a","_tool":"look","_retry":{"max":3,"delay":"10s","jitter":false},"_outputPath":"†state.a"}]`, effects)
		s := inSteps(t, prog, exec.Options{})
		key := s.wants("a@1")[0].Request.Key
		s.fails("a@1", &tool.Error{Code: "busy"})
		s.wants()
		s.wakes(10 * time.Second)
		s.wants("a@2")
		s.fails("a@2", &tool.Error{Code: "busy", RetryAfter: time.Minute})
		s.wants()
		s.hop(noon.Add(11 * time.Second))
		if a := s.wants("a@3")[0]; a.Request.Key != key {
			t.Errorf("the key of another attempt is %s, was %s", a.Request.Key, key)
		}
		s.gives("a@3", `1`)
		if res := s.ends(exec.Completed, `{"a":1}`); res.Calls[0].Attempts != 3 {
			t.Errorf("%d attempts", res.Calls[0].Attempts)
		}
	})
	t.Run("the rate of a tool", func(t *testing.T) {
		prog := program(t, `[{"_id":"a","_tool":"look"},{"_id":"b","_tool":"look"}]`, effects)
		for i := range prog.Calls {
			prog.Calls[i].Target.Limits.PerSecond = 0.5
		}
		s := inSteps(t, prog, exec.Options{})
		s.wants("a@1")
		s.gives("a@1", `1`)
		s.wants()
		s.wakes(2 * time.Second)
		s.wants("b@1")
		s.gives("b@1", `1`)
		s.ends(exec.Completed, `{}`)
	})
	t.Run("the time of the run", func(t *testing.T) {
		s := inSteps(t, program(t, `[{"_id":"a","_tool":"look"}]`, effects), exec.Options{MaxTime: time.Hour})
		s.wants("a@1")
		s.wakes(time.Hour)
		if got := s.Canceled(); !slices.Equal(got, []string{"a@1"}) {
			t.Errorf("%q are cancelled", got)
		}
		s.fails("a@1", &tool.Error{Code: "cancelled"})
		s.ends(exec.Failed, `{}`)
	})
	t.Run("what does not end within the grace is abandoned", func(t *testing.T) {
		s := inSteps(t, program(t, `[{"_id":"a","_tool":"pay"},{"_id":"b","_tool":"look","_dependsOn":["a"]}]`, effects), exec.Options{Grace: time.Minute})
		s.wants("a@1")
		s.Cancel()
		if got := s.Canceled(); !slices.Equal(got, []string{"a@1"}) || s.Result() != nil {
			t.Errorf("%q are cancelled; %+v", got, s.Result())
		}
		s.wakes(time.Minute)
		res := s.ends(exec.Cancelled, `{}`)
		if c := res.Calls[0]; c.Status != exec.Cancelled || c.Error == nil || c.Error.Code != "uncertain" {
			t.Errorf("%+v", c)
		}
		s.gives("a@1", `1`) // is dropped
		s.ends(exec.Cancelled, `{}`)
	})
	t.Run("nobody answers in time", func(t *testing.T) {
		prog := program(t, `[{"_id":"a","_tool":"wipe","_onFailure":"continue"}]`, effects)
		s := inSteps(t, prog, exec.Options{AnswerTimeout: time.Hour})
		s.asks(exec.ApprovalQuestion)
		s.wakes(time.Hour)
		if res := s.ends(exec.Failed, `{}`); res.Calls[0].Error.Code != "rejected" {
			t.Errorf("%+v", res.Calls[0].Error)
		}
	})
}

func TestStepperQuestions(t *testing.T) {
	prog := program(t, `[{"_id":"a","_tool":"wipe","x":1,"_outputPath":"†state.a"},{"_id":"b","_tool":"look","_outputPath":"†state.b"}]`, effects)
	s := inSteps(t, prog, exec.Options{})
	s.wants("b@1")
	s.gives("b@1", `2`)
	digest := s.asks(exec.ApprovalQuestion).Digest
	if s.Result() != nil {
		t.Fatal("the run ended, and somebody is asked")
	}
	if err := s.Reply("a", "", exec.Answer{Approved: true, Digest: "another"}); err == nil {
		t.Error("an answer to another question is taken")
	}
	s.hop(noon.Add(time.Hour))
	if q := s.asks(exec.ApprovalQuestion); q.Digest != digest {
		t.Errorf("the digest is %s, was %s", q.Digest, digest)
	}
	if err := s.Reply("a", "", exec.Answer{Approved: true, Digest: digest}); err != nil {
		t.Fatal(err)
	}
	if err := s.Reply("a", "", exec.Answer{Skip: true}); err == nil {
		t.Error("a question is answered twice")
	}
	s.wants("a@1")
	s.fails("a@1", &tool.Error{Code: "reset", Message: "half a page", Uncertain: true})
	q := s.asks(exec.UncertainQuestion)
	s.hop(noon.Add(2 * time.Hour))
	if after := s.asks(exec.UncertainQuestion); *after.Failure != *q.Failure {
		t.Errorf("the question is about %v, was about %v", after.Failure, q.Failure)
	}
	if err := s.Reply("a", "", exec.Answer{Approved: true}); err != nil {
		t.Fatal(err)
	}
	s.wants("a@2")
	s.gives("a@2", `1`)
	s.ends(exec.Completed, `{"a":1,"b":2}`)
}

// A yes to one question is no yes to the next one about the same call, whatever that asks.
func TestStaleAnswersAreRefused(t *testing.T) {
	s := inSteps(t, program(t, `[{"_id":"a","_tool":"wipe","_outputPath":"†state.a"}]`, effects), exec.Options{})
	seen := map[string]bool{}
	for attempt := 1; attempt <= 3; attempt++ {
		kind := exec.UncertainQuestion
		if attempt == 1 {
			kind = exec.ApprovalQuestion
		}
		digest := s.asks(kind).Digest
		for old := range seen {
			if err := s.Reply("a", "", exec.Answer{Approved: true, Digest: old}); err == nil {
				t.Fatalf("attempt %d: an answer to an earlier question is taken", attempt)
			}
		}
		seen[digest] = true
		s.hop(noon.Add(time.Duration(attempt) * time.Hour))
		if q := s.asks(kind); q.Digest != digest {
			t.Errorf("attempt %d: the digest is %s, and was %s before the hop", attempt, q.Digest, digest)
		}
		if err := s.Reply("a", "", exec.Answer{Approved: true, Digest: digest}); err != nil {
			t.Fatal(err)
		}
		id := fmt.Sprintf("a@%d", attempt)
		s.wants(id)
		s.fails(id, &tool.Error{Code: "reset", Message: "half a page", Uncertain: true})
	}
}

// So is a yes to an earlier question about a fallback whose answer was lost.
func TestStaleAnswersOfFallbacksAreRefused(t *testing.T) {
	s := inSteps(t, program(t, `[{"_id":"a","_tool":"look","_fallback":"wipe","_outputPath":"†state.a"}]`, effects), exec.Options{})
	seen := map[string]bool{}
	for n := range 4 {
		kind := exec.UncertainQuestion
		if n == 0 {
			kind = exec.ApprovalQuestion
		}
		digest := s.asks(kind).Digest
		if seen[digest] {
			t.Fatalf("question %d has the digest of an earlier one", n)
		}
		seen[digest] = true
		s.hop(noon.Add(time.Duration(n+1) * time.Hour))
		if q := s.asks(kind); q.Digest != digest {
			t.Errorf("question %d: the digest is %s, and was %s before the hop", n, q.Digest, digest)
		}
		if err := s.Reply("a", "", exec.Answer{Approved: true, Digest: digest}); err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			s.wants("a@1")
			s.fails("a@1", &tool.Error{Code: "no", Permanent: true})
		}
		s.wants("a@1/fallback")
		s.fails("a@1/fallback", &tool.Error{Code: "reset", Message: "half a page", Uncertain: true})
	}
}

// An answer to a question that was refused does not answer it when a later process asks again.
func TestStaleAnswersAfterRefusal(t *testing.T) {
	for _, lost := range []bool{false, true} {
		s := inSteps(t, program(t, `[{"_id":"a","_tool":"wipe","_outputPath":"†state.a"}]`, effects), exec.Options{RetryFailed: true})
		digest := s.asks(exec.ApprovalQuestion).Digest
		kind := exec.ApprovalQuestion
		if lost {
			kind = exec.UncertainQuestion
			if err := s.Reply("a", "", exec.Answer{Approved: true, Digest: digest}); err != nil {
				t.Fatal(err)
			}
			s.wants("a@1")
			s.fails("a@1", &tool.Error{Code: "reset", Message: "half a page", Uncertain: true})
			digest = s.asks(kind).Digest
		}
		if err := s.Reply("a", "", exec.Answer{Reason: "not now", Digest: digest}); err != nil {
			t.Fatal(err)
		}
		s.ends(exec.Failed, `{}`)
		s.hop(noon.Add(time.Hour))
		if q := s.asks(kind); q.Digest == digest {
			t.Errorf("lost %v: the question that was refused has the same digest again", lost)
		}
		if err := s.Reply("a", "", exec.Answer{Approved: true, Digest: digest}); err == nil {
			t.Errorf("lost %v: an answer to the question that was refused is taken", lost)
		}
	}
}

func TestStepperLost(t *testing.T) {
	plan := `[{"_id":"a","_tool":"look","_retry":0,"_outputPath":"†state.a"},{"_id":"b","_tool":"pay","_outputPath":"†state.b"}]`
	s := inSteps(t, program(t, plan, effects), exec.Options{})
	s.wants("a@1", "b@1")
	for _, id := range []string{"a@1", "b@1"} {
		if err := s.Lost(id); err != nil {
			t.Fatal(err)
		}
	}
	s.wants("a@2") // it uses up no retry
	s.asks(exec.UncertainQuestion)
	s.gives("a@2", `1`)
	if err := s.Reply("b", "", exec.Answer{Result: json.RawMessage(`"it did"`)}); err != nil {
		t.Fatal(err)
	}
	s.ends(exec.Completed, `{"a":1,"b":"it did"}`)
}

// What waits for a person when the run is cancelled was not rejected: it is asked again.
func TestStepperCancelWithdrawsQuestions(t *testing.T) {
	s := inSteps(t, program(t, `[{"_id":"a","_tool":"wipe","_outputPath":"†state.a"}]`, effects), exec.Options{})
	s.asks(exec.ApprovalQuestion)
	s.Cancel()
	s.ends(exec.Cancelled, `{}`)
	s.hop(noon.Add(time.Hour))
	s.asks(exec.ApprovalQuestion)
	if err := s.Reply("a", "", exec.Answer{Skip: true}); err != nil {
		t.Fatal(err)
	}
	s.ends(exec.Completed, `{}`)
}

func TestStepperHolds(t *testing.T) {
	plan := `[{"_id":"a","_tool":"look","_fallback":"look","_outputPath":"†state.a"},{"_id":"b","_tool":"look","x":"†state.a","_outputPath":"†state.b"}]`
	s := inSteps(t, program(t, plan, effects), exec.Options{})
	s.wants("a@1")
	s.Hold()
	s.fails("a@1", &tool.Error{Code: "no", Permanent: true})
	s.wants("a@1/fallback") // of a call that had begun
	s.gives("a@1/fallback", `1`)
	s.wants()
	s.hop(noon)
	s.wants("b@1")
	s.gives("b@1", `2`)
	s.ends(exec.Completed, `{"a":1,"b":2}`)
}

func TestMakeAttempt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := inSteps(t, program(t, `[{"_id":"a","_tool":"look","_timeout":"10s"}]`, effects), exec.Options{})
		a := s.wants("a@1")[0]
		for _, c := range []struct {
			name string
			act  act
			code string
			took time.Duration
		}{
			{"an answer", func(context.Context, *tool.Request) (tool.Result, error) {
				return tool.Result{Value: json.RawMessage(`1`)}, nil
			}, "", 0},
			{"none in time", func(ctx context.Context, _ *tool.Request) (tool.Result, error) {
				<-ctx.Done()
				return tool.Result{}, ctx.Err()
			}, "timeout", 10 * time.Second},
			{"a pause takes no time", func(ctx context.Context, req *tool.Request) (tool.Result, error) {
				resume := req.Clock.Pause()
				time.Sleep(time.Hour)
				resume()
				<-ctx.Done()
				return tool.Result{}, ctx.Err()
			}, "timeout", time.Hour + 10*time.Second},
			{"a panic", func(context.Context, *tool.Request) (tool.Result, error) { panic("no") }, "panic", 0},
		} {
			begun := time.Now()
			_, err := a.Make(t.Context(), tool.ActivityFunc(c.act))
			var te *tool.Error
			if code := ""; errors.As(err, &te) {
				code = te.Code
				if code != c.code {
					t.Errorf("%s: %v", c.name, err)
				}
			} else if c.code != "" || err != nil {
				t.Errorf("%s: %v", c.name, err)
			}
			if took := time.Since(begun); took != c.took {
				t.Errorf("%s: after %s, want %s", c.name, took, c.took)
			}
		}
	})
}

// A call that delegates and failed because the answer of a call inside was lost takes no fallback,
// wherever the run goes on.
func TestLostInsideAndResumed(t *testing.T) {
	lost := func(context.Context, *tool.Request) (tool.Result, error) {
		return tool.Result{}, &tool.Error{Code: "lost", Uncertain: true}
	}
	ts := tools{`pay "effects":{"readOnly":false}`: lost, "f": echo, `look "effects":{"pure":true}`: echo}
	inner := document(t, `[{"_id":"pay","_tool":"pay"}]`, ts)
	middle := nest(document(t, `[{"_id":"b","_tool":"f","x":1}]`, ts), map[string]*compile.Delegate{"b": {Name: "inner.json", Program: inner}})
	prog := nest(program(t, `[{"_id":"a","_tool":"f","_fallback":"look","_onFailure":"continue","_outputPath":"†state.a"}]`, ts),
		map[string]*compile.Delegate{"a": {Name: "middle.json", Program: middle}})
	r := &tape{}
	o := exec.Options{ID: "run", Seed: 1, OnUncertain: exec.FailUncertain, Record: r}
	for cut := 0; cut == 0 || cut <= len(r.events); cut++ {
		if cut > 0 {
			o.Record = &tape{events: slices.Clone(r.events[:cut]), before: cut}
		}
		res, err := exec.Run(t.Context(), prog, &o)
		if err != nil {
			t.Fatal(err)
		}
		if c := res.Calls[0]; string(res.State) != `{}` || c.Status != exec.Failed || c.Error.Code != "delegate" {
			t.Errorf("after %d of %d events: %s, %+v, %+v", cut, len(r.events), res.State, c.Status, c.Error)
		}
	}
	if len(r.events) < 10 {
		t.Errorf("only %d events", len(r.events))
	}
}

// A hook that panics ends the run, and not whoever drives it.
func TestStepperPanics(t *testing.T) {
	prog := program(t, `[{"_id":"a","_tool":"look"}]`, effects)
	o := exec.Options{ID: "run", Seed: 1, OnEvent: func(e *exec.Event) {
		if e.Type == exec.CallReturned {
			panic("no")
		}
	}}
	m, err := exec.NewStepper(prog, &o, nil, noon)
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Answer(m.Next()[0].ID, tool.Result{}, nil); err != nil {
		t.Fatal(err)
	}
	var pe *exec.PanicError
	if res := m.Result(); res == nil || !errors.As(res.Err, &pe) || pe.In != "OnEvent" {
		t.Errorf("%+v", res)
	}
}

func TestStepperRefuses(t *testing.T) {
	prog := program(t, `[{"_tool":"look"}]`, effects)
	for want, o := range map[string]exec.Options{
		"id and the seed": {ID: "run"},
		"no record":       {ID: "run", Seed: 1, Record: &tape{}},
	} {
		if _, err := exec.NewStepper(prog, &o, nil, noon); err == nil || !strings.Contains(err.Error(), strings.TrimPrefix(want, "no ")) {
			t.Errorf("%v, want: %s", err, want)
		}
	}
	if _, err := exec.NewStepper(template(program(t, `[{"_tool":"look"}]`, effects)), &exec.Options{ID: "run", Seed: 1}, nil, noon); err == nil {
		t.Error("a template runs in steps")
	}
}

// Histories of the first version are read for ever, and newer ones are refused.
func TestHistoryVersions(t *testing.T) {
	const first = `{"version":1,"calls":{"":{"a":{"attempts":2,"failed":1,"key":"k","content":"c","params":"{\"x\": \"<1>\"}",` +
		`"returned":{"value":"1.50","usage":{"tokens":3,"cost":0.5}},"usage":{"tokens":3,"cost":0.5},"settled":"completed"}}}}`
	var h exec.History
	if err := json.Unmarshal([]byte(first), &h); err != nil {
		t.Fatal(err)
	}
	p := h.Calls[""]["a"]
	if string(p.Params) != `{"x": "<1>"}` || string(p.Returned.Value) != "1.50" || p.Returned.Usage.Tokens != 3 || p.Failed != 1 || p.Settled != exec.Completed {
		t.Errorf("%+v", p)
	}
	text, err := json.Marshal(&h)
	if err != nil || strings.ReplaceAll(strings.ReplaceAll(string(text), `\u003c`, "<"), `\u003e`, ">") != first {
		t.Errorf("%s: %v", text, err)
	}
	for _, bad := range []string{`{"version":4,"calls":{}}`, `{"calls":{}}`, `{"version":1,"calls":{"":{"a":null}}}`, `[]`} {
		if err := json.Unmarshal([]byte(bad), &h); err == nil {
			t.Errorf("%s is read", bad)
		}
	}
}

// What decides starts no goroutine, waits for nothing and reads no clock: only the driver of this
// process does, and what has to do with its callers.
func TestOnlyDriversWait(t *testing.T) {
	drivers := []string{"local.go", "worker.go", "attempt.go", "queue.go", "run.go", "panics.go", "instances.go"}
	clock := []string{"Now", "Since", "Until", "AfterFunc", "NewTimer", "NewTicker", "After", "Tick", "Sleep"}
	names, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, name := range names {
		if strings.HasSuffix(name, "_test.go") || slices.Contains(drivers, name) {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		seen++
		ast.Inspect(file, func(n ast.Node) bool {
			what := ""
			switch n := n.(type) {
			case *ast.GoStmt:
				what = "starts a goroutine"
			case *ast.SelectStmt, *ast.SendStmt, *ast.ChanType:
				what = "uses a channel"
			case *ast.SelectorExpr:
				x, _ := n.X.(*ast.Ident)
				switch {
				case x != nil && x.Name == "time" && slices.Contains(clock, n.Sel.Name),
					x != nil && x.Name == "context" && (strings.HasPrefix(n.Sel.Name, "WithTimeout") || strings.HasPrefix(n.Sel.Name, "WithDeadline") || n.Sel.Name == "AfterFunc"):
					what = fmt.Sprintf("has %s.%s", x.Name, n.Sel.Name)
				}
			}
			if what != "" {
				t.Errorf("%s %s", name, what)
			}
			return true
		})
	}
	if seen < 15 {
		t.Errorf("only %d files were read", seen)
	}
}

// A run that nobody answers ends as one does that has no approver: what waits for approval stays
// open, what is uncertain fails.
func TestPause(t *testing.T) {
	prog := program(t, `[{"_tool":"wipe","_id":"a"},{"_tool":"look","_id":"b"}]`, effects)
	s := inSteps(t, prog, exec.Options{})
	s.asks(exec.ApprovalQuestion)
	s.wants("b@1")
	s.Pause()
	s.Pause()
	if s.Result() != nil {
		t.Fatal("the run ended while a call goes on")
	}
	s.gives("b@1", `1`)
	if res := s.ends(exec.Paused, "{}"); len(res.Questions) != 1 {
		t.Errorf("questions: %+v", res.Questions)
	}

	s = inSteps(t, program(t, `[{"_tool":"pay","_id":"a"}]`, effects), exec.Options{})
	s.wants("a@1")
	if err := s.Lost("a@1"); err != nil {
		t.Fatal(err)
	}
	s.asks(exec.UncertainQuestion)
	s.Pause()
	s.ends(exec.Failed, "{}")

	s = inSteps(t, program(t, `[{"_tool":"pay","_id":"a"}]`, effects), exec.Options{OnUncertain: exec.WaitUncertain})
	s.wants("a@1")
	if err := s.Lost("a@1"); err != nil {
		t.Fatal(err)
	}
	s.asks(exec.UncertainQuestion)
	s.Pause()
	if res := s.ends(exec.Paused, "{}"); len(res.Questions) != 1 {
		t.Errorf("questions: %+v", res.Questions)
	}
}

// What another process can't make of an attempt is an error that says why.
func TestReadAttempt(t *testing.T) {
	prog := program(t, `[{"_tool": "a", "_id": "x/y"}]`, tools{"a": nil})
	if c, ok := exec.CallAt(prog, exec.PathOf("x/y")); !ok || c.ID != "x/y" {
		t.Error(c, ok)
	}
	for text, want := range map[string]string{
		`{"version": 1, "path": "b"}`:                      `no call "b"`,
		`{"version": 1, "path": "x~1y/b"}`:                 `no call "x~1y/b"`,
		`{"version": 1, "path": "x~1y", "fallback": true}`: `no fallback`,
		`{"version": 2, "path": "x~1y"}`:                   `use a newer one`,
		`[]`:                                               `can't be read`,
	} {
		if _, err := exec.ReadAttempt(prog, []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v", text, err)
		}
	}
	for _, text := range []string{`{"version": 2}`, `{}`, `""`} {
		if err := json.Unmarshal([]byte(text), &exec.Made{}); err == nil {
			t.Error(text)
		}
	}
}
