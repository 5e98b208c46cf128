package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/state"
	"github.com/plc-lang/plc/tool"
)

// Diff lists how two programs differ in meaning. White space, comments, and the order of members
// make no difference, nor does the order of calls where plan order stays the same. Calls are told
// apart by their ids.
type Diff struct {
	Added   []string     `json:"added"`
	Removed []string     `json:"removed"`
	Changed []CallChange `json:"changed"`
	// EdgesAdded and EdgesRemoved are what waits for what, of calls that both have.
	EdgesAdded   []EdgeChange `json:"edgesAdded"`
	EdgesRemoved []EdgeChange `json:"edgesRemoved"`
	// Effects are the calls that change the world, in their order, when that differs.
	Effects *EffectsChange `json:"effects,omitempty"`
	// Other lists the differences outside calls: in the mode, the output, the initial values.
	Other []Change `json:"other,omitempty"`
	// Documents are the documents that both delegate to and that differ, each once.
	Documents []DocumentDiff `json:"documents,omitempty"`
}

// Change is a text before and after.
type Change struct {
	What string `json:"what"`
	Old  string `json:"old"`
	New  string `json:"new"`
}

// DocumentDiff lists the differences in a document that is delegated to.
type DocumentDiff struct {
	Document string `json:"document"`
	*Diff
}

// CallChange is a call that differs.
type CallChange struct {
	Call  string      `json:"call"`
	What  string      `json:"what"` // "tool", "params", "_when", …; "document" when what it delegates to differs
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
	return len(d.Added)+len(d.Removed)+len(d.Changed)+len(d.EdgesAdded)+len(d.EdgesRemoved)+len(d.Other) == 0 && d.Effects == nil
}

// Compare finds what differs in meaning between two programs.
//
// What differs in a document that both delegate to is told once, and is a change of each
// call that runs it.
func Compare(old, new *compile.Program) *Diff {
	c := &differ{known: map[[2]*compile.Program]*Diff{}, told: map[string]bool{}}
	d := c.compare(old, new)
	d.Documents = c.documents
	return d
}

// differ is one Compare, with the programs of documents that were compared.
type differ struct {
	known     map[[2]*compile.Program]*Diff
	told      map[string]bool // documents
	documents []DocumentDiff
}

func (c *differ) compare(old, new *compile.Program) *Diff {
	d := &Diff{Added: []string{}, Removed: []string{}, Changed: []CallChange{}, EdgesAdded: []EdgeChange{}, EdgesRemoved: []EdgeChange{}}
	for i := range new.Calls {
		call := &new.Calls[i]
		if was, ok := old.Call(call.ID); ok {
			d.call(was, call)
			c.document(d, was, call)
		} else {
			d.Added = append(d.Added, call.ID)
		}
	}
	for i := range old.Calls {
		if _, ok := new.Call(old.Calls[i].ID); !ok {
			d.Removed = append(d.Removed, old.Calls[i].ID)
		}
	}
	before, after := edgeSet(old, new), edgeSet(new, old)
	d.EdgesAdded = append(d.EdgesAdded, without(after, before)...)
	d.EdgesRemoved = append(d.EdgesRemoved, without(before, after)...)
	if a, b := changes(old), changes(new); !slices.Equal(a, b) {
		d.Effects = &EffectsChange{a, b}
	}
	d.Other = values(old, new)
	return d
}

// document compares what two calls delegate to, when that has one name.
func (c *differ) document(d *Diff, old, new *compile.Call) {
	if old.Delegate == nil || new.Delegate == nil || old.Delegate.Name != new.Delegate.Name ||
		old.Delegate.Program == nil || new.Delegate.Program == nil {
		return
	}
	pair := [2]*compile.Program{old.Delegate.Program, new.Delegate.Program}
	inside, ok := c.known[pair]
	if !ok {
		inside = c.compare(pair[0], pair[1])
		c.known[pair] = inside
	}
	if inside.IsEmpty() {
		return
	}
	name := new.Delegate.Name
	d.Changed = append(d.Changed, CallChange{Call: new.ID, What: "document", Old: name, New: name + ": " + inside.short(), Place: new.Place})
	if !c.told[name] {
		c.told[name] = true
		c.documents = append(c.documents, DocumentDiff{name, inside})
	}
}

