package compile

import (
	"slices"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
)

// survey summarizes a document for its callers before plan order is made: what its calls do to the
// world, and what they cost, independent of the caller. It is made from its calls, lowered one by
// one, and from the surveys of the documents that they delegate to.
type survey struct {
	effects    tool.Effects // of all calls together
	repeatable bool         // each call may be made again without asking
	changes    bool         // a call changes the world, and is not independent
	lazy       bool         // a document is lazy

	calls, tokens, cost float64 // as far as they are known

	name    string
	deepest []string // the longest chain of documents below it
	depth   int      // where it was surveyed
	cut     bool     // some documents below it were not surveyed
}

type surveyKey struct {
	doc *document
	cat *tool.Catalogue
}

// defaultDepth is the limit on nested delegates when Options.MaxDepth is 0.
const defaultDepth = 8

func (c *unit) maxDepth() int {
	if c.opts.MaxDepth > 0 {
		return c.opts.MaxDepth
	}
	return defaultDepth
}

// chain returns the documents from the plan down to this one.
func (c *unit) chain() []string {
	if c.within == nil {
		return []string{c.delegates.root}
	}
	return c.within.chain
}

// survey surveys a document that this one delegates to. How deep it looks depends on the depth of
// this document, so a survey that was cut short is repeated for a document further up.
func (c *lowerer) survey(doc *document) *survey {
	key := surveyKey{doc, c.cat}
	depth := len(c.chain())
	if s := c.delegates.surveys[key]; s != nil && (!s.cut || depth >= s.depth) {
		return s
	}
	s := &survey{depth: depth, repeatable: true, effects: nothingDone, name: doc.name, lazy: doc.doc.Mode == lang.Lazy}
	if depth > c.maxDepth() {
		s.cut = true
		return s
	}
	sub := c.below(doc, &caller{})
	low := lowerCalls(newTemplates(readContext(sub)))
	for i := range low.calls {
		s.add(sub, &low.calls[i])
	}
	c.delegates.surveys[key] = s
	return s
}

// nothingDone is the effects of a document without calls.
var nothingDone = tool.Effects{
	ReadOnly: tool.Yes, Destructive: tool.No, Idempotent: tool.Yes, OpenWorld: tool.No, Pure: tool.Yes, Independent: tool.Yes,
}

// add adds a call of a document.
func (s *survey) add(c *unit, d *draft) {
	s.calls++
	s.tokens += d.Tokens
	s.cost += d.Cost
	if d.Tool == nil {
		return
	}
	if d.Effects.Pure != tool.Yes {
		if s.effects.Pure == tool.Yes {
			s.effects = filled(d.Effects)
		} else {
			s.effects = s.effects.Either(filled(d.Effects))
		}
		s.repeatable = s.repeatable && d.Repeatable
		s.changes = s.changes || c.changesWorld(d) && d.Effects.Independent != tool.Yes
	}
	if below := d.survey; below != nil {
		s.below(below, d)
	}
}

// below adds the survey of the document that a call delegates to.
func (s *survey) below(b *survey, d *draft) {
	least, likely := d.times()
	s.calls += least * b.calls
	s.tokens += likely * b.tokens
	s.cost += likely * b.cost
	s.lazy = s.lazy || b.lazy
	s.changes = s.changes || b.changes
	s.cut = s.cut || b.cut
	if len(b.deepest) >= len(s.deepest) {
		s.deepest = append([]string{b.name}, b.deepest...)
	}
}

// filled returns the effects with those that follow from others: a call that only reads destroys
// nothing and may be made again.
func filled(e tool.Effects) tool.Effects {
	if e.ReadOnly == tool.Yes {
		if e.Destructive == tool.Undeclared {
			e.Destructive = tool.No
		}
		if e.Idempotent == tool.Undeclared {
			e.Idempotent = tool.Yes
		}
	}
	return e
}

// times returns how often the document of a call runs: at least, and for an estimate. If the plan
// does not say, that is 0, since a list may be empty, and 1.
func (d *draft) times() (least, likely float64) {
	switch d.Delegate.Loop {
	case ForEach, Reduce:
		if items, _ := paramOf(d, "items"); items.Kind() == lang.Array {
			n := float64(items.Len())
			return n, n
		}
		return 0, 1
	}
	return 1, 1
}

