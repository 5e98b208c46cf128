package compile

import (
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/state"
	"github.com/plc-lang/plc/tool"
)

// toolFacts is what calls need to know of a tool, found out once.
type toolFacts struct {
	defaults *lang.Call // the members that the definition fixes; nil when none
	required []string   // underscore members that a call must have
	whole    bool       // the params have rules that no single param shows

	forbidden bool // by the policy
}

// noRare is what calls without rare members share; nobody writes it.
var noRare = &Rare{}

// lowerCalls turns the calls of the document into drafts, and checks each by itself.
func (c *checker) lowerCalls() {
	c.calls, c.made = make([]draft, len(c.doc.Calls)), make([]Call, len(c.doc.Calls))
	for i := range c.doc.Calls {
		c.calls[i].Call = &c.made[i]
		c.lowerCall(&c.calls[i], &c.doc.Calls[i])
	}
}

func (c *checker) lowerCall(d *draft, src *lang.Call) {
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
	c.lowerParams(d)
	c.findChooser(d)
	c.chunks.ref = d.refs
	d.refs = keep(&c.chunks.refs, d.refs)
	if d.Tool != nil {
		c.checkParams(d)
		c.findActivity(d)
		c.checkResult(d)
		c.checkOutcomes(d)
	}
}

func (c *checker) findTool(d *draft) {
	t, ok := c.tool(d.Source.Tool)
	if d.Tool = t; !ok {
		d.bad = true
		f := c.unknownTool(d.Source.ToolNode.Loc(), d.Source.Tool).in(d, "/_tool")
		if rest := d.Source.Rest; rest != nil && rest.Delegate != "" {
			f.related(rest.DelegateNode.Loc(), "its tool has to be defined too, be it by {%q: {}} among the tools", d.Source.Tool)
		}
		return
	}
	d.bad = !c.permitTool(d, t, d.Source.ToolNode)
}

// tool is the tool of this name. Most calls are of the same few, one after the other.
func (c *checker) tool(name string) (*tool.Tool, bool) {
	if c.lastTool.found != nil && c.lastTool.by == name {
		return c.lastTool.found, true
	}
	t, ok := c.cat.Lookup(name)
	if !ok {
		t, ok = tool.Step(name)
	}
	if ok {
		c.lastTool = last[string, *tool.Tool]{name, t}
	}
	return t, ok
}

// permitTool reports a tool that the policy does not permit.
func (c *checker) permitTool(d *draft, t *tool.Tool, n lang.Node) bool {
	if !c.factsOf(t).forbidden {
		return true
	}
	c.errorf(diag.NotPermitted, d.loc(n), "the policy does not permit the tool %q", t.Definition.Name).
		inside(d, d.span(n.Span()))
	return false
}

// permits reports whether the policy permits a name.
func (c *checker) permits(name string) bool {
	return !slices.Contains(c.opts.Deny, name) && (c.opts.Allow == nil || slices.Contains(c.opts.Allow, name))
}

// permitsActivity reports whether a call of t may use the activity of this name. An
// allow-list need not name those that trusted definitions pick for their own tool.
func (c *checker) permitsActivity(t *tool.Tool, name string) bool {
	if t.Source != "plan" && (name == t.Definition.Activity || name == t.Definition.Name) {
		return !slices.Contains(c.opts.Deny, name)
	}
	return c.permits(name)
}

// factsOf finds out what calls need to know of a tool.
func (c *checker) factsOf(t *tool.Tool) *toolFacts {
	if t == c.lastFacts.by {
		return c.lastFacts.found
	}
	f, ok := c.facts[t]
	if !ok {
		f = c.findFacts(t)
	}
	c.lastFacts = last[*tool.Tool, *toolFacts]{t, f}
	return f
}

func (c *checker) findFacts(t *tool.Tool) *toolFacts {
	def := t.Definition
	f := &toolFacts{forbidden: !c.permits(def.Name)}
	c.facts[t] = f
	for name, v := range members(def.Raw) {
		switch name {
		case "required":
			var all []string
			if json.Unmarshal(v, &all) == nil {
				f.required = slices.DeleteFunc(all, func(s string) bool {
					return !strings.HasPrefix(s, "_") || s == "_tool" || s == "_output"
				})
			}
		case "allOf", "anyOf", "oneOf", "not", "if", "dependentRequired", "dependentSchemas", "dependencies",
			"minProperties", "maxProperties", "propertyNames", "$ref", "$dynamicRef", "inputSchema", "parameters", "function":
			f.whole = true
		}
	}
	f.defaults = c.defaultsOf(def)
	return f
}

