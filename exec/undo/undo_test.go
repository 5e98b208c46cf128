package undo_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/undo"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/schemas"
	"github.com/plc-lang/plc/tool"
)

// shop are the tools of a shop, as definitions. A call of fail fails.
var shop = []string{
	`{"name": "reserve", "properties": {"item": {"type": "string"}, "_output": {"type": "object", "properties": {"id": {"type": "string"}}, "required": ["id"]}},
	  "effects": {"readOnly": false, "independent": true}, "undo": {"tool": "release", "params": {"id": "†result.id"}}}`,
	`{"name": "charge", "properties": {"amount": {"type": "number"}}, "effects": {"readOnly": false},
	  "undo": {"tool": "refund", "params": {"key": "†key", "why": "†{failure.code} (†{params.amount})"}, "whenUncertain": true}}`,
	`{"name": "mail", "properties": {}, "effects": {"readOnly": false, "independent": true}}`,
	`{"name": "look", "properties": {}, "effects": {"readOnly": true}}`,
	`{"name": "fail", "properties": {}, "effects": {"readOnly": true}}`,
	`{"name": "release", "properties": {"id": {"type": "string"}}, "required": ["id"], "effects": {"readOnly": false}}`,
	`{"name": "refund", "properties": {"key": {"type": "string"}, "why": {"type": "string"}, "note": {"type": "integer"}}, "required": ["key"], "effects": {"readOnly": false}}`,
}

// options returns options with the tools of the shop; call makes their calls.
func options(call tool.ActivityFunc, more ...string) *compile.Options {
	var tools []*tool.Tool
	for _, text := range append(slices.Clone(shop), more...) {
		def, findings := tool.ParseDefinition(json.RawMessage(text), "", diag.Loc{})
		if err := findings.Err(); err != nil {
			panic(err)
		}
		tools = append(tools, &tool.Tool{Definition: def, Activity: call, Source: "go", Driver: "go"})
	}
	return &compile.Options{Catalogue: tool.NewCatalogue(tools...), Run: true}
}

func compiled(plan string, o *compile.Options) *compile.Program {
	doc, findings := lang.Parse(diag.NewFile("plan.json", []byte(plan)), nil)
	prog, more := compile.Compile(doc, o)
	if err := append(findings, more...).Err(); err != nil {
		panic(err)
	}
	return prog
}

// works is a shop that works, but for fail, and for calls of charge for 13, whose answers get lost.
func works(_ context.Context, req *tool.Request) (tool.Result, error) {
	switch {
	case req.Tool == "fail":
		return tool.Result{}, &tool.Error{Code: "broken", Permanent: true}
	case req.Tool == "charge" && strings.Contains(string(req.Params), "13"):
		return tool.Result{}, &tool.Error{Code: "gone", Uncertain: true}
	}
	return tool.Result{Value: json.RawMessage(fmt.Sprintf(`{"id": %q}`, req.Call+"-1"))}, nil
}

// ran runs a plan, and returns what it did.
func ran(prog *compile.Program) (*undo.Ledger, *exec.Result) {
	l := undo.NewLedger("r")
	res, err := exec.Run(context.Background(), prog, &exec.Options{ID: "r", Seed: 1, OnFailure: exec.Undo, OnUncertain: exec.FailUncertain, OnEvent: l.Take})
	if err != nil {
		panic(err)
	}
	return l, res
}

func Example() {
	o := options(works)
	prog := compiled(`[
		{"_tool": "reserve", "item": "lamp", "_outputPath": "†state.lamp"},
		{"_tool": "charge", "amount": 12, "_dependsOn": ["reserve"]},
		{"_tool": "mail", "_dependsOn": ["charge"]},
		{"_tool": "fail", "_dependsOn": ["mail"]}]`, o)
	ledger, res := ran(prog)
	fmt.Println(res.Status)
	plan := undo.Of(prog, o, ledger, undo.Options{})
	for _, c := range plan.Calls {
		fmt.Println("undo", c.Name(), "by", c.Undo)
	}
	for _, c := range plan.Stands {
		fmt.Println("stands", c.Name()+":", c.Why)
	}
	undoing, findings := plan.Compile(o)
	if err := findings.Err(); err != nil {
		panic(err)
	}
	res, err := exec.Run(context.Background(), undoing, &exec.Options{OnFailure: exec.Ask})
	if err != nil {
		panic(err)
	}
	fmt.Println(res.Status)
	// Output:
	// undoing
	// undo charge by refund
	// undo reserve by release
	// stands mail: its tool has no undo
	// completed
}

