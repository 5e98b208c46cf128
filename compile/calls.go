package compile

import (
	"encoding/json"
	"errors"
	"maps"
	"slices"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/state"
	"github.com/plc-lang/plc/tool"
)

// noRare is shared by all calls without rare members; it must not be written to.
var noRare = &Rare{}

// lowerer turns the calls of a document into drafts.
type lowerer struct {
	*templates
	*lowered
}

// lower lowers the calls and the output of a document, and checks each by itself.
func lower(t *templates) *lowered {
	c := lowerCalls(t)
	c.lowerOutput()
	c.finalState()
	return c.lowered
}

// lowerCalls lowers the calls of a document, without the output.
func lowerCalls(t *templates) *lowerer {
	doc := t.doc
	c := &lowerer{templates: t}
	c.lowered = &lowered{end: draft{Call: &Call{}}, index: newPathIndex(), literalGroups: t.literalGroups}
	c.calls, c.made = make([]draft, len(doc.Calls)), make([]Call, len(doc.Calls))
	for i := range doc.Calls {
		c.calls[i].Call = &c.made[i]
		c.lowerCall(&c.calls[i], &doc.Calls[i])
	}
	return c
}

func (c *lowerer) lowerCall(d *draft, src *lang.Call) {
	d.Source, d.ID, d.Rare = src, src.ID, noRare
	d.refs = c.chunks.ref[:0]
	if src.Tool != "" {
		c.findTool(d)
	} else {
		d.bad = true // reported by the reader
	}
	if d.Tool != nil {
		d.Source = c.withDefaults(d)
		c.checkFixed(d)
	}
	c.findInstance(d)
	c.lowerWrites(d)
	c.lowerRare(d)
	if c.doc.Envelopes[d.ID] {
		r := *d.Rare
		r.Envelope = true
		d.Rare = &r
	}
	c.lowerParams(d)
	c.findChooser(d)
	c.chunks.ref = d.refs
	d.refs = keep(&c.chunks.refs, d.refs)
	if d.Tool != nil {
		c.findActivity(d)
		c.checkParams(d)
		c.checkResult(d)
		c.checkOutcomes(d)
		c.findUndoing(d)
	}
}

func (c *lowerer) findTool(d *draft) {
	t, ok := c.tool(d.Source.Tool)
	if other, has := c.opts.Catalogue.Lookup(d.Source.Tool); ok && has && t.Source == tool.BuiltIn && other.Source != tool.BuiltIn {
		c.errorf(diag.ReservedName, d.Source.ToolNode.Loc(), "the catalogue has a tool %q, which is a name of the language; give it another", d.Source.Tool).in(d, "/_tool")
	}
	if d.Tool = t; !ok {
		d.bad = true
		f := c.unknownTool(d.Source.ToolNode.Loc(), d.Source.Tool).in(d, "/_tool")
		if rest := d.Source.Rest; rest != nil && rest.Delegate != "" {
			f.related(rest.DelegateNode.Loc(), "its tool has to be defined too, be it by {%q: {}} among the tools", d.Source.Tool)
		}
	}
}

// withDefaults returns the call, with the members that it leaves out and its tool fixes.
func (c *lowerer) withDefaults(d *draft) *lang.Call {
	def := c.factsOf(d.Tool).defaults
	if def == nil {
		return d.Source
	}
	call := *d.Source
	if call.MethodNode.IsZero() {
		call.Method = def.Method
	}
	fixed := call.OutputNode.IsZero() && !def.OutputNode.IsZero()
	if !fixed && def.Rest == nil {
		return &call
	}
	rest := lang.Rest{}
	if call.Rest != nil {
		rest = *call.Rest
	}
	if fixed {
		rest.FixedOutput = def.OutputNode
	}
	if def.Rest != nil {
		fillRest(&rest, def.Rest)
	}
	call.Rest = &rest
	return &call
}

