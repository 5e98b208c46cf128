package law

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/undo"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
)

var undone = flag.Int("law.undone", 30, "how many random plans TestUndone runs and undoes")

// TestUndone runs random plans whose calls fail, lose their answers and are not accepted, and undoes
// what they did. It wants that what stands then is what the reference says, which has seen the tools
// at work and no events, and that the undoing is in the reversed order of the plan.
func TestUndone(t *testing.T) {
	all := map[string]int{}
	for i := range *undone {
		s := *seed + uint64(i)
		make := generate
		if s%2 == 0 {
			make = generateNested
		}
		p := make(random(s))
		counts, err := checkUndone(t, p, s)
		if err != nil {
			t.Fatalf("go test ./exec/law -run TestUndone -law.undone=1 -law.seed=%d\n%v\n%s", s, err, p.text())
		}
		for name, n := range counts {
			all[name] += n
		}
	}
	for _, name := range []string{
		"runs", "undone by themselves", "effects", "undone", "no undo", "uncertain and undone", "done, unknown, skipped", "not done, approved",
		"result not accepted", "undo failed", "undo tried again", "inside documents", "by a fallback",
	} {
		t.Logf("%8d %s", all[name], name)
		if all[name] == 0 && *undone >= 400 {
			t.Errorf("no plan with: %s", name)
		}
	}
}

// undos are what takes back calls of the tools of the law: nothing does so of wipes and backupPays.
var undos = map[string]tool.Undo{
	"plain":  {Params: json.RawMessage(`{"key":"†key","of":"plain","params":"†params","why":"†failure.code"}`)},
	"plainA": {Params: json.RawMessage(`{"key":"†key","of":"plainA","params":"†params"}`), WhenUncertain: true},
	"apart":  {Params: json.RawMessage(`{"key":"†key","of":"apart"}`)},
	"safe":   {Params: json.RawMessage(`{"key":"†key","of":"safe","params":"†params"}`), WhenUncertain: true},
	"pays":   {Params: json.RawMessage(`{"key":"†key","of":"pays"}`)},
	"paysA":  {Params: json.RawMessage(`{"key":"†key","of":"paysA","result":"†result"}`)},
	"paysB":  {Params: json.RawMessage(`{"key":"†key","of":"paysB","params":"†params"}`), WhenUncertain: true},
	"backup": {Params: json.RawMessage(`{"key":"†key","of":"backup","params":"†params"}`)},
}

// An effect is what a tool did, or was asked to do, for one idempotency key.
type effect struct {
	call, tool, key string
	params          json.RawMessage
	start, end      int // of the attempt that did it
	done            bool
	answered        bool // the run was told that it did it
	lost            bool // an answer was lost, so that the run can't know
	undone          int
	undoing         span
	why             string // it was skipped
}

// An undoWorld is what the tools of the law do to the world: the reference.
type undoWorld struct {
	*plan
	mu      sync.Mutex
	clock   int
	effects map[string]*effect // by tool and key
	tried   map[string]int     // attempts to undo, by tool and key
	counts  map[string]int
	err     error
}

// catalogue returns the tools of a plan, which do something to this world, and what undoes them.
func (w *undoWorld) catalogue() *tool.Catalogue {
	var tools []*tool.Tool
	for t := range w.plan.catalogue().Tools() {
		copied := *t
		def := *t.Definition
		if u, ok := undos[def.Name]; ok {
			u.Tool = "undoes"
			def.Undo = &u
		}
		copied.Definition = &def
		if t.Activity != nil {
			copied.Activity = tool.ActivityFunc(w.call)
		}
		tools = append(tools, &copied)
	}
	def := *tools[0].Definition
	def.Name, def.Effects, def.Undo, def.Outcomes = "undoes", tool.Effects{Idempotent: tool.Yes}, nil, nil
	tools = append(tools, &tool.Tool{Definition: &def, Source: "go", Driver: "go", Activity: tool.ActivityFunc(w.undo)})
	return tool.NewCatalogue(tools...)
}

// call is an attempt of a tool that may do something. One whose answer is lost did it for half of
// the keys.
func (w *undoWorld) call(ctx context.Context, req *tool.Request) (tool.Result, error) {
	start := w.tick()
	res, err := w.plan.activity(ctx, req)
	if e := definitions[req.Tool]; e.ReadOnly == tool.Yes || e.Pure == tool.Yes {
		return res, err
	}
	var te *tool.Error
	lost := err != nil && (!errors.As(err, &te) || te.Uncertain)
	w.mu.Lock()
	defer w.mu.Unlock()
	e := w.effects[req.Tool+" "+req.Key]
	if e == nil {
		e = &effect{call: req.Call, tool: req.Tool, key: req.Key, params: req.Params, start: start}
		w.effects[req.Tool+" "+req.Key] = e
	} else if e.done && !definitions[req.Tool].Repeatable() {
		w.err = fmt.Errorf("%s of %s did its work twice", req.Tool, req.Call)
	}
	w.clock++
	if err == nil || lost && digest("", "", []byte(req.Key))%2 == 0 {
		e.done, e.end = true, w.clock
	}
	e.answered, e.lost = e.answered || err == nil, e.lost || lost
	return res, err
}

