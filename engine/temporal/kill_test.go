package temporal

import (
	"context"
	"flag"
	"maps"
	"math/rand/v2"
	"os"
	osexec "os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/effort"
	"github.com/plc-lang/plc/journal/memory"
)

var (
	kills    = flag.Int("temporal.kills", effort.Of(3, 20), "how many times TestKilled kills workers or the server")
	killSeed = flag.Uint64("temporal.seed", 0, "seed of the kills; 0 draws one")
)

// TestKilled runs plans on two workers, which are processes, and kills with -9 one of them, both or
// the server, at random instants. Each run has to give what a local run gives; what was done has to
// be in the record; and what may not be repeated is done again only if a person said so.
func TestKilled(t *testing.T) {
	t.Parallel()
	s := newServer(t, keeps)
	defer s.stop()
	seed := *killSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Logf("-temporal.seed=%d", seed)
	k := &killing{t: t, server: s, rand: rand.New(rand.NewPCG(seed, 0)), queue: t.Name(), effects: filepath.Join(t.TempDir(), "effects")}
	k.client = s.dial(t, Options{Queue: k.queue})
	for range 2 {
		k.workers = append(k.workers, k.worker())
	}
	defer func() {
		for _, w := range k.workers {
			k.end(w)
		}
	}()
	runs := 0
	for ; k.done < *kills; runs++ {
		k.run()
		if t.Failed() {
			return
		}
	}
	t.Logf("%d kills in %d runs (a plan, a loop, instances: %v): %v; %d questions", k.done, runs, k.shapes, k.killed, k.asked)
}

// killedInstance is a template whose runs in many instances are killed.
const killedInstance = `[{"type": "state", "state": {"x": 1}}, {"type": "plan", "plan": [
	{"_tool": "look", "_id": "l", "text": "†{input.item}", "_outputPath": "†state.l"},
	{"_tool": "change", "_id": "c", "text": "†state.l", "_outputPath": "†state.c"}]}]`

type killing struct {
	t       *testing.T
	server  *server
	client  *Client
	rand    *rand.Rand
	queue   string
	effects string
	workers []*osexec.Cmd

	done   int // kills
	killed map[string]int
	asked  int
	shapes [3]int // runs of each kind
}

func (k *killing) worker() *osexec.Cmd {
	k.t.Helper()
	program, err := os.Executable()
	if err != nil {
		k.t.Fatal(err)
	}
	w := osexec.Command(program)
	w.Env = append(os.Environ(), workerVariable+"="+k.effects, "PLC_TEST_QUEUE="+k.queue,
		"TEMPORAL_ADDRESS="+k.server.address, "TEMPORAL_CONFIG_FILE="+filepath.Join(k.server.dir, "none"))
	w.Stderr = os.Stderr
	if err := w.Start(); err != nil {
		k.t.Fatal(err)
	}
	return w
}

// end kills a worker.
func (k *killing) end(w *osexec.Cmd) {
	_ = w.Process.Kill()
	_ = w.Wait()
}

// kill kills somebody, and starts who was killed again.
func (k *killing) kill() {
	if k.killed == nil {
		k.killed = map[string]int{}
	}
	k.done++
	switch i := k.rand.IntN(10); {
	case i < 5:
		k.killed["a worker"]++
		w := k.rand.IntN(len(k.workers))
		k.end(k.workers[w])
		k.workers[w] = k.worker()
	case i < 7:
		k.killed["both"]++
		for w := range k.workers {
			k.end(k.workers[w])
		}
		for w := range k.workers {
			k.workers[w] = k.worker()
		}
	default:
		k.killed["the server"]++
		k.server.kill()
		k.server.start(k.t)
	}
}

