package loop_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/loop"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
)

// In each: the context, the answers, and what comes of them.
var rules = []struct {
	about   string
	context string
	opts    loop.Options
	answers []string
	status  exec.Status
	output  string
	state   string
	calls   string   // the tools that are called, with spaces between
	asked   []string // what the last request says
	reason  string
}{
	{about: "an output without calls ends the loop", answers: []string{`{"calls":[],"output":"done"}`}, status: exec.Completed, output: `"done"`, state: `{}`},
	{about: "an output alone is a solution", answers: []string{`{"output":7}`}, status: exec.Completed, output: `7`, state: `{}`},
	{about: "the output is made of what the calls of its own turn gave",
		answers: []string{`{"calls":[{"_tool":"look","q":1,"_outputPath":"†state.a"}],"output":{"a":"†state.a.q","t":"it is †{state.a.q}"}}`},
		status:  exec.Completed, output: `{"a":1,"t":"it is 1"}`, state: `{"a":{"q":1}}`, calls: "look"},
	{about: "pet-friendly: a new plan replaces the old one", context: `[{"type":"plan","plan":[{"_tool":"look","q":"†input.destination"},{"_tool":"note","v":"†input.destination"}]},
			{"type":"input","destination":"Berlin","instruction":"Actually, I'll be traveling with my dog."}]`,
		answers: []string{`{"calls":[{"_tool":"look","q":"†input.destination"},{"_tool":"pets","q":"†input.destination","_outputPath":"†state.hotel"}],"output":"†state.hotel"}`},
		status:  exec.Completed, output: `{"q":"Berlin"}`, state: `{"hotel":{"q":"Berlin"}}`, calls: "look pets", asked: []string{`"_tool":"note"`, "with my dog"}},
	{about: "a latent call brings its result, which other calls of the turn read",
		answers: []string{`{"calls":[{"_tool":"think","q":"x","_output":"thought","_outputPath":"†state.t"},{"_tool":"look","q":"†state.t","_outputPath":"†state.l"}],"output":"†state.l.q"}`},
		status:  exec.Completed, output: `"thought"`, state: `{"t":"thought","l":{"q":"thought"}}`, calls: "look"},
	{about: "a latent call without a result is made by the planner",
		answers: []string{`{"calls":[{"_tool":"think","q":"x","_outputPath":"†state.t"}],"output":"†state.t"}`, `{"_value":"late"}`},
		status:  exec.Completed, output: `"late"`, state: `{"t":"late"}`},
	{about: "a wrong _output goes back", answers: []string{`{"calls":[{"_tool":"think","q":"x","_output":5,"_outputPath":"†state.t"}],"output":null}`, `{"output":1}`},
		status: exec.Completed, output: `1`, state: `{}`, asked: []string{"/calls/0/_output", "could not be used"}},
	{about: "a call that gave its result is not made again, by another name either",
		answers: []string{`{"calls":[{"_tool":"note","v":1,"_outputPath":"†state.n"}],"output":null}`,
			`{"calls":[{"_tool":"note","_id":"again","v":1,"_outputPath":"†state.n"},{"_tool":"note","v":2,"_outputPath":"†state.m"}],"output":true}`},
		status: exec.Completed, output: `true`, state: `{"n":{"v":1},"m":{"v":2}}`, calls: "note note"},
	{about: "its result is written again, as the plan says",
		answers: []string{`{"calls":[{"_tool":"note","v":1,"_outputPath":"†state.n"},{"_tool":"look","q":"†state.n.v","_outputPath":"†state.n","_outputMethod":"merge"}],"output":null}`,
			`{"calls":[{"_tool":"note","v":1,"_outputPath":"†state.n"},{"_tool":"look","q":5,"_outputPath":"†state.l"}],"output":"†state.n"}`},
		status: exec.Completed, output: `{"v":1}`, state: `{"n":{"v":1},"l":{"q":5}}`, calls: "note look look"},
	{about: "results of calls that are listed again make the same as before",
		answers: []string{`{"calls":[{"_tool":"note","v":1,"_outputPath":"†state.n"},{"_tool":"look","q":"†state.n.v","_outputPath":"†state.n","_outputMethod":"merge"}],"output":null}`,
			`{"calls":[{"_tool":"note","v":1,"_outputPath":"†state.n"},{"_tool":"look","q":"†state.n.v","_outputPath":"†state.n","_outputMethod":"merge"},{"_tool":"look","q":5}],"output":"†state.n"}`},
		status: exec.Completed, output: `{"v":1,"q":1}`, state: `{"n":{"v":1,"q":1}}`, calls: "note look look"},
	{about: "it takes back what another call has written there since",
		answers: []string{`{"calls":[{"_tool":"note","v":1,"_outputPath":"†state.n"}],"output":null}`, `{"calls":[{"_tool":"note","v":2,"_outputPath":"†state.n"}],"output":null}`,
			`{"calls":[{"_tool":"note","v":1,"_outputPath":"†state.n"},{"_tool":"look","q":"†state.n.v","_outputPath":"†state.l"}],"output":"†state.l"}`},
		status: exec.Completed, output: `{"q":1}`, state: `{"n":{"v":1},"l":{"q":1}}`, calls: "note note look"},
	{about: "what it pushed is not pushed again",
		answers: []string{`{"calls":[{"_tool":"note","v":1,"_outputPath":"†state.list","_outputMethod":"push"}],"output":null}`,
			`{"calls":[{"_tool":"note","v":1,"_outputPath":"†state.list","_outputMethod":"push"},{"_tool":"note","v":2,"_outputPath":"†state.list","_outputMethod":"push"}],"output":true}`},
		status: exec.Completed, output: `true`, state: `{"list":[{"v":1},{"v":2}]}`, calls: "note note"},
	{about: "what is gone of it is pushed again",
		answers: []string{`{"calls":[{"_tool":"note","v":1,"_outputPath":"†state.list","_outputMethod":"push"}],"output":null}`,
			`{"calls":[{"_tool":"look","q":[],"_outputPath":"†state.list"}],"output":null}`, `{"calls":[{"_tool":"inc","n":0,"_outputPath":"†state.list.q","_outputMethod":"push"}],"output":null}`,
			`{"calls":[{"_tool":"look","q":[2],"_outputPath":"†state.list"},{"_tool":"inc","n":0,"_outputPath":"†state.list.q","_outputMethod":"push"}],"output":true}`},
		status: exec.Completed, output: `true`, state: `{"list":{"q":[2,1]}}`, calls: "note look inc look"},
	{about: "two that are alike in one solution are both made, and both are known",
		answers: []string{`{"calls":[{"_tool":"note","v":1},{"_tool":"note","v":1}],"output":null}`, `{"calls":[{"_tool":"note","v":1},{"_tool":"note","v":1},{"_tool":"note","v":1}],"output":true}`},
		status:  exec.Completed, output: `true`, state: `{}`, calls: "note note note"},
	{about: "a counter is made in each turn, since what it reads is another value", context: `[{"type":"state","state":{"n":0}}]`,
		answers: []string{`{"calls":[{"_tool":"inc","n":"†state.n","_outputPath":"†state.n"}],"output":null}`, `{"calls":[{"_tool":"inc","n":"†state.n","_outputPath":"†state.n"}],"output":null}`,
			`{"calls":[{"_tool":"inc","n":"†state.n","_outputPath":"†state.n"}],"output":"†state.n"}`},
		status: exec.Completed, output: `3`, state: `{"n":3}`, calls: "inc inc inc"},
	{about: "another output path makes it another call",
		answers: []string{`{"calls":[{"_tool":"look","q":1,"_outputPath":"†state.a"}],"output":null}`, `{"calls":[{"_tool":"look","q":1,"_outputPath":"†state.b"}],"output":true}`},
		status:  exec.Completed, output: `true`, state: `{"a":{"q":1},"b":{"q":1}}`, calls: "look look"},
	{about: "a call that failed is made again when it is listed again",
		answers: []string{`{"calls":[{"_tool":"flaky","q":1,"_outputPath":"†state.f"}],"output":null}`, `{"calls":[{"_tool":"flaky","q":1,"_outputPath":"†state.f"}],"output":"†state.f"}`},
		status:  exec.Completed, output: `"ok"`, state: `{"f":"ok"}`, calls: "flaky flaky", asked: []string{`"code":"busy"`, "flaky: failed"}},
	{about: "the others of the plan are done when a call fails",
		answers: []string{`{"calls":[{"_tool":"bad","q":1,"_outputPath":"†state.x"},{"_tool":"note","v":"†state.x"},{"_tool":"note","v":2,"_outputPath":"†state.n"}],"output":null}`, `{"output":true}`},
		status:  exec.Completed, output: `true`, state: `{"n":{"v":2}}`, calls: "bad note"},
	{about: "a result that is not what was expected is a failure", answers: []string{`{"calls":[{"_tool":"look","q":1,"_expect":{"type":"integer"},"_outputPath":"†state.x"}],"output":null}`, `{"output":true}`},
		status: exec.Completed, output: `true`, state: `{}`, calls: "look", asked: []string{`"code":"unexpected"`, `make a new plan: "look" failed`}},
	{about: "abort ends the loop at a failure", opts: loop.Options{OnFailure: loop.Abort},
		answers: []string{`{"calls":[{"_tool":"bad","q":1,"_outputPath":"†state.x"}],"output":null}`}, status: exec.Failed, state: `{}`, calls: "bad", reason: "bad"},
	{about: "skip and continue", opts: loop.Options{OnFailure: loop.SkipAndContinue},
		answers: []string{`{"calls":[{"_tool":"bad","q":1,"_outputPath":"†state.x"},{"_tool":"note","v":2,"_outputPath":"†state.n"}],"output":"†state.n.v"}`},
		status:  exec.Completed, output: `2`, state: `{"n":{"v":2}}`, calls: "bad note"},
	{about: "ask a person", opts: loop.Options{OnFailure: loop.AskUser},
		answers: []string{`{"calls":[{"_tool":"bad","q":1,"_outputPath":"†state.x"}],"output":null}`}, status: exec.Paused, state: `{}`, calls: "bad"},
	{about: "recovery goes before the call that failed, which is made again, and then the rest", opts: loop.Options{OnFailure: loop.InsertRecovery},
		answers: []string{`{"calls":[{"_tool":"note","v":0},{"_tool":"flaky","q":1,"_outputPath":"†state.f"},{"_tool":"look","q":"†state.f","_outputPath":"†state.l"}],"output":null}`,
			`{"calls":[{"_tool":"note","v":"mend"}],"output":null}`, `{"output":"†state.l"}`},
		status: exec.Completed, output: `{"q":"ok"}`, state: `{"f":"ok","l":{"q":"ok"}}`, calls: "note flaky note flaky look"},
	{about: "what waits for a call by name waits for it still after a recovery", opts: loop.Options{OnFailure: loop.InsertRecovery},
		answers: []string{`{"calls":[{"_tool":"note","_id":"first","v":0},{"_tool":"flaky","_dependsOn":["first"],"q":1},{"_tool":"look","_dependsOn":["flaky","first"],"q":1,"_outputPath":"†state.l"}],"output":null}`,
			`{"calls":[{"_tool":"note","_id":"mend","v":"mend"}],"output":null}`, `{"output":"†state.l"}`},
		status: exec.Completed, output: `{"q":1}`, state: `{"l":{"q":1}}`, calls: "note flaky note flaky look"},
	{about: "faults go back with code, place, message and fix",
		answers: []string{`{"calls":[{"_tool":"lok","q":1,"_outputPath":"†state.a"},{"_tool":"look","q":"†state.b"}],"output":null}`, `{"output":true}`},
		status:  exec.Completed, output: `true`, state: `{}`, asked: []string{`PLC201 /calls/0/_tool (lok): `, `did you mean "look"?`, `PLC302 /calls/1/q (look)`}},
	{about: "a cycle goes back",
		answers: []string{`{"calls":[{"_tool":"look","q":"†state.b","_outputPath":"†state.a"},{"_tool":"look","q":"†state.a","_outputPath":"†state.b"}],"output":null}`, `{"output":true}`},
		status:  exec.Completed, output: `true`, state: `{}`, asked: []string{"PLC401"}},
	{about: "an output that breaks the schema goes back", answers: []string{`{"output":{"wrong":1}}`, `{"output":true}`}, status: exec.Completed, output: `true`, state: `{}`},
	{about: "prose goes back", answers: []string{"I would rather talk about it.", `{"output":true}`}, status: exec.Completed, output: `true`, state: `{}`, asked: []string{"could not be used"}},
	{about: "JSON that is no solution goes back", answers: []string{`{"steps":[]}`, `{"output":true}`}, status: exec.Completed, output: `true`, state: `{}`, asked: []string{"no solution"}},
	{about: "text that stops half-way goes back, and what was read is known",
		answers: []string{`{"calls":[{"_tool":"look","q":1,"_outputPath":"†state.a"},{"_tool":"no`, `{"calls":[{"_tool":"look","q":1,"_outputPath":"†state.a"}],"output":"†state.a"}`},
		status:  exec.Completed, output: `{"q":1}`, state: `{"a":{"q":1}}`, calls: "look"},
	{about: "too many faulty answers end the loop", opts: loop.Options{MaxRepairs: 1}, answers: []string{"no", "no"}, status: exec.Failed, state: `{}`, reason: "2 answers in a row"},
	{about: "two turns without anything end the loop", answers: []string{`{"calls":[],"output":null}`, `{"calls":[],"output":null}`}, status: exec.Failed, state: `{}`, reason: "no progress in two turns in a row: in the last one there were no calls and no output", asked: []string{"nothing new came of the last turn, in which there were no calls and no output: give calls, or the output"}},
	{about: "so do two whose output breaks the schema", answers: []string{`{"calls":[{"_tool":"look","q":1,"_outputPath":"†state.a"}],"output":"†state.a"}`, `{"calls":[{"_tool":"look","q":1,"_outputPath":"†state.a"}],"output":"†state.a"}`, `{"calls":[{"_tool":"look","q":1,"_outputPath":"†state.a"}],"output":"†state.a"}`},
		status: exec.Failed, state: `{"a":{"q":1}}`, calls: "look", reason: "no progress in two turns in a row: in the last one an output was given that can't be taken: ", asked: []string{"the output could not be taken: "}},
	{about: "the last output of bounded turns breaks the schema", opts: loop.Options{MaxTurns: 1}, answers: []string{`{"calls":[{"_tool":"look","q":1,"_outputPath":"†state.a"}],"output":"†state.a"}`},
		status: exec.Failed, state: `{"a":{"q":1}}`, calls: "look", reason: "no output after 1 turns; the last one gave an output that can't be taken: "},
	{about: "so do two that list only what is done", answers: []string{`{"calls":[{"_tool":"note","v":1}]}`, `{"calls":[{"_tool":"note","v":1}]}`, `{"calls":[{"_tool":"note","v":1}]}`},
		status: exec.Failed, state: `{}`, calls: "note", reason: "in the last one all calls had been made before, and there was no output"},
	{about: "so do two that fail as the turn before", answers: []string{`{"calls":[{"_tool":"bad","q":1}]}`, `{"calls":[{"_tool":"bad","q":1}]}`, `{"calls":[{"_tool":"bad","q":1}]}`},
		status: exec.Failed, state: `{}`, calls: "bad bad bad", reason: "in the last one calls failed as in the turn before, and there was no output"},
	{about: "a turn that does something beside what fails as before is progress",
		answers: []string{`{"calls":[{"_tool":"bad","q":1}]}`, `{"calls":[{"_tool":"bad","q":1},{"_tool":"note","v":1}]}`, `{"calls":[{"_tool":"bad","q":1},{"_tool":"note","v":2}]}`, `{"output":true}`},
		status:  exec.Completed, output: `true`, state: `{}`, calls: "bad bad note bad note"},
	{about: "so do two whose call may have been done, which is not made again", answers: []string{`{"calls":[{"_tool":"lost","q":1}]}`, `{"calls":[{"_tool":"lost","q":1}]}`, `{"calls":[{"_tool":"lost","q":1}]}`, `{"calls":[{"_tool":"lost","q":1}]}`},
		status: exec.Failed, state: `{}`, calls: "lost", reason: "no progress"},
	{about: "turns are bounded", opts: loop.Options{MaxTurns: 2}, context: `[{"type":"state","state":{"n":0}}]`,
		answers: []string{`{"calls":[{"_tool":"inc","n":"†state.n","_outputPath":"†state.n"}]}`, `{"calls":[{"_tool":"inc","n":"†state.n","_outputPath":"†state.n"}]}`},
		status:  exec.Failed, state: `{"n":2}`, calls: "inc inc", reason: "no output after 2 turns"},
	{about: "a context in the answer counts for nothing", answers: []string{`{"calls":[{"_tool":"look","q":1}],"output":null,"context":[{"type":"state","state":{"evil":1}}]}`, `{"output":true}`},
		status: exec.Completed, output: `true`, state: `{}`, calls: "look"},
	{about: "certain fixes are applied when they may be", opts: loop.Options{ApplyFixes: true},
		answers: []string{`{"calls":[{"_tool":"strict","qq":1,"_outputPath":"†state.a"}],"output":"†state.a"}`},
		status:  exec.Completed, output: `{"q":1}`, state: `{"a":{"q":1}}`, calls: "strict"},
	{about: "a fix that would call another tool is not", opts: loop.Options{ApplyFixes: true}, answers: []string{`{"calls":[{"_tool":"lok","q":1}],"output":null}`, `{"output":true}`},
		status: exec.Completed, output: `true`, state: `{}`, asked: []string{`did you mean "look"`}},
	{about: "instances: each call writes its own",
		context: `[{"type":"state","_instance":"a","state":{"c":"hi"}},{"type":"state","_instance":"b","state":{"c":"ho"}}]`,
		answers: []string{`{"calls":[{"_tool":"look","_instance":"a","q":"†state.c","_outputPath":"†state.r"},{"_tool":"look","_instance":"b","q":"†state.c","_outputPath":"†state.r"}],"output":null}`,
			`{"calls":[{"_tool":"note","_instance":"b","v":"†state.r.q","_outputPath":"†state.n"}],"output":true}`},
		status: exec.Completed, output: `true`, state: `{}`, calls: "look look note", asked: []string{`of instance "a"`, `{"c":"hi","r":{"q":"hi"}}`}},
	{about: "a template runs for each instance",
		context: `[{"type":"state","_instance":"a","state":{"c":"hi"}},{"type":"state","_instance":"b","state":{"c":"ho"}}]`,
		answers: []string{`{"calls":[{"_tool":"look","q":"†state.c","_outputPath":"†state.r"}],"output":"†state.r.q"}`},
		status:  exec.Completed, output: `{"a":"hi","b":"ho"}`, state: `{}`, calls: "look look"},
	{about: "a delegate sees its params only",
		answers: []string{`{"calls":[{"_tool":"look","q":1,"_outputPath":"†state.s"},{"_tool":"sub","_delegate":"sub.json","text":"†state.s.q","_outputPath":"†state.t"}],"output":"†state.t"}`},
		status:  exec.Completed, output: `{"q":1}`, state: `{"s":{"q":1},"t":{"q":1}}`, calls: "look look"},
	{about: "data of other kinds are shown by their names, once, with all their descriptions, and written",
		context: `[{"type":"data","kind":"user","data":{"name":"Ann"},"description":"Who asks."},{"type":"data","kind":"user","data":{"age":30},"description":"As of today."},{"type":"text","text":"Be brief."}]`,
		answers: []string{`{"calls":[{"_tool":"look","q":"†user.name","_outputPath":"†user.found"}],"output":null}`, `{"output":"†user.found.q"}`},
		status:  exec.Completed, output: `"Ann"`, state: `{}`, calls: "look", asked: []string{"Be brief.\n", "## Data: ¶user\n" + `{"name":"Ann","age":30,"found":{"q":"Ann"}}` + "\nWho asks.\nAs of today.\n"}},
	{about: "a plan message may be an object with the calls", context: `[{"type":"plan","plan":{"calls":[{"_tool":"look","q":1}]}}]`,
		answers: []string{`{"output":true}`}, status: exec.Completed, output: `true`, state: `{}`, asked: []string{"## Plan\n" + `[{"_tool":"look","q":1}]`}},
	{about: "a lazy plan makes nothing up: what a model has to make is asked for when its turn comes", context: `[{"type":"plan","mode":"lazy","plan":[]}]`,
		answers: []string{`{"calls":[{"_tool":"think","q":"x","_outputPath":"†state.t"},{"_tool":"look","q":"†state.t","_outputPath":"†state.l"}],"output":"†state.l.q"}`, `{"_value":"made later"}`},
		status:  exec.Completed, output: `"made later"`, state: `{"t":"made later","l":{"q":"made later"}}`, calls: "look"},
	{about: "a call whose answer was lost is not made again for another output path",
		answers: []string{`{"calls":[{"_tool":"lost","q":1,"_outputPath":"†state.a"}],"output":"†state.a"}`, `{"calls":[{"_tool":"lost","q":1,"_outputPath":"†state.b"}],"output":"†state.b"}`, `{"output":true}`},
		status:  exec.Completed, output: `true`, state: `{}`, calls: "lost"},
	{about: "a call whose result was not accepted is not made again for another output path",
		answers: []string{`{"calls":[{"_tool":"note","v":1,"_expect":{"type":"string"},"_outputPath":"†state.a"}],"output":"†state.a"}`, `{"calls":[{"_tool":"note","v":1,"_expect":{"type":"string"},"_outputPath":"†state.b"}],"output":"†state.b"}`, `{"output":true}`},
		status:  exec.Completed, output: `true`, state: `{}`, calls: "note"},
	{about: "a result that was not accepted is taken by a plan that accepts it",
		answers: []string{`{"calls":[{"_tool":"note","v":1,"_expect":{"type":"string"},"_outputPath":"†state.a"}],"output":"†state.a"}`, `{"calls":[{"_tool":"note","v":1,"_outputPath":"†state.b"}],"output":"†state.b"}`},
		status:  exec.Completed, output: `{"v":1}`, state: `{"b":{"v":1}}`, calls: "note"},
	{about: "a call that only reads is made again after its result was not accepted",
		answers: []string{`{"calls":[{"_tool":"look","q":1,"_expect":{"type":"string"},"_outputPath":"†state.a"}],"output":"†state.a"}`, `{"calls":[{"_tool":"look","q":1,"_outputPath":"†state.b"}],"output":"†state.b.q"}`},
		status:  exec.Completed, output: `1`, state: `{"b":{"q":1}}`, calls: "look look"},
	{about: "slots of a schema are shown and bind nothing until they are written",
		context: `[{"type":"input","text":"Bonjour"},{"type":"state","schema":{"type":"object","properties":{"language":{"type":"string"}}}}]`,
		answers: []string{`{"calls":[{"_tool":"think","q":"†input.text","_output":"fr","_outputPath":"†state.language"}],"output":"†state.language"}`},
		status:  exec.Completed, output: `"fr"`, state: `{"language":"fr"}`, asked: []string{"Schema for ¶state:", `"language"`}},
}

