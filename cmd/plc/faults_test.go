package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plc-lang/plc/lang/dialect/notations"
)

// faultTools are the tools of the plans below. The tool find gives an id and a name.
const faultTools = `
tools:
  find:
    properties: {query: {type: string}, limit: {type: integer}, _output: {type: object, properties: {id: {type: integer}, name: {type: string}}, required: [id, name]}}
    required: [query]
    additionalProperties: false
    effects: {readOnly: true}
  name:
    properties: {of: {type: string}, _output: {type: string}}
    required: [of]
    additionalProperties: false
    effects: {readOnly: true}
  show:
    properties: {text: {type: string}, n: {type: integer}}
    required: [text]
    additionalProperties: false
    effects: {readOnly: true}
`

// fault is a change of a plan that makes it faulty.
type fault struct {
	change [2]string // this becomes that, once
	code   string    // of the finding; "" for a change that is none
	at     string    // the text that the finding is about begins with it
}

// no is a fault that can't be made in a notation.
var no = fault{}

// faults are those of every notation.
var faults = []string{
	"unknown tool", "unknown param", "missing param", "wrong type", "reference of a wrong type",
	"reference to nothing", "reference to itself", "reference to a later step", "reference off by one",
	"near reference", "placeholder", "text like a reference", "same label twice", "cut off", "list in prose",
}

// faulty is a sound plan and the faults that it can have, in their order above.
type faulty struct {
	plan   string
	faults []fault
}

