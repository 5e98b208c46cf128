package forecast

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/undo"
	"github.com/plc-lang/plc/tool"
)

// Bound is the most that a run may do: whichever outcomes its calls have, whichever fail, whatever
// conditions hold, and however often documents run and calls are tried again. It follows from the
// program alone, in time linear in its calls and those of the documents that it delegates to:
// nothing is run or made up for it.
//
// It bounds one run of this plan. Calls that a person has made again, calls that are made again
// after a crash, and calls of another plan (replan) are not included.
type Bound struct {
	Calls     Count `json:"calls"`     // of tools and of choose; for a call that delegates, those of its document count instead
	Attempts  Count `json:"attempts"`  // of these calls, including retries and fallbacks
	Approvals Count `json:"approvals"` // that a person has to give
	// Tokens and Cost are what the attempts use, by the estimates of the plan. They have no bound
	// if a model makes a call that the plan does not estimate; Unestimated then has the call.
	Tokens      Amount   `json:"tokens"`
	Cost        Amount   `json:"cost"`
	Unestimated []string `json:"unestimated"` // the first of these calls, at most maxNamed
	Effects     []Effect `json:"effects"`     // what may be changed
	Reads       []Effect `json:"reads"`       // what is only read, by tools that are declared to change nothing
	// Undoing is the most that undoing the run may do in addition; nil if nothing in the plan or
	// the options undoes it. Its effects are among those above.
	Undoing *UndoBound `json:"undoing,omitempty"`

	// Programs, Servers and Hosts are what attempts may start or contact, and Paths the folders in
	// which tools for files may read and write. They are those that the activities name and, where
	// params or redirects decide, all that the policy permits. What programs and servers do
	// themselves is not known.
	Programs []string `json:"programs"`
	Servers  []string `json:"servers"`
	Hosts    []string `json:"hosts"`
	Paths    []string `json:"paths"`

	of map[*compile.Call]effectAt // what the tool of each call does, as far as it is in the lists
}

// UndoBound is the most that undoing a run may do. Undoing is a run of its own, so its calls do not
// count toward the budgets of the first run.
type UndoBound struct {
	Calls     Count `json:"calls"`
	Attempts  Count `json:"attempts"`
	Approvals Count `json:"approvals"`
}

// BoundOf returns the bound of a program with the options of its dry run.
func BoundOf(prog *compile.Program, opts *Options) *Bound {
	if opts == nil {
		opts = &Options{}
	}
	b := &bounder{
		opts: opts, runs: map[*compile.Program]Count{prog: instances(prog, opts)}, ways: map[*compile.Program]*ways{prog: {[]string{""}, 1}},
		index: map[effectKey]effectAt{}, Bound: Bound{Unestimated: []string{}, Effects: []Effect{}, Reads: []Effect{}, of: map[*compile.Call]effectAt{}},
	}
	if opts.OnFailure == exec.Undo || undo.Asked(prog) {
		b.Undoing = &UndoBound{}
	}
	for _, p := range programs(prog) {
		for i := range p.Calls {
			b.call(p, &p.Calls[i])
		}
	}
	b.addPlaces()
	return &b.Bound
}

// instances returns how often a program runs that no call delegates to: once, or once for each
// instance.
func instances(prog *compile.Program, opts *Options) Count {
	switch {
	case !prog.Template:
		return 1
	case opts.Instances == nil:
		return Count(len(prog.Instances))
	case opts.MostInstances <= 0:
		return Unbounded
	}
	return Count(len(prog.Instances)).plus(Count(opts.MostInstances))
}

// programs returns a program and all programs that it delegates to, each once. Each comes after all
// programs that delegate to it.
func programs(prog *compile.Program) []*compile.Program {
	var all []*compile.Program
	seen := map[*compile.Program]bool{}
	var visit func(p *compile.Program)
	visit = func(p *compile.Program) {
		seen[p] = true
		for i := range p.Calls {
			if d := delegateOf(&p.Calls[i]); d != nil && d.Program != nil && !seen[d.Program] {
				visit(d.Program)
			}
		}
		all = append(all, p)
	}
	visit(prog)
	slices.Reverse(all)
	return all
}

// bounder makes one bound.
type bounder struct {
	Bound
	opts  *Options
	runs  map[*compile.Program]Count // how often each program runs
	ways  map[*compile.Program]*ways // to the calls of each program
	index map[effectKey]effectAt
}

