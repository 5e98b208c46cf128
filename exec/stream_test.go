package exec_test

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/effort"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
)

// stream runs a plan whose calls come one by one, a second apart.
func stream(t *testing.T, calls []string, opts *compile.Options) *exec.Result {
	t.Helper()
	return streamHeld(t, calls, opts, nil)
}

func streamHeld(t *testing.T, calls []string, opts *compile.Options, hold func(*compile.Call) bool) *exec.Result {
	t.Helper()
	parse := func(n int) *lang.Document {
		doc, findings := lang.Parse(diag.NewFile("plan.json", []byte("["+strings.Join(calls[:n], ",")+"]")), nil)
		if err := findings.Err(); err != nil {
			t.Fatal(err)
		}
		return doc
	}
	s := compile.NewStream(opts)
	prog, findings := s.Add(parse(0))
	if err := findings.Err(); err != nil {
		t.Fatal(err)
	}
	h, err := exec.Start(t.Context(), prog, &exec.Options{Open: true, OnFailure: exec.Skip, Hold: hold})
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; n <= len(calls); n++ {
		time.Sleep(time.Second)
		prog, findings := s.Add(parse(n))
		if err := findings.Err(); err != nil {
			t.Fatal(err)
		}
		if err := h.Extend(prog, false); err != nil {
			t.Fatal(err)
		}
	}
	prog, findings = s.Close(parse(len(calls)))
	if err := findings.Err(); err != nil {
		t.Fatal(err)
	}
	if err := h.Extend(prog, true); err != nil {
		t.Fatal(err)
	}
	return h.Wait()
}

func streamTools(f act) *tool.Catalogue {
	def := func(name, raw string) *tool.Tool {
		d, findings := tool.ParseDefinition([]byte(raw), name, diag.Loc{})
		if err := findings.Err(); err != nil {
			panic(err)
		}
		return &tool.Tool{Definition: d, Activity: tool.ActivityFunc(f)}
	}
	return tool.NewCatalogue(def("e", `{}`), def("w", `{"effects":{"readOnly":false}}`), def("bad", `{}`))
}

func TestCallsStartAsTheyCome(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		started := map[string]time.Duration{}
		begun := time.Now()
		opts := &compile.Options{Run: true, Catalogue: streamTools(func(_ context.Context, req *tool.Request) (tool.Result, error) {
			started[req.Call] = time.Since(begun)
			return tool.Result{Value: req.Params}, nil
		})}
		res := stream(t, []string{
			`{"_tool":"e","_id":"first","v":1,"_outputPath":"†state.a"}`,
			`{"_tool":"e","_id":"forward","v":"†state.later","_outputPath":"†state.b"}`,
			`{"_tool":"e","_id":"reader","v":"†state.a","_outputPath":"†state.c"}`,
			`{"_tool":"e","_id":"behind","v":"†state.b","_outputPath":"†state.d"}`,
			`{"_tool":"e","_id":"later","v":2,"_outputPath":"†state.later"}`,
			`{"_tool":"e","_id":"last","v":3}`,
		}, opts)
		for id, at := range map[string]time.Duration{"first": 1, "reader": 3, "later": 5, "last": 6, "forward": 6, "behind": 6} {
			if started[id] != at*time.Second {
				t.Errorf("%s started after %s, want %d s", id, started[id], at)
			}
		}
		if res.Status != exec.Completed || len(res.Calls) != 6 {
			t.Errorf("%s: %s", res.Status, statuses(res))
		}
	})
}

// In plan order the first effect comes last, since it needs what is listed last.
func TestStreamedEffectsKeepPlanOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var order []string
		opts := &compile.Options{Run: true, Catalogue: streamTools(func(_ context.Context, req *tool.Request) (tool.Result, error) {
			order = append(order, req.Call)
			return tool.Result{Value: req.Params}, nil
		})}
		stream(t, []string{
			`{"_tool":"w","_id":"one","v":"†state.later"}`,
			`{"_tool":"w","_id":"two"}`,
			`{"_tool":"e","_id":"later","_outputPath":"†state.later"}`,
		}, opts)
		if got := strings.Join(order, " "); got != "two later one" {
			t.Errorf("ran %s", got)
		}
	})
}

// What is held waits for the end of the list, and what needs it with it; the others do not.
func TestHeldCallsWaitForTheEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		begin, started := time.Now(), map[string]time.Duration{}
		opts := &compile.Options{Run: true, Catalogue: streamTools(func(_ context.Context, req *tool.Request) (tool.Result, error) {
			started[req.Call] = time.Since(begin)
			return tool.Result{Value: req.Params}, nil
		})}
		res := streamHeld(t, []string{
			`{"_tool":"e","_id":"one","_outputPath":"†state.a"}`,
			`{"_tool":"e","_id":"held","_outputPath":"†state.b"}`,
			`{"_tool":"e","_id":"reader","v":"†state.b"}`,
			`{"_tool":"e","_id":"free","v":"†state.a"}`,
		}, opts, func(c *compile.Call) bool { return c.ID == "held" })
		for id, at := range map[string]time.Duration{"one": 1, "free": 4, "held": 4, "reader": 4} {
			if started[id] != at*time.Second {
				t.Errorf("%s started after %s, want %d s", id, started[id], at)
			}
		}
		if res.Status != exec.Completed || len(started) != 4 {
			t.Errorf("%s: %s", res.Status, statuses(res))
		}
	})
}

