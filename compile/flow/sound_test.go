package flow_test

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/compile/flow"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/effort"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/label"
)

var (
	triples = flag.Int("flow.triples", effort.Of(1_000, 20_000), "how many times a plan that is made up is checked under a policy and interpreted")
	pairs   = flag.Int("flow.pairs", effort.Of(100, 1_000), "how many pairs of runs are compared")
	small   = flag.Int("flow.small", effort.Of(10, 100), "of how many small plans all results are tried")
	seed    = flag.Uint64("flow.seed", 1, "the seed of the first plan")
)

// sinkTools are the tools that are sinks.
var sinkTools = []string{"sink", "out"}

// catalogue returns the tools of generated plans, none of which is ever called. With declared, they
// have schemas of their results.
func catalogue(declared bool) *tool.Catalogue {
	return catalogueOf(declared, func(string) tool.ActivityFunc {
		return func(context.Context, *tool.Request) (tool.Result, error) { panic("it was called") }
	})
}

// catalogueOf returns the tools of generated plans with their activities.
func catalogueOf(declared bool, activity func(name string) tool.ActivityFunc) *tool.Catalogue {
	var all []*tool.Tool
	add := func(name, effects string) {
		text := `{"properties": {}, "effects": ` + effects
		if name == "act" {
			undo, err := json.Marshal(actUndo.json())
			if err != nil {
				panic(err)
			}
			text += `, "undo": ` + string(undo)
		}
		if out := outputs[strings.TrimRight(name, "012")]; declared && out != "" {
			text += `, "outputSchema": ` + out
		}
		def, _ := tool.ParseDefinition(json.RawMessage(text+"}"), name, diag.Loc{})
		all = append(all, &tool.Tool{Definition: def, Source: "go", Driver: "go", Activity: activity(name)})
	}
	for _, name := range []string{"src0", "src1", "src2", "wrap", "picky", "pick", "redact", "vouch", "sink"} {
		add(name, `{"readOnly": true, "openWorld": false}`)
	}
	add("out", `{"readOnly": true}`)
	add("echo", `{"pure": true}`)
	add("act", `{"readOnly": false, "destructive": false, "idempotent": true, "openWorld": false}`)
	return tool.NewCatalogue(all...)
}

// sameParams is the schema of the results of tools that return their params.
const sameParams = `{"type": "object", "additionalProperties": false, "properties": {"x": {}, "y": {}, "p": {}, "q": {}, "id": {}}}`

// outputs are the schemas of the results that resultOf returns, by tool.
var outputs = map[string]string{
	"src": `{"type": "object", "additionalProperties": false, "required": ["b", "list", "flag"], "properties": {
		"a": {"type": "string"}, "flag": {"type": "boolean"},
		"b": {"type": "object", "additionalProperties": false, "required": ["c"], "properties": {"c": {"type": "string"}}},
		"list": {"type": "array", "items": {"type": "object", "additionalProperties": false, "required": ["id", "title"], "properties": {
			"id": {"type": "string"}, "title": {"type": "string"}}}}}}`,
	"wrap":   `{"type": "object", "additionalProperties": false, "required": ["in", "out"], "properties": {"in": {"type": "object"}, "out": {"type": "array"}}}`,
	"picky":  sameParams,
	"act":    sameParams,
	"vouch":  sameParams,
	"echo":   sameParams,
	"redact": `{"type": "string"}`,
	"sink":   `{"type": "string"}`,
	"out":    `{"type": "string"}`,
}

// trusting is a compile.Predicates that checks nothing, since generated plans have no conditions.
type trusting struct{}

func (trusting) Check(string, map[string]*schemas.Schema, *schemas.Meter) (compile.Predicate, error) {
	return trusting{}, nil
}

func (trusting) Holds(context.Context, map[string]json.RawMessage) (bool, error) { return true, nil }

const planInput = `{"text":"t","user":{"list":[{"id":"i","title":"t"}],"name":"n"}}`

// compiled returns the program of a plan; nil when it has errors.
func (p *gplan) compiled(cat *tool.Catalogue) *compile.Program {
	prog, found := p.check(cat)
	if found.HasErrors() {
		return nil
	}
	return prog
}