func TestRules(t *testing.T) {
	for _, test := range rules {
		t.Run(test.about, func(t *testing.T) {
			ways(t, func(t *testing.T, piece int) {
				s := &scene{opts: test.opts, answers: test.answers}
				s.opts.Exec.OnUncertain = exec.FailUncertain
				tries := 0
				echo := func(params string) (string, error) { return params, nil }
				s.task.Catalogue = s.calls.tools(t, map[string]string{
					"look":   `{"properties":{"q":{}},"effects":{"readOnly":true}}`,
					"strict": `{"type":"object","properties":{"q":{}},"additionalProperties":false,"effects":{"readOnly":true}}`,
					"pets":   `{"properties":{"q":{}},"effects":{"readOnly":true}}`,
					"note":   `{"properties":{"v":{}},"effects":{"readOnly":false}}`,
					"inc":    `{"properties":{"n":{"type":"integer"},"_output":{"type":"integer"}},"effects":{"readOnly":false}}`,
					"think":  `{"properties":{"q":{},"_output":{"type":"string"}}}`,
					"bad":    `{"properties":{"q":{}}}`,
					"flaky":  `{"properties":{"q":{}}}`,
					"lost":   `{"properties":{"q":{}},"effects":{"readOnly":false}}`,
					"sub":    `{"properties":{"text":{}}}`,
				}, map[string]activity{
					"look": echo, "strict": echo, "pets": echo, "note": echo, "bad": failing("broken", "it is broken"),
					"lost": func(string) (string, error) {
						return "", &tool.Error{Code: "connection-lost", Message: "gone", Uncertain: true}
					},
					"inc": func(params string) (string, error) {
						var p struct{ N int }
						err := json.Unmarshal([]byte(params), &p)
						return fmt.Sprint(p.N + 1), err
					},
					"flaky": func(string) (string, error) {
						if tries++; tries == 1 {
							return "", &tool.Error{Code: "busy", Message: "come back", Permanent: true}
						}
						return `"ok"`, nil
					},
				})
				s.opts.Compile.Delegates = fstest.MapFS{"sub.json": {Data: []byte(`{"calls":[{"_tool":"look","q":"†input.text","_outputPath":"†state.x"}],"output":"†state.x"}`)}}
				if test.context != "" {
					s.task.Context = json.RawMessage(test.context)
				} else if strings.Contains(test.about, "breaks the schema") {
					s.task.Schema = json.RawMessage(`{"type":"boolean"}`)
				}
				r := s.solve(t, piece)
				wants(t, r, test.status, test.output, test.state)
				var made []string
				for _, c := range s.calls.made {
					name, _, _ := strings.Cut(c, "{")
					made = append(made, name)
				}
				want := strings.Fields(test.calls) // calls that need nothing of each other come in any order
				slices.Sort(made)
				slices.Sort(want)
				if !slices.Equal(made, want) {
					t.Errorf("calls %q, want %q", made, want)
				}
				for _, want := range test.asked {
					if last := s.asked[len(s.asked)-1]; !strings.Contains(last, want) {
						t.Errorf("the last request has no %s:\n%s", want, last)
					}
				}
				if !strings.Contains(r.Reason, test.reason) {
					t.Errorf("reason %q, want %q", r.Reason, test.reason)
				}
			})
		})
	}
}

