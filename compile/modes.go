package compile

import (
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
)

// checkModes checks what a plan's mode, the budget and the absence of a model
// forbid (plan-language §10, execution §7).
func (c *checker) checkModes() {
	lazy := c.opts.Lazy || c.doc.Mode == lang.Lazy
	var tokens, cost float64
	for i := range c.calls {
		d := &c.calls[i]
		tokens += d.Tokens
		cost += d.Cost
		if rest := d.Source.Rest; lazy && rest != nil && rest.HasOutput {
			c.errorf(diag.LazyWithResults, rest.Output.Loc(), "a lazy plan holds no results: nothing of it has run yet").
				in(d, "/_output")
		}
		if d.Tool == nil || d.bad || d.Activity != nil || d.Result != nil {
			continue
		}
		switch {
		case !lazy && len(d.Alternatives) > 1:
			c.errorf(diag.OpenChoice, c.at(d.outputSpan()), "nothing runs the latent tool %q, so an eager plan must say which of these outcomes happened", d.Source.Tool).
				inside(d, d.outputSpan())
		case c.opts.Run && !c.opts.Models:
			c.errorf(diag.NobodyMakesIt, d.Source.ToolNode.Loc(), "the tool %q has no implementation, and there is no model to stand in for one; give it an activity in the tool file", d.Source.Tool).
				in(d, "/_tool")
		}
	}
	whole := c.at(c.doc.Root.Span())
	b := c.opts.Budget
	if b.Steps > 0 && len(c.calls) > b.Steps {
		c.errorf(diag.OverBudget, whole, "the plan has %d calls; the budget is %d", len(c.calls), b.Steps)
	}
	if b.Tokens > 0 && tokens > b.Tokens {
		c.errorf(diag.OverBudget, whole, "the plan is estimated at %g tokens; the budget is %g", tokens, b.Tokens)
	}
	if b.Cost > 0 && cost > b.Cost {
		c.errorf(diag.OverBudget, whole, "the plan is estimated to cost %g; the budget is %g", cost, b.Cost)
	}
}
