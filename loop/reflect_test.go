package loop_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/tool"
)

// noted is a scene with tools that look and note.
func noted(t *testing.T) *scene {
	s := &scene{}
	echo := func(params string) (string, error) { return params, nil }
	tries := 0
	s.task.Catalogue = s.calls.tools(t, map[string]string{
		"look": `{"properties":{"q":{}},"effects":{"readOnly":true}}`,
		"note": `{"properties":{"v":{}},"effects":{"readOnly":false}}`,
		"pick": `{"properties":{},"_outcomes":["†state.yes","†state.no"]}`,
	}, map[string]activity{
		"look": echo, "note": echo,
		"pick": func(string) (string, error) { tries++; return `{"_outcome":"†state.no","_value":1}`, nil },
	})
	return s
}

const threeSteps = `{"calls":[{"_tool":"look","q":1,"_outputPath":"†state.a"},{"_tool":"note","v":"†state.a","_dependsOn":["look"],"_outputPath":"†state.b"},{"_tool":"note","_id":"last","v":"†state.b.v","_outputPath":"†state.c"}],"output":"†state.c"}`

func TestReflection(t *testing.T) {
	for _, test := range []struct {
		about   string
		reflect loop.Reflect
		answers []string
		status  exec.Status
		output  string
		calls   int
		asked   string
	}{
		{"each batch is looked at, and the plan goes on", loop.ReflectAfterBatch, []string{threeSteps, `{"decision":"continue"}`, `{"decision":"continue"}`}, exec.Completed, `{"v":{"q":1}}`, 3, "What is left of it"},
		{"what is left is amended", loop.ReflectAfterBatch,
			[]string{threeSteps, `{"decision":"amend","remove":["last"],"add":[{"_tool":"note","_id":"other","v":"†state.b","_outputPath":"†state.c"}]}`, `{"decision":"continue"}`},
			exec.Completed, `{"v":{"v":{"q":1}}}`, 3, "other"},
		{"a faulty plan leaves what is left of the one before", loop.ReflectAfterBatch, []string{threeSteps, `{"calls":[{"_tool":"lok"}]}`, `{"decision":"continue"}`, `{"decision":"continue"}`}, exec.Completed, `{"v":{"q":1}}`, 3, ""},
		{"a final decision leaves the rest", loop.ReflectAfterBatch, []string{threeSteps, `{"decision":"final","output":"enough"}`}, exec.Completed, `"enough"`, 1, ""},
		{"a whole new plan is an answer as well", loop.ReflectAfterBatch, []string{threeSteps, `{"calls":[],"output":"†state.a"}`}, exec.Completed, `{"q":1}`, 1, ""},
		{"at the end there is nothing to continue", loop.ReflectAtEnd, []string{strings.Replace(threeSteps, `"output":"†state.c"`, `"output":null`, 1), `{"decision":"continue"}`, `{"decision":"final","output":7}`},
			exec.Completed, `7`, 3, "nothing is left of the plan"},
		{"what can't be removed", loop.ReflectAfterBatch, []string{threeSteps, `{"decision":"amend","remove":["nobody"]}`, `{"decision":"final","output":7}`}, exec.Completed, `7`, 1, `"nobody" can't be removed`},
		{"an amendment may have another output", loop.ReflectAfterBatch, []string{threeSteps, `{"decision":"amend","remove":["last"],"output":"†state.b"}`}, exec.Completed, `{"v":{"q":1}}`, 2, ""},
		{"a final decision has an output", loop.ReflectAfterBatch, []string{threeSteps, `{"decision":"final"}`, `{"decision":"final","output":8}`}, exec.Completed, `8`, 1, "a final decision gives the output"},
		{"no such decision", loop.ReflectAfterBatch, []string{threeSteps, `{"decision":"perhaps"}`, `{"decision":"final","output":7}`}, exec.Completed, `7`, 1, `not "perhaps"`},
		{"a branch that was not taken is left out", loop.ReflectAfterBatch,
			[]string{`{"calls":[{"_tool":"pick","_outputPath":"†state.yes || †state.no"},{"_tool":"note","_id":"y","v":"†state.yes","_outputPath":"†state.r"},{"_tool":"note","_id":"n","v":"†state.no","_outputPath":"†state.s"}],"output":"†state.s"}`, `{"decision":"continue"}`},
			exec.Completed, `{"v":1}`, 2, ""},
		{"without reflection a decision is no solution", loop.ReflectNever, []string{`{"decision":"continue"}`, `{"output":1}`}, exec.Completed, `1`, 0, ""},
	} {
		t.Run(test.about, func(t *testing.T) {
			ways(t, func(t *testing.T, piece int) {
				s := noted(t)
				s.answers, s.opts.Reflect = test.answers, test.reflect
				r := s.solve(t, piece)
				if r.Status != test.status || string(r.Output) != test.output || len(s.calls.made) != test.calls {
					t.Errorf("%s (%s) %s, calls %v", r.Status, r.Reason, r.Output, s.calls.made)
				}
				if last := s.asked[len(s.asked)-1]; !strings.Contains(last, test.asked) {
					t.Errorf("the last request has no %q:\n%s", test.asked, last)
				}
			})
		})
	}
}