// TestStreamedEqualsWhole runs random plans whole and call by call.
func TestStreamedEqualsWhole(t *testing.T) {
	paths := []string{"a", "b", "c", "l", "l[0]", "a.x", "b.y", "l[-1]", "a.x.z"}
	for seed := range uint64(effort.Of(100, 400)) {
		r := rand.New(rand.NewPCG(seed, 1))
		pick := func() string { return "†state." + paths[r.IntN(len(paths))] }
		var calls []string
		for i := range 2 + r.IntN(8) {
			tools := []string{"e", "e", "e", "w", "bad"}
			call := `{"_tool":"` + tools[r.IntN(len(tools))] + `","_id":"c` + string(rune('0'+i)) + `"`
			switch r.IntN(4) {
			case 0:
				call += `,"v":"` + pick() + `"`
			case 1:
				call += `,"v":"` + pick() + ` || ` + pick() + `"`
			case 2:
				call += `,"v":` + string(rune('0'+r.IntN(10)))
			}
			if r.IntN(4) > 0 {
				call += `,"_outputPath":"` + pick() + `"`
				if r.IntN(3) == 0 {
					call += `,"_outputMethod":"` + []string{"push", "merge"}[r.IntN(2)] + `"`
				}
			}
			if r.IntN(6) == 0 {
				call += `,"_dependsOn":["c` + string(rune('0'+r.IntN(i+2))) + `"]`
			}
			calls = append(calls, call+"}")
		}
		opts := &compile.Options{
			Run:    true,
			Values: map[string]compile.Given{"state": {JSON: json.RawMessage(`{"a":{"x":1},"l":[1,2]}`)}},
			Catalogue: streamTools(func(_ context.Context, req *tool.Request) (tool.Result, error) {
				time.Sleep(time.Duration(req.Seed % uint64(3*time.Second)))
				if req.Tool == "bad" {
					return tool.Result{}, &tool.Error{Code: "x", Message: "no"}
				}
				return tool.Result{Value: json.RawMessage(`{"z":"` + req.Call + `","p":` + string(req.Params) + `}`)}, nil
			}),
		}
		doc, findings := lang.Parse(diag.NewFile("plan.json", []byte("["+strings.Join(calls, ",")+"]")), nil)
		prog, more := compile.Compile(doc, opts)
		if append(findings, more...).HasErrors() {
			continue
		}
		synctest.Test(t, func(t *testing.T) {
			whole := run(t, prog, &exec.Options{OnFailure: exec.Skip})
			streamed := stream(t, calls, opts)
			got, want := canonical(t, streamed.State), canonical(t, whole.State)
			ended := map[string]exec.Status{}
			for _, c := range streamed.Calls {
				ended[c.ID] = c.Status
			}
			for _, c := range whole.Calls {
				if ended[c.ID] != c.Status {
					t.Errorf("%s is %s, want %s", c.ID, ended[c.ID], c.Status)
				}
			}
			if got != want || t.Failed() {
				t.Fatalf("seed %d\n%s\nstreamed %s\nwhole    %s", seed, strings.Join(calls, "\n"), got, want)
			}
		})
	}
}

// A run that is to have another plan starts nothing new, lets what runs end, and is paused.
func TestReplanFromOutside(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ran []string
		prog := program(t, `[{"_tool":"slow","_id":"a","_outputPath":"†state.a"},{"_tool":"slow","_id":"b","v":"†state.a"}]`, tools{
			"slow": func(_ context.Context, req *tool.Request) (tool.Result, error) {
				ran = append(ran, req.Call)
				time.Sleep(time.Second)
				return tool.Result{Value: json.RawMessage("1")}, nil
			}})
		h, err := exec.Start(t.Context(), prog, nil)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second / 2)
		h.Replan("somebody knows better")
		res := h.Wait()
		if res.Status != exec.Paused || !res.Replan || !strings.HasPrefix(res.Reason, "somebody knows better") || string(res.State) != `{"a":1}` || len(ran) != 1 {
			t.Errorf("%s %q %s, ran %v", res.Status, res.Reason, res.State, ran)
		}
		h.Replan("too late")
	})
}

// What was released is known by all that it says, and not by its id alone: a plan that has another
// call in its place is none that the run can go on with.
func TestReleasedCallsStayAsTheyWere(t *testing.T) {
	opts := &compile.Options{Catalogue: streamTools(nil)}
	parse := func(text string) *lang.Document {
		doc, findings := lang.Parse(diag.NewFile("plan.json", []byte(text)), nil)
		if err := findings.Err(); err != nil {
			t.Fatal(err)
		}
		return doc
	}
	for text, sound := range map[string]bool{
		`[{"_tool":"e","v":1},{"_tool":"w"}]`:                 true,
		`[ {"_tool": "e", "v": 1.0}, {"_tool": "w"} ]`:        true,
		`[{"_tool":"e","v":2},{"_tool":"w"}]`:                 false,
		`[{"_tool":"w","_id":"e","v":1}]`:                     false,
		`[{"_tool":"e","v":1,"_outputPath":"†state.x"}]`:      false,
		`[{"_tool":"w"}]`:                                     false,
		`[{"_tool":"e","v":2,"_id":"x"},{"_tool":"e","v":1}]`: false,
	} {
		s := compile.NewStream(opts)
		if _, findings := s.Add(parse(`[{"_tool":"e","v":1}]`)); findings.HasErrors() {
			t.Fatal(findings)
		}
		prog, findings := s.Close(parse(text))
		if findings.HasErrors() == sound || sound != (len(prog.Calls) == 2) {
			t.Errorf("%s: %v, %d calls", text, findings, len(prog.Calls))
		}
	}
}
