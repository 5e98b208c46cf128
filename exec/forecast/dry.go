package forecast

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/spell"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/tool"
)

// Options controls what a dry run assumes and what a forecast knows. The zero value is the default.
type Options struct {
	Approve     exec.Approve // which calls a person would have to approve
	MaxParallel int          // calls at once; 0 is exec.DefaultMaxParallel
	MaxBytes    int64        // see exec.Options
	Seed        uint64       // of made-up values; 0 is 1, so that two dry runs agree
	// Branch holds the outcomes that are assumed, by the paths of their calls (see exec.Event), in
	// which the items of loops may be left out. An outcome has the name that the tool has for it,
	// or that of the call's error path. Calls that are not in Branch have their first outcome.
	Branch map[string]string
	// Recorded returns the result that a call had in a recorded run. Nil knows none. It may be
	// called by several goroutines at once.
	Recorded func(t *exec.Trial) (value json.RawMessage, ok bool)
	// Instances yields the instances that come when the program runs (exec.Options.Instances); nil
	// has none.
	Instances iter.Seq2[*compile.Instance, error]
	// MostInstances is the maximum number of instances when the program is run; Instances may hold
	// only the first of them. 0 means unknown.
	MostInstances int
	// Hosts and Paths are the hosts and folders that the policy permits.
	Hosts, Paths []string
	// Retry is for calls that set none (exec.Options.Retry); nil if there is none.
	Retry *lang.Retry
	// OnFailure is the effect of an unhandled failure on the run.
	OnFailure exec.Strategy
	// Durations returns how long calls like this one took in recorded runs. If it is nil or returns
	// none, they are unknown.
	Durations func(c *compile.Call) []time.Duration
}

// OptionsOf returns the options for a program that will run with o: it takes the approvals, the
// retries, the size of the state, the strategy and the number of calls at once from o.
func OptionsOf(o *exec.Options) *Options {
	f := &Options{Approve: o.Approve, MaxParallel: o.MaxParallel, MaxBytes: o.MaxBytes, Retry: o.Retry, OnFailure: o.OnFailure}
	if o.Schedule == exec.Sequential {
		f.MaxParallel = 1
	}
	return f
}

// Mark says where a value of a dry run comes from.
type Mark string

// The marks, the weakest last. A value that is made of several has the weakest of their marks.
const (
	Known    Mark = "known"    // the plan, the input or the whiteboard has it
	Recorded Mark = "recorded" // an earlier run had it
	Sampled  Mark = "sampled"  // it was made up
	Unknown  Mark = "unknown"  // nothing that fits could be made up
)

// weaker returns the mark of a value that is made of values with these marks.
func (m Mark) weaker(n Mark) Mark {
	for _, weak := range []Mark{Unknown, Sampled, Recorded} {
		if m == weak || n == weak {
			return weak
		}
	}
	return Known
}

// DryRun describes what a run would do, as far as can be known without running it.
type DryRun struct {
	Status exec.Status `json:"status"`
	Reason string      `json:"reason,omitempty"`
	// Calls holds all calls in plan order, each followed by those that it delegates to. A document
	// that does not run on the assumed path is listed once, with pending calls.
	Calls      []Call          `json:"calls"`
	Output     json.RawMessage `json:"output"`
	OutputMark Mark            `json:"outputMark,omitempty"`
	// LargeOutput is the size in bytes of an output that is too large to show. Output is then nil.
	LargeOutput int `json:"largeOutput,omitempty"`

	jobs *jobs
}

