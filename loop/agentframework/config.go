package agentframework

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/internal/python"
)

// The modes of resolving references that can't be found.
const (
	Lenient = "lenient" // replaces the reference with "", and warns
	Strict  = "strict"  // fails the step
)

// PlanningConfig is the planning block of an agent. DefaultPlanning returns its defaults.
type PlanningConfig struct {
	Enabled               bool    `json:"enabled"`
	ParallelExecution     bool    `json:"parallel_execution"`
	RefResolution         string  `json:"ref_resolution"`
	MaxSteps              int     `json:"max_steps"`            // the most steps executed, over all revisions
	MaxPlanRevisions      int     `json:"max_plan_revisions"`   // the most plans, including the first
	StepTimeoutSeconds    float64 `json:"step_timeout_seconds"` // for each step of a batch of several; 0 means no limit
	ReflectAfterEachBatch bool    `json:"reflect_after_each_batch"`
}

// DefaultPlanning returns an enabled config with the default values. An agent without a planning
// block uses it if planning_override is true.
func DefaultPlanning() *PlanningConfig {
	return &PlanningConfig{Enabled: true, ParallelExecution: true, RefResolution: Lenient, MaxSteps: 50, MaxPlanRevisions: 3, StepTimeoutSeconds: 60}
}

func (c *PlanningConfig) timeout() time.Duration {
	return time.Duration(min(c.StepTimeoutSeconds*float64(time.Second), math.MaxInt64/4))
}

// ParsePlanning parses a planning block, which is a JSON object. It returns nil if planning is off:
// the block is null, {}, or not enabled. An error names the member that is wrong.
func ParsePlanning(block json.RawMessage) (*PlanningConfig, error) {
	raw := gjson.ParseBytes(block)
	if len(block) > 0 {
		if err := jsonscan.Check(block, jsonscan.Limits{}); err != nil {
			return nil, fmt.Errorf("PlanningConfig: the block can't be read: %w", err)
		}
	}
	switch {
	case isEmpty(raw):
		return nil, nil
	case !raw.IsObject():
		return nil, fmt.Errorf("PlanningConfig: the block must be an object, got %s", python.Repr(typeName(raw)))
	}
	p := blockReader{values: map[string]gjson.Result{}}
	c := DefaultPlanning()
	c.Enabled = false
	if err := p.names(raw); err != nil {
		return nil, err
	}
	if p.boolean("enabled", &c.Enabled); p.err != nil || !c.Enabled {
		return nil, p.err
	}
	p.boolean("parallel_execution", &c.ParallelExecution)
	p.resolution(&c.RefResolution)
	p.positive("max_steps", &c.MaxSteps)
	p.positive("max_plan_revisions", &c.MaxPlanRevisions)
	p.seconds("step_timeout_seconds", &c.StepTimeoutSeconds)
	p.boolean("reflect_after_each_batch", &c.ReflectAfterEachBatch)
	if p.err != nil {
		return nil, p.err
	}
	return c, nil
}

func blockKeys() []string {
	return []string{"enabled", "max_plan_revisions", "max_steps", "parallel_execution", "ref_resolution", "reflect_after_each_batch", "step_timeout_seconds"}
}

// blockReader reads the members of a block, up to the first invalid one.
type blockReader struct {
	values map[string]gjson.Result
	err    error
}

func (p *blockReader) names(raw gjson.Result) error {
	var unknown []string
	raw.ForEach(func(key, value gjson.Result) bool {
		if !slices.Contains(blockKeys(), key.Str) && !slices.Contains(unknown, key.Str) {
			unknown = append(unknown, key.Str)
		}
		p.values[key.Str] = value
		return true
	})
	if unknown != nil {
		return fmt.Errorf("PlanningConfig: unknown frontmatter key(s): %s. Supported keys: %s", reprs(unknown), reprs(blockKeys()))
	}
	return nil
}

func (p *blockReader) wrong(format string, args ...any) {
	p.err = fmt.Errorf("PlanningConfig: "+format, args...)
}

// value returns a member if it exists and is of the given kind. After the first error it returns
// nothing.
func (p *blockReader) value(name, kind string, is func(gjson.Result) bool) (v gjson.Result, ok bool) {
	v, ok = p.values[name]
	if ok = ok && p.err == nil; ok && !is(v) {
		p.wrong("'%s' must be %s, got %s", name, kind, python.Repr(typeName(v)))
	}
	return v, ok && p.err == nil
}

func (p *blockReader) boolean(name string, to *bool) {
	if v, ok := p.value(name, "a boolean", gjson.Result.IsBool); ok {
		*to = v.Bool()
	}
}

func (p *blockReader) resolution(to *string) {
	const name = "ref_resolution"
	v, ok := p.value(name, "a string", func(v gjson.Result) bool { return v.Type == gjson.String })
	switch {
	case !ok:
	case v.Str != Lenient && v.Str != Strict:
		p.wrong("unsupported '%s' value %s. Supported: %s", name, python.Repr(v.Str), reprs([]string{Lenient, Strict}))
	default:
		*to = v.Str
	}
}

func (p *blockReader) positive(name string, to *int) {
	v, ok := p.value(name, "an integer", func(v gjson.Result) bool { return typeName(v) == "int" })
	n, err := strconv.ParseInt(v.Raw, 10, 0)
	switch {
	case !ok:
	case strings.HasPrefix(v.Raw, "-") || n == 0 && err == nil:
		p.wrong("'%s' must be a positive integer, got %s", name, v.Raw)
	case err != nil: // larger than any plan
		*to = math.MaxInt
	default:
		*to = int(n)
	}
}

func (p *blockReader) seconds(name string, to *float64) {
	v, ok := p.value(name, "a number", func(v gjson.Result) bool { return v.Type == gjson.Number || v.IsBool() })
	switch {
	case !ok:
	case v.IsBool():
		p.wrong("'%s' must be a number, got bool", name)
	case v.Num < 0:
		p.wrong("'%s' must be >= 0, got %s", name, float(v.Num))
	default:
		*to = v.Num
	}
}

// float formats a number with a fraction the way Python does.
func float(f float64) string {
	s := strconv.FormatFloat(f, 'g', -1, 64)
	if !strings.ContainsAny(s, ".eIN") {
		s += ".0"
	}
	return s
}
