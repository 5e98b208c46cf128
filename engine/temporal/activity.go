package temporal

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/tool"
)

// answer holds the result of an attempt, as the activity returns it to the workflow.
type answer struct {
	Made exec.Made `json:"made"`
	// Interrupted reports that the attempt failed because its context was done before its time was
	// over. Unless the workflow cancelled it, the answer is lost: the worker ended, or the server
	// no longer knew the activity.
	Interrupted bool `json:"interrupted,omitempty"`
	// Took is how long the call took.
	Took time.Duration `json:"took,omitempty"`
}

// activities makes the attempts of a worker.
type activities struct {
	programs   *programs
	bundle     func(context.Context) (string, error) // returns the bundle of an activity's run
	middleware []tool.Middleware
	ended      func(ctx context.Context, id, execution string) (*groupOutcome, error) // returns the result of a group's workflow
	slots      *slots                                                                 // slots shared with other workers; nil if there are none
	rated      bool                                                                   // the queue has a rate limit
}

// attempt makes one attempt of a call of the run with this bundle. It is an activity. If it returns
// an error, the answer is lost; a failure before the tool is called is a failure of the call.
func (w *activities) attempt(ctx context.Context, bundle string, text json.RawMessage, most int) (json.RawMessage, error) {
	ctx, stop := w.slots.bound(ctx)
	defer stop()
	return w.answer(ctx, bundle, text, most)
}

// answer makes an attempt, and returns the JSON of an answer.
func (w *activities) answer(ctx context.Context, bundle string, text json.RawMessage, most int) (json.RawMessage, error) {
	got := answer{}
	got.Made.Result, got.Took, got.Made.Err = w.make(ctx, bundle, text)
	got.Interrupted = got.Made.Err != nil && ctx.Err() != nil
	out, err := json.Marshal(got)
	if err == nil && most > 0 && len(out) > most {
		got.Made = exec.Made{Result: tool.Result{Usage: got.Made.Result.Usage}, Err: tooLarge("its result has", len(out), most)}
		out, err = json.Marshal(got)
	}
	return out, err
}

// make makes an attempt, and returns how long the call took.
func (w *activities) make(ctx context.Context, bundle string, text []byte) (res tool.Result, took time.Duration, err error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	go beat(ctx)
	prog, release, err := w.programs.open(ctx, bundle, func() (string, error) { return w.bundle(ctx) })
	if err != nil {
		return tool.Result{}, 0, err
	}
	defer release()
	a, err := exec.ReadAttempt(prog, text)
	if err != nil {
		return tool.Result{}, 0, unmade(err)
	}
	act := a.Activity()
	if act == nil {
		return tool.Result{}, 0, unmade(errors.New("nothing on this worker makes it"))
	}
	type made struct {
		res tool.Result
		err error
	}
	done := make(chan made, 1)
	begun := time.Now()
	own := traced(ctx, a)
	go func() {
		res, err := a.Make(own, act, w.middleware...)
		done <- made{res, err}
	}()
	late := time.NewTimer(a.Timeout + grace)
	defer late.Stop()
	select {
	case m := <-done:
		failed(own, m.err)
		return m.res, time.Since(begun), m.err
	case <-late.C:
		return tool.Result{}, time.Since(begun), &tool.Error{
			Code: "timeout", Uncertain: true, Message: fmt.Sprintf("no answer within %s, and it went on for %s after that; it was abandoned", a.Timeout, grace),
		}
	}
}

// beat sends heartbeats to the server until ctx is done.
func beat(ctx context.Context) {
	every := time.NewTicker(min(heartbeat, activity.GetInfo(ctx).HeartbeatTimeout/3))
	defer every.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-every.C:
			activity.RecordHeartbeat(ctx)
		}
	}
}

// bundle queries the workflow of an activity for its bundle until it gets an answer.
func (c *Client) bundle(ctx context.Context) (string, error) {
	id := activity.GetInfo(ctx).WorkflowExecution
	for wait := 100 * time.Millisecond; ; wait = min(2*wait, 5*time.Second) {
		text, err := c.query(ctx, id.ID, id.RunID, bundleQuery)
		if err == nil {
			return string(text), nil
		}
		select {
		case <-ctx.Done():
			return "", errors.Join(ctx.Err(), err)
		case <-time.After(wait):
		}
	}
}

// unmade returns the failure of an attempt whose tool the worker could not call.
func unmade(err error) error {
	return &tool.Error{Code: "worker", Message: "the worker can't make the call: " + err.Error(), Err: err}
}