// A delegate that failed is made again when it is listed again; its calls that gave their results
// are not.
func TestDelegateThatFailed(t *testing.T) {
	for _, again := range []string{`"text":1`, `"text":2`} {
		s := &scene{}
		tries := 0
		s.task.Catalogue = s.calls.tools(t, map[string]string{"pay": `{"properties":{"n":{}},"effects":{"readOnly":false}}`, "flaky": `{"properties":{}}`, "sub": `{"properties":{"text":{}}}`},
			map[string]activity{"pay": gives(`"paid"`), "flaky": func(string) (string, error) {
				if tries++; tries == 1 {
					return "", &tool.Error{Code: "busy", Message: "come back", Permanent: true}
				}
				return `"ok"`, nil
			}})
		s.opts.Compile.Delegates = fstest.MapFS{"sub.json": {Data: []byte(`{"calls":[{"_tool":"pay","n":5,"_outputPath":"†state.p"},{"_tool":"flaky","_outputPath":"†state.f"}],"output":["†state.p","†state.f"]}`)}}
		s.answers = []string{`{"calls":[{"_tool":"sub","_id":"one","_delegate":"sub.json","text":1,"_outputPath":"†state.t"}]}`,
			`{"calls":[{"_tool":"sub","_id":"two","_delegate":"sub.json",` + again + `,"_outputPath":"†state.t"}],"output":"†state.t"}`}
		r := s.solve(t, 0)
		wants(t, r, exec.Completed, `["paid","ok"]`, `{"t":["paid","ok"]}`)
		if want := map[string]int{`"text":1`: 1, `"text":2`: 2}[again]; s.calls.count("pay") != want {
			t.Errorf("%s: paid %d times, want %d: %v", again, s.calls.count("pay"), want, s.calls.made)
		}
	}
}

