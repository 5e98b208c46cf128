package exec

import (
	"fmt"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/tool"
)

// What a call uses is known only when its answer arrives, so a budget is enforced twice (execution
// §7). An attempt is not made if its estimate would exceed the budget, or if it uses a model and
// nothing is left. Once an answer has exceeded the budget, nothing more is started; that answer is
// kept, since it is paid for.

// spending counts what a run has used of its budgets.
type spending struct {
	started int // number of calls
	usage   tool.Usage
}

// refuses says which budget of the options the next attempt of a call would exceed, or returns "".
// attempts is the number of attempts that the call has had.
func (s *spending) refuses(o *Options, p *compile.Call, attempts int) string {
	if attempts == 0 && o.MaxSteps > 0 && s.started >= o.MaxSteps {
		return fmt.Sprintf("the run would start more than %d calls", o.MaxSteps)
	}
	if o.Dry != nil {
		return ""
	}
	exceeds := func(spent, estimate, most float64) bool {
		uses := p.Model != nil || estimate > 0
		return most > 0 && uses && (spent >= most*(1-rounding) || spent+estimate > most*(1+rounding))
	}
	switch {
	case exceeds(float64(s.usage.Tokens), p.Tokens, o.MaxTokens):
		return fmt.Sprintf("the run has used %d tokens, and with the call %q would use more than %g", s.usage.Tokens, p.ID, o.MaxTokens)
	case exceeds(s.usage.Cost, p.Cost, o.MaxCost):
		return fmt.Sprintf("the run has cost %g, and with the call %q would cost more than %g", s.usage.Cost, p.ID, o.MaxCost)
	}
	return ""
}

// rounding is the tolerance when sums of costs are compared with a budget: 0.1 and 0.2 are 0.3.
const rounding = 1e-9

// over says which budget of the options has been exceeded, or returns "".
func (s *spending) over(o *Options) string {
	switch most, cost := o.MaxTokens, o.MaxCost; {
	case most > 0 && float64(s.usage.Tokens) > most:
		return fmt.Sprintf("the run has used %d tokens; the budget is %g", s.usage.Tokens, most)
	case cost > 0 && s.usage.Cost > cost*(1+rounding):
		return fmt.Sprintf("the run has cost %g; the budget is %g", s.usage.Cost, cost)
	}
	return ""
}

// spend adds the usage of an attempt to that of the run, and stops the run if it exceeds a budget.
// The caller holds mu.
func (p *pool) spend(u tool.Usage) {
	if u == (tool.Usage{}) || p.root.closed {
		return
	}
	p.usage = p.usage.Plus(u)
	if why := p.over(&p.opts); why != "" {
		p.overBudget(why)
	}
}

// overBudget stops the whole run: it fails or, if the strategy is Ask, pauses until somebody raises
// the budget. The caller holds mu.
func (p *pool) overBudget(reason string) {
	s := p.root
	if p.opts.OnFailure == Ask {
		s.halt(Paused, reason)
		return
	}
	if s.stopped.status == "" {
		s.findings = append(s.findings, diag.Finding{
			Code: diag.OverBudget, Severity: diag.Error, Message: reason,
			Loc: s.prog().Loc(s.prog().Document.Root.Span()),
		})
	}
	s.halt(Failed, reason)
}

// used returns the usage of the last attempt, for the one event that reports it; nil if there is
// none to report. The caller holds mu.
func (c *call) used() *tool.Usage {
	u := c.spent
	c.spent = nil
	return u
}