// findDelegate finds the document that a call delegates to, and what must be known about it before
// plan order is made.
func (c *lowerer) findDelegate(d *draft, rest *lang.Rest) {
	if rest.DelegateNode.IsZero() {
		return
	}
	own := c.doc.Calls[d.Source.Index].Rest
	d.inherits = own == nil || own.DelegateNode.IsZero()
	d.Delegate = &Delegate{Name: rest.Delegate, Loop: loopOf(d.Tool), Most: Unbounded}
	if rest.Delegate == Anonymous {
		return
	}
	if rest.Delegate == "" {
		d.bad = true // reported by the reader
		return
	}
	doc := c.delegates.find(c.folderOf(d), rest.Delegate)
	d.Delegate.Name = doc.name
	if !c.reach(d, doc) {
		d.bad = true
		return
	}
	if doc.code != 0 {
		d.bad = true
		c.errorf(doc.code, d.delegateLoc(), "can't delegate to %q: %s", rest.Delegate, doc.why).
			related(doc.cause, "this is what is wrong with it").inside(d, d.delegateLoc().Span)
		return
	}
	d.document, d.survey = doc, c.survey(doc)
	if way := slices.Concat(c.chain(), []string{doc.name}, d.survey.deepest); len(way) > c.maxDepth()+1 {
		d.bad, d.document = true, nil
		c.errorf(diag.DelegateTooDeep, d.delegateLoc(), "documents delegate more than %d deep: %s", c.maxDepth(), arrows(way)).
			inside(d, d.delegateLoc().Span)
	}
}

// reach reports a document that delegates to itself, directly or not.
func (c *lowerer) reach(d *draft, doc *document) bool {
	chain := c.chain()
	i := slices.Index(chain, doc.name)
	if i < 0 {
		return true
	}
	c.errorf(diag.DelegateTooDeep, d.delegateLoc(), "documents delegate in a circle: %s", arrows(append(slices.Clone(chain[i:]), doc.name))).
		inside(d, d.delegateLoc().Span)
	return false
}

func arrows(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = quote(n)
	}
	if len(quoted) > 16 {
		quoted = append(append(quoted[:12:12], "…"), quoted[len(quoted)-3:]...)
	}
	return strings.Join(quoted, " → ")
}

// folderOf returns the folder to which the name of a call's document is relative: that of the
// document which has the name, in the call or in the definition of its tool. Names in tool files
// are relative to the plan.
func (c *lowerer) folderOf(d *draft) string {
	if !d.inherits {
		return c.delegates.folders[c.doc.File]
	}
	if folder, ok := c.delegates.folders[d.Tool.Definition.Loc.File]; ok {
		return folder
	}
	return c.delegates.opts.Folder
}

// delegateLoc returns the place of the delegate of a call, or that of the tool's name if the tool
// fixes it.
func (d *draft) delegateLoc() diag.Loc {
	if d.inherits {
		return d.Source.ToolNode.Loc()
	}
	return d.Source.Rest.DelegateNode.Loc()
}

// loopOf returns how often a tool runs its delegate.
func loopOf(t *tool.Tool) Loop {
	if t == nil || t.Source != tool.BuiltIn {
		return Once
	}
	switch t.Definition.Name {
	case "forEach":
		return ForEach
	case "reduce":
		return Reduce
	case "repeat":
		return Repeat
	}
	return Once
}

// delegateEffects sets the effects of a call to those of the document that it runs.
func (c *lowerer) delegateEffects(d *draft) {
	def := d.Tool.Definition
	d.Effects = def.Effects
	d.Repeatable = def.Effects.Repeatable()
	if s := d.survey; s != nil {
		d.Effects = s.effects.MoreCareful(def.Effects)
		d.Repeatable = s.repeatable && def.Effects.Idempotent != tool.No
		d.Delegate.OneByOne = s.changes && c.opts.Effects != NoEffects
	}
	d.Target = &Target{
		Tool: d.Tool, Definitions: []*tool.Definition{def}, Driver: "delegate",
		Place: tool.Place{Document: d.Delegate.Name}, Effects: d.Effects, Delegate: d.Delegate,
	}
	d.Target.Origin = d.Target.origin(d.Tool.Source)
	if d.Fallback != nil {
		d.Effects = d.Effects.Either(d.Fallback.Target.Effects)
	}
}
