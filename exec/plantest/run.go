package plantest

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/undo"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/standin"
)

// A World stands in for tools, by their names. For a tool that it does not have, the stand-in of
// its tool file is used, if there is one. Otherwise a tool that is pure and runs in this process is
// called, and a tool whose result has a schema returns a sample of that. A call of any other tool
// fails with the code "no-stand-in".
type World map[string]*standin.Script

// Options controls how a program is run. The zero value is the default.
type Options struct {
	// Exec holds the options of the run. Those that a stepper does not take must not be set. If the
	// ID and the Seed are zero, fixed ones are used.
	Exec  exec.Options
	World World
	// Answers holds a person's answers to questions about calls, by the paths of the calls (see
	// exec.Event); "*" is for all other calls. A question without an answer stays open, and the run
	// ends as paused. The same goes for the eleventh question about one call.
	Answers map[string]exec.Answer
	// Reply answers questions that are not in Answers, by the path of the call. If it is nil or
	// returns false, they stay open.
	Reply  func(path string, q *exec.Question) (exec.Answer, bool)
	Faults []Fault
	// Results makes up the result of an attempt that neither the World nor a tool file has one for,
	// in place of a sample of its schema. If it is nil or returns false, a sample is used.
	Results func(*exec.Trial) (tool.Result, bool)
	// Stand, if not nil, returns the answer to each attempt, once, when the attempt begins. answer
	// returns the answer that the attempt would have without Stand.
	Stand func(a *exec.Attempt, of *Attempt, answer func() standin.Answer) standin.Answer
	// Undo holds the options with which the program was compiled. With them, a run that is to be
	// undone is undone in the same World after it has ended. If Undo is nil, the run is left with
	// the status Undoing.
	Undo *compile.Options
	// Stop, if not nil, is called before each attempt, and often while values are checked. If it
	// returns an error, Run stops and returns that error.
	Stop func() error
	// MaxAttempts limits the attempts of a run; 0 is 100,000. If a run makes more, Run returns an
	// error, since the run may never end.
	MaxAttempts int
	// MaxBytes limits the bytes of params, results and other values that a run puts together, as
	// exec.Options.Room counts them; 0 is 256 MiB. If a run puts together more, Run returns an
	// error.
	MaxBytes int64
	// Brief leaves the Attempts out of the Outcome, and the params and results out of its Effects.
	Brief bool
}

// Outcome is the result of a run, with everything that happened in it.
type Outcome struct {
	*exec.Result
	Attempts []Attempt // in the order in which they began
	Effects  []Effect  // in the order in which they happened
	Took     time.Duration
	// Unknown lists the tools that nothing stood in for, each once.
	Unknown []string

	prog     *compile.Program
	unwanted map[string]bool // calls, by their paths, whose _when did not hold
	undoing  map[string]undoings
}

// undoings counts the calls that undo a call.
type undoings struct{ planned, completed int }

// Attempt is an attempt that a run made of a call.
type Attempt struct {
	Call     string // its path: see exec.Event; for a call that undoes another, the path of that call and "/undo"
	Tool     string
	Number   int  // counts from 1, separately for the call and its fallback
	Fallback bool // it calls the fallback
	Params   json.RawMessage
	At       time.Duration // when it began
	Fault    FaultKind     // the fault that it had; "" if there is none

	effect  bool // its tool may change the world
	real    bool // nothing stood in for it
	retried bool // the call may be tried again, or has a fallback
	schema  *schemas.Schema
}

// site returns the site that identifies the attempt in faults.
func (a *Attempt) site() site { return site{a.Call, a.Fallback, a.Number} }