// Call is a call of a dry run.
type Call struct {
	Path     string          `json:"call"` // see exec.Event
	Instance string          `json:"instance,omitempty"`
	Tool     string          `json:"tool"`
	Status   exec.Status     `json:"status"` // that it would end with
	Reason   string          `json:"reason,omitempty"`
	Error    *exec.Failure   `json:"error,omitempty"`
	Doubts   []string        `json:"doubts,omitempty"` // what is wrong with made-up values, and was tolerated
	Params   json.RawMessage `json:"params"`           // nil: it does not run on the assumed path
	Marks    map[string]Mark `json:"marks,omitempty"`  // of each param
	Result   json.RawMessage `json:"result"`
	Mark     Mark            `json:"mark,omitempty"` // of the result
	Outcome  string          `json:"outcome,omitempty"`
	Outcomes []string        `json:"outcomes,omitempty"` // the possible outcomes, if there are several
	Approval string          `json:"approval,omitempty"` // why a person is asked before it is made
	Effect   EffectKind      `json:"effect"`
	Runs     int             `json:"runs,omitempty"`     // of what it delegates to
	MoreRuns int             `json:"moreRuns,omitempty"` // number of the last of these, whose calls are not listed
	Possible bool            `json:"possible"`           // it may run, on this path or another
	// LargeParams and LargeResult are the sizes in bytes of params and of a result that are too
	// large to show. Params or Result is then nil, and the marks are Unknown.
	LargeParams int `json:"largeParams,omitempty"`
	LargeResult int `json:"largeResult,omitempty"`
	// Covered reports that an approval of the plan as a whole approves this call too, since it
	// would be made exactly as shown (Cover).
	Covered bool `json:"covered,omitempty"`
	// FallbackCovered reports the same of its fallback. A person is asked about a fallback that is
	// not covered when it is reached (FallbackTerms.Approval), unless the person was asked about
	// the call and was shown the fallback then.
	FallbackCovered bool `json:"fallbackCovered,omitempty"`
	*Terms

	call  *compile.Call
	cover string // see CoverKey
	given Mark   // the weakest mark of its params, shown or not
}

// CoverKey returns the key that Cover gave the call or its fallback, or "".
func (c *Call) CoverKey() string { return c.cover }

// Source returns the call of the program.
func (c *Call) Source() *compile.Call { return c.call }

// WouldRun reports whether the tool of the call, or the document that it delegates to, runs on the
// assumed path.
func (c *Call) WouldRun() bool {
	return c.Params != nil || c.LargeParams > 0 || c.Runs > 0
}

// exact returns the terms of a call under the options if its params are known, neither made up nor
// recorded, and it can't read anything else; otherwise nil.
func (c *Call) exact(opts *exec.Options) *exec.Terms {
	if c.Params == nil || c.call.HasScopes {
		return nil
	}
	for _, m := range c.Marks {
		if m != Known {
			return nil
		}
	}
	var fallback json.RawMessage
	if c.call.Rare != nil && c.call.Fallback != nil {
		if fallback = c.Params; c.call.Fallback.Params != nil {
			fallback, _ = c.call.Fallback.Params.Literal()
		}
	}
	return opts.Terms(c.call, c.Params, fallback)
}

// Cover marks the calls, among the first most, that a run with the options would ask a person about
// and that are shown exactly. It returns their keys for exec.Options.Covered. If most is 0, it
// looks at all calls.
func (d *DryRun) Cover(opts *exec.Options, most int) map[string]bool {
	all := map[string]bool{}
	for i := range d.Calls {
		c := &d.Calls[i]
		c.cover, c.Covered, c.FallbackCovered = "", false, false
		_, later := opts.Approve.AsksFallback(c.call)
		if most > 0 && i >= most || opts.Approve == exec.ApproveAll || c.Approval == "" && !later {
			continue
		}
		if t := c.exact(opts); t != nil {
			c.Covered = c.Approval != ""
			c.FallbackCovered = c.Covered && later && t.Fallback.Params != nil
			c.cover = t.Cover(c.Instance, c.Path)
			all[c.cover] = true
		}
	}
	return all
}

// works reports whether the tool of the call would be called. A call that delegates calls none,
// even if its document never runs.
func (c *Call) works() bool {
	d := delegateOf(c.call)
	return c.WouldRun() && (d == nil || d.Program == nil)
}

