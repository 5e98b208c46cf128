package file

import (
	"cmp"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/texttree"
	"github.com/plc-lang/plc/tool/standin"
)

// Tests is the content of a file with tests of a plan (docs/testing.md). Names of files are as they
// are written.
type Tests struct {
	Source *diag.File
	Plan   string // "" is the plan beside the file, of the same name
	From   string // its notation
	Tools  []string
	MCP    []string
	Common TestCase   // what all tests have
	Cases  []TestCase // in order
}

// TestCase is a test.
type TestCase struct {
	Name          string
	Loc           diag.Loc
	Input, State  json.RawMessage // nil for none
	Settings      TestSettings
	StandIns      map[string]*standin.Script // by tool
	StandInLocs   map[string]diag.Loc
	Answers       map[string]TestAnswer // by the path of the call; "*" is about all others
	Faults        []Wanted
	Never, Always []Wanted // conditions in CEL
	Expect        Expectation
	Snapshot      bool
}

// TestSettings are the settings of a run that a test may change; zero values change none.
type TestSettings struct {
	OnFailure, OnUncertain, Approve, Effects, Refs, Schedule string
	Timeout, MaxTime                                         time.Duration
	MaxSteps, MaxParallel                                    int
}

// TestAnswer is a person's answer about a call.
type TestAnswer struct {
	Approved, Skip bool
	Reason         string
	Result, Params json.RawMessage
}

// Wanted is a value of a test file and where it is.
type Wanted struct {
	JSON json.RawMessage
	Text string // of a string
	Loc  diag.Loc
}

// Expectation lists what a test expects. What is nil is not looked at, but that a run without a
// Status has to complete.
type Expectation struct {
	Status, Reason      *Wanted
	Output, State, Data *Wanted
	Calls               []CallWanted
	Effects             *[]EffectWanted
	Findings, Asked     *[]Wanted
	EffectsLoc          diag.Loc
	FindingsLoc         diag.Loc
	AskedLoc            diag.Loc
}

// CallWanted lists what a test expects of a call.
type CallWanted struct {
	Path                             string
	Loc                              diag.Loc
	Status, Outcome, Error, Attempts *Wanted
	Params, Result                   *Wanted
}

// EffectWanted lists what a test expects of an effect.
type EffectWanted struct {
	Tool, Call     string // "" is any
	Params, Result *Wanted
	Loc            diag.Loc
}

// ReadTests reads a file with tests. It never returns nil: what could be read is there beside the
// findings.
func ReadTests(src *diag.File) (*Tests, diag.List) {
	t, r := &Tests{Source: src}, &reader{file: src}
	root, err := parse(src)
	if err != nil {
		r.malformed(err)
		return t, r.findings
	}
	v := value{Node: root}
	r.members(v, r.testMembers(&t.Common, map[string]set{
		"$schema": func(value) {},
		"plan":    r.text(&t.Plan),
		"from":    r.text(&t.From),
		"tools":   r.texts(&t.Tools),
		"mcp":     r.texts(&t.MCP),
		"tests": func(v value) {
			r.each(v, func(v value) { r.testCase(v, t) })
		},
	}))
	if _, ok := root.Get("tests"); !ok && len(r.findings) == 0 {
		r.errorf(v, "the test file has no tests; give it some by their names, as in tests: {it works: {}}")
	}
	r.findings.Sort()
	for i, f := range r.findings {
		r.findings[i].Message = strings.Replace(f.Message, "the tool file", "the test file", 1)
	}
	return t, r.findings
}

func (r *reader) testCase(v value, t *Tests) {
	c := TestCase{Name: v.name(), Loc: r.loc(v.key)}
	if v.Kind != texttree.Null { // a test that says nothing wants that the run completes
		r.members(v, r.testMembers(&c, map[string]set{
			"expect":   func(v value) { r.expectation(v, &c.Expect) },
			"faults":   r.wantedList(&c.Faults),
			"snapshot": r.flag(&c.Snapshot),
		}))
	}
	t.Cases = append(t.Cases, c)
}

// testMembers adds the members that a test has, and a file for all its tests.
func (r *reader) testMembers(c *TestCase, known map[string]set) map[string]set {
	r.givenMembers(c, known)
	known["settings"] = func(v value) { r.testSettings(v, &c.Settings) }
	known["never"] = r.wantedList(&c.Never)
	known["always"] = r.wantedList(&c.Always)
	known["answers"] = func(v value) {
		c.Answers = map[string]TestAnswer{}
		r.each(v, func(v value) { c.Answers[v.name()] = r.testAnswer(v) })
	}
	return known
}

