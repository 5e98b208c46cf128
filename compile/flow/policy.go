package flow

import (
	"encoding/binary"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/label"
)

// A Policy is a policy that has been checked against a catalogue, with its conditions compiled. It
// is immutable.
type Policy struct {
	said  *label.Policy
	best  lab
	plan  lab            // the label of a plan whose author has seen nothing
	cats  []string       // the categories, by number
	index map[string]int // the numbers of the categories
	given *tree          // the labels of the whiteboard at the start, by kinds and members
	rules []*rule

	lists      []*list                    // the lists that params have to be elements of
	conditions map[*label.Want]*condition // the conditions that stand in for trust
	names      map[*label.Want]string     // of the requirements on params and on the output

	mu         sync.Mutex
	categories map[string][]string // the names of categories, by their sets
}

// Said returns the policy as the files say it.
func (p *Policy) Said() *label.Policy { return p.said }

// Name returns the name of the policy for messages.
func (p *Policy) Name() string {
	if p.said.Name == "" {
		return "the policy of the tool files"
	}
	return p.said.Name
}

// lab returns a label with its categories by number.
func (p *Policy) lab(l label.Label) lab {
	x := lab{trust: l.Trust, secrecy: l.Secrecy}
	for _, name := range l.Categories {
		x.cats = x.cats.with(p.index[name])
	}
	return x
}

