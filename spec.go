package plc

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/adaptive"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/tool/file"
)

// A Spec describes a run: the plan, what it is given, and how it runs. The zero value of each field
// except Plan is the default. A store keeps the Spec of every run as JSON, with the texts of the
// files that it names, so that the run can be resumed without the files.
type Spec struct {
	Plan      Source  `json:"plan"`
	Toolset   Toolset `json:"toolset,omitzero"`
	Values    Values  `json:"values,omitzero"`
	Instances Source  `json:"instances,omitzero"` // a JSON object per line: the plan runs once for each

	// Documents holds the texts of documents that the plan delegates to, by name. They take
	// precedence over those in the folder of the plan.
	Documents map[string]string `json:"-"`

	// DelegateHosts lists the hosts from which documents may be fetched that the plan delegates to:
	// api.example or *.example. Nil means the hosts that the tool files' policies list.
	DelegateHosts []string `json:"delegateHosts,omitzero"`

	Effects Effects `json:"effects,omitempty"`
	Refs    Refs    `json:"refs,omitempty"`
	Lazy    bool    `json:"lazy,omitempty"` // ask before anything runs, whatever the plan says
	Strict  bool    `json:"-"`              // warnings count as errors

	// Ignore lists the codes of findings that are dropped, as in PLC309. Errors are never dropped.
	Ignore []string `json:"-"`
	// Severity gives findings of a code another severity, as in PLC309=error. Errors stay errors.
	Severity []string `json:"-"`
	Verbose  bool     `json:"-"` // include findings that need no attention

	Schedule    Schedule    `json:"schedule,omitempty"`
	Limits      Limits      `json:"limits,omitzero"`
	OnFailure   OnFailure   `json:"onFailure,omitempty"` // "" is what the plan says, else Abort
	OnUncertain OnUncertain `json:"onUncertain,omitempty"`
	FailFast    bool        `json:"failFast,omitempty"` // end the run when an instance fails
	Approvals   Approvals   `json:"approvals,omitzero"`
	Revisions   Revisions   `json:"revisions,omitzero"`
	ModelTapes  ModelTapes  `json:"modelTapes,omitzero"`
	NoCache     bool        `json:"noCache,omitempty"` // remember no results, whatever the tool files say
	Seed        uint64      `json:"seed,omitempty"`    // of everything random; 0 draws one
	// Labels are kept in the record of the run, where lists of runs can be filtered by them.
	// Names for which ReservedLabel returns true are refused.
	Labels map[string]string `json:"-"`
	Branch branchChoice      `json:"-"` // outcomes that a preview assumes, by the path of the call
	// Recalls reports whether a dry run may use the results of an earlier run; nil uses any.
	Recalls func(*journal.Summary) bool `json:"-"`
}

type branchChoice = map[string]string

// Values holds the values that a plan gets on its whiteboard, merged over those of its messages.
type Values struct {
	Input       []Source `json:"input,omitempty"` // JSON objects, merged in their order
	State       Source   `json:"state,omitzero"`
	InputSchema Source   `json:"inputSchema,omitzero"`
	StateSchema Source   `json:"stateSchema,omitzero"`
}

// Limits bounds what a plan may cost and what a run may use. 0 means no limit, unless a field says
// otherwise.
type Limits struct {
	// Steps limits the number of calls that may start. For a plan in the notation "llm" 0 is 1000,
	// and a negative number is no bound.
	Steps    int           `json:"steps,omitempty"`
	Tokens   float64       `json:"tokens,omitempty"`
	Cost     float64       `json:"cost,omitempty"`
	Time     time.Duration `json:"time,omitempty"`     // of the whole run
	Timeout  time.Duration `json:"timeout,omitempty"`  // of one attempt of a call, unless the call or its tool sets one; 0 is 60 s
	Parallel int           `json:"parallel,omitempty"` // calls at once; 0 is 64
	State    int64         `json:"state,omitempty"`    // bytes that calls may write to the whiteboards; 0 is exec.DefaultMaxBytes
}

// Approvals says which calls a person must approve, and how long the run waits.
type Approvals struct {
	Calls     ApproveCalls  `json:"calls,omitempty"`
	Timeout   time.Duration `json:"timeout,omitempty"`   // 0 waits forever
	OnTimeout OnTimeout     `json:"onTimeout,omitempty"` // what happens to a call that nobody answered in time
}

