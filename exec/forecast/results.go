package forecast

import (
	"context"
	"sync"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/tool"
)

// Results returns a function that returns the result of a call in a dry run: a recorded one, or one
// that is made up. The same call with the same tool has the same result each time, whatever its
// params are, even if ctx is done. The function may be called by several goroutines at once.
func Results(ctx context.Context, prog *compile.Program, opts *Options) (func(*exec.Trial) tool.Result, error) {
	w, err := newWalk(prog, opts)
	if err != nil {
		return nil, err
	}
	w.meter = schemas.NewMeter(context.WithoutCancel(ctx), drySteps)
	type call struct {
		site
		tool string
	}
	var mu sync.Mutex
	made := map[call]tool.Result{}
	return func(t *exec.Trial) tool.Result {
		mu.Lock()
		defer mu.Unlock()
		at := call{site{t.Instance, t.Path}, t.Request.Tool}
		res, ok := made[at]
		if !ok {
			res, _ = w.try(context.WithoutCancel(ctx), t) // it fails only if Options.Branch says so
			made[at] = res
		}
		return res
	}, nil
}
