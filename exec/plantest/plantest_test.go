package plantest_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/compile/cel"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/plantest"
	"github.com/plc-lang/plc/tool/standin"
)

// tools are those of the plans of these tests.
const tools = `{
	"look":  {"properties": {}, "effects": {"readOnly": true}},
	"pay":   {"properties": {}, "effects": {"readOnly": false}},
	"book":  {"properties": {}, "effects": {"readOnly": false, "idempotent": true}},
	"wipe":  {"properties": {}, "effects": {"destructive": true}},
	"count": {"properties": {"_output": {"type": "integer", "minimum": 2, "maximum": 9}}, "effects": {"readOnly": true}}}`

func compiled(calls string) *compile.Program { return program("["+calls+"]", tools) }

// world answers for each of the tools.
func world() plantest.World {
	return plantest.World{"look": returns(`1`), "pay": returns(`2`), "book": returns(`3`), "wipe": returns(`4`)}
}

// ended returns how a run ended: its status, the outcome of its calls, and the effects that stand.
func ended(out *plantest.Outcome) string {
	s := string(out.Status)
	for path, c := range out.All() {
		s += fmt.Sprintf(" %s:%s", path, c.Status)
		if c.Error != nil {
			s += "(" + c.Error.Code + ")"
		}
	}
	for _, e := range out.Effects {
		s += " +" + e.Tool
		if !e.Known {
			s += "?"
		}
	}
	return s
}

func TestFaults(t *testing.T) {
	tests := []struct {
		calls string
		fault string
		want  string
	}{
		{`{"_tool": "pay"}`, "", "completed pay:completed +pay"},
		{`{"_tool": "look"}`, "", "completed look:completed"},
		{`{"_tool": "pay"}`, "pay@1=fail", "failed pay:failed(fault)"},
		{`{"_tool": "pay"}`, "pay@1=timeout", "failed pay:failed(uncertain) +pay?"},
		{`{"_tool": "pay"}`, "pay=lost", "failed pay:failed(uncertain) +pay?"},
		{`{"_tool": "pay"}`, "pay@1=dropped", "failed pay:failed(uncertain)"},
		{`{"_tool": "pay"}`, "pay@1=crash", "failed pay:failed(uncertain) +pay?"},
		{`{"_tool": "pay"}`, "pay@1=twice", "completed pay:completed +pay +pay"},
		{`{"_tool": "pay"}`, "pay@1=late", "completed pay:completed +pay"},
		{`{"_tool": "book"}`, "book@1=lost", "completed book:completed +book"},
		{`{"_tool": "book"}`, "book@1=crash", "completed book:completed +book"},
		{`{"_tool": "book"}`, "book@1=dropped", "completed book:completed +book"},
		{`{"_tool": "book"}`, "book@1=twice", "completed book:completed +book"},
		{`{"_tool": "book", "_retry": 2}`, "book@1=fail", "completed book:completed +book"},
		{`{"_tool": "book", "_retry": 2}`, "book@1=down", "failed book:failed(fault)"},
		{`{"_tool": "book", "_retry": 2}`, "book@2=down", "completed book:completed +book"},
		{`{"_tool": "pay", "_fallback": "book"}`, "pay@1=down", "completed pay:completed +book"},
		{`{"_tool": "pay", "_fallback": "book"}`, "pay@1=down pay/fallback@1=fail", "failed pay:failed(fault)"},
		{`{"_tool": "pay"}, {"_tool": "book"}`, "pay@1=crash", "failed pay:failed(uncertain) book:blocked +pay?"},
		{`{"_tool": "pay"}, {"_tool": "book"}`, "book@1=crash", "completed pay:completed book:completed +pay +book"},
	}
	for _, test := range tests {
		o := &plantest.Options{World: world()}
		for text := range strings.FieldsSeq(test.fault) {
			f, err := plantest.ParseFault(text)
			if err != nil {
				t.Fatal(err)
			}
			o.Faults = append(o.Faults, f)
		}
		prog := compiled(test.calls)
		out, err := plantest.Run(prog, o)
		if err != nil {
			t.Errorf("%s with %q: %v", test.calls, test.fault, err)
			continue
		}
		if got := ended(out); got != test.want {
			t.Errorf("%s with %q: %s, want %s", test.calls, test.fault, got, test.want)
		}
		again, err := plantest.Run(prog, o)
		if err != nil || !reflect.DeepEqual(again.Effects, out.Effects) || again.Took != out.Took || string(again.State) != string(out.State) {
			t.Errorf("%s with %q: it came out otherwise the second time: %s", test.calls, test.fault, ended(again))
		}
	}
}

