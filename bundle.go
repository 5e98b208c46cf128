package plc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/lang"
)

// A Bundle holds everything that another process needs to execute a run without the files of the
// plan and without a store: the texts that a record keeps. Of secrets it only holds the names. Its
// JSON can be read by the same and by newer versions of plc.
type Bundle struct {
	Version int            `json:"version"`
	Run     string         `json:"run"` // the id of the run
	Given   *journal.Given `json:"given"`
	// Instances holds the instances of a template, in order: those of the plan, and then those of
	// Spec.Instances.
	Instances []BundledInstance `json:"instances,omitempty"`
}

// BundledInstance is an instance, or a line that is not a valid one.
type BundledInstance struct {
	Name  string            `json:"name"`
	Own   map[string]string `json:"own,omitempty"`   // its values, as JSON, by kind
	Fault string            `json:"fault,omitempty"` // why it fails before it starts
}

// bundleVersion is the newest version of the JSON of a Bundle; version 1 has no instances.
const bundleVersion = 2

// Bundle returns what another process needs to execute a run of the plan, which gets a new id. The
// plan must come from Prepare, or from a Checker with the purpose ToPreview, which needs no
// secrets. Bundle returns a *PlanError if the plan must not run, and a *SpecError if its runs can't
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
	b := &Bundle{Version: 1, Run: exec.NewID(), Given: given}
	if p.Program.Template {
		b.Version = bundleVersion
		b.Instances, err = p.bundledInstances()
	}
	return b, err
}

// bundledInstances reads all instances of a template.
func (p *Plan) bundledInstances() (all []BundledInstance, err error) {
	add := func(in *compile.Instance, fault error) {
		one := BundledInstance{Name: in.Name, Own: map[string]string{}}
		for kind, v := range in.Own {
			one.Own[kind] = string(v)
		}
		if fault != nil {
			one.Fault = fault.Error()
		}
		all = append(all, one)
	}
	for i := range p.Program.Instances {
		add(&p.Program.Instances[i], nil)
	}
	if p.checker.spec.Instances.isZero() {
		return all, nil
	}
	lines, err := p.instances()
	if err != nil {
		return nil, err
	}
	for in, fault := range lines.instances(context.Background()) {
		if in == nil {
			return nil, fault
		}
		add(in, fault)
	}
	return all, nil
}

// GivenInstances returns the instances in the form that exec.NewInstances takes.
func GivenInstances(all []BundledInstance) []exec.GivenInstance {
	given := make([]exec.GivenInstance, len(all))
	for i, one := range all {
		given[i] = exec.GivenInstance{Instance: compile.Instance{Name: one.Name, Own: map[string]json.RawMessage{}}, Fault: one.Fault}
		for kind, v := range one.Own {
			given[i].Own[kind] = json.RawMessage(v)
		}
	}
	return given
}

// inSteps returns an error if runs of the plan can't be executed in steps.
func (p *Plan) inSteps() error {
	const inProcess = "only a run in one process can do this, so not one of another engine"
	switch s := &p.checker.spec; {
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

// mayBeReplaced reports whether a run of the plan may pause for another plan, even if only the
// failure of certain calls leads to that.
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
	if err := p.explainErr(b.Run); err != nil {
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