// Run makes a dry run. It returns an error if the program can't run at all, if a branch does not
// exist, if loops make more than 100,000 calls, and if params and results have more than 512 MiB in
// all.
func Run(ctx context.Context, prog *compile.Program, opts *Options) (*DryRun, error) {
	w, err := newWalk(prog, opts)
	if err != nil {
		return nil, err
	}
	return w.run(ctx)
}

// walk is one dry run.
type walk struct {
	opts Options
	prog *compile.Program
	of   map[*compile.Call]*compile.Program // the program of each call
	need needs
	// repeated is the maximum number of calls beyond one for each call of the plan and instance.
	repeated int

	meter   *schemas.Meter // for making up values and judging them
	checks  *schemas.Meter // for the checks of the run
	bytes   *atomic.Int64  // bytes that may still be put together
	mu      sync.Mutex
	started int // number of calls
	kept    int // bytes of the values kept to be shown
	trials  map[site]*trial
	given   map[site]value   // the params of started calls
	doubts  map[site][]doubt // what was wrong with made-up values
	made    map[result]made  // the first sample for each result
}

// value is a value to be shown. json is nil if the value is too large.
type value struct {
	json json.RawMessage
	size int
}

// keep returns a value as it will be shown.
func (w *walk) keep(v json.RawMessage) value {
	if len(v) > maxShown || w.kept+len(v) > maxKept {
		return value{size: len(v)}
	}
	w.kept += len(v)
	return value{v, len(v)}
}

// doubt is something that is wrong with a value that was made up.
type doubt struct {
	reason string
	code   string // of the failure that it would cause; "" if there is none
	path   string // where nothing was found; "" if there is none
}

// site identifies a call of a run.
type site struct{ instance, path string }

// trial describes the value that stands for the result of a call.
type trial struct {
	mark Mark
	why  string // why no valid value could be made up; "" if one was
}

func newWalk(prog *compile.Program, opts *Options) (*walk, error) {
	w := &walk{prog: prog, repeated: maxRepeated, bytes: new(atomic.Int64), of: map[*compile.Call]*compile.Program{}, trials: map[site]*trial{}, given: map[site]value{}, doubts: map[site][]doubt{}, made: map[result]made{}}
	w.bytes.Store(maxBytes)
	if opts != nil {
		w.opts = *opts
	}
	if w.opts.Seed == 0 {
		w.opts.Seed = 1
	}
	if err := prog.Err(); err != nil {
		return nil, err
	}
	w.addProgram(prog)
	w.need = needsOf(w.of)
	return w, w.checkBranches()
}

// addProgram notes the calls of a program and of the programs that it delegates to.
func (w *walk) addProgram(prog *compile.Program) {
	if len(prog.Calls) == 0 || w.of[&prog.Calls[0]] != nil {
		return
	}
	for i := range prog.Calls {
		w.of[&prog.Calls[i]] = prog
	}
	for i := range prog.Calls {
		if d := delegateOf(&prog.Calls[i]); d != nil && d.Program != nil {
			w.addProgram(d.Program)
		}
	}
}

func delegateOf(c *compile.Call) *compile.Delegate {
	if c.Rare == nil {
		return nil
	}
	return c.Delegate
}

// The steps of a meter that a dry run may spend on making up values and judging them: a base, and
// more for each call that it makes. Ordinary schemas take far fewer.
const (
	drySteps  = 16 << 20
	callSteps = 256

	checkSteps = 32 << 20 // for the checks of the run, including conditions
)

const (
	maxRepeated  = 100_000 // see walk.repeated
	maxInstances = 100     // instances that a dry run runs
)

// The most bytes that a dry run may hold.
const (
	maxBytes = 512 << 20 // of params, results and other values that are put together, kept or not
	maxKept  = 64 << 20  // of params and results that are shown
	maxShown = 256 << 10 // of one value that is shown
)

// maxCalls returns the maximum number of calls of the dry run.
func (w *walk) maxCalls() int {
	instances := 1
	if w.opts.Instances != nil {
		instances = maxInstances
	}
	return w.repeated + instances*len(w.of)
}