// run runs a plan while somebody is killed.
func (k *killing) run() {
	t := k.t
	_ = os.Remove(k.effects)
	n := 8 + k.rand.IntN(16)
	shape := k.rand.IntN(3)
	k.shapes[shape]++
	plan := []string{many(n, "look", "change", "mend"), "testdata/killed.json", killedInstance}[shape]
	spec := specOf(t, plan)
	items := make([]string, n)
	for i := range items {
		items[i] = strconv.Itoa(i)
	}
	switch shape {
	case 1:
		spec.Values.Input = []plc.Source{plc.Text(`{"items": [` + strings.Join(items, ",") + `]}`)}
	case 2:
		spec.Values.Input, spec.Instances = nil, plc.Text(`{"item": `+strings.Join(items, "}\n{\"item\": ")+"}\n")
	}
	spec.OnFailure = plc.Continue
	tools := effectTools(filepath.Join(t.TempDir(), "local"))
	want, err := plc.New(plc.Config{Tools: tools, Store: memory.New()}).Run(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	p, err := plc.New(plc.Config{Tools: tools}).Prepare(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	b, err := p.Bundle()
	if err != nil {
		t.Fatal(err)
	}
	in := inputOf(t, b)
	in.LostAfter, in.PartItems = 2*time.Second, 3
	if shape == 2 {
		in.Shares.Sizes = sized(n, 3)
	}
	if k.rand.IntN(2) == 0 {
		in.HopAfter = 40
	}
	beginWith(t, k.client, b, in)

	ctx, stop := context.WithCancel(t.Context())
	var answering sync.WaitGroup
	again := map[string]int{} // how often a person said that a call may be made again
	answering.Go(func() {
		for ctx.Err() == nil {
			k.answer(ctx, b.Run, again)
			time.Sleep(100 * time.Millisecond)
		}
	})
	ended := make(chan *Outcome, 1)
	go func() {
		for ctx.Err() == nil { // the server may be away
			if o, err := k.client.Wait(ctx, b.Run); err == nil {
				ended <- o
				return
			}
			time.Sleep(100 * time.Millisecond)
		}
	}()
	var got *Outcome
	for most, late := 1+k.rand.IntN(3), time.After(3*time.Minute); got == nil; {
		var at <-chan time.Time
		if most > 0 {
			at = time.After(time.Duration(k.rand.IntN(1500)) * time.Millisecond)
		}
		select {
		case got = <-ended:
		case <-at:
			most--
			k.kill()
		case <-late:
			v, err := k.client.Show(ctx, b.Run)
			d, also := k.client.DescribeWorkflowExecution(ctx, b.Run, "")
			t.Fatalf("the run %s does not end: %+v %v\n%v %v", b.Run, v, err, d, also)
		}
	}
	stop()
	answering.Wait()
	k.check(b.Run, want, got, again)
}

// answer lets calls that are uncertain be made again.
func (k *killing) answer(ctx context.Context, run string, again map[string]int) {
	v, err := k.client.Show(ctx, run)
	if err != nil {
		return
	}
	for _, q := range v.Questions {
		if q.Kind != exec.UncertainQuestion || q.Tool != "change" {
			k.t.Errorf("%s was asked about %s, of the tool %s", q.Kind, q.Path, q.Tool)
		}
		// An answer of which the server does not say whether it came may have come all the same.
		again[callPlace(q.Instance, q.Path)]++
		k.asked++
		_ = k.client.Answer(ctx, run, Answer{Workflow: q.Workflow, Path: q.Path, Instance: q.Instance, Answer: exec.Answer{Approved: true, Digest: q.Digest}})
	}
}

// check compares the end of a run with a local run, and what was done with the record.
func (k *killing) check(run string, want *exec.Result, got *Outcome, again map[string]int) {
	t := k.t
	if got.Status != want.Status || got.Digest != want.Digest {
		t.Errorf("%s %s, digest %s; locally %s, %s\n%s", got.Status, got.Reason, got.Digest, want.Status, want.Digest, got.Result)
		return
	}
	started, keys := map[string]int{}, map[string]string{}
	for _, e := range k.events(run) {
		if e.Type == exec.CallStarted && e.Tool != "forEach" {
			call := callPlace(e.Instance, e.Call)
			started[call]++
			keys[call] = e.Tool + " " + e.Key
		}
	}
	did := effectsIn(t, k.effects)
	known := map[string]bool{}
	for call, key := range keys {
		known[key] = true
		switch n := did[key]; {
		case n == 0 || n > started[call]:
			t.Errorf("%s was done %d times, and the record has %d attempts", call, n, started[call])
		case strings.HasPrefix(key, "change ") && n > 1+again[call]:
			t.Errorf("%s was done %d times, and a person said %d times that it may be done again", call, n, again[call])
		}
	}
	for key := range maps.Keys(did) {
		if !known[key] {
			t.Errorf("%s was done, and is not in the record", key)
		}
	}
	n := attempted(want.Calls)
	for i := range want.Instances {
		n += attempted(want.Instances[i].Calls)
	}
	if len(keys) != n {
		t.Errorf("%d calls are in the record, of %d", len(keys), n)
	}
}

// attempted counts the calls of tools, also those of loops.
func attempted(calls []exec.CallResult) (n int) {
	for _, c := range calls {
		if c.Delegate == "" {
			n++
		}
		for _, r := range c.Runs {
			n += attempted(r.Calls)
		}
	}
	return n
}

// events returns the events of a run, when the server and the workers are back.
func (k *killing) events(run string) []*exec.Event {
	k.t.Helper()
	var all []*exec.Event
	var err error
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); time.Sleep(200 * time.Millisecond) {
		all, err = eventsOf(k.t.Context(), k.client, run)
		if err == nil && slices.ContainsFunc(all, func(e *exec.Event) bool { return e.Type == exec.RunFinished }) {
			return all
		}
	}
	k.t.Fatalf("the record has no end after %d events: %v", len(all), err)
	return nil
}