// Calls that only read are started while the answer is still being written; those that change
// the world are not, until all of it is there and is sound.
func TestReadsStartEarly(t *testing.T) {
	looked := make(chan struct{})
	var s scene
	s.task.Catalogue = s.calls.tools(t, map[string]string{"look": `{"properties":{"q":{}},"effects":{"readOnly":true}}`, "pay": `{"properties":{"q":{}},"effects":{"destructive":true}}`},
		map[string]activity{"look": func(string) (string, error) { close(looked); return "1", nil }, "pay": gives("2")})
	planner := script(func(ctx context.Context, turn *model.Turn) (*model.Reply, error) {
		say := func(s string) {
			if err := turn.OnText(s); err != nil {
				t.Error(err)
			}
		}
		head := `{"calls":[{"_tool":"pay","q":1,"_outputPath":"†state.p"},{"_tool":"look","q":1,"_outputPath":"†state.l"}`
		say(head[:9])
		say(head[9:])
		<-looked // it hangs if the call waits for the end
		if n := s.calls.count("pay"); n != 0 {
			t.Errorf("paid %d times before the answer was whole", n)
		}
		say(`],"output":"†state.l"}`)
		return &model.Reply{Text: head + `],"output":"†state.l"}`}, nil
	})
	s.task.Planner = planner
	s.opts.Exec.Approve = exec.ApproveNone
	s.opts.Compile.Effects = compile.NoEffects
	r, err := loop.Solve(t.Context(), &s.task, &s.opts)
	if err != nil {
		t.Fatal(err)
	}
	wants(t, r, exec.Completed, `1`, `{"p":2,"l":1}`)
}