// A plan that runs in batches does what it does in one piece.
func TestBatchesMeanThePlan(t *testing.T) {
	for about, plan := range map[string]string{
		"a later write, which an earlier read does not see":            `{"_id":"p","_tool":"look","q":1},{"_tool":"note","v":"†state.r","_dependsOn":["p"],"_outputPath":"†state.s"},{"_tool":"look","q":2,"_outputPath":"†state.r"}`,
		"a later write above it":                                       `{"_id":"p","_tool":"look","q":1},{"_tool":"note","v":"†state.o.r","_dependsOn":["p"],"_outputPath":"†state.s"},{"_tool":"look","q":2,"_outputPath":"†state.o"}`,
		"a later write after one before":                               `{"_id":"p","_tool":"look","q":1},{"_tool":"look","q":3,"_outputPath":"†state.r"},{"_tool":"note","v":"†state.r","_dependsOn":["p"],"_outputPath":"†state.s"},{"_tool":"look","q":2,"_outputPath":"†state.r"}`,
		"a later write of what is not there":                           `{"_id":"p","_tool":"look","q":1},{"_tool":"note","v":"†state.none || 7","_dependsOn":["p"],"_outputPath":"†state.s"},{"_tool":"look","q":2,"_outputPath":"†state.none"}`,
		"a condition":                                                  `{"_id":"p","_tool":"look","q":1},{"_tool":"note","v":1,"_when":"†state.no","_dependsOn":["p"],"_outputPath":"†state.s"},{"_tool":"look","q":2,"_outputPath":"†state.no"}`,
		"two writes":                                                   `{"_id":"p","_tool":"look","q":1,"_outputPath":"†state.p"},{"_tool":"note","v":"†state.p","_outputPath":"†state.r"},{"_tool":"look","q":2,"_outputPath":"†state.r"}`,
		"a list that grows in order":                                   `{"_id":"p","_tool":"look","q":1,"_outputPath":"†state.p"},{"_tool":"note","v":"†state.p","_outputPath":"†state.l","_outputMethod":"push"},{"_tool":"look","q":2,"_outputPath":"†state.l","_outputMethod":"push"}`,
		"a chain of calls that stay behind":                            `{"_id":"p","_tool":"look","q":1,"_outputPath":"†state.p"},{"_tool":"note","v":["†state.p","†state.r"],"_outputPath":"†state.s"},{"_tool":"look","q":"†state.x","_outputPath":"†state.r"},{"_tool":"look","q":2,"_outputPath":"†state.x"}`,
		"a call that waits for one that failed":                        `{"_id":"p","_tool":"bad"},{"_tool":"note","v":1,"_dependsOn":["p"],"_outputPath":"†state.s"},{"_tool":"note","v":2}`,
		"a call that waits for one that waits":                         `{"_id":"p","_tool":"bad"},{"_id":"a","_tool":"look","q":1,"_dependsOn":["p"],"_outputPath":"†state.a"},{"_tool":"note","v":"†state.a"},{"_tool":"note","v":2}`,
		"what was there is not seen after a write that failed":         `{"_tool":"bad","_outputPath":"†state.r"},{"_tool":"note","v":"†state.r","_outputPath":"†state.s"}`,
		"nor after one whose failure is written somewhere else":        `{"_tool":"bad","_outputPath":"†state.r","_errorPath":"†state.e"},{"_tool":"note","v":"†state.r"},{"_tool":"note","v":"†state.e.code","_outputPath":"†state.u"}`,
		"nor by a condition":                                           `{"_tool":"bad","_outputPath":"†state.r"},{"_tool":"note","v":1,"_when":"†state.r"}`,
		"a call that waits for one whose condition does not hold":      `{"_id":"p","_tool":"look","q":1,"_when":"†state.no"},{"_tool":"note","v":1,"_dependsOn":["p"],"_outputPath":"†state.s"}`,
		"a call that waits for one whose failure is written somewhere": `{"_id":"p","_tool":"bad","_errorPath":"†state.e"},{"_tool":"note","v":1,"_dependsOn":["p"],"_outputPath":"†state.s"}`,
	} {
		t.Run(about, func(t *testing.T) {
			solved := func(reflect loop.Reflect, answers ...string) string {
				s := noted(t)
				s.task.Catalogue = s.calls.tools(t, map[string]string{
					"look": `{"properties":{"q":{}},"effects":{"readOnly":true}}`, "note": `{"properties":{"v":{}},"effects":{"independent":true}}`, "bad": `{"properties":{},"effects":{"readOnly":true}}`,
				}, map[string]activity{
					"look": func(p string) (string, error) { return p, nil }, "note": func(p string) (string, error) { return p, nil },
					"bad": func(string) (string, error) {
						return "", &tool.Error{Code: "broken", Message: "it is", Permanent: true}
					},
				})
				s.task.Context = json.RawMessage(`[{"type":"state","r":"old","o":{"r":"old"},"no":false,"x":"old"}]`)
				s.answers, s.opts.Reflect, s.opts.OnFailure = append([]string{`{"calls":[` + plan + `],"output":null}`}, answers...), reflect, loop.SkipAndContinue
				r := s.solve(t, 0)
				if r.Status != exec.Completed {
					t.Fatalf("%s (%s), asked %q", r.Status, r.Reason, s.asked)
				}
				slices.Sort(s.calls.made)
				return fmt.Sprintf("%s %q", r.State, s.calls.made)
			}
			const goOn = `{"decision":"continue"}`
			want := solved(loop.ReflectNever, `{"output":1}`)
			if got := solved(loop.ReflectAfterBatch, goOn, goOn, goOn, `{"decision":"final","output":1}`); got != want {
				t.Errorf("in batches %s, want %s", got, want)
			}
		})
	}
}