// A run that is to be undone is undone in the same world, and what undoes it may go wrong as well.
func TestUndo(t *testing.T) {
	const undoTools = `{
		"look": {"properties": {}, "effects": {"readOnly": true}},
		"pay":  {"properties": {}, "effects": {"readOnly": false}, "undo": {"tool": "refund", "params": {"key": "†key"}}},
		"book": {"properties": {}, "effects": {"readOnly": false, "idempotent": true}, "undo": {"tool": "free", "params": {"key": "†key"}, "whenUncertain": true}},
		"mail": {"properties": {}, "effects": {"readOnly": false}},
		"refund": {"properties": {"key": {"type": "string"}}, "effects": {"readOnly": false, "idempotent": true}},
		"free": {"properties": {"key": {"type": "string"}}, "effects": {"readOnly": false}}}`
	const calls = `[{"_tool": "book"}, {"_tool": "pay", "_dependsOn": ["book"]}, {"_tool": "look", "_dependsOn": ["pay"]}]`
	w := plantest.World{"look": returns(`1`), "pay": returns(`2`), "book": returns(`3`), "mail": returns(`4`), "refund": returns(`5`), "free": returns(`6`)}
	for _, test := range []struct{ calls, fault, want string }{
		{calls, "", "completed +book +pay"},
		{calls, "look@1=fail", "undone -book -pay refund free"},
		{calls, "pay@1=lost", "undoing ? pay/undo +book +pay?"},
		{calls, "book@1=fail", "undone"},
		{calls, "look@1=fail pay/undo@1=fail", "undone -book -pay refund free"},
		{calls, "look@1=fail pay/undo@1=crash", "undone -book -pay refund free"},
		{calls, "look@1=fail book/undo@1=lost", "undoing ? book/undo -book -pay refund free?"},
		{calls, "look@1=crash", "completed +book +pay"},
		{`[{"_tool": "mail"}, {"_tool": "look", "_dependsOn": ["mail"]}]`, "look@1=fail", "undoneInPart +mail"},
	} {
		prog, options := programWith(test.calls, undoTools)
		o := &plantest.Options{World: w, Exec: exec.Options{OnFailure: exec.Undo, OnUncertain: exec.FailUncertain}, Undo: options}
		for text := range strings.FieldsSeq(test.fault) {
			f, err := plantest.ParseFault(text)
			if err != nil {
				t.Fatal(err)
			}
			o.Faults = append(o.Faults, f)
		}
		out, err := plantest.Run(prog, o)
		if err != nil {
			t.Errorf("%q: %v", test.fault, err)
			continue
		}
		got := string(out.Status)
		for _, q := range out.Questions {
			got += " ? " + q.Path
		}
		for _, e := range out.Effects {
			switch {
			case e.Stands:
				got += " +" + e.Tool
			case e.Undone():
				got += " -" + e.Tool
			default: // it undoes another
				got += " " + e.Tool
			}
			if !e.Known {
				got += "?"
			}
		}
		if got != test.want {
			t.Errorf("%q: %s, want %s", test.fault, got, test.want)
		}
	}
}

func TestValuesOfASchema(t *testing.T) {
	prog := compiled(`{"_tool": "count", "_outputPath": "†state.n"}`)
	for fault, want := range map[string]string{"count@1=smallest": "2", "count@1=largest": "9"} {
		f, err := plantest.ParseFault(fault)
		if err != nil {
			t.Fatal(err)
		}
		out, err := plantest.Run(prog, &plantest.Options{Faults: []plantest.Fault{f}})
		if err != nil || string(out.State) != `{"n":`+want+`}` {
			t.Errorf("%s: %s, %v", fault, out.State, err)
		}
	}
}

func TestPeople(t *testing.T) {
	prog := compiled(`{"_tool": "wipe"}, {"_tool": "look", "_dependsOn": ["wipe"]}`)
	for _, test := range []struct {
		answers map[string]exec.Answer
		want    string
	}{
		{nil, "paused wipe:awaiting look:pending"},
		{map[string]exec.Answer{"look": {Approved: true}}, "paused wipe:awaiting look:pending"},
		{map[string]exec.Answer{"wipe": {Approved: true}}, "completed wipe:completed look:completed +wipe"},
		{map[string]exec.Answer{"*": {Skip: true}}, "completed wipe:skipped look:completed"},
		{map[string]exec.Answer{"*": {}}, "failed wipe:failed(rejected) look:blocked"},
	} {
		out, err := plantest.Run(prog, &plantest.Options{World: world(), Answers: test.answers})
		if err != nil {
			t.Fatal(err)
		}
		if got := ended(out); got != test.want {
			t.Errorf("%v: %s, want %s", test.answers, got, test.want)
		}
	}
}

