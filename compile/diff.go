package compile

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/state"
	"github.com/plc-lang/plc/tool"
)

// Diff is what differs in meaning between two programs: white space, comments,
// the order of members and, where it does not change plan order, of calls are no difference.
// Calls are told apart by their ids.
type Diff struct {
	Added   []string     `json:"added"`
	Removed []string     `json:"removed"`
	Changed []CallChange `json:"changed"`
	// EdgesAdded and EdgesRemoved are what waits for what, of calls that both have.
	EdgesAdded   []EdgeChange `json:"edgesAdded"`
	EdgesRemoved []EdgeChange `json:"edgesRemoved"`
	// Effects are the calls that change the world, in their order, when that differs.
	Effects *EffectsChange `json:"effects,omitempty"`
}

// CallChange is a call that differs.
type CallChange struct {
	Call  string      `json:"call"`
	What  string      `json:"what"` // "tool", "params", "_when", …
	Old   string      `json:"old"`
	New   string      `json:"new"`
	Place state.Place `json:"-"`
}

// EdgeChange is an edge that only one of the programs has.
type EdgeChange struct {
	From string `json:"from"`
	To   string `json:"to"`
	Kind string `json:"kind"`
	Path string `json:"path,omitempty"`
}

// EffectsChange is the calls that change the world, before and after.
type EffectsChange struct {
	Old []string `json:"old"`
	New []string `json:"new"`
}

// IsEmpty reports whether nothing differs.
func (d *Diff) IsEmpty() bool {
	return len(d.Added)+len(d.Removed)+len(d.Changed)+len(d.EdgesAdded)+len(d.EdgesRemoved) == 0 && d.Effects == nil
}

// Compare finds what differs in meaning between two programs.
func Compare(old, new *Program) *Diff {
	d := &Diff{Added: []string{}, Removed: []string{}, Changed: []CallChange{}, EdgesAdded: []EdgeChange{}, EdgesRemoved: []EdgeChange{}}
	for i := range new.Calls {
		c := &new.Calls[i]
		if was, ok := old.Call(c.ID); ok {
			d.call(was, c)
		} else {
			d.Added = append(d.Added, c.ID)
		}
	}
	for i := range old.Calls {
		if _, ok := new.Call(old.Calls[i].ID); !ok {
			d.Removed = append(d.Removed, old.Calls[i].ID)
		}
	}
	before, after := old.edgeSet(new), new.edgeSet(old)
	d.EdgesAdded = append(d.EdgesAdded, without(after, before)...)
	d.EdgesRemoved = append(d.EdgesRemoved, without(before, after)...)
	if a, b := old.changes(), new.changes(); !slices.Equal(a, b) {
		d.Effects = &EffectsChange{a, b}
	}
	return d
}

func (d *Diff) call(old, new *Call) {
	a, b := old.meaning(), new.meaning()
	for i, name := range meaningNames {
		if a[i] != b[i] {
			d.Changed = append(d.Changed, CallChange{Call: new.ID, What: name, Old: a[i], New: b[i], Place: new.Place})
		}
	}
}

// meaningNames are what meaning returns, in order.
var meaningNames = [...]string{
	"tool", "params", "_outputPath", "_outputMethod", "_errorPath", "_when", "_output", "_dependsOn", "_scopes",
	"_fallback", "_retry", "_timeout", "_onFailure", "_approve", "_expect", "activity", "effects",
}

// meaning is what a call means, a text for each of meaningNames.
func (c *Call) meaning() []string {
	src := c.Source
	path := ""
	if src.OutputPath != nil {
		w := *src.OutputPath
		w.Angle = false
		path = w.String()
	}
	errorPath := ""
	if c.ErrorPath != nil {
		errorPath = c.ErrorPath.Path.String()
	}
	method := ""
	if len(c.Alternatives) > 0 {
		method = c.Method.String()
	}
	when := ""
	if c.When != nil {
		when = c.When.plain()
	}
	out := []string{src.Tool, string(canonicalMembers(nil, src.Params)), path, method, errorPath, when}
	return append(out, c.rareMeaning()...)
}

