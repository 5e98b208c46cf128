package compile

import (
	"fmt"
	"slices"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/state"
	"github.com/plc-lang/plc/tool"
)

// linter reports plans that are valid but perhaps not what was meant, and calls that can never
// happen.
type linter struct {
	*unit
	*lowered
	*bindings
	callFacts [][]fact // the facts that each call needs
}

func lint(u *unit, low *lowered, order *planOrder, bound *bindings) {
	c := &linter{unit: u, lowered: low, bindings: bound}
	if order.cyclic || c.doc.Faulty() {
		return // bindings mean nothing without a plan order, or if calls were not understood
	}
	for i := range c.calls {
		d := &c.calls[i]
		c.unhandledOutcomes(d)
		c.droppedResult(d)
	}
	c.neverRuns()
	c.racingWrites()
	c.undeclaredEffects()
}

// deadWrites reports the writes at or below a node that nobody has read when d certainly sets it.
func (b *binder) deadWrites(d *draft, node int32) {
	seen := state.Place(0) // place of the last read of a path above
	for n := b.index.up(node); n > 0; n = b.index.up(n) {
		seen = max(seen, b.links[n].readSub)
	}
	type visit struct {
		node int32
		seen state.Place
	}
	stack := []visit{{node, seen}}
	for len(stack) > 0 {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		b.index.front.work++
		l := &b.links[v.node]
		if !l.dirty {
			continue
		}
		l.dirty = false
		v.seen = max(v.seen, l.readSub)
		for _, w := range b.queues.take(&l.unread) {
			if w := state.Place(w); w != d.Place && w > max(v.seen, l.readAt) {
				b.deadWrite(&b.calls[w-1], v.node, d)
			}
		}
		for _, kid := range b.queues.take(&l.below) {
			stack = append(stack, visit{kid, v.seen})
		}
	}
	// The write of d itself is still unread.
	l := &b.links[node]
	l.dirty = true
	b.queues.push(&l.unread, int32(d.Place))
}

func (b *binder) deadWrite(writer *draft, node int32, by *draft) {
	for w := range writer.writes() {
		if w.node != node {
			continue
		}
		b.warnf(diag.DeadWrite, b.at(w.Span), "%q overwrites %s before anyone reads it", by.ID, w.Path).
			related(by.writeLoc(b.reporter, w.Path), "overwritten here").
			inside(writer, w.Span)
		return
	}
}

// outputSpan returns where the output path of a call stands.
func (d *draft) outputSpan() diag.Span {
	if d.Source.OutputNode.IsZero() {
		return d.Source.ToolNode.Span() // the tool fixes it
	}
	if path := d.Source.OutputPath(); path != nil {
		return path.Span
	}
	return d.Source.OutputNode.Span() // the path was not understood
}

// whenSpan returns where the _when of a call stands.
func (d *draft) whenSpan() diag.Span {
	if n := d.Source.Rest.WhenNode; !n.IsZero() {
		return n.Span()
	}
	return d.Source.ToolNode.Span() // the tool fixes it
}

// writeLoc returns where a call writes a path that overlaps p.
func (d *draft) writeLoc(c *reporter, p state.Path) diag.Loc {
	for w := range d.writes() {
		if w.Path.Overlaps(p) {
			return c.at(w.Span)
		}
	}
	return d.Source.Node.Loc()
}

// unhandledOutcomes reports the alternatives after the first that nobody reads. The first is the
// purpose of the call, and may be meant to stay on the whiteboard.
func (c *linter) unhandledOutcomes(d *draft) {
	for i := 1; i < len(d.Alternatives); i++ {
		alt := &d.Alternatives[i]
		if len(alt.Writes) == 0 || slices.ContainsFunc(alt.Writes, func(w Write) bool { return c.isRead(d, &w) }) {
			continue
		}
		c.warnf(diag.UnhandledOutcome, c.at(alt.Writes[0].Span), "nothing reads the outcome %s of %q, with which the run goes on as if it were handled", alt.Name(), d.ID).
			inside(d, alt.Writes[0].Span)
	}
}

// isRead reports whether a later call, or the output, reads what w writes.
func (c *linter) isRead(d *draft, w *Write) bool {
	last := c.links[w.node].readAt
	for n := w.node; n > 0; n = c.index.up(n) {
		last = max(last, c.links[n].readSub)
	}
	return last > d.Place
}

// droppedResult reports a read-only call whose result goes nowhere.
func (c *linter) droppedResult(d *draft) {
	if d.Tool == nil || d.bad || len(d.Alternatives) > 0 || !d.Source.OutputNode.IsZero() {
		return
	}
	if e := d.Effects; e.ReadOnly == tool.Yes || e.Pure == tool.Yes {
		c.warnf(diag.ResultDropped, d.Source.ToolNode.Loc(), "%q only reads, and its result goes nowhere; give it an _outputPath", d.ID).
			in(d, "")
	}
}

// fact says that a call had one of its outcomes: an alternative, or its error path.
type fact struct {
	call    int32
	outcome int32
	read    *Read // the read that needs it
}

