package temporal

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/stretchr/testify/mock"
	"go.temporal.io/sdk/testsuite"
	"go.temporal.io/sdk/worker"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal/memory"
	"github.com/plc-lang/plc/tool"
)

// The tests run plans here as a workflow of the SDK's test suite, and in one process, and want the
// same of both.

// world is what tools change.
type world struct {
	mu    sync.Mutex
	calls map[string]int // by key
	sent  []string
}

func (w *world) called(key string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls[key]++
	return w.calls[key]
}

// sentOnce reports texts that were sent more than once.
func (w *world) sentOnce(t *testing.T) {
	t.Helper()
	sent := map[string]bool{}
	for _, s := range w.sent {
		if sent[s] {
			t.Errorf("%s was sent twice", s)
		}
		sent[s] = true
	}
}

type text struct {
	Text string `json:"text"`
}

// tools returns Go functions that change the world.
func (w *world) tools() []*tool.Tool {
	w.calls = map[string]int{}
	flaky := tool.Func("flaky", "Fails at first.", func(ctx context.Context, p text) (string, error) {
		if w.called("flaky "+p.Text) < 3 {
			return "", &tool.Error{Code: "busy", Message: "try again", RetryAfter: time.Second}
		}
		return p.Text, nil
	})
	flaky.Definition.Effects.ReadOnly = tool.Yes
	echo := tool.Func("echo", "Gives the text.", func(_ context.Context, p text) (string, error) { return "<" + p.Text + ">", nil })
	echo.Definition.Effects.Pure = tool.Yes
	send := tool.Func("send", "Sends it.", func(_ context.Context, p text) (int, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.sent = append(w.sent, p.Text)
		return len(p.Text), nil
	})
	wipe := tool.Func("wipe", "Deletes it.", func(_ context.Context, p text) (string, error) { return "deleted " + p.Text, nil })
	wipe.Definition.Effects.Destructive = tool.Yes
	fail := tool.Func("fail", "Fails.", func(context.Context, text) (string, error) {
		return "", &tool.Error{Code: "declined", Message: "no <money>", Permanent: true}
	})
	return []*tool.Tool{flaky, echo, send, wipe, fail}
}

// plans are run by the tests: their texts, or the names of their files.
var plans = map[string]string{
	"each": "testdata/each.json",
	"instances": `[{"type": "state", "state": {"x": "one"}, "_instance": "①"}, {"type": "state", "state": {"x": "two"}, "_instance": "②"},
		{"type": "plan", "plan": [{"_tool": "echo", "_id": "a", "_instance": "①", "text": "†state.x", "_outputPath": "†state.y"}, {"_tool": "fail", "_id": "b", "_instance": "②", "text": "†state.x", "_fallback": {"_tool": "echo", "text": "†state.x"}, "_outputPath": "†state.y"}]}]`,
	"chain": `{"calls": [{"_tool": "echo", "_id": "a", "text": "†input.name", "_outputPath": "†state.a"}, {"_tool": "echo", "_id": "b", "text": "†state.a", "_outputPath": "†state.b"}], "output": "†state.b"}`,
	"fan": `{"calls": [{"_tool": "send", "_id": "s", "text": "x", "_outputPath": "†state.n"}, {"_tool": "echo", "_id": "a", "text": "1", "_outputPath": "†state.a"}, {"_tool": "echo", "_id": "b", "text": "2", "_outputPath": "†state.b"},
		{"_tool": "echo", "_id": "c", "text": "†{state.a} and †{state.b}", "_outputPath": "†state.c"}]}`,
	"retry":    `{"calls": [{"_tool": "flaky", "_id": "f", "text": "f", "_retry": {"max": 3}, "_outputPath": "†state.f"}, {"_tool": "send", "_id": "s", "text": "†state.f", "_outputPath": "†state.s"}]}`,
	"fails":    `{"calls": [{"_tool": "send", "_id": "s", "text": "1", "_outputPath": "†state.s"}, {"_tool": "fail", "_id": "f", "_dependsOn": ["s"], "text": "", "_outputPath": "†state.f"}, {"_tool": "send", "_id": "t", "text": "†state.f", "_outputPath": "†state.t"}]}`,
	"handled":  `{"calls": [{"_tool": "fail", "_id": "f", "text": "", "_outputPath": "†state.f || †state.e"}, {"_tool": "echo", "_id": "e", "text": "†state.e.message", "_outputPath": "†state.g"}]}`,
	"fallback": `{"calls": [{"_tool": "fail", "_id": "f", "text": "z", "_fallback": {"_tool": "echo", "text": "instead"}, "_outputPath": "†state.f"}]}`,
}