func TestOf(t *testing.T) {
	for _, test := range []struct {
		name, plan string
		want       string // the calls that undo, with what they wait for, and what stands
	}{
		{"nothing was done", `[{"_tool": "look"}, {"_tool": "fail"}]`, ""},
		{"side by side", `[{"_tool": "reserve", "_id": "a", "item": "x"}, {"_tool": "reserve", "_id": "b", "item": "y"}]`, "b; a"},
		{"by data, through a call that changes nothing", `[{"_tool": "reserve", "_id": "a", "item": "x", "_outputPath": "†state.a"},
			{"_tool": "look", "x": "†state.a", "_outputPath": "†state.b"}, {"_tool": "reserve", "_id": "c", "item": "†state.b.id"}]`, "c; a after c"},
		{"uncertain", `[{"_tool": "charge", "amount": 13}]`, "charge uncertain"},
		{"uncertain, and its _undo says nothing of that", `[{"_tool": "charge", "amount": 13, "_undo": {"tool": "refund", "params": {"key": "†key"}}}]`,
			"charge uncertain asks: nobody knows whether it did its work: approve if it did, skip if it did not"},
		{"told to stand", `[{"_tool": "charge", "amount": 1, "_undo": null}]`, "stands charge: the plan says that nothing takes it back"},
		{"a handled failure", `[{"_tool": "fail", "_errorPath": "†state.e"}, {"_tool": "mail"}]`, "stands mail: its tool has no undo"},
		{"a result that is not accepted", `[{"_tool": "charge", "amount": 2, "_expect": {"type": "string"}}]`, "charge"},
		{"and that its undo reads", `[{"_tool": "reserve", "item": "x", "_expect": {"type": "string"}}]`,
			"stands reserve: it did its work, and its undo reads the result, which was not accepted"},
		{"a result without what its undo reads", `[{"_tool": "mail", "_undo": {"tool": "refund", "params": {"key": "†result.none"}}}, {"_tool": "charge", "amount": 1}]`,
			"charge; stands mail: its undo can't be made: there is no †result.none; did you mean †result.id?"},
		{"a result that does not fit", `[{"_tool": "mail", "_undo": {"tool": "refund", "params": {"key": "†key", "note": "†result.id"}}}]`, "stands mail: its undo can't be made: "},
		{"a fallback", `[{"_tool": "fail", "_fallback": {"_tool": "charge", "amount": 3}}]`, "fail"},
		{"a fallback with an undo of its own", `[{"_tool": "fail", "_fallback": {"_tool": "mail", "_undo": {"tool": "refund", "params": {"key": "†key"}}}}]`, "fail"},
		{"ids that look like paths", `[{"_tool": "charge", "_id": "a/b[0]#1~", "amount": 1}, {"_tool": "charge", "_id": "a~1b", "amount": 1}]`,
			"a~01b; a~1b~20]~31~0 after a~01b"},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := options(works)
			prog := compiled(test.plan, o)
			ledger, _ := ran(prog)
			plan := undo.Of(prog, o, ledger, undo.Options{All: true, End: exec.Failure{Code: "failed"}})
			undoing, findings := plan.Compile(o)
			if err := findings.Err(); err != nil {
				t.Fatalf("%v\n%s\n%s", err, plan.Text, plan.Input)
			}
			var got []string
			for i, c := range plan.Calls {
				s := c.Path
				if c.Uncertain {
					s += " uncertain"
				}
				if c.Asks {
					s += " asks: " + c.Why
				}
				if r := undoing.Calls[i].Source.Rest; r != nil && len(r.DependsOn) > 0 {
					for _, d := range r.DependsOn {
						s += " after " + d.Name
					}
				}
				got = append(got, s)
			}
			for _, c := range plan.Stands {
				got = append(got, "stands "+c.Path+": "+c.Why)
			}
			if got := strings.Join(got, "; "); got != test.want && (!strings.HasSuffix(test.want, ": ") || !strings.HasPrefix(got, test.want)) {
				t.Errorf("got  %s\nwant %s\n%s", got, test.want, plan.Text)
			}
			calls, stands, err := undo.Read(plan.Text)
			if err != nil || len(calls) != len(plan.Calls) || len(stands) != len(plan.Stands) {
				t.Errorf("read again: %d calls, %d stand, %v", len(calls), len(stands), err)
			}
		})
	}
}