// Revisions says when the plan of a run may be replaced by another.
type Revisions struct {
	Max int     `json:"max,omitempty"` // 0 is exec.DefaultMaxRevisions
	At  float64 `json:"at,omitempty"`  // pause for another plan when this share of the settled calls failed; 0 is never
}

// ModelTapes names files of recorded answers of models.
type ModelTapes struct {
	Record string `json:"record,omitempty"` // answers are added to it, and answers that it has are used
	Replay string `json:"replay,omitempty"` // answers come from it, and no model is asked
}

// The values of those fields of a Spec that are one of a few. "" means the first value of its type,
// except that "" of ApproveCalls means what the tool files' policies say.
const (
	DeclaredEffects Effects = "declared" // calls of tools that are declared to change the world are kept in order
	StrictEffects   Effects = "strict"   // and calls of tools that declare nothing
	NoEffects       Effects = "none"

	StrictRefs  Refs = "strict"  // a call whose reference finds nothing fails
	LenientRefs Refs = "lenient" // the reference is an empty string

	Parallel   Schedule = "parallel"
	Sequential Schedule = "sequential"
	Adaptive   Schedule = "adaptive" // parallel, with as many calls at once as turn out to be efficient

	Abort    OnFailure = "abort"    // nothing new starts, and the run fails
	Skip     OnFailure = "skip"     // the call and those that need it are skipped
	Continue OnFailure = "continue" // those that need it are skipped, and the run fails at its end
	Ask      OnFailure = "ask"      // a person decides
	Replan   OnFailure = "replan"   // the run pauses for another plan
	Undo     OnFailure = "undo"     // as Abort, and then the run is undone

	AskUncertain   OnUncertain = "ask"   // Config.Approver decides; without one, the call fails
	RetryUncertain OnUncertain = "retry" // the call is made again
	FailUncertain  OnUncertain = "fail"  // the call fails with the code "uncertain"
	SkipUncertain  OnUncertain = "skip"  // the call counts as skipped
	WaitUncertain  OnUncertain = "wait"  // a person decides, now or later: without one, the run pauses

	ApproveDestructive ApproveCalls = "destructive"
	ApproveAll         ApproveCalls = "all"
	ApproveNone        ApproveCalls = "none"

	RejectOnTimeout  OnTimeout = "reject"
	ApproveOnTimeout OnTimeout = "approve"
)

// Effects says which calls are kept in plan order because of their effects.
type Effects string

// Refs is the effect of a reference that finds nothing.
type Refs string

// Schedule says in which order calls start.
type Schedule string

// OnFailure selects what happens if a call fails and the plan does not handle the failure.
type OnFailure string

// OnUncertain selects what happens to a call whose answer was lost and that may have done its
// work, if its tool must not be called twice: AskUncertain, RetryUncertain, FailUncertain,
// SkipUncertain or WaitUncertain.
type OnUncertain string

// ApproveCalls says which calls a person must approve, besides those that the plan marks.
type ApproveCalls string

// OnTimeout says what happens to a call that nobody answered in time.
type OnTimeout string

// A SpecError says which setting of a Spec is wrong.
type SpecError struct {
	Setting string // in lower case with dashes, as the command's flags are: on-failure
	Message string
}

func (e *SpecError) Error() string {
	if strings.HasPrefix(e.Message, ":") {
		return e.Setting + e.Message
	}
	return e.Setting + " " + e.Message
}

// choice returns the value for a setting; "" is one of the keys of values.
func choice[S ~string, T any](setting string, value S, values map[S]T) (T, error) {
	v, ok := values[value]
	if !ok {
		var names []string
		for name := range values {
			if name != "" {
				names = append(names, string(name))
			}
		}
		slices.Sort(names)
		return v, &SpecError{setting, fmt.Sprintf("%q: it is one of %s", value, strings.Join(names, ", "))}
	}
	return v, nil
}

// meaning sets the options of the compiler that change what a plan means: effects and refs.
func (s *Spec) meaning(o *compile.Options) (err error) {
	if o.Effects, err = choice("effects", s.Effects, map[Effects]compile.Effects{
		"": compile.DeclaredEffects, DeclaredEffects: compile.DeclaredEffects, StrictEffects: compile.StrictEffects, NoEffects: compile.NoEffects,
	}); err != nil {
		return err
	}
	o.Refs, err = choice("refs", s.Refs, map[Refs]compile.Refs{
		"": compile.StrictRefs, StrictRefs: compile.StrictRefs, LenientRefs: compile.LenientRefs,
	})
	return err
}

