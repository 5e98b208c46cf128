package server

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plc-lang/plc/cmd/plc/internal/server/html"
	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
)

// A group is a part of a run that a page can collapse: a call with the calls that it delegates to,
// an item of a loop, or an instance. A call that does not delegate is a group too.
type group struct {
	name     string // the last step of its path, or the instance
	instance string
	path     string // "" for an instance
	call     *Call  // nil if it has not begun, or is not a call
	tool     string
	place    int // in the plan; 0 means ordered by its first event
	kids     []*group
	byName   map[string]*group
	counts   map[string]int // calls in it that have begun, by status
	rest     map[string]int // calls in it that have not begun, by status
	never    string         // status of a call that will never begin; "" for others
	from, to time.Time
	end      instanceEnd // if it is an instance that has ended
}

// isCall reports whether the group is a call, rather than an instance or an item of a loop.
func (g *group) isCall() bool { return g.path != "" && strings.IndexAny(g.name, "[#") != 0 }

// shown returns the name as a page shows it.
func (g *group) shown() string {
	if g.path == "" { // of an instance
		return g.name
	}
	return exec.CallID(g.name)
}

func (g *group) child(name, instance, path string) *group {
	k := g.byName[name]
	if k == nil {
		if g.byName == nil {
			g.byName = map[string]*group{}
		}
		k = &group{name: name, instance: instance, path: path}
		g.byName[name], g.kids = k, append(g.kids, k)
	}
	return k
}

// isTemplate reports whether the plan runs once for each instance.
func (t *runRecord) isTemplate() bool { return t.plan != nil && t.plan.Program.Template }

// groups returns the calls of a run as a tree, including those that have not begun.
func (t *runRecord) groups() *group {
	root := &group{}
	if t.plan != nil && !t.isTemplate() {
		root.expect(t.plan.Program, "", "")
	}
	for instance := range t.entered {
		if t.isTemplate() {
			root.child(instance, instance, "").end = t.ended[instance]
		}
	}
	if t.isTemplate() {
		slices.SortFunc(root.kids, func(a, b *group) int {
			return cmp.Or(t.entered[a.instance].Compare(t.entered[b.instance]), compareNames(a.name, b.name))
		})
	}
	for _, c := range t.calls {
		at := root
		if t.isTemplate() && c.Instance != "" {
			at = root.child(c.Instance, c.Instance, "")
			if t.plan != nil && at.kids == nil {
				at.expect(t.plan.Program, c.Instance, "")
			}
		}
		t.place(at, c)
	}
	if t.plan != nil {
		levels := []*group{root}
		if t.isTemplate() {
			levels = root.kids
		}
		for _, level := range levels {
			t.noteNeverBegun(level)
		}
	}
	root.sum()
	return root
}

// noteNeverBegun sets the status of calls within level that will never begin.
func (t *runRecord) noteNeverBegun(level *group) {
	if !t.hasEnded(level.instance) {
		return
	}
	never := neverBegun(t.plan.Program, func(c *compile.Call) bool { return t.callOf(c, level.instance, "").failed() })
	for _, k := range level.kids {
		if k.place > 0 && k.call == nil {
			k.never = never[k.place-1]
		}
	}
}

// place adds a call to the tree at its path.
func (t *runRecord) place(at *group, c *Call) {
	path := ""
	for step := range strings.SplitSeq(c.Call, "/") {
		base, item := step, ""
		if i := strings.IndexAny(step, "[#"); i >= 0 {
			base, item = step[:i], step[i:]
		}
		path += base
		at = at.child(base, c.Instance, path)
		if item != "" {
			path += item
			at = at.child(item, c.Instance, path)
		}
		path += "/"
	}
	at.call, at.tool, at.instance = c, c.Tool, c.Instance
}

// expect adds the calls of a program, which have not begun.
func (g *group) expect(p *compile.Program, instance, prefix string) {
	for i := range p.Calls {
		c := &p.Calls[i]
		on := instance
		if c.Rare != nil && c.Instance != "" {
			on = c.Instance
		}
		step := exec.PathOf(c.ID)
		k := g.child(step, on, prefix+step)
		k.tool, k.place = c.Source.Tool, i+1
	}
}

// sum counts the calls in the group, and computes the time from the first to the last.
func (g *group) sum() {
	g.counts, g.rest = map[string]int{}, map[string]int{}
	if c := g.call; c != nil && len(c.spans) > 0 {
		g.from, g.to = c.spans[0].from, c.spans[len(c.spans)-1].to
	}
	for _, k := range g.kids {
		k.sum()
		for status, n := range k.counts {
			g.counts[status] += n
		}
		for status, n := range k.rest {
			g.rest[status] += n
		}
		if status := k.status(); k.isCall() && k.call.begun() {
			g.counts[status]++
		} else if k.isCall() {
			g.rest[status]++
		}
		if g.from.IsZero() || !k.from.IsZero() && k.from.Before(g.from) {
			g.from = k.from
		}
		if g.call == nil {
			g.to = later(g.to, k.to)
		}
	}
}

// severity orders statuses: a group has the first status that one of its calls has.
var severity = []string{"awaiting", "uncertain", "running", "retrying", "failed", "pending", "cancelled", "blocked", "completed", "skipped"}

