package law

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"regexp"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/effort"
	"github.com/plc-lang/plc/tool"
)

var resumed = flag.Int("law.resumed", effort.Of(8, 100), "how many random plans TestResume runs")

// TestResume kills runs of random plans after every event that they record, goes on
// with what the record has, and wants what the run gave that was not killed (execution §5).
func TestResume(t *testing.T) {
	cuts := 0
	for i := range *resumed {
		s := *seed + uint64(i)
		n, err := checkResume(t, generate(random(s)), s, 1)
		if err != nil {
			t.Fatalf("go test ./exec/law -run TestResume -law.resumed=1 -law.seed=%d\n%v\n%s", s, err, generate(random(s)).text())
		}
		cuts += n
	}
	t.Logf("%d runs were killed and resumed", cuts)
	if *resumed >= 100 && cuts < 2000 {
		t.Errorf("only %d runs were killed", cuts)
	}
}

// FuzzResume does the same with plans of the fuzzer's bytes.
func FuzzResume(f *testing.F) {
	for i := range uint64(16) {
		f.Add(random(i), i)
	}
	f.Fuzz(func(t *testing.T, data []byte, jitter uint64) {
		// A plan is run for some of its events, several times for each.
		p := generate(data[:min(len(data), 40)])
		if _, err := checkResume(t, p, jitter, 12); err != nil {
			t.Errorf("%v\n%s", err, p.text())
		}
	})
}

// checkResume runs a plan, kills it after every event, or after one in so many of them, and resumes
// it.
func checkResume(t *testing.T, p *plan, jitter uint64, every int) (cuts int, err error) {
	prog, _, findings, err := p.compile()
	if err != nil || findings.Err() != nil {
		return 0, err
	}
	r := resuming{t: t, plan: p, prog: prog, jitter: jitter, uncertain: exec.RetryUncertain}
	whole := &memory{}
	want, _, err := r.run(whole, 0)
	if err != nil {
		return 0, err
	}
	if err := r.replay(whole, want); err != nil {
		return 0, err
	}
	for cut := int(jitter % uint64(every)); cut < len(whole.events); cut += every {
		cuts++
		if err := r.resume(whole.cut(cut), want, true); err != nil {
			return cuts, fmt.Errorf("killed after event %d of %d: %w", cut, len(whole.events), err)
		}
		if err := r.doubted(whole.cut(cut)); err != nil {
			return cuts, fmt.Errorf("killed after event %d of %d, and not sure: %w", cut, len(whole.events), err)
		}
	}
	return cuts, r.interrupted(want)
}

// resuming is a plan that is run over and over.
type resuming struct {
	t         *testing.T
	plan      *plan
	prog      *compile.Program
	jitter    uint64
	uncertain exec.Uncertain
	abort     bool // when a call fails
}

// run runs the plan with a record, and stops it after some time.
func (r resuming) run(m *memory, stop time.Duration, change ...func(*exec.Options)) (res *exec.Result, tr *trace, err error) {
	opts := exec.Options{ID: "run", MaxParallel: 1 + int(r.jitter%8), Seed: 1, OnUncertain: r.uncertain, Approve: exec.ApproveNone, Record: m}
	opts.OnFailure, _ = exec.ParseStrategy(r.plan.Strategy)
	if r.abort {
		opts.OnFailure = exec.Abort
	}
	for _, f := range change {
		f(&opts)
	}
	r.jitter++
	tr = &trace{jitter: r.jitter, asked: map[string]string{}, record: m}
	synctest.Test(r.t, func(t *testing.T) {
		ctx := context.WithValue(context.Background(), traceKey{}, tr)
		if stop > 0 {
			stopped, cancel := context.WithTimeout(ctx, stop)
			defer cancel()
			ctx = stopped
		}
		res, err = exec.Run(ctx, r.prog, &opts)
	})
	if err != nil {
		return nil, nil, err
	}
	return res, tr, errors.Join(m.wrong...)
}

// resume goes on with a record and wants what the whole run gave. What goes on is killed
// once more.
func (r resuming) resume(m *memory, want *exec.Result, again bool) error {
	before := m.pasts()
	res, tr, err := r.run(m, 0)
	if err != nil {
		return err
	}
	if got, want := essence(res), essence(want); got != want {
		return fmt.Errorf("resumed:\n%s\nwhole:\n%s", got, want)
	}
	for _, s := range tr.spans {
		if past := before[s.call]; past != nil && past.Returned != nil {
			return fmt.Errorf("%s is called again, although it had returned", s.call)
		}
	}
	if !again {
		return r.replay(m, res)
	}
	cut := len(m.events) - int(r.jitter)%(len(m.events)-m.before+1)
	if err := r.resume(m.cut(cut), want, false); err != nil {
		return fmt.Errorf("killed again after event %d of %d: %w", cut, len(m.events), err)
	}
	return nil
}