// givenMembers adds the members that say what a plan is given, and by which tools.
func (r *reader) givenMembers(c *TestCase, known map[string]set) {
	object := func(dst *json.RawMessage) set {
		return func(v value) {
			if r.is(v, texttree.Object) {
				*dst = v.JSON()
			}
		}
	}
	known["input"] = object(&c.Input)
	known["state"] = object(&c.State)
	known["standIns"] = func(v value) {
		c.StandIns, c.StandInLocs = map[string]*standin.Script{}, map[string]diag.Loc{}
		r.each(v, func(v value) {
			c.StandIns[v.name()], c.StandInLocs[v.name()] = r.script(v), r.loc(v.key)
		})
	}
}

func (r *reader) testSettings(v value, s *TestSettings) {
	r.members(v, map[string]set{
		"onFailure":   r.oneOf(&s.OnFailure, "abort", "skip", "continue", "ask", "replan", "undo"),
		"onUncertain": r.oneOf(&s.OnUncertain, "ask", "retry", "fail", "skip"),
		"approve":     r.oneOf(&s.Approve, "all", "destructive", "none"),
		"effects":     r.oneOf(&s.Effects, "declared", "strict", "none"),
		"refs":        r.oneOf(&s.Refs, "strict", "lenient"),
		"schedule":    r.oneOf(&s.Schedule, "parallel", "sequential"),
		"timeout":     r.duration(&s.Timeout, 1),
		"maxTime":     r.duration(&s.MaxTime, 1),
		"maxSteps":    r.count(&s.MaxSteps, 1),
		"maxParallel": r.count(&s.MaxParallel, 1),
	})
}

// script reads a stand-in: what an activity of a tool file says that is one, and more.
func (r *reader) script(v value) *standin.Script {
	s := &standin.Script{}
	c := &s.Config
	before := len(r.findings)
	r.members(v, map[string]set{
		"return":    r.raw(&c.Return),
		"echo":      r.flag(&c.Echo),
		"sample":    r.flag(&c.Sample),
		"after":     r.duration(&c.After, 0),
		"jitter":    r.duration(&c.Jitter, 0),
		"fail":      func(v value) { r.fail(v, c) },
		"failTimes": r.count(&c.FailTimes, 0),
		"outcome":   r.text(&s.Outcome),
		"lost":      r.flag(&s.Lost),
		"sequence": func(v value) {
			if !r.is(v, texttree.Array) {
				return
			}
			if len(v.Entries) == 0 {
				r.errorf(v, "%s has no answers; give it one or more", v.what())
			}
			for _, e := range v.Entries {
				s.Sequence = append(s.Sequence, r.script(v.below(e)))
			}
		},
		"calls": func(v value) {
			s.Calls = map[string]*standin.Script{}
			r.each(v, func(v value) { s.Calls[v.name()] = r.script(v) })
		},
	})
	if len(r.findings) == before {
		if _, err := standin.New(*c); err != nil {
			r.errorf(v, "%s: %v", v.what(), err)
		}
	}
	return s
}

// testAnswer reads approve, reject or skip, or an object with more.
func (r *reader) testAnswer(v value) (a TestAnswer) {
	if v.Kind == texttree.Object {
		r.members(v, map[string]set{
			"approve": r.flag(&a.Approved), "skip": r.flag(&a.Skip), "reject": r.text(&a.Reason),
			"result": r.raw(&a.Result), "params": r.raw(&a.Params),
		})
		a.Approved = a.Approved || a.Params != nil
		return a
	}
	var word string
	r.oneOf(&word, "approve", "reject", "skip")(v)
	a.Approved, a.Skip = word == "approve", word == "skip"
	return a
}

func (r *reader) wanted(v value) *Wanted {
	return &Wanted{JSON: v.JSON(), Text: v.Str, Loc: r.loc(v.Span)}
}

// want reads any value.
func (r *reader) want(dst **Wanted) set {
	return func(v value) { *dst = r.wanted(v) }
}

// wantText reads a string.
func (r *reader) wantText(dst **Wanted) set {
	return func(v value) {
		if r.is(v, texttree.String) {
			*dst = r.wanted(v)
		}
	}
}

