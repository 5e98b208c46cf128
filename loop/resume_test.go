package loop_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"

	"github.com/plc-lang/plc/exec/exectest"
	"github.com/plc-lang/plc/internal/effort"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/tool/model"
)

// disk is the records of runs and the answers of a model, as they outlive a process.
type disk struct {
	exectest.Disk
	mu      sync.Mutex
	answers map[string]string // by request
	asked   int               // requests that the model answered
}

// taped is a model whose answers are on the disk before they are followed, by the numbers of turn
// and repair that its request says.
type taped struct {
	*disk
	answers []string
	random  *rand.Rand
}

func (p *taped) Converse(ctx context.Context, turn *model.Turn) (*model.Reply, error) {
	key := fmt.Sprint(turn.Attempt) + turn.Messages[0].Text
	p.mu.Lock()
	text, ok := p.disk.answers[key]
	p.mu.Unlock()
	if ok {
		return &model.Reply{Text: text}, turn.OnText(text)
	}
	if n := len(p.disk.answers); n < len(p.answers) {
		text = p.answers[n]
	} else {
		text = `{"calls":[],"output":"over"}`
	}
	for rest := text; rest != ""; {
		n := min(len(rest), 1+p.random.IntN(60))
		if err := turn.OnText(rest[:n]); err != nil {
			return nil, err
		}
		rest = rest[n:]
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.asked++
	if err := p.Write(func() { p.disk.answers[key] = text }); err != nil {
		return nil, err
	}
	return &model.Reply{Text: text}, ctx.Err()
}

// life is a process that solves a task, until it ends or is killed after so many writes.
func life(t *testing.T, d *disk, answers []string, seed uint64, writes int) (r *loop.Result, made []string, err error) {
	t.Helper()
	var c calls
	echo := func(params string) (string, error) { return params, nil }
	catalogue := c.tools(t, map[string]string{
		"look":  `{"properties":{"q":{}},"effects":{"readOnly":true}}`,
		"note":  `{"properties":{"q":{}},"effects":{"readOnly":false,"idempotent":false}}`,
		"bad":   `{"properties":{"q":{}},"effects":{"readOnly":true}}`,
		"flaky": `{"properties":{"q":{}},"effects":{"readOnly":false,"idempotent":false}}`,
		"think": `{"properties":{"q":{},"_output":{"type":"object"}}}`,
	}, map[string]activity{"look": echo, "note": echo, "bad": failing("broken", "it is broken"), "flaky": failing("broken", "so is this")})
	ctx, end := d.Begin(t.Context(), writes)
	defer end()
	p := &taped{disk: d, answers: answers, random: rand.New(rand.NewPCG(seed, 5))}
	r, err = loop.Solve(ctx, &loop.Task{Goal: "g", Catalogue: catalogue, Planner: p}, &loop.Options{ID: "L", Record: d.Record, MaxTurns: 6})
	return r, c.made, err
}

// A loop that is killed at any moment and done again from what is on the disk calls nothing twice
// that changes the world, and does not ask again what was answered.
func TestKilledAtAnyMoment(t *testing.T) {
	lives := 0
	for seed := range uint64(effort.Of(8, 25)) {
		random := rand.New(rand.NewPCG(seed, 9))
		var answers []string
		for range 1 + random.IntN(4) {
			answers = append(answers, anyAnswer(random, false))
		}
		if seed%2 == 0 { // what was done is listed again
			answers = append(answers, answers[0])
		}
		whole := &disk{answers: map[string]string{}}
		want, once, err := life(t, whole, answers, seed, -1)
		if err != nil {
			t.Fatal(err)
		}
		for range 8 {
			d := &disk{answers: map[string]string{}}
			var all []string
			for kills := 0; ; kills++ {
				writes := random.IntN(40)
				if random.IntN(4) == 0 {
					writes = -1
				}
				r, made, _ := life(t, d, answers, random.Uint64(), writes)
				lives++
				all = append(all, made...)
				if !d.Killed() {
					if lost := uncertain(d); !lost && (r.Status != want.Status || string(r.Output) != string(want.Output)) {
						t.Fatalf("seed %d: %s %s (%s), %d turns; want %s %s (%s), %d turns\n%s", seed, r.Status, r.Output, r.Reason, r.Turns, want.Status, want.Output, want.Reason, want.Turns, strings.Join(answers, "\n"))
					}
					if d.asked > len(d.answers)+kills {
						t.Errorf("seed %d: the model was asked %d times for %d answers, with %d kills", seed, d.asked, len(d.answers), kills)
					}
					break
				}
			}
			least := 0
			if uncertain(d) { // what is planned then is something else
				least = 1
			}
			for _, call := range all {
				if strings.HasPrefix(call, "note") && times(all, call) > max(least, times(once, call)) {
					t.Fatalf("seed %d: %s %d times, and %d in one life:\n%s\n%v\n%v", seed, call, times(all, call), times(once, call), strings.Join(answers, "\n"), all, once)
				}
			}
		}
	}
	t.Logf("%d lives", lives)
}

func times(list []string, s string) (n int) {
	for _, e := range list {
		if e == s {
			n++
		}
	}
	return n
}

// uncertain reports whether an attempt of a call was cut off, which is told.
func uncertain(d *disk) bool {
	for e := range d.Events {
		if e.Lost || e.Attempt > 1 {
			return true
		}
	}
	return false
}
