package plc

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"
)

// flagSettings holds, by name, functions that set a Spec from the flags of the command, which the
// records of older versions hold.
var flagSettings = map[string]func(s *Spec, value string) error{
	"folder":          func(*Spec, string) error { return nil },
	"tools":           toolsFlag,
	"mcp":             func(s *Spec, v string) error { return json.Unmarshal([]byte(v), &s.Toolset.MCP) },
	"lock":            text(func(s *Spec) *string { return &s.Toolset.Lock }),
	"input":           inputFlag,
	"state":           named(func(s *Spec) *Source { return &s.Values.State }),
	"input-schema":    named(func(s *Spec) *Source { return &s.Values.InputSchema }),
	"state-schema":    named(func(s *Spec) *Source { return &s.Values.StateSchema }),
	"instances":       named(func(s *Spec) *Source { return &s.Instances }),
	"delegate-hosts":  func(s *Spec, v string) error { return json.Unmarshal([]byte(v), &s.DelegateHosts) },
	"from":            text(func(s *Spec) *string { return &s.Plan.Notation }),
	"effects":         text(func(s *Spec) *Effects { return &s.Effects }),
	"refs":            text(func(s *Spec) *Refs { return &s.Refs }),
	"lazy":            flag(func(s *Spec) *bool { return &s.Lazy }),
	"schedule":        text(func(s *Spec) *Schedule { return &s.Schedule }),
	"max-parallel":    whole(func(s *Spec) *int { return &s.Limits.Parallel }),
	"max-steps":       stepsFlag,
	"max-tokens":      number(func(s *Spec) *float64 { return &s.Limits.Tokens }),
	"max-cost":        number(func(s *Spec) *float64 { return &s.Limits.Cost }),
	"max-time":        duration(func(s *Spec) *time.Duration { return &s.Limits.Time }),
	"max-state":       sizeFlag,
	"timeout":         duration(func(s *Spec) *time.Duration { return &s.Limits.Timeout }),
	"on-failure":      text(func(s *Spec) *OnFailure { return &s.OnFailure }),
	"on-uncertain":    text(func(s *Spec) *OnUncertain { return &s.OnUncertain }),
	"fail-fast":       flag(func(s *Spec) *bool { return &s.FailFast }),
	"approve":         text(func(s *Spec) *ApproveCalls { return &s.Approvals.Calls }),
	"approve-timeout": duration(func(s *Spec) *time.Duration { return &s.Approvals.Timeout }),
	"on-timeout":      text(func(s *Spec) *OnTimeout { return &s.Approvals.OnTimeout }),
	"max-revisions":   whole(func(s *Spec) *int { return &s.Revisions.Max }),
	"revise-at":       number(func(s *Spec) *float64 { return &s.Revisions.At }),
	"model-record":    text(func(s *Spec) *string { return &s.ModelTapes.Record }),
	"model-replay":    text(func(s *Spec) *string { return &s.ModelTapes.Replay }),
	"no-cache":        flag(func(s *Spec) *bool { return &s.NoCache }),
	"seed": func(s *Spec, v string) (err error) {
		s.Seed, err = strconv.ParseUint(v, 10, 64)
		return err
	},
}

func text[T any, S ~string](at func(*T) *S) func(*T, string) error {
	return func(s *T, v string) error {
		*at(s) = S(v)
		return nil
	}
}

func named(at func(*Spec) *Source) func(*Spec, string) error {
	return func(s *Spec, v string) error {
		at(s).Name = v
		return nil
	}
}

func flag[T any](at func(*T) *bool) func(*T, string) error {
	return func(s *T, v string) (err error) {
		*at(s), err = strconv.ParseBool(v)
		return err
	}
}

func whole[T any](at func(*T) *int) func(*T, string) error {
	return func(s *T, v string) (err error) {
		*at(s), err = strconv.Atoi(v)
		return err
	}
}

func number(at func(*Spec) *float64) func(*Spec, string) error {
	return func(s *Spec, v string) (err error) {
		*at(s), err = strconv.ParseFloat(v, 64)
		return err
	}
}

func duration(at func(*Spec) *time.Duration) func(*Spec, string) error {
	return func(s *Spec, v string) (err error) {
		if v != "" {
			*at(s), err = time.ParseDuration(v)
		}
		return err
	}
}