// fillRest gives rest the members of def that it lacks.
func fillRest(rest, def *lang.Rest) {
	if rest.ErrorPathNode.IsZero() {
		rest.ErrorPath = def.ErrorPath
	}
	if rest.RetryNode.IsZero() {
		rest.Retry = def.Retry
	}
	if rest.TimeoutNode.IsZero() {
		rest.Timeout = def.Timeout
	}
	if rest.OnFailureNode.IsZero() {
		rest.OnFailure = def.OnFailure
	}
	if rest.ApproveNode.IsZero() {
		rest.Approve = def.Approve
	}
	if rest.ScopesNode.IsZero() {
		rest.Scopes, rest.ScopesNode = def.Scopes, def.ScopesNode
	}
	if rest.FallbackNode.IsZero() {
		rest.Fallback = def.Fallback
	}
	if rest.UndoNode.IsZero() {
		rest.Undo = def.Undo
	}
	if rest.WhenNode.IsZero() {
		rest.When = def.When
	}
	if rest.InstanceNode.IsZero() {
		rest.Instance, rest.InstanceNode = def.Instance, def.InstanceNode
	}
	if rest.DelegateNode.IsZero() {
		rest.Delegate, rest.DelegateNode = def.Delegate, def.DelegateNode
	}
}

// lowerParams makes the template of the params.
func (c *lowerer) lowerParams(d *draft) {
	d.Params = c.template(d, d.Source.Params, false)
}

// checkParams checks the params of a call, and of its own fallback, against its
// tool's definition.
func (c *lowerer) checkParams(d *draft) {
	if d.denied { // a plan that may not use the tool is not told about its params and results
		d.Tool = nil
		return
	}
	d.unfit = !c.checkArgs(d, d.Tool, d.Source.Params, d.Source.ToolNode, &d.Params, nil)
	if d.Target != nil && d.Target.Picked && !d.bad {
		for _, o := range d.Target.Owners {
			d.unfit = !c.checkArgs(d, o, d.Source.Params, d.Source.ToolNode, &d.Params, nil) || d.unfit
			c.checkPicked(d, o)
		}
	}
	rest := d.Source.Rest
	if rest == nil || rest.Fallback == nil || d.Fallback == nil {
		return
	}
	params, args := d.Source.Params, &d.Params
	if rest.Fallback.Own {
		params, args = rest.Fallback.Params, d.Fallback.Params
	}
	d.fixed = rest.FallbackNode.IsZero()
	for _, t := range d.Fallback.Target.meets() {
		c.checkArgs(d, t, params, rest.Fallback.ToolNode, args, nil)
		c.checkFallback(d, t)
	}
	d.fixed = false
}

// lowerRare lowers the members that few calls have.
func (c *lowerer) lowerRare(d *draft) {
	src := d.Source.Rest
	if src == nil {
		return
	}
	r := &Rare{
		Retry:     src.Retry,
		Timeout:   src.Timeout,
		OnFailure: src.OnFailure,
		Approve:   src.Approve,
		Tokens:    src.EstTokens,
		Cost:      src.EstCost,
		Instance:  src.Instance,
	}
	d.Rare = r
	if src.HasOutput {
		r.Result = src.Output.AppendJSON(nil)
	}
	own := c.doc.Calls[d.Source.Index].Rest
	if src.When != nil {
		d.fixed = src.WhenNode.IsZero()
		d.When = c.lowerExpr(d, src.When, true)
	}
	d.fixed = own == nil || own.ScopesNode.IsZero()
	for _, s := range src.Scopes {
		r.Scopes = append(r.Scopes, c.lowerExpr(d, s.Ref, true))
	}
	d.fixed = false
	r.HasScopes = !src.ScopesNode.IsZero()
	if !src.Expect.IsZero() && src.Expect.Kind() == lang.Object {
		r.Expect = c.schema(src.Expect, src.Expect.AppendJSON(nil))
	}
	c.lowerDependsOn(d, src)
	c.lowerFallback(d, src)
	r.Undo = undoOf(src.Undo)
	c.findDelegate(d, src)
}

func (c *lowerer) lowerDependsOn(d *draft, src *lang.Rest) {
	if len(src.DependsOn) == 0 {
		return
	}
	byID := c.byID()
	for _, dep := range src.DependsOn {
		i, ok := byID[dep.Name]
		if ok {
			d.DependsOn = append(d.DependsOn, i)
			continue
		}
		if c.growing {
			d.awaits = true
			continue
		}
		c.errorf(diag.UnknownCall, dep.Node.Loc(), "no call is named %q", dep.Name).
			inside(d, dep.Node.Span()).suggestString(dep.Name, maps.Keys(byID))
	}
	slices.Sort(d.DependsOn)
	d.DependsOn = slices.Compact(d.DependsOn)
}

