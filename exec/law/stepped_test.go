package law

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/effort"
	"github.com/plc-lang/plc/tool"
)

var stepped = flag.Int("law.stepped", effort.Of(25, 500), "how many random plans TestStepped runs")

// TestStepped runs random plans in steps, and wants what a local run gives: the whiteboard, the
// statuses, the order of effects, keys and seeds. It replays what each run was told into a fresh
// stepper, goes on in another one at every answer, loses answers, and stops runs and goes on; and it
// does so with loops in parts.
func TestStepped(t *testing.T) {
	var all stepCounts
	for i := range *stepped {
		s := *seed + uint64(i)
		make := generate
		if s%2 == 0 {
			make = generateNested
		}
		n, err := checkStepped(t, make(random(s)), s)
		if err != nil {
			t.Fatalf("go test ./exec/law -run TestStepped -law.stepped=1 -law.seed=%d\n%v\n%s", s, err, make(random(s)).text())
		}
		all.add(n)
	}
	t.Logf("%+v", all)
	if *stepped >= 500 && (all.Runs < 200 || all.Hops < 500 || all.Lost < 200 || all.Canceled < 100 || all.Stopped < 100 || all.Parts < 100) {
		t.Errorf("too few: %+v", all)
	}
}

// FuzzStepped does the same with plans of the fuzzer's bytes.
func FuzzStepped(f *testing.F) {
	for i := range uint64(16) {
		f.Add(random(i), i)
	}
	f.Fuzz(func(t *testing.T, data []byte, jitter uint64) {
		p := generate(data[:min(len(data), 200)])
		if _, err := checkStepped(t, p, jitter); err != nil {
			t.Errorf("%v\n%s", err, p.text())
		}
	})
}

// stepCounts are what was done in runs by steps.
type stepCounts struct {
	Runs, Answers, Hops, Lost, Canceled, Stopped, Parts int
}

func (c *stepCounts) add(d stepCounts) {
	c.Runs += d.Runs
	c.Answers += d.Answers
	c.Hops += d.Hops
	c.Lost += d.Lost
	c.Canceled += d.Canceled
	c.Stopped += d.Stopped
	c.Parts += d.Parts
}

func checkStepped(t *testing.T, p *plan, jitter uint64) (stepCounts, error) {
	prog, _, findings, err := p.compile()
	if err != nil || findings.Err() != nil {
		return stepCounts{}, err
	}
	c := &stepping{t: t, plan: p, prog: prog, jitter: jitter, uncertain: exec.FailUncertain}
	var local *outcome
	for _, way := range []struct {
		name      string
		uncertain exec.Uncertain
		run       func(want *outcome) error
	}{
		{"in steps", exec.FailUncertain, c.whole},
		{"going on at every answer", exec.FailUncertain, c.hopping},
		{"with answers lost", exec.RetryUncertain, c.losing},
		{"stopped", exec.RetryUncertain, c.stopping},
		{"in parts", exec.FailUncertain, c.inParts(c.whole)},
		{"in parts, going on at every answer", exec.FailUncertain, c.inParts(c.hopping)},
		{"in parts, stopped", exec.RetryUncertain, c.inParts(c.stopping)},
	} {
		if local == nil || c.uncertain != way.uncertain {
			c.uncertain = way.uncertain
			if local, err = c.local(); err != nil {
				return c.counts, err
			}
		}
		if err := way.run(local); err != nil {
			return c.counts, fmt.Errorf("%s: %w", way.name, err)
		}
	}
	return c.counts, nil
}

// stepping is a plan that is run in steps.
type stepping struct {
	t      *testing.T
	plan   *plan
	prog   *compile.Program
	jitter uint64
	counts stepCounts

	uncertain exec.Uncertain
	partItems int
	turn      sync.Mutex // one driver at a time
}

// inParts has loops divided.
func (c *stepping) inParts(run func(*outcome) error) func(*outcome) error {
	return func(want *outcome) error {
		c.partItems = 1 + int(c.jitter%2)
		defer func() { c.partItems = 0 }()
		return run(want)
	}
}