// Params of an undo are what the call was given and gave.
func TestParams(t *testing.T) {
	var refunded []string
	call := func(ctx context.Context, req *tool.Request) (tool.Result, error) {
		if req.Tool == "refund" || req.Tool == "release" {
			refunded = append(refunded, string(req.Params))
		}
		return works(ctx, req)
	}
	o := options(call)
	prog := compiled(`[{"_tool": "reserve", "item": "lamp"}, {"_tool": "charge", "amount": 7}, {"_tool": "fail", "_dependsOn": ["charge"]}]`, o)
	ledger, _ := ran(prog)
	undoing, _ := undo.Of(prog, o, ledger, undo.Options{}).Compile(o)
	if _, err := exec.Run(context.Background(), undoing, &exec.Options{MaxParallel: 1}); err != nil {
		t.Fatal(err)
	}
	all := strings.Join(refunded, " ")
	if !strings.Contains(all, `"why":"failed (7)"`) || !strings.Contains(all, `{"id":"reserve-1"}`) || strings.Contains(all, `"key":""`) {
		t.Errorf("undone with %s", all)
	}
}

func TestCheck(t *testing.T) {
	for _, test := range []struct{ name, tool, plan, want string }{
		{"all is well", ``, `[{"_tool": "charge", "amount": 1}, {"_tool": "reserve", "item": "x"}]`, ""},
		{"an unknown tool", `{"name": "x", "properties": {}, "undo": {"tool": "refnd"}}`, `[{"_tool": "x"}]`, `tool "x": its undo: unknown tool "refnd"; did you mean "refund"?`},
		{"a param that is missing", `{"name": "x", "properties": {}, "undo": {"tool": "refund"}}`, `[{"_tool": "x"}]`, `"key"`},
		{"a param of another type", `{"name": "x", "properties": {}, "undo": {"tool": "refund", "params": {"key": "†key", "note": "†key"}}}`, `[{"_tool": "x"}]`, `"note"`},
		{"a reference to the whiteboard", `{"name": "x", "properties": {}, "undo": {"tool": "refund", "params": {"key": "†state.x"}}}`, `[{"_tool": "x"}]`,
			"†state: an undo reads params, result, key and failure of the call"},
		{"a result that is not there", `{"name": "x", "properties": {}, "undo": {"tool": "refund", "params": {"key": "†{result}"}, "whenUncertain": true}}`, `[{"_tool": "x"}]`,
			"it reads †result, which is not there"},
		{"an _undo with an unknown tool", ``, `[{"_tool": "charge", "amount": 1, "_undo": {"tool": "refnd"}}]`, `the "_undo": unknown tool "refnd"`},
		{"an _undo with a param of another type", ``, `[{"_tool": "charge", "amount": 1, "_undo": {"tool": "refund", "params": {"key": 7}}}]`, `the "_undo": `},
		{"an _undo that a definition fixes", `{"name": "x", "properties": {"_undo": {"const": {"tool": "refund", "params": {"key": "†key"}}}}}`, `[{"_tool": "x"}]`, ""},
		{"one with an unknown tool", `{"name": "x", "properties": {"_undo": {"const": {"tool": "refnd", "params": {"key": "†key"}}}}}`, `[{"_tool": "x"}]`, `the "_undo": unknown tool "refnd"`},
		{"a tool that fixes its retries", `{"name": "x", "properties": {"_retry": {"const": 1}}, "undo": {"tool": "x"}}`, `[{"_tool": "x"}]`, ""},
		{"a tool that asks nobody", `{"name": "x", "properties": {"_approve": {"const": false}}, "undo": {"tool": "x"}}`, `[{"_tool": "x"}]`,
			`the tool "x" does not allow the _approve that plc gives to calls that undo others; let the definition allow it, or say whenUncertain`},
		{"one that is sure", `{"name": "x", "properties": {"_approve": {"const": false}}, "undo": {"tool": "x", "whenUncertain": true}}`, `[{"_tool": "x"}]`, ""},
		{"a tool that waits for nothing", `{"name": "x", "properties": {"_dependsOn": {"const": []}}, "undo": {"tool": "x"}}`, `[{"_tool": "x"}]`, "_dependsOn"},
		{"an _undo of a call that changes nothing", ``, `[{"_tool": "look", "_undo": null}]`, `the "_undo" is not used: the tool "look" is declared to change nothing`},
	} {
		t.Run(test.name, func(t *testing.T) {
			var more []string
			if test.tool != "" {
				more = append(more, test.tool)
			}
			o := options(works, more...)
			found := undo.Check(compiled(test.plan, o), o)
			var got []string
			for _, f := range found {
				got = append(got, f.Message)
			}
			if all := strings.Join(got, "\n"); test.want == "" && all != "" || !strings.Contains(all, test.want) {
				t.Errorf("found %q, want %q", all, test.want)
			}
		})
	}
}

