package temporal

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"go.temporal.io/sdk/activity"
	"go.temporal.io/sdk/temporal"
	"go.temporal.io/sdk/workflow"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/tool"
)

// Calls that take less time than Temporal needs for an activity are batched: one activity makes
// several, one after the other. A batch must change nothing but the time, so all of the following
// must hold:
//
//   - the attempts may be repeated, since a batch is lost as a whole
//   - they are ready at the same time, so that none waits for a batch to be filled
//   - the last call of the tool took at most quick, so that none waits long for another one
//   - no attempt of the call was lost before, since it may be the one that ends its workers
//   - the queue has no rate, which the server could not keep for the calls in a batch
//
// A worker that finds out that calls take longer, or that it has to end, returns what it has; the
// rest is scheduled again.

const (
	batchType = "plc.batch"
	// quick is the longest duration of a tool's last call with which its next calls are batched.
	quick = 10 * time.Millisecond
	// mostBatch is the most attempts of a batch, and batchBytes the most bytes of them.
	mostBatch  = 16
	batchBytes = mostInline
	// batchTime is the time after which a worker starts no more calls of a batch.
	batchTime = 500 * time.Millisecond
)

// batched is the result of the activity of a batch.
type batched struct {
	Answers []json.RawMessage `json:"answers"`         // answers of the first attempts; at least one
	Alone   bool              `json:"alone,omitempty"` // the queue doesn't allow batches
}

// ready is an attempt to be scheduled.
type ready struct {
	*exec.Attempt
	text  []byte
	tool  string
	queue string
}

// batch holds the attempts of one activity.
type batch struct {
	queue string
	all   []ready
	bytes int
}

// ready returns an attempt with what is needed to schedule it. If the attempt can't be made, ready
// answers it and returns false.
func (r *run) ready(a *exec.Attempt) (ready, bool, error) {
	text, err := json.Marshal(a)
	if err != nil {
		return ready{}, false, err
	}
	if r.Most > 0 && len(text) > r.Most {
		return ready{}, false, r.Answer(a.ID, tool.Result{}, tooLarge("the params have", len(text), r.Most))
	}
	t := a.Call.Target
	if a.Fallback {
		t = a.Call.Fallback.Target
	}
	return ready{a, text, a.Request.Tool, cmp.Or(t.Queue, workflow.GetInfo(r.ctx).TaskQueueName)}, true, nil
}

// batches groups attempts into batches, preserving their order.
func (r *run) batches(all []ready) (out []*batch) {
	open := map[string]*batch{} // by queue, still accepting attempts
	for _, a := range all {
		if !r.batchable(a) {
			out = append(out, &batch{a.queue, []ready{a}, len(a.text)})
			continue
		}
		b := open[a.queue]
		if b == nil || len(b.all) == mostBatch || b.bytes+len(a.text) > batchBytes {
			b = &batch{queue: a.queue}
			open[a.queue] = b
			out = append(out, b)
		}
		b.all, b.bytes = append(b.all, a), b.bytes+len(a.text)
	}
	return out
}

func (r *run) batchable(a ready) bool {
	took, known := r.took[a.tool]
	return r.Version >= batchVersion && a.Repeatable && known && took <= quick && r.lost[callPlace(a.Instance, a.Path)] == 0 && !r.alone[a.queue]
}

// scheduleBatch schedules the activity of several attempts.
func (r *run) scheduleBatch(b *batch) error {
	texts, wanted, timeout := make([]json.RawMessage, len(b.all)), len(b.all), time.Duration(0)
	for i, a := range b.all {
		texts[i] = a.text
		timeout += a.Timeout
	}
	text, err := json.Marshal(texts)
	if err != nil {
		return err
	}
	first := b.all[0]
	opts := r.activity(b.queue, timeout)
	opts.ActivityID = fmt.Sprintf("%s and %d more", activityID(first.Attempt, text), len(b.all)-1)
	opts.Summary = fmt.Sprintf("%d calls from %s on", len(b.all), shortened(first.Path, mostSummary))
	ctx, cancel := workflow.WithCancel(workflow.WithActivityOptions(r.ctx, opts))
	for _, a := range b.all {
		r.cancels[a.ID] = func() { // the activity continues with the other attempts
			if wanted--; wanted == 0 {
				cancel()
			}
		}
	}
	r.selector.AddFuture(workflow.ExecuteActivity(ctx, batchType, r.digest, json.RawMessage(text), r.Most), func(f workflow.Future) {
		cancel()
		for _, a := range b.all {
			delete(r.cancels, a.ID)
		}
		r.madeBatch(b, f)
	})
	return nil
}

// madeBatch passes the answers of a batch to the stepper.
func (r *run) madeBatch(b *batch, f workflow.Future) {
	r.Advance(workflow.Now(r.ctx))
	var text json.RawMessage
	var got batched
	err := f.Get(r.ctx, &text)
	if err == nil {
		err = json.Unmarshal(text, &got)
	}
	r.alone[b.queue] = r.alone[b.queue] || got.Alone
	for i, a := range b.all {
		var one answer
		if err == nil && i < len(got.Answers) {
			err = json.Unmarshal(got.Answers[i], &one)
		}
		switch {
		case err != nil || i < len(got.Answers):
			r.answered(a.Attempt, &one, err)
		case r.cancelled[a.ID]:
			r.answered(a.Attempt, nil, temporal.NewCanceledError())
		default:
			r.again = append(r.again, a)
		}
	}
}

// batch makes several attempts. It is an activity.
func (w *activities) batch(ctx context.Context, bundle string, text json.RawMessage, most int) (json.RawMessage, error) {
	ctx, stop := w.slots.bound(ctx)
	defer stop()
	var texts []json.RawMessage
	if err := json.Unmarshal(text, &texts); err != nil {
		return nil, err
	}
	got := batched{Alone: w.rated}
	size := 0
	for begun, i := time.Now(), 0; i < len(texts); i++ {
		if i > 0 && (got.Alone || time.Since(begun) > batchTime || ctx.Err() != nil || stopping(ctx)) {
			break
		}
		own, end := spanned(ctx)
		a, err := w.answer(own, bundle, texts[i], most)
		end()
		if err != nil {
			return nil, err
		}
		if size += len(a); i > 0 && most > 0 && size > most {
			break // the attempt may be repeated
		}
		got.Answers = append(got.Answers, a)
	}
	return json.Marshal(got)
}

// stopping reports whether the worker of an activity has to end.
func stopping(ctx context.Context) bool {
	select {
	case <-activity.GetWorkerStopChannel(ctx):
		return true
	default:
		return false
	}
}
