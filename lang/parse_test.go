package lang

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/effort"
)

func parse(text string, opts *Options) (*Document, diag.List) {
	return Parse(diag.NewFile("plan.json", []byte(text)), opts)
}

// show is a finding on one line: its code, the text that it stands at, and its message.
func show(f *diag.Finding) string {
	at := func(s diag.Span) string { return string(f.Loc.File.Text[s.Start:s.End]) }
	s := fmt.Sprintf("%s %s: %s", f.Code, at(f.Loc.Span), f.Message)
	for _, r := range f.Related {
		s += fmt.Sprintf(" (%s: %s)", r.Message, at(r.Loc.Span))
	}
	return s
}

func showAll(list diag.List) (all []string) {
	for i := range list {
		all = append(all, show(&list[i]))
	}
	return all
}

func TestForms(t *testing.T) {
	const a, b = `{"_tool":"a"}`, `{"_tool":"b"}`
	for _, c := range []struct {
		text     string
		form     Form
		tools    string
		messages int
	}{
		{`[]`, CallList, "", 0},
		{`[` + a + `,` + b + `]`, CallList, "a b", 0},
		{"\ufeff[" + a + "]", CallList, "a", 0},
		{`[{"_tool":"a","type":"plan"}]`, CallList, "a", 0},
		{`{"type":"plan","plan":[` + a + `]}`, PlanMessage, "a", 0},
		{`{"type":"plan","calls":[` + a + `]}`, PlanMessage, "a", 0},
		{`{"type":"plan","plan":{"calls":[` + a + `]}}`, PlanMessage, "a", 0},
		{`{"plan":{"calls":[` + a + `]}}`, PlanMessage, "a", 0},
		{`{"plan":[` + a + `]}`, PlanMessage, "a", 0},
		{`{"calls":[` + a + `],"output":null,"meta":{}}`, Solution, "a", 0},
		{`[{"type":"state","x":1},{"type":"plan","plan":[` + a + `]},{"type":"plan","plan":[` + b + `]}]`, Context, "b", 3},
		{`{"context":[{"type":"plan","plan":[` + a + `]}],"solution":{"calls":[` + b + `]}}`, Request, "b", 1},
		{`{"context":[{"type":"plan","plan":[` + a + `]}],"solution":null}`, Request, "a", 1},
		{`{"context":[{"type":"plan","plan":[` + a + `]}],"schema":{}}`, Request, "a", 1},
		{`{"context":[{"type":"input"}],"calls":[` + a + `]}`, Request, "a", 1},
		{`{"solution":{"calls":[` + a + `]}}`, Request, "a", 0},
	} {
		doc, list := parse(c.text, nil)
		var tools []string
		for _, call := range doc.Calls {
			tools = append(tools, call.Tool)
		}
		if len(list) > 0 || doc.Form != c.form || strings.Join(tools, " ") != c.tools || len(doc.Messages) != c.messages {
			t.Errorf("%s: form %d, tools %s, %d messages, %q", c.text, doc.Form, tools, len(doc.Messages), showAll(list))
		}
	}
}

func TestModeOutputAndSchema(t *testing.T) {
	doc, _ := parse(`{"context":[{"type":"plan","mode":"lazy","plan":[]}],"schema":{"type":"object"},"solution":{"calls":[],"output":{"a":"†state.x"}}}`, nil)
	if doc.Mode != Lazy {
		t.Error("the mode of the context's plan message does not hold for the solution")
	}
	if got := string(doc.Schema.AppendJSON(nil)); got != `{"type":"object"}` {
		t.Errorf("schema %s", got)
	}
	if m, ok := doc.Output.Member("a"); !ok || m.Value.Text() == nil || !m.Value.Text().Whole {
		t.Errorf("the expression of the output was not read: %+v", m)
	}
	doc, _ = parse(`{"calls":[],"output":null}`, nil)
	if !doc.Output.IsZero() || doc.Mode != Eager {
		t.Errorf("output %v, mode %v", doc.Output, doc.Mode)
	}
}