func (c *lowerer) lowerFallback(d *draft, src *lang.Rest) {
	f := src.Fallback
	if f == nil || f.Tool == "" { // reported by the reader
		return
	}
	d.fixed = src.FallbackNode.IsZero()
	defer func() { d.fixed = false }()
	t, ok := c.cat.Lookup(f.Tool)
	if !ok {
		c.unknownTool(d.loc(f.ToolNode), f.Tool).inside(d, d.span(f.ToolNode.Span()))
		return
	}
	if def := c.factsOf(t).defaults; t.Source == tool.BuiltIn || def != nil && def.Rest != nil && def.Rest.Delegate != "" {
		c.errorf(diag.BadDelegate, d.loc(f.ToolNode), "a fallback can't delegate or choose, as %q does", f.Tool).inside(d, d.span(f.ToolNode.Span()))
		return
	}
	target, ok := c.target(d, t, f.Activity, f.ActivityNode, f.ToolNode)
	if !ok {
		return
	}
	out := &Fallback{Target: target, Tool: t, Activity: target.Activity, Timeout: f.Timeout, Undo: undoOf(f.Undo)}
	if def := c.factsOf(t).defaults; f.TimeoutNode.IsZero() && def != nil && def.Rest != nil {
		out.Timeout = def.Rest.Timeout
	}
	if out.Timeout == 0 {
		out.Timeout = target.Timeout
	}
	if out.Activity == nil {
		out.Activity, _ = c.model(target)
	}
	if out.Timeout == 0 {
		out.Timeout = target.Timeout
	}
	if f.Own {
		params := c.template(d, f.Params, true)
		out.Params = &params
	}
	d.Fallback = out
}

// undoOf converts an _undo; nil if there is none.
func undoOf(u *lang.Undo) *tool.Undo {
	switch {
	case u == nil:
		return nil
	case u.Tool == "":
		return &tool.Undo{}
	}
	return &tool.Undo{Tool: u.Tool, Params: u.ParamsJSON(), WhenUncertain: u.WhenUncertain}
}

// findActivity finds what runs the call.
func (c *lowerer) findActivity(d *draft) {
	var name string
	var node lang.Node
	if r := d.Source.Rest; r != nil {
		name, node = r.Activity, r.ActivityNode
	}
	if d.Delegate != nil {
		c.delegateEffects(d)
		d.bad = !c.permitted(d, d.Target, d.Source.ToolNode) || d.bad
		if name != "" {
			c.warnf(diag.UnknownActivity, node.Loc(), "the activity %q is not used: the call runs a document", name).in(d, "/_activity")
		}
		return
	}
	target, ok := c.target(d, d.Tool, name, node, d.Source.ToolNode)
	d.Target, d.Effects = target, target.Effects
	if !ok {
		d.bad = true
		return
	}
	d.Activity = target.Activity
	c.checkRefused(d)
	d.Repeatable = d.Effects.Repeatable()
	if d.Fallback != nil {
		d.Effects = d.Effects.Either(d.Fallback.Target.Effects)
	}
	c.inheritApproval(d)
	if target.Timeout != 0 && d.Timeout == 0 {
		r := *d.Rare
		r.Timeout = target.Timeout
		d.Rare = &r
	}
}

// inheritApproval makes a call require approval if a definition requires it that the call has to
// meet, or that its fallback has to meet.
func (c *lowerer) inheritApproval(d *draft) {
	told := d.Target.Approve
	if d.Fallback != nil && !told.Needed {
		told = d.Fallback.Target.Approve
	}
	if !told.Needed || d.Approve.Needed {
		return
	}
	r := *d.Rare
	r.Approve = told
	d.Rare = &r
}

