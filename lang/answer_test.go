package lang

import (
	"slices"
	"strings"
	"testing"
)

// answers are answers of models, the plan that is read, and all that is said
// about it. No plan means that there is an error.
var answers = []struct {
	name, text, plan string
	want             []string
}{
	{"bare", `[{"_tool":"a"}]`, `[{"_tool":"a"}]`, nil},
	{"prose and fence", "Sure! Here it is:\n\n```json\n[{\"_tool\":\"a\"}]\n```\nGood luck [1].", `[{"_tool":"a"}]`, nil},
	{"fence of jsonc", "```jsonc\n[ // c\n{\"_tool\":\"a\",}]\n```", `[{"_tool":"a"}]`, nil},
	{"fence in a quote", "> ```\n> [{\"_tool\":\"a\"}]\n> ```", `[{"_tool":"a"}]`, []string{"PLC104 >: there is text after the plan; mended: cut out"}[:0]},
	{"fence without end", "```json\n[{\"_tool\":\"a\"}]", `[{"_tool":"a"}]`, nil},
	{"several fences", "```python\nx = {1: [2]}\n```\nthen\n```json\n{\"hello\": 1}\n```\n```json\n{\"calls\":[{\"_tool\":\"a\"}]}\n```\n```\n[{\"_tool\":\"b\"}]\n```",
		`{"calls":[{"_tool":"a"}]}`, nil},
	{"fence inside a string", "```json\n[{\"_tool\":\"a\",\"x\":\"\\n```\\n\"}]\n```", `[{"_tool":"a","x":"\n` + "```" + `\n"}]`, nil},
	{"braces in prose", "Use {curly} [see 1] or {x: y}, not []: [{\"_tool\":\"a\"}]", `[{"_tool":"a"}]`, nil},
	{"JSON in prose", `An input {"a": 1} gives [{"_tool":"a"}]`, `[{"_tool":"a"}]`, nil},
	{"text after", `[{"_tool":"a"}] Hope this helps! [1]`, `[{"_tool":"a"}]`,
		[]string{`PLC104 Hope this helps! [1]: there is text after the plan; mended: cut out`}},
	{"thoughts before", "<think>maybe [{\"_tool\":\"b\"}]</think>\n[{\"_tool\":\"a\"}]", `[{"_tool":"a"}]`, nil},
	{"an empty plan", "Nothing to do: []", `[]`, nil},
	{"smart quotes", `[{“_tool”: “a”, ‘x’: ‘it\u0027s "y"’, „z“: 1}]`, `[{"_tool":"a","x":"it's \"y\"","z":1}]`, []string{
		`PLC104 “_tool”: the string is not in double quotes; mended: put in double quotes`,
		`PLC104 “a”: the string is not in double quotes; mended: put in double quotes`,
		`PLC104 ‘x’: the string is not in double quotes; mended: put in double quotes`,
		`PLC104 ‘it\u0027s "y"’: the string is not in double quotes; mended: put in double quotes`,
		`PLC104 „z“: the string is not in double quotes; mended: put in double quotes`}},
	{"Python", `[{'_tool': 'a', x: [True, False, None]}]`, `[{"_tool":"a","x":[true,false,null]}]`, []string{
		`PLC104 '_tool': the string is not in double quotes; mended: put in double quotes`,
		`PLC104 'a': the string is not in double quotes; mended: put in double quotes`,
		`PLC104 x: the name x has no quotes; mended: put in double quotes`,
		`PLC104 True: True is not JSON; mended: put true in its place`,
		`PLC104 False: False is not JSON; mended: put false in its place`,
		`PLC104 None: None is not JSON; mended: put null in its place`}},
	{"no commas", "[{\"_tool\":\"a\" \"x\": 1 y: 2}\n{\"_tool\":\"b\"}]", `[{"_tool":"a","x":1,"y":2},{"_tool":"b"}]`, []string{
		`PLC104 "x": there is no comma before this; mended: put in a comma`,
		`PLC104 y: there is no comma before this; mended: put in a comma`,
		`PLC104 y: the name y has no quotes; mended: put in double quotes`,
		`PLC104 {: there is no comma before this; mended: put in a comma`}},
	{"a line break in a string", "[{\"_tool\":\"a\",\"x\":\"one\ntwo\"}]", `[{"_tool":"a","x":"one\ntwo"}]`, []string{
		"PLC104 \"one\ntwo\": the string that starts here is not closed on its line (a line break in it is written \\n); mended: put in as JSON writes it"}},
	{"no end of the list", `[{"_tool":"a"}`, `[{"_tool":"a"}]`, []string{`PLC104 : the text ends too soon; mended: put in "]"`}},
	{"no end in a fence", "```json\n[{\"_tool\":\"a\"}\n```\nBye.", `[{"_tool":"a"}]`, []string{`PLC104 : the text ends too soon; mended: put in "]"`}},
	{"a plan whose mode may be cut off", `{"type":"plan","plan":[{"_tool":"a"}`, "", []string{`PLC101 : the text ends inside the list that starts at line 1 (opened here: [)`}},
	{"a solution whose output may be cut off", `{"calls":[{"_tool":"a"}]`, "", []string{`PLC101 : the text ends inside the object that starts at line 1 (opened here: {)`}},
	{"the end of thoughts inside of a string", `[{"_tool":"a","x":"</think>[{'_tool':'rm'}]"}]`, `[{"_tool":"a","x":"</think>[{'_tool':'rm'}]"}]`, nil},
	{"thoughts that nothing opens", `Well, a.</think>[{"_tool":"a"}]`, `[{"_tool":"a"}]`, nil},

	{"cut after a comma", `[{"_tool":"a"},`, "", []string{`PLC101 : the text ends inside the list that starts at line 1 (opened here: [)`}},
	{"cut in a call", `[{"_tool":"a"},{"_tool":"b","x":1`, "", []string{`PLC101 : the text ends inside the object that starts at line 1 (opened here: {)`}},
	{"cut after a param", `[{"_tool":"a","x":[1]`, "", []string{`PLC101 : the text ends inside the object that starts at line 1 (opened here: {)`}},
	{"cut in a string", `[{"_tool":"a"},{"_tool":"b`, "", []string{`PLC101 ": the string that starts here is not closed`}},
	{"cut in a number", `{"calls":[{"_tool":"a"}],"output":12`, "", []string{`PLC101 : the text ends inside the object that starts at line 1 (opened here: {)`}},
	{"cut in an output", `{"calls":[{"_tool":"a"}],"output":{"x":1`, "", []string{`PLC101 : the text ends inside the object that starts at line 1 (opened here: {)`}},
	{"cut in a state", `[{"type":"plan","plan":[{"_tool":"a"}]},{"type":"state","x":1`, "", []string{`PLC101 : the text ends inside the object that starts at line 1 (opened here: {)`}},
	{"a whole call inside a cut plan", "{\"calls\":[{\"_tool\":\"a\",\"x\":[{\"_tool\":\"b\"}]},{\"_tool\":\"c", "", []string{`PLC101 ": the string that starts here is not closed`}},
	{"quotes in a string", `[{"_tool":"a","x":"say "hi" now"}]`, "", []string{`PLC101 hi: found "hi", want a comma or the end of the object that starts at line 1`}},
	{"an apostrophe", `[{'_tool':'it's'}]`, "", []string{
		`PLC101 ': strings are written in double quotes`,
		`PLC104 '_tool': the string is not in double quotes; mended: put in double quotes`}},
	{"no number", `[{"_tool":"a","x":NaN}]`, "", []string{`PLC101 NaN: JSON has no NaN; write null, or a string`}},
	{"an escape of nobody", `[{"_tool":"a","x":"C:\users"}]`, "", []string{`PLC101 \: \u wants four hexadecimal digits; a backslash is written \\`}},
	{"no JSON", "I can't do that.", "", []string{`PLC101 : there is no JSON in the answer`}},
	{"a list in prose", "1. search\n2. read", "", []string{`PLC105 : there is no JSON in the answer, which looks like a list in prose; a plan is JSON, such as [{"_tool": …}]`}},
	{"no plan", `Here: {"a": 1} and {"b": 2}`, "", []string{`PLC104  and {"b": 2}`}},
}

