package loop

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/tool/model"
)

// spend adds the tokens and the cost of a planner's reply to the usage. It doesn't count a request.
func (u *Usage) spend(r *model.Reply, prices model.Prices) {
	u.Input += r.Input
	u.Output += r.Output
	u.Cached += r.Cached
	u.Cost += prices.Cost(r.Input, r.Output)
}

// tokens returns the tokens used by the planner and the calls; cost does the same for the cost.
func (u *Usage) tokens() int64 { return u.Input + u.Output + u.Calls.Tokens }
func (u *Usage) cost() float64 { return u.Cost + u.Calls.Cost }

// spent names the limit, MaxTokens or MaxCost, that is used up, or returns "".
func (o *Options) spent(u *Usage) string {
	switch {
	case o.MaxTokens > 0 && u.tokens() >= o.MaxTokens:
		return fmt.Sprintf("the token budget of %d is used up", o.MaxTokens)
	case o.MaxCost > 0 && u.cost() >= o.MaxCost:
		return fmt.Sprintf("the cost budget of %g is used up", o.MaxCost)
	}
	return ""
}

// bound limits a run to what is left of MaxTokens and MaxCost. Tighter limits of the run stay.
func (o *Options) bound(run *exec.Options, u *Usage) {
	if o.MaxTokens > 0 {
		run.MaxTokens = least(run.MaxTokens, max(1, float64(o.MaxTokens-u.tokens())))
	}
	if o.MaxCost > 0 {
		run.MaxCost = least(run.MaxCost, max(math.SmallestNonzeroFloat64, o.MaxCost-u.cost()))
	}
}

// least returns the smaller of two bounds; a bound of 0 means no limit.
func least(bound, other float64) float64 {
	if bound == 0 {
		return other
	}
	return min(bound, other)
}

var errMaxTime = errors.New("over the time of the task")

// timed returns a context that ends when MaxTime is over. The caller must call the CancelFunc.
func (o *Options) timed(ctx context.Context) (context.Context, context.CancelFunc) {
	if o.MaxTime <= 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeoutCause(ctx, o.MaxTime, errMaxTime)
}

// late returns a message if a context made by timed ended because MaxTime is over, and ""
// otherwise.
func (o *Options) late(timed context.Context) string {
	if !errors.Is(context.Cause(timed), errMaxTime) {
		return ""
	}
	return fmt.Sprintf("the task took longer than %s", o.MaxTime)
}