// ErrGivenUp is wrapped by the errors for plans that are too large for a dry run.
var ErrGivenUp = errors.New("the dry run was given up")

var errTooLarge = fmt.Errorf("%w: it would put together more than %d MiB of params and results", ErrGivenUp, maxBytes>>20)

var errTooMuchWork = fmt.Errorf("%w: checking its values and conditions takes too much work", ErrGivenUp)

func (w *walk) run(ctx context.Context) (*DryRun, error) {
	if w.meter == nil {
		w.meter, w.checks = schemas.NewMeter(ctx, drySteps), schemas.NewMeter(ctx, checkSteps)
	}
	// If one call runs at a time, only one large value is held at a time, and which values are kept
	// does not depend on timing.
	res, err := exec.Run(ctx, w.prog, &exec.Options{
		ID: "dry", MaxSteps: w.maxCalls(), Schedule: exec.Sequential, MaxBytes: w.opts.MaxBytes, OnFailure: exec.Continue, Seed: w.opts.Seed,
		Approve: w.opts.Approve, Approver: w.approve, Dry: w.try, Room: w.bytes, Meter: w.checks, OnEvent: w.note, ReuseEvents: true, Instances: w.opts.Instances,
	})
	if err != nil {
		return nil, err
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if w.bytes.Load() < 0 {
		return nil, errTooLarge
	}
	if w.checks.Err() != nil {
		return nil, errTooMuchWork
	}
	if slices.ContainsFunc(res.Findings, func(f diag.Finding) bool { return f.Code == diag.OverBudget }) {
		return nil, fmt.Errorf("%w after %d calls: the plan's loops make more than can be shown", ErrGivenUp, w.maxCalls())
	}
	d := &DryRun{Status: res.Status, Reason: res.Reason, Calls: []Call{}}
	r := &reporter{walk: w, dry: d, jobs: newJobs(), budget: maxLooks, listed: map[*compile.Program]bool{}, terms: map[*compile.Call]*Terms{}}
	if !w.prog.Template { // a template runs only for its instances
		r.program(frame{prog: w.prog, mark: Known}, res.Calls)
	}
	for i := range res.Instances {
		if len(res.Calls) > 0 {
			break // calls name their instances, and are all there
		}
		in := &res.Instances[i]
		r.program(frame{prog: w.prog, mark: Known, instance: in.Name}, in.Calls)
	}
	if res.Output != nil && w.prog.Output != nil {
		d.OutputMark = r.outputMark
		if out := w.keep(res.Output); out.json != nil {
			d.Output = out.json
		} else {
			d.LargeOutput, d.OutputMark = out.size, Unknown
		}
	}
	d.jobs = r.jobs
	return d, nil
}

// approve approves every call. A call that asks another question is skipped.
func (*walk) approve(_ context.Context, q *exec.Question) (exec.Answer, error) {
	if q.Kind != exec.ApprovalQuestion && q.Kind != "" {
		return exec.Answer{Skip: true}, nil
	}
	return exec.Answer{Approved: true}, nil
}

// note keeps the params of calls that start, and the warnings about values.
func (w *walk) note(e *exec.Event) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := site{e.Instance, e.Call}
	switch e.Type {
	case exec.CallStarted:
		w.started++
		w.given[at] = w.keep(e.Value)
	case exec.Warned:
		d := doubt{reason: e.Reason, path: e.Path}
		if e.Error != nil {
			d.code = e.Error.Code
		}
		w.doubts[at] = append(w.doubts[at], d)
	}
}