// short says how much differs.
func (d *Diff) short() string {
	var parts []string
	for _, n := range []struct {
		count int
		noun  string
		what  string
	}{
		{len(d.Added), "call", " added"}, {len(d.Removed), "call", " removed"}, {len(d.Changed), "change", " of calls"},
		{len(d.Other), "other change", ""}, {len(d.EdgesAdded) + len(d.EdgesRemoved), "edge", ""},
	} {
		if n.count > 0 {
			parts = append(parts, count(n.count, n.noun)+n.what)
		}
	}
	if len(parts) == 0 {
		return "its effects in another order"
	}
	return strings.Join(parts, ", ")
}

// values returns the mode, the output and the initial values of a program that has or that
// other has, as texts.
func values(p, other *compile.Program) []Change {
	mode := func(p *compile.Program) string { return [...]string{"eager", "lazy"}[p.Mode] }
	output := func(p *compile.Program) string {
		if p.Output == nil {
			return ""
		}
		return string(canonicalNode(p.Document.Output))
	}
	all := []Change{
		{"mode", mode(p), mode(other)}, {"onFailure", p.Document.OnFailure, other.Document.OnFailure}, {"output", output(p), output(other)},
	}
	old, new := allInitial(p), allInitial(other)
	kinds := maps.Clone(old)
	maps.Copy(kinds, new)
	for _, name := range slices.Sorted(maps.Keys(kinds)) {
		kind, instance, ok := compile.CutLayer(name)
		if ok {
			kind += " of " + instance
		}
		all = append(all, Change{kind, initialText(old[name]), initialText(new[name])})
	}
	return slices.DeleteFunc(all, func(c Change) bool { return c.Old == c.New })
}

// allInitial returns the initial values by kind, also those of the instances of a template.
func allInitial(p *compile.Program) map[string]json.RawMessage {
	if !p.Template {
		return p.Initial
	}
	all := maps.Clone(p.Initial)
	for _, in := range p.Instances {
		for kind, v := range in.Own {
			all[compile.Layer(kind, in.Name)] = v
		}
	}
	return all
}

// initialText returns an initial value with its members in order of their names.
func initialText(v json.RawMessage) string {
	if len(v) == 0 {
		return ""
	}
	return string(jsonscan.Canonical(nil, v))
}

func (d *Diff) call(old, new *compile.Call) {
	a, b := meaning(old), meaning(new)
	for i, name := range meaningNames {
		if a[i] != b[i] {
			d.Changed = append(d.Changed, CallChange{Call: new.ID, What: name, Old: a[i], New: b[i], Place: new.Place})
		}
	}
}

// meaningNames names the results of meaning, in order.
var meaningNames = [...]string{
	"tool", "params", "_outputPath", "_outputMethod", "_errorPath", "_when", "_output", "_dependsOn", "_scopes",
	"_fallback", "_retry", "_timeout", "_onFailure", "_undo", "_approve", "_expect", "_instance", "_delegate", "activity", "effects",
}

// meaning returns what a call means, a text for each of meaningNames.
func meaning(c *compile.Call) []string {
	src := c.Source
	path := ""
	if w := src.OutputPath(); w != nil {
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
		when = c.When.Plain()
	}
	out := []string{src.Tool, string(canonicalMembers(nil, src.Params)), path, method, errorPath, when}
	return append(out, rareMeaning(c)...)
}