// What waits for a call that failed is left out of what is continued, and so is what would read the
// value that was to be replaced; after a recovery it is made.
func TestWhatFailedIsWaitedFor(t *testing.T) {
	const plan = `{"calls":[{"_id":"p","_tool":"once","_outputPath":"†state.r"},{"_id":"w","_tool":"note","v":1,"_dependsOn":["p"],"_outputPath":"†state.w"},{"_id":"r","_tool":"note","v":"†state.r || 7","_outputPath":"†state.s"}],"output":null}`
	for strategy, test := range map[loop.Strategy]struct {
		answers []string
		state   string
	}{
		loop.ReplanRemaining: {[]string{`{"decision":"amend","add":[{"_tool":"note","v":3,"_outputPath":"†state.n"}]}`}, `{"r":"old","n":{"v":3}}`},
		loop.InsertRecovery:  {[]string{`{"calls":[]}`, `{"decision":"continue"}`, `{"decision":"continue"}`}, `{"r":"new","w":{"v":1},"s":{"v":"new"}}`},
	} {
		s, tries := &scene{}, 0
		s.task.Catalogue = s.calls.tools(t, map[string]string{"once": `{"properties":{},"effects":{"readOnly":true}}`, "note": `{"properties":{"v":{}},"effects":{"readOnly":false}}`}, map[string]activity{
			"note": func(p string) (string, error) { return p, nil },
			"once": func(string) (string, error) {
				if tries++; tries == 1 {
					return "", &tool.Error{Code: "broken", Message: "it is", Permanent: true}
				}
				return `"new"`, nil
			},
		})
		s.task.Context = json.RawMessage(`[{"type":"state","r":"old"}]`)
		s.answers = append(append([]string{plan}, test.answers...), `{"decision":"final","output":1}`)
		s.opts.Reflect, s.opts.OnFailure = loop.ReflectAfterBatch, strategy
		r := s.solve(t, 0)
		if r.Status != exec.Completed || string(r.State) != test.state {
			t.Errorf("%s: %s (%s) %s, asked %q", strategy, r.Status, r.Reason, r.State, s.asked)
		}
		for _, id := range []string{"w", "r"} {
			if told := strings.Contains(s.asked[1], fmt.Sprintf(`"%s" was left out: "p", which it waits for, was not done`, id)); told != (strategy == loop.ReplanRemaining) {
				t.Errorf("%s: %s", strategy, s.asked[1])
			}
		}
	}
}