// label returns a label with its categories by name. Labels with the same categories share the
// names, since there may be many of both.
func (p *Policy) label(x lab) label.Label {
	l := label.Label{Trust: x.trust, Secrecy: x.secrecy}
	if len(x.cats) == 0 {
		return l
	}
	key := make([]byte, 0, 8*len(x.cats))
	for _, w := range x.cats {
		key = binary.LittleEndian.AppendUint64(key, w)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	names, ok := p.categories[string(key)]
	if !ok {
		x.cats.all(func(i int) { names = append(names, p.cats[i]) })
		if names = slices.Clip(names); len(p.categories) >= maxCategories {
			clear(p.categories)
		}
		p.categories[string(key)] = names
	}
	l.Categories = names
	return l
}

// maxCategories is the maximum number of sets of categories whose names a Policy keeps.
const maxCategories = 1000

// Prepare checks a policy against a catalogue and compiles its conditions with predicates; nil
// refuses conditions. A policy with an error must not be used to run plans.
func Prepare(said *label.Policy, cat *tool.Catalogue, predicates compile.Predicates) (*Policy, diag.List) {
	p := &Policy{said: said, cats: said.Worst, index: map[string]int{}, conditions: map[*label.Want]*condition{}, names: namesIn(said), categories: map[string][]string{}}
	for i, name := range p.cats {
		p.index[name] = i
	}
	p.best, p.plan = p.lab(said.Best()), p.lab(said.OfPlan())
	c := &preparer{policy: p, cat: cat, tools: toolsOf(cat), byName: map[string][]*named{}, only: map[*named]*schemas.Schema{}, predicates: predicates}
	for _, t := range c.tools {
		for _, name := range slices.Compact(slices.Sorted(slices.Values(t.names))) {
			c.byName[name] = append(c.byName[name], t)
		}
	}
	c.tables()
	for i := range said.Tools {
		c.tool(&said.Tools[i])
	}
	for i := range said.Rules {
		c.rule(&said.Rules[i])
	}
	c.contradictions()
	return p, c.findings
}

// preparer prepares one policy.
type preparer struct {
	policy     *Policy
	cat        *tool.Catalogue // nil: tools are not known, and nothing is checked against them
	tools      []*named
	byName     map[string][]*named        // in the order of tools
	only       map[*named]*schemas.Schema // see declared
	predicates compile.Predicates
	findings   diag.List
}

// named is a tool with all names by which a policy may mean it.
type named struct {
	*tool.Tool
	names []string
}

// toolsOf returns the tools of a catalogue, those that come with the language included.
func toolsOf(cat *tool.Catalogue) (all []*named) {
	if cat == nil {
		return nil
	}
	known := map[string]bool{}
	cat = cat.WithBuiltIns()
	for t := range cat.Listed() {
		n := &named{t, cat.Names(t)}
		all = append(all, n)
		for _, name := range n.names {
			known[name] = true
		}
	}
	for name := range cat.Activities() {
		if !known[name] { // no tool has it; calls may pick it
			all = append(all, &named{nil, []string{name}})
		}
	}
	for _, name := range []string{"step", "join"} { // of other notations
		all = append(all, &named{nil, []string{name}})
	}
	return all
}

// tables builds the labels of the whiteboard at the start.
func (c *preparer) tables() {
	p := c.policy
	root := &tree{own: p.lab(p.said.OfUnknown())}
	set := map[*tree]bool{}
	paths := slices.Clone(p.said.Given)
	slices.SortStableFunc(paths, func(a, b label.Path) int { return len(a.Names) - len(b.Names) })
	for _, path := range paths {
		root.put(p, path.Names, p.lab(path.Label), set)
	}
	root.weigh()
	p.given = root
}

// tree holds labels by path.
type tree struct {
	own     lab
	members []branch
	wide    bool // it has more than maxParts parts, so that a value keeps none of them
}

type branch struct {
	name string
	tree *tree
}

// put sets the label of a path. Paths must come after those above them. A path that has a label
// already gets the join of the two.
func (t *tree) put(p *Policy, names []string, l lab, set map[*tree]bool) {
	for _, name := range names {
		i := slices.IndexFunc(t.members, func(b branch) bool { return b.name == name })
		if i < 0 {
			i = len(t.members)
			t.members = append(t.members, branch{name, &tree{own: t.own}})
		}
		t = t.members[i].tree
	}
	if set[t] {
		l = p.worst(t.own, l)
	}
	set[t], t.own = true, l
}

// weigh notes which trees are wide, and returns the number of parts of a value of this one.
func (t *tree) weigh() int {
	n := 1
	for _, b := range t.members {
		n += b.tree.weigh()
	}
	if t.wide = n > maxParts; t.wide {
		return 1
	}
	return n
}

// labelled returns a value with the labels of a tree, each of whose parts also has the mark
// carried. Each part is a source of its own.
func (a *analysis) labelled(t *tree, name string, s *step, carried *mark) *val {
	if t.wide {
		if own := a.whole(t, name); own.from != nil {
			carried = a.join(a.marked(own, s, nil), carried)
		}
		return a.leaf(carried)
	}
	v := a.vals.next()
	v.flat, v.content = true, noParts
	if !a.policy.noWorse(t.own, a.policy.best) {
		v.own = a.marked(a.originOf(t, name), s, nil)
	}
	v.own = a.join(v.own, carried)
	if len(t.members) > 0 {
		v.content = &content{named: a.parts.list(len(t.members))}
	}
	for i, b := range t.members {
		v.named[i].name, v.named[i].val = b.name, a.labelled(b.tree, a.partName(b, name), s, carried)
	}
	return a.sealed(v)
}

// originOf returns the origin of a tree itself, made once.
func (a *analysis) originOf(t *tree, name string) *origin {
	o := a.origins[t]
	if o == nil {
		o = &origin{t.own, a.source(name, t.own)}
		a.origins[t] = o
	}
	return o
}

// partName returns the name of the source of a branch of a tree with this name.
func (a *analysis) partName(b branch, name string) string {
	if _, ok := a.origins[b.tree]; ok { // it has its name
		return name
	}
	return name + "." + b.name
}

// whole returns the join of all labels of a tree, with all its sources, made once.
func (a *analysis) whole(t *tree, name string) *origin {
	if m, ok := a.wholes[t]; ok {
		return m
	}
	m := &origin{lab: a.policy.best}
	if !a.policy.noWorse(t.own, a.policy.best) {
		*m = *a.originOf(t, name)
	}
	for _, b := range t.members {
		n := a.whole(b.tree, a.partName(b, name))
		m.lab, m.from = a.policy.worst(m.lab, n.lab), m.from.union(n.from)
	}
	a.wholes[t] = m
	return m
}

// either returns the join of two trees.
func (t *tree) either(p *Policy, u *tree) *tree {
	x := &tree{own: p.worst(t.own, u.own)}
	for _, b := range t.members {
		x.members = append(x.members, branch{b.name, b.tree.either(p, u.member(b.name))})
	}
	for _, b := range u.members {
		if !slices.ContainsFunc(t.members, func(c branch) bool { return c.name == b.name }) {
			x.members = append(x.members, branch{b.name, b.tree.either(p, t.member(b.name))})
		}
	}
	return x
}

func (t *tree) member(name string) *tree {
	for _, b := range t.members {
		if b.name == name {
			return b.tree
		}
	}
	return &tree{own: t.own}
}

// matching returns the tools that a selector means, and reports one that means none.
func (c *preparer) matching(s label.Selector, what string) (all []*named) {
	if all = c.selected(s); len(all) > 0 || c.cat == nil {
		return all
	}
	_, annotation := s.Annotation()
	f := diag.Finding{Code: diag.UnknownTool, Severity: diag.Warning, Loc: s.Loc}
	switch {
	case annotation:
		f.Message = fmt.Sprintf("%s has %q, but no tool has this annotation", what, s.Text)
	case strings.Contains(s.Text, "*"):
		f.Message = fmt.Sprintf("%s has %q, which matches no tool and no activity", what, s.Text)
	default:
		f.Severity = diag.Error
		var names []string
		for _, t := range c.tools {
			names = append(names, t.names...)
		}
		f.Message = fmt.Sprintf("%s has %q, which is no tool and no activity%s", what, s.Text, meant(s.Text, names))
	}
	c.findings = append(c.findings, f)
	return nil
}

func effectsOf(t *named) tool.Effects {
	if t.Tool == nil {
		return tool.Effects{}
	}
	return t.Definition.Effects
}

// selects reports whether a selector means a tool of these names and effects.
func selects(s label.Selector, names []string, e tool.Effects) bool {
	switch name, _ := s.Annotation(); name {
	case "":
		return slices.ContainsFunc(names, func(name string) bool { return tool.Matches(s.Text, name) })
	case "readOnly":
		return readsOnly(e)
	case "destructive":
		return !readsOnly(e) && e.Destructive != tool.No
	case "openWorld":
		return e.Pure != tool.Yes && e.OpenWorld != tool.No
	}
	return false
}

func readsOnly(e tool.Effects) bool { return e.ReadOnly == tool.Yes || e.Pure == tool.Yes }

// tool checks an entry against the tools that it selects.
func (c *preparer) tool(t *label.Tool) {
	for _, n := range c.matching(t.Selector, "tools") {
		if n.Tool == nil || strings.Contains(t.Text, "*") || t.Text[0] == '@' {
			continue // which may have other params
		}
		for i := range t.Takes {
			c.param(n, t.Takes[i].Param, t.Takes[i].Loc)
		}
		for _, path := range t.Parts {
			c.output(n, path.Names, path.Loc)
		}
	}
	for i := range t.Takes {
		c.want(t, &t.Takes[i])
	}
}

// param reports a param that a tool does not have.
func (c *preparer) param(t *named, name string, loc diag.Loc) (ok bool) {
	def := t.Definition
	if _, known := def.Param[name]; known || name == "*" || !def.Closed && len(def.Param) == 0 {
		return true
	}
	c.errorf(diag.UnknownParam, loc, "the policy names the param %q, which the tool %q does not have%s", name, def.Name, meant(name, slices.Collect(maps.Keys(def.Param))))
	return false
}

// output reports a path that the result of a tool can't have. It returns the schema at the path, if
// that is known.
func (c *preparer) output(t *named, names []string, loc diag.Loc) (at *schemas.Schema, ok bool) {
	at = t.Definition.Output
	for i, name := range names {
		if at = inside(at); at == nil {
			return nil, true
		}
		sub, has := at.At(schemas.Step{Kind: schemas.Member, Name: name})
		if has == schemas.Never {
			c.errorf(diag.BadPolicy, loc, "the result of the tool %q has no %q%s", t.Definition.Name, strings.Join(names[:i+1], "."), meant(name, slices.Collect(at.Names())))
			return nil, false
		}
		at = sub
	}
	return inside(at), true
}

// inside returns the schema of the elements of a list, also of lists of lists; for anything else it
// returns the schema itself. Paths of policies leave elements out.
func inside(s *schemas.Schema) *schemas.Schema {
	for range maxParts {
		if s == nil {
			return nil
		}
		if _, has := s.At(schemas.Step{Kind: schemas.Element}); has == schemas.Never {
			return s
		}
		s, _ = s.At(schemas.Step{Kind: schemas.Every})
	}
	return nil
}

func (c *preparer) errorf(code diag.Code, loc diag.Loc, format string, args ...any) {
	c.findings = append(c.findings, diag.Finding{Code: code, Severity: diag.Error, Loc: loc, Message: fmt.Sprintf(format, args...)})
}

func (c *preparer) idle(loc diag.Loc, format string, args ...any) {
	c.findings = append(c.findings, diag.Finding{Code: diag.IdleRule, Severity: diag.Warning, Loc: loc, Message: fmt.Sprintf(format, args...)})
}