// wantedList reads strings: a list, or one alone.
func (r *reader) wantedList(dst *[]Wanted) set {
	return func(v value) {
		if v.Kind == texttree.String {
			*dst = append(*dst, *r.wanted(v))
			return
		}
		if !r.is(v, texttree.Array) {
			return
		}
		for _, e := range v.Entries {
			if e := v.below(e); r.is(e, texttree.String) {
				*dst = append(*dst, *r.wanted(e))
			}
		}
	}
}

// listWanted reads a list of strings that may be empty.
func (r *reader) listWanted(dst **[]Wanted, at *diag.Loc) set {
	return func(v value) {
		list := []Wanted{}
		r.wantedList(&list)(v)
		*dst, *at = &list, r.loc(v.Span)
	}
}

// statuses returns those that a run may end with; refused is a plan with errors.
func statuses() []string {
	return []string{"completed", "failed", "paused", "rejected", "cancelled", "undoing", "undone", "undoneInPart", "refused"}
}

// callStatuses returns those that a call may end with.
func callStatuses() []string {
	return []string{"completed", "failed", "skipped", "blocked", "awaiting", "cancelled", "pending"}
}

func (r *reader) expectation(v value, x *Expectation) {
	r.members(v, map[string]set{
		"status": r.wantOneOf(&x.Status, statuses()...), "reason": r.wantText(&x.Reason),
		"output": r.want(&x.Output), "state": r.want(&x.State), "data": r.want(&x.Data),
		"calls": func(v value) {
			r.each(v, func(v value) { x.Calls = append(x.Calls, r.callWanted(v)) })
		},
		"effects": func(v value) {
			if !r.is(v, texttree.Array) {
				return
			}
			list := []EffectWanted{}
			for _, e := range v.Entries {
				list = append(list, r.effectWanted(v.below(e)))
			}
			x.Effects, x.EffectsLoc = &list, r.loc(v.Span)
		},
		"findings": func(v value) {
			r.listWanted(&x.Findings, &x.FindingsLoc)(v)
			for _, e := range v.Entries {
				r.code(v.below(e), e.Value.Str)
			}
		},
		"asked": r.listWanted(&x.Asked, &x.AskedLoc),
	})
}

func (r *reader) wantOneOf(dst **Wanted, names ...string) set {
	return func(v value) {
		r.wantText(dst)(v)
		if v.Kind == texttree.String && !slices.Contains(names, v.Str) {
			r.errorf(v, "%s is one of %s, not %q", v.what(), list(names), v.Str)
		}
	}
}

// callWanted reads what is expected of a call: its status alone, or more.
func (r *reader) callWanted(v value) CallWanted {
	c := CallWanted{Path: v.name(), Loc: r.loc(v.key)}
	if v.Kind == texttree.String {
		r.wantOneOf(&c.Status, callStatuses()...)(v)
		return c
	}
	r.members(v, map[string]set{
		"status": r.wantOneOf(&c.Status, callStatuses()...), "outcome": r.wantText(&c.Outcome), "error": r.wantText(&c.Error),
		"attempts": func(v value) { r.count(new(int), 0)(v); c.Attempts = r.wanted(v) },
		"params":   r.want(&c.Params), "result": r.want(&c.Result),
	})
	return c
}

// effectWanted reads what is expected of an effect: its tool alone, or more.
func (r *reader) effectWanted(v value) EffectWanted {
	e := EffectWanted{Loc: r.loc(v.Span)}
	if v.Kind == texttree.String {
		e.Tool = v.Str
		return e
	}
	r.members(v, map[string]set{
		"tool": r.text(&e.Tool), "call": r.text(&e.Call), "params": r.want(&e.Params), "result": r.want(&e.Result),
	})
	return e
}

// Over returns the settings with those of other where these say nothing.
func (s TestSettings) Over(other TestSettings) TestSettings {
	return TestSettings{
		OnFailure: cmp.Or(s.OnFailure, other.OnFailure), OnUncertain: cmp.Or(s.OnUncertain, other.OnUncertain),
		Approve: cmp.Or(s.Approve, other.Approve), Effects: cmp.Or(s.Effects, other.Effects), Refs: cmp.Or(s.Refs, other.Refs),
		Schedule: cmp.Or(s.Schedule, other.Schedule), Timeout: cmp.Or(s.Timeout, other.Timeout), MaxTime: cmp.Or(s.MaxTime, other.MaxTime),
		MaxSteps: cmp.Or(s.MaxSteps, other.MaxSteps), MaxParallel: cmp.Or(s.MaxParallel, other.MaxParallel),
	}
}