const facts = `{"facts":{"given":["it rains"],"look_up":[],"derive":[],"guesses":[]},"plan":["look"]}`

func flat(calls string) string {
	return `{"progress":{"is_request_satisfied":false,"is_in_loop":true,"is_progress_being_made":false,"reason":"the same again"},"calls":[` + calls + `],"output":null}`
}

// When the progress ledger says so often enough that there is no progress, the loop, and not the
// model, has another plan made on another task ledger; and gives up after some of them.
func TestLedgers(t *testing.T) {
	s := noted(t)
	look := func(q string) string { return `{"_tool":"look","q":` + q + `,"_outputPath":"†state.x"}` }
	s.opts.Whole = true
	s.opts.Ledgers = &loop.Ledgers{MaxStalls: 2, MaxResets: 1}
	s.answers = []string{facts, `{"calls":[` + look("1") + `]}`, flat(look("2")), flat(look("3")), strings.Replace(facts, "rains", "snows", 1), flat(look("4")),
		flat(look("5")), flat(look("6"))}
	r := s.solve(t, 0)
	if r.Status != exec.Failed || !strings.Contains(r.Reason, "gives up") || len(s.calls.made) != 3 || len(r.Revisions) != 1 {
		t.Errorf("%+v\n%v", r, s.calls.made)
	}
	if !strings.Contains(s.asked[1], "it rains") || !strings.Contains(s.asked[4], "the same again") || !strings.Contains(s.asked[5], "it snows") {
		t.Errorf("asked\n%s", strings.Join(s.asked, "\n----\n"))
	}
}

// A turn that makes progress makes up for one that does not; a model that writes no ledger does
// without.
func TestProgress(t *testing.T) {
	look := func(q, made string) string {
		return `{"progress":{"is_request_satisfied":false,"is_in_loop":false,"is_progress_being_made":` + made + `},"calls":[{"_tool":"look","q":` + q + `,"_outputPath":"†state.x"}]}`
	}
	s := noted(t)
	s.opts.Ledgers = &loop.Ledgers{MaxStalls: 2}
	warned := ""
	s.opts.OnEvent = func(e *loop.Event) {
		if e.Type == loop.Warned {
			warned += e.Text
		}
	}
	s.answers = []string{"no ledger", "none either", look("1", "false"), look("2", "false"), look("3", "true"), look("4", "false"), look("5", "true"),
		`{"progress":{"is_request_satisfied":true,"is_in_loop":true,"is_progress_being_made":false},"output":1}`}
	if r := s.solve(t, 0); r.Status != exec.Completed || len(r.Revisions) != 0 || warned != "the model wrote no task ledger" {
		t.Errorf("%+v, warned %q", r, warned)
	}
}