// faultyPlans are a plan for each notation: it finds something, and shows its name.
func faultyPlans() map[string]faulty {
	ch := func(from, to string) [2]string { return [2]string{from, to} }
	return map[string]faulty{
		"llmcompiler": {"1. name(\"x\")\n2. find(\"y\", 3)\n3. show(\"It is $1.\", 3)\n4. join()<END_OF_PLAN>", []fault{
			{ch("find", "fnd"), "PLC201", "fnd"}, {ch("\"y\", 3", "\"y\", lmit=3"), "PLC206", "lmit"}, {ch("name(\"x\")", "name()"), "PLC205", "name"},
			{ch("\"y\", 3", "\"y\", 3.5"), "PLC501", "3.5"}, {ch("\"It is $1.\"", "$2"), "PLC502", "$2"},
			{ch("It is $1.", "$7"), "PLC302", "$7"}, {ch("It is $1.", "$3"), "PLC311", "$3"}, {ch("\"x\"", "$2"), "PLC311", "$2"}, {ch("It is $1.", "It is $0."), "PLC113", "$0"},
			{ch("$1.", "$8."), "PLC113", "$8"}, no, {ch("$1.", "$5000 to $1.50"), "", ""},
			{ch("2. find", "1. find"), "PLC204", "1"}, {ch("\n4. join()<END_OF_PLAN>", "\n4. jo"), "PLC106", "4. jo"}, {ch("1. name(\"x\")", "- name(\"x\")"), "PLC106", "- name"},
		}},
		"rewoo": {"Plan: a\n#E1 = name[x]\nPlan: b\n#E2 = find[y]\nPlan: c\n#E3 = show[It is #E1]", []fault{
			{ch("find", "fnd"), "PLC201", "fnd"}, no, no, no, {ch("It is #E1", "#E2"), "PLC502", "#E2"},
			{ch("#E1]", "#E7]"), "PLC302", "#E7"}, {ch("#E1]", "#E3]"), "PLC311", "#E3"}, {ch("[x]", "[#E2]"), "PLC311", "#E2"}, {ch("It is #E1", "#E0"), "PLC302", "#E0"},
			{ch("is #E1]", "is #1]"), "PLC113", "#1"}, no, {ch("#E1]", "#W12]"), "", ""},
			{ch("#E2 =", "#E1 ="), "PLC204", "E1"}, {ch("is #E1]", "is"), "PLC106", "#E3"}, {ch("#E2 = find", "- E2: find"), "PLC106", "- E2"},
		}},
		"mathqa": {"multiply(n0,const_2)|add(#0,n1)|", []fault{
			{ch("add", "ad"), "PLC201", "ad"}, {ch("#0,n1", "#0,n1,n2"), "PLC206", "n2"}, {ch("#0,n1", "#0"), "PLC205", "add"}, no, no,
			{ch("#0", "#7"), "PLC302", "#7"}, {ch("#0", "#1"), "PLC311", "#1"}, {ch("n0", "#1"), "PLC311", "#1"}, no,
			no, no, no, no, {ch(",n1)|", ",n"), "PLC106", "add"}, {ch("multiply", "- multiply"), "PLC106", "-"},
		}},
		"qdmr": {"name['x'] ;find['y'] ;show['It is #1']", []fault{
			{ch("find", "fnd"), "PLC201", "fnd"}, {ch("['x']", "['x', 'z']"), "PLC206", "z"}, {ch("['x']", "[]"), "PLC205", "name"}, no, {ch("It is #1", "#2"), "PLC502", "#2"},
			{ch("#1'", "#7'"), "PLC302", "#7"}, {ch("#1'", "#3'"), "PLC311", "#3"}, {ch("'x'", "'#2'"), "PLC311", "#2"}, {ch("#1'", "#0'"), "PLC302", "#0"},
			{ch("#1'", "# 1'"), "PLC113", "# 1"}, no, {ch("#1'", "C#1 and #123'"), "", ""},
			no, {ch("#1']", "#1"), "PLC106", "show"}, {ch("find['y']", "- find y"), "PLC106", "- find"},
		}},
		"nestful": {`[{"name": "name", "arguments": {"of": "x"}, "label": "var1"}, {"name": "find", "arguments": {"query": "y"}, "label": "var2"}, {"name": "show", "arguments": {"text": "It is $var1$", "n": 3}, "label": "var3"}]`, []fault{
			{ch(`"find"`, `"fnd"`), "PLC201", "fnd"}, {ch(`"query"`, `"qery"`), "PLC206", "qery"}, {ch(`"of": "x"`, ``), "PLC205", "name"},
			{ch(`"n": 3`, `"n": "3"`), "PLC501", `"3"`}, {ch(`It is $var1$`, `$var2$`), "PLC502", "$var2$"},
			{ch(`$var1$`, `$var7$`), "PLC302", "$var7$"}, {ch(`$var1$`, `$var3$`), "PLC311", "$var3$"}, {ch(`"x"`, `"$var2$"`), "PLC311", "$var2$"}, {ch(`$var1$`, `$var0$`), "PLC302", "$var0$"},
			{ch(`$var1$`, `var1.id$`), "PLC113", "var1.id$"}, {ch(`It is $var1$`, `<Current exchange rate>`), "PLC113", "<Current"}, {ch(`$var1$`, `$100-$200, $top`), "", ""},
			{ch(`"var2"`, `"var1"`), "PLC204", "var1"}, {ch(`, "label": "var3"}]`, ``), "PLC101", ""}, {ch(`[{`, `- {`), "PLC101", ""},
		}},
		"taskbench": {`{"task_nodes": [{"task": "name", "arguments": [{"name": "of", "value": "x"}]}, {"task": "find", "arguments": [{"name": "query", "value": "y"}]}, {"task": "show", "arguments": [{"name": "text", "value": "<node-0>"}, {"name": "n", "value": 3}]}], "task_links": [{"source": "name", "target": "show"}]}`, []fault{
			{ch(`"task": "find"`, `"task": "fnd"`), "PLC201", "fnd"}, {ch(`"query"`, `"qery"`), "PLC206", "qery"}, {ch(`{"name": "of", "value": "x"}`, ``), "PLC205", "name"},
			{ch(`"value": 3`, `"value": "3"`), "PLC501", `"3"`}, {ch(`<node-0>`, `<node-1>`), "PLC502", "<node-1>"},
			{ch(`<node-0>`, `<node-7>`), "PLC302", "<node-7>"}, {ch(`<node-0>`, `<node-2>`), "PLC311", "<node-2>"}, {ch(`"x"`, `"<node-1>"`), "PLC311", "<node-1>"}, {ch(`<node-0>`, `<node-3>`), "PLC302", "<node-3>"},
			{ch(`<node-0>`, `<node_0>`), "PLC113", "<node_0>"}, {ch(`"y"`, `"<Current exchange rate>"`), "PLC113", "<Current"}, {ch(`"y"`, `"<summary> of node 0"`), "", ""},
			no, {ch(`}], "task_links": [{"source": "name", "target": "show"}]}`, ``), "PLC101", ""}, {ch(`{"task_nodes"`, `- {"task_nodes"`), "PLC101", ""},
		}},
		"mnms": {`[{"id": 0, "name": "name", "args": {"of": "x"}}, {"id": 1, "name": "find", "args": {"query": "y"}}, {"id": 2, "name": "show", "args": {"text": "It is <node-1>.name", "n": 3}}]`, []fault{
			{ch(`"find"`, `"fnd"`), "PLC201", "fnd"}, {ch(`"query"`, `"qery"`), "PLC206", "qery"}, {ch(`"of": "x"`, ``), "PLC205", "name"},
			{ch(`"n": 3`, `"n": "3"`), "PLC501", `"3"`}, {ch(`It is <node-1>.name`, `<node-1>.id`), "PLC502", "<node-1>.id"},
			{ch(`<node-1>`, `<node-7>`), "PLC302", "<node-7>"}, {ch(`<node-1>`, `<node-2>`), "PLC311", "<node-2>"}, {ch(`"x"`, `"<node-1>.name"`), "PLC311", "<node-1>"}, {ch(`<node-1>`, `<node-3>`), "PLC302", "<node-3>"},
			{ch(`<node-1>.name`, `node-1.name`), "PLC113", "node-1"}, {ch(`"y"`, `"<Current exchange rate>"`), "PLC113", "<Current"}, {ch(`"y"`, `"<summary> of node 0"`), "", ""},
			{ch(`"id": 1`, `"id": 0`), "PLC204", "0"}, {ch(`, "n": 3}}]`, ``), "PLC101", ""}, {ch(`[{`, `- {`), "PLC101", ""},
		}},
		"sealtools": {`[{"api": "name", "parameters": {"of": "x"}, "responses": ["API_call_0"]}, {"api": "find", "parameters": {"query": "y"}, "responses": ["API_call_1", "API_call_2"]}, {"api": "show", "parameters": {"text": "API_call_2", "n": 3}, "responses": ["API_call_3"]}]`, []fault{
			{ch(`"find"`, `"fnd"`), "PLC201", "fnd"}, {ch(`"query"`, `"qery"`), "PLC206", "qery"}, {ch(`"of": "x"`, ``), "PLC205", "name"},
			{ch(`"n": 3`, `"n": "3"`), "PLC501", `"3"`}, {ch(`"text": "API_call_2"`, `"text": "API_call_1"`), "PLC502", "API_call_1"},
			{ch(`"text": "API_call_2"`, `"text": "API_call_9"`), "PLC302", "API_call_9"}, {ch(`"text": "API_call_2"`, `"text": "API_call_3"`), "PLC311", "API_call_3"}, {ch(`"x"`, `"API_call_1"`), "PLC311", "API_call_1"}, no,
			{ch(`"text": "API_call_2"`, `"text": "API call 2"`), "PLC113", "API call 2"}, no, {ch(`"y"`, `"API_caller"`), "", ""},
			{ch(`["API_call_1", "API_call_2"]`, `["API_call_0", "API_call_2"]`), "PLC204", "API_call_0"}, {ch(`, "responses": ["API_call_3"]}]`, ``), "PLC101", ""}, {ch(`[{`, `- {`), "PLC101", ""},
		}},
		"arazzo": {`arazzo: 1.0.1
info: {title: t, version: "1"}
sourceDescriptions: [{name: s, url: x.yaml, type: openapi}]
workflows:
  - workflowId: w
    steps:
      - {stepId: one, operationId: name, parameters: [{name: of, in: query, value: x}], outputs: {all: $response.body}}
      - {stepId: two, operationId: find, parameters: [{name: query, in: query, value: y}], outputs: {all: $response.body}}
      - {stepId: three, operationId: show, parameters: [{name: text, in: query, value: $steps.one.outputs.all}, {name: n, in: query, value: 3}]}
`, []fault{
			{ch("operationId: find", "operationId: fnd"), "PLC201", "fnd"}, {ch("name: query,", "name: qery,"), "PLC206", "qery"}, {ch("{name: of, in: query, value: x}", ""), "PLC205", "name"},
			{ch("value: 3}", "value: \"3\"}"), "PLC501", "\"3\""}, {ch("$steps.one.outputs.all", "$steps.two.outputs.all"), "PLC502", "$steps.two"},
			{ch("$steps.one.", "$steps.nine."), "PLC302", "$steps.nine"}, {ch("$steps.one.", "$steps.three."), "PLC302", "$steps.three"}, no, no,
			{ch("$steps.one.outputs.all", "'It is $steps.one.outputs.all.'"), "PLC113", "$steps.one"}, no, {ch("value: y", "value: $top of $100"), "", ""},
			{ch("stepId: two", "stepId: one"), "PLC204", "one"}, {ch("outputs: {all: $response.body}}\n      - {stepId: three", "outputs: {all: \n      - {stepId: three"), "PLC101", ""}, {ch("workflows:", "- workflows"), "PLC101", ""},
		}},
		"flux": {`[{"name": "one", "description": "find x"}, {"name": "two", "description": "show it", "depends_on": ["one"]}]`, []fault{
			no, no, no, no, no,
			{ch(`["one"]`, `["none"]`), "PLC305", "none"}, {ch(`["one"]`, `["two"]`), "PLC401", "two"}, no, no, no, no, {ch(`find x`, `$1 {{one}} #E1 <node-0>`), "", ""},
			{ch(`"name": "two"`, `"name": "one"`), "PLC204", "one"}, {ch(`, "depends_on": ["one"]}]`, ``), "PLC101", ""}, {ch(`[{`, `- {`), "PLC101", ""},
		}},
		"tea": {`{"id": "p", "goal": "g", "strategy": "flat", "subtasks": [{"id": "one", "description": "find x", "dependencies": []}, {"id": "two", "description": "show it", "dependencies": ["one"]}]}`, []fault{
			no, no, no, no, no,
			{ch(`["one"]`, `["none"]`), "PLC305", "none"}, {ch(`["one"]`, `["two"]`), "PLC401", "two"}, no, no, no, no, {ch(`find x`, `$1 {{one}} #E1 <node-0>`), "", ""},
			{ch(`"id": "two"`, `"id": "one"`), "PLC204", "one"}, {ch(`, "dependencies": ["one"]}]}`, ``), "PLC101", ""}, {ch(`{"id": "p"`, `- {"id": "p"`), "PLC101", ""},
		}},
		"agentframework": {`{"steps": [{"id": "one", "kind": "call_tool", "tool_name": "name", "parameters": {"of": "x"}}, {"id": "two", "kind": "call_tool", "tool_name": "find", "parameters": {"query": "y"}, "depends_on": ["one"]}, {"id": "three", "kind": "call_tool", "tool_name": "show", "parameters": {"text": "It is {{two.name}}", "n": 3}, "depends_on": ["two"]}]}`, []fault{
			{ch(`"find"`, `"fnd"`), "PLC201", "fnd"}, {ch(`"query"`, `"qery"`), "PLC206", "qery"}, {ch(`"of": "x"`, ``), "PLC205", "name"},
			{ch(`"n": 3`, `"n": "3"`), "PLC501", `"3"`}, {ch(`It is {{two.name}}`, `{{two.id}}`), "PLC502", "{{two.id}}"},
			{ch(`["two"]`, `["nine"]`), "PLC302", "nine"}, {ch(`{{two.name}}`, `{{three.name}}`), "PLC311", "{{three"}, {ch(`"x"`, `"{{two.name}}"`), "PLC311", "{{two"}, no,
			{ch(`{{two.name}}`, `${two.name}`), "PLC113", "${two"}, no, {ch(`"y"`, `"{ x } or <y>"`), "", ""},
			{ch(`"id": "two"`, `"id": "one"`), "PLC204", "one"}, {ch(`, "depends_on": ["two"]}]}`, ``), "PLC101", ""}, {ch(`{"steps"`, `- {"steps"`), "PLC101", ""},
		}},
		"planstep": {`{"goal": "g", "steps": [{"id": "one", "action": "name", "parameters": {"of": "x"}, "dependencies": []}, {"id": "two", "action": "find", "parameters": {"query": "y"}, "dependencies": ["one"]}, {"id": "three", "action": "show", "parameters": {"text": "It is {{two.name}}", "n": 3}, "dependencies": ["two"]}]}`, []fault{
			{ch(`"find"`, `"fnd"`), "PLC201", "fnd"}, {ch(`"query"`, `"qery"`), "PLC206", "qery"}, {ch(`"of": "x"`, ``), "PLC205", "name"},
			{ch(`"n": 3`, `"n": "3"`), "PLC501", `"3"`}, {ch(`It is {{two.name}}`, `{{two.id}}`), "PLC502", "{{two.id}}"},
			{ch(`["two"]`, `["nine"]`), "PLC305", "nine"}, {ch(`{{two.name}}`, `{{three.name}}`), "PLC311", "{{three"}, no, no,
			{ch(`{{two.name}}`, `${two.name}`), "PLC113", "${two"}, no, {ch(`"y"`, `"{ x } or <y>"`), "", ""},
			{ch(`"id": "two"`, `"id": "one"`), "PLC204", "one"}, {ch(`, "dependencies": ["two"]}]}`, ``), "PLC101", ""}, {ch(`{"goal"`, `- {"goal"`), "PLC101", ""},
		}},
		"toolcalls": {`{"tool_calls": [{"id": "c1", "type": "function", "function": {"name": "find", "arguments": "{\"query\": \"y\"}"}}, {"id": "c2", "type": "function", "function": {"name": "show", "arguments": "{\"text\": \"y\", \"n\": 3}"}}]}`, []fault{
			{ch(`"find"`, `"fnd"`), "PLC201", "fnd"}, {ch(`query`, `qery`), "PLC206", "qery"}, {ch(`\"query\": \"y\"`, ``), "PLC205", "find"},
			{ch(`\"n\": 3`, `\"n\": \"3\"`), "PLC501", `\"3\"`}, no, no, no, no, no, no, no, {ch(`: \"y\"}`, `: \"$1 {{c1}} #E1 <node-0>\"}`), "", ""},
			{ch(`"c2"`, `"c1"`), "PLC204", "c1"}, {ch(`"}}]}`, ``), "PLC101", ""}, {ch(`{"tool_calls"`, `- {"tool_calls"`), "PLC101", ""},
		}},
	}
}