// New information ends what runs and goes into the next request; so does somebody who asks for
// another plan.
func TestNewInformation(t *testing.T) {
	var s scene
	started, release := make(chan struct{}), make(chan struct{})
	s.task.Catalogue = s.calls.tools(t, map[string]string{"slow": `{"properties":{"q":{}}}`, "note": `{"properties":{"v":{}}}`}, map[string]activity{
		"slow": func(string) (string, error) { close(started); <-release; return `"old"`, nil }, "note": gives("1"),
	})
	s.task.Context = json.RawMessage(`[{"type":"input","city":"Berlin"}]`)
	answers := loop.Say(`{"calls":[{"_tool":"slow","q":1,"_outputPath":"†state.s"},{"_tool":"note","v":"†state.s"}]}`, `{"calls":[{"_tool":"note","v":2}],"output":["†input.city","†state.s"]}`)
	answers.OnTurn = func(turn *model.Turn) { s.asked = append(s.asked, turn.Messages[0].Text) }
	s.task.Planner = answers
	h, err := loop.Start(t.Context(), &s.task, nil)
	if err != nil {
		t.Fatal(err)
	}
	<-started
	if err := h.Add(json.RawMessage(`[{"type":"input","input":7}]`)); err == nil {
		t.Error("an input that is no object was taken")
	}
	if err := h.Add(json.RawMessage(`[{"type":"input","city":"Rome","dog":true}]`)); err != nil {
		t.Error(err)
	}
	close(release)
	r, err := h.Wait()
	if err != nil {
		t.Fatal(err)
	}
	wants(t, r, exec.Completed, `["Rome","old"]`, `{"s":"old"}`)
	if s.calls.count("note") != 1 || !strings.Contains(s.asked[1], `"dog":true`) || !strings.Contains(s.asked[1], "there is new information") {
		t.Errorf("%v\n%s", s.calls.made, s.asked[1])
	}
	if len(r.Revisions) != 1 || r.Revisions[0].Reason != "there is new information" || fmt.Sprint(r.Revisions[0].Removed) != "[slow]" {
		t.Errorf("%+v", r.Revisions)
	}
}

