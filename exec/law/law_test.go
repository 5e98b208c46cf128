package law

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"testing/fstest"
	"testing/synctest"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/effort"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/state"
)

var (
	plans = flag.Int("law.plans", effort.Of(100, 3000), "how many random plans TestLaw runs")
	seed  = flag.Uint64("law.seed", 1, "the seed of the first of them")
)

// TestLaw runs random plans, and wants that all that plans are made of occurs.
func TestLaw(t *testing.T) {
	counts := map[string]int{}
	failed := 0
	for i := range *plans {
		s := *seed + uint64(i)
		make := generate
		if s%2 == 0 {
			make = generateNested
		}
		found, err := check(t, make(random(s)), s)
		if err != nil {
			t.Errorf("go test ./exec/law -run TestLaw -law.plans=1 -law.seed=%d\n%s", s, report(t, make(random(s)), s, err))
			if failed++; failed == 5 {
				t.Fatal("and perhaps more")
			}
		}
		for _, f := range found {
			counts[f]++
		}
	}
	for _, f := range features {
		t.Logf("%8d %s", counts[f], f)
		if counts[f] == 0 && *plans >= 3000 {
			t.Errorf("no plan with: %s", f)
		}
	}
}

// FuzzParallelEqualsSequential does the same with plans of the fuzzer's bytes.
func FuzzParallelEqualsSequential(f *testing.F) {
	for i := range uint64(64) {
		f.Add(random(i), i)
	}
	f.Fuzz(func(t *testing.T, data []byte, jitter uint64) {
		make := generate
		if jitter%2 == 0 {
			make = generateNested
		}
		if _, err := check(t, make(data), jitter); err != nil {
			t.Error(report(t, make(data), jitter, err))
		}
	})
}

// A way is a way to run a plan. A run that is cut short ends when a call fails, or
// stops after a time; one that is streamed gets its calls bit by bit.
type way struct {
	name     string
	opts     exec.Options
	cut      bool
	stops    bool
	streamed bool
}

var ways = []way{
	{name: "in sequence", opts: exec.Options{Schedule: exec.Sequential}},
	{name: "with 1 slot", opts: exec.Options{MaxParallel: 1}},
	{name: "with 3 slots", opts: exec.Options{MaxParallel: 3}},
	{name: "with 8 slots", opts: exec.Options{MaxParallel: 8}},
	{name: "with 64 slots", opts: exec.Options{MaxParallel: 64}},
	{name: "aborted", opts: exec.Options{MaxParallel: 8, OnFailure: exec.Abort}, cut: true},
	{name: "cancelled", opts: exec.Options{MaxParallel: 8}, cut: true, stops: true},
	{name: "streamed", opts: exec.Options{MaxParallel: 8, Open: true}, streamed: true},
}

// check compiles a plan and runs it in every way. It returns what the plan had in
// it, and what is against the law.
func check(t *testing.T, p *plan, jitter uint64) (found []string, err error) {
	prog, doc, findings, err := p.compile()
	if err != nil {
		return nil, err
	}
	if p.strange(findings) {
		return []string{"refused with documents"}, nil
	}
	asking := newAsking()
	w, err := p.world(asking)
	if err != nil {
		return nil, err
	}
	r := newReading(doc, w)
	refused, err := refusal(r, findings)
	if err != nil || len(r.nothing) > 0 || refused == "PLC401" {
		return []string{"refused " + refused}, err
	}
	r.run()
	if refused != "" {
		return []string{"refused " + refused}, p.neverRan(asking.must, findings)
	}
	for i := range prog.Calls {
		if prog.Calls[i].ID != r.order[i].ID {
			return nil, fmt.Errorf("plan order: %s is at place %d, by the reference %s", prog.Calls[i].ID, i+1, r.order[i].ID)
		}
	}
	aborting, err := p.aborting(doc)
	if err != nil {
		return nil, err
	}
	var first string
	for i, way := range ways {
		if way.streamed && jitter%4 > 0 {
			continue // it costs as much as all others
		}
		tr := &trace{jitter: jitter + uint64(i), asked: map[string]string{}}
		res, err := p.run(t, prog, way, tr)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", way.name, err)
		}
		want := r
		if way.opts.OnFailure == exec.Abort && way.cut && !way.stops {
			want = aborting
		}
		if err := compare(p, want, way, res, tr); err != nil {
			return nil, fmt.Errorf("%s: %w", way.name, err)
		}
		all := fmt.Sprintf("%s %s %s %s %s", res.Status, res.State, res.Data, res.Kinds, res.Output)
		if first == "" {
			first = all
		} else if !way.cut && !way.streamed && all != first {
			return nil, fmt.Errorf("%s: not as in sequence:\n%s\n%s", way.name, all, first)
		}
	}
	return p.features(r), nil
}