// try returns the result of a call in place of its tool.
func (w *walk) try(_ context.Context, t *exec.Trial) (tool.Result, error) {
	if t.Call.Rare != nil && t.Call.Choose != nil {
		return w.choose(t)
	}
	at := &trial{mark: Sampled}
	w.mu.Lock()
	w.trials[site{t.Instance, t.Path}] = at // it is reported when the run has ended
	w.mu.Unlock()
	outcome, fails := w.branch(t)
	if fails {
		return tool.Result{}, assumedToFail()
	}
	name := ""
	if len(t.Call.Alternatives) > 1 {
		name = t.Call.Alternatives[outcome].Name()
	}
	if w.opts.Recorded != nil && outcome == 0 {
		if v, ok := w.opts.Recorded(t); ok {
			at.mark = Recorded
			return tool.Result{Value: v}, nil
		}
	}
	w.meter.Add(callSteps)
	m := w.sample(t, outcome)
	if at.why = m.why; m.why != "" {
		at.mark = Unknown
	}
	return tool.Result{Value: m.value, Outcome: name}, nil
}

// choose returns the assumed outcome of a choose, if there is one; otherwise its conditions decide.
func (w *walk) choose(t *exec.Trial) (tool.Result, error) {
	if !w.assumes(t.Path) {
		return tool.Result{}, nil
	}
	outcome, fails := w.branch(t)
	chosen := slices.ContainsFunc(t.Call.Choose.Cases, func(c compile.Case) bool { return c.Outcome == outcome })
	if fails && !chosen {
		return tool.Result{}, assumedToFail()
	}
	return tool.Result{Outcome: t.Call.Alternatives[outcome].Name()}, nil
}

func assumedToFail() error {
	return &tool.Error{Code: "assumed", Message: "it is assumed to fail", Permanent: true}
}

// assumes reports whether the options name the outcome of a call.
func (w *walk) assumes(path string) bool {
	_, exact := w.opts.Branch[path]
	_, ok := w.opts.Branch[withoutItems(path)]
	return exact || ok
}

// branch returns the outcome that is assumed for a call.
func (w *walk) branch(t *exec.Trial) (outcome int, fails bool) {
	name, ok := w.opts.Branch[t.Path]
	if !ok {
		name, ok = w.opts.Branch[withoutItems(t.Path)]
	}
	if !ok {
		return 0, false
	}
	return outcomeNamed(t.Call, name)
}

// outcomeNamed returns the outcome of a call with this name, or -1. The last of several stands for
// failure, unless the tool lists its outcomes (plan-language §4).
func outcomeNamed(c *compile.Call, name string) (outcome int, fails bool) {
	if c.ErrorPath != nil && isPath(c.ErrorPath, name) {
		return 0, true
	}
	if len(c.Alternatives) < 2 {
		if names := outcomesOf(c); names != nil && names[0] == name {
			return 0, false
		}
		return -1, false
	}
	i := c.Outcome(name)
	return i, i == len(c.Alternatives)-1 && c.ErrorPath == nil && len(c.Tool.Definition.Outcomes) == 0
}

func isPath(w *compile.Write, name string) bool {
	path := w.Path.String()
	return name == path || name == strings.TrimPrefix(path, "†") || name == w.Path[len(w.Path)-1].Name
}

// outcomesOf returns the names of the outcomes that a call can have, if there are several.
func outcomesOf(c *compile.Call) []string {
	var names []string
	for i := range c.Alternatives {
		names = append(names, c.Alternatives[i].Name())
	}
	if c.ErrorPath != nil {
		if len(names) == 0 {
			names = append(names, "done")
		}
		names = append(names, c.ErrorPath.Path.String())
	}
	if len(names) < 2 {
		return nil
	}
	return names
}

// withoutItems returns a path without the items of loops and the numbers of attempts.
func withoutItems(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		p, _, _ = strings.Cut(p, "[")
		parts[i], _, _ = strings.Cut(p, "#")
	}
	return strings.Join(parts, "/")
}