// The undo of the fallback of a call that delegates is checked as any other.
func TestCheckFallbackOfDelegate(t *testing.T) {
	o := options(works)
	o.Delegates = fstest.MapFS{"d.json": {Data: []byte(`[{"_tool": "fail"}]`)}}
	found := undo.Check(compiled(`[{"_tool": "mail", "_delegate": "d.json", "_fallback": {"_tool": "reserve", "item": "x", "_undo": {"tool": "refnd"}}}]`, o), o)
	if len(found) != 1 || !strings.Contains(found[0].Message, `unknown tool "refnd"`) {
		t.Errorf("found %v", found)
	}
}

// One budget bounds the checks of a plan and of all that undoes its calls, and what is equal is
// checked once.
func TestCheckBudget(t *testing.T) {
	const hostile = `{"name": "h", "inputSchema": {"type": "object", "$defs": {"s": {"allOf": [{"additionalProperties": {"$ref": "#/$defs/s"}},
		{"additionalProperties": {"$ref": "#/$defs/s"}}], "not": {"const": 1}}}, "properties": {"v": {"$ref": "#/$defs/s"}}}, "effects": {"readOnly": false}}`
	o := options(works, hostile)
	o.Meter = schemas.NewMeter(t.Context(), 1<<20)
	deep := strings.Repeat(`{"a": `, 30) + "{}" + strings.Repeat("}", 30)
	var calls []string
	for i := range 20 {
		calls = append(calls, fmt.Sprintf(`{"_tool": "charge", "amount": %d, "_undo": {"tool": "h", "params": {"n": %d, "v": %s}}}`, i, i, deep))
	}
	prog := compiled("["+strings.Join(calls, ",")+"]", o)
	found := undo.Check(prog, o)
	if len(found) != 1 || found[0].Code != diag.OverLimit {
		t.Errorf("found %v", found)
	}

	alike := strings.Repeat(`{"_tool": "charge", "amount": 1, "_undo": {"tool": "refund", "params": {"key": "†key"}}},`, 50)
	o = options(works)
	used := func(n int) int {
		prog := compiled("["+strings.Repeat(alike, n)+`{"_tool": "look"}]`, o)
		before := prog.Meter().Used()
		if found := undo.Check(prog, o); len(found) > 0 {
			t.Fatal(found)
		}
		return prog.Meter().Used() - before
	}
	if once, more := used(1), used(3); once != more {
		t.Errorf("50 equal undos take %d steps, 150 take %d", once, more)
	}
}

// A point of no return has the order that cures it: with it, the plan has none.
func TestNoReturn(t *testing.T) {
	for _, test := range []struct{ name, plan, want string }{
		{"before what may fail", `[{"_tool": "mail"}, {"_tool": "charge", "amount": 1}]`, `"mail" can't be undone, and "charge" may fail after it; make it wait for "charge"`},
		{"after all", `[{"_tool": "charge", "amount": 1}, {"_tool": "mail", "_dependsOn": ["charge"]}]`, ""},
		{"a failure that is handled", `[{"_tool": "mail"}, {"_tool": "charge", "amount": 1, "_errorPath": "†state.e"}]`, ""},
		{"what needs it can't come before it", `[{"_tool": "mail", "_outputPath": "†state.m"}, {"_tool": "charge", "amount": "†state.m.id || 1"}]`,
			`"mail" can't be undone, and "charge" may fail after it`},
		{"one that the plan leaves", `[{"_tool": "charge", "_id": "a", "amount": 1, "_undo": null}, {"_tool": "look"}]`,
			`"a" can't be undone, and "look" may fail after it; make it wait for "look"`},
	} {
		t.Run(test.name, func(t *testing.T) {
			o := options(works)
			text := test.plan
			points := slices.Collect(undo.NoReturn(compiled(text, o), exec.Undo))
			if len(points) == 0 || test.want == "" {
				if len(points) > 0 || test.want != "" {
					t.Errorf("%d points, want %q", len(points), test.want)
				}
				return
			}
			f := points[0].Finding()
			if f.Message != test.want {
				t.Errorf("got  %s\nwant %s", f.Message, test.want)
			}
			if f.Fix == nil {
				return
			}
			for _, e := range f.Fix.Edits {
				text = text[:e.Span.Start] + e.Text + text[e.Span.End:]
			}
			if left := slices.Collect(undo.NoReturn(compiled(text, o), exec.Undo)); len(left) > 0 {
				t.Errorf("%s\nstill has: %s", text, left[0].Finding().Message)
			}
		})
	}
}
