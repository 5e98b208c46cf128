package forecast

import (
	"context"
	"errors"
	"maps"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/schemas"
)

// MaxCombinations is the default limit on the combinations of outcomes that AllBranches tries.
const MaxCombinations = 100

// Branches holds dry runs of a program, one for each combination of outcomes that its calls can
// have together.
type Branches struct {
	Combinations []Combination `json:"combinations"`
	// More reports that there are more combinations than were tried.
	More bool `json:"more"`
}

// Combination is a combination of outcomes, and what the run then does.
type Combination struct {
	Branch  map[string]string `json:"branch"` // the outcome of each call that runs and has several
	Status  exec.Status       `json:"status"`
	Calls   []string          `json:"calls"`   // that would run, by their paths
	Skipped []string          `json:"skipped"` // that would be skipped
}

// AllBranches makes a dry run for every combination of the outcomes that calls can have. Only calls
// that run count, so that no two combinations lead to the same run. It stops after limit
// combinations; 0 is MaxCombinations. Branches that the options name are kept.
func AllBranches(ctx context.Context, prog *compile.Program, opts *Options, limit int) (*Branches, error) {
	if limit <= 0 {
		limit = MaxCombinations
	}
	base, err := newWalk(prog, opts)
	if err != nil {
		return nil, err
	}
	base.meter, base.checks = schemas.NewMeter(ctx, drySteps), schemas.NewMeter(ctx, checkSteps)
	all := &Branches{Combinations: []Combination{}}
	todo := []map[string]string{base.opts.Branch}
	for len(todo) > 0 {
		if len(all.Combinations) == limit {
			all.More = true
			break
		}
		branch := todo[len(todo)-1]
		todo = todo[:len(todo)-1]
		w := base.withBranch(branch)
		dry, err := w.run(ctx)
		if errors.Is(err, ErrGivenUp) && len(all.Combinations) > 0 {
			all.More = true
			break
		}
		if err != nil {
			return nil, err
		}
		base.repeated = max(0, base.repeated-max(0, w.started-len(base.of)))
		combination, open := combine(dry, branch)
		all.Combinations = append(all.Combinations, combination)
		for i := len(open) - 1; i >= 0; i-- { // from the last, whose calls before it are decided, to the first
			todo = append(todo, open[i]...)
		}
	}
	return all, nil
}

// withBranch returns a walk that assumes these branches.
func (w *walk) withBranch(branch map[string]string) *walk {
	opts := w.opts
	opts.Branch = branch
	return &walk{prog: w.prog, opts: opts, of: w.of, need: w.need, meter: w.meter, checks: w.checks, repeated: w.repeated, bytes: w.bytes, trials: map[site]*trial{}, given: map[site]value{}, doubts: map[site][]doubt{}, made: w.made}
}

// combine returns what a dry run did, and the branches that it did not take: for each call whose
// outcome was open, the other outcomes, together with the outcomes that the calls before it had.
func combine(dry *DryRun, branch map[string]string) (c Combination, open [][]map[string]string) {
	c = Combination{Branch: map[string]string{}, Status: dry.Status, Calls: []string{}, Skipped: []string{}}
	taken := maps.Clone(branch)
	if taken == nil {
		taken = map[string]string{}
	}
	for i := range dry.Calls {
		call := &dry.Calls[i]
		if !call.WouldRun() {
			if call.Status == exec.Skipped {
				c.Skipped = append(c.Skipped, call.Path)
			}
			continue
		}
		c.Calls = append(c.Calls, call.Path)
		stem := withoutItems(call.Path)
		if call.Outcomes == nil {
			continue
		}
		if name, settled := taken[stem]; settled {
			c.Branch[stem] = name
			continue
		}
		var others []map[string]string
		for k := len(call.Outcomes) - 1; k > 0; k-- {
			other := maps.Clone(taken)
			other[stem] = call.Outcomes[k]
			others = append(others, other)
		}
		open = append(open, others)
		taken[stem] = call.Outcomes[0]
		c.Branch[stem] = call.Outcomes[0]
	}
	return c, open
}
