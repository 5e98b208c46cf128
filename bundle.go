package plc

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/lang"
)

// A Bundle has all that it takes to execute a run in another process, which has neither the files
// of the plan nor a store: the texts that a record keeps. Secrets are in it by their names only.
// Its JSON can be read by the same and by newer versions of plc.
type Bundle struct {
	Version int            `json:"version"`
	Run     string         `json:"run"` // the id of the run
	Given   *journal.Given `json:"given"`
}

// bundleVersion is the newest version of the JSON of a Bundle.
const bundleVersion = 1

// Bundle returns what another process needs to execute a run of the plan, which gets a new id. The
// plan is one that Prepare returned, or a Checker with the purpose ToPreview, which needs no
// secrets. The error is a *PlanError if the plan must not run, and a *SpecError if its runs can't
// be executed in steps (exec.Stepper).
func (p *Plan) Bundle() (*Bundle, error) {
	if err := p.Err(); err != nil {
		return nil, err
	}
	if p.checker.purpose == ToCheck {
		return nil, errors.New("the plan was checked, and not prepared to run: use Engine.Prepare")
	}
	if err := p.inSteps(); err != nil {
		return nil, err
	}
	seed := p.checker.exec.Seed
	if seed == 0 {
		seed = rand.Uint64()
	}
	given, err := p.given(seed)
	if err != nil {
		return nil, err
	}
	given.Labels = maps.Clone(p.checker.spec.Labels)
	return &Bundle{bundleVersion, exec.NewID(), given}, nil
}

// inSteps returns an error that says why runs of the plan can't be executed in steps.
func (p *Plan) inSteps() error {
	const inProcess = "only a run in one process can do this, so not one of another engine"
	switch s := &p.checker.spec; {
	case !s.Instances.isZero() || p.Program.Template:
		return &SpecError{"instances", ": " + inProcess}
	case p.Program.Mode == lang.Lazy:
		return &SpecError{"lazy", ": " + inProcess + "; plc plan and plc approve show and approve the plan before"}
	case p.mayBeUndone():
		return &SpecError{"on-failure", "undo: " + inProcess}
	case p.mayBeReplaced():
		return &SpecError{"on-failure", "replan, and --revise-at: " + inProcess}
	case s.Schedule == Adaptive:
		return &SpecError{"schedule", "adaptive: " + inProcess}
	case s.ModelTapes != ModelTapes{}:
		return &SpecError{"model-record", "and model-replay: " + inProcess}
	}
	return nil
}

// mayBeReplaced reports whether a run of the plan may pause for another plan, if only by the
// failure of some of its calls.
func (p *Plan) mayBeReplaced() bool {
	opts := p.execOptions()
	if opts.OnFailure == exec.Replan || opts.ReviseAt > 0 {
		return true
	}
	for c := range p.Program.Targets() {
		if c.Rare != nil && c.OnFailure == exec.Replan.String() {
			return true
		}
	}
	return false
}

// Unpack compiles the plan of a bundle and returns it with the options of its run. If sealed is
// true, no secret is looked up and no server is started: the program can be stepped, but its tools
// can't be called.
func (e *Engine) Unpack(ctx context.Context, b *Bundle, sealed bool) (*Plan, *exec.Options, error) {
	if b.Version < 1 || b.Version > bundleVersion || b.Given == nil {
		return nil, nil, fmt.Errorf("the bundle of the run has version %d, and this program reads versions up to %d; use a newer one", b.Version, bundleVersion)
	}
	p, err := e.planOf(ctx, &session{engine: e, sealed: sealed}, b.Given, nil)
	if err != nil {
		return nil, nil, err
	}
	if err := p.explained(b.Run); err != nil {
		return nil, nil, err
	}
	if !sealed {
		kept, err := keptPins(b.Given)
		if err != nil {
			return nil, nil, err
		}
		if err := kept.unchanged(b.Run, pinsOf(p.Program)); err != nil {
			return nil, nil, err
		}
	}
	opts := p.execOptions()
	opts.ID = b.Run
	return p, &opts, nil
}