func TestAnswers(t *testing.T) {
	for _, c := range answers {
		doc, list := parse(c.text, &Options{Answer: true})
		if c.name == "no plan" {
			if len(list) != 2 || list[0].Code != 105 || list[1].Code != 104 {
				t.Errorf("%s: %q", c.name, showAll(list))
			}
			continue
		}
		got := showAll(list)
		slices.Sort(got)
		slices.Sort(c.want)
		if !slices.Equal(got, c.want) {
			t.Errorf("%s:\n got %s\nwant %s", c.name, strings.Join(got, "\n     "), strings.Join(c.want, "\n     "))
		}
		if plan := string(doc.Root.AppendJSON(nil)); list.HasErrors() == (c.plan != "") || c.plan != "" && plan != c.plan {
			t.Errorf("%s: %s, want %s", c.name, plan, c.plan)
		}
	}
}

func TestExpressionsInMendedStringsKeepTheirPlaces(t *testing.T) {
	for _, text := range []string{
		`[{'_tool': 'a', 'x': 'hi †{ input.name }'}]`, `[{"_tool": "a", "x": “hi †{ input.name }”}]`,
		"[{\"_tool\": \"a\", \"x\": \"hi\n\\u2020{ input.name }\"}]",
	} {
		doc, list := parse(text, &Options{Answer: true})
		if list.HasErrors() {
			t.Fatal(showAll(list))
		}
		x := doc.Calls[0].Params[0].Value
		if x.Text() == nil || len(x.Text().Parts) != 2 {
			t.Errorf("%s: %+v", text, x.Text())
			continue
		}
		s := x.Text().Parts[1].Expr.Span
		if got := text[s.Start:s.End]; got != "input.name" {
			t.Errorf("%s: the reference is at %q", text, got)
		}
	}
}

// TestAWholePlanInProseNeedsNoMending wraps good plans into prose at every place
// where a bracket may mislead.
func TestAWholePlanInProseNeedsNoMending(t *testing.T) {
	const plan = `[{"_tool":"a","x":"} ] [ { '"}]`
	for _, before := range []string{"", "{", "[", "}", "]", "{x} ", `"`, "'", "[1, 2] ", `{"a": "b"} `, "```\n[\n```\n", "`[]` "} {
		doc, list := parse(before+plan, &Options{Answer: true})
		if len(list) > 0 && before != "{" && before != "[" || len(doc.Calls) != 1 && before != "[" && before != "{" {
			t.Errorf("%s: %q", before, showAll(list))
		}
	}
}
