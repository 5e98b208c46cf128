package plc

import (
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"time"
)

// flagSettings set what the flags of the command said, in the records of versions that kept
// these.
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

func text[S ~string](at func(*Spec) *S) func(*Spec, string) error {
	return func(s *Spec, v string) error {
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

func flag(at func(*Spec) *bool) func(*Spec, string) error {
	return func(s *Spec, v string) (err error) {
		*at(s), err = strconv.ParseBool(v)
		return err
	}
}

func whole(at func(*Spec) *int) func(*Spec, string) error {
	return func(s *Spec, v string) (err error) {
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

// stepsFlag keeps a bound of 0 apart from none, which counts for plans of models.
func stepsFlag(s *Spec, v string) (err error) {
	if s.Limits.Steps, err = strconv.Atoi(v); s.Limits.Steps == 0 {
		s.Limits.Steps = -1
	}
	return err
}

// toolsFlag reads a list of notations and names of tool files, by turns.
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