func (p *gplan) check(cat *tool.Catalogue) (*compile.Program, diag.List) {
	return p.checkWith(cat, trusting{})
}

func (p *gplan) checkWith(cat *tool.Catalogue, predicates compile.Predicates) (*compile.Program, diag.List) {
	doc, found := lang.Parse(diag.NewFile("plan.json", p.root.json()), nil)
	prog, more := compile.Compile(doc, &compile.Options{
		Catalogue: cat, Run: true, Delegates: p.files, Predicates: predicates,
		Values: map[string]compile.Given{"input": {JSON: json.RawMessage(planInput)}},
	})
	return prog, append(found, more...)
}

// findsAll reports whether a plan has no findings about its references.
func findsAll(found diag.List) bool {
	return !slices.ContainsFunc(found, func(f diag.Finding) bool {
		return f.Severity == diag.Error || f.Code == diag.NothingThere || f.Code/100 == 5
	})
}

// testPolicy is a generated policy with the labels of its atoms.
type testPolicy struct {
	said   *label.Policy
	ready  *flow.Policy
	labels []label.Label // by atom
}

// newTestPolicy generates a policy. If it is plain, values are public or secret,
// and all params of sinks have a bound.
func newTestPolicy(r *rand.Rand, plain bool) *testPolicy {
	trust, err := label.BaseTrust.Extend([]string{"untrusted", "partner", "user"}, []string{"untrusted", "vendor", "user"})
	if err != nil {
		panic(err)
	}
	secrecy, err := label.BaseSecrecy.Extend([]string{"public", "sales", "secret"})
	if err != nil {
		panic(err)
	}
	t := &testPolicy{said: &label.Policy{Trust: trust, Secrecy: secrecy, Categories: []string{"health", "money"}, Worst: []string{"health", "money"}, Labels: true, Strict: r.IntN(3) == 0}}
	any := func() label.Label {
		if plain {
			return label.Label{Trust: trust.Top(), Secrecy: []label.Level{secrecy.Bottom(), secrecy.Top()}[r.IntN(2)]}
		}
		l := label.Label{Trust: label.Level(r.IntN(len(trust.Names()))), Secrecy: label.Level(r.IntN(len(secrecy.Names())))}
		if r.IntN(4) == 0 {
			l.Categories = []string{[]string{"health", "money"}[r.IntN(2)]}
		}
		return l
	}
	t.labels = make([]label.Label, int(ofSource)+sourceTools*partsOfSource)
	t.labels[ofPlan] = t.said.OfPlan()
	t.labels[ofInput] = any()
	t.said.Given = []label.Path{{Names: []string{"input"}, Label: t.labels[ofInput]}}
	t.labels[ofUser] = t.labels[ofInput]
	if r.IntN(2) == 0 {
		t.labels[ofUser] = any()
		t.said.Given = append(t.said.Given, label.Path{Names: []string{"input", "user"}, Label: t.labels[ofUser]})
	}
	if r.IntN(4) == 0 {
		l := any()
		t.said.Default = &l
	}
	t.labels[ofState], t.labels[ofDefault] = t.said.OfUnknown(), t.said.OfUnknown()
	for i, name := range []string{"wrap", "picky", "pick", "redact", "vouch", "sink", "out", "act"} {
		a := ofWrap + atom(i)
		e := label.Tool{Selector: label.Selector{Text: name}}
		t.labels[a] = t.said.OfUnknown()
		if name == "redact" || name == "vouch" || r.IntN(2) == 0 {
			l := any()
			e.Gives, t.labels[a] = &l, l
		}
		switch name {
		case "redact":
			e.Declassifies = "redaction"
		case "vouch":
			e.Endorses = "a check"
		case "sink", "out":
			if t.bounds(r, &e); plain {
				e.Takes = []label.Want{{Param: "*", Bound: label.Bound{HasSecrecy: true, Secrecy: secrecy.Bottom()}}}
			}
		}
		t.said.Tools = append(t.said.Tools, e)
	}
	for i := range sourceTools {
		t.source(i, any, r)
	}
	if r.IntN(3) == 0 { // what another entry says holds as well
		l := any()
		t.said.Tools = append(t.said.Tools, label.Tool{Selector: label.Selector{Text: "src*"}, Gives: &l})
		for i := int(ofSource); i < len(t.labels); i++ {
			t.labels[i] = t.said.Join(t.labels[i], l)
		}
	}
	var found diag.List
	if t.ready, found = flow.Prepare(t.said, nil, trusting{}); found.HasErrors() {
		panic(found.Err())
	}
	return t
}

