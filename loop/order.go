package loop

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/state"
)

// If a solution arrives in pieces, its run has the calls in the order in which they were released,
// which depends on the pieces. The planner must get them in an order that doesn't. Otherwise a loop
// resumed after a crash would send requests that differ from the recorded ones.

// textOrder returns the order of a program's calls in its text.
func textOrder(prog *compile.Program) []int {
	order := make([]int, len(prog.Calls))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int {
		return cmp.Compare(prog.Calls[a].Source.Node.Span().Start, prog.Calls[b].Source.Node.Span().Start)
	})
	return order
}

// inOrder sorts the results of a run's calls, and the members these wrote, into text order. Each
// call appears once in the result.
func inOrder(prog *compile.Program, r *exec.Result, b *board) {
	for i := range r.Instances {
		if !prog.Template {
			r.Instances[i].Calls = nil // filled from r.Calls below
		}
	}
	order := textOrder(prog)
	if slices.IsSorted(order) || len(r.Calls) != len(order) {
		return
	}
	calls := make([]exec.CallResult, 0, len(order))
	written := map[string][]state.Path{} // by instance
	for _, i := range order {
		c := &r.Calls[i]
		calls = append(calls, *c)
		written[c.Instance] = append(written[c.Instance], writes(&prog.Calls[i], c)...)
	}
	r.Calls = calls
	sort := func(instance string, state, data *json.RawMessage, kinds map[string]json.RawMessage) {
		*state = membersInOrder(*state, b.at("state", instance), below(written[instance], "state"))
		*data = membersInOrder(*data, b.at("data", instance), below(written[instance], "data"))
		for kind, v := range kinds {
			kinds[kind] = membersInOrder(v, b.at(kind, instance), below(written[instance], kind))
		}
	}
	sort("", &r.State, &r.Data, r.Kinds)
	for i := range r.Instances {
		in := &r.Instances[i]
		sort(in.Name, &in.State, &in.Data, in.Kinds)
	}
}

// writes returns the paths that a call wrote.
func writes(c *compile.Call, r *exec.CallResult) (paths []state.Path) {
	var list []compile.Write
	if i := slices.IndexFunc(c.Alternatives, func(a compile.Alternative) bool { return a.Name() == r.Outcome }); i >= 0 {
		list = c.Alternatives[i].Writes
	} else if r.Error != nil && c.ErrorPath != nil {
		list = []compile.Write{*c.ErrorPath}
	}
	for _, w := range list {
		path := slices.Clone(w.Path)
		path[0].Name, _, _ = strings.Cut(path[0].Name, "\x00")
		paths = append(paths, path)
	}
	return paths
}

// below returns the remainders of the paths that begin with a member name.
func below(paths []state.Path, name string) (rests []state.Path) {
	for _, p := range paths {
		if len(p) > 0 && p[0].Name == name {
			rests = append(rests, p[1:])
		}
	}
	return rests
}

// membersInOrder returns an object whose new members, which are not in before and were written by
// paths, are ordered like paths. All other members keep their places.
func membersInOrder(v, before json.RawMessage, paths []state.Path) json.RawMessage {
	object := gjson.ParseBytes(v)
	if len(paths) == 0 || !object.IsObject() {
		return v
	}
	rank := map[string]int{}
	for i, p := range paths {
		if _, ok := rank[stepName(p)]; !ok && len(p) > 0 {
			rank[stepName(p)] = i
		}
	}
	var all, moved []Member
	was := members(gjson.ParseBytes(before))
	object.ForEach(func(k, e gjson.Result) bool {
		all = append(all, Member{k.Str, membersInOrder(json.RawMessage(e.Raw), was[k.Str], below(paths, k.Str))})
		if _, ok := rank[k.Str]; ok && was[k.Str] == nil {
			moved = append(moved, all[len(all)-1])
		}
		return true
	})
	slices.SortStableFunc(moved, func(a, b Member) int { return cmp.Compare(rank[a.Name], rank[b.Name]) })
	for i := range all {
		if _, ok := rank[all[i].Name]; ok && was[all[i].Name] == nil {
			all[i], moved = moved[0], moved[1:]
		}
	}
	return writeObject(all...)
}

// stepName returns the name of the first member in a path, or "".
func stepName(p state.Path) string {
	if len(p) == 0 {
		return ""
	}
	return p[0].Name
}
