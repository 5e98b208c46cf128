package law

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/forecast"
	"github.com/plc-lang/plc/internal/effort"
	"github.com/plc-lang/plc/tool"
)

var bounded = flag.Int("law.bounds", effort.Of(100, 500), "how many random plans TestBounds runs")

// TestBounds runs random plans, and wants nothing to happen that is not within the bound that a
// person is shown of them before: no tool, effect or host that is not in it, and no more calls,
// attempts, approvals and tokens.
func TestBounds(t *testing.T) {
	counts := map[string]int{}
	for i := range *bounded {
		s := *seed + uint64(i)
		p := boundedPlan(s)
		met, err := p.withinBound(t, s)
		if err != nil {
			t.Fatalf("go test ./exec/law -run TestBounds -law.bounds=1 -law.seed=%d\n%v\n%s", s, err, p.text())
		}
		for _, m := range met {
			counts[m]++
		}
	}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		t.Logf("%8d %s", counts[name], name)
	}
	for _, name := range []string{
		"ran", "no bound", "calls at the bound", "attempts at the bound", "approvals at the bound", "tokens at the bound",
		"calls below the bound", "attempts below the bound", "approvals below the bound", "retried", "fell back", "asked", "in a delegate", "another's activity",
	} {
		if counts[name] == 0 && *bounded >= 500 {
			t.Errorf("no plan: %s", name)
		}
	}
}

// boundedPlan is a random plan with what matters to bounds besides: instances, activities of
// other tools, approvals, estimates, and lists that are not written out.
func boundedPlan(s uint64) *plan {
	m := &maker{dice: &dice{random(s)}, nested: s%3 > 0}
	p := m.make(len(m.data))
	if s%5 == 0 {
		m.instanced(p)
	}
	files, d := p.files(), &dice{random(^s)}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		files[name].adorn(d)
	}
	p.adorn(d)
	return p
}

func (p *plan) adorn(d *dice) {
	for _, c := range p.Calls {
		add := func(oneIn int, name string, values ...string) {
			if _, there := c.member(name); d.one(oneIn) && !there {
				c.Members = append(c.Members, member{name, d.pick(values...)})
			}
		}
		add(4, "_estimatedTokens", "1", "10")
		add(8, "_approve", "true", "\"because\"", "false")
		add(12, "_when", quote("†input.none"), quote("†input.on"), quote("†state.b"))
		if c.Sub != nil {
			add(4, "_retry", "1", "2")
			add(8, "_fallback", `"backup"`, `"wipes"`)
		} else if c.Tool != "choose" && c.Tool != "known" {
			add(8, "_activity", `"wipes"`, `"pure"`, `"pays"`, `"reads"`, `"paysB"`)
		}
		for i := range c.Params {
			if c.Params[i].Name == "items" && d.one(3) {
				c.Params[i].JSON = quote(d.pick("†input.list", "†state.l", "†input.obj.m", "†state.b", "†state.l || †input.list"))
			}
			if c.Params[i].Name == "max" && d.one(4) {
				c.Params[i].JSON = quote(d.pick("†input.obj.m[1]", "†state.n"))
			}
		}
	}
}

// placed are the tools of the plan, each at a host of its own.
func (p *plan) placed(seen *happened) *tool.Catalogue {
	var tools []*tool.Tool
	for t := range p.catalogue().Tools() {
		if t.Source == tool.BuiltIn {
			continue
		}
		u, name := *t, t.Definition.Name
		if act := t.Activity; act != nil {
			u.Driver, u.Raw = "http", fmt.Appendf(nil, `{"http": {"url": "https://%s/x"}}`, name)
			u.Activity = tool.ActivityFunc(func(ctx context.Context, req *tool.Request) (tool.Result, error) {
				seen.attempt(name, req)
				return act.Call(ctx, req)
			})
		}
		tools = append(tools, &u)
	}
	return tool.NewCatalogue(tools...)
}

// happened is what a run did.
type happened struct {
	mu        sync.Mutex
	calls     map[[2]string]bool // instance and path, but of those that delegate
	attempts  int                // of calls and choose
	approvals int
	ids       []string          // of the calls of each attempt of a tool
	kinds     map[[2]string]int // attempts by tool and kind of effect
	hosts     map[string]bool
	met       map[string]bool
}

// attempt notes that the activity of a tool was called.
func (h *happened) attempt(host string, req *tool.Request) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.hosts[host] = true
	h.ids = append(h.ids, req.Call)
	if host != req.Tool {
		h.met["another's activity"] = true
	}
	h.kinds[[2]string{req.Tool, kindOf(definitions[host].Either(definitions[req.Tool]))}]++
}

// kindOf is the gravest that effects are, by the law.
func kindOf(e tool.Effects) string {
	switch {
	case e.Destructive == tool.Yes:
		return "destructive"
	case e.ChangesWorld():
		return "changes"
	case e.Pure == tool.Yes:
		return "pure"
	case e.ReadOnly == tool.Yes:
		return "reads"
	}
	return "undeclared"
}

var kinds = []string{"pure", "reads", "undeclared", "changes", "destructive"}

// event notes what an event says.
func (h *happened) event(e *exec.Event) {
	h.mu.Lock()
	defer h.mu.Unlock()
	switch {
	case e.Type == exec.ApprovalAsked && e.Question == exec.ApprovalQuestion:
		h.approvals++
		h.met["asked"] = true
	case e.Type == exec.CallStarted && (e.Fallback || !slices.Contains([]string{"runs", "forEach", "reduce", "repeat"}, e.Tool)):
		h.attempts++
		h.met["fell back"] = h.met["fell back"] || e.Fallback
		h.met["retried"] = h.met["retried"] || e.Attempt > 1
		h.met["in a delegate"] = h.met["in a delegate"] || strings.Contains(e.Call, "/")
		if !e.Fallback {
			h.calls[[2]string{e.Instance, e.Call}] = true
		}
	}
}