func (w *undoWorld) tick() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clock++
	return w.clock
}

// jammed reports whether an effect can't be undone, and stubborn whether that takes more than one
// attempt.
func (e *effect) jammed() bool   { return e.tool == "paysB" && digest("", "", []byte(e.key))%3 == 0 }
func (e *effect) stubborn() bool { return digest("", "", []byte(e.key))%5 == 0 }

// person reports what a person says who is asked whether an uncertain effect was done.
func (e *effect) person() bool { return digest("", "", []byte(e.key))%4 < 2 }

// undo undoes an effect.
func (w *undoWorld) undo(_ context.Context, req *tool.Request) (tool.Result, error) {
	var of struct {
		Key, Of, Why string
		Params       json.RawMessage
	}
	if err := json.Unmarshal(req.Params, &of); err != nil {
		return tool.Result{}, err
	}
	start := w.tick()
	time.Sleep(time.Duration(digest("", "", []byte(of.Key))%50) * time.Millisecond)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.clock++
	at := of.Of + " " + of.Key
	e := w.effects[at]
	w.tried[at]++
	switch {
	case e == nil:
		w.err = fmt.Errorf("%s is undone, and was never called", at)
		return tool.Result{}, &tool.Error{Code: "nothing", Permanent: true}
	case of.Params != nil && string(canonical(of.Params)) != string(canonical(e.params)):
		w.err = fmt.Errorf("%s is undone with the params %s, and was called with %s", at, of.Params, e.params)
	case e.jammed():
		return tool.Result{}, &tool.Error{Code: "jammed", Permanent: true}
	case e.stubborn() && w.tried[at] == 1:
		w.counts["undo tried again"]++
		return tool.Result{}, &tool.Error{Code: "busy"}
	}
	e.undone++
	e.undoing = span{call: e.call, tool: e.tool, start: start, end: w.clock}
	return tool.Result{Value: json.RawMessage("null")}, nil
}

// checkUndone runs a plan, and undoes what it did.
func checkUndone(t *testing.T, p *plan, jitter uint64) (map[string]int, error) {
	w := &undoWorld{plan: p, effects: map[string]*effect{}, tried: map[string]int{}, counts: map[string]int{}}
	doc, findings := p.parse()
	if err := findings.Err(); err != nil {
		return nil, fmt.Errorf("parse: %w", err)
	}
	o := p.options()
	o.Catalogue = w.catalogue()
	prog, findings := compile.Compile(doc, o)
	if findings.Err() != nil {
		return nil, nil
	}
	if err := undo.Check(prog, o).Err(); err != nil {
		return nil, err
	}
	r := &undoRun{undoWorld: w, prog: prog, options: o, jitter: jitter, ledger: undo.NewLedger("law"), refused: map[string]bool{}}
	var err error
	synctest.Test(t, func(t *testing.T) { err = r.run() })
	if err = cmp.Or(err, w.err); err == nil {
		err = r.stands(doc)
	}
	return w.counts, err
}

// undoRun is a run of a plan, and then the run that undoes it.
type undoRun struct {
	*undoWorld
	prog    *compile.Program
	options *compile.Options
	jitter  uint64
	ledger  *undo.Ledger
	refused map[string]bool       // effects, by tool and key, whose result was not accepted
	asked   map[string]*undo.Call // by the paths of the calls that undo
	itself  bool                  // the run says that it is undone
}

func (r *undoRun) run() error {
	tr := &trace{jitter: r.jitter, asked: map[string]string{}}
	ctx := context.WithValue(context.Background(), traceKey{}, tr)
	begun := map[string]string{} // the last attempt of each call
	res, err := exec.Run(ctx, r.prog, &exec.Options{
		ID: "law", Seed: r.jitter, MaxParallel: 8, OnFailure: exec.Undo, OnUncertain: exec.FailUncertain, Approve: exec.ApproveNone,
		OnEvent: func(e *exec.Event) {
			r.ledger.Take(e)
			if e.Type == exec.CallStarted {
				begun[e.Call] = e.Tool + " " + e.Key
			}
			if e.Work == exec.WorkDone {
				r.refused[begun[e.Call]] = true
				r.counts["result not accepted"]++
			}
		},
	})
	if err != nil {
		return err
	}
	r.counts["runs"]++
	if r.itself = res.Status == exec.Undoing; r.itself {
		r.counts["undone by themselves"]++
	}
	if !r.itself && res.Status != exec.Completed {
		return fmt.Errorf("the run is %s: %s", res.Status, res.Reason)
	}
	plan := undo.Of(r.prog, r.options, r.ledger, undo.Options{All: true, End: exec.Failure{Code: string(res.Status)}})
	undoing, findings := plan.Compile(r.options)
	if err := findings.Err(); err != nil {
		return fmt.Errorf("the plan that undoes:\n%s\n%w", plan.Text, err)
	}
	r.asked = map[string]*undo.Call{}
	for i := range plan.Calls {
		r.asked[exec.PathOf(plan.Calls[i].ID)] = &plan.Calls[i]
		r.counts["inside documents"] += min(1, strings.Count(plan.Calls[i].Path, "/"))
	}
	undid, err := exec.Run(ctx, undoing, &exec.Options{
		Seed: r.jitter, MaxParallel: 8, OnFailure: exec.Ask, OnUncertain: exec.FailUncertain, Approve: exec.ApproveNone, Approver: r.answer,
	})
	if err != nil || undid.Status != exec.Completed {
		return cmp.Or(err, fmt.Errorf("the undoing is %s: %s\n%s", undid.Status, undid.Reason, plan.Text))
	}
	return nil
}