func (p *plan) compile() (*compile.Program, *lang.Document, diag.List, error) {
	doc, findings := p.parse()
	if err := findings.Err(); err != nil {
		return nil, nil, nil, fmt.Errorf("parse: %w", err)
	}
	prog, findings := compile.Compile(doc, p.options())
	return prog, doc, findings, nil
}

func (p *plan) parse() (*lang.Document, diag.List) {
	return lang.Parse(diag.NewFile("plan.json", []byte(p.text())), nil)
}

func (p *plan) options() *compile.Options {
	dir := fstest.MapFS{}
	for name, sub := range p.files() {
		dir[name] = &fstest.MapFile{Data: []byte(sub.text())}
	}
	opts := &compile.Options{Catalogue: p.catalogue(), Run: true, Delegates: dir, Predicates: predicates{}}
	opts.Effects = map[string]compile.Effects{"strict": compile.StrictEffects, "none": compile.NoEffects}[p.Effects]
	if p.Lenient {
		opts.Refs = compile.LenientRefs
	}
	return opts
}

// run runs a plan in a bubble of its own time.
func (p *plan) run(t *testing.T, prog *compile.Program, way way, tr *trace) (res *exec.Result, err error) {
	opts := way.opts
	opts.OnUncertain, opts.Approve, opts.Seed = exec.FailUncertain, exec.ApproveNone, tr.jitter
	if way.stops || !way.cut {
		opts.OnFailure, _ = exec.ParseStrategy(p.Strategy)
	}
	synctest.Test(t, func(t *testing.T) {
		ctx := context.WithValue(context.Background(), traceKey{}, tr)
		switch {
		case way.stops:
			stopped, cancel := context.WithTimeout(ctx, time.Duration(tr.jitter%10)*100*time.Millisecond)
			defer cancel()
			res, err = exec.Run(stopped, prog, &opts)
		case way.streamed:
			res, err = p.stream(ctx, &opts, tr.jitter)
		default:
			res, err = exec.Run(ctx, prog, &opts)
		}
	})
	return res, err
}

// stream gives a run the calls of a plan bit by bit.
func (p *plan) stream(ctx context.Context, opts *exec.Options, jitter uint64) (*exec.Result, error) {
	s := compile.NewStream(p.options())
	doc, _ := p.start(0).parse()
	prog, findings := s.Add(doc)
	run, err := exec.Start(ctx, prog, opts)
	for n := 1; n < len(p.Calls) && err == nil; n += 1 + int(jitter/4%4) {
		time.Sleep(time.Duration(jitter%7) * 30 * time.Millisecond)
		doc, _ = p.start(n).parse()
		prog, more := s.Add(doc)
		findings = append(findings, more...)
		err = run.Extend(prog, false)
	}
	if err != nil {
		return nil, err
	}
	doc, _ = p.parse()
	prog, more := s.Close(doc)
	err = run.Extend(prog, true)
	return run.Wait(), cmp.Or(append(findings, more...).Err(), err)
}

// start is a plan as it is when its first n calls are written.
func (p *plan) start(n int) *plan {
	q := p.clone()
	q.Calls = q.Calls[:n]
	if q.Output != "" {
		q.Output = "null"
	}
	return q
}