// defaultsOf reads the members that a definition fixes as a call would have them.
func (c *checker) defaultsOf(def *tool.Definition) *lang.Call {
	text := []byte(`[{"_tool":"t"`)
	n := len(text)
	for name, fixed := range def.Fixed {
		if fixed.Const == nil || name == "_tool" || name == "_activity" || name == "_id" {
			continue
		}
		text = append(append(append(text, ','), appendString(nil, name)...), ':')
		text = append(text, fixed.Const...)
	}
	if len(text) == n {
		return nil
	}
	doc, findings := lang.Parse(diag.NewFile("tool "+def.Name, append(text, `}]`...)), nil)
	for _, f := range findings {
		if f.Severity == diag.Error {
			c.errorf(diag.FixedByTool, c.orFile(def.Loc), "the tool %q fixes what no call can have: %s", def.Name, f.Message)
			return nil
		}
	}
	return &doc.Calls[0]
}

// withDefaults is the call with what its tool fixes and it leaves out.
func (c *checker) withDefaults(d *draft) *lang.Call {
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

// checkFixed checks a call's underscore members against what its tool fixes or
// limits.
func (c *checker) checkFixed(d *draft) {
	def := d.Tool.Definition
	if len(def.Fixed) == 0 && len(c.factsOf(d.Tool).required) == 0 {
		return
	}
	own := d.Source.Node
	for m := range own.Members() {
		fixed, ok := def.Fixed[m.Name]
		if !ok || fixed.Schema == nil || m.Name == "_output" {
			continue
		}
		if v := violations(fixed.Schema, m.Value.AppendJSON(nil)); len(v) > 0 {
			f := c.errorf(diag.FixedByTool, m.Value.Loc(), "the tool %q does not allow this %s: %s", def.Name, m.Name, v[0].Message).
				related(def.Loc, "declared here").in(d, "/"+m.Name)
			if fixed.Const != nil {
				f.replace(string(fixed.Const))
			}
		}
	}
	for _, name := range c.factsOf(d.Tool).required {
		if _, ok := own.Member(name); ok {
			continue
		}
		if fixed := def.Fixed[name]; fixed != nil && fixed.Const != nil {
			continue
		}
		c.errorf(diag.FixedByTool, own.Loc(), "the tool %q wants a call to say %s", def.Name, name).
			related(def.Loc, "declared here").in(d, "")
	}
}

// lowerParams makes the template of the params.
func (c *checker) lowerParams(d *draft) {
	d.Params = c.template(d, d.Source.Params, false)
}

// checkParams checks the params of a call, and of its own fallback, against its
// tool's definition.
func (c *checker) checkParams(d *draft) {
	d.unfit = !c.checkArgs(d, d.Tool, d.Source.Params, d.Source.ToolNode, &d.Params, nil)
	rest := d.Source.Rest
	if rest == nil || rest.Fallback == nil || d.Fallback == nil {
		return
	}
	params, args := d.Source.Params, &d.Params
	if rest.Fallback.Own {
		params, args = rest.Fallback.Params, d.Fallback.Params
	}
	d.fixed = rest.FallbackNode.IsZero()
	c.checkArgs(d, d.Fallback.Tool, params, rest.Fallback.ToolNode, args, nil)
	d.fixed = false
}

// checkArgs checks params against a definition: those that are required, those
// that are unknown, and the literals among them. It reports whether nothing was wrong.
func (c *checker) checkArgs(d *draft, t *tool.Tool, params []lang.Member, toolNode lang.Node, args *Template, beside beside) bool {
	def, sound := t.Definition, true
	for _, name := range def.Required {
		if !slices.ContainsFunc(params, func(m lang.Member) bool { return m.Name == name }) && !beside.has(name) {
			sound = false
			f := c.errorf(diag.MissingParam, d.loc(toolNode), "%s requires the param %q", spelled(t), name).
				related(def.Loc, "declared here").inside(d, d.span(toolNode.Span()))
			if !f.kept() {
				continue
			}
			if near, ok := f.nearest(name, undeclared(params, def)); ok {
				f.Message += fmt.Sprintf("; did you mean it by %q?", near)
			}
		}
	}
	for i := range params {
		if !c.checkArg(d, t, params, &params[i]) {
			sound = false
		}
	}
	if lit, ok := args.Literal(); sound && ok && beside == nil && def.Params != nil && c.factsOf(t).whole {
		for _, v := range violations(def.Params, lit) {
			c.errorf(diag.BadLiteral, d.loc(toolNode), "the params of %q do not fit: %s: %s", def.Name, orRoot(v.Instance), v.Message).
				related(def.Loc, "declared here").inside(d, d.span(toolNode.Span()))
			sound = false
		}
	}
	return sound
}

// undeclared are the names of params that a definition has no word of but lets pass.
func undeclared(params []lang.Member, def *tool.Definition) iter.Seq[string] {
	return func(yield func(string) bool) {
		for i := range params {
			if name := params[i].Name; def.Param[name] == nil && !def.Closed && !yield(name) {
				return
			}
		}
	}
}

// spelled is a tool, or what stands for the input of a document, as findings call it.
func spelled(t *tool.Tool) string {
	if t.Source == fromDocument {
		return "the document " + quote(t.Definition.Name)
	}
	return fmt.Sprintf("the tool %q", t.Definition.Name)
}

// checkArg checks one of the params; it reports whether nothing was wrong.
func (c *checker) checkArg(d *draft, t *tool.Tool, params []lang.Member, m *lang.Member) bool {
	def := t.Definition
	schema := def.Param[m.Name]
	if schema == nil && def.Params != nil {
		sub, has := def.Params.At(schemas.Step{Name: m.Name})
		if has == schemas.Never || has == schemas.Unknown && def.Closed {
			c.unknownParam(d, t, params, m)
			return false
		}
		schema = sub
	}
	if schema == nil {
		return true
	}
	lit, ok := c.literalOf(m.Value)
	if !ok {
		return true
	}
	return c.checkLiteral(d, m, lit, schema, def)
}

func (c *checker) unknownParam(d *draft, t *tool.Tool, params []lang.Member, m *lang.Member) {
	def := t.Definition
	f := c.errorf(diag.UnknownParam, c.at(d.span(m.Key)), "%s has no param %q", spelled(t), m.Name).
		related(def.Loc, "declared here").inside(d, d.span(m.Value.Span()))
	near, ok := f.suggest(m.Name, maps.Keys(def.Param))
	if ok && !slices.ContainsFunc(params, func(m lang.Member) bool { return m.Name == near }) {
		f.replace(quote(near))
	}
}

// checkLiteral validates a literal; it reports whether it is valid.
func (c *checker) checkLiteral(d *draft, m *lang.Member, lit json.RawMessage, s *schemas.Schema, def *tool.Definition) bool {
	if m.Value.Span().Len() == 0 {
		return true // nobody wrote it, which was reported
	}
	bad := violations(s, lit)
	for _, v := range bad {
		at, _ := m.Value.At(v.Instance)
		name := m.Name + strings.ReplaceAll(v.Instance, "/", ".")
		c.errorf(diag.BadLiteral, d.loc(at), "the param %q of %q does not take this: %s", name, def.Name, v.Message).
			related(def.Loc, "declared here%s", pointed(v.Keyword)).inside(d, d.span(at.Span()))
	}
	return len(bad) == 0
}

// literalOf is the JSON of a value without expressions in it.
func (c *checker) literalOf(n lang.Node) (json.RawMessage, bool) {
	if n.IsReference() {
		return nil, false
	}
	plain := true
	for s := range n.TextNodes() {
		plain = false
		if s.IsReference() {
			return nil, false
		}
		t := c.texts.Text(s)
		if len(t.Parts) == 0 {
			return nil, false // it was not understood
		}
		for _, p := range t.Parts {
			if p.Expr != nil {
				return nil, false
			}
		}
	}
	if plain {
		return n.AppendJSON(nil), true
	}
	var t Template
	c.appendValue(nil, &t, n, false)
	return t.Literal()
}

// lowerRare lowers the members that few calls have.
func (c *checker) lowerRare(d *draft) {
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
	c.findDelegate(d, src)
}

func (c *checker) lowerDependsOn(d *draft, src *lang.Rest) {
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

func (c *checker) lowerFallback(d *draft, src *lang.Rest) {
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
	if !c.permitTool(d, t, f.ToolNode) {
		return
	}
	if def := c.factsOf(t).defaults; t.Source == tool.BuiltIn || def != nil && def.Rest != nil && def.Rest.Delegate != "" {
		c.errorf(diag.BadDelegate, d.loc(f.ToolNode), "a fallback can't delegate or choose, as %q does", f.Tool).inside(d, d.span(f.ToolNode.Span()))
		return
	}
	impl, _ := c.resolveActivity(d, t, f.Activity, f.ActivityNode)
	out := &Fallback{Tool: t, Activity: impl.Activity, Timeout: f.Timeout, effects: c.effectsOf(t, f.Activity, f.ActivityNode)}
	if out.Activity == nil {
		out.Activity, _ = c.model(impl)
	}
	if out.Timeout == 0 {
		out.Timeout = impl.Timeout
	}
	if f.Own {
		params := c.template(d, f.Params, true)
		out.Params = &params
	}
	d.Fallback = out
}

// findActivity finds what runs the call.
func (c *checker) findActivity(d *draft) {
	var name string
	var node lang.Node
	if r := d.Source.Rest; r != nil {
		name, node = r.Activity, r.ActivityNode
	}
	if d.Delegate != nil {
		c.delegateEffects(d)
		if name != "" {
			c.warnf(diag.UnknownActivity, node.Loc(), "the activity %q is not used: the call runs a document", name).in(d, "/_activity")
		}
		return
	}
	d.Effects = c.effectsOf(d.Tool, name, node)
	impl, ok := c.resolveActivity(d, d.Tool, name, node)
	if !ok {
		d.bad = true
		return
	}
	if d.Activity = impl.Activity; d.Activity == nil {
		latent := impl
		d.latent = &latent
	}
	c.checkRefused(d)
	d.Repeatable = d.Effects.Repeatable()
	if d.Fallback != nil {
		d.Effects = d.Effects.Either(d.Fallback.effects)
	}
	if impl.Timeout != 0 && d.Timeout == 0 {
		r := *d.Rare
		r.Timeout = impl.Timeout
		d.Rare = &r
	}
}

// checkRefused reports what the activity of a call is known to refuse.
func (c *checker) checkRefused(d *draft) {
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

// picked is the activity that a call or else the definition of its tool picks; ok is
// false when neither does.
func picked(t *tool.Tool, activity string, node lang.Node) (name string, ok bool) {
	if !node.IsZero() {
		return activity, true
	}
	return t.Definition.Activity, t.Definition.HasActivity
}

// effectsOf are the effects of a call: those its tool declares or, when it picks
// the activity of another tool, those of either.
func (c *checker) effectsOf(t *tool.Tool, activity string, node lang.Node) tool.Effects {
	if name, ok := picked(t, activity, node); ok {
		if other, found := c.cat.Lookup(name); found && other != t {
			return t.Definition.Effects.Either(other.Definition.Effects)
		}
	}
	return t.Definition.Effects
}

// resolveActivity is the implementation of a call of t; a name that names
// nothing, or what the policy forbids, is reported.
func (c *checker) resolveActivity(d *draft, t *tool.Tool, activity string, node lang.Node) (tool.Implementation, bool) {
	impl, status := c.cat.Resolve(t, activity, !node.IsZero())
	name, ok := picked(t, activity, node)
	if node.IsZero() {
		node = d.Source.ToolNode
	}
	if ok && name != "" && !c.permitsActivity(t, name) {
		c.errorf(diag.NotPermitted, d.loc(node), "the policy does not permit the activity %q", name).
			inside(d, d.span(node.Span()))
		return tool.Implementation{}, false
	}
	if status != tool.NoActivity {
		return impl, true
	}
	c.errorf(diag.UnknownActivity, d.loc(node), "no activity is named %q", name).
		related(t.Definition.Loc, "declared here").inside(d, d.span(node.Span())).suggest(name, c.cat.Activities())
	return tool.Implementation{}, false
}

// runs reports whether something runs the call: it is not latent.
func (c *Call) runs() bool {
	return c.Activity != nil || c.Choose != nil || c.Delegates()
}

// Delegates reports whether the call runs another document. One that delegates to "anonymous"
// does not: it is latent.
func (c *Call) Delegates() bool { return c.Delegate != nil && c.Delegate.Name != Anonymous }

// Runner is what makes the call's result: its activity, or the model of a latent call;
// nil when there is none.
func (c *Call) Runner() tool.Activity {
	if c.Activity == nil {
		return c.Model
	}
	return c.Activity
}

// model is the model of a latent tool, with what stands around it, if the program is compiled for a
// run that has it.
func (c *checker) model(impl tool.Implementation) (tool.Activity, error) {
	if !c.opts.Run || c.opts.Models == nil {
		return nil, nil
	}
	m, err := c.opts.Models(impl.Model)
	if m == nil || impl.Around == nil {
		return m, err
	}
	return impl.Around(m), err
}

// findModel finds what makes a latent call that holds no result. What makes something up can
// do so again.
func (c *checker) findModel(d *draft) {
	if d.Delegate != nil && d.Delegate.Loop != Once {
		c.errorf(diag.NobodyMakesIt, d.Source.ToolNode.Loc(), "the tool %q can't delegate to %q: a model makes one call, and this is a loop", d.Source.Tool, Anonymous).
			in(d, "/_tool")
		return
	}
	var impl tool.Implementation
	if d.latent != nil {
		impl = *d.latent
	}
	m, err := c.model(impl)
	switch {
	case err != nil:
		c.errorf(diag.NobodyMakesIt, d.Source.ToolNode.Loc(), "nothing makes this call of the latent tool %q: %v", d.Source.Tool, err).in(d, "/_tool")
	case m == nil:
		c.errorf(diag.NobodyMakesIt, d.Source.ToolNode.Loc(), "the tool %q has no implementation, and there is no model to stand in for one; give it an activity in the tool file, or models: {default: …}", d.Source.Tool).
			in(d, "/_tool")
	default:
		r := *d.Rare
		r.Model = m
		d.Rare, d.Repeatable = &r, true
	}
}

// checkResult checks a result that the call already holds.
func (c *checker) checkResult(d *draft) {
	if d.Result == nil {
		return
	}
	rest := d.Source.Rest
	switch {
	case d.runs() && c.doc.Profile.ResultsStand:
		return // it was checked when it was made, if at all
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
		for _, v := range violations(schema, value) {
			at, _ := rest.Output.At(v.Instance)
			c.errorf(diag.BadLiteral, at.Loc(), "the tool %q does not give this result: %s: %s", d.Source.Tool, orRoot(v.Instance), v.Message).
				related(d.Tool.Definition.Loc, "declared here").in(d, "/_output"+v.Instance)
		}
	}
	if d.Expect != nil {
		for _, v := range violations(d.Expect, value) {
			c.errorf(diag.BadLiteral, rest.Output.Loc(), "the result is not what _expect says: %s: %s", orRoot(v.Instance), v.Message).
				related(rest.Expect.Loc(), "expected here").in(d, "/_output")
		}
	}
	c.checkResultInState(d, value)
}

// checkResultInState checks a known result against the schemas of where it goes.
func (c *checker) checkResultInState(d *draft, value json.RawMessage) {
	if len(d.Alternatives) != 1 || d.Method != state.Set {
		return
	}
	for _, w := range d.Alternatives[0].Writes {
		for _, s := range w.Schemas {
			for _, v := range violations(s, value) {
				c.errorf(diag.BadResult, d.Source.Rest.Output.Loc(), "the schema does not allow this result at %s: %s: %s", w.Path, orRoot(v.Instance), v.Message).
					in(d, "/_output")
			}
		}
	}
}

// checkOutcomes checks that each outcome the tool declares is one alternative of the call.
func (c *checker) checkOutcomes(d *draft) {
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