func TestScripts(t *testing.T) {
	prog := compiled(`
		{"_tool": "look", "_id": "a", "_outputPath": "†state.a"},
		{"_tool": "look", "_id": "b", "_dependsOn": ["a"], "_outputPath": "†state.b"},
		{"_tool": "look", "_id": "c", "_dependsOn": ["b"], "_timeout": "1s", "_retry": {"max": 1, "delay": "2h", "jitter": false}, "_outputPath": "†state.c"}`)
	slow := returns(`5`)
	slow.After = 2 * time.Second // of which the call waits for one
	out, err := plantest.Run(prog, &plantest.Options{World: plantest.World{"look": {
		Sequence: []*standin.Script{returns(`1`), returns(`2`), returns(`3`)},
		Calls:    map[string]*standin.Script{"c": {Sequence: []*standin.Script{slow, returns(`6`)}}},
	}}})
	if err != nil {
		t.Fatal(err)
	}
	if got := string(out.State); got != `{"a":1,"b":2,"c":6}` || out.Took < time.Hour || out.Took > 3*time.Hour {
		t.Errorf("%s after %s", got, out.Took)
	}
}

func TestNothingStandsIn(t *testing.T) {
	out, err := plantest.Run(compiled(`{"_tool": "pay"}`), nil)
	if err != nil || !slices.Equal(out.Unknown, []string{"pay"}) || ended(out) != "failed pay:failed(no-stand-in)" {
		t.Errorf("%+v, %v", out, err)
	}
}

// A call whose answers are all lost is made again for ever, and the run says so soon.
func TestAllAnswersLost(t *testing.T) {
	w := world()
	w["book"] = &standin.Script{Lost: true}
	prog, _ := programWith(`[{"_tool": "book"}]`, tools)
	_, err := plantest.Run(prog, &plantest.Options{World: w, Exec: exec.Options{OnUncertain: exec.RetryUncertain}})
	if err == nil || !strings.Contains(err.Error(), `100 answers to "book" were lost`) {
		t.Error(err)
	}
}

func TestEndlessRun(t *testing.T) {
	var calls []string
	for range 9 {
		calls = append(calls, `{"_tool": "look"}`)
	}
	prog := compiled(strings.Join(calls, ","))
	if _, err := plantest.Run(prog, &plantest.Options{World: world(), MaxAttempts: 8}); err == nil || !strings.Contains(err.Error(), "more than 8 attempts") {
		t.Error(err)
	}
	if out, err := plantest.Run(prog, &plantest.Options{World: world(), MaxAttempts: 9}); err != nil || out.Status != exec.Completed {
		t.Error(err)
	}
}

func TestParseFault(t *testing.T) {
	for text, want := range map[string]string{
		"pay@1=lost":            "pay@1=lost",
		"pay=lost":              "pay@1=lost",
		"each[3]/pay@2=fail":    "each[3]/pay@2=fail",
		"pay/fallback@1=fail":   "pay/fallback@1=fail",
		"a@b@3=late":            "a@b@3=late",
		"pay@0=lost":            "!has no attempt behind the @",
		"pay@x=lost":            "!has no attempt behind the @",
		"pay@1=broken":          "!no kind of fault: it is one of fail, down,",
		"pay":                   "!is no fault: it is CALL@ATTEMPT=KIND",
		"=lost":                 "!is no fault",
		"":                      "!is no fault",
		"pay@99999999999=crash": "pay@99999999999=crash",
	} {
		f, err := plantest.ParseFault(text)
		if why, bad := strings.CutPrefix(want, "!"); bad {
			if err == nil || !strings.Contains(err.Error(), why) {
				t.Errorf("%q: %v, want %q", text, err, why)
			}
			continue
		}
		if err != nil || f.String() != want {
			t.Errorf("%q: %s, %v", text, f, err)
		}
	}
}

