package lang

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"
)

func TestCall(t *testing.T) {
	doc, list := parse(`[{"_tool": "a", "x": "†state.y", "_id": "\u0061b", "n": [{"t": "hi †{input.name}"}],
		"_outputPath": "†state.a || †state.b", "_outputMethod": "push", "_errorPath": "†state.e",
		"_output": {"v": 1}, "_instance": "one", "_scopes": ["state", "†input", "†state.user"], "_delegate": "sub.json",
		"_activity": "", "_dependsOn": ["b", "b"], "_when": "†state.ok", "_timeout": 1.5, "_onFailure": "skip",
		"_retry": {"max": 3, "delay": "100ms", "factor": 2, "maxDelay": 10, "jitter": false, "on": ["busy"]},
		"_fallback": {"_tool": "f", "_timeout": "2m", "_activity": "g", "z": "†state.z"},
		"_approve": "costs money", "_description": "d", "_reasoningForCall": "r", "_expect": {"type": "object"},
		"_estimatedTokens": 100, "_estimatedCost": 0.5},
		{"_tool": "b", "_output": null, "_retry": 2, "_fallback": "c", "_approve": false}, {"_tool": "c", "_approve": true}, {"_tool": "d"}]`, nil)
	if len(list) > 0 {
		t.Fatal(showAll(list))
	}
	c, r := doc.Calls[0], doc.Calls[0].Rest
	for _, x := range []struct{ what, got, want string }{
		{"id", c.ID + " " + c.Tool, "ab a"},
		{"params", fmt.Sprint(c.Params[0].Name, c.Params[1].Name, len(c.Params)), "xn2"},
		{"output path", c.OutputPath().String() + " " + c.Method, "†state.a || †state.b push"},
		{"error path", r.ErrorPath.String(), "†state.e"},
		{"output", fmt.Sprintf("%v %s", r.HasOutput, r.Output.AppendJSON(nil)), `true {"v":1}`},
		{"names", strings.Join([]string{r.Instance, r.Delegate, r.Activity, r.OnFailure, r.Description, r.Reasoning}, ","), "one,sub.json,,skip,d,r"},
		{"activity is there", fmt.Sprint(r.ActivityNode.IsZero()), "false"},
		{"scopes", fmt.Sprint(r.Scopes[0].Ref, r.Scopes[1].Ref, r.Scopes[2].Ref), "†state †input †state.user"},
		{"needs", r.DependsOn[0].Name + r.DependsOn[1].Name, "bb"},
		{"when", r.When.String(), "†state.ok"},
		{"timeout", r.Timeout.String(), "1.5s"},
		{"retry", fmt.Sprint(r.Retry.Max, r.Retry.Delay, r.Retry.Factor, r.Retry.MaxDelay, *r.Retry.Jitter, r.Retry.On), "3 100ms 2 10s false [busy]"},
		{"fallback", fmt.Sprint(r.Fallback.Tool, r.Fallback.Own, r.Fallback.Timeout, r.Fallback.Activity, len(r.Fallback.Params)), "ftrue 2m0sg1"},
		{"approve", fmt.Sprint(r.Approve), "{true true costs money}"},
		{"expect", string(r.Expect.AppendJSON(nil)), `{"type":"object"}`},
		{"estimates", fmt.Sprint(r.EstTokens, r.EstCost), "100 0.5"},
		{"second", fmt.Sprint(doc.Calls[1].Rest.HasOutput, doc.Calls[1].Rest.Retry.Max, doc.Calls[1].Rest.Fallback.Tool, doc.Calls[1].Rest.Approve), "false 2c{true false }"},
		{"third", fmt.Sprint(doc.Calls[2].Rest.Approve, doc.Calls[3].Rest == nil), "{true true } true"},
	} {
		if x.got != x.want {
			t.Errorf("%s: %s, want %s", x.what, x.got, x.want)
		}
	}
	var texts []string
	for n := range c.Node.Texts() {
		texts = append(texts, n.Pointer())
	}
	if want := []string{"/0/x", "/0/n/0/t", "/0/_fallback/z"}; !slices.Equal(texts, want) {
		t.Errorf("texts at %q, want %q", texts, want)
	}
}