// TestFaultsOfNotations makes each fault in a plan of each notation: a sound plan has no
// finding, and a fault that one, where it is.
func TestFaultsOfNotations(t *testing.T) {
	tools := filepath.Join(t.TempDir(), "tools.yaml")
	if err := os.WriteFile(tools, []byte(faultTools), 0o644); err != nil {
		t.Fatal(err)
	}
	plans := faultyPlans()
	for _, n := range notations.All() {
		t.Run(n.Name, func(t *testing.T) {
			p, ok := plans[n.Name]
			if !ok || len(p.faults) != len(faults) {
				t.Fatalf("there are %d of %d faults", len(p.faults), len(faults))
			}
			if found := foundIn(t, n.Name, tools, p.plan); len(found) > 0 {
				t.Fatalf("the sound plan has %v", found)
			}
			for i, f := range p.faults {
				if f.change != no.change {
					t.Run(faults[i], func(t *testing.T) { f.check(t, n.Name, tools, p.plan) })
				}
			}
		})
	}
}

func (f *fault) check(t *testing.T, notation, tools, plan string) {
	text := strings.Replace(plan, f.change[0], f.change[1], 1)
	if text == plan {
		t.Fatalf("%q is not in the plan", f.change[0])
	}
	found := foundIn(t, notation, tools, text)
	switch {
	case f.code == "" && len(found) > 0:
		t.Errorf("%s\nhas %v", text, found)
	case f.code != "" && !slices.ContainsFunc(found, func(g located) bool {
		return strings.HasPrefix(g.Code, f.code) && strings.HasPrefix(text[g.Offset:], f.at)
	}):
		t.Errorf("%s\nhas %v, want %s at %q", text, found, f.code, f.at)
	}
}

// located is a finding and where it is.
type located struct {
	Code, Severity, Message string
	Offset                  int
}

// foundIn are the errors and warnings of a plan.
func foundIn(t *testing.T, notation, tools, plan string) (found []located) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	run([]string{"check", "-", "--from", notation, "--tools", tools, "--format", "json"}, strings.NewReader(plan), &stdout, &stderr)
	if stdout.Len() == 0 && stderr.Len() > 0 && !strings.Contains(stderr.String(), "nothing wrong") {
		t.Fatal(&stderr)
	}
	for dec := json.NewDecoder(&stdout); dec.More(); {
		var f located
		if err := dec.Decode(&f); err != nil {
			t.Fatal(err)
		}
		if f.Severity != "info" {
			found = append(found, f)
		}
	}
	return found
}