// checkBranches returns an error if a branch does not exist.
func (w *walk) checkBranches() error {
	if len(w.opts.Branch) == 0 {
		return nil
	}
	for _, path := range slices.Sorted(maps.Keys(w.opts.Branch)) {
		name := w.opts.Branch[path]
		c, ok := CallAt(w.prog, withoutItems(path))
		if !ok {
			hint := ""
			if near, ok := spell.Nearest(path, AllPaths(w.prog)); ok {
				hint = fmt.Sprintf("; did you mean %q?", near)
			}
			return fmt.Errorf("there is no call %q to take a branch of%s", path, hint)
		}
		if i, _ := outcomeNamed(c, name); i < 0 {
			names := outcomesOf(c)
			if names == nil {
				return fmt.Errorf("the call %q has one outcome only, and %q is not it", path, name)
			}
			return fmt.Errorf("the call %q has no outcome %q; it has %s", path, name, strings.Join(names, ", "))
		}
	}
	return nil
}

// CallAt returns the call at a path without the items of loops, in time linear in the path.
func CallAt(prog *compile.Program, path string) (c *compile.Call, ok bool) {
	for step := range strings.SplitSeq(path, "/") {
		if prog == nil {
			return nil, false
		}
		if c, ok = prog.Call(exec.CallID(step)); !ok {
			return nil, false
		}
		prog = nil
		if d := delegateOf(c); d != nil {
			prog = d.Program
		}
	}
	return c, ok
}

// maxPathBytes bounds the bytes of the paths that Paths yields. A document that several calls
// delegate to has a path for each way to it, and there may be very many.
const maxPathBytes = 4 << 20

// Paths yields the calls for which want returns true, of a program and of the documents that it
// delegates to, by their paths without the items of loops. It yields them in plan order until their
// paths have 4 MiB together. If a program delegates to itself, each path stops there.
func Paths(prog *compile.Program, want func(*compile.Call) bool) iter.Seq2[string, *compile.Call] {
	return func(yield func(string, *compile.Call) bool) {
		p := &pathWalk{want: want, yield: yield, holds: holding(prog, want), above: map[*compile.Program]bool{}}
		p.walk(prog, "")
	}
}

// AllPaths yields the paths that Paths yields when every call is wanted.
func AllPaths(prog *compile.Program) iter.Seq[string] {
	return func(yield func(string) bool) {
		for path := range Paths(prog, func(*compile.Call) bool { return true }) {
			if !yield(path) {
				return
			}
		}
	}
}

// pathWalk is one walk of Paths.
type pathWalk struct {
	want  func(*compile.Call) bool
	yield func(string, *compile.Call) bool
	holds map[*compile.Program]bool // the program holds a wanted call
	above map[*compile.Program]bool
	bytes int
}

// walk yields the calls of a program. It returns false if no more are wanted.
func (p *pathWalk) walk(prog *compile.Program, prefix string) bool {
	if p.above[prog] || !p.holds[prog] {
		return true
	}
	p.above[prog] = true
	defer delete(p.above, prog)
	for i := range prog.Calls {
		c := &prog.Calls[i]
		d := delegateOf(c)
		below := d != nil && d.Program != nil && p.holds[d.Program]
		if !below && !p.want(c) {
			continue
		}
		path := prefix + exec.PathOf(c.ID)
		if p.bytes += len(path); p.bytes > maxPathBytes {
			return false
		}
		if p.want(c) && !p.yield(path, c) || below && !p.walk(d.Program, path+"/") {
			return false
		}
	}
	return true
}

// holding returns the programs that hold a wanted call, or delegate to a program that does.
func holding(prog *compile.Program, want func(*compile.Call) bool) map[*compile.Program]bool {
	holds := map[*compile.Program]bool{}
	above := map[*compile.Program][]*compile.Program{}
	var todo []*compile.Program
	for _, p := range programs(prog) {
		wanted := false
		for i := range p.Calls {
			c := &p.Calls[i]
			wanted = wanted || want(c)
			if d := delegateOf(c); d != nil && d.Program != nil {
				above[d.Program] = append(above[d.Program], p)
			}
		}
		if wanted {
			todo = append(todo, p)
		}
	}
	for len(todo) > 0 {
		p := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if !holds[p] {
			holds[p] = true
			todo = append(todo, above[p]...)
		}
	}
	return holds
}
