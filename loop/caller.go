package loop

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/lang/dialect/toolcalls"
	"github.com/plc-lang/plc/tool/model"
)

// Caller runs the calls of a model that calls functions. Each batch is a program of its own, so its
// calls are checked, approved, limited and recorded like those of a plan, and run in parallel as
// far as their effects allow. Params from the model are data: references in them are not resolved.
//
// A Caller is safe for concurrent use.
type Caller struct {
	// Compile configures the tools and the checks of calls.
	Compile compile.Options
	// Exec configures how calls run. Caller sets ID, Record and OnFailure itself: a failed call
	// doesn't stop other calls, and the model sees the failure.
	Exec exec.Options
	// Record returns the record of a run. If it is nil, runs aren't recorded. See Options.Record.
	Record func(id string, prog *compile.Program) (exec.Record, error)
	// Named says that the IDs of calls are meaningful names, such as those of steps, and become the
	// IDs of calls in the run. Otherwise, and if an ID is "" or already taken, a call is named
	// after its function.
	Named bool

	kernel *Kernel // the loop that the runs belong to, or nil
}

// Called is the result of a call: a value or a failure. Both are nil if the call was never started;
// Reason then says why.
type Called struct {
	Value   json.RawMessage
	Failure *exec.Failure
	Status  exec.Status
	Reason  string
}

// Text returns the text for the model: the value or the failure.
func (c *Called) Text() string {
	switch {
	case c.Failure != nil:
		return "Error: " + c.Failure.Message
	case c.Status != exec.Completed:
		return strings.TrimSuffix(fmt.Sprintf("Error: the call was not made: %s", c.Reason), ": ")
	}
	return jsonscan.Text(jsonscan.OrNull(c.Value))
}

// BadCall is the failure code of an invalid call, which isn't run: its function doesn't exist, or
// its params don't fit.
const BadCall = "call"

// Call runs calls under the run ID id, and returns their results in the same order, and the run.
// Invalid calls aren't run; their failures say what is wrong. The run is nil if all calls are
// invalid. Call returns an error only for what isn't the model's fault: the record can't be
// written, or ctx was done at the start. If ctx ends later, the run's status is Cancelled.
func (c *Caller) Call(ctx context.Context, id string, calls []model.FunctionCall) ([]Called, *exec.Result, error) {
	outcomes := make([]Called, len(calls))
	ids := c.names(calls)
	at := map[string]int{} // index in calls, by ID
	for i, id := range ids {
		at[id] = i
	}
	prog, findings := c.compile(calls, ids)
	if findings.HasErrors() {
		var sound []model.FunctionCall
		var theirs []string
		for i, call := range calls {
			if f := c.fault(call); f != nil {
				outcomes[i] = Called{Status: exec.Failed, Failure: f}
				continue
			}
			sound, theirs = append(sound, call), append(theirs, ids[i])
		}
		if len(sound) == 0 {
			return outcomes, nil, ctx.Err()
		}
		if prog, findings = c.compile(sound, theirs); findings.HasErrors() {
			return nil, nil, fmt.Errorf("loop: calls that are sound each are not so together: %w", findings.Err())
		}
	}
	if len(calls) == 0 {
		return outcomes, nil, ctx.Err()
	}
	opts := c.Exec
	opts.OnFailure = exec.Continue
	var result *exec.Result
	var err error
	if c.kernel != nil {
		result, err = c.kernel.Run(ctx, id, prog, opts, nil)
	} else {
		result, err = run(ctx, id, prog, opts, c.Record, nil)
	}
	if err != nil {
		return nil, nil, err
	}
	if result.Err != nil {
		return nil, result, fmt.Errorf("loop: %w", result.Err)
	}
	for i := range result.Calls {
		r := &result.Calls[i]
		outcomes[at[r.ID]] = Called{Value: r.Result, Failure: r.Error, Status: r.Status, Reason: r.Reason}
	}
	return outcomes, result, nil
}