const (
	errorOutcome = 1 << 30
	maxFacts     = 8 // of one call; more are forgotten
	maxSole      = 8 // paths and writers that are searched for a sole writer
)

// neverRuns reports the calls that need outcomes which exclude each other, and
// those whose _when is never true.
func (c *linter) neverRuns() {
	var facts [][]fact
	if slices.ContainsFunc(c.calls, hasOutcomes) {
		facts = make([][]fact, len(c.calls))
	}
	c.callFacts = facts
	for i := range c.calls {
		d := &c.calls[i]
		if w := d.When; w != nil && w.op == lang.OpLiteral && !truthy(w.value) {
			c.errorf(diag.NeverRuns, c.at(d.whenSpan()), "%q can never run: its _when is always %s", d.ID, w.value).
				inside(d, d.whenSpan())
			continue
		}
		if facts != nil {
			facts[i] = c.factsOfCall(d, facts)
		}
	}
}

// hasOutcomes reports whether a call may end in several ways that others tell apart.
func hasOutcomes(d draft) bool { return len(d.Alternatives) > 1 || d.ErrorPath != nil }

func (c *linter) factsOfCall(d *draft, facts [][]fact) []fact {
	var own []fact
	for i := range d.refs {
		r := &d.refs[i]
		if r.soft || r.void || r.held && r.expr.read.Since == 0 || r.expr.read.Under != nil && c.index.written(r.expr.read.Under, d.Place) {
			continue
		}
		w := c.index.sole(&r.expr.read, d.Place)
		if w == 0 {
			continue
		}
		outcome := c.outcomeOf(&c.calls[w-1], r.expr.read.Path)
		if outcome < 0 && len(facts[w-1]) == 0 {
			continue
		}
		needed := append([]fact{{int32(w - 1), outcome, &r.expr.read}}, facts[w-1]...)
		for _, f := range needed {
			if f.outcome < 0 {
				continue
			}
			j := slices.IndexFunc(own, func(o fact) bool { return o.call == f.call })
			switch {
			case j < 0 && len(own) < maxFacts:
				own = append(own, fact{f.call, f.outcome, &r.expr.read})
			case j >= 0 && own[j].outcome != f.outcome:
				c.excluded(d, &r.expr.read, own[j].read, &c.calls[f.call])
				return nil
			}
		}
	}
	return own
}

func (c *linter) excluded(d *draft, a, b *Read, by *draft) {
	c.errorf(diag.NeverRuns, c.at(a.Span), "%q can never run: %s and %s come from outcomes of %q that exclude each other", d.ID, c.spelled(b.Path, b.Span), c.spelled(a.Path, a.Span), by.ID).
		related(c.at(b.Span), "the other one is read here").
		related(c.at(by.outputSpan()), "one of these happens").
		inside(d, a.Span)
}

// outcomeOf returns the only outcome of a call that writes a path that overlaps p; -1 if several
// do, or if the call has only one outcome.
func (c *linter) outcomeOf(d *draft, p state.Path) int32 {
	if len(d.Alternatives) < 2 && d.ErrorPath == nil || len(d.Alternatives) == 0 {
		return -1
	}
	outcome := int32(-1)
	for i := range d.Alternatives {
		for _, w := range d.Alternatives[i].Writes {
			if !w.Path.Overlaps(p) {
				continue
			}
			if outcome >= 0 && outcome != int32(i) {
				return -1
			}
			outcome = int32(i)
		}
	}
	if d.ErrorPath != nil && d.ErrorPath.Path.Overlaps(p) {
		if outcome >= 0 {
			return -1
		}
		outcome = errorOutcome
	}
	return outcome
}

// written reports whether a read may be bound to any call.
func (t *pathIndex) written(r *Read, before state.Place) bool {
	w, ok := t.few(r, before, maxSole, &t.front)
	return !ok || len(w) > 0
}

// sole returns the place of the only writer that a read of a call at place before is bound to; 0 if
// there are others, or too many paths to search.
func (t *pathIndex) sole(r *Read, before state.Place) state.Place {
	if w, ok := t.few(r, before, maxSole, &t.front); ok && len(w) == 1 {
		return w[0]
	}
	return 0
}

// Bounds of the search for a path between two writers, in nodes: for one pair, and for a whole plan
// for each call.
const (
	searchPair = 1000
	searchCall = 50
)

// racingWrites reports writers of one path that are neighbors in plan order and that nothing
// orders, if a bounded search is sure of that.
func (c *linter) racingWrites() {
	budget := searchPair + searchCall*len(c.calls)
	for n := range int32(c.index.nodes.n) {
		w := c.index.nodes.at(n).writers
		for i := 1; i < len(w) && budget > 0; i++ {
			a, b := &c.calls[w[i-1]-1], &c.calls[w[i]-1]
			if c.certainSet(a, n) && c.certainSet(b, n) && c.unordered(a.Place, b.Place, &budget) && !c.exclusive(a, b) {
				path := c.pathOf(b, n)
				loc := b.writeLoc(c.reporter, path)
				c.warnf(diag.RacingWrites, loc, "%q and %q both set %s, and nothing orders them; plan order decides", a.ID, b.ID, path).
					related(a.writeLoc(c.reporter, path), "also written here").inside(b, loc.Span)
			}
		}
	}
}