func TestMessages(t *testing.T) {
	doc, list := parse(`[
		{"type":"input","description":"d","input":{"a":1}},
		{"type":"input","data":2},
		{"type":"state","_instance":"one","a":1,"b":2,"schema":{"type":"object"}},
		{"type":"state","state":1,"other":2},
		{"type":"data","kind":"user","data":[1]},
		{"type":"data","kind":"user","name":"Jo"},
		{"type":"data","x":1},
		{"type":"tool","tool":"Tool.search"},
		{"type":"error","data":{"call":"a"}},
		{"type":"nobodyKnows","x":1},
		{"type":"plan","plan":[]}
	]`, nil)
	if len(list) > 0 {
		t.Fatal(showAll(list))
	}
	want := []string{
		`input input  {"a":1} [input]`,
		`input input  2 [data]`,
		`state state one  [a b]`,
		`state state   [state other]`,
		`data user  [1] [data]`,
		`data user   [name]`,
		`data data   [x]`,
		`tool   "Tool.search" [tool]`,
		`error   {"call":"a"} [data]`,
		`nobodyKnows    [x]`,
		`plan   [] [plan]`,
	}
	for i, m := range doc.Messages {
		var names []string
		for _, member := range m.Members {
			names = append(names, member.Name)
		}
		if got := fmt.Sprintf("%s %s %s %s %v", m.Type, m.Kind, m.Instance, m.Payload.AppendJSON(nil), names); got != want[i] {
			t.Errorf("message %d: %s, want %s", i, got, want[i])
		}
	}
	if !doc.Messages[2].Schema.is(Object) {
		t.Error("the schema is missing")
	}
}