// source labels the results of a source, and some of their parts.
func (t *testPolicy) source(i int, any func() label.Label, r *rand.Rand) {
	e := label.Tool{Selector: label.Selector{Text: "src" + strconv.Itoa(i)}}
	whole := any()
	e.Gives = &whole
	own := map[string]label.Label{"": whole}
	for _, part := range sourceParts[1:] {
		if r.IntN(2) == 0 {
			own[part] = any()
			e.Parts = append(e.Parts, label.Path{Names: strings.Split(part, "."), Label: own[part]})
		}
	}
	for j, part := range sourceParts {
		for {
			if l, ok := own[part]; ok {
				t.labels[int(ofSource)+i*partsOfSource+j] = l
				break
			}
			if part == "list.id" {
				part = "list"
			} else {
				part = ""
			}
		}
	}
	t.said.Tools = append(t.said.Tools, e)
}

// bounds generates the requirements of a sink.
func (t *testPolicy) bounds(r *rand.Rand, e *label.Tool) {
	for _, name := range []string{"p", "q", "*"} {
		if r.IntN(4) == 0 {
			continue
		}
		w := label.Want{Param: name}
		if r.IntN(2) == 0 {
			w.HasTrust, w.Trust = true, label.Level(r.IntN(len(t.said.Trust.Names())))
		}
		if r.IntN(2) == 0 {
			w.HasSecrecy, w.Secrecy = true, label.Level(r.IntN(len(t.said.Secrecy.Names())))
			if r.IntN(3) == 0 {
				w.Categories = []string{"health"}
			}
		}
		e.Takes = append(e.Takes, w)
	}
}

// label returns the label of a value with these atoms.
func (t *testPolicy) label(a atoms) label.Label {
	l := t.said.Best()
	for how, set := range a {
		for i := range t.labels {
			if set&(1<<i) == 0 {
				continue
			}
			one := t.labels[i]
			if how&endorsed != 0 {
				one.Trust = t.said.Best().Trust
			}
			if how&declassified != 0 {
				one.Secrecy, one.Categories = t.said.Best().Secrecy, nil
			}
			l = t.said.Join(l, one)
		}
	}
	return l
}

// wants returns the bounds of a param of a call: those that the policy has for the tool and for the
// activity that it picks, and that of tools which show their params to others.
func (t *testPolicy) wants(c *gcall, param string) (all []label.Bound) {
	bounded := false
	for i := range t.said.Tools {
		e := &t.said.Tools[i]
		if e.Text != c.tool && e.Text != c.activity {
			continue
		}
		own, rest := []label.Bound(nil), []label.Bound(nil)
		for _, w := range e.Takes {
			switch w.Param {
			case param:
				own = append(own, w.Bound)
			case "*":
				rest = append(rest, w.Bound)
			}
		}
		if own == nil {
			own = rest
		}
		for _, w := range own {
			bounded = bounded || w.HasSecrecy
		}
		all = append(all, own...)
	}
	if !bounded && c.leaves() {
		all = append(all, label.Bound{HasSecrecy: true})
	}
	return all
}

// rejects reports whether the policy forbids a value at a sink.
func (t *testPolicy) rejects(e *event) bool {
	if e.params != "" {
		return false
	}
	for _, w := range t.wants(e.to(), e.param) {
		l := t.label(e.data)
		if !t.said.AdmitsTrust(w, l) || !t.said.AdmitsSecrecy(w, l) {
			return true
		}
		why := t.label(e.why)
		if t.said.Strict && (!t.said.AdmitsTrust(w, why) || !t.said.AdmitsSecrecy(w, why)) {
			return true
		}
	}
	return false
}