// checkRefused reports params that the activity of a call is known to refuse.
func (c *lowerer) checkRefused(d *draft) {
	r, ok := d.Activity.(tool.Refuser)
	if !ok {
		return
	}
	for _, m := range d.Source.Params {
		lit, known := c.literalOf(m.Value)
		if !known {
			continue
		}
		err := r.Refuses(m.Name, lit)
		if err == nil {
			continue
		}
		why := err.Error()
		if e := (*tool.Error)(nil); errors.As(err, &e) {
			why = e.Message
		}
		c.errorf(diag.NotAllowed, d.loc(m.Value), "the tool %q refuses this %s: %s", d.Tool.Definition.Name, m.Name, why).
			inside(d, d.span(m.Value.Span()))
	}
}

// runs reports whether something runs the call: it is not latent.
func (c *Call) runs() bool {
	return c.Activity != nil || c.Choose != nil || c.Delegates()
}

// Delegates reports whether the call runs another document. A call that delegates to "anonymous"
// does not: it is latent.
func (c *Call) Delegates() bool { return c.Delegate != nil && c.Delegate.Name != Anonymous }

// Runner returns the activity that makes the call's result, or the model that makes it if the call
// is latent; nil if there is none.
func (c *Call) Runner() tool.Activity {
	if c.Activity == nil {
		return c.Model
	}
	return c.Activity
}

// checkResult checks the result that the plan holds for the call.
func (c *lowerer) checkResult(d *draft) {
	if d.Result == nil {
		return
	}
	rest := d.Source.Rest
	switch {
	case d.runs() && c.doc.Profile.ResultsStand:
		return // results of the tool are checked when they are made
	case d.runs():
		c.warnf(diag.ResultIgnored, rest.Output.Loc(), "the result in _output is not used: the tool %q has an implementation, which is run", d.Source.Tool).
			in(d, "/_output")
		r := *d.Rare
		r.Result = nil
		d.Rare = &r
		return
	}
	schema, value := d.Tool.Definition.Output, d.Result
	if index, v, ok := d.Chosen(d.Result); ok {
		schema, value = d.ResultSchema(index), v
		if index < 0 {
			c.errorf(diag.BadLiteral, rest.Output.Loc(), "the outcome of this result is not among those of the output path").
				related(c.at(d.outputSpan()), "one of these happens").in(d, "/_output")
			return
		}
	}
	if schema != nil {
		for _, v := range c.violations(schema, value) {
			at, _ := rest.Output.At(v.Instance)
			c.errorf(diag.BadLiteral, at.Loc(), "the tool %q does not give this result: %s: %s", d.Source.Tool, orRoot(v.Instance), v.Message).
				related(d.Tool.Definition.Loc, "declared here").in(d, "/_output"+v.Instance)
		}
	}
	if d.Expect != nil {
		for _, v := range c.violations(d.Expect, value) {
			c.errorf(diag.BadLiteral, rest.Output.Loc(), "the result is not what _expect says: %s: %s", orRoot(v.Instance), v.Message).
				related(rest.Expect.Loc(), "expected here").in(d, "/_output")
		}
	}
	c.checkResultInState(d, value)
}

// checkResultInState checks a known result against the schemas of the paths that it is written to.
func (c *lowerer) checkResultInState(d *draft, value json.RawMessage) {
	if len(d.Alternatives) != 1 || d.Method != state.Set {
		return
	}
	for _, w := range d.Alternatives[0].Writes {
		for _, s := range w.Schemas {
			for _, v := range c.violations(s, value) {
				c.errorf(diag.BadResult, d.Source.Rest.Output.Loc(), "the schema does not allow this result at %s: %s: %s", w.Path, orRoot(v.Instance), v.Message).
					in(d, "/_output")
			}
		}
	}
}

// checkOutcomes checks that each outcome that the tool declares is one of the alternatives of the
// call.
func (c *lowerer) checkOutcomes(d *draft) {
	if len(d.Alternatives) < 2 {
		return
	}
	for _, o := range d.Tool.Definition.Outcomes {
		_, n := d.alternative(o.Name)
		if n == 1 {
			continue
		}
		what := "no alternative"
		if n > 1 {
			what = "two alternatives"
		}
		c.errorf(diag.FixedByTool, c.at(d.outputSpan()), "the outcome %q of the tool %q fits %s of this output path", o.Name, d.Source.Tool, what).
			related(d.Tool.Definition.Loc, "declared here").inside(d, d.outputSpan())
	}
}