// steps returns the maximum number of calls that may start; 0 means no limit.
func (s *Spec) steps() int {
	if s.Limits.Steps == 0 && s.Plan.Notation == answerNotation {
		return DefaultModelSteps
	}
	return max(s.Limits.Steps, 0)
}

// DefaultModelSteps is the default limit on the calls of a plan that a model wrote (execution §7).
const DefaultModelSteps = 1000

// Options returns the executor's options for a run under a policy, which says which calls a person
// must approve if the Spec does not.
func (s *Spec) Options(policy file.Policy) (*exec.Options, error) {
	if s.Approvals.Calls == "" {
		s.Approvals.Calls = ApproveCalls(policy.Approve)
	}
	return s.options()
}

func (s *Spec) options() (*exec.Options, error) {
	l := &s.Limits
	o := &exec.Options{
		MaxParallel: l.Parallel, MaxSteps: s.steps(), MaxTokens: l.Tokens, MaxCost: l.Cost, MaxTime: l.Time, Timeout: l.Timeout, MaxBytes: l.State, Seed: s.Seed,
		FailFast: s.FailFast, AnswerTimeout: s.Approvals.Timeout, MaxRevisions: s.Revisions.Max, ReviseAt: s.Revisions.At,
	}
	var errs [5]error
	o.Schedule, errs[0] = choice("schedule", s.Schedule, map[Schedule]exec.Schedule{
		"": exec.Parallel, Parallel: exec.Parallel, Sequential: exec.Sequential, Adaptive: exec.Adaptive,
	})
	o.OnFailure, errs[1] = choice("on-failure", s.OnFailure, map[OnFailure]exec.Strategy{
		"": exec.Abort, Abort: exec.Abort, Skip: exec.Skip, Continue: exec.Continue, Ask: exec.Ask, Replan: exec.Replan, Undo: exec.Undo,
	})
	o.OnUncertain, errs[2] = choice("on-uncertain", s.OnUncertain, map[OnUncertain]exec.Uncertain{
		"": exec.AskUncertain, AskUncertain: exec.AskUncertain, RetryUncertain: exec.RetryUncertain, FailUncertain: exec.FailUncertain, SkipUncertain: exec.SkipUncertain,
		WaitUncertain: exec.WaitUncertain,
	})
	o.OnAnswerTimeout.Approved, errs[3] = choice("on-timeout", s.Approvals.OnTimeout, map[OnTimeout]bool{
		"": false, RejectOnTimeout: false, ApproveOnTimeout: true,
	})
	o.Approve, errs[4] = choice("approve", s.Approvals.Calls, map[ApproveCalls]exec.Approve{
		"": exec.ApproveDestructive, ApproveDestructive: exec.ApproveDestructive, ApproveAll: exec.ApproveAll, ApproveNone: exec.ApproveNone,
	})
	for _, err := range errs {
		if err != nil {
			return nil, err
		}
	}
	switch {
	case o.Schedule == exec.Sequential && l.Parallel > 1:
		return nil, &SpecError{"schedule", "sequential runs one call at a time: leave --max-parallel out"}
	case s.Revisions.At < 0 || s.Revisions.At > 1:
		return nil, &SpecError{"revise-at", fmt.Sprintf("%g: it is a share of the calls, from 0 to 1", s.Revisions.At)}
	case o.Schedule == exec.Adaptive:
		o.Limiter = adaptive.New(o.MaxParallel)
	}
	return o, nil
}

// bound returns the settings that change what a plan means or does, for its manifest. Other
// settings only change how fast it runs.
//
// A seed that was drawn for the record of a run does not count as a setting.
func (c *Checker) bound(o exec.Options) json.RawMessage {
	s, seed := &c.spec, c.spec.Seed
	if c.drawn {
		seed = 0
	}
	settings := map[string]any{
		"effects": or(s.Effects, DeclaredEffects), "refs": or(s.Refs, StrictRefs), "on-failure": o.OnFailure.String(),
		"on-uncertain": or(s.OnUncertain, AskUncertain), "approve": or(s.Approvals.Calls, ApproveDestructive),
		"max-steps": o.MaxSteps, "max-tokens": s.Limits.Tokens, "max-cost": s.Limits.Cost, "max-time": s.Limits.Time.String(), "max-state": cmp.Or(s.Limits.State, exec.DefaultMaxBytes),
		"timeout": s.Limits.Timeout.String(), "fail-fast": s.FailFast, "seed": fmt.Sprint(seed),
	}
	if s.ModelTapes.Replay != "" { // otherwise the tool files determine who answers
		settings["model-replay"] = s.ModelTapes.Replay
	}
	return encoded(settings)
}