// refusal is the code for which a plan is refused, by the law: calls with a
// reference to nothing, or a cycle. The compiler may know more than the law needs,
// of types and of calls that can never run: see neverRan.
func refusal(r *reading, findings diag.List) (string, error) {
	var codes []diag.Code
	for _, f := range findings {
		if f.Severity == diag.Error {
			codes = append(codes, f.Code)
		}
	}
	says := func(c diag.Code) bool { return slices.Contains(codes, c) }
	nothing, cycle := len(r.nothing) > 0, len(r.order) < len(r.list)
	switch {
	case nothing && !says(diag.NothingThere):
		return "", fmt.Errorf("PLC302: by the reference, %v read what nobody writes", r.nothing)
	case nothing:
		return "PLC302", nil
	case cycle != says(diag.Cycle):
		return "", fmt.Errorf("PLC401: by the reference %v, but %v", cycle, findings.Err())
	case cycle:
		return "PLC401", nil
	case says(diag.NothingThere):
		return "PLC302 by types", nil
	case says(diag.NeverRuns):
		return "PLC402", nil
	case says(diag.PathNotAllowed), says(diag.BadResult):
		return "by the schema", nil
	}
	return "", findings.Err()
}

// neverRan checks that a call for which a plan was refused does not run. Types say
// so only of tools that leave the last alternative to failures, and where nothing
// stands in for what is missing.
func (p *plan) neverRan(asked map[string]string, findings diag.List) error {
	for _, c := range p.Calls {
		if fallback, _ := c.member("_fallback"); p.Lenient || c.Does.choosesLast() || c.Instead.choosesLast() || strings.Contains(fallback, "†") {
			return nil
		}
	}
	for _, f := range findings {
		for question := range asked {
			never := f.Severity == diag.Error && (f.Code == diag.NothingThere || f.Code == diag.NeverRuns)
			if never && strings.HasPrefix(question, f.Call+" ") {
				return fmt.Errorf("%s: %s runs, by the reference, but: %s", f.Code, f.Call, f.Message)
			}
		}
	}
	return nil
}

// compare compares a run with the reference.
func compare(p *plan, r *reading, way way, res *exec.Result, tr *trace) error {
	asked := r.asking.must
	done, settled := map[state.Place]bool{}, map[state.Place]bool{}
	for _, c := range res.Calls {
		s := r.list[slices.IndexFunc(r.list, func(s *step) bool { return s.ID == c.ID })]
		want, got := s.String(), fmt.Sprintf("%s %s handled=%v outcome=%q", c.ID, c.Status, c.Handled, c.Outcome)
		done[s.place] = c.Status == exec.Completed || c.Handled
		settled[s.place] = done[s.place] || c.Status == exec.Failed || c.Status == exec.Skipped
		if want != got && (done[s.place] || !way.cut) {
			return fmt.Errorf("a call:\n%s\nby the reference:\n%s", got, want)
		}
	}
	same := func(a, b string) bool { return a == b }
	if way.streamed {
		// Calls take places as they are released, so that the members of objects, and
		// what templates make of them, may come in another order.
		same = func(a, b string) bool { return string(sorted([]byte(a))) == string(sorted([]byte(b))) }
	}
	for question, got := range tr.asked {
		if r.asking.may[question] == got {
			continue
		}
		if !same(got, asked[question]) {
			return fmt.Errorf("params of %s:\n%s\nby the reference:\n%s", question, got, asked[question])
		}
	}
	maps.DeleteFunc(tr.asked, func(question, _ string) bool { _, ok := asked[question]; return !ok })
	if !way.cut && len(tr.asked) != len(asked) {
		return fmt.Errorf("calls: %v\nby the reference: %v", tr.asked, asked)
	}
	for _, s := range r.order {
		if o := r.open(s, settled); o != nil && done[s.place] {
			return fmt.Errorf("closed: %s is done, and %s, which it needed, has not settled", s.ID, o.ID)
		}
	}
	r = r.cut(done)
	for kind, got := range map[string]json.RawMessage{"state": res.State, "data": res.Data, "note": res.Kinds["note"]} {
		got, want := lawful(string(got)), lawful(string(r.fold(kind, r.end())))
		if !same(got, want) {
			return fmt.Errorf("%s:\n%s\nby the reference:\n%s", kind, got, want)
		}
	}
	if output, status := r.result(); output != nil && !way.cut {
		// The law says nothing of the output of a run that failed.
		got, want := lawful(string(res.Output)), lawful(string(output))
		if status != res.Status || status == exec.Completed && !same(got, want) {
			return fmt.Errorf("%s, output:\n%s\nby the reference %s:\n%s", res.Status, got, status, want)
		}
	}
	place := map[string]int{}
	for _, s := range r.order {
		place[s.ID] = int(s.place)
	}
	return p.inOrder(place, way, tr)
}