// outcome is what a run came to.
type outcome struct {
	res      *exec.Result
	keys     map[string]string // of attempts, by path and number
	contents map[string]string // the same of the contents of their calls
	tr       *trace
	log      []told
	asked    []string     // the attempts that were handed out, in order
	parts    []*exec.Part // the same of parts, which were not begun yet
}

// told is what a stepper was told.
type told struct {
	at     time.Time
	id     string // of an attempt; "" is none
	res    tool.Result
	err    error
	lost   bool
	cancel bool
	made   *exec.PartMade // of a part
}

func (c *stepping) options() *exec.Options {
	o := &exec.Options{
		ID: "run", Seed: 1 + c.jitter, MaxParallel: 1 + int(c.jitter%8), Grace: time.Minute,
		Approve: exec.ApproveNone, OnUncertain: c.uncertain, PartItems: c.partItems,
	}
	if c.jitter%5 == 0 {
		o.Schedule = exec.Sequential
	}
	o.OnFailure, _ = exec.ParseStrategy(c.plan.Strategy)
	return o
}

// local runs the plan as usual.
func (c *stepping) local() (*outcome, error) {
	o, out := c.options(), newOutcome(c.jitter)
	m := &memory{}
	o.Record, o.OnEvent = m, out.note
	var err error
	synctest.Test(c.t, func(*testing.T) {
		out.res, err = exec.Run(context.WithValue(context.Background(), traceKey{}, out.tr), c.prog, o)
	})
	return out, errors.Join(append(m.wrong, err)...)
}

func newOutcome(jitter uint64) *outcome {
	return &outcome{keys: map[string]string{}, contents: map[string]string{}, tr: &trace{jitter: jitter, asked: map[string]string{}, seeds: map[string]uint64{}}}
}

// note keeps the keys of attempts.
func (o *outcome) note(e *exec.Event) {
	if e.Type == exec.CallStarted {
		at := fmt.Sprintf("%s %d %v", e.Call, e.Attempt, e.Fallback)
		o.keys[at], o.contents[at] = e.Key, e.Content
	}
}

// whole runs the plan in one stepper, and replays what that was told.
func (c *stepping) whole(want *outcome) error {
	c.counts.Runs++
	d := &driving{}
	got, err := c.drive(d)
	if err != nil {
		return err
	}
	if err := c.same(got, want, true); err != nil {
		return err
	}
	if err := c.walk(d.m.History(), got); err != nil {
		return err
	}
	return c.replay(got)
}

// walk replays the history of a run (exec.Options.Replay): no attempt is made, and the whiteboard
// is the same.
func (c *stepping) walk(past *exec.History, was *outcome) error {
	o := c.options()
	o.Replay = true
	m, err := exec.NewStepper(c.prog, o, past, time.Now())
	if err != nil {
		return err
	}
	if n := len(m.Next()); n > 0 || m.Result() == nil || m.Result().Digest != was.res.Digest {
		return fmt.Errorf("walked again, it wants %d attempts: %+v\nand was:\n%s", n, m.Result(), text(was.res))
	}
	return nil
}

// replay tells a fresh stepper what another one was told.
func (c *stepping) replay(was *outcome) error {
	got := newOutcome(c.jitter)
	o := c.options()
	o.OnEvent = got.note
	m, err := exec.NewStepper(c.prog, o, nil, was.log[0].at)
	if err != nil {
		return err
	}
	got.hand(m)
	for _, in := range was.log[1:] {
		m.Advance(in.at)
		switch {
		case in.cancel:
			m.Cancel()
		case in.lost:
			err = m.Lost(in.id)
		case in.made != nil:
			err = m.PartMade(in.id, in.made)
		case in.id != "":
			err = m.Answer(in.id, in.res, in.err)
		}
		if err != nil {
			return fmt.Errorf("replayed: %w", err)
		}
		got.hand(m)
	}
	got.res = m.Result()
	switch {
	case got.res == nil:
		return errors.New("replayed: it has not ended")
	case !slices.Equal(got.asked, was.asked):
		return fmt.Errorf("replayed: it wants the attempts\n%v\nand wanted\n%v", got.asked, was.asked)
	case c.partItems == 0 && !maps.Equal(got.keys, was.keys):
		return fmt.Errorf("replayed: the keys are\n%v\nand were\n%v", got.keys, was.keys)
	case text(got.res) != text(was.res):
		return fmt.Errorf("replayed:\n%s\nand was:\n%s", text(got.res), text(was.res))
	}
	return nil
}

