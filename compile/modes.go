package compile

import (
	"fmt"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
)

// modes checks what a plan's mode, the budget and the absence of a model forbid.
type modes struct {
	*premises
	*lowered
}

// checkModes checks what a plan's mode, the budget and the absence of a model forbid
// (plan-language §10, execution §7). It reports whether the plan is lazy.
func checkModes(p *premises, low *lowered) (lazy bool) {
	c := &modes{p, low}
	var whole survey
	for i := range c.calls {
		whole.add(c.unit, &c.calls[i])
	}
	lazy = c.opts.Lazy || c.doc.Mode == lang.Lazy || whole.lazy || c.within != nil && c.within.lazy
	for i := range c.calls {
		d := &c.calls[i]
		if rest := d.Source.Rest; lazy && rest != nil && rest.HasOutput {
			c.errorf(diag.LazyWithResults, rest.Output.Loc(), "a lazy plan holds no results: nothing of it has run yet").
				in(d, "/_output")
		}
		if d.Tool == nil || d.bad || d.runs() || d.Result != nil {
			continue
		}
		if d.Tool.Source == tool.BuiltIn && d.Tool.Definition.Fixed["_delegate"] != nil && d.Delegate == nil {
			continue // an empty loop, which was reported
		}
		switch {
		case !lazy && len(d.Alternatives) > 1:
			c.errorf(diag.OpenChoice, c.at(d.outputSpan()), "nothing runs the latent tool %q, so an eager plan must say which of these outcomes happened", d.Source.Tool).
				inside(d, d.outputSpan())
		case c.opts.Run:
			c.findModel(d)
		}
	}
	c.checkBudget(&whole)
	return lazy
}

// checkBudget checks the estimated usage of a plan, with the documents that it delegates to.
func (c *modes) checkBudget(s *survey) {
	whole, b := c.at(c.doc.Root.Span()), c.opts.Budget
	if own := len(c.calls); b.Steps > 0 && s.calls > float64(b.Steps) {
		more := ""
		if s.calls > float64(own) {
			more = fmt.Sprintf(", and %s more in the documents that it delegates to", inDigits(s.calls-float64(own)))
		}
		c.errorf(diag.OverBudget, whole, "the plan has %s%s; the budget is %d", count(own, "call"), more, b.Steps)
	}
	if b.Tokens > 0 && s.tokens > b.Tokens {
		c.errorf(diag.OverBudget, whole, "the plan is estimated at %g tokens; the budget is %g", s.tokens, b.Tokens)
	}
	if b.Cost > 0 && s.cost > b.Cost {
		c.errorf(diag.OverBudget, whole, "the plan is estimated to cost %g; the budget is %g", s.cost, b.Cost)
	}
}

// inDigits formats a number of calls, with an exponent from 1e15.
func inDigits(n float64) string {
	if n >= 1e15 {
		return fmt.Sprintf("%.3g", n)
	}
	return fmt.Sprintf("%.0f", n)
}

// findModel finds the model for a latent call whose result the plan does not hold. A model's work
// can be repeated.
func (c *modes) findModel(d *draft) {
	if d.Delegate != nil && d.Delegate.Loop != Once {
		c.errorf(diag.NobodyMakesIt, d.Source.ToolNode.Loc(), "the tool %q can't delegate to %q: a model makes one call, and this is a loop", d.Source.Tool, Anonymous).
			in(d, "/_tool")
		return
	}
	m, err := c.model(d.Target)
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