// ways holds the ways to the calls of a program: the prefixes of the paths of its calls.
type ways struct {
	first []string // at most maxNamed
	all   Count
}

// A spot is a call in all the places where its program runs.
type spot struct {
	ways *ways
	id   string
}

// under returns the spot of something that belongs to the call, such as its fallback.
func (s spot) under(id string) spot { return spot{s.ways, s.id + "/" + id} }

// effectAt is the index of an effect among those that change the world, or among the reads.
type effectAt struct {
	index int
	reads bool
}

// effect returns the effect at an index.
func (b *Bound) effect(at effectAt) *Effect {
	if at.reads {
		return &b.Reads[at.index]
	}
	return &b.Effects[at.index]
}

// call adds what a call may do.
func (b *bounder) call(prog *compile.Program, c *compile.Call) {
	runs, rare := b.runs[prog], c.Rare
	if rare == nil {
		rare = &compile.Rare{}
	}
	if rare.Result != nil {
		return // it runs nothing
	}
	at := spot{b.ways[prog], exec.PathOf(c.ID)}
	attempts := runs.times(b.attempts(c))
	_, asks := b.opts.Approve.Asks(c)
	_, later := b.opts.Approve.AsksFallback(c)
	if asks || later {
		b.Approvals = b.Approvals.plus(runs)
	}
	if rare.Delegate != nil && rare.Delegate.Program != nil {
		b.delegate(at, rare.Delegate, attempts)
		attempts = 0
	} else {
		b.Calls = b.Calls.plus(runs)
		b.addEffects(at, c.Target, attempts, c)
		b.undo(at.under("undo"), c.Undoing, attempts)
	}
	if rare.Fallback != nil {
		attempts = attempts.plus(runs)
		b.addEffects(at, rare.Fallback.Target, runs, nil)
		b.undo(at.under("undo"), rare.Fallback.Undoing, runs)
	}
	b.Attempts = b.Attempts.plus(attempts)
	b.estimate(at, c, rare, attempts)
}

// undo adds the calls that undo a number of attempts. Each attempt counts, since each may have done
// its work.
func (b *bounder) undo(at spot, u *compile.Undoing, made Count) {
	if b.Undoing == nil || u == nil || u.Call == nil || made == 0 {
		return
	}
	attempts := made.times(1 + undo.Retries)
	b.addEffects(at, u.Call.Target, attempts, nil)
	model := ofModel(u.Call.Target)
	if f := u.Call.Fallback; f != nil {
		attempts = attempts.plus(made)
		b.addEffects(at, f.Target, made, nil)
		model = model || ofModel(f.Target)
	}
	b.Undoing.Calls, b.Undoing.Attempts = b.Undoing.Calls.plus(made), b.Undoing.Attempts.plus(attempts)
	if _, asks := b.opts.Approve.Asks(u.Call); asks || !u.WhenUncertain {
		b.Undoing.Approvals = b.Undoing.Approvals.plus(made)
	} else if _, asks := b.opts.Approve.AsksFallback(u.Call); asks {
		b.Undoing.Approvals = b.Undoing.Approvals.plus(made)
	}
	if model {
		b.Tokens, b.Cost = noBound, noBound
		b.unestimated(at)
	}
}

// attempts returns the maximum number of attempts of a call each time that it is reached, without
// its fallback.
func (b *bounder) attempts(c *compile.Call) Count {
	if c.Rare != nil && c.Choose != nil {
		return 1 // another attempt would choose the same
	}
	return Count(1 + Retries(c, b.opts))
}

// Retries returns the maximum number of retries of a call: its own or, if it sets none, that of the
// options.
func Retries(c *compile.Call, opts *Options) int {
	retry := opts.Retry
	if c.Rare != nil && c.Retry != nil {
		retry = c.Retry
	}
	if retry == nil {
		return 0
	}
	return max(0, retry.Max)
}

// delegate adds runs of a document, whose calls are added later.
func (b *bounder) delegate(at spot, d *compile.Delegate, attempts Count) {
	runs := attempts.times(rounds(d))
	to := b.ways[d.Program]
	if to == nil {
		to = &ways{}
		b.ways[d.Program] = to
	}
	if runs > 0 {
		to.all = to.all.plus(at.ways.all)
		to.first = at.appendTo(to.first, "/")
	}
	b.runs[d.Program] = b.runs[d.Program].plus(runs)
}

