package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plc-lang/plc/tool/model/modeltest"
)

// guardedTools are the tools of TestModelCanNotGetPast: pay has an enum and a maximum and asks, wipe
// is denied by the policy, and what each runs leaves a line in a file.
const guardedTools = `
models:
  default: {provider: openai, model: test, baseURL: "@MODEL@", apiKey: {env: MODEL_KEY}}
tools:
  look: {properties: {q: {}}, effects: {readOnly: true}}
  free: {effects: {readOnly: true}}
  broken: {effects: {readOnly: true}}
  pay:
    properties: {_activity: {const: payer}, amount: {type: integer, maximum: 100}, to: {enum: [ada, ben]}}
    required: [amount, to]
    effects: {destructive: true}
  wipe: {properties: {_activity: {const: wiper}}, effects: {destructive: true}}
activities:
  look: {echo: true}
  free: {return: 1}
  broken: {fail: {code: broken, permanent: true}}
  payer: {process: {command: [sh, -c, "cat >> effects; echo >> effects; echo 1"]}}
  wiper: {process: {command: [sh, -c, "echo wiped >> effects; echo 1"]}}
  said: {echo: true, offer: true}
policy: {deny: [wipe]}
`

// servedTools has a tool that pay is besides, over that of a server.
const servedTools = `
mcpServers: {web: {command: mcpserver, args: [web]}}
tools:
  send:
    properties: {_activity: {const: sender}, amount: {type: integer, maximum: 100}, to: {enum: [ada, ben]}}
    required: [amount, to]
    effects: {destructive: true}
activities:
  sender: {mcp: {server: web, tool: web_pay}}
`

// solveWays are the ways in which a model tries to make a call: TOOL is the tool, ACTIVITY what runs
// it, and PARAMS are its params.
var solveWays = map[string]string{
	"directly":                `{"calls":[{"_tool":"TOOL",PARAMS}],"output":null}`,
	"values of another call":  `{"calls":[{"_tool":"look","q":{PARAMS},"_outputPath":"†state.x"},{"_tool":"TOOL","amount":"†state.x.q.amount","to":"†state.x.q.to"}],"output":null}`,
	"_activity":               `{"calls":[{"_tool":"look","_activity":"ACTIVITY",PARAMS}],"output":null}`,
	"_activity, no schema":    `{"calls":[{"_tool":"free","_activity":"ACTIVITY",PARAMS}],"output":null}`,
	"_fallback":               `{"calls":[{"_tool":"broken",PARAMS,"_fallback":"TOOL"}],"output":null}`,
	"_fallback of its own":    `{"calls":[{"_tool":"broken","_fallback":{"_tool":"free","_activity":"ACTIVITY",PARAMS}}],"output":null}`,
	"a definition in it":      `{"tools":{"mine":{"properties":{"_activity":{"const":"ACTIVITY"}}}},"calls":[{"_tool":"mine",PARAMS}],"output":null}`,
	"a definition before it":  `[{"type":"tool","tool":{"mine":{"properties":{"_activity":{"const":"ACTIVITY"}},"effects":{"pure":true}}}},{"type":"plan","plan":[{"_tool":"mine",PARAMS}]}]`,
	"the tool defined again":  `[{"type":"tool","tool":{"TOOL":{"properties":{"amount":{},"to":{}},"effects":{"pure":true}}}},{"type":"plan","plan":[{"_tool":"TOOL",PARAMS}]}]`,
	"an offered activity":     `[{"type":"tool","tool":{"mine":{"properties":{"_activity":{"const":"said"}}}}},{"type":"plan","plan":[{"_tool":"mine","_activity":"ACTIVITY",PARAMS}]}]`,
	"a delegate":              `{"calls":[{"_tool":"free","_delegate":"sub-TOOL.json",PARAMS}],"output":null}`,
	"a delegate that defines": `{"calls":[{"_tool":"free","_delegate":"own-TOOL.json",PARAMS}],"output":null}`,
	"a loop":                  `{"calls":[{"_tool":"forEach","items":[{PARAMS}],"_delegate":"sub-TOOL.json"}],"output":null}`,
	"an alias":                `{"calls":[{"_tool":"ALIAS",PARAMS}],"output":null}`,
	"an alias as _activity":   `{"calls":[{"_tool":"free","_activity":"ALIAS",PARAMS}],"output":null}`,
	"approval taken back":     `{"calls":[{"_tool":"TOOL","_approve":false,PARAMS}],"output":null}`,
}