func (c *linter) pathOf(d *draft, node int32) state.Path {
	for w := range d.writes() {
		if w.node == node {
			return w.Path
		}
	}
	return nil
}

// certainSet reports whether a call sets the path of a node whenever it runs.
func (c *linter) certainSet(d *draft, node int32) bool {
	return d.Method == state.Set && d.When == nil && len(d.Alternatives) == 1 &&
		slices.ContainsFunc(d.Alternatives[0].Writes, func(w Write) bool { return w.node == node })
}

// exclusive reports whether at most one of two calls can run.
func (c *linter) exclusive(a, b *draft) bool {
	if c.callFacts == nil {
		return false
	}
	for _, f := range c.callFacts[a.Place-1] {
		for _, g := range c.callFacts[b.Place-1] {
			if f.call == g.call && f.outcome != g.outcome {
				return true
			}
		}
	}
	return false
}

// unordered reports whether there is surely no way from call a to call b.
func (c *linter) unordered(a, b state.Place, budget *int) bool {
	from, to := int32(a-1), int32(b-1)
	seen := map[int32]bool{to: true}
	queue := []int32{to}
	for left := searchPair; len(queue) > 0; left-- {
		if left == 0 || *budget == 0 {
			return false
		}
		*budget--
		n := queue[len(queue)-1]
		queue = queue[:len(queue)-1]
		for _, p := range c.starts.Pred(n) {
			if p == from {
				return false
			}
			// A path to b through a call before a does not start at a.
			if int(p) < len(c.calls) && p < from || seen[p] {
				continue
			}
			seen[p] = true
			queue = append(queue, p)
		}
	}
	return true
}

// undeclaredEffects reports calls whose tools declare no effects and that may overlap, and how many
// calls are put in sequence because of effects.
func (c *linter) undeclaredEffects() {
	if w := c.effectOrdered; len(w) > 0 {
		var ids []string
		for _, i := range w[:min(len(w), 5)] {
			ids = append(ids, c.calls[i].ID)
		}
		more := ""
		if len(w) > 5 {
			more = fmt.Sprintf(" and %s", count(len(w)-5, "more call"))
		}
		d := &c.calls[w[0]]
		c.report(diag.Info, diag.EffectOrder, d.Source.ToolNode.Loc(), "effects make calls wait for those before them: %s%s", list(ids), more).in(d, "/_tool")
	}
	if c.opts.Effects == StrictEffects {
		return
	}
	levels := c.starts.Levels()
	first := make([]*draft, len(levels)) // by level
	var tools, servers []string
	more := ""
	var at *draft
	for i := range c.calls {
		d := &c.calls[i]
		if d.bad || d.Tool == nil || d.Effects.Declared() {
			continue
		}
		other := first[levels[i]]
		if other == nil {
			first[levels[i]] = d
			continue
		}
		for _, x := range []*draft{other, d} {
			switch {
			case slices.Contains(tools, x.Source.Tool):
			case len(tools) < 5:
				tools = append(tools, x.Source.Tool)
				if name := ignoredServer(x.Tool); name != "" && !slices.Contains(servers, name) {
					servers = append(servers, name)
				}
			default:
				more = " and others"
			}
		}
		if at == nil {
			at = d
		}
	}
	if at != nil {
		c.report(diag.Info, diag.UndeclaredEffects, at.Source.ToolNode.Loc(), "calls that may overlap are of tools that declare no effects: %s%s; declare effects%s, or use --effects strict", list(tools), more, orTrust(servers)).
			in(at, "/_tool")
	}
}

// ignoredServer returns the MCP server of a tool whose annotations declare effects, and are ignored
// because the server is not trusted; "" for any other tool.
func ignoredServer(t *tool.Tool) string {
	if t.Place.Server == "" {
		return ""
	}
	if said, _ := tool.ParseDefinition(t.Definition.Raw, "", diag.Loc{}); said == nil || !said.Effects.Declared() {
		return ""
	}
	return t.Place.Server
}

// orTrust returns the cure for tools whose servers are not trusted; "" if there are none.
func orTrust(servers []string) string {
	switch len(servers) {
	case 0:
		return ""
	case 1:
		return fmt.Sprintf(" in a tool file, or trust what the MCP server %s declares with trust: true", quote(servers[0]))
	}
	return fmt.Sprintf(" in a tool file, or trust what the MCP servers %s declare with trust: true", list(servers))
}

func list(names []string) string {
	s := ""
	for i, n := range names {
		if i > 0 {
			s += ", "
		}
		s += quote(n)
	}
	return s
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}

// truthy reports whether a value lets a _when pass: neither null nor false.
func truthy(v []byte) bool { return string(v) != "null" && string(v) != "false" }