func specOf(t testing.TB, plan string) plc.Spec {
	t.Helper()
	in, err := plc.ParseInput("name=Ada & co")
	if err != nil {
		t.Fatal(err)
	}
	src := plc.Text(plan)
	if strings.HasSuffix(plan, ".json") {
		src = plc.File(plan)
	}
	return plc.Spec{Plan: src, Values: plc.Values{Input: []plc.Source{in}}, Seed: 7}
}

// bundleOf returns the bundle of a run of a plan.
func bundleOf(t testing.TB, plan string, change ...func(*plc.Spec)) *plc.Bundle {
	t.Helper()
	spec := specOf(t, plan)
	for _, f := range change {
		f(&spec)
	}
	p, err := plc.New(plc.Config{Tools: (&world{}).tools()}).Prepare(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	b, err := p.Bundle()
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// locally returns what a run of a plan gives in one process.
func locally(t testing.TB, plan string) *exec.Result {
	t.Helper()
	eng := plc.New(plc.Config{Tools: (&world{}).tools(), Store: memory.New(), Approver: func(context.Context, *exec.Question) (exec.Answer, error) {
		return exec.Answer{Approved: true}, nil
	}})
	res, err := eng.Run(t.Context(), specOf(t, plan))
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// suite is a workflow in the SDK's test suite.
type suite struct {
	*testsuite.TestWorkflowEnvironment
	t  *testing.T
	in input
	// lose reports whether the answer of the n-th attempt that is made is lost; nil loses none.
	lose func(n int) bool
	made int // attempts
	// batches are the sizes of batches; the answers of those of the size loseBatch are lost.
	batches   []int
	loseBatch int
	mu        sync.Mutex // guards made and batches
}

// inSuite begins the run of a bundle in the test suite. The worker has other tools if there are any.
func inSuite(t *testing.T, b *plc.Bundle, tools ...*tool.Tool) *suite {
	t.Helper()
	in := inputOf(t, b)
	in.Version, in.Most = inputVersion, mostWithout
	if tools == nil {
		tools = (&world{}).tools()
	}
	var ts testsuite.WorkflowTestSuite
	ts.SetLogger(quiet)
	s := &suite{TestWorkflowEnvironment: ts.NewTestWorkflowEnvironment(), t: t, in: *in}
	s.SetTestTimeout(time.Minute)
	s.SetWorkerOptions(worker.Options{DeadlockDetectionTimeout: deadlock})
	p := &programs{config: plc.Config{Tools: tools}}
	t.Cleanup(p.close)
	a := &activities{programs: p, bundle: func(context.Context) (string, error) { return in.Bundle, nil }}
	register(s, p, a)
	s.OnActivity(activityType, mock.Anything, mock.Anything, mock.Anything, mock.Anything).Return(
		func(ctx context.Context, bundle string, text json.RawMessage, most int) (json.RawMessage, error) {
			s.mu.Lock()
			s.made++
			n := s.made
			s.mu.Unlock()
			made, err := a.attempt(ctx, bundle, text, most)
			if s.lose != nil && s.lose(n) {
				return nil, errors.New("gone")
			}
			return atOnce(t, made), err
		}).Maybe()
	s.OnActivity(batchType, mock.Anything, mock.Anything, mock.Anything, mock.Anything).Return(
		func(ctx context.Context, bundle string, text json.RawMessage, most int) (json.RawMessage, error) {
			made, err := a.batch(ctx, bundle, text, most)
			var all []json.RawMessage
			var got batched
			if err := errors.Join(err, json.Unmarshal(text, &all), json.Unmarshal(made, &got)); err != nil {
				t.Error(err)
			}
			s.mu.Lock()
			s.batches = append(s.batches, len(all))
			s.mu.Unlock()
			if len(all) == s.loseBatch {
				return nil, errors.New("gone")
			}
			for i := range got.Answers {
				got.Answers[i] = atOnce(t, got.Answers[i])
			}
			return mustJSON(t, got), nil
		}).Maybe()
	return s
}

// atOnce returns an answer as if its call had taken no time, on however slow a machine.
func atOnce(t *testing.T, made json.RawMessage) json.RawMessage {
	var got answer
	if err := json.Unmarshal(made, &got); err != nil {
		t.Error(err)
	}
	got.Took = 0
	return mustJSON(t, got)
}

// reply answers the questions of the run after a while, and wants them to be of a kind.
func (s *suite) reply(kind exec.QuestionKind, a exec.Answer) {
	s.RegisterDelayedCallback(func() {
		value, err := s.QueryWorkflow(showQuery)
		var text []byte
		var v View
		if err = errors.Join(err, value.Get(&text), json.Unmarshal(text, &v)); err != nil || len(v.Questions) != 1 || v.Questions[0].Kind != kind {
			s.t.Errorf("%s: %v", text, err)
			return
		}
		a.Digest = v.Questions[0].Digest
		text, err = json.Marshal(Answer{Path: v.Questions[0].Path, Answer: a})
		if err != nil {
			s.t.Error(err)
		}
		s.UpdateWorkflow(answerUpdate, "", &testsuite.TestUpdateCallback{
			OnReject: func(err error) { s.t.Error(err) }, OnAccept: func() {}, OnComplete: func(any, error) {},
		}, text)
	}, time.Hour)
}

// run executes the workflow and returns its outcome. The error is why the workflow has none.
func (s *suite) run() (*Outcome, error) {
	s.t.Helper()
	s.ExecuteWorkflow(workflowType, mustJSON(s.t, s.in))
	var result json.RawMessage
	err := s.GetWorkflowError()
	if err == nil {
		err = s.GetWorkflowResult(&result)
	}
	return outcomeOf(result, err)
}

// mustJSON returns a value as JSON.
func mustJSON(t testing.TB, v any) json.RawMessage {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// A run gives the same in a workflow and in one process.
func TestSameAsLocal(t *testing.T) {
	for name, plan := range plans {
		t.Run(name, func(t *testing.T) {
			want := locally(t, plan)
			got, err := inSuite(t, bundleOf(t, plan)).run()
			if err != nil {
				t.Fatal(err)
			}
			same(t, got, want)
		})
	}
}

// An attempt whose answer is lost is made again if its tool allows that; otherwise a person is asked.
func TestLost(t *testing.T) {
	const sends = `{"calls": [{"_tool": "send", "_id": "s", "text": "x", "_outputPath": "†state.s"}]}`
	const looks = `{"calls": [{"_tool": "echo", "_id": "s", "text": "x", "_outputPath": "†state.s"}]}`
	first := func(n int) bool { return n == 1 }
	for _, c := range []struct {
		name, plan string
		lose       func(int) bool
		asks       bool
		answer     exec.Answer
		want       string // of the result
		made       int
	}{
		{"repeatable", looks, first, false, exec.Answer{}, `"state":{"s":"<x>"}`, 2},
		{"again and again", looks, func(int) bool { return true }, false, exec.Answer{}, `"code":"lost"`, mostLost},
		{"said to be made again", sends, first, true, exec.Answer{Approved: true}, `"state":{"s":1}`, 2},
		{"said what it gave", sends, first, true, exec.Answer{Result: json.RawMessage(`7`)}, `"state":{"s":7}`, 1},
		{"given up", sends, first, true, exec.Answer{}, `"code":"uncertain"`, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := inSuite(t, bundleOf(t, c.plan))
			s.lose = c.lose
			if c.asks {
				s.reply(exec.UncertainQuestion, c.answer)
			}
			o, err := s.run()
			if err != nil {
				t.Fatal(err)
			}
			if !strings.Contains(string(o.Result), c.want) || s.made != c.made {
				t.Errorf("%d attempts, and not %s in %s", s.made, c.want, o.Result)
			}
		})
	}
}

// Names of calls may be long, and in any script.
func TestLongNames(t *testing.T) {
	plan := fmt.Sprintf(`[{"_tool": "echo", "_id": %q, "text": "x", "_outputPath": "†state.a"}]`, strings.Repeat("<é†", 300))
	o, err := inSuite(t, bundleOf(t, plan)).run()
	if err != nil || o.Status != exec.Completed {
		t.Error(o, err)
	}
	if id := activityID(&exec.Attempt{ID: "①\x00" + strings.Repeat("†", 300)}, nil); !utf8.ValidString(id) || len(id) > 220 || strings.Contains(id, "\x00") {
		t.Errorf("%q", id)
	}
}

// A call that no worker has begun when the run is cancelled has not been made.
func TestCancelled(t *testing.T) {
	s := inSuite(t, bundleOf(t, asking))
	s.RegisterDelayedCallback(s.CancelWorkflow, time.Minute)
	o, err := s.run()
	if err != nil || o.Status != exec.Cancelled || o.past == nil {
		t.Fatalf("%+v, %v", o, err)
	}
}

// same compares an outcome with the result of a local run.
func same(t *testing.T, got *Outcome, want *exec.Result) {
	t.Helper()
	var res struct {
		Output, State json.RawMessage
		Calls         []exec.CallResult
		Instances     json.RawMessage
	}
	if err := json.Unmarshal(got.Result, &res); err != nil {
		t.Fatal(err)
	}
	show := func(status exec.Status, reason string, state, output json.RawMessage, calls []exec.CallResult) string {
		s := fmt.Sprintf("%s %s %s %s", status, reason, state, cmp.Or(string(output), "null"))
		for _, c := range calls {
			s += fmt.Sprintf("\n%s %s %v %d %q %v %q", c.ID, c.Status, c.Handled, c.Attempts, c.Outcome, c.Error, c.Reason)
		}
		return s
	}
	if got.Template {
		sameInstances(t, got, want)
		return
	}
	g, w := show(got.Status, got.Reason, res.State, res.Output, res.Calls), show(want.Status, want.Reason, want.State, want.Output, want.Calls)
	var instances map[string]struct{ State json.RawMessage }
	if err := json.Unmarshal(res.Instances, &instances); err != nil && !got.Template {
		t.Fatal(err)
	}
	for _, in := range want.Instances {
		g, w = g+"\n"+string(instances[in.Name].State), w+"\n"+string(in.State)
	}
	if g != w || got.Digest != want.Digest {
		t.Errorf("in a workflow:\n%s\nlocally:\n%s\ndigests %s %s", g, w, got.Digest, want.Digest)
	}
}

// sameInstances compares a run of a template, as far as its outcome has its instances.
func sameInstances(t *testing.T, got *Outcome, want *exec.Result) {
	t.Helper()
	var lines []json.RawMessage
	for _, line := range got.lines {
		lines = append(lines, json.RawMessage(line))
	}
	sameLines(t, got, lines, want)
}

// sameLines compares a run of a template.
func sameLines(t *testing.T, got *Outcome, lines []json.RawMessage, want *exec.Result) {
	t.Helper()
	var g, w strings.Builder
	show := func(b *strings.Builder, in *exec.InstanceResult) {
		fmt.Fprintf(b, "%s %s %s %s %s\n", in.Name, in.Status, in.Reason, cmp.Or(string(in.State), "null"), cmp.Or(string(in.Output), "null"))
		for _, c := range in.Calls {
			fmt.Fprintf(b, "  %s %s %v %q %v %q\n", c.ID, c.Status, c.Handled, c.Outcome, c.Error, c.Reason)
		}
	}
	for _, line := range lines {
		var in exec.InstanceResult
		if err := json.Unmarshal(line, &in); err != nil {
			t.Fatal(err)
		}
		show(&g, &in)
	}
	for i := range want.Instances {
		show(&w, &want.Instances[i])
	}
	if g.String() != w.String() || got.Status != want.Status || got.Reason != want.Reason || got.Digest != want.Digest {
		t.Errorf("in a workflow: %s %s %s\n%s\nlocally: %s %s %s\n%s", got.Status, got.Reason, got.Digest, g.String(), want.Status, want.Reason, want.Digest, w.String())
	}
}