// withinBound runs a plan, and reports what it did that is not within its bound.
func (p *plan) withinBound(t *testing.T, s uint64) (met []string, err error) {
	doc, findings := p.parse()
	if err := findings.Err(); err != nil {
		return nil, err
	}
	h := &happened{calls: map[[2]string]bool{}, kinds: map[[2]string]int{}, hosts: map[string]bool{}, met: map[string]bool{}}
	opts := p.options()
	opts.Catalogue = p.placed(h)
	prog, findings := compile.Compile(doc, opts)
	if findings.Err() != nil {
		return []string{"refused"}, nil
	}
	approve := []exec.Approve{exec.ApproveDestructive, exec.ApproveAll, exec.ApproveNone}[s%3]
	bound := forecast.BoundOf(prog, &forecast.Options{Approve: approve})
	run := exec.Options{
		MaxParallel: 8, Approve: approve, Seed: s, OnEvent: h.event, ReuseEvents: true,
		OnUncertain: []exec.Uncertain{exec.FailUncertain, exec.RetryUncertain, exec.SkipUncertain}[s/3%3],
		Approver: func(_ context.Context, q *exec.Question) (exec.Answer, error) {
			return exec.Answer{Approved: digest("", q.Path)%8 > 0}, nil
		},
	}
	run.OnFailure, _ = exec.ParseStrategy(p.Strategy)
	synctest.Test(t, func(*testing.T) {
		ctx := context.WithValue(context.Background(), traceKey{}, &trace{jitter: s, asked: map[string]string{}})
		_, err = exec.Run(ctx, prog, &run)
	})
	if err == nil {
		err = h.within(bound, p.estimates())
	}
	if err == nil && s%4 == 0 {
		err = assumedWithin(t.Context(), prog, &forecast.Options{Approve: approve})
	}
	h.met["ran"] = true
	return slices.DeleteFunc(slices.Collect(maps.Keys(h.met)), func(m string) bool { return !h.met[m] }), err
}

// assumedWithin wants what a dry run assumes within the bound as well.
func assumedWithin(ctx context.Context, prog *compile.Program, opts *forecast.Options) error {
	dry, err := forecast.Run(ctx, prog, opts)
	if err != nil {
		return err
	}
	f := forecast.Of(prog, dry, opts)
	a := &f.Assumed
	if forecast.Count(a.Calls) > f.Calls || forecast.Count(a.Approvals) > f.Approvals || forecast.Amount(a.Tokens) > f.Tokens {
		return fmt.Errorf("assumed %+v; the bound is %d calls, %d approvals, %g tokens", a, f.Calls, f.Approvals, f.Tokens)
	}
	for _, e := range slices.Concat(f.Effects, f.Reads) {
		if forecast.Count(e.Assumed) > e.Most {
			return fmt.Errorf("%d calls of %s assumed; the bound is %d", e.Assumed, e.Tool, e.Most)
		}
	}
	return nil
}

// estimates are the tokens that the calls are estimated at.
func (p *plan) estimates() map[string]float64 {
	all := map[string]float64{}
	for _, q := range append(slices.Collect(maps.Values(p.files())), p) {
		for _, c := range q.Calls {
			var n float64
			if text, ok := c.member("_estimatedTokens"); ok && json.Unmarshal([]byte(text), &n) == nil {
				all[c.ID] = n
			}
		}
	}
	return all
}

// within reports what happened that a bound does not have.
func (h *happened) within(b *forecast.Bound, tokens map[string]float64) error {
	most := func(what string, n int, bound forecast.Count) error {
		switch {
		case bound == forecast.Unbounded:
			h.met["no bound"] = true
		case n > int(bound):
			return fmt.Errorf("%d %s; the bound is %d", n, what, bound)
		case n == int(bound) && n > 0:
			h.met[what+" at the bound"] = true
		case n < int(bound):
			h.met[what+" below the bound"] = true
		}
		return nil
	}
	used := 0.0
	for _, id := range h.ids {
		used += tokens[id]
	}
	if b.Tokens.Bounded() {
		if err := most("tokens", int(used), forecast.Count(b.Tokens)); err != nil {
			return err
		}
	}
	for host := range h.hosts {
		if !slices.Contains(b.Hosts, host) {
			return fmt.Errorf("it asked the host %s; the bound has %v", host, b.Hosts)
		}
	}
	if err := h.effectsWithin(b); err != nil {
		return err
	}
	return cmp.Or(most("calls", len(h.calls), b.Calls), most("attempts", h.attempts, b.Attempts), most("approvals", h.approvals, b.Approvals))
}

// effectsWithin wants of each tool no more attempts of a kind, or a graver one, than the
// effects of that kind, or a graver one, have.
func (h *happened) effectsWithin(b *forecast.Bound) error {
	for key := range h.kinds {
		n, most := 0, 0.0
		for i, kind := range kinds {
			if i < slices.Index(kinds, key[1]) {
				continue
			}
			n += h.kinds[[2]string{key[0], kind}]
			for _, e := range slices.Concat(b.Effects, b.Reads) {
				if e.Tool == key[0] && string(e.Kind) == kind {
					most += float64(e.Most)
				}
			}
		}
		if float64(n) > most {
			return fmt.Errorf("%d attempts of %s that are %s, or worse; the bound is %g", n, key[0], key[1], most)
		}
	}
	return nil
}