// findings are documents and all that is wrong with them.
var findingTable = []struct {
	text string
	want []string
}{
	// Not JSON.
	{``, []string{`PLC101 : the text is empty; a plan is JSON, such as [{"_tool": …}]`}},
	{"  // only a comment", []string{`PLC101 : the text is empty; a plan is JSON, such as [{"_tool": …}]`}},
	{"[\n{\"_tool\": \"a\",\n\"x\": [1, ", []string{`PLC101 : the text ends inside the list that starts at line 3 (opened here: [)`}},
	{`[{"_tool": "a]`, []string{`PLC101 ": the string that starts here is not closed`}},
	{"[{\"_tool\": \"a\n\"}, 1]", []string{"PLC101 \"a\n\": the string that starts here is not closed on its line (a line break in it is written \\n)",
		`PLC207 1: a call wants to be an object {"_tool": …}, not the number 1`}},
	{`[{"_tool": "a" "x": 1}]`, []string{`PLC101 "x": there is no comma before this`}},
	{`[{"_tool": "a"} {"_tool": "b"}]`, []string{`PLC101 {: there is no comma before this`}},
	{`[{"_tool": "a", "x": "say "hi""}]`, []string{`PLC101 hi: found "hi", want a comma or the end of the object that starts at line 1`}},
	{`[{"_tool": "a", "x": ["a""b"]}]`, []string{`PLC101 "b": found a string right after a string: a quote inside a string is written \"`}},
	{`[{'_tool': "a"}]`, []string{`PLC101 '_tool': the string is not in double quotes`}},
	{`[{_tool: “a”}]`, []string{`PLC101 _tool: the name _tool has no quotes`, `PLC101 “a”: the string is not in double quotes`}},
	{`[{"_tool": "a", "x": NaN, "y": undefined, "z": None, "w": yes, "v": 0x1F}]`, []string{
		`PLC101 NaN: JSON has no NaN; write null, or a string`,
		`PLC101 undefined: "undefined" is not JSON; write null, or leave the member out`,
		`PLC101 None: None is not JSON`,
		`PLC101 yes: "yes" is not JSON; a string is written in double quotes`,
		`PLC101 0x1F: "0x1F" is not a number in JSON`}},
	{`[{"_tool": "a",, "x": [1,,2]}]`, []string{`PLC101 ,: a comma too many`, `PLC101 ,: a comma too many`}},
	{`[{"_tool" "a", "x": , "y"}]`, []string{
		`PLC101 "_tool": there is no colon after the name "_tool"`, `PLC101 "x": the member "x" has no value`, `PLC101 "y": the member "y" has no value`}},
	{`[{"_tool": "a"]`, []string{`PLC101 ]: "]" does not close the object that starts at line 1 (opened here: {)`}},
	{`[{"_tool": "a"}}`, []string{`PLC101 }: "}" does not close the list that starts at line 1 (opened here: [)`}},
	{`{["a"]}`, []string{`PLC101 [: found "[", want a name in double quotes`}},
	{"[{\"_tool\": \"a\"}]\n[{\"_tool\": \"b\"}]\n", []string{`PLC101 [{"_tool": "b"}]: there is more text after the end of the document; plans that stand on a line each are read with plc check --jsonl (the document: [{"_tool": "a"}])`}},
	{"[{\"_tool\": \"a\"}] [{\"_tool\": \"b\"}]", []string{`PLC101 [{"_tool": "b"}]: there is more text after the end of the document (the document: [{"_tool": "a"}])`}},
	{`[{"_tool": "a"}] and so on `, []string{`PLC101 and so on: there is more text after the end of the document (the document: [{"_tool": "a"}])`}},
	{`[{"_tool": "C:\users", "x": "\q"}]`, []string{`PLC101 \: \u wants four hexadecimal digits; a backslash is written \\`, `PLC101 \: "\\q" is no escape in JSON; a backslash is written \\`}},
	{"[{\"_tool\": \"a\tb\"}]", []string{"PLC101 \"a\tb\": the control character U+0009 in a string is written \\u0009"}},
	{"[{\"_tool\": \"a\xffb\"}]", []string{"PLC101 \xff: the byte 0xff is not UTF-8"}},
	{"[{\"_tool\": \"a\"}, \xff]", []string{"PLC101 \xff: the byte 0xff is not UTF-8"}},
	{"[{\"_tool\": \"a\"}, /* \xff */]", []string{"PLC101 \xff: the byte 0xff is not UTF-8"}},
	{"[{\"_tool\":\u00a0\"a\"}]", []string{"PLC101 \u00a0: the character U+00A0 is no white space in JSON"}},
	{"[{\"_tool\": \"a\"}] \x00", []string{"PLC101 \x00: there is more text after the end of the document (the document: [{\"_tool\": \"a\"}])"}},
	{"\xff\xfe[\x00]\x00", []string{"PLC101 \xff: the text is UTF-16; save it as UTF-8"}},
	{`[{"_tool": "a"} /* `, []string{`PLC101 /: the comment that starts here has no "*/"`}},
	{`Here it is: [{"_tool": "a"}]`, []string{`PLC101 Here: the text does not start as JSON; a plan inside a model's raw answer is read with --from llm`}},

	// Duplicates.
	{`[{"_tool": "a", "p": 1, "\u0070": 2}]`, []string{`PLC102 "\u0070": the name "p" stands twice in one object (first written here: "p")`}},

	// Not a plan.
	{`{"hello": "world"}`, []string{`PLC105 {"hello": "world"}: found an object with "hello"; ` + shapes}},
	{`{}`, []string{`PLC105 {}: found an empty object; ` + shapes}},
	{`7`, []string{`PLC105 7: found the number 7; ` + shapes}},
	{`[1, 2]`, []string{`PLC105 [1, 2]: found a list that begins with the number 1; ` + shapes}},
	{`[{"tool": "a"}, {"name": "b", "x": 1}]`, []string{`PLC105 [{"tool": "a"}, {"name": "b", "x": 1}]: a call names its tool in "_tool"; here "tool" stands instead`}},
	{`[{"_tol": "a"}, {"_Tools": "b"}]`, []string{`PLC105 [{"_tol": "a"}, {"_Tools": "b"}]: a call names its tool in "_tool"; here "_tol" stands instead`}},
	{`[{"_tol": 1}]`, []string{`PLC105 [{"_tol": 1}]: found a list that begins with an object without "_tool"; ` + shapes}},
	{`{"plan": [{"tool": "a"}]}`, []string{`PLC105 {"plan": [{"tool": "a"}]}: a call names its tool in "_tool"; here "tool" stands instead`}},
	{`[{"tool": "a"}, {"x": 1}]`, []string{`PLC105 [{"tool": "a"}, {"x": 1}]: found a list that begins with an object without "_tool"; ` + shapes}},
	{`[{"type":"input"}, {"typ":"plan"}]`, []string{`PLC105 [{"type":"input"}, {"typ":"plan"}]: found a list of messages, but its element 1 has no "type"; ` + shapes}},
	{`{"type": "input", "x": 1}`, []string{`PLC105 {"type": "input", "x": 1}: this is one message of the type "input", and no plan; ` + shapes}},
	{`{"_tool": "a"}`, []string{`PLC105 {"_tool": "a"}: this is one call, and a plan is a list of calls`}},
	{`[{"type": "input"}]`, []string{`PLC105 [{"type": "input"}]: no message of the context has the type "plan"`}},
	{`{"type": "plan"}`, []string{`PLC105 {"type": "plan"}: the plan message has no "plan"; it wants a list of calls`}},
	{`{"type": "plan", "plan": 1}`, []string{`PLC105 1: "plan" wants a list of calls, not the number 1`}},
	{`{"calls": {}}`, []string{`PLC105 {}: "calls" wants a list of calls, not an object`}},
	{`{"context": [], "solution": {}}`, []string{`PLC105 {}: the solution has no "calls"; it wants a list of calls`}},
	{`{"context": [], "solution": 1}`, []string{`PLC105 1: "solution" wants an object {"calls": […]}, not the number 1`}},
	{`{"context": []}`, []string{`PLC105 {"context": []}: the request has no "solution", and its context no message of the type "plan"`}},
	{`{"context": {}, "solution": {"calls": []}}`, []string{`PLC105 {}: "context" wants a list of messages, not an object`}},
	{`{"context": [1, {"type": "plan", "plan": []}]}`, []string{`PLC105 1: a message wants to be an object with a string "type", such as {"type": "input", …}`}},
	{"1. search(\"x\")\n2. join()", []string{`PLC105 1.: this is no JSON, but looks like an LLMCompiler plan; it is read with --from llmcompiler`}},
	{"Plan: look\n#E1 = Search[x]", []string{`PLC105 Plan: this is no JSON, but looks like a ReWOO plan; it is read with --from rewoo`}},
	{"1. search:\n```\n[{\"_tool\": \"search\"}]\n```", []string{`PLC101 1.: the text does not start as JSON; a plan inside a model's raw answer is read with --from llm`}},
	{"arazzo: 1.0.1\ninfo:", []string{`PLC105 arazzo: this is no JSON, but looks like an Arazzo document in YAML; it is read with --from arazzo`}},
	{"- search\n- summarize", []string{`PLC105 -: this is no JSON, but looks like a list in prose; a plan is JSON, such as [{"_tool": …}]`}},
	{"Here it is:\n- _tool: search\n", []string{`PLC105 Here: this is no JSON, but looks like a plan in YAML; it is read from a file whose name ends in .yaml`}},
	{"multiply(n0,const_1000)|divide(#0,const_3600)|", []string{`PLC105 multiply: this is no JSON, but looks like a MathQA formula; it is read with --from mathqa`}},
	{"return cities ;return population of #1", []string{`PLC105 return: this is no JSON, but looks like a QDMR decomposition; it is read with --from qdmr`}},
	{`{"task_nodes": []}`, []string{`PLC105 {"task_nodes": []}: this looks like a TaskBench plan; it is read with --from taskbench`}},
	{`{"tool_calls": []}`, []string{`PLC105 {"tool_calls": []}: this looks like tool calls of a model; it is read with --from toolcalls`}},
	{`[{"name": "a", "arguments": {}, "label": "v"}]`, []string{`PLC105 [{"name": "a", "arguments": {}, "label": "v"}]: this looks like a NESTFUL plan; it is read with --from nestful`}},
	{`{"goal": "g", "steps": [{"id": "1", "action": "a"}]}`, []string{`PLC105 {"goal": "g", "steps": [{"id": "1", "action": "a"}]}: this looks like a plan of steps; it is read with --from planstep`}},

	// Messages.
	{`{"type": "plan", "mode": "layz", "plan": []}`, []string{`PLC207 "layz": "mode" wants one of eager, lazy, not the string "layz"; did you mean "lazy"?`}},
	{`[{"type": "data", "kind": 1}, {"type": "state", "_instance": ""}, {"type": "plan", "plan": []}]`, []string{
		`PLC207 1: "kind" wants a string that is not empty, not the number 1`, `PLC207 "": "_instance" wants a string that is not empty, not the string ""`}},
	{`[{"type": "inptu"}, {"type": "plan", "plan": []}]`, []string{`PLC207 "inptu": there is no message of the type "inptu"; did you mean "input"?`}},

	// Calls.
	{`[{"_tool": "a"}, 5]`, []string{`PLC207 5: a call wants to be an object {"_tool": …}, not the number 5`}},
	{`[{"_tool": "a"}, {"x": 1}]`, []string{`PLC202 {"x": 1}: the call has no "_tool"`}},
	{`[{"_tool": "a"}, {"tool": "b"}]`, []string{`PLC202 {"tool": "b"}: the call has no "_tool"; is "tool" a misspelling of it?`}},
	{`[{"_tool": "a"}, {"_tol": "b"}]`, []string{`PLC203 "_tol": there is no member "_tol"; did you mean "_tool"?`}},
	{`[{"_tool": "a", "_outputpath": "†state.x", "_foo": 1}]`, []string{
		`PLC203 "_outputpath": there is no member "_outputpath"; did you mean "_outputPath"?`,
		`PLC203 "_foo": there is no member "_foo"; the name of a param has no leading underscore`}},
	{`[{"_tool": "a"}, {"_tool": "b", "_after": ["a"], "_if": "†a"}]`, []string{
		`PLC203 "_after": there is no member "_after"; did you mean "_dependsOn"?`, `PLC203 "_if": there is no member "_if"; did you mean "_when"?`}},
	{`[{"_tool": ""}, {"_tool": null}]`, []string{
		`PLC207 "": "_tool" wants a string that is not empty, not the string ""`, `PLC207 null: "_tool" wants a string that is not empty, not null`}},
	{`[{"_tool": "a", "_id": "x"}, {"_tool": "b", "_id": "x"}, {"_tool": "c", "_id": ""}]`, []string{
		`PLC204 "x": two calls have the "_id" "x" (first written here: "x")`, `PLC207 "": "_id" wants a string that is not empty, not the string ""`}},
	{`[{"_tool": "a", "_outputPath": 1, "_outputMethod": "Set", "_errorPath": "†state.a && †state.b", "_when": true}]`, []string{
		`PLC207 1: "_outputPath" wants a path such as "†state.result", not the number 1`,
		`PLC207 "Set": "_outputMethod" wants one of set, merge, assign, push, concat, not the string "Set"; did you mean "set"?`,
		`PLC207 "†state.a && †state.b": "_errorPath" wants one path, not the string "†state.a && †state.b"`,
		`PLC207 true: "_when" wants an expression such as "†state.ok", not true`}},
	{`[{"_tool": "a", "_timeout": 0, "_retry": -1, "_onFailure": 3, "_approve": 1, "_dependsOn": "b", "_activity": 1, "_delegate": ""}]`, []string{
		`PLC207 0: "_timeout" wants a duration above 0 and up to a year, such as "1.5s", or seconds, not the number 0`,
		`PLC207 -1: "_retry" wants a number of retries, or an object {"max": …, "delay": …}, not the number -1`,
		`PLC207 3: "_onFailure" wants one of abort, skip, continue, replan, ask, undo, not the number 3`,
		`PLC207 1: "_approve" wants true, false or a reason, not the number 1`,
		`PLC207 "b": "_dependsOn" wants a list of ids of calls, not the string "b"`,
		`PLC207 1: "_activity" wants a string, not the number 1`,
		`PLC207 "": "_delegate" wants a string that is not empty, not the string ""`}},
	{`[{"_tool": "a", "_retry": {"delay": "soon", "factor": 0, "jitter": 1, "on": "x", "tries": 2}}]`, []string{
		`PLC207 {"delay": "soon", "factor": 0, "jitter": 1, "on": "x", "tries": 2}: "_retry" wants a "max", the number of retries`,
		`PLC207 "soon": "delay" wants a duration of up to a year, such as "1.5s", or seconds, not the string "soon"`,
		`PLC207 0: "factor" wants a number that is 1 or more, not the number 0`,
		`PLC207 1: "jitter" wants true or false, not the number 1`,
		`PLC207 "x": "on" wants a list of error codes, not the string "x"`,
		`PLC207 "tries": "_retry" has no member "tries"; it has max, delay, factor, maxDelay, jitter, on`}},
	{`[{"_tool": "a", "_scopes": "state", "_estimatedCost": -1, "_estimatedTokens": "many", "_description": 1, "_timeout": "400000h"}]`, []string{
		`PLC207 "state": "_scopes" wants a list of kinds or paths such as ["state", "†input.user"], not the string "state"`,
		`PLC207 -1: "_estimatedCost" wants a number that is not negative, not the number -1`,
		`PLC207 "many": "_estimatedTokens" wants a number that is not negative, not the string "many"`,
		`PLC207 1: "_description" wants a string, not the number 1`,
		`PLC207 "400000h": "_timeout" wants a duration above 0 and up to a year, such as "1.5s", or seconds, not the string "400000h"`}},
	{`[{"_tool": "a", "_fallback": {"x": 1, "_id": "y", "_retri": 1}}, {"_tool": "a", "_fallback": 1}]`, []string{
		`PLC202 {"x": 1, "_id": "y", "_retri": 1}: the fallback has no "_tool"`,
		`PLC207 "_id": a "_fallback" has no "_id"; it has that of its call`,
		`PLC203 "_retri": there is no member "_retri"; the name of a param has no leading underscore`,
		`PLC207 1: "_fallback" wants a string that is not empty, not the number 1`}},
}

