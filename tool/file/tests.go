package file

import (
	"cmp"
	"encoding/json"
	"maps"
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
	Common TestCase   // what all tests have in common
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
	Answers       map[string]TestAnswer // by the path of the call; "*" is for all other calls
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

// Wanted is a value that a test expects, and its place in the file.
type Wanted struct {
	JSON json.RawMessage
	Text string // of a string
	Loc  diag.Loc
}

// Expectation lists what a test expects. Members that are nil are not checked, but without a Status
// the run has to complete.
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

// ReadTests reads a file with tests. It never returns nil: besides the findings it returns
// everything that could be read.
func ReadTests(src *diag.File) (*Tests, diag.List) {
	t, r := &Tests{Source: src}, &reader{file: src}
	root, err := parse(src)
	if err != nil {
		r.malformed(err)
		return t, r.findings
	}
	v := value{Node: root}
	r.tests(t)(v)
	if _, ok := root.Get("tests"); !ok && len(r.findings) == 0 {
		r.errorf(v, "the test file has no tests; give it some by their names, as in tests: {it works: {}}")
	}
	r.findings.Sort()
	for i, f := range r.findings {
		r.findings[i].Message = strings.Replace(f.Message, "the tool file", "the test file", 1)
	}
	return t, r.findings
}

// tests reads the members of a test file.
func (r *reader) tests(t *Tests) set {
	known := r.testMembers(&t.Common, map[string]set{
		"$schema": doc("The schema of this file, for editors.", func(value) {}),
		"plan":    doc("The plan; the default is the one of the same name beside this file.", r.text(&t.Plan)),
		"from":    doc("The notation of the plan.", r.text(&t.From)),
		"tools":   doc("Tool files, beside those of --tools.", r.texts(&t.Tools)),
		"mcp":     doc("Configurations of MCP clients, beside those of --mcp.", r.texts(&t.MCP)),
		"tests": doc("The tests, by their names.", func(v value) {
			r.each(v, func(v value) { r.testCase(v, t) })
		}),
	})
	return func(v value) { v.needs("tests"); r.members(v, known) }
}

func (r *reader) testCase(v value, t *Tests) {
	v.named("case", "A test; one that says nothing wants that the run completes.")
	c := TestCase{Name: v.name(), Loc: r.loc(v.key)}
	if v.Kind != texttree.Null { // an empty test expects that the run completes
		r.members(v, r.testMembers(&c, map[string]set{
			"expect":   doc("What has to come of the run. Without a status, it has to complete.", func(v value) { r.expectation(v, &c.Expect) }),
			"faults":   doc("Faults that the run has: charge@1=timeout.", r.wantedList(&c.Faults)),
			"snapshot": doc("Compares the whole run with the file of snapshots.", r.flag(&c.Snapshot)),
		}))
	}
	t.Cases = append(t.Cases, c)
}

// testMembers adds the members that both a test and its file may have.
func (r *reader) testMembers(c *TestCase, known map[string]set) map[string]set {
	r.givenMembers(c, known)
	maps.Copy(known, map[string]set{
		"settings": doc("The settings of the run.", func(v value) { r.testSettings(v, &c.Settings) }),
		"never":    doc("Conditions in CEL that must not hold at the end of any run.", r.wantedList(&c.Never)),
		"always":   doc("Conditions in CEL that must hold at the end of every run.", r.wantedList(&c.Always)),
		"answers": doc("What a person answers, by the path of the call; * is about all others.", func(v value) {
			c.Answers = map[string]TestAnswer{}
			r.each(v, func(v value) { c.Answers[v.name()] = r.testAnswer(v) })
		}),
	})
	return known
}

// givenMembers adds the members with the values and the stand-ins of a plan.
func (r *reader) givenMembers(c *TestCase, known map[string]set) {
	object := func(dst *json.RawMessage) set {
		return func(v value) {
			if r.is(v, texttree.Object) {
				*dst = v.JSON()
			}
		}
	}
	maps.Copy(known, map[string]set{
		"input": doc("The input of the plan; that of a test is merged over that of the file.", object(&c.Input)),
		"state": doc("The initial state.", object(&c.State)),
		"standIns": doc("What tools answer, by their names.", func(v value) {
			c.StandIns, c.StandInLocs = map[string]*standin.Script{}, map[string]diag.Loc{}
			r.each(v, func(v value) {
				c.StandIns[v.name()], c.StandInLocs[v.name()] = r.script(v), r.loc(v.key)
			})
		}),
	})
}

func (r *reader) testSettings(v value, s *TestSettings) {
	r.members(v, map[string]set{
		"onFailure":   doc("What a failure does that the plan does not handle.", r.oneOf(&s.OnFailure, "abort", "skip", "continue", "ask", "replan", "undo")),
		"onUncertain": doc("What happens to a call whose answer was lost.", r.oneOf(&s.OnUncertain, "ask", "retry", "fail", "skip", "wait")),
		"approve":     doc("Which calls a person has to approve.", r.oneOf(&s.Approve, "all", "destructive", "none")),
		"effects":     doc("Which calls are ordered by their effects.", r.oneOf(&s.Effects, "declared", "strict", "none")),
		"refs":        doc("What a reference does that finds nothing.", r.oneOf(&s.Refs, "strict", "lenient")),
		"schedule":    doc("How calls are ordered in time.", r.oneOf(&s.Schedule, "parallel", "sequential")),
		"timeout":     doc("The time for one attempt, unless the call sets its own.", r.duration(&s.Timeout, 1)),
		"maxTime":     doc("How long the run may take.", r.duration(&s.MaxTime, 1)),
		"maxSteps":    doc("How many calls may be started.", r.count(&s.MaxSteps, 1)),
		"maxParallel": doc("Calls at the same time.", r.count(&s.MaxParallel, 1)),
	})
}

// script reads a stand-in: the members of stand-ins in tool files, and those that only tests have.
func (r *reader) script(v value) *standin.Script {
	v.named("standIn", "What a tool answers in a test.")
	s := &standin.Script{}
	c := &s.Config
	before := len(r.findings)
	r.members(v, map[string]set{
		"return":    doc("The result.", r.raw(&c.Return)),
		"echo":      doc("The result is the params.", r.flag(&c.Echo)),
		"sample":    doc("The result is a sample of the schema of the tool.", r.flag(&c.Sample)),
		"after":     doc("How long it takes, in made-up time.", r.duration(&c.After, 0)),
		"jitter":    doc("A random time of up to this in addition.", r.duration(&c.Jitter, 0)),
		"fail":      doc("It fails.", func(v value) { r.fail(v, c) }),
		"failTimes": doc("Only so many attempts of each call fail.", r.count(&c.FailTimes, 0)),
		"outcome":   doc("The outcome that the tool names.", r.text(&s.Outcome)),
		"lost":      doc("The tool does its work, and the answer never comes.", r.flag(&s.Lost)),
		"sequence": doc("One stand-in for each attempt of the tool; the last one answers all others.", func(v value) {
			if v.Kind == texttree.Array && !v.describe("minItems", 1) && len(v.Entries) == 0 {
				r.errorf(v, "%s has no answers; give it one or more", v.what())
			}
			r.elements(v, func(v value) { s.Sequence = append(s.Sequence, r.script(v)) })
		}),
		"calls": doc("Stand-ins for some calls, by their paths without the items of loops.", func(v value) {
			s.Calls = map[string]*standin.Script{}
			r.each(v, func(v value) { s.Calls[v.name()] = r.script(v) })
		}),
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
	v.named("answer", "What a person answers.")
	if v.Kind == texttree.Object {
		r.members(v, map[string]set{
			"approve": doc("Yes.", r.flag(&a.Approved)), "skip": doc("The call is skipped.", r.flag(&a.Skip)), "reject": doc("No, and why.", r.text(&a.Reason)),
			"result": doc("This is the result, and nothing is called.", r.raw(&a.Result)), "params": doc("Yes, with these params.", r.raw(&a.Params)),
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
		r.elements(v, func(v value) {
			if r.is(v, texttree.String) {
				*dst = append(*dst, *r.wanted(v))
			}
		})
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

// statuses returns the statuses that a test may expect of a run; refused is a plan with errors.
func statuses() []string {
	return []string{"completed", "failed", "paused", "rejected", "cancelled", "undoing", "undone", "undoneInPart", "refused"}
}

// callStatuses returns the statuses that a call may end with.
func callStatuses() []string {
	return []string{"completed", "failed", "skipped", "blocked", "awaiting", "cancelled", "pending"}
}

func (r *reader) expectation(v value, x *Expectation) {
	r.members(v, map[string]set{
		"status": doc("How the run ends; refused is a plan with errors.", r.wantOneOf(&x.Status, statuses()...)), "reason": doc("A part of the reason.", r.wantText(&x.Reason)),
		"output": doc("The output, as a whole.", r.want(&x.Output)), "state": doc("Members of the state that are there.", r.want(&x.State)), "data": doc("Members of the data that are there.", r.want(&x.Data)),
		"calls": doc("How calls end, by path: a status, or more.", func(v value) {
			r.each(v, func(v value) { x.Calls = append(x.Calls, r.callWanted(v)) })
		}),
		"effects": doc("All effects in their order: the name of a tool, or more.", func(v value) {
			list := []EffectWanted{}
			r.elements(v, func(v value) { list = append(list, r.effectWanted(v)) })
			if v.Kind == texttree.Array {
				x.Effects, x.EffectsLoc = &list, r.loc(v.Span)
			}
		}),
		"findings": doc("The codes of all errors and warnings.", func(v value) {
			r.listWanted(&x.Findings, &x.FindingsLoc)(v)
			for _, e := range v.Entries {
				r.code(v.below(e), e.Value.Str)
			}
		}),
		"asked": doc("The paths of the calls that wait for a person.", r.listWanted(&x.Asked, &x.AskedLoc)),
	})
}

func (r *reader) wantOneOf(dst **Wanted, names ...string) set {
	return func(v value) {
		r.wantText(dst)(v)
		if v.Kind == texttree.String && !v.isOneOf(names...) && !slices.Contains(names, v.Str) {
			r.errorf(v, "%s is one of %s, not %q", v.what(), list(names), v.Str)
		}
	}
}

// callWanted reads what a test expects of a call: only its status, or an object with more.
func (r *reader) callWanted(v value) CallWanted {
	c := CallWanted{Path: v.name(), Loc: r.loc(v.key)}
	if v.Kind == texttree.String {
		r.wantOneOf(&c.Status, callStatuses()...)(v)
		return c
	}
	r.members(v, map[string]set{
		"status": doc("How the call ends.", r.wantOneOf(&c.Status, callStatuses()...)), "outcome": doc("The name of the outcome.", r.wantText(&c.Outcome)), "error": doc("The code of the error.", r.wantText(&c.Error)),
		"attempts": doc("How many attempts it makes.", func(v value) { r.count(new(int), 0)(v); c.Attempts = r.wanted(v) }),
		"params":   doc("The params of the last attempt.", r.want(&c.Params)), "result": doc("The result.", r.want(&c.Result)),
	})
	return c
}

// effectWanted reads what a test expects of an effect: only its tool, or an object with more.
func (r *reader) effectWanted(v value) EffectWanted {
	e := EffectWanted{Loc: r.loc(v.Span)}
	if v.Kind == texttree.String {
		e.Tool = v.Str
		return e
	}
	r.members(v, map[string]set{
		"tool": doc("The name of the tool.", r.text(&e.Tool)), "call": doc("The path of the call.", r.text(&e.Call)), "params": doc("The params of the call.", r.want(&e.Params)), "result": doc("The result.", r.want(&e.Result)),
	})
	return e
}

// Over returns the settings, with those of other where they are zero.
func (s TestSettings) Over(other TestSettings) TestSettings {
	return TestSettings{
		OnFailure: cmp.Or(s.OnFailure, other.OnFailure), OnUncertain: cmp.Or(s.OnUncertain, other.OnUncertain),
		Approve: cmp.Or(s.Approve, other.Approve), Effects: cmp.Or(s.Effects, other.Effects), Refs: cmp.Or(s.Refs, other.Refs),
		Schedule: cmp.Or(s.Schedule, other.Schedule), Timeout: cmp.Or(s.Timeout, other.Timeout), MaxTime: cmp.Or(s.MaxTime, other.MaxTime),
		MaxSteps: cmp.Or(s.MaxSteps, other.MaxSteps), MaxParallel: cmp.Or(s.MaxParallel, other.MaxParallel),
	}
}