func or[S ~string](value, otherwise S) S {
	if value == "" {
		return otherwise
	}
	return value
}

// encoded returns the JSON of a value that can always be encoded.
func encoded(v any) json.RawMessage {
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return text
}

// settings is the form in which a store keeps a Spec.
type settings struct {
	Version int    `json:"version"`
	Folder  string `json:"folder"` // the folder in which the run was begun
	Spec    Spec   `json:"spec"`
	Pins    pins   `json:"pins,omitempty"`   // if the policy pins programs
	Seeded  bool   `json:"seeded,omitempty"` // the caller chose the seed
}

// Settings returns what the record of a run keeps of the Spec, with the current folder; see
// journal.Given.
func (s *Spec) Settings() (json.RawMessage, error) { return s.settings(nil, false) }

func (s *Spec) settings(pinned pins, seeded bool) (json.RawMessage, error) {
	folder, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("can't find out the current folder: %w", err)
	}
	kept := settings{settingsVersion, folder, *s, pinned, seeded}
	kept.Spec.Plan.Text = "" // the record keeps it as a text
	kept.Spec.dropDefaults()
	return encoded(kept), nil
}

// terms returns the settings without the plan, its values and its instances.
func (s *Spec) terms() json.RawMessage {
	t := *s
	t.Plan, t.Values, t.Instances, t.Seed = Source{}, Values{}, Source{}, 0
	t.dropDefaults()
	return encoded(t)
}

// dropDefaults removes settings that are the default.
func (s *Spec) dropDefaults() {
	drop(&s.Plan.Notation, "plan")
	drop(&s.Effects, DeclaredEffects)
	drop(&s.Refs, StrictRefs)
	drop(&s.Schedule, Parallel)
	drop(&s.OnUncertain, AskUncertain)
	drop(&s.Approvals.OnTimeout, RejectOnTimeout)
	if s.Limits.State == exec.DefaultMaxBytes {
		s.Limits.State = 0
	}
	if s.Revisions.Max == exec.DefaultMaxRevisions {
		s.Revisions.Max = 0
	}
}

func drop[S ~string](at *S, value S) {
	if *at == value {
		*at = ""
	}
}

// settingsVersion is the version of the JSON of settings. Version 0 holds the flags of the command,
// by name.
const settingsVersion = 1

// readSettings reads the settings that a store kept.
func readSettings(text json.RawMessage) (*settings, error) {
	s := &settings{}
	if err := json.Unmarshal(text, s); err != nil || s.Version == 0 {
		var flags map[string]string
		if err := json.Unmarshal(text, &flags); err != nil {
			return nil, fmt.Errorf("the record of the run is damaged: its settings: %w", err)
		}
		return settingsOfFlags(flags)
	}
	if s.Version > settingsVersion {
		return nil, errors.New("the run was begun by a newer version of plc; resume it with that version")
	}
	return s, nil
}

// settingsOfFlags returns the settings of a run that was begun by a version that recorded the flags
// of the command: lists as JSON, all others as they were written.
func settingsOfFlags(flags map[string]string) (*settings, error) {
	s := &settings{Folder: flags["folder"]}
	return s, readFlags(&s.Spec, flags, func(name string) (func(*Spec, string) error, bool) {
		set, ok := flagSettings[name]
		return set, ok
	})
}

// readFlags applies the recorded flags of a run or a loop.
func readFlags[T any](into *T, flags map[string]string, find func(name string) (set func(*T, string) error, ok bool)) error {
	for _, name := range slices.Sorted(maps.Keys(flags)) {
		set, ok := find(name)
		if !ok {
			return fmt.Errorf("it was begun with --%s, which this version does not have; go on with the version that began it", name)
		}
		if err := set(into, flags[name]); err != nil {
			return fmt.Errorf("its record is damaged: --%s: %w", name, err)
		}
	}
	return nil
}