const shapes = `a plan is a list of calls [{"_tool": …}], a message {"type": "plan", "plan": […]}, ` +
	`a solution {"calls": […]}, a list of messages, or a request {"context": […]}`

func TestFindings(t *testing.T) {
	for _, c := range findingTable {
		_, list := parse(c.text, nil)
		if got := showAll(list); !slices.Equal(got, c.want) {
			t.Errorf("%s\n got %s\nwant %s", c.text, strings.Join(got, "\n     "), strings.Join(c.want, "\n     "))
		}
	}
}

func TestFixesMend(t *testing.T) {
	for _, text := range []string{
		`[{"_tool": "a" "x": 1}]`, `[{'_tool': "a"}]`, `[{"_tool": 'it\'s "a"'}]`, `[{_tool: "a"}]`, `[{"_tool": “a”}]`,
		`[{"_tool": "a", "x": True}]`, `[{"_tool": "a", "x": [1,,2]}]`, `[{"_tool" "a"}]`, "[{\"_tool\":\u00a0\"a\"}]",
		"[{\"_tool\": \"a\tb\"}]", `[{"_tool": "it\'s"}]`, `{"_tool": "a"}`, `[{"_tool": "a", "_outputpath": "†state.x"}]`,
		`[{"_tool": "a"}, {"tool": "b"}]`, `[{"_tool": "a", "_dependsOn": "b"}]`, `[{"_tool": "a", "_outputMethod": "psh"}]`,
		`{"type": "plan", "mode": "lasy", "plan": []}`, `[{"type": "plam", "plan": []}, {"type": "plan", "plan": []}]`,
	} {
		_, list := parse(text, nil)
		if len(list) != 1 || list[0].Fix == nil {
			t.Errorf("%s: %q, want one finding with a fix", text, showAll(list))
			continue
		}
		mended := apply(text, list[0].Fix)
		if _, list = parse(mended, nil); len(list) > 0 {
			t.Errorf("%s becomes %s: %q", text, mended, showAll(list))
		}
	}
}