// script is a planner of Go.
type script func(ctx context.Context, turn *model.Turn) (*model.Reply, error)

func (f script) Converse(ctx context.Context, turn *model.Turn) (*model.Reply, error) {
	return f(ctx, turn)
}

func TestPlannersThatFail(t *testing.T) {
	down := errors.New("down")
	r, err := loop.Solve(t.Context(), &loop.Task{Goal: "x", Planner: script(func(context.Context, *model.Turn) (*model.Reply, error) { return nil, down })}, nil)
	if !errors.Is(err, down) || r.Status != exec.Failed {
		t.Errorf("%v, %+v", err, r)
	}
	ctx, cancel := context.WithCancel(t.Context())
	r, err = loop.Solve(ctx, &loop.Task{Goal: "x", Planner: script(func(ctx context.Context, _ *model.Turn) (*model.Reply, error) {
		cancel()
		return nil, ctx.Err()
	})}, nil)
	if err != nil || r.Status != exec.Cancelled {
		t.Errorf("%v, %+v", err, r)
	}
	if _, err := loop.Solve(t.Context(), &loop.Task{Goal: "x", Planner: loop.Say(), Context: json.RawMessage(`[{"type":"state","state":[`)}, nil); err == nil {
		t.Error("a context that is no JSON was taken")
	}
}

// An answer that breaks off is asked for again, twice.
func TestAnswersThatBreakOff(t *testing.T) {
	for _, test := range []struct {
		breaks int
		fails  bool
	}{{2, false}, {3, true}} {
		n := 0
		r, err := loop.Solve(t.Context(), &loop.Task{Goal: "x", Planner: script(func(_ context.Context, turn *model.Turn) (*model.Reply, error) {
			if n++; n <= test.breaks {
				_ = turn.OnText(`{"calls":[`)
				return nil, &tool.Error{Code: "connection-lost", Message: "gone"}
			}
			return &model.Reply{Text: `{"output":1}`}, nil
		})}, nil)
		if (err != nil) != test.fails || (r.Status == exec.Failed) != test.fails {
			t.Errorf("%d: %v, %+v", test.breaks, err, r)
		}
	}
}