// taskFlagSettings holds functions for the flags of plc solve that are not those of a run, which
// the records of older versions hold.
var taskFlagSettings = map[string]func(t *Task, value string) error{
	"model":          text(func(t *Task) *string { return &t.Model }),
	"style":          text(func(t *Task) *string { return &t.Style }),
	"style-options":  valueFlag(func(t *Task) *Source { return &t.StyleOptions }),
	"context":        valueFlag(func(t *Task) *Source { return &t.Context }),
	"schema":         valueFlag(func(t *Task) *Source { return &t.Schema }),
	"on-failure":     text(func(t *Task) *string { return &t.OnFailure }),
	"reflect":        text(func(t *Task) *string { return &t.Reflect }),
	"max-turns":      whole(func(t *Task) *int { return &t.MaxTurns }),
	"max-repairs":    repairsFlag,
	"apply-fixes":    flag(func(t *Task) *bool { return &t.ApplyFixes }),
	"whole":          flag(func(t *Task) *bool { return &t.Whole }),
	"ledgers":        flag(func(t *Task) *bool { return &t.Ledgers }),
	"record":         text(func(t *Task) *string { return &t.Spec.ModelTapes.Record }),
	"replay":         text(func(t *Task) *string { return &t.Spec.ModelTapes.Replay }),
	"list-functions": func(*Task, string) error { return nil },
}

// taskOfFlags returns the task of a loop that was begun by a version that recorded the flags of the
// command: see settingsOfFlags.
func taskOfFlags(flags map[string]string) (t Task, err error) {
	err = readFlags(&t, flags, func(name string) (func(*Task, string) error, bool) {
		if set, ok := taskFlagSettings[name]; ok {
			return set, true
		}
		set, ok := flagSettings[name]
		return func(t *Task, v string) error { return set(&t.Spec, v) }, ok
	})
	return t, err
}

// valueFlag reads JSON, or the name of a file that contains it.
func valueFlag(at func(*Task) *Source) func(*Task, string) error {
	return func(t *Task, v string) error {
		if *at(t) = File(v); strings.ContainsAny(v, "{[\"") {
			*at(t) = Source{Name: "<argument>", Text: v}
		}
		return nil
	}
}

// repairsFlag distinguishes a limit of 0 from the default.
func repairsFlag(t *Task, v string) (err error) {
	if t.MaxRepairs, err = strconv.Atoi(v); t.MaxRepairs == 0 {
		t.MaxRepairs = -1
	}
	return err
}

// sizeFlag reads a number of bytes, or of KiB, MiB or GiB.
func sizeFlag(s *Spec, v string) (err error) {
	unit := int64(1)
	for shift, name := range []string{"KiB", "MiB", "GiB"} {
		if digits, ok := strings.CutSuffix(v, name); ok {
			v, unit = digits, 1<<(10*(shift+1))
		}
	}
	s.Limits.State, err = strconv.ParseInt(v, 10, 64)
	s.Limits.State *= unit
	return err
}

// stepsFlag distinguishes a limit of 0 from none, which is a difference for plans of models.
func stepsFlag(s *Spec, v string) (err error) {
	if s.Limits.Steps, err = strconv.Atoi(v); s.Limits.Steps == 0 {
		s.Limits.Steps = -1
	}
	return err
}

// toolsFlag reads a list in which notations and names of tool files alternate.
func toolsFlag(s *Spec, v string) error {
	var all []string
	if err := json.Unmarshal([]byte(v), &all); err != nil {
		return err
	}
	if len(all)%2 != 0 {
		return errors.New("it is a list of notations and names")
	}
	for i := 0; i < len(all); i += 2 {
		s.Toolset.Files = append(s.Toolset.Files, Source{Name: all[i+1], Notation: all[i]})
	}
	return nil
}

// inputFlag reads a list of inputs as they were written: see ParseInput.
func inputFlag(s *Spec, v string) error {
	var all []string
	if err := json.Unmarshal([]byte(v), &all); err != nil {
		return err
	}
	for _, in := range all {
		src, err := ParseInput(in)
		if err != nil {
			return err
		}
		s.Values.Input = append(s.Values.Input, src)
	}
	return nil
}