// Of the faults that break a property, as few as possible are shown, and they do break it.
func TestShortestViolation(t *testing.T) {
	prog := compiled(`
		{"_tool": "pay", "_outputPath": "†state.paid || †state.unpaid"},
		{"_tool": "book", "_retry": {"max": 1}, "_when": "†state.paid", "_outputPath": "†state.booked || †state.full"},
		{"_tool": "look", "_when": "†state.booked"}`)
	for source, faults := range map[string]int{
		`status == "paused"`: -1, // never so
		`size(effects) == 0`: 1,
		`effects.exists(e, e.tool == "pay") && !effects.exists(e, e.tool == "book") && calls.pay.status == "completed"`: 1,
		`status == "failed" && calls.book.status == "skipped"`:                                                          -1,
		`!effects.exists(e, e.tool == "pay") && calls.book.status != "skipped"`:                                         -1,
		`calls.book.attempts == 2 && calls.look.status == "failed"`:                                                     2,
		`true`: 0,
	} {
		p, err := plantest.NewProperty(source, true, cel.New())
		if err != nil {
			t.Fatal(err)
		}
		o := &plantest.Options{World: world()}
		found, err := plantest.Explore(prog, o, &plantest.Exploration{Properties: []*plantest.Property{p}})
		if err != nil {
			t.Fatal(err)
		}
		if faults < 0 {
			if len(found.Violations) > 0 {
				t.Errorf("%s: broken with %v", source, found.Violations[0].Faults)
			}
			continue
		}
		if len(found.Violations) != 1 || len(found.Violations[0].Faults) != faults {
			t.Errorf("%s: %+v, want %d faults", source, found.Violations, faults)
			continue
		}
		o.Faults = found.Violations[0].Faults
		again, err := plantest.Run(prog, o)
		if err != nil {
			t.Fatal(err)
		}
		if ok, err := p.Holds(again); ok || err != nil {
			t.Errorf("%s: with %v it holds", source, o.Faults)
		}
	}
}

func TestDrawing(t *testing.T) {
	prog := compiled(`{"_tool": "look"}, {"_tool": "pay"}, {"_tool": "book"}`)
	runs := func(x plantest.Exploration) (int, int) {
		found, err := plantest.Explore(prog, &plantest.Options{World: world()}, &x)
		if err != nil {
			t.Fatal(err)
		}
		return found.Runs, found.Untried
	}
	all, none := runs(plantest.Exploration{})
	some, rest := runs(plantest.Exploration{Samples: 10})
	one, more := runs(plantest.Exploration{Depth: 1})
	if none != 0 || more != 0 || some != one+10 || all != some+rest {
		t.Errorf("%d runs, or %d and %d not drawn, or %d with one fault", all, some, rest, one)
	}
}

func TestCoverage(t *testing.T) {
	prog := compiled(`
		{"_tool": "pay", "_retry": {"max": 1}, "_fallback": "book", "_outputPath": "†state.paid || †state.unpaid"},
		{"_tool": "book", "_when": "†state.paid", "_errorPath": "†state.full"},
		{"_tool": "book", "_id": "again", "_when": "†input.again || false", "_onFailure": "continue"}`)
	c := plantest.NewCoverage(prog)
	missed := func() string {
		var all []string
		for _, p := range c.Missed() {
			all = append(all, p.Call+" "+p.What)
		}
		return strings.Join(all, ", ")
	}
	add := func(faults ...string) {
		o := &plantest.Options{World: world()}
		for _, text := range faults {
			f, err := plantest.ParseFault(text)
			if err != nil {
				t.Fatal(err)
			}
			o.Faults = append(o.Faults, f)
		}
		out, err := plantest.Run(prog, o)
		if err != nil {
			t.Fatal(err)
		}
		own := plantest.NewCoverage(prog)
		own.Add(out)
		c.Merge(own)
	}
	for _, step := range []struct {
		faults []string
		missed string
	}{
		{nil, "pay outcome †state.unpaid, pay a retry, pay fallback, book _when false, book a failure is handled, again _when true, again completed, again _onFailure"},
		{[]string{"pay@1=down", "pay/fallback@1=fail"}, "book a failure is handled, again _when true, again completed, again _onFailure"},
		{[]string{"book@1=fail"}, "again _when true, again completed, again _onFailure"},
	} {
		add(step.faults...)
		if got := missed(); got != step.missed {
			t.Errorf("with %v: missed %s,\nwant %s", step.faults, got, step.missed)
		}
	}
}

func BenchmarkRun(b *testing.B) {
	prog := program(order, shop)
	o := &plantest.Options{World: plantest.World{"charge": returns(`1`), "reserve": returns(`2`), "ship": returns(`3`)}}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := plantest.Run(prog, o); err != nil {
			b.Fatal(err)
		}
	}
}