// to returns the call that made the event, its fallback, or what takes one of them back.
func (e *event) to() *gcall {
	if e.undo != nil {
		return &gcall{tool: e.undo.tool}
	}
	if e.fallback {
		return e.call.fallback
	}
	return e.call
}

type place struct {
	id       string
	param    string
	fallback bool
	undo     bool
}

// checked is the result of checking a plan under a policy.
type checked struct {
	*testPolicy
	report   *flow.Report
	sinks    map[place]*flow.Sink
	rejected bool
}

func check(prog *compile.Program, t *testPolicy, strategy string) *checked {
	c := &checked{testPolicy: t, sinks: map[place]*flow.Sink{}}
	var found diag.List
	c.report, found = flow.Check(prog, t.ready, &flow.Options{GoesOn: strategy != "abort"})
	c.rejected = found.HasErrors()
	for _, s := range c.report.Sinks() {
		c.sinks[place{s.Call.ID, s.Param, s.Fallback, s.Undoes}] = s
	}
	return c
}

// covers returns how an event contradicts the check; "" if it does not.
func (c *checked) covers(e *event) string {
	if e.params != "" {
		return ""
	}
	s, ok := c.sinks[place{e.call.id, e.param, e.fallback, e.undo != nil}]
	if !ok {
		if len(c.wants(e.to(), e.param)) > 0 {
			return fmt.Sprintf("%q of %q has a bound, and the report does not have it", e.param, e.call.id)
		}
		return ""
	}
	p := c.said
	switch data, why := c.label(e.data), c.label(e.why); {
	case !p.AtWorst(data, s.Label()):
		return fmt.Sprintf("%s was given %s, and the report says %s", s.Name(), p.Words(data), p.Words(s.Label()))
	case !p.AtWorst(why, s.Decides()):
		return fmt.Sprintf("what is %s decided about %s, and the report says %s", p.Words(why), s.Name(), p.Words(s.Decides()))
	case c.rejects(e) && !c.rejected:
		return fmt.Sprintf("%s was given what the policy forbids, and the plan was accepted", s.Name())
	}
	return ""
}

// chooser returns a chooser of results that follow from a seed. Of two the first is the rarer: it is
// a failure.
func chooser(seed uint64) func(tool, params string, own atoms, n int) int {
	text := strconv.FormatUint(seed, 10)
	return func(tool, params string, _ atoms, n int) int {
		h := int(hash(text, tool, params) >> 8)
		if n == 2 {
			return min(h%4, 1)
		}
		return h % n
	}
}

// same is the say of an interpreter whose tools return what they always return.
func same(text string, _ atoms) string { return text }

var strategies = []string{"abort", "skip", "continue"}

// Whatever tools return, the check never accepts what the oracle rejects, and no value reaches a
// sink that the report does not have.
func TestOracle(t *testing.T) {
	cat := catalogue(false)
	const policies, results = 4, 5
	done, accepted, rejected, plans, seen := 0, 0, 0, 0, 0
	start := time.Now()
	var inCompile, inCheck, inOracle time.Duration
	for s := *seed; done < *triples; s++ {
		p := newPlan(s, false)
		at := time.Now()
		prog := p.compiled(cat)
		inCompile += time.Since(at)
		if prog == nil {
			continue
		}
		plans++
		bound := bindingsOf(prog, p.root)
		r := rand.New(rand.NewPCG(s, 2))
		strategy := strategies[r.IntN(len(strategies))]
		at = time.Now()
		var runs []*interpreter
		for i := range results {
			in := &interpreter{choose: chooser(s*1000 + uint64(i)), say: same, strategy: strategy, bound: bound}
			in.run(p)
			runs = append(runs, in)
		}
		inOracle += time.Since(at)
		for range policies {
			at = time.Now()
			c := check(prog, newTestPolicy(r, false), strategy)
			inCheck += time.Since(at)
			if c.rejected {
				rejected += results
			} else {
				accepted += results
			}
			for _, in := range runs {
				done++
				for i := range in.events {
					seen++
					if wrong := c.covers(&in.events[i]); wrong != "" {
						t.Fatalf("strategy %s, policy %s: %s\n%s", strategy, c.describe(), wrong, p)
					}
				}
			}
		}
	}
	t.Logf("from seed %d: %d triples of %d plans: %d accepted, %d rejected, %d values at sinks; %v: %v compiling, %v checking, %v interpreting",
		*seed, done, plans, accepted, rejected, seen, time.Since(start).Round(time.Second), inCompile.Round(time.Second), inCheck.Round(time.Second), inOracle.Round(time.Second))
	if accepted < done/20 || rejected < done/20 || seen < done {
		t.Errorf("too few: %d accepted, %d rejected, %d values at sinks", accepted, rejected, seen)
	}
}

