// Package exectest provides records of runs in memory, for tests of processes that are killed.
package exectest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"sync"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
)

// ErrKilled is returned by the disk of a process that was killed.
var ErrKilled = errors.New("killed")

// Disk holds what survives its processes: the records of their runs, and whatever else a test
// writes. The zero value is empty. Its methods may be called by several goroutines.
type Disk struct {
	mu    sync.Mutex
	runs  map[string][]*exec.Event
	kills bool
	left  int // writes until the process is killed
	kill  context.CancelFunc
}

// Begin begins a process that is killed at the write after this many: nothing more is written to
// the disk, and the returned context is done. If writes is negative, the process is not killed.
func (d *Disk) Begin(ctx context.Context, writes int) (context.Context, context.CancelFunc) {
	d.mu.Lock()
	defer d.mu.Unlock()
	ctx, d.kill = context.WithCancel(ctx)
	d.kills, d.left = writes >= 0, writes
	return ctx, d.kill
}

// Killed reports whether the process was killed, or would be by its next write.
func (d *Disk) Killed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.killed()
}

func (d *Disk) killed() bool { return d.kills && d.left == 0 }

// Write calls write, which writes something in one piece, unless the process is killed.
func (d *Disk) Write(write func()) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.killed() {
		d.kill()
		return ErrKilled
	}
	d.left--
	write()
	return nil
}

// Events yields all events of all runs.
func (d *Disk) Events(yield func(*exec.Event) bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, events := range d.runs {
		for _, e := range events {
			if !yield(e) {
				return
			}
		}
	}
}

// Runs returns the number of runs.
func (d *Disk) Runs() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.runs)
}

// Record returns the record of a run, which may be new, as loop.Options.Record needs it.
func (d *Disk) Record(id string, _ *compile.Program) (exec.Record, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.runs == nil {
		d.runs = map[string][]*exec.Event{}
	}
	before := d.runs[id]
	d.runs[id] = before
	return &record{d, id, before}, nil
}

// record is the record of a run, with the events that earlier processes wrote.
type record struct {
	*Disk
	id     string
	before []*exec.Event
}

// Append implements exec.Record.
func (r *record) Append(e *exec.Event) int64 {
	_ = r.Write(func() { r.runs[r.id] = append(r.runs[r.id], e) })
	return 1
}

// Sync implements exec.Record.
func (r *record) Sync(int64) error {
	if r.Killed() {
		return ErrKilled
	}
	return nil
}

// Past implements exec.Record.
func (r *record) Past(instance string) (map[string]*exec.Past, error) {
	return Past(r.before, instance), nil
}

// Past returns what events say about the calls of an instance, and nil if they say nothing about
// the instance. It passes the result through the JSON of a History.
func Past(events []*exec.Event, instance string) map[string]*exec.Past {
	var all map[string]*exec.Past
	for _, e := range events {
		if e.Instance != instance {
			continue
		}
		if all == nil {
			all = map[string]*exec.Past{}
		}
		if e.Call == "" {
			continue
		}
		if all[e.Call] == nil {
			all[e.Call] = &exec.Past{}
		}
		all[e.Call].Take(e)
	}
	return written(instance, all)
}

// written encodes the calls of an instance as a History, and returns what it decodes from that,
// which must be the same.
func written(instance string, past map[string]*exec.Past) map[string]*exec.Past {
	if past == nil {
		return nil
	}
	text, err := json.Marshal(&exec.History{Calls: map[string]map[string]*exec.Past{instance: past}})
	if err != nil {
		panic(err)
	}
	var read exec.History
	if err := json.Unmarshal(text, &read); err != nil {
		panic(err)
	}
	if !reflect.DeepEqual(read.Calls[instance], past) {
		panic(fmt.Sprintf("the history of %q is another one when it was written and read: %s", instance, text))
	}
	return read.Calls[instance]
}