// Effect is an action of a tool that may have changed the world, that is, of any tool that is not
// declared readOnly or pure. A tool that is declared idempotent has one effect for each key.
type Effect struct {
	Call   string          `json:"call"` // its path
	Tool   string          `json:"tool"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	// Known reports whether the run received the answer.
	Known bool `json:"known"`
	// Stands reports whether it was not undone and is not itself an undo.
	Stands bool `json:"stands"`

	undoes string // path of the call that it undoes; "" if it undoes none
}

// Undone reports whether the effect was undone.
func (e *Effect) Undone() bool { return !e.Stands && e.undoes == "" }

// String returns the effect on one line.
func (e Effect) String() string {
	s := fmt.Sprintf("%s %s", e.Tool, e.Params)
	if !e.Known {
		s += " (the run does not know)"
	}
	if e.undoes != "" {
		s += " undoes " + e.undoes
	}
	return s
}

// Run runs a program. It returns an error if the program can't run, or if the run does not end.
func Run(prog *compile.Program, o *Options) (out *Outcome, err error) {
	if o == nil {
		o = &Options{}
	}
	p := &player{
		prog: prog, opts: o.Exec, play: o, faults: map[site]FaultKind{}, left: o.MaxAttempts,
		now: epoch, begun: map[*standin.Script]int{}, made: map[site]int{}, waiting: map[string]*pending{}, lost: map[string]int{}, replies: map[string]int{},
		done: map[effectKey]int{}, out: &Outcome{prog: prog, unwanted: map[string]bool{}},
	}
	bytes := cmp.Or(o.MaxBytes, maxBytes)
	p.opts.Room = new(atomic.Int64)
	p.opts.Room.Store(bytes)
	for _, f := range o.Faults {
		p.faults[f.site()] = f.Kind
	}
	if p.left == 0 {
		p.left = maxAttempts
	}
	p.opts.ID, p.opts.Seed = cmp.Or(p.opts.ID, "test"), cmp.Or(p.opts.Seed, 1)
	hook := p.opts.OnEvent
	if o.Undo != nil {
		p.did = undo.NewLedger(p.opts.ID)
	}
	p.opts.OnEvent = func(e *exec.Event) {
		p.note(e)
		if hook != nil {
			hook(e)
		}
	}
	stop := o.Stop
	if stop == nil {
		stop = func() error { return nil }
	}
	p.opts.Meter = schemas.NewMeter(stopping{context.Background(), stop}, maxSteps)
	defer func() { // whatever came of it
		switch spent := p.opts.Meter.Err(); {
		case p.opts.Room.Load() < 0:
			out, err = nil, fmt.Errorf("plantest: the run puts together more than %d MiB of params and results", bytes>>20)
		case errors.Is(spent, schemas.ErrSpent):
			out, err = nil, errors.New("plantest: checking the values and conditions of the run takes too much work")
		case spent != nil:
			out, err = nil, spent
		}
	}()
	if err := p.run(); err != nil {
		return nil, err
	}
	p.out.Result = p.m.Result()
	if p.did != nil && p.out.Status == exec.Undoing {
		if err := p.undo(o.Undo); err != nil {
			return nil, err
		}
	}
	p.out.Took = p.now.Sub(epoch)
	p.out.markStanding()
	return p.out, p.out.Err
}

// markStanding sets Stands of the effects that nothing has undone.
func (o *Outcome) markStanding() {
	undone := map[string]int{} // how often each call was undone
	for i := range o.Effects {
		if of := o.Effects[i].undoes; of != "" && undone[of] < o.undoing[of].planned {
			undone[of]++
		}
	}
	for of, n := range o.undoing { // an undo may have had no effect here
		undone[of] = max(undone[of], n.completed)
	}
	for i := range o.Effects {
		e := &o.Effects[i]
		e.Stands = e.undoes == "" && undone[e.Call] == 0
		if e.Undone() {
			undone[e.Call]--
		}
	}
}

const (
	maxAttempts = 100_000   // the default of Options.MaxAttempts
	maxBytes    = 256 << 20 // the default of Options.MaxBytes
	maxSteps    = 256 << 20 // of a meter, for checking values and conditions: some ten seconds
	maxLost     = 100       // consecutive lost answers of a call, which is made again after each
	maxReplies  = 10        // answers of a person to questions about a call; later ones stay open
)

// epoch is the time at which runs begin.
var epoch = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// player drives a stepper.
type player struct {
	prog   *compile.Program
	opts   exec.Options
	play   *Options
	faults map[site]FaultKind
	left   int // attempts that may be made

	m       *exec.Stepper
	now     time.Time
	begun   map[*standin.Script]int // number of attempts for each script
	made    map[site]int            // number of attempts for each call; the number in the site is 0
	replies map[string]int          // to questions, by the paths of their calls
	lost    map[string]int          // answers that never came, by the paths of their calls
	done    map[effectKey]int       // indexes of the effects of tools that are idempotent
	waiting map[string]*pending     // by the ids of their attempts
	count   int
	open    []string // questions that nobody answers; nothing has begun since
	out     *Outcome

	did   *undo.Ledger      // nil if the run is not undone
	names map[string]string // names of calls that undo others, by path; nil in the run itself
}

// stopping is a context that is done when the run is to be stopped.
type stopping struct {
	context.Context
	stop func() error
}

func (s stopping) Err() error { return s.stop() }

// effectKey identifies the one effect of an idempotent tool for a key.
type effectKey struct{ tool, key string }

// pending is an attempt whose answer will come.
type pending struct {
	id     string
	made   Attempt
	at     time.Time
	number int // among those of the run
	tool   *tool.Definition
	key    string
	standin.Answer
	undone bool // it failed, or was dropped, before the tool did anything
	twice  bool
	crash  bool
}

// note keeps what only events say: which calls were skipped by _when, and what undoing needs.
func (p *player) note(e *exec.Event) {
	if p.names != nil {
		return
	}
	if p.did != nil {
		p.did.Take(e)
	}
	if e.Type == exec.CallSkipped && strings.HasPrefix(e.Reason, "its _when is") {
		p.out.unwanted[e.Call] = true
	}
}

func (p *player) run() error {
	if err := p.begin(nil); err != nil {
		return err
	}
	for p.m.Result() == nil {
		if err := p.step(); err != nil {
			return err
		}
	}
	for _, next := range p.inOrder() { // nobody waits for these any more
		p.noteEffect(next, false)
	}
	clear(p.waiting)
	return nil
}

// undo undoes what the run did.
func (p *player) undo(o *compile.Options) error {
	plan := undo.Of(p.prog, o, p.did, undo.Options{})
	prog, findings := plan.Compile(o)
	if err := findings.Err(); err != nil {
		return fmt.Errorf("plantest: the run can't be undone: %w", err)
	}
	p.prog, p.open, p.names = prog, nil, map[string]string{}
	p.out.undoing = map[string]undoings{}
	for _, c := range plan.Calls {
		p.names[exec.PathOf(c.ID)] = c.Path + undoSuffix
		n := p.out.undoing[c.Path]
		n.planned++
		p.out.undoing[c.Path] = n
	}
	p.opts = exec.Options{
		ID: p.opts.ID + undoSuffix, Seed: p.opts.Seed, OnFailure: exec.Ask, Approve: p.opts.Approve, Timeout: p.opts.Timeout,
		MaxParallel: p.opts.MaxParallel, OnEvent: p.opts.OnEvent, Room: p.opts.Room, Meter: p.opts.Meter,
	}
	if err := p.run(); err != nil {
		return err
	}
	res := p.m.Result()
	switch {
	case res.Status == exec.Paused:
	case len(plan.Stands) > 0 || slices.ContainsFunc(res.Calls, func(c exec.CallResult) bool { return c.Status != exec.Completed }):
		p.out.Status = exec.UndoneInPart
	default:
		p.out.Status = exec.Undone
	}
	for _, c := range res.Calls {
		if of := strings.TrimSuffix(p.nameOf(exec.PathOf(c.ID)), undoSuffix); c.Status == exec.Completed {
			n := p.out.undoing[of]
			n.completed++
			p.out.undoing[of] = n
		}
	}
	p.out.Questions = res.Questions
	for i := range p.out.Questions {
		p.out.Questions[i].Path = p.nameOf(p.out.Questions[i].Path)
	}
	return nil
}

// undoSuffix ends the paths of calls that undo others.
const undoSuffix = "/undo"

// nameOf returns the path of a call. For a call that undoes another, it is the path of that call
// and "/undo".
func (p *player) nameOf(path string) string {
	if name, ok := p.names[path]; ok {
		return name
	}
	return path
}

// begin begins the run, or continues it after a crash.
func (p *player) begin(past *exec.History) error {
	m, err := exec.NewStepper(p.prog, &p.opts, past, p.now)
	p.m = m
	return err
}

// step does the next thing that happens.
func (p *player) step() error {
	for _, a := range p.m.Next() {
		p.open = nil
		if p.play.Stop != nil {
			if err := p.play.Stop(); err != nil {
				return err
			}
		}
		if p.left--; p.left < 0 {
			return fmt.Errorf("plantest: the run makes more than %d attempts", p.count)
		}
		p.start(a)
	}
	for _, id := range p.m.Canceled() {
		if w := p.waiting[id]; w != nil {
			p.noteEffect(w, false)
			if err := p.take(w, tool.Result{}, context.Canceled); err != nil {
				return err
			}
		}
	}
	if p.m.Result() != nil || p.replied() {
		return nil
	}
	next := p.next()
	wake, wakes := p.m.Wake()
	switch {
	case next != nil && (!wakes || !wake.Before(next.at)):
		p.now = next.at
		p.m.Advance(p.now)
		return p.deliver(next)
	case wakes:
		p.now = wake
		p.m.Advance(p.now)
		return nil
	}
	if asked := p.asked(); !slices.Equal(asked, p.open) { // uncertain calls fail, and there may be questions about that
		p.open = asked
		p.m.Pause()
		return nil
	}
	return errors.New("plantest: the run waits for nothing, and does not end")
}

// asked returns strings that identify the open questions.
func (p *player) asked() (names []string) {
	for _, q := range p.m.Questions() {
		names = append(names, fmt.Sprintf("%s: %s", q.Path, q.Kind))
	}
	return names
}

// replied answers the questions that have an answer, and reports whether there was one.
func (p *player) replied() bool {
	for _, q := range p.m.Questions() {
		a, ok := p.play.Answers[p.nameOf(q.Path)]
		if !ok {
			a, ok = p.play.Answers["*"]
		}
		if !ok && p.play.Reply != nil {
			a, ok = p.play.Reply(p.nameOf(q.Path), q)
		}
		if ok && p.replies[q.Path] < maxReplies && p.m.Reply(q.Path, q.Instance, a) == nil {
			p.replies[q.Path]++
			return true
		}
	}
	return false
}

// next returns the attempt whose answer comes next.
func (p *player) next() *pending {
	var first *pending
	for _, w := range p.waiting {
		if first == nil || w.before(first) < 0 {
			first = w
		}
	}
	return first
}

func (w *pending) before(v *pending) int {
	return cmp.Or(w.at.Compare(v.at), cmp.Compare(w.number, v.number))
}

// inOrder returns the attempts whose answers will come.
func (p *player) inOrder() []*pending {
	return slices.SortedFunc(maps.Values(p.waiting), (*pending).before)
}

// start decides what the answer of an attempt will be.
func (p *player) start(a *exec.Attempt) {
	path := p.nameOf(a.Path)
	of := site{call: path, fallback: a.Fallback}
	p.made[of]++
	p.count++
	made := Attempt{
		Call: path, Tool: a.Request.Tool, Number: p.made[of], Fallback: a.Fallback, Params: a.Request.Params, At: p.now.Sub(epoch),
		effect: mayChange(a.Request.Definition), schema: resultSchema(a),
	}
	if r := a.Call.Rare; r != nil && !a.Fallback {
		made.retried = r.Retry != nil || r.Fallback != nil
	}
	made.retried = made.retried || p.opts.Retry != nil
	w := &pending{id: a.ID, number: p.count, tool: a.Request.Definition, key: a.Request.Key}
	w.Answer, made.real = p.answer(a, &made)
	w.undone = !w.Worked()
	if w.After > a.Timeout { // the tool goes on, but its answer is not received
		w.After, w.Err, w.Lost = a.Timeout, timedOut(a.Timeout), false
	}
	if kind := p.fault(made.site()); kind != "" && !made.real && kind.fits(&made) {
		made.Fault = kind
		kind.apply(w, a, &made)
	}
	w.at, w.made = p.now.Add(w.After), made
	p.waiting[a.ID] = w
	if !p.play.Brief {
		p.out.Attempts = append(p.out.Attempts, made)
	}
}

// fault returns the fault of an attempt.
func (p *player) fault(at site) FaultKind {
	if kind, ok := p.faults[at]; ok && kind != "" {
		return kind
	}
	for ; at.number > 0; at.number-- {
		if p.faults[at] == Down {
			return Down
		}
	}
	return ""
}

// mayChange reports whether a tool may change the world.
func mayChange(d *tool.Definition) bool {
	return d.Effects.ReadOnly != tool.Yes && d.Effects.Pure != tool.Yes
}

// answer returns the answer of an attempt without faults, and whether nothing stood in for its
// tool.
func (p *player) answer(a *exec.Attempt, made *Attempt) (ans standin.Answer, real bool) {
	if p.play.Stand == nil {
		return p.stand(a)
	}
	ans = p.play.Stand(a, made, func() (ans standin.Answer) {
		ans, real = p.stand(a)
		return ans
	})
	return ans, real
}

// stand returns the answer of the World or of another stand-in, and whether nothing stood in for
// the tool.
func (p *player) stand(a *exec.Attempt) (ans standin.Answer, real bool) {
	if s := p.play.World[a.Request.Tool]; s != nil {
		s = s.Of(withoutItems(p.nameOf(a.Path)))
		n := p.begun[s]
		p.begun[s]++
		return s.Answer(a.Request, n), false
	}
	target := a.Call.Target
	if a.Fallback {
		target = a.Call.Fallback.Target
	}
	act := a.Activity()
	if in, ok := act.(*standin.Activity); ok {
		after, res, err := in.Answer(a.Request)
		return standin.Answer{After: after, Result: res, Err: err}, false
	}
	if act != nil && Computes(target) {
		res, err := a.Make(context.Background(), act)
		return standin.Answer{Result: res, Err: err}, true
	}
	if p.play.Results != nil {
		t := &exec.Trial{Instance: a.Instance, Path: p.nameOf(a.Path), Call: a.Call, Request: a.Request}
		if res, ok := p.play.Results(t); ok {
			return standin.Answer{Result: res}, false
		}
	}
	if schema := resultSchema(a); schema != nil {
		v, err := schemas.Sample(schema, a.Request.Seed)
		if err == nil {
			return standin.Answer{Result: tool.Result{Value: v}}, false
		}
	}
	if !slices.Contains(p.out.Unknown, a.Request.Tool) {
		p.out.Unknown = append(p.out.Unknown, a.Request.Tool)
	}
	return standin.Answer{Err: &tool.Error{
		Code: "no-stand-in", Message: fmt.Sprintf("nothing stands in for the tool %q, and it has no schema of its result", a.Request.Tool), Permanent: true,
	}}, true
}

// Computes reports whether a run here really calls a target: it is pure, and runs in this process.
func Computes(t *compile.Target) bool {
	return t.Activity != nil && t.Effects.Pure == tool.Yes && (t.Driver == "go" || t.Driver == tool.BuiltIn)
}

// resultSchema returns the schema of the result of an attempt; nil if there is none.
func resultSchema(a *exec.Attempt) *schemas.Schema {
	if a.Fallback {
		return a.Request.Definition.Output
	}
	return a.Call.ResultSchema(0)
}

func timedOut(after time.Duration) error {
	return &tool.Error{Code: "timeout", Message: fmt.Sprintf("no answer within %s", after), Uncertain: true}
}

// deliver passes an answer to the run.
func (p *player) deliver(w *pending) error {
	var te *tool.Error
	uncertain := errors.As(w.Err, &te) && te.Uncertain
	if w.crash {
		return p.crash()
	}
	p.noteEffect(w, !uncertain && !w.Lost)
	if !w.Lost {
		delete(p.lost, w.made.Call)
	} else {
		if p.lost[w.made.Call]++; p.lost[w.made.Call] > maxLost {
			return fmt.Errorf("plantest: %d answers to %q were lost, and the run does not end; end the stand-in's sequence with an answer", maxLost, w.made.Call)
		}
		delete(p.waiting, w.id)
		return p.m.Lost(w.id)
	}
	return p.take(w, w.Result, w.Err)
}

func (p *player) take(w *pending, res tool.Result, err error) error {
	delete(p.waiting, w.id)
	return p.m.Answer(w.id, res, err)
}

// noteEffect notes the effect of an attempt.
func (p *player) noteEffect(w *pending, known bool) {
	made := &w.made
	if w.undone || !made.effect {
		return
	}
	if w.tool.Effects.Idempotent == tool.Yes {
		key := effectKey{made.Tool, w.key}
		if i, ok := p.done[key]; ok {
			p.out.Effects[i].Known = p.out.Effects[i].Known || known
			return
		}
		p.done[key] = len(p.out.Effects)
	}
	e := Effect{Call: made.Call, Tool: made.Tool, Known: known}
	if !p.play.Brief {
		e.Params, e.Result = made.Params, w.Result.Value
		if e.Result == nil {
			e.Result = json.RawMessage("null")
		}
	}
	if p.names != nil {
		e.undoes = strings.TrimSuffix(made.Call, undoSuffix)
	}
	p.out.Effects = append(p.out.Effects, e)
	if w.twice && w.tool.Effects.Idempotent != tool.Yes {
		p.out.Effects = append(p.out.Effects, e)
	}
}

// crash ends the process, though its attempts have done their work, and resumes the run from its
// record.
func (p *player) crash() error {
	for _, w := range p.inOrder() {
		p.noteEffect(w, false)
	}
	clear(p.waiting)
	return p.begin(p.m.History())
}

// withoutItems returns the path of a call without the items of loops and the attempts of delegates.
func withoutItems(path string) string {
	if !strings.ContainsAny(path, "[#") {
		return path
	}
	parts := strings.Split(path, "/")
	for i, p := range parts {
		p, _, _ = strings.Cut(p, "[")
		parts[i], _, _ = strings.Cut(p, "#")
	}
	return strings.Join(parts, "/")
}

// StandIn returns an activity for compile.Options.Models that always fails. With it, programs
// compile whose calls nothing but a stand-in could make.
func StandIn(string) (tool.Activity, error) { return latent{}, nil }

// latent is never called.
type latent struct{}

func (latent) Call(context.Context, *tool.Request) (tool.Result, error) {
	return tool.Result{}, &tool.Error{Code: "no-stand-in", Message: "nothing stands in for the tool", Permanent: true}
}