func (t *testPolicy) describe() string {
	var b strings.Builder
	fmt.Fprintf(&b, "strict %v\n", t.said.Strict)
	for _, e := range t.said.Tools {
		fmt.Fprintf(&b, "  %s", e.Text)
		if e.Gives != nil {
			fmt.Fprintf(&b, " gives %s", t.said.Words(*e.Gives))
		}
		for _, part := range e.Parts {
			fmt.Fprintf(&b, "; %s %s", strings.Join(part.Names, "."), t.said.Words(part.Label))
		}
		for _, w := range e.Takes {
			fmt.Fprintf(&b, "; %s wants %s", w.Param, t.said.BoundWords(w.Bound))
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// Small plans are run with all results that their tools may return. That shows how many plans the
// check rejects needlessly, since no result violates the policy. These plans have no findings about
// their references.
func TestFalsePositives(t *testing.T) {
	cat := catalogue(true)
	plans, checks, rejected, wrong := 0, 0, 0, 0
	for s := *seed; plans < *small; s++ {
		p := newPlan(s, true)
		prog, found := p.check(cat)
		if p.sinks == 0 || !findsAll(found) {
			continue
		}
		r := rand.New(rand.NewPCG(s, 3))
		strategy := strategies[r.IntN(len(strategies))]
		runs, ok := allRuns(p, strategy, bindingsOf(prog, p.root))
		if !ok {
			continue
		}
		plans++
		for range 4 {
			c := check(prog, newTestPolicy(r, false), strategy)
			checks++
			if !c.rejected {
				continue
			}
			rejected++
			if !slices.ContainsFunc(runs, func(in *interpreter) bool { return c.wrong(in) }) {
				wrong++
				if testing.Verbose() && wrong < 5 {
					t.Logf("rejected for nothing: %s\n%s", c.describe(), p)
				}
			}
		}
	}
	harmless := checks - rejected + wrong
	t.Logf("from seed %d: %d small plans, %d checks: %d rejected, of which %d (%.1f %%) no result could make wrong; those are %d of all %d that none could",
		*seed, plans, checks, rejected, wrong, 100*float64(wrong)/float64(max(1, rejected)), wrong, harmless)
	if wrong*20 > rejected || rejected == 0 {
		t.Errorf("%d of %d rejections are for nothing: more than 5 %%", wrong, rejected)
	}
}

// wrong reports whether the oracle rejects a run.
func (c *checked) wrong(in *interpreter) bool {
	for i := range in.events {
		e := &in.events[i]
		if c.rejects(e) {
			return true
		}
	}
	return false
}

// allRuns interprets a plan with all results that its tools may give; false if they are more than
// 500.
func allRuns(p *gplan, strategy string, bound bindings) (all []*interpreter, ok bool) {
	const most = 500
	var path []int // the choices of the run, each below its limit
	var limits []int
	for {
		made := map[string]int{}
		at := 0
		in := &interpreter{strategy: strategy, bound: bound, say: same, choose: func(tool, params string, _ atoms, n int) int {
			key := tool + params
			if c, ok := made[key]; ok {
				return c
			}
			if at == len(path) {
				path, limits = append(path, 0), append(limits, n)
			}
			made[key] = path[at]
			at++
			return made[key]
		}}
		in.run(p)
		all = append(all, in)
		if len(all) > most {
			return nil, false
		}
		path, limits = path[:at], limits[:at]
		for len(path) > 0 && path[len(path)-1] == limits[len(path)-1]-1 {
			path, limits = path[:len(path)-1], limits[:len(limits)-1]
		}
		if len(path) == 0 {
			return all, true
		}
		path[len(path)-1]++
	}
}