// A planner is told when little is left of the budget, and is not asked when nothing is.
func TestBudget(t *testing.T) {
	s := &scene{}
	s.task.Catalogue = s.calls.tools(t, map[string]string{"look": `{"properties":{"q":{}}}`}, map[string]activity{"look": gives("1")})
	var script loop.Script
	for i := range 4 {
		script.Replies = append(script.Replies, model.Reply{Text: fmt.Sprintf(`{"calls":[{"_tool":"look","q":%d}],"output":null}`, i), Input: 30, Output: 10})
	}
	script.OnTurn = func(turn *model.Turn) { s.asked = append(s.asked, turn.Messages[0].Text) }
	s.task.Planner = &script
	r, err := loop.Solve(t.Context(), &s.task, &loop.Options{MaxTokens: 100})
	if err != nil || r.Status != exec.Failed || !strings.Contains(r.Reason, "token budget of 100") || len(s.asked) != 3 {
		t.Fatalf("%v %+v, asked %d times", err, r, len(s.asked))
	}
	if strings.Contains(s.asked[1], "little is left") || !strings.Contains(s.asked[2], "little is left of the budget") {
		t.Errorf("asked\n%s", strings.Join(s.asked, "\n---\n"))
	}
}

// What is mended to read an answer is told.
func TestMendingIsTold(t *testing.T) {
	var told []string
	opts := &loop.Options{OnEvent: func(e *loop.Event) {
		if e.Type == loop.Warned {
			told = append(told, e.Text)
		}
	}}
	r, err := loop.Solve(t.Context(), &loop.Task{Goal: "x", Planner: loop.Say(`{'output': "it is"}`)}, opts)
	if err != nil || string(r.Output) != `"it is"` || len(told) == 0 {
		t.Errorf("%v %+v, told %q", err, r, told)
	}
	told = nil
	if _, err := loop.Solve(t.Context(), &loop.Task{Goal: "x", Planner: loop.Say(`{"output": "it is"}`)}, opts); err != nil || told != nil {
		t.Errorf("%v, told %q of an answer without faults", err, told)
	}
}

// The calls of a run use no more than is left of the budget of cost.
func TestCostOfCalls(t *testing.T) {
	d, findings := tool.ParseDefinition(json.RawMessage(`{"properties":{"q":{}}}`), "dear", diag.Loc{})
	if err := findings.Err(); err != nil {
		t.Fatal(err)
	}
	n := 0
	dear := &tool.Tool{Definition: d, Source: "go", Driver: "go", Activity: tool.ActivityFunc(func(context.Context, *tool.Request) (tool.Result, error) {
		n++
		return tool.Result{Value: json.RawMessage("1"), Usage: tool.Usage{Cost: 1}}, nil
	})}
	var list []string
	for i := range 20 {
		list = append(list, fmt.Sprintf(`{"_tool":"dear","_id":"c%d","q":%d}`, i, i))
	}
	task := &loop.Task{Goal: "x", Catalogue: tool.NewCatalogue(dear), Planner: loop.Say(`{"calls":[` + strings.Join(list, ",") + `]}`)}
	opts := &loop.Options{MaxCost: 3}
	opts.Exec.Schedule = exec.Sequential
	r, err := loop.Solve(t.Context(), task, opts)
	if err != nil || r.Status != exec.Failed || n > 4 {
		t.Errorf("%v %s (%s), %d calls at 1 each with a budget of 3", err, r.Status, r.Reason, n)
	}
}

func TestRefusals(t *testing.T) {
	script := &loop.Script{Replies: []model.Reply{{Stop: model.Length, Text: `{"calls":[`}, {Stop: model.Refusal, Reason: "no"}}}
	r, err := loop.Solve(t.Context(), &loop.Task{Goal: "x", Planner: script}, nil)
	if err != nil || r.Status != exec.Failed || !strings.Contains(r.Reason, "refused: no") || r.Usage.Requests != 2 {
		t.Errorf("%v, %+v", err, r)
	}
}

// A person looks at a plan before it runs: what is refused goes back, what is rejected ends it.
func TestOnPlan(t *testing.T) {
	var s scene
	s.task.Catalogue = s.calls.tools(t, map[string]string{"pay": `{"properties":{"q":{}},"effects":{"destructive":true}}`}, map[string]activity{"pay": gives("1")})
	s.answers = []string{`{"calls":[{"_tool":"pay","q":100}]}`, `{"calls":[{"_tool":"pay","q":1}]}`, `{"calls":[{"_tool":"pay","q":2}]}`}
	s.opts.Exec.Approve = exec.ApproveNone
	n := 0
	s.opts.Lazy = true
	s.opts.OnPlan = func(prog *compile.Program) error {
		switch n++; n {
		case 1:
			return errors.New("too much")
		case 3:
			return fmt.Errorf("%w: enough", loop.ErrRejected)
		}
		return nil
	}
	r := s.solve(t, 0)
	if r.Status != exec.Rejected || s.calls.count("pay") != 1 || !strings.Contains(s.asked[1], "too much") {
		t.Errorf("%+v %v\n%s", r, s.calls.made, s.asked[1])
	}
}