// names returns the IDs of calls in their run: see Named.
func (c *Caller) names(calls []model.FunctionCall) []string {
	names := make([]string, len(calls))
	taken := map[string]bool{}
	for i := range calls {
		if id := strings.ToValidUTF8(calls[i].ID, "\ufffd"); c.Named && id != "" && !taken[id] {
			names[i], taken[id] = id, true
		}
	}
	for i := range calls {
		function := cmp.Or(strings.ToValidUTF8(calls[i].Name, "\ufffd"), "call")
		for n, name := 2, function; names[i] == ""; n++ {
			if !taken[name] {
				names[i], taken[name] = name, true
			}
			name = fmt.Sprintf("%s-%d", function, n)
		}
	}
	return names
}

// fault returns what is wrong with a call taken by itself, or nil.
func (c *Caller) fault(call model.FunctionCall) *exec.Failure {
	_, findings := c.compile([]model.FunctionCall{call}, []string{"call"})
	if err := findings.Err(); err != nil {
		return &exec.Failure{Code: BadCall, Message: messages(findings)}
	}
	return nil
}

// messages returns the errors of a list on one line.
func messages(l diag.List) string {
	var list []string
	for _, f := range l {
		if f.Severity == diag.Error {
			list = append(list, f.Message)
		}
	}
	return strings.Join(list, "; ")
}

// compile compiles calls with the given IDs.
func (c *Caller) compile(calls []model.FunctionCall, ids []string) (*compile.Program, diag.List) {
	list := make([]any, len(calls))
	for i, call := range calls {
		list[i] = map[string]any{"id": ids[i], "type": "function",
			"function": map[string]any{"name": call.Name, "arguments": call.Params}}
	}
	doc, findings := toolcalls.Notation().Parse(diag.NewFile("calls", jsonscan.Encode(list)), nil)
	opts := c.Compile
	opts.Run = true
	prog, more := compile.Compile(doc, &opts)
	return prog, append(findings, more...)
}

// run runs a program under the run ID id. record returns its record; if record is nil, nothing is
// recorded. See Options.Record, and Kernel.Run for recall.
func run(ctx context.Context, id string, prog *compile.Program, opts exec.Options, record recorder, recall recall) (*exec.Result, error) {
	opts.ID = id
	closing, err := record.into(&opts, id, prog, recall)
	if err != nil {
		return nil, err
	}
	result, err := exec.Run(ctx, prog, &opts)
	return result, errors.Join(err, replaced(opts.Record, result), closing())
}

// replaced records that a run which paused for another plan has ended. The loop continues with a
// new run for that plan.
func replaced(rec exec.Record, r *exec.Result) error {
	if rec == nil || r == nil || !r.Replan || r.Err != nil {
		return nil
	}
	return rec.Sync(rec.Append(&exec.Event{Type: exec.RunFinished, Time: time.Now(), Run: r.Run, Status: exec.Cancelled, Reason: r.Reason, Digest: r.Digest}))
}

// recorder returns the record of a run: see Options.Record.
type recorder func(id string, prog *compile.Program) (exec.Record, error)

// recall is called with the recorded past of an instance: see Kernel.Run.
type recall = func(instance string, pasts map[string]*exec.Past)

// recalled is a record that reports the past it returns, since a resumed run emits no events for
// calls that ended earlier.
type recalled struct {
	exec.Record
	recall recall
}

// Past implements exec.Record.
func (r *recalled) Past(instance string) (map[string]*exec.Past, error) {
	pasts, err := r.Record.Past(instance)
	if err == nil {
		r.recall(instance, pasts)
	}
	return pasts, err
}

// Revise implements Reviser if the underlying record does.
func (r *recalled) Revise(prog *compile.Program) error {
	if own, ok := r.Record.(Reviser); ok {
		return own.Revise(prog)
	}
	return nil
}

// into sets the record of a run in opts. It returns a function that closes the record.
func (r recorder) into(opts *exec.Options, id string, prog *compile.Program, recall recall) (func() error, error) {
	opts.Record = nil
	if r == nil {
		return func() error { return nil }, nil
	}
	rec, err := r(id, prog)
	if err != nil {
		return nil, fmt.Errorf("loop: the run %s can't be recorded: %w", id, err)
	}
	if opts.Record = rec; rec != nil && recall != nil {
		opts.Record = &recalled{rec, recall}
	}
	if c, ok := rec.(io.Closer); ok {
		return c.Close, nil
	}
	return func() error { return nil }, nil
}