func rareMeaning(c *compile.Call) []string {
	texts := make([]string, 0, 14)
	texts = append(texts, string(c.Result))
	rest := c.Source.Rest
	if rest == nil {
		return append(texts, "", "", "", "", "", "", "", "", "", c.Instance, delegateName(c), activityName(c), effectsText(c.Effects))
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
		list(deps), string(canonicalNode(rest.ScopesNode)), string(canonicalNode(rest.FallbackNode)), retry, timeout,
		rest.OnFailure, string(canonicalNode(rest.UndoNode)), string(canonicalNode(rest.ApproveNode)), string(canonicalNode(rest.Expect)),
		c.Instance, delegateName(c), activityName(c), effectsText(c.Effects))
}

func delegateName(c *compile.Call) string {
	if c.Delegate == nil {
		return ""
	}
	return c.Delegate.Name
}

// retryText returns what a _retry says: 3, delay 1s, on "busy".
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

func activityName(c *compile.Call) string {
	if r := c.Source.Rest; r != nil && !r.ActivityNode.IsZero() {
		return jsonscan.Quote(r.Activity)
	}
	return ""
}

// namedHint is a hint of effects with its name in a tool file.
type namedHint struct {
	name string
	hint *tool.Hint
}

// hintsOf returns the hints of effects, in the order in which they are written.
func hintsOf(e *tool.Effects) []namedHint {
	return []namedHint{
		{"readOnly", &e.ReadOnly}, {"destructive", &e.Destructive}, {"idempotent", &e.Idempotent},
		{"openWorld", &e.OpenWorld}, {"pure", &e.Pure}, {"independent", &e.Independent},
	}
}

// effectsText returns the effects that are declared, as a tool file writes them.
func effectsText(e tool.Effects) string {
	var b bytes.Buffer
	for _, h := range hintsOf(&e) {
		if *h.hint != tool.Undeclared {
			fmt.Fprintf(&b, "%s: %t, ", h.name, *h.hint == tool.Yes)
		}
	}
	if e.Domain != "" {
		fmt.Fprintf(&b, "domain: %s, ", e.Domain)
	}
	return string(bytes.TrimSuffix(b.Bytes(), []byte(", ")))
}

// ReadEffects parses the text of effects in a manifest, which effectsText writes.
func ReadEffects(text string) (e tool.Effects) {
	hints := map[string]*tool.Hint{}
	for _, h := range hintsOf(&e) {
		hints[h.name] = h.hint
	}
	for text != "" {
		if domain, last := strings.CutPrefix(text, "domain: "); last {
			e.Domain = domain
			break
		}
		var hint string
		hint, text, _ = strings.Cut(text, ", ")
		if name, value, _ := strings.Cut(hint, ": "); hints[name] != nil {
			*hints[name] = tool.No
			if value == "true" {
				*hints[name] = tool.Yes
			}
		}
	}
	return e
}

// changes returns the calls that change the world, in plan order.
func changes(p *compile.Program) []string {
	ids := []string{}
	for i := range p.Calls {
		if p.Calls[i].Effects.ChangesWorld() {
			ids = append(ids, p.Calls[i].ID)
		}
	}
	return ids
}

// edgeSet returns the data and order edges between calls that other has as well.
func edgeSet(p, other *compile.Program) []EdgeChange {
	var edges []EdgeChange
	for e := range p.Edges() {
		if e.Kind == compile.Effect {
			continue
		}
		_, from := other.Call(e.From.ID)
		if _, to := other.Call(e.To.ID); !from || !to {
			continue
		}
		change := EdgeChange{From: e.From.ID, To: e.To.ID, Kind: e.Kind.String()}
		if e.Kind == compile.Data {
			change.Path = e.Path.String()
		}
		edges = append(edges, change)
	}
	return edges
}

// without returns the edges of a that b lacks, in order.
func without(a, b []EdgeChange) []EdgeChange {
	has := make(map[EdgeChange]bool, len(b))
	for _, e := range b {
		has[e] = true
	}
	return slices.DeleteFunc(slices.Clone(a), func(e EdgeChange) bool { return has[e] })
}

func list(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = jsonscan.Quote(n)
	}
	return strings.Join(quoted, ", ")
}

func count(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
}