// hand notes the attempts that a stepper wants.
func (o *outcome) hand(m *exec.Stepper) (all []*exec.Attempt) {
	all = m.Next()
	for _, a := range all {
		o.asked = append(o.asked, a.ID)
	}
	for _, p := range m.Parts() {
		o.asked = append(o.asked, p.ID)
		o.parts = append(o.parts, p)
	}
	return all
}

// hopping goes on in another stepper after every answer.
func (c *stepping) hopping(want *outcome) error {
	got, err := c.drive(&driving{hops: true})
	if err != nil {
		return err
	}
	return c.same(got, want, false)
}

// losing loses one answer in four: their attempts are made again.
func (c *stepping) losing(want *outcome) error {
	got, err := c.drive(&driving{loses: true})
	if err != nil {
		return err
	}
	if err := c.replay(got); err != nil {
		return err
	}
	return c.same(got, want, false)
}

// stopping cancels the run at some time, and goes on with it.
func (c *stepping) stopping(want *outcome) error {
	d := &driving{stop: time.Duration(1+c.jitter%900) * time.Millisecond}
	got, err := c.drive(d)
	if err != nil {
		return err
	}
	if err := c.replay(got); err != nil {
		return err
	}
	if got.res.Status == exec.Cancelled {
		c.counts.Stopped++
		if got, err = c.drive(&driving{past: d.m.History()}); err != nil {
			return err
		}
	}
	return c.same(got, want, false)
}

// same reports how two runs differ. Of runs that went on, the attempts may.
func (c *stepping) same(got, want *outcome, whole bool) error {
	if g, w := essence(got.res), essence(want.res); g != w {
		return fmt.Errorf("in steps:\n%s\nlocal:\n%s", g, w)
	}
	if whole && text(got.res) != text(want.res) {
		return fmt.Errorf("in steps:\n%s\nlocal:\n%s", text(got.res), text(want.res))
	}
	if whole && !maps.Equal(outerKeys(got.keys), outerKeys(want.keys)) {
		return fmt.Errorf("the keys are\n%v\nlocal:\n%v", got.keys, want.keys)
	}
	for at, key := range got.keys {
		if w, ok := want.keys[at]; ok && w != key && !c.others(at, got, want) {
			return fmt.Errorf("the key of %s is %s, local %s", at, key, w)
		}
	}
	for key, seed := range got.tr.seeds {
		if w, ok := want.tr.seeds[key]; ok && w != seed {
			return fmt.Errorf("the seed of %s is %d, local %d", key, seed, w)
		}
	}
	return c.ordered(got)
}

// outerKeys are the keys of the calls of the plan itself. In runs inside runs it depends on the clock
// how many of the items behind one that failed had begun.
func outerKeys(keys map[string]string) map[string]string {
	outer := maps.Clone(keys)
	maps.DeleteFunc(outer, func(at, _ string) bool { return strings.Contains(at, "/") })
	return outer
}

// others reports whether an attempt may have other params than in a local run, and so another key:
// error objects in them say how many attempts there were, of which some were lost.
func (c *stepping) others(at string, got, want *outcome) bool {
	ownFallback := strings.HasSuffix(at, "true") // whose params the content does not have
	return c.uncertain == exec.RetryUncertain && (ownFallback || got.contents[at] != want.contents[at])
}

