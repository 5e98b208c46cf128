package taskbench

import (
	"fmt"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/spell"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect"
	"github.com/plc-lang/plc/lang/dialect/tree"
)

// link is a declared link. An end is the name of a task, which several nodes may have, or the
// number of a node.
type link struct {
	tree.Value
	source, target string
}

// pair has the two ends of a link.
type pair struct{ source, target string }

// ofTask and ofNode are the ends of links that name a task, or a node.
func ofTask(task string) string { return strings.ReplaceAll(task, "_", " ") }

func ofNode(place int) string { return "\x00" + strconv.Itoa(place) }

// ends returns the names that a link may use for a node.
func (r *reader) ends(place int) []string {
	return []string{ofTask(r.nodes[place].task), ofNode(place)}
}

// pairs returns the links that may declare an edge.
func (r *reader) pairs(e edge) (list []pair) {
	for _, source := range r.ends(e.from) {
		for _, target := range r.ends(e.to) {
			list = append(list, pair{source, target})
		}
	}
	return list
}

// declared reports whether a link declares an edge.
func (r *reader) declared(e edge) bool {
	return slices.ContainsFunc(r.pairs(e), func(p pair) bool { return r.pairsOfLinks[p] })
}

// readLinks reads the declared links.
func (r *reader) readLinks(v tree.Value) {
	if v.IsZero() {
		return
	}
	list, ok := v.Inner(r.Builder)
	if !ok || !r.isList(list, "links") {
		return
	}
	for _, e := range list.Elements() {
		k := link{Value: e}
		var ok bool
		if k.source, ok = r.end(e, "source"); !ok {
			continue
		}
		if k.target, ok = r.end(e, "target"); ok {
			r.links = append(r.links, k)
			r.pairsOfLinks[pair{k.source, k.target}] = true
		}
	}
}

// end returns what one end of a link names.
func (r *reader) end(k tree.Value, which string) (end string, ok bool) {
	v := k.Get(which)
	name := strings.TrimSuffix(strings.TrimPrefix(v.Word(), "<"), ">")
	if len(r.byEnd[ofTask(name)]) > 0 && name != "" {
		return ofTask(name), true
	}
	digits := strings.TrimPrefix(name, "node-")
	if i := dialect.Number(digits); i >= 0 && i < len(r.nodes) && strconv.Itoa(i) == digits {
		return ofNode(i), true
	}
	if v.Word() == "" {
		r.Errorf(k.At(), diag.BadNotation, "the link has no %s; it is written {\"source\": …, \"target\": …}", which)
		return "", false
	}
	f := r.Errorf(v.All(), diag.NothingThere, "the %s %q of the link is no node of this plan", which, v.Word())
	if r.asked++; r.asked > maxAsked || !v.Is(lang.String) {
		return "", false
	}
	if near, found := spell.Nearest(name, r.tasks()); found {
		f.Message += fmt.Sprintf("; did you mean %q?", near)
		f.Fix = dialect.Replace(v.All(), near)
	}
	return "", false
}

// maxAsked is the maximum number of names for which a similar one is searched, and of uses for
// which a path of links is searched.
const maxAsked = 100

func (r *reader) tasks() func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for i := range r.nodes {
			if !yield(r.nodes[i].task) {
				return
			}
		}
	}
}

// judgeLinks compares the links with the results that are used. A link without a use only sets the
// order. If arguments have no names, it may be a mistake, and so may be a use without a link.
func (r *reader) judgeLinks(given bool) {
	used := map[pair]bool{}
	for e := range r.data {
		for _, p := range r.pairs(e) {
			used[p] = true
		}
	}
	for i := range r.links {
		if k := &r.links[i]; !used[pair{k.source, k.target}] {
			r.unused(k, used)
		}
	}
	if !given {
		return
	}
	var uses []edge
	for e := range r.data {
		if !r.declared(e) {
			uses = append(uses, e)
		}
	}
	slices.SortFunc(uses, func(a, b edge) int { return int(r.data[a].Start - r.data[b].Start) })
	targets := map[string][]string{}
	for i := range r.links {
		targets[r.links[i].source] = append(targets[r.links[i].source], r.links[i].target)
	}
	for i, e := range uses {
		if i < maxAsked && r.implied(e, targets) {
			continue
		}
		r.Warnf(r.data[e], diag.LinkDisagrees, "%q uses the result of %q, which no link declares", r.nodes[e.to].task, r.nodes[e.from].task)
	}
}

// implied reports whether declared links lead from one end of an edge to the other through other
// nodes. The links of published plans are those of the graph that the plan was made from, which has
// no link for a result that is used again later.
func (r *reader) implied(e edge, targets map[string][]string) bool {
	goal := r.ends(e.to)
	seen := map[string]bool{}
	for next := r.ends(e.from); len(next) > 0; {
		end := next[0]
		if next = next[1:]; seen[end] {
			continue
		}
		seen[end] = true
		for _, t := range targets[end] {
			if slices.Contains(goal, t) {
				return true
			}
			next = append(next, t)
		}
		for _, place := range r.byEnd[end] {
			next = append(next, r.ends(place)...)
		}
	}
	return false
}

// hasArguments reports whether any node has arguments. Without arguments, links only set the order.
func (r *reader) hasArguments() bool {
	return slices.ContainsFunc(r.nodes, func(n node) bool { return len(n.args) > 0 })
}

// unused judges a link without a use of a result; used has the links with a use.
func (r *reader) unused(k *link, used map[pair]bool) {
	sources, targets := r.byEnd[k.source], r.byEnd[k.target]
	source, target := r.nodes[sources[0]].task, r.nodes[targets[0]].task
	e, ok := order(sources, targets)
	switch {
	case !ok:
		r.Warnf(k.At(), diag.LinkDisagrees, "the link leads from %q to itself", source)
		return
	case !r.named && !r.isLost(e.to) && r.hasArguments():
		f := r.Warnf(k.At(), diag.LinkDisagrees, "the link from %q to %q carries no data: no argument of %q is %s", source, target, target, tree.SpellNode(strconv.Itoa(e.from)))
		if used[pair{k.target, k.source}] {
			f.Message += "; the data goes the other way"
			return
		}
	}
	if !r.ordered[e] {
		r.ordered[e] = true
		n := &r.nodes[e.to]
		n.after = append(n.after, e.from)
	}
}

// isLost reports whether a node has a reference that leads nowhere, which was reported and may be
// the one that a link declares.
func (r *reader) isLost(node int) bool {
	return slices.ContainsFunc(r.refs[node], func(l *tree.LabelRef) bool { return l.Faulty })
}

// order returns the edge for a link without data: from the last source that is before the first
// target after a source, else from the first source to the first other node. Both lists are in
// order.
func order(sources, targets []int) (e edge, ok bool) {
	if i := sort.SearchInts(targets, sources[0]+1); i < len(targets) {
		to := targets[i]
		return edge{sources[sort.SearchInts(sources, to)-1], to}, true
	}
	switch {
	case sources[0] != targets[0]:
		return edge{sources[0], targets[0]}, true
	case len(sources) > 1:
		return edge{sources[1], targets[0]}, true
	}
	return edge{}, false
}
