package compile

import (
	"fmt"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
)

// checkModes checks what a plan's mode, the budget and the absence of a model
// forbid (plan-language §10, execution §7).
func (c *checker) checkModes() {
	var whole survey
	for i := range c.calls {
		whole.add(c, &c.calls[i])
	}
	c.lazy = c.opts.Lazy || c.doc.Mode == lang.Lazy || whole.lazy || c.within != nil && c.within.lazy
	for i := range c.calls {
		d := &c.calls[i]
		if rest := d.Source.Rest; c.lazy && rest != nil && rest.HasOutput {
			c.errorf(diag.LazyWithResults, rest.Output.Loc(), "a lazy plan holds no results: nothing of it has run yet").
				in(d, "/_output")
		}
		if d.Tool == nil || d.bad || d.runs() || d.Result != nil {
			continue
		}
		if d.Tool.Source == tool.BuiltIn && d.Tool.Definition.Fixed["_delegate"] != nil && d.Delegate == nil {
			continue // a loop of nothing, which was reported
		}
		switch {
		case !c.lazy && len(d.Alternatives) > 1:
			c.errorf(diag.OpenChoice, c.at(d.outputSpan()), "nothing runs the latent tool %q, so an eager plan must say which of these outcomes happened", d.Source.Tool).
				inside(d, d.outputSpan())
		case c.opts.Run:
			c.findModel(d)
		}
	}
	c.checkBudget(&whole)
}

// checkBudget checks what a plan is estimated to use up, with the documents that it
// delegates to.
func (c *checker) checkBudget(s *survey) {
	whole, b := c.at(c.doc.Root.Span()), c.opts.Budget
	if own := len(c.calls); b.Steps > 0 && s.calls > float64(b.Steps) {
		more := ""
		if s.calls > float64(own) {
			more = fmt.Sprintf(", and %g more in the documents that it delegates to", s.calls-float64(own))
		}
		c.errorf(diag.OverBudget, whole, "the plan has %d calls%s; the budget is %d", own, more, b.Steps)
	}
	if b.Tokens > 0 && s.tokens > b.Tokens {
		c.errorf(diag.OverBudget, whole, "the plan is estimated at %g tokens; the budget is %g", s.tokens, b.Tokens)
	}
	if b.Cost > 0 && s.cost > b.Cost {
		c.errorf(diag.OverBudget, whole, "the plan is estimated to cost %g; the budget is %g", s.cost, b.Cost)
	}
}