func TestOutputPath(t *testing.T) {
	var reader TextReader
	for _, x := range []struct{ text, want string }{
		{`"†state.a"`, "†state.a"},
		{`"†state.a[0].b"`, "†state.a[0].b"},
		{`" †state.\u0061 "`, "†state.a"},
		{`"†state.a && †state['b']"`, "†state.a && †state.b"},
		{`"(†state.a && †state.b) <|> †state.c"`, "(†state.a *> †state.b) <|> †state.c"},
		{`"†state.a[*]"`, ""}, {`"state.a"`, ""}, {`"†state."`, ""}, {`""`, ""}, {`1`, ""}, {`null`, ""},
	} {
		doc, list := parse(`[{"_tool": "a", "_outputPath": `+x.text+`}]`, nil)
		c := &doc.Calls[0]
		first, again, read := c.OutputPath(), c.OutputPath(), reader.OutputPath(c)
		if list.HasErrors() != (x.want == "") || (first == nil) != (x.want == "") || (read == nil) != (first == nil) {
			t.Fatalf("%s: %s, %v and %v", x.text, showAll(list), first, read)
		}
		if first == nil {
			continue
		}
		if first.String() != x.want || !reflect.DeepEqual(again, first) || !reflect.DeepEqual(read, first) {
			t.Errorf("%s: %s, %s and %s, want %s", x.text, first, again, read, x.want)
		}
		if c.OutputNode.Text() != nil {
			t.Errorf("%s: an output path is no text", x.text)
		}
	}
}

// What the grammar has to read, which costs a hundred times what a plain path does, it reads once.
func TestOutcomesAreReadOnce(t *testing.T) {
	doc, _ := parse(`[{"_tool": "a", "_outputPath": "†state.a && †state.b"}]`, nil)
	var reader TextReader
	if n := testing.AllocsPerRun(10, func() { doc.Calls[0].OutputPath(); reader.OutputPath(&doc.Calls[0]) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestOutputPathThatAToolFixes(t *testing.T) {
	doc, _ := parse(`[{"_tool": "a"}, {"_tool": "b", "_outputPath": "†state.b"}]`, nil)
	a, b := doc.Calls[0], doc.Calls[1]
	a.Rest, b.Rest = &Rest{FixedOutput: b.OutputNode}, &Rest{FixedOutput: a.Node}
	for _, c := range []*Call{&a, &b} {
		if got := c.OutputPath().String(); got != "†state.b" {
			t.Errorf("%s writes %s", c.ID, got)
		}
	}
}

func TestARetryDelayOfZeroIsNoDefault(t *testing.T) {
	doc, list := parse(`[{"_tool":"a","_retry":{"max":1,"delay":0,"maxDelay":"0s"}}]`, nil)
	if r := doc.Calls[0].Rest.Retry; len(list) > 0 || r.Delay != time.Nanosecond || r.MaxDelay != time.Nanosecond {
		t.Errorf("%+v %q", r, showAll(list))
	}
}

func TestDefaultIDs(t *testing.T) {
	for _, c := range []struct{ calls, want string }{
		{"a b a", "a b a-2"},
		{"a a a", "a a-2 a-3"},
		{"a a x=a-2", "a a-3 a-2"},
		{"x=a a", "a a-2"},
		{"a=first a", "first a-2"},
		{"a a=first a", "a first a-3"},
		{"a a a-2 a-2", "a a-2 a-2-2 a-2-3"},
		{"a-2 a a", "a-2 a a-3"},
		{"a a x=a-2 y=a-3 a", "a a-4 a-2 a-3 a-5"},
	} {
		var plan []map[string]string
		for _, s := range strings.Fields(c.calls) {
			tool, id, ok := strings.Cut(s, "=")
			call := map[string]string{"_tool": tool}
			if ok {
				call["_id"] = id
			}
			plan = append(plan, call)
		}
		text, _ := json.Marshal(plan)
		doc, list := parse(string(text), nil)
		var ids []string
		for _, call := range doc.Calls {
			ids = append(ids, call.ID)
		}
		if got := strings.Join(ids, " "); got != c.want || len(list) > 0 {
			t.Errorf("%s: %s, want %s; %q", c.calls, got, c.want, showAll(list))
		}
	}
}

func TestEscapedDaggerAndNames(t *testing.T) {
	doc, list := parse(`[{"_tool":"a","x":"\u2020state.y","†state.z":1,"w":"††x","v":"5† off"}]`, nil)
	p := doc.Calls[0].Params
	if len(list) > 0 || p[0].Value.Text() == nil || !p[0].Value.Text().Whole {
		t.Errorf("an escaped dagger is not read: %q", showAll(list))
	}
	if p[1].Name != "†state.z" || p[2].Value.Text() == nil || p[3].Value.Text() != nil {
		t.Errorf("%+v", p)
	}
}