// rounds returns the maximum number of runs of a document in one attempt.
func rounds(d *compile.Delegate) Count {
	if d.Most == compile.Unbounded {
		return Unbounded
	}
	return Count(d.Most)
}

// estimate adds what the attempts of a call use.
func (b *bounder) estimate(at spot, c *compile.Call, rare *compile.Rare, attempts Count) {
	b.Tokens += amount(rare.Tokens, attempts)
	b.Cost += amount(rare.Cost, attempts)
	if attempts == 0 || !ofModel(c.Target) && (rare.Fallback == nil || !ofModel(rare.Fallback.Target)) || rare.Tokens > 0 && rare.Cost > 0 {
		return
	}
	if rare.Tokens == 0 {
		b.Tokens = noBound
	}
	if rare.Cost == 0 {
		b.Cost = noBound
	}
	b.unestimated(at)
}

// unestimated notes a call that a model makes and for which the plan has no estimate.
func (b *bounder) unestimated(at spot) { b.Unestimated = at.appendTo(b.Unestimated, "") }

// appendTo appends the paths of a spot, each followed by end, to a list of at most maxNamed.
func (s spot) appendTo(list []string, end string) []string {
	for _, way := range s.ways.first {
		if len(list) == maxNamed {
			break
		}
		list = append(list, way+s.id+end)
	}
	return list
}

// addEffects adds what attempts may do to the world. c is the call whose own tool makes the
// attempts; nil for a fallback.
func (b *bounder) addEffects(at spot, t *compile.Target, attempts Count, c *compile.Call) {
	if t == nil {
		return // unknown, which compile has reported
	}
	kind := EffectOf(t.Effects)
	if attempts == 0 || kind == Pure && isNowhere(t.Place) {
		return
	}
	key := effectKey{t.Tool.Definition.Name, t.Effects.Domain, t.Words(), kind}
	of, ok := b.index[key]
	if !ok {
		of = b.list(Effect{
			Tool: key.tool, Kind: kind, Domain: key.domain, Driver: t.Driver, At: place(t.Place), Place: t.Place, Calls: []string{}, Words: key.words, activity: t.Name,
		})
		b.index[key] = of
	}
	e := b.effect(of)
	e.Most = e.Most.plus(attempts)
	all := Count(len(e.Calls) + e.More).plus(at.ways.all)
	e.Calls = at.appendTo(e.Calls, "")
	e.More = int(all) - len(e.Calls)
	if c != nil {
		b.of[c] = of
	}
}

// list adds an effect to its list.
func (b *bounder) list(e Effect) effectAt {
	list := &b.Effects
	reads := e.Kind == Pure || e.Kind == Reads
	if reads {
		list = &b.Reads
	}
	*list = append(*list, e)
	return effectAt{len(*list) - 1, reads}
}

// isNowhere reports whether a place is that of a function in this process.
func isNowhere(p tool.Place) bool {
	return len(p.Program) == 0 && p.URL == "" && p.Server == "" && p.Model == "" && p.Path == "" && p.Dir == ""
}

// addPlaces fills the lists of what attempts start and contact.
func (b *bounder) addPlaces() {
	programs, servers, hosts, paths := map[string]bool{}, map[string]bool{}, map[string]bool{}, map[string]bool{}
	add := func(set map[string]bool, names ...string) {
		for _, n := range names {
			if n != "" {
				set[n] = true
			}
		}
	}
	for _, list := range [][]Effect{b.Effects, b.Reads} {
		for i := range list {
			p := &list[i].Place
			add(servers, p.Server)
			if len(p.Program) > 0 {
				add(programs, cmp.Or(p.Path, p.Program[0]))
			}
			name := cmp.Or(list[i].activity, list[i].Tool)
			if !strings.Contains(p.Host, "{") {
				add(hosts, p.Host)
			}
			if p.Host != "" || strings.HasPrefix(name, "http.") {
				add(hosts, b.opts.Hosts...)
			}
			if strings.HasPrefix(name, "file.") || strings.HasPrefix(name, "dir.") {
				add(paths, b.opts.Paths...)
			}
		}
	}
	b.Programs, b.Servers, b.Hosts, b.Paths = sorted(programs), sorted(servers), sorted(hosts), sorted(paths)
}

// sorted returns the names of a set in order. It never returns nil.
func sorted(set map[string]bool) []string {
	return slices.AppendSeq([]string{}, slices.Values(slices.Sorted(maps.Keys(set))))
}