// The plan of a task that was solved does for another with other values, without the planner.
func TestCache(t *testing.T) {
	var cache loop.Memory
	for i, city := range []string{"Rome", "Oslo"} {
		s := noted(t)
		s.task.Goal = "look it up"
		s.task.Context = json.RawMessage(`[{"type":"input","city":"` + city + `"}]`)
		s.opts.Cache = &cache
		if i == 0 {
			s.answers = []string{`{"calls":[{"_tool":"look","q":"†input.city","_outputPath":"†state.x"}],"output":"†state.x.q"}`}
		}
		if r := s.solve(t, 0); string(r.Output) != `"`+city+`"` || len(s.asked) != 1-i {
			t.Errorf("%s: %+v, asked %d times", city, r, len(s.asked))
		}
	}
	s := noted(t)
	s.task.Goal, s.opts.Cache, s.answers = "look it up", &cache, []string{`{"output":1}`}
	if s.solve(t, 0); len(s.asked) != 1 {
		t.Error("a task of another input took the plan")
	}
}

// What a planner made up for one task, and what failed or took more than a turn, is no template for
// others.
func TestWhatIsNotCached(t *testing.T) {
	for about, answers := range map[string][]string{
		"a result of the planner's own": {`{"calls":[{"_tool":"think","q":1,"_output":2,"_outputPath":"†state.x"}],"output":"†state.x"}`},
		"two turns":                     {`{"calls":[{"_tool":"look","q":1}]}`, `{"output":1}`},
		"no output":                     {`{"calls":[]}`, `{"calls":[]}`},
	} {
		var cache loop.Memory
		for range 2 {
			s := &scene{answers: answers}
			s.task.Catalogue = s.calls.tools(t, map[string]string{"look": `{"properties":{"q":{}}}`, "think": `{"properties":{"q":{},"_output":{}}}`}, map[string]activity{"look": gives("1")})
			s.task.Goal, s.opts.Cache = "g", &cache
			if s.solve(t, 0); len(s.asked) != len(answers) {
				t.Errorf("%s: asked %d times, want %d", about, len(s.asked), len(answers))
			}
		}
	}
	var cache loop.Memory
	for i := range 1001 {
		cache.Put(fmt.Sprint(i), json.RawMessage("1"))
	}
	if cache.Get("0") != nil || cache.Get("1") == nil || cache.Get("1000") == nil {
		t.Error("a cache keeps the last 1,000 plans")
	}
}

// A loop that refers to results uses fewer tokens than one that copies them; of none it uses about
// as many.
func TestTokens(t *testing.T) {
	for _, size := range []int{10, 20_000} {
		s := &scene{}
		s.task.Catalogue = s.calls.tools(t, map[string]string{"load": `{"properties":{"n":{}},"effects":{"readOnly":true}}`, "count": `{"properties":{"v":{}},"effects":{"readOnly":true}}`},
			map[string]activity{"load": gives(`"` + strings.Repeat("x", size) + `"`), "count": gives("1")})
		s.answers = []string{`{"calls":[{"_tool":"load","n":1,"_outputPath":"†state.a"},{"_tool":"load","n":2,"_outputPath":"†state.b"},{"_tool":"count","v":["†state.a","†state.b"],"_outputPath":"†state.c"}],"output":"†state.c"}`}
		r := s.solve(t, 0)
		if want := int64(2 * 2 * size / 4); r.Tokens.Plain-r.Tokens.Used < want-want/10 || r.Tokens.Used > 2000 {
			t.Errorf("results of %d bytes: %+v", size, r.Tokens)
		}
	}
}
