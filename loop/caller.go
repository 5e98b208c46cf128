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

// Caller makes the calls of a model that calls functions: each batch of them is a program
// of its own, so that they are checked, approved, limited and recorded like the calls of a
// plan, and run as parallel as their effects allow. What a model gives as params is
// data: nothing in it is a reference.
//
// A Caller may be used by several goroutines.
type Caller struct {
	// Compile says what the tools are and how calls are checked.
	Compile compile.Options
	// Exec says how calls are run. Its ID, Record and OnFailure are the caller's: a call that fails
	// keeps no other from being made, and the model sees that it did.
	Exec exec.Options
	// Record gives the record of a run; nil keeps none. See Options.Record.
	Record func(id string, prog *compile.Program) (exec.Record, error)
	// Named says that the ids of calls are names by which people know them, such as those of steps:
	// they are those of the calls in the run. Otherwise, and where an id is "" or there already, a
	// call is called after its function.
	Named bool

	kernel *Kernel // of the loop whose runs these are; nil is none
}

// Called is the result of a call: a value or a failure. Both are nil for a call that did not come
// to its turn; Reason then says why.
type Called struct {
	Value   json.RawMessage
	Failure *exec.Failure
	Status  exec.Status
	Reason  string
}

// Text returns what the model is told: the value, or what went wrong.
func (c *Called) Text() string {
	switch {
	case c.Failure != nil:
		return "Error: " + c.Failure.Message
	case c.Status != exec.Completed:
		return strings.TrimSuffix(fmt.Sprintf("Error: the call was not made: %s", c.Reason), ": ")
	}
	return jsonscan.Text(jsonscan.OrNull(c.Value))
}

// BadCall is the code of the failure of a call that was not made, since it is no sound one:
// there is no such function, or the params do not fit.
const BadCall = "call"

// Call makes calls, in a run of this id, and returns what came of each, in their order, and the
// run; nil when none of them could be made. Calls with faults are not made, and their failures say
// what is wrong; the others are. The error is for what is no fault of the model: the record can't
// be written, or ctx was done before. A run that ends because ctx is done is Cancelled.
func (c *Caller) Call(ctx context.Context, id string, calls []model.FunctionCall) ([]Called, *exec.Result, error) {
	outcomes := make([]Called, len(calls))
	ids := c.names(calls)
	at := map[string]int{} // where the calls that are made stand in the list, by their ids
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

// names returns the ids of calls in their run: see Named.
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

// fault returns what is wrong with a call by itself; nil when it is sound.
func (c *Caller) fault(call model.FunctionCall) *exec.Failure {
	_, findings := c.compile([]model.FunctionCall{call}, []string{"call"})
	if err := findings.Err(); err != nil {
		return &exec.Failure{Code: BadCall, Message: messages(findings)}
	}
	return nil
}

// messages returns the errors of a list, on one line.
func messages(l diag.List) string {
	var list []string
	for _, f := range l {
		if f.Severity == diag.Error {
			list = append(list, f.Message)
		}
	}
	return strings.Join(list, "; ")
}

// compile compiles calls with these ids.
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

// run runs a program as the run of this id, with the record that record gives for it; a nil
// record keeps none. See Options.Record, and Kernel.Run for recall.
func run(ctx context.Context, id string, prog *compile.Program, opts exec.Options, record recorder, recall recall) (*exec.Result, error) {
	opts.ID = id
	closing, err := record.into(&opts, id, prog, recall)
	if err != nil {
		return nil, err
	}
	result, err := exec.Run(ctx, prog, &opts)
	return result, errors.Join(err, replaced(opts.Record, result), closing())
}

// replaced notes in the record of a run that pauses for another plan that it has ended: the loop
// goes on with a run of its own for that plan.
func replaced(rec exec.Record, r *exec.Result) error {
	if rec == nil || r == nil || !r.Replan || r.Err != nil {
		return nil
	}
	return rec.Sync(rec.Append(&exec.Event{Type: exec.RunFinished, Time: time.Now(), Run: r.Run, Status: exec.Cancelled, Reason: r.Reason, Digest: r.Digest}))
}

// recorder gives the record of a run: see Options.Record.
type recorder func(id string, prog *compile.Program) (exec.Record, error)

// recall is called with what the record of a run has about an instance; see Kernel.Run.
type recall = func(instance string, pasts map[string]*exec.Past)

// recalled is a record that passes what it has to recall, since a run that continues emits no
// events for calls that had ended before.
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

// Revise implements Reviser, for a record that does.
func (r *recalled) Revise(prog *compile.Program) error {
	if own, ok := r.Record.(Reviser); ok {
		return own.Revise(prog)
	}
	return nil
}

// into gives options the record of a run, and returns what closes it.
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