// What a planner is shown of the state does not grow with it.
func TestLargeStateIsNotShown(t *testing.T) {
	var s scene
	big := `{"rows":[` + strings.TrimSuffix(strings.Repeat(`{"name":"`+strings.Repeat("x", 100)+`"},`, 10_000), ",") + `],"n":1}`
	s.task.Catalogue = s.calls.tools(t, map[string]string{"load": `{"effects":{"readOnly":true}}`}, map[string]activity{"load": gives(big)})
	s.answers = []string{`{"calls":[{"_tool":"load","_outputPath":"†state.all"}]}`, `{"output":"†state.all.n"}`}
	r := s.solve(t, 0)
	if string(r.Output) != "1" || len(s.asked[1]) > 4096 || !strings.Contains(s.asked[1], "10000 elements") || !strings.Contains(s.asked[1], "†state.all.rows") {
		t.Errorf("%s, %d bytes:\n%s", r.Output, len(s.asked[1]), s.asked[1][:min(len(s.asked[1]), 4096)])
	}
}

// Nor does it grow with the plan.
func TestLargePlanIsNotShown(t *testing.T) {
	s := &scene{}
	s.task.Catalogue = s.calls.tools(t, map[string]string{"look": `{"properties":{"q":{}},"effects":{"readOnly":true}}`}, map[string]activity{"look": gives("1")})
	s.answers = []string{`{"calls":[` + strings.TrimSuffix(strings.Repeat(`{"_tool":"look","q":1},`, 2000), ",") + `]}`, `{"output":1}`}
	r := s.solve(t, 0)
	if string(r.Output) != "1" || len(s.asked[1]) > 30_000 || strings.Count(s.asked[1], "1800 more calls") != 2 {
		t.Errorf("%s, %d bytes", r.Output, len(s.asked[1]))
	}
}

// The first of two tools of one name does not reach the planner; a latent tool has _output in its
// schema, one that something runs does not.
func TestComposedSchema(t *testing.T) {
	var s scene
	s.task.Catalogue = s.calls.tools(t, map[string]string{
		"run":   `{"description":"Runs.","properties":{"a":{"type":"integer"},"_output":{"type":"string"},"_outputPath":{"const":"†state.r"}},"required":["a"],"additionalProperties":false}`,
		"think": `{"properties":{"q":{"$ref":"#/$defs/q"},"_output":{"type":"number"}},"$defs":{"q":{"type":"string"}}}`,
	}, map[string]activity{"run": gives("1")})
	s.task.Context = json.RawMessage(`[{"type":"tool","tool":{"extra":{"properties":{"one":{}}}}},{"type":"tool","tool":{"extra":{"properties":{"two":{}}}}}]`)
	s.task.Schema = json.RawMessage(`{"type":"object","properties":{"x":{"type":"string"}}}`)
	script := loop.Say(`{"output":{"x":"y"}}`)
	var schema json.RawMessage
	script.OnTurn = func(turn *model.Turn) { schema = turn.Schema }
	s.task.Planner = script
	if _, err := loop.Solve(t.Context(), &s.task, nil); err != nil {
		t.Fatal(err)
	}
	golden := "testdata/composed.json"
	if os.Getenv("UPDATE") != "" {
		_ = os.MkdirAll("testdata", 0o755)
		_ = os.WriteFile(golden, append(schema, '\n'), 0o644)
	}
	want, err := os.ReadFile(golden)
	if err != nil || strings.TrimSpace(string(want)) != string(schema) {
		t.Errorf("%v\n%s", err, schema)
	}
	compiled, err := schemas.Compile(schema, nil)
	if err != nil {
		t.Fatal(err)
	}
	for answer, ok := range map[string]bool{
		`{"calls":[],"output":{"x":"†state.total"}}`:                                       true,
		`{"calls":[],"output":{"x":3}}`:                                                    false,
		`{"calls":[{"_tool":"run","a":"†input.a","_outputMethod":"merge"}],"output":null}`: true,
		`{"calls":[{"_tool":"run","a":"†input.a","_outputMethod":"add"}],"output":null}`:   false,
	} {
		if err := compiled.Validate(json.RawMessage(answer)); (err == nil) != ok {
			t.Errorf("%s: %v", answer, err)
		}
	}
}

// What advisors say comes first in the schema and the answer, and then the plan as ever.
func TestAdvisors(t *testing.T) {
	ways(t, func(t *testing.T, piece int) {
		s := noted(t)
		s.task.Context = json.RawMessage(`[{"type":"advisor","id":"critic","role":"You look for risks.","on":["look"],"scopes":["input"],"schema":{"type":"object","properties":{"risks":{"type":"array","items":{"type":"string"}}}}},{"type":"advisor","role":"You are brief."}]`)
		script := loop.Say(`{"advisors":{"critic":{"risks":["calls","none"]},"advisor-2":"ok \"calls\": ["},"calls":[{"_tool":"look","q":1,"_outputPath":"†state.x"}],"output":"†state.x.q"}`)
		script.Piece = piece
		var asked model.Turn
		script.OnTurn = func(turn *model.Turn) { asked = *turn }
		s.task.Planner = script
		r, err := loop.Solve(t.Context(), &s.task, &s.opts)
		if err != nil {
			t.Fatal(err)
		}
		wants(t, r, exec.Completed, `1`, `{"x":{"q":1}}`)
		const schema = `{"type":"object","properties":{"advisors":{"type":"object","properties":{"critic":{"type":"object","properties":{"risks":{"type":"array","items":{"type":"string"}}}},"advisor-2":{"type":"string"}},"required":["critic","advisor-2"],"additionalProperties":false},"calls":`
		if !strings.HasPrefix(string(asked.Schema), schema) || !strings.Contains(string(asked.Schema), `"required":["advisors","calls","output"]`) {
			t.Errorf("schema %s", asked.Schema)
		}
		if text := asked.Messages[0].Text; !strings.Contains(text, "- critic: You look for risks.; on: [\"look\"]; scopes: [\"input\"]\n- advisor-2: You are brief.\n") {
			t.Errorf("asked %s", text)
		}
	})
}