func (c *Call) rareMeaning() []string {
	texts := make([]string, 0, 11)
	texts = append(texts, string(c.Result))
	rest := c.Source.Rest
	if rest == nil {
		return append(texts, "", "", "", "", "", "", "", "", c.activityName(), effectsText(c.Effects))
	}
	var deps []string
	for _, d := range rest.DependsOn {
		deps = append(deps, d.Name)
	}
	slices.Sort(deps)
	timeout, retry := "", ""
	if rest.Timeout > 0 {
		timeout = rest.Timeout.String()
	}
	if rest.Retry != nil {
		retry = retryText(rest.Retry)
	}
	return append(texts,
		text(deps), string(canonicalNode(rest.ScopesNode)), string(canonicalNode(rest.FallbackNode)), retry, timeout,
		rest.OnFailure, string(canonicalNode(rest.ApproveNode)), string(canonicalNode(rest.Expect)),
		c.activityName(), effectsText(c.Effects))
}

// retryText is what a _retry says: 3, delay 1s, on "busy".
func retryText(r *lang.Retry) string {
	s := strconv.Itoa(r.Max)
	if r.Delay > 0 {
		s += ", delay " + r.Delay.String()
	}
	if r.Factor > 0 {
		s += fmt.Sprintf(", factor %g", r.Factor)
	}
	if r.MaxDelay > 0 {
		s += ", maxDelay " + r.MaxDelay.String()
	}
	if r.Jitter != nil {
		s += fmt.Sprintf(", jitter %t", *r.Jitter)
	}
	if len(r.On) > 0 {
		s += ", on " + list(r.On)
	}
	return s
}

func text(names []string) string {
	if len(names) == 0 {
		return ""
	}
	return list(names)
}

func (c *Call) activityName() string {
	if r := c.Source.Rest; r != nil && !r.ActivityNode.IsZero() {
		return quote(r.Activity)
	}
	return ""
}

// effectsText is the effects that are declared, as a tool file writes them.
func effectsText(e tool.Effects) string {
	var b bytes.Buffer
	for _, h := range []struct {
		name string
		hint tool.Hint
	}{
		{"readOnly", e.ReadOnly}, {"destructive", e.Destructive}, {"idempotent", e.Idempotent},
		{"openWorld", e.OpenWorld}, {"pure", e.Pure}, {"independent", e.Independent},
	} {
		if h.hint != tool.Undeclared {
			fmt.Fprintf(&b, "%s: %t, ", h.name, h.hint == tool.Yes)
		}
	}
	if e.Domain != "" {
		fmt.Fprintf(&b, "domain: %s, ", e.Domain)
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte(", ")))
}

// changes are the calls that change the world, in plan order.
func (p *Program) changes() []string {
	ids := []string{}
	for i := range p.Calls {
		if p.Calls[i].Effects.ChangesWorld() {
			ids = append(ids, p.Calls[i].ID)
		}
	}
	return ids
}

// edgeSet are the data and order edges between calls that other has as well.
func (p *Program) edgeSet(other *Program) []EdgeChange {
	var edges []EdgeChange
	for e := range p.Edges() {
		if e.Kind == Effect {
			continue
		}
		_, from := other.Call(e.From.ID)
		if _, to := other.Call(e.To.ID); !from || !to {
			continue
		}
		change := EdgeChange{From: e.From.ID, To: e.To.ID, Kind: e.Kind.String()}
		if e.Kind == Data {
			change.Path = e.Path.String()
		}
		edges = append(edges, change)
	}
	return edges
}

// without are the edges of a that b lacks, in order.
func without(a, b []EdgeChange) []EdgeChange {
	has := make(map[EdgeChange]bool, len(b))
	for _, e := range b {
		has[e] = true
	}
	return slices.DeleteFunc(slices.Clone(a), func(e EdgeChange) bool { return has[e] })
}