// ordered checks the order of effects.
func (c *stepping) ordered(got *outcome) error {
	place := map[string]int{}
	for i := range c.prog.Calls {
		place[c.prog.Calls[i].ID] = i + 1
	}
	return c.plan.inOrder(place, way{opts: *c.options()}, got.tr)
}

// text is all of a result that does not depend on the clock.
func text(res *exec.Result) string {
	s := fmt.Sprintf("%s %s %s\nstate %s\ndata %s\nkinds %s\noutput %s", res.Status, res.Reason, res.Digest, res.State, res.Data, res.Kinds, res.Output)
	for _, c := range res.Calls {
		s += fmt.Sprintf("\n%s %s handled=%v attempts=%d outcome=%q error=%v %s", c.ID, c.Status, c.Handled, c.Attempts, c.Outcome, c.Error, c.Reason)
	}
	return s
}

// driving is how a plan is driven through its steps.
type driving struct {
	hops  bool          // it goes on in another stepper after every answer
	loses bool          // some answers are lost
	stop  time.Duration // when it is cancelled; 0 is never
	past  *exec.History // that it goes on from

	m       *exec.Stepper
	opts    *exec.Options
	held    bool
	halted  bool // it does not go on
	told    int  // answers
	answers chan told
	cancels map[string]context.CancelFunc

	part  *exec.Part // which it runs; nil is the whole
	parts map[string]*driving
	ends  chan bool // true cancels the part, false halts it
}

// drive runs the plan in steps, in a bubble of its own time.
func (c *stepping) drive(d *driving) (out *outcome, err error) {
	out = newOutcome(c.jitter)
	d.opts = c.options()
	d.opts.OnEvent = out.note
	synctest.Test(c.t, func(*testing.T) {
		d.init()
		if d.m, err = exec.NewStepper(c.prog, d.opts, d.past, time.Now()); err == nil {
			c.turn.Lock()
			defer c.turn.Unlock()
			out.log = append(out.log, told{at: time.Now()})
			err = c.steps(d, out)
		}
	})
	return out, err
}

func (d *driving) init() {
	d.answers, d.cancels, d.parts = make(chan told), map[string]context.CancelFunc{}, map[string]*driving{}
	d.ends = make(chan bool, 2)
}

// run runs a part of a loop as another process does: it gets a text, and gives back a text.
func (c *stepping) run(p *exec.Part, of *driving, out *outcome) (*driving, error) {
	c.counts.Parts++
	text, err := json.Marshal(p)
	if err != nil {
		return nil, err
	}
	d := &driving{opts: of.opts, hops: of.hops, part: &exec.Part{}}
	d.init()
	if err := json.Unmarshal(text, d.part); err != nil {
		return nil, err
	}
	if d.m, err = exec.NewPart(c.prog, d.opts, d.part, time.Now()); err != nil {
		return nil, err
	}
	go func() {
		c.turn.Lock()
		err := c.steps(d, &outcome{keys: out.keys, contents: out.contents, tr: out.tr})
		made := &exec.PartMade{}
		if err == nil {
			text, err = json.Marshal(d.m.Made())
		}
		if err == nil {
			err = json.Unmarshal(text, made)
		}
		c.turn.Unlock()
		if err != nil {
			panic(err)
		}
		of.answers <- told{id: p.ID, made: made}
	}()
	return d, nil
}

