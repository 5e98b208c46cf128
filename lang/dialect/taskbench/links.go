package taskbench

import (
	"fmt"
	"slices"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/spell"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect"
	"github.com/plc-lang/plc/lang/dialect/tree"
)

// link is a declared link. The names at its ends may be those of several nodes.
type link struct {
	tree.Value
	sources, targets []int
}

// has reports whether an edge may be what the link declares.
func (k *link) has(e edge) bool {
	return slices.Contains(k.sources, e.from) && slices.Contains(k.targets, e.to)
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
		if k.sources, ok = r.end(e, "source"); !ok {
			continue
		}
		if k.targets, ok = r.end(e, "target"); ok {
			r.links = append(r.links, k)
		}
	}
}

// end is the nodes that one end of a link names.
func (r *reader) end(k tree.Value, which string) (nodes []int, ok bool) {
	v := k.Get(which)
	name := strings.TrimSuffix(strings.TrimPrefix(v.Word(), "<"), ">")
	for i := range r.nodes {
		if task := r.nodes[i].task; task != "" && (task == name || strings.ReplaceAll(task, "_", " ") == strings.ReplaceAll(name, "_", " ")) {
			nodes = append(nodes, i)
		}
	}
	if len(nodes) > 0 {
		return nodes, true
	}
	digits := strings.TrimPrefix(name, "node-")
	if i := dialect.Number(digits); i >= 0 && i < len(r.nodes) && fmt.Sprint(i) == digits {
		return []int{i}, true
	}
	if v.Word() == "" {
		r.Errorf(k.At(), diag.BadNotation, "the link has no %s; it is written {\"source\": …, \"target\": …}", which)
		return nil, false
	}
	f := r.Errorf(v.All(), diag.NothingThere, "the %s %q of the link is no node of this plan", which, v.Word())
	if near, found := spell.Nearest(name, r.tasks()); found && v.Is(lang.String) {
		f.Message += fmt.Sprintf("; did you mean %q?", near)
		f.Fix = dialect.Replace(v.All(), near)
	}
	return nil, false
}

func (r *reader) tasks() func(yield func(string) bool) {
	return func(yield func(string) bool) {
		for i := range r.nodes {
			if !yield(r.nodes[i].task) {
				return
			}
		}
	}
}

// judgeLinks compares the links with the results that are used. A link without a use
// is an order; unless arguments have names, where links are for that, it is perhaps a
// mistake, as is a use without a link.
func (r *reader) judgeLinks(given bool) {
	for i := range r.links {
		r.judgeLink(&r.links[i])
	}
	if !given {
		return
	}
	var uses []edge
	for e := range r.data {
		uses = append(uses, e)
	}
	slices.SortFunc(uses, func(a, b edge) int { return int(r.data[a].Start - r.data[b].Start) })
	for _, e := range uses {
		if !slices.ContainsFunc(r.links, func(k link) bool { return k.has(e) }) {
			r.Warnf(r.data[e], diag.LinkDisagrees, "%q uses the result of %q, which no link declares", r.nodes[e.to].task, r.nodes[e.from].task)
		}
	}
}

func (r *reader) judgeLink(k *link) {
	for e := range r.data {
		if k.has(e) {
			return
		}
	}
	source, target := r.nodes[k.sources[0]].task, r.nodes[k.targets[0]].task
	e, ok := r.order(k)
	switch {
	case !ok:
		r.Warnf(k.At(), diag.LinkDisagrees, "the link leads from %q to itself", source)
		return
	case !r.named:
		f := r.Warnf(k.At(), diag.LinkDisagrees, "the link from %q to %q carries no data: no argument of %q is %s", source, target, target, tree.SpellNode(fmt.Sprint(e.from)))
		if _, back := r.data[edge{e.to, e.from}]; back {
			f.Message += "; the data goes the other way"
			return
		}
	}
	if n := &r.nodes[e.to]; !slices.Contains(n.after, e.from) {
		n.after = append(n.after, e.from)
	}
}

// order is the edge that a link without data orders: from the last of its sources that
// is before a target, else from the first to the first other one.
func (r *reader) order(k *link) (e edge, ok bool) {
	for _, to := range k.targets {
		for _, from := range slices.Backward(k.sources) {
			if from < to {
				return edge{from, to}, true
			}
		}
	}
	for _, to := range k.targets {
		for _, from := range k.sources {
			if from != to {
				return edge{from, to}, true
			}
		}
	}
	return edge{}, false
}