// answer is a person who knows for half of the effects that they were done, or leaves them.
func (r *undoRun) answer(_ context.Context, q *exec.Question) (exec.Answer, error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	var of struct{ Key, Of string }
	if err := json.Unmarshal(q.Params, &of); err != nil {
		return exec.Answer{}, err
	}
	c := r.asked[q.Path]
	e := r.effects[of.Of+" "+of.Key]
	switch {
	case e == nil:
		return exec.Answer{}, fmt.Errorf("asked about %s %s", q.Path, q.Params)
	case q.Kind == exec.FailureQuestion:
		e.why = q.Failure.Code
		return exec.Answer{Skip: true}, nil
	case c.Uncertain && e.person():
		return exec.Answer{Approved: true}, nil
	}
	e.why = "unknown"
	return exec.Answer{Skip: true}, nil
}

// stands compares what stands with what the reference says.
func (r *undoRun) stands(doc *lang.Document) error {
	for _, at := range slices.Sorted(maps.Keys(r.effects)) {
		e := r.effects[at]
		u, has := undos[e.tool]
		want := has && (e.answered || e.lost && (u.WhenUncertain || e.person())) && !e.jammed()
		if strings.Contains(string(u.Params), "†result") && (!e.answered || r.refused[at]) {
			want = false // nobody can say the result
		}
		if e.undone > 1 || (e.undone == 1) != want {
			return fmt.Errorf("%s of %s (done %v, answered %v) was undone %d times; by the reference %v (%s)", at, e.call, e.done, e.answered, e.undone, want, e.why)
		}
		r.count(e, has, u)
	}
	return r.reversed(doc)
}

func (r *undoRun) count(e *effect, has bool, u tool.Undo) {
	add := func(name string, is bool) {
		if is {
			r.counts[name]++
		}
	}
	add("effects", e.done)
	add("undone", e.undone == 1)
	add("no undo", e.done && !has)
	add("uncertain and undone", e.undone == 1 && !e.answered && u.WhenUncertain)
	add("done, unknown, skipped", e.done && !e.answered && e.undone == 0)
	add("not done, approved", !e.done && e.undone == 1)
	add("undo failed", e.why == "jammed")
	add("by a fallback", e.undone == 1 && isBackup(e.tool))
}

// reversed checks the order of the undoing: that it is a lawful run when time goes backwards.
func (r *undoRun) reversed(doc *lang.Document) error {
	w, err := r.world(newAsking())
	if err != nil {
		return err
	}
	ref := newReading(doc, w)
	place := map[string]int{}
	for _, s := range ref.order {
		place[s.ID] = int(s.place)
	}
	backwards := &trace{}
	first, last := map[string]int{}, map[string]int{} // of the calls of the plan
	for _, e := range r.effects {
		if e.undone == 0 {
			continue
		}
		s := span{call: e.call, tool: e.tool, start: -e.undoing.end, end: -e.undoing.start}
		backwards.spans = append(backwards.spans, s)
		top := outermost(e.call)
		if at, ok := first[top]; !ok || s.start < at {
			first[top] = s.start
		}
		if at, ok := last[top]; !ok || s.end > at {
			last[top] = s.end
		}
	}
	slices.SortFunc(backwards.spans, func(a, b span) int { return cmp.Compare(a.start, b.start) })
	if err := r.inOrder(place, way{}, backwards); err != nil {
		return fmt.Errorf("backwards: %w", err)
	}
	for _, s := range ref.order {
		for _, o := range append(slices.Clone(s.needs), ref.dependencies(s)...) {
			if end, ok := last[o.ID]; ok {
				if start, ok := first[s.ID]; ok && end > start {
					return fmt.Errorf("%s was undone before %s, which needed it, was", o.ID, s.ID)
				}
			}
		}
	}
	return nil
}
