package temporal

import (
	"bytes"
	"context"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	enumspb "go.temporal.io/api/enums/v1"
	historypb "go.temporal.io/api/history/v1"
	"google.golang.org/protobuf/encoding/protojson"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/tool"
)

// history returns the history of the newest workflow of a run.
func history(t *testing.T, c *Client, run string) *historypb.History {
	t.Helper()
	all := &historypb.History{}
	for events := c.GetWorkflowHistory(t.Context(), run, "", false, enumspb.HISTORY_EVENT_FILTER_TYPE_ALL_EVENT); events.HasNext(); {
		e, err := events.Next()
		if err != nil {
			t.Fatal(err)
		}
		all.Events = append(all.Events, e)
	}
	return all
}

// record keeps the history of a run for TestReplay, if -update says so.
func record(t *testing.T, c *Client, run, name string) {
	t.Helper()
	if !*update {
		return
	}
	text, err := protojson.MarshalOptions{Indent: " "}.Marshal(history(t, c, run))
	if err == nil {
		err = os.WriteFile(filepath.Join("testdata", "histories", name+".json"), text, 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// begin begins the run of a bundle.
func begin(t *testing.T, c *Client, b *plc.Bundle) {
	t.Helper()
	if err := c.Start(t.Context(), b); err != nil {
		t.Fatal(err)
	}
}

func wait(t *testing.T, c *Client, run string) *Outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	o, err := c.Wait(ctx, run)
	if err != nil {
		t.Fatal(err)
	}
	return o
}

// eventsOf returns the events of a run.
func eventsOf(ctx context.Context, c *Client, run string) (all []*exec.Event, err error) {
	for line, err := range c.Events(ctx, run, false) {
		e := &exec.Event{}
		if err == nil {
			err = json.Unmarshal(line, e)
		}
		if err != nil {
			return nil, err
		}
		all = append(all, e)
	}
	return all, nil
}

// asked waits for a question of a run.
func asked(t *testing.T, c *Client, run string) Question {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(50 * time.Millisecond) {
		if v, err := c.Show(t.Context(), run); err == nil && len(v.Questions) > 0 {
			return v.Questions[0]
		}
	}
	t.Fatal("nothing was asked")
	return Question{}
}

// A run on a server gives the same as one in one process.
func TestServer(t *testing.T) {
	t.Parallel()
	c := needServer(t).dial(t, Options{Queue: t.Name()})
	serve(t, c, WorkerOptions{Config: plc.Config{Tools: (&world{}).tools()}})
	for name, plan := range plans {
		t.Run(name, func(t *testing.T) {
			b := bundleOf(t, plan)
			begin(t, c, b)
			same(t, wait(t, c, b.Run), locally(t, plan))
			record(t, c, b.Run, name)
		})
	}
}

const asking = `{"calls": [{"_tool": "wipe", "_id": "w", "text": "a < b", "_outputPath": "†state.w"}, {"_tool": "send", "_id": "s", "text": "†state.w", "_outputPath": "†state.s"}]}`

// What a person approves is what was shown, and no answer counts twice.
func TestApproval(t *testing.T) {
	t.Parallel()
	c := needServer(t).dial(t, Options{Queue: t.Name()})
	stop := serve(t, c, WorkerOptions{Config: plc.Config{Tools: (&world{}).tools()}})
	b := bundleOf(t, asking)
	begin(t, c, b)
	if err := c.Start(t.Context(), b); err == nil {
		t.Error("the run has begun twice")
	}
	q := asked(t, c, b.Run)
	if q.Path != "w" || q.Kind != exec.ApprovalQuestion || string(q.Terms.Params) != `{"text":"a \u003c b"}` {
		t.Errorf("%+v %s", q, q.Terms.Params)
	}
	answer := Answer{Path: "w", Answer: exec.Answer{Approved: true, By: "ada"}}
	for _, digest := range []string{"", "0123"} {
		answer.Answer.Digest = digest
		if err := c.Answer(t.Context(), b.Run, answer); err == nil || !strings.Contains(err.Error(), "look at it again") {
			t.Errorf("digest %q: %v", digest, err)
		}
	}
	stop() // the question outlasts the worker
	serve(t, c, WorkerOptions{Config: plc.Config{Tools: (&world{}).tools()}})
	answer.Answer.Digest = q.Digest
	if err := c.Answer(t.Context(), b.Run, answer); err != nil {
		t.Fatal(err)
	}
	if err := c.Answer(t.Context(), b.Run, answer); err == nil {
		t.Error("answered twice")
	}
	same(t, wait(t, c, b.Run), locally(t, asking))
	record(t, c, b.Run, "approval")
	events, err := eventsOf(t.Context(), c, b.Run)
	if err != nil {
		t.Fatal(err)
	}
	var types []string
	for _, e := range events {
		types = append(types, string(e.Type))
		if e.Type == exec.ApprovalGiven && e.Answer.By != "ada" {
			t.Errorf("%+v", e.Answer)
		}
	}
	if got := strings.Join(types, " "); !strings.HasPrefix(got, "runStarted approvalAsked approvalAnswered callStarted callReturned write callCompleted callStarted") || !strings.HasSuffix(got, "runFinished") {
		t.Error(got)
	}
}

// A cancelled run ends, with its calls, and goes on when it is resumed: what has completed is not
// made again.
func TestCancelAndResume(t *testing.T) {
	t.Parallel()
	c := needServer(t).dial(t, Options{Queue: t.Name()})
	w := &world{}
	tools := w.tools()
	cancelled := make(chan bool, 1)
	first := true
	block := tool.Func("block", "Waits.", func(ctx context.Context, _ text) (string, error) {
		if !first {
			return "done", nil
		}
		first = false
		<-ctx.Done()
		cancelled <- true
		return "", ctx.Err()
	})
	block.Definition.Effects.ReadOnly = tool.Yes
	tools = append(tools, block)
	serve(t, c, WorkerOptions{Config: plc.Config{Tools: tools}})
	const plan = `{"calls": [{"_tool": "send", "_id": "s", "text": "1", "_outputPath": "†state.s"}, {"_tool": "block", "_id": "b", "text": "†{state.s}", "_timeout": "50s", "_outputPath": "†state.b"}]}`
	p, err := plc.New(plc.Config{Tools: tools}).Prepare(t.Context(), specOf(t, plan))
	if err != nil {
		t.Fatal(err)
	}
	b, err := p.Bundle()
	if err != nil {
		t.Fatal(err)
	}
	in := inputOf(t, b)
	in.LostAfter = 2 * time.Second // how soon a call hears that it is cancelled
	beginWith(t, c, b, in)
	for first {
		time.Sleep(10 * time.Millisecond)
	}
	if err := c.Resume(t.Context(), b.Run, Limits{}); err == nil {
		t.Error("a run that goes on was resumed")
	}
	if err := c.Cancel(t.Context(), b.Run); err != nil {
		t.Fatal(err)
	}
	if o := wait(t, c, b.Run); o.Status != exec.Cancelled || o.Result == nil {
		t.Fatalf("%+v", o)
	}
	<-cancelled
	record(t, c, b.Run, "cancelled")
	if err := c.Resume(t.Context(), b.Run, Limits{}); err != nil {
		t.Fatal(err)
	}
	o := wait(t, c, b.Run)
	if o.Status != exec.Completed || !strings.Contains(string(o.Result), `"state":{"s":1,"b":"done"}`) {
		t.Errorf("%s %s", o.Status, o.Result)
	}
	record(t, c, b.Run, "resumed")
	if len(w.sent) != 1 {
		t.Errorf("sent %d times", len(w.sent))
	}
	if err := c.Resume(t.Context(), b.Run, Limits{}); err == nil {
		t.Error("a completed run was resumed")
	}
	if found, err := c.Find(t.Context(), b.Run[:24]); found != b.Run {
		t.Errorf("found %q: %v", found, err)
	}
	if _, err := c.Find(t.Context(), "none"); err == nil {
		t.Error("found a run that there is not")
	}
	for r, err := range c.Runs(t.Context()) {
		if err != nil || r.Run == b.Run && r.Status != exec.Completed {
			t.Errorf("%+v: %v", r, err)
		}
	}
	n := 0
	for range c.Events(t.Context(), b.Run, false) { // of both workflows
		n++
	}
	if n < 10 {
		t.Errorf("%d events", n)
	}
}

// A run that has used up its budget pauses, and goes on with a larger one.
func TestBudget(t *testing.T) {
	t.Parallel()
	c := needServer(t).dial(t, Options{Queue: t.Name()})
	think := tool.Func("echo", "Thinks.", func(context.Context, text) (string, error) { return "", nil })
	think.Activity = tool.ActivityFunc(func(context.Context, *tool.Request) (tool.Result, error) {
		return tool.Result{Value: json.RawMessage(`""`), Usage: tool.Usage{Tokens: 10}}, nil
	})
	tools := []*tool.Tool{think}
	serve(t, c, WorkerOptions{Config: plc.Config{Tools: tools}})
	spec := specOf(t, graphOf(5, true))
	spec.Limits.Tokens, spec.OnFailure = 25, plc.Ask
	p, err := plc.New(plc.Config{Tools: tools}).Prepare(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	b, err := p.Bundle()
	if err != nil {
		t.Fatal(err)
	}
	begin(t, c, b)
	if o := wait(t, c, b.Run); o.Status != exec.Paused {
		t.Fatalf("%s %s", o.Status, o.Reason)
	}
	if err := c.Resume(t.Context(), b.Run, Limits{Tokens: 100}); err != nil {
		t.Fatal(err)
	}
	if o := wait(t, c, b.Run); o.Status != exec.Completed || !strings.Contains(string(o.Result), `"tokens":50`) {
		t.Fatalf("%s %s %s", o.Status, o.Reason, o.Result)
	}
}

func inputOf(t *testing.T, b *plc.Bundle) *input {
	t.Helper()
	in, err := inputFor(b)
	if err != nil {
		t.Fatal(err)
	}
	return in
}

func beginWith(t *testing.T, c *Client, b *plc.Bundle, in *input) {
	t.Helper()
	if err := c.begin(t.Context(), b.Run, "", in, enumspb.WORKFLOW_ID_REUSE_POLICY_REJECT_DUPLICATE); err != nil {
		t.Fatal(err)
	}
}

// many returns a plan of a chain and a fan of calls.
func many(n int, tools ...string) string {
	var calls []string
	for i := range n {
		text := "x"
		if i > 0 && i < n/2 {
			text = fmt.Sprintf("†state.s%d", i-1)
		}
		calls = append(calls, fmt.Sprintf(`{"_tool": %q, "_id": "c%d", "text": %q, "_outputPath": "†state.s%[2]d"}`, tools[i%len(tools)], i, text))
	}
	return `{"calls": [` + strings.Join(calls, ",") + `]}`
}

// graphOf returns a plan of calls that are a chain, or that need nothing of each other.
func graphOf(n int, chain bool) string {
	var calls []string
	for i := range n {
		after := ""
		if chain && i > 0 {
			after = fmt.Sprintf(`"_dependsOn": ["c%d"], `, i-1)
		}
		calls = append(calls, fmt.Sprintf(`{"_tool": "echo", "_id": "c%d", %s"text": "x", "_outputPath": "†state.s%[1]d"}`, i, after))
	}
	return `{"calls": [` + strings.Join(calls, ",") + `]}`
}

// A long run goes on in other workflows, and nobody sees it.
func TestHops(t *testing.T) {
	t.Parallel()
	c := needServer(t).dial(t, Options{Queue: t.Name()})
	serve(t, c, WorkerOptions{Config: plc.Config{Tools: (&world{}).tools()}})
	plan := many(40, "echo")
	b := bundleOf(t, plan)
	in := inputOf(t, b)
	in.HopAfter = 60
	beginWith(t, c, b, in)
	same(t, wait(t, c, b.Run), locally(t, plan))
	record(t, c, b.Run, "hops")
	all, err := c.executions(t.Context(), b.Run)
	if err != nil || len(all) < 3 {
		t.Errorf("%d workflows, %v", len(all), err)
	}
	events, err := eventsOf(t.Context(), c, b.Run)
	if err != nil {
		t.Fatal(err)
	}
	started := map[string]int{}
	for _, e := range events {
		if e.Type == exec.CallStarted {
			started[e.Call]++
		}
	}
	if len(started) != 40 || started["c7"] != 1 {
		t.Errorf("%d calls: %v", len(started), started)
	}
}

// noise returns a text that does not get much shorter by compression.
func noise(n int) string {
	text := make([]byte, n/2)
	rand.NewChaCha8([32]byte{}).Read(text)
	return hex.EncodeToString(text)
}

// Large values go to the storage, and are refused without one. Nothing is there in clear.
func TestLargeAndEncrypted(t *testing.T) {
	t.Parallel()
	s := needServer(t)
	large := tool.Func("large", "Gives much.", func(_ context.Context, p text) (string, error) {
		return p.Text + "secret" + noise(3_000_000), nil
	})
	large.Definition.Effects.Pure = tool.Yes
	tools := append((&world{}).tools(), large)
	const plan = `{"calls": [{"_tool": "large", "_id": "l", "text": "secret", "_outputPath": "†state.l"}, {"_tool": "large", "_id": "m", "text": "†state.l", "_outputPath": "†data.m"}]}`
	bundle := func(t *testing.T) *plc.Bundle {
		p, err := plc.New(plc.Config{Tools: tools}).Prepare(t.Context(), specOf(t, plan))
		if err != nil {
			t.Fatal(err)
		}
		b, err := p.Bundle()
		if err != nil {
			t.Fatal(err)
		}
		return b
	}
	t.Run("without", func(t *testing.T) {
		c := s.dial(t, Options{Queue: t.Name()})
		serve(t, c, WorkerOptions{Config: plc.Config{Tools: tools}})
		b := bundle(t)
		begin(t, c, b)
		if o := wait(t, c, b.Run); o.Status != exec.Failed || !strings.Contains(o.Reason, "--storage") {
			t.Errorf("%s: %s", o.Status, o.Reason)
		}
		b.Run, b.Given.Plan.Bytes = exec.NewID(), []byte(noise(3*mostWithout))
		if err := c.Start(t.Context(), b); err == nil || !strings.Contains(err.Error(), "--storage") {
			t.Error(err)
		}
	})
	t.Run("with", func(t *testing.T) {
		storage := t.TempDir()
		c := s.dial(t, Options{Queue: t.Name(), Storage: storage, Keys: strings.Repeat("ab", 32)})
		serve(t, c, WorkerOptions{Config: plc.Config{Tools: tools}})
		b := bundleOf(t, fmt.Sprintf(`[{"_tool": "echo", "_id": %q, "text": "x"}]`, strings.Repeat("<é†", 300)))
		begin(t, c, b)
		if o := wait(t, c, b.Run); o.Status != exec.Completed {
			t.Errorf("%s: %s", o.Status, o.Reason)
		}
		b = bundle(t)
		begin(t, c, b)
		o := wait(t, c, b.Run)
		if o.Status != exec.Completed || len(o.Result) < 6_000_000 {
			t.Errorf("%s: %s, %d bytes", o.Status, o.Reason, len(o.Result))
		}
		plain := s.dial(t, Options{}) // without key and storage
		h, err := protojson.Marshal(history(t, plain, b.Run))
		if err != nil || bytes.Contains(h, []byte("secret")) || len(h) > 200_000 {
			t.Errorf("the history of %d bytes has it in clear: %v", len(h), err)
		}
		n := 0
		err = filepath.Walk(storage, func(path string, info os.FileInfo, err error) error {
			if err == nil && !info.IsDir() {
				n++
				var text []byte
				if text, err = os.ReadFile(path); bytes.Contains(text, []byte("secret")) || strings.HasPrefix(filepath.Base(path), "part") {
					t.Errorf("%s has it in clear", path)
				}
			}
			return err
		})
		if err != nil || n < 4 {
			t.Errorf("%d files in the storage: %v", n, err)
		}
		if _, err := plain.Wait(t.Context(), b.Run); err == nil {
			t.Error("read without the key")
		}
	})
}

// A rate of a queue is that of all its workers together.
func TestPerSecond(t *testing.T) {
	t.Parallel()
	c := needServer(t).dial(t, Options{Queue: t.Name()})
	for range 2 {
		serve(t, c, WorkerOptions{Config: plc.Config{Tools: (&world{}).tools()}, PerSecond: 5})
	}
	b := bundleOf(t, graphOf(20, false))
	start := time.Now()
	begin(t, c, b)
	o := wait(t, c, b.Run)
	if took := time.Since(start); o.Status != exec.Completed || took < 2*time.Second {
		t.Errorf("%s: 20 calls took %s", o.Status, took)
	}
}