// doubted goes on with a record when attempts without an answer may not be repeated, and
// wants that none is that may have changed the world.
func (r resuming) doubted(m *memory) error {
	r.uncertain = exec.FailUncertain
	before := m.pasts()
	_, tr, err := r.run(m, 0)
	if err != nil {
		return err
	}
	for _, s := range tr.spans {
		if past := before[s.call]; past != nil && past.Lost && !definitions[s.tool].Repeatable() && past.Fallback == isBackup(s.tool) {
			return fmt.Errorf("%s %s is called again, although its answer was lost", s.tool, s.call)
		}
	}
	return nil
}

// replay walks the record and wants the same whiteboard, and no tool called.
func (r resuming) replay(m *memory, want *exec.Result) error {
	n := len(m.events)
	res, tr, err := r.run(m.cut(n), 0, func(o *exec.Options) { o.Replay = true })
	if err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	if len(tr.spans) > 0 {
		return fmt.Errorf("replay: tools were called: %v", tr.spans)
	}
	if res.Digest != want.Digest {
		return fmt.Errorf("replay: %s\n%s\nrun:\n%s", res.Reason, essence(res), essence(want))
	}
	return nil
}

// interrupted stops the run at some time, and when a call fails; replays it and
// goes on.
func (r resuming) interrupted(want *exec.Result) error {
	stopped := &memory{}
	res, _, err := r.run(stopped, time.Duration(1+r.jitter%600)*time.Millisecond)
	if err != nil {
		return err
	}
	if err := r.replay(stopped, res); err != nil {
		return fmt.Errorf("cancelled: %w", err)
	}
	if err := r.resume(stopped.cut(len(stopped.events)), want, true); err != nil {
		return fmt.Errorf("cancelled: %w", err)
	}
	aborted := &memory{}
	r.abort = true
	res, _, err = r.run(aborted, 0)
	if err != nil {
		return err
	}
	if err := r.replay(aborted, res); err != nil {
		return fmt.Errorf("aborted: %w", err)
	}
	return nil
}

// essence is what has to be the same of two runs, of which one was killed and
// perhaps needed more attempts.
func essence(res *exec.Result) string {
	s := fmt.Sprintf("%s\nstate %s\ndata %s\nkinds %s\noutput %s", res.Status, res.State, res.Data, res.Kinds, res.Output)
	for _, c := range res.Calls {
		s += fmt.Sprintf("\n%s %s handled=%v outcome=%q error=%v", c.ID, c.Status, c.Handled, c.Outcome, c.Error)
	}
	return string(blind([]byte(s)))
}

var attempts = regexp.MustCompile(`(\\*"attempts\\*":)[0-9]+`)

// blind is JSON in which all error objects say the same of their attempts.
func blind(text []byte) []byte { return attempts.ReplaceAll(text, []byte("${1}0")) }

// A memory is a record that keeps events as a disk gives them back.
type memory struct {
	mu     sync.Mutex
	events []*exec.Event
	before int // how many of them earlier processes left
	synced int64
	wrong  []error
}

func (m *memory) Append(e *exec.Event) int64 {
	line, err := json.Marshal(e)
	m.mu.Lock()
	defer m.mu.Unlock()
	if err != nil {
		m.wrong = append(m.wrong, err)
	}
	kept := &exec.Event{}
	if err := json.Unmarshal(line, kept); err != nil {
		m.wrong = append(m.wrong, err)
	}
	m.events = append(m.events, kept)
	return int64(len(m.events))
}

func (m *memory) Sync(seq int64) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.synced = max(m.synced, seq)
	return nil
}

func (m *memory) Past(string) (map[string]*exec.Past, error) {
	if m.before == 0 {
		return nil, nil
	}
	return m.pasts(), nil
}

// pasts is what earlier processes left of each call.
func (m *memory) pasts() map[string]*exec.Past {
	all := map[string]*exec.Past{}
	for _, e := range m.events[:m.before] {
		if e.Call == "" {
			continue
		}
		if all[e.Call] == nil {
			all[e.Call] = &exec.Past{}
		}
		all[e.Call].Take(e)
	}
	return all
}

// cut is what is left of a record when the process is killed after n events.
func (m *memory) cut(n int) *memory { return &memory{events: m.events[:n:n], before: n} }

// attempt checks that an attempt is one that the record knows of, and on disk if it may change
// the world; it reports how many of the call's got an answer before.
func (m *memory) attempt(req *tool.Request) (n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	past, on := &exec.Past{}, int64(0)
	for i, e := range m.events {
		if e.Call == req.Call {
			past.Take(e)
			on = int64(i + 1)
		}
	}
	e := definitions[req.Tool]
	switch {
	case !past.Lost || past.Key != req.Key || past.Fallback != isBackup(req.Tool):
		m.wrong = append(m.wrong, fmt.Errorf("%s %s was called, and the record has no start of it", req.Tool, req.Call))
	case e.Pure != tool.Yes && e.ReadOnly != tool.Yes && on > m.synced:
		m.wrong = append(m.wrong, fmt.Errorf("%s %s was called before its start was on disk", req.Tool, req.Call))
	}
	return past.Failed + 1
}