// A model that plc solve asks can't get past an enum, a maximum, a person or the policy, whichever
// way it takes; the same ways with params that are allowed lead somewhere.
func TestModelCanNotGetPast(t *testing.T) {
	t.Setenv("MODEL_KEY", modeltest.Key)
	targets := []struct{ tool, activity, alias string }{{"pay", "payer", "payer"}, {"send", "sender", "web.web_pay"}, {"wipe", "wiper", "wiper"}}
	const allowed = `"amount":5,"to":"ada"`
	plans, worked := 0, 0
	for _, target := range targets {
		t.Run(target.tool, func(t *testing.T) {
			dir := t.TempDir()
			write(t, filepath.Join(dir, "sub-"+target.tool+".json"), `[{"_tool":"`+target.tool+`","amount":"†input.amount","to":"†input.to"}]`)
			write(t, filepath.Join(dir, "own-"+target.tool+".json"), `[{"type":"tool","tool":{"mine":{"properties":{"_activity":{"const":"`+target.activity+`"}}}}},
				{"type":"plan","plan":[{"_tool":"mine","amount":"†input.amount","to":"†input.to"}]}]`)
			served := filepath.Join(dir, "served.yaml")
			write(t, served, servedTools)
			fill := func(way, params string) string {
				return strings.NewReplacer("TOOL", target.tool, "ACTIVITY", target.activity, "ALIAS", target.alias, "PARAMS", params).Replace(way)
			}
			solve := func(plans []string, args ...string) (effects int) {
				t.Helper()
				var replies []modeltest.Reply
				for _, p := range append(plans, `{"calls":[],"output":"done"}`) {
					reply := modeltest.Say(p)
					reply.Piece = 7
					replies = append(replies, reply)
				}
				tools := strings.ReplaceAll(guardedTools, "@MODEL@", modeltest.New(t, replies...).OpenAI().BaseURL)
				write(t, filepath.Join(dir, "tools.yaml"), tools)
				if target.tool == "send" {
					args = append(args, "--tools", served)
				}
				o := runHere(t, dir, append([]string{"solve", "x", "--tools", "tools.yaml", "--store", "none", "--max-repairs", "50", "--max-turns", "50"}, args...)...)
				for _, name := range []string{"effects", "paid.txt"} {
					if _, err := os.Stat(filepath.Join(dir, name)); err == nil {
						effects++
						_ = os.Remove(filepath.Join(dir, name))
					}
				}
				if len(plans) > 1 && !strings.Contains(o.stdout, "done") {
					t.Errorf("not every plan was answered: exit %d\n%s", o.code, o.stderr)
				}
				return effects
			}
			var names, all []string
			for name := range solveWays {
				names = append(names, name)
			}
			slices.Sort(names)
			for _, name := range names {
				for _, params := range []string{`"amount":1000,"to":"ada"`, `"amount":5,"to":"eve"`} {
					all = append(all, fill(solveWays[name], params))
				}
			}
			plans += len(all)
			if n := solve(all, "--yes"); n > 0 {
				t.Errorf("%d effects of plans that the schema or the policy forbids", n)
			}
			for _, name := range names {
				plan := []string{fill(solveWays[name], allowed)}
				plans++
				if n := solve(plan); n > 0 {
					t.Errorf("%s: an effect that nobody approved", name)
				}
				if target.tool == "wipe" {
					continue
				}
				if n := solve(plan, "--yes"); n > 0 {
					worked++
				}
			}
		})
	}
	if worked < 16 {
		t.Errorf("only %d plans that are allowed had their effect", worked)
	}
	t.Logf("%d plans refused, %d that were allowed and approved ran", plans, worked)
}
