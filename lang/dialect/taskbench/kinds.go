package taskbench

import (
	"slices"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang/dialect/tree"
)

// judgeKinds reports results that are given to tools that accept nothing of their kind. It ignores
// which param accepts which kind, since published plans give the arguments in any order. A part of
// a result, and a result in a text, may be of any kind. If a reference leads nowhere, it reports
// nothing, since other references may be wrong too.
func (r *reader) judgeKinds() {
	if r.Options.Kinds == nil {
		return
	}
	for user := range r.refs {
		if r.isLost(user) {
			return
		}
	}
	for user := range r.nodes {
		takes, _ := r.Options.Kinds(r.nodes[user].task)
		if len(takes) == 0 {
			continue
		}
		for _, a := range r.nodes[user].args {
			tree.Strings(a.value, func(s tree.Value) { r.kind(s, user, takes) })
		}
	}
}

// kind reports a string that is a result of a kind that a node does not accept.
func (r *reader) kind(s tree.Value, user int, takes []string) {
	number, ok := r.Whole(s)
	from := r.Labels.Of(number)
	if !ok || from < 0 || from == user {
		return
	}
	_, gives := r.Options.Kinds(r.nodes[from].task)
	if len(gives) == 0 || slices.ContainsFunc(gives, func(g string) bool {
		return slices.ContainsFunc(takes, func(t string) bool { return fits(g, t) })
	}) {
		return
	}
	takes = slices.Compact(slices.Sorted(slices.Values(takes)))
	r.Errorf(s.All(), diag.NotAssignable, "%q takes %s, and %s, the result of %q, is of the kind %s",
		r.nodes[user].task, strings.Join(takes, " and "), s.Str(), r.nodes[from].task, strings.Join(gives, " or "))
}

// fits reports whether a result of one kind can be given where another is accepted. A URL is a
// text, and may lead to a resource of any kind.
func fits(gives, takes string) bool {
	return gives == takes || gives == "url" || gives == "text" && takes == "url"
}