func TestCallAndPointerOfFindings(t *testing.T) {
	_, list := parse(`{"context":[{"type":"plan","plan":[{"_tool":"a"},{"_tool":"a","_retry":{"max":1,"delay":"x"}},{"_tool":"b","_id":"me","x":["†state."]}]}]}`, nil)
	var got []string
	for _, f := range list {
		got = append(got, fmt.Sprintf("%s %s %s", f.Code, f.Call, f.Pointer))
	}
	want := []string{"PLC207 a-2 /context/0/plan/1/_retry/delay", "PLC110 me /context/0/plan/2/x/0"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestLimits(t *testing.T) {
	for _, c := range []struct {
		text string
		opts Options
		want string
	}{
		{`[{"_tool":"a"}]`, Options{MaxBytes: 14}, `PLC103 : the text has 15 bytes, more than 14`},
		{`[{"_tool":"a"}]`, Options{MaxBytes: 15}, ""},
		{`[{"_tool":"a","x":[]}]`, Options{MaxDepth: 2}, `PLC103 [: nested more than 2 deep`},
		{`[{"_tool":"a","x":[]}]`, Options{MaxDepth: 3}, ""},
		{`[{"_tool":"a"},{"_tool":"b"}]`, Options{MaxCalls: 1}, `PLC103 [{"_tool":"a"},{"_tool":"b"}]: the plan has 2 calls, more than 1`},
		{`[{"_tool":"a"},{"_tool":"b"}]`, Options{MaxCalls: 2}, ""},
	} {
		_, list := parse(c.text, &c.opts)
		if got := strings.Join(showAll(list), "\n"); got != c.want {
			t.Errorf("%s: %s, want %s", c.text, got, c.want)
		}
	}
}

// TestTruncated cuts a document at every byte: each cut is reported, and no call
// that is not in the text comes out.
func TestTruncated(t *testing.T) {
	const text = `{"context": [{"type": "state", "state": {"n": 12}}], "solution": {"calls": [
		{"_tool": "a", "x": {"y": [1, "†state.n"]}, "_outputPath": "†state.b"}, // c
		{"_tool": "b", "ok": true, "z": "\u2020{state.b}"}], "output": {"r": "†state.b"}}}`
	whole, list := parse(text, nil)
	if len(list) > 0 {
		t.Fatal(showAll(list))
	}
	for i := 0; i < len(text); i += effort.Of(3, 1) {
		for _, answer := range []bool{false, true} {
			doc, list := parse(text[:i], &Options{Answer: answer})
			if !list.HasErrors() && !answer {
				t.Errorf("cut at %d: no error", i)
			}
			if list.HasErrors() {
				continue
			}
			for k, c := range doc.Calls {
				if !bytes.Equal(c.Node.AppendJSON(nil), whole.Calls[k].Node.AppendJSON(nil)) {
					t.Errorf("cut at %d: call %d is %s", i, k, c.Node.AppendJSON(nil))
				}
			}
			if !doc.Output.IsZero() && string(doc.Output.AppendJSON(nil)) != `{"r":"†state.b"}` {
				t.Errorf("cut at %d: output %s", i, doc.Output.AppendJSON(nil))
			}
		}
	}
}

func TestLineEndings(t *testing.T) {
	for _, eol := range []string{"\n", "\r\n", "\r"} {
		doc, list := parse(strings.ReplaceAll("// a\n[\n{\"_tool\": \"a\", // b\n\"x\": 1}\n/* c\n */]\n", "\n", eol), nil)
		if len(list) > 0 || len(doc.Calls) != 1 || len(doc.Calls[0].Params) != 1 {
			t.Errorf("%q: %q", eol, showAll(list))
		}
	}
}

// large returns a size or, unless the tests are to try much, an eighth of it.
func large(n int) int {
	if raceDetector || !effort.Long() {
		return n / 8
	}
	return n
}

func TestManyFindingsAreCounted(t *testing.T) {
	n := large(1_000_000)
	same := "[" + strings.Repeat(`{"_tool":"a","_id":"x"},`, n) + "]"
	names := `[{"_tool":"a",` + strings.Repeat(`"x":1,`, n) + "}]"
	numbers := "[" + strings.Repeat(`{"_tool":7},`, n) + "]"
	for _, c := range []struct {
		text string
		code diag.Code
		more string
	}{
		{same, diag.DuplicateID, fmt.Sprint(n-101, " more findings like those before")},
		{names, diag.DuplicateMember, fmt.Sprint(n-101, " more findings like those before")},
		{numbers, diag.BadMember, fmt.Sprint(n-100, " more findings like those before")},
	} {
		_, list := parse(c.text, nil)
		last := list[len(list)-1]
		if len(list) != maxPerCode+1 || last.Code != c.code || last.Message != c.more || last.Severity != diag.Error {
			t.Errorf("%s: %d findings, the last %s", c.code, len(list), show(&last))
		}
	}
}

// TestReadingEndsAfterTwentyFaults: whoever reads twenty faults of syntax is told that there may be
// more.
func TestReadingEndsAfterTwentyFaults(t *testing.T) {
	for faults, want := range map[int]int{1: 0, 19: 0, 20: 1, 21: 1, 500: 1} {
		_, list := parse("["+strings.Repeat(",", faults)+"]", nil)
		syntax, ended := 0, 0
		for _, f := range list {
			switch {
			case f.Message == "reading ended here, after 20 faults of syntax; what follows was not read":
				ended++
			case f.Code == diag.NotJSON:
				syntax++
			}
		}
		if syntax != min(faults, 20) || ended != want {
			t.Errorf("of %d faults %d are told, and that reading ended %d times, want %d", faults, syntax, ended, want)
		}
	}
}

func TestHostileTexts(t *testing.T) {
	for name, text := range map[string]string{
		"brackets":      strings.Repeat("[", 100<<20),
		"some brackets": strings.Repeat("[", large(1<<20)),
		"objects":       strings.Repeat(`{"a":`, large(1<<20)),
		"commas":        "[" + strings.Repeat(",", large(1<<20)),
		"strings":       "[" + strings.Repeat(`"a" `, large(1<<20)),
		"names":         "[{" + strings.Repeat(`"a" `, large(1<<20)),
		"quotes":        strings.Repeat(`[{'`, large(1<<20)),
		"words":         strings.Repeat("[x ", large(1<<20)),
		"open quotes":   strings.Repeat("[“", large(1<<20)),
		"fences":        strings.Repeat("``` ```x", large(1<<20)),
		"prose":         strings.Repeat("[1] {x} ```\n", large(1<<17)),
	} {
		for _, answer := range []bool{false, true} {
			_, list := parse(text, &Options{Answer: answer})
			if !list.HasErrors() || len(list) > 3*maxPerCode {
				t.Errorf("%s: %d findings", name, len(list))
			}
		}
	}
	long := `[{"_tool":"a","x":"` + strings.Repeat("x", large(63<<20)) + `"}]`
	if doc, list := parse(long, nil); len(list) > 0 || len(doc.Calls[0].Params[0].Value.Str()) != large(63<<20) {
		t.Errorf("a long string: %q", showAll(list))
	}
	var b strings.Builder
	for i := range large(1_000_000) {
		fmt.Fprintf(&b, `%s"n%d":1`, `,{`[b2i(i == 0):][:1], i)
	}
	if doc, list := parse(`[{"_tool":"a","x":`+b.String()+"}}]", nil); len(list) > 0 || doc.Calls[0].Params[0].Value.Len() != large(1_000_000) {
		t.Errorf("a million members: %q", showAll(list))
	}
}