// open is a call that s is bound to or depends on and that has not settled.
func (r *reading) open(s *step, settled map[state.Place]bool) *step {
	for _, o := range r.order[:s.place-1] {
		bound := func(rd read) bool { return o.place >= r.since[rd.ref.Span] && o.mayWrite(rd.path()) }
		if !settled[o.place] && (slices.ContainsFunc(s.reads, bound) || slices.Contains(r.dependencies(s), o)) {
			return o
		}
	}
	return nil
}

// cut is a reading with the writes of these calls only.
func (r *reading) cut(done map[state.Place]bool) *reading {
	q := *r
	q.log = slices.DeleteFunc(slices.Clone(r.log), func(e state.Entry) bool { return !done[e.Place] })
	return &q
}

func (s *step) String() string {
	return fmt.Sprintf("%s %s handled=%v outcome=%q", s.ID, s.status, s.handled, s.outcome)
}

// result is the solution's output, nil when it has none, and how the run ended.
func (r *reading) result() (json.RawMessage, exec.Status) {
	status := exec.Completed
	for _, s := range r.list {
		if s.status == "failed" && !s.handled {
			status = exec.Failed
		}
	}
	v := r.fill(r.output, r.end())
	if r.output.IsZero() || !v.present() {
		return nil, status
	}
	return v.json, status
}

// inOrder checks that no call overlapped or overtook one that it is ordered
// against by its effects; in sequence, any. Calls are at these places.
func (p *plan) inOrder(place map[string]int, way way, tr *trace) error {
	for i, a := range tr.spans {
		for _, b := range tr.spans[i+1:] {
			a.call, b.call = outermost(a.call), outermost(b.call)
			if a.call == b.call || way.opts.Schedule != exec.Sequential && !p.ordered(definitions[a.tool], definitions[b.tool]) {
				continue
			}
			if place[a.call] > place[b.call] || a.end > b.start {
				return fmt.Errorf("effects: %s %s was called before %s %s had ended", b.tool, b.call, a.tool, a.call)
			}
		}
	}
	return nil
}

func outermost(call string) string {
	outer, _ := isInner(call)
	return outer
}

// aborting is the reading in which runs inside the run end with their first failure.
func (p *plan) aborting(doc *lang.Document) (*reading, error) {
	w, err := p.world(newAsking())
	if err != nil {
		return nil, err
	}
	w.inner = "abort"
	r := newReading(doc, w)
	r.run()
	return r, nil
}

// report is what is wrong with a plan, made as small as it goes.
func report(t *testing.T, p *plan, jitter uint64, err error) string {
	kind := func(err error) string {
		digits := regexp.MustCompile(`[0-9]+`)
		return digits.ReplaceAllString(strings.Join(strings.Fields(err.Error())[:4], " "), "")
	}
	want := kind(err)
	p = shrink(p, func(q *plan) bool {
		_, err := check(t, q, jitter)
		return err != nil && kind(err) == want
	})
	_, err = check(t, p, jitter)
	prog, _, _, _ := p.compile()
	files := ""
	for name, sub := range p.files() {
		files += name + ": " + sub.text() + sub.tools() + "\n"
	}
	return fmt.Sprintf("%v\n%s\n%s%s\n%s", err, p.text(), files, prog, p.tools())
}