// steps drives a stepper to its end.
func (c *stepping) steps(d *driving, out *outcome) error {
	var stop <-chan time.Time
	if d.stop > 0 {
		stop = time.After(d.stop)
	}
	for {
		d.start(c.prog, out)
		for _, p := range out.parts {
			var err error
			if d.parts[p.ID], err = c.run(p, d, out); err != nil {
				return err
			}
		}
		out.parts = nil
		for _, id := range d.m.Canceled() {
			c.counts.Canceled++
			if part := d.parts[id]; part != nil {
				part.ends <- true
				continue
			}
			d.cancels[id]()
		}
		for _, id := range d.m.Halted() {
			d.parts[id].ends <- false
		}
		out.res = d.m.Result()
		switch {
		case out.res != nil && d.m.Waiting() == 0:
			return nil
		case out.res == nil && d.held && d.m.Waiting() == 0:
			if d.halted {
				return nil
			}
			if err := c.hop(d); err != nil {
				return err
			}
			continue
		}
		var wake <-chan time.Time
		if at, ok := d.m.Wake(); ok && out.res == nil {
			wake = time.After(time.Until(at))
		}
		var in told
		c.turn.Unlock()
		select {
		case in = <-d.answers:
		case <-wake:
		case <-stop:
			in.cancel = true
		case in.cancel = <-d.ends:
			if !in.cancel {
				d.halted = true
			}
		}
		c.turn.Lock()
		if d.halted && !d.held {
			d.held = true
			d.m.Hold()
		}
		in.at = time.Now()
		if err := c.tell(d, out, in); err != nil {
			return err
		}
	}
}

// start has the attempts made that the stepper wants.
func (d *driving) start(prog *compile.Program, out *outcome) {
	all := out.hand(d.m)
	if len(all) == 0 {
		return
	}
	ctx, past := context.WithValue(context.Background(), traceKey{}, out.tr), d.m.History()
	for _, a := range all {
		n := 1 + past.Calls[a.Instance][a.Path].Failed
		own, cancel := context.WithCancel(context.WithValue(ctx, countKey{}, n))
		d.cancels[a.ID] = cancel
		go func() {
			defer cancel()
			made, err := elsewhere(own, prog, a)
			if err != nil {
				panic(err)
			}
			d.answers <- told{id: a.ID, res: made.Result, err: made.Err}
		}()
	}
}

// elsewhere makes an attempt as another process does: it gets the attempt as text, and gives back
// a text.
func elsewhere(ctx context.Context, prog *compile.Program, a *exec.Attempt) (*exec.Made, error) {
	text, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	same, err := exec.ReadAttempt(prog, text)
	if err != nil {
		return nil, err
	}
	if !reflect.DeepEqual(a, same) {
		return nil, fmt.Errorf("the attempt changed as it was written: %+v\n%+v", a.Request, same.Request)
	}
	res, err := same.Make(ctx, same.Activity())
	if text, err = json.Marshal(exec.Made{Result: res, Err: err}); err != nil {
		return nil, err
	}
	made := &exec.Made{}
	return made, json.Unmarshal(text, made)
}

// tell tells a stepper what has happened.
func (c *stepping) tell(d *driving, out *outcome, in told) (err error) {
	d.m.Advance(in.at)
	switch {
	case in.cancel:
		d.m.Cancel()
	case in.id != "":
		if in.made != nil {
			err = d.m.PartMade(in.id, in.made)
		} else if d.told++; d.loses && d.told%4 == 0 {
			c.counts.Lost++
			in.lost = true
			err = d.m.Lost(in.id)
		} else {
			c.counts.Answers++
			err = d.m.Answer(in.id, in.res, in.err)
		}
		if d.hops && d.m.Result() == nil {
			d.held = true
			d.m.Hold()
		}
	}
	out.log = append(out.log, in)
	return err
}

// hop goes on in another stepper, with a history that was written and read.
func (c *stepping) hop(d *driving) error {
	c.counts.Hops++
	line, err := json.Marshal(d.m.History())
	if err != nil {
		return err
	}
	past := &exec.History{}
	if err := json.Unmarshal(line, past); err != nil {
		return err
	}
	again, err := json.Marshal(past)
	if err != nil || !bytes.Equal(line, again) {
		return fmt.Errorf("the history changed as it was written: %s\n%s: %w", line, again, err)
	}
	d.held = false
	if d.part != nil {
		d.part.Past = past
		d.m, err = exec.NewPart(c.prog, d.opts, d.part, time.Now())
		return err
	}
	d.m, err = exec.NewStepper(c.prog, d.opts, past, time.Now())
	return err
}