// status returns the status of a group: that of its call, or the most severe one within it.
func (g *group) status() string {
	switch {
	case g.call != nil:
		return g.call.Status
	case g.end.status != "":
		return g.end.status
	case g.never != "":
		return g.never
	case g.size() == 0:
		return string(exec.Pending)
	}
	all := maps.Clone(g.counts)
	for status, n := range g.rest {
		all[status] += n
	}
	return worst(all)
}

func worst(counts map[string]int) string {
	for _, s := range severity {
		if counts[s] > 0 && (s != "pending" || len(counts) == 1) {
			return s
		}
	}
	return string(exec.Running) // some are pending, and others have ended
}

// size returns the number of calls in the group.
func (g *group) size() (n int) {
	for _, of := range []map[string]int{g.counts, g.rest} {
		for _, k := range of {
			n += k
		}
	}
	return n
}

// find returns the group of an instance and a path; nil if there is none.
func (g *group) find(template bool, instance, path string) *group {
	at := g
	if template && instance != "" {
		if at = at.byName[instance]; at == nil {
			return nil
		}
	}
	if path == "" {
		return at
	}
	for step := range strings.SplitSeq(path, "/") {
		base, item := step, ""
		if i := strings.IndexAny(step, "[#"); i >= 0 {
			base, item = step[:i], step[i:]
		}
		if at = at.byName[base]; at == nil {
			return nil
		}
		if item != "" {
			if at = at.byName[item]; at == nil {
				return nil
			}
		}
	}
	return at
}

// sort sorts the groups within: calls in the order of the plan, and items of loops by number.
func (g *group) sort() {
	slices.SortStableFunc(g.kids, func(a, b *group) int {
		if a.place > 0 || b.place > 0 {
			return cmp.Compare(a.place, b.place)
		}
		return compareNames(a.name, b.name)
	})
}

// compareNames compares items of loops by their numbers, and returns 0 for other groups.
func compareNames(a, b string) int {
	x, errX := strconv.Atoi(strings.Trim(a, "[]#"))
	y, errY := strconv.Atoi(strings.Trim(b, "[]#"))
	if errX != nil || errY != nil {
		return 0
	}
	return cmp.Compare(x, y)
}

// states returns the status of each call of the graph that has begun, by its path without the items
// of loops.
func (t *runRecord) states(instance string) map[string]string {
	counts, failed := map[string]map[string]int{}, map[string]bool{}
	for _, c := range t.calls {
		if instance != "" && c.Instance != instance {
			continue
		}
		steps := strings.Split(c.Call, "/")
		for i, step := range steps {
			if j := strings.IndexAny(step, "[#"); j >= 0 {
				steps[i] = step[:j]
			}
		}
		at := strings.Join(steps, "/")
		if counts[at] == nil {
			counts[at] = map[string]int{}
		}
		counts[at][c.Status]++
		failed[at] = failed[at] || c.failed()
	}
	states := map[string]string{}
	for at, n := range counts {
		states[at] = worst(n)
	}
	if t.plan != nil && t.hasEnded(instance) {
		addNeverBegun(t.plan.Program, "", states, failed, 1)
	}
	return states
}

// addNeverBegun adds to states the calls of a program, and of documents down to the given depth,
// that never began. failed holds the paths of calls whose failure was not handled.
func addNeverBegun(p *compile.Program, prefix string, states map[string]string, failed map[string]bool, depth int) {
	never := neverBegun(p, func(c *compile.Call) bool { return failed[prefix+exec.PathOf(c.ID)] })
	for i := range p.Calls {
		c := &p.Calls[i]
		at := prefix + exec.PathOf(c.ID)
		begun := states[at] != ""
		if !begun {
			states[at] = never[i]
		}
		if depth == 0 || c.Rare == nil || c.Delegate == nil || c.Delegate.Program == nil {
			continue
		}
		if begun {
			addNeverBegun(c.Delegate.Program, at+"/", states, failed, depth-1)
			continue
		}
		for k := range c.Delegate.Program.Calls {
			states[at+"/"+exec.PathOf(c.Delegate.Program.Calls[k].ID)] = never[i]
		}
	}
}

// neverBegun returns, for each call of a program, the status that it has if it had not begun when
// the run ended: blocked if it depends on a call that failed, and cancelled otherwise, as package
// exec has it. failed reports whether a call failed and the plan did not handle that.
func neverBegun(p *compile.Program, failed func(*compile.Call) bool) []string {
	all := slices.Repeat([]string{string(exec.Cancelled)}, len(p.Calls))
	var todo []int32
	for i := range p.Calls {
		if failed(&p.Calls[i]) {
			todo = append(todo, p.Starts.Succ(int32(i))...)
		}
	}
	seen := make([]bool, p.Starts.Len())
	for len(todo) > 0 {
		n := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		if seen[n] {
			continue
		}
		if seen[n] = true; !p.Starts.IsVirtual(n) {
			all[n] = string(exec.Blocked)
		}
		todo = append(todo, p.Starts.Succ(n)...)
	}
	return all
}

// whyNever has the reason why calls never began, by their status.
var whyNever = map[string]html.Name{string(exec.Blocked): "what it needs failed", string(exec.Cancelled): "it had not started before the end"}
