package plc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/memory"
	"github.com/plc-lang/plc/tool"
)

// engineLabels are the labels by which the engine knows its own runs.
var engineLabels = []string{"undoes", "solve", "given"}

// Callers can't set the labels of the engine, neither of a new run nor of a fork.
func TestLabelsOfTheEngine(t *testing.T) {
	store := memory.New()
	defer store.Close()
	eng, r, _ := doneRun(t, store, `[{"_tool": "mail"}]`, "")
	for _, name := range engineLabels {
		labels := map[string]string{"team": "a", name: r.ID()}
		var setting *plc.SpecError
		if _, err := eng.Prepare(t.Context(), plc.Spec{Plan: plc.Text("[]"), Labels: labels}); !errors.As(err, &setting) || setting.Setting != "labels" {
			t.Errorf("a run with the label %s: %v", name, err)
		}
		if _, err := eng.Fork(t.Context(), plc.Fork{Run: r.ID(), At: "mail", Labels: labels}, plc.Change{}); !errors.As(err, &setting) || setting.Setting != "labels" {
			t.Errorf("a fork with the label %s: %v", name, err)
		}
		if !plc.ReservedLabel(name) {
			t.Errorf("the label %s is not reserved", name)
		}
	}
	if plc.ReservedLabel("team") {
		t.Error("the label team is reserved")
	}
}

// Labels of a fork replace those of the run with the same names; the others stay.
func TestLabelsOfAFork(t *testing.T) {
	store := memory.New()
	defer store.Close()
	eng := plc.New(plc.Config{Store: store})
	t.Cleanup(func() { eng.Close() })
	p, err := eng.Prepare(t.Context(), plc.Spec{
		Plan: plc.Text(`[{"_tool": "mail"}]`), Labels: map[string]string{"by": "ann", "team": "a"},
		Toolset: plc.Toolset{Files: []plc.Source{{Name: "tools.yaml", Text: agency}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	doRun(t, r)
	fork, err := eng.Fork(t.Context(), plc.Fork{Run: r.ID(), At: "mail", Labels: map[string]string{"by": "bob"}}, plc.Change{})
	if err != nil {
		t.Fatal(err)
	}
	doRun(t, fork)
	for run, want := range map[string]string{r.ID(): "ann a", fork.ID(): "bob a"} {
		sum, err := eng.Summary(t.Context(), run)
		if err != nil {
			t.Fatal(err)
		}
		if got := sum.Labels["by"] + " " + sum.Labels["team"]; got != want || sum.Labels["given"] == "" {
			t.Errorf("the labels are %v, want %s", sum.Labels, want)
		}
	}
}

// A run whose record says that it undoes another, and which is not the one that does, is a run like
// any other: older versions let callers choose that label.
func TestForgedLabelUndoesNothing(t *testing.T) {
	store := memory.New()
	defer store.Close()
	eng, victim, res := doneRun(t, store, `[{"_tool": "book", "what": "room"}, {"_tool": "fails", "_dependsOn": ["book"]}]`, plc.Abort)
	if res.Status != exec.Failed {
		t.Fatalf("%+v", res)
	}
	_, plain, _ := doneRun(t, store, `{"calls": [{"_tool": "mail"}], "output": null, "meta": {"undoes": [], "stands": []}}`, "")
	forged := createLike(t, store, plain.ID(), func(g *journal.Given) { g.Labels = map[string]string{"undoes": victim.ID()} })
	if res, err := eng.Resume(t.Context(), forged, plc.Change{}); err != nil || res.Status != exec.Completed {
		t.Fatalf("resumed: %+v, %v", res, err)
	}
	if u, err := eng.Undone(t.Context(), forged); err != nil || u != nil {
		t.Errorf("undone: %v, %v", u, err)
	}
	sum, err := eng.Summary(t.Context(), victim.ID())
	if err != nil || sum.Status != exec.Failed {
		t.Errorf("the other run is %s, %v", sum.Status, err)
	}
	if sum, err = eng.Summary(t.Context(), forged); err != nil || plc.Undoes(sum) != "" {
		t.Errorf("it undoes %q, %v", plc.Undoes(sum), err)
	}
	for run, want := range map[string]int{victim.ID(): 1, forged: 0} {
		u, err := eng.PlanUndo(t.Context(), run, nil)
		if err != nil || len(u.Calls) != want {
			t.Errorf("to undo %s: %+v, %v", run, u, err)
		}
	}
}

// A run that undoes another is not forked, and its plan is not replaced: its calls would be made
// twice.
func TestForkOfAnUndoingRun(t *testing.T) {
	store := memory.New()
	defer store.Close()
	eng, r, _ := doneRun(t, store, `[{"_tool": "book", "what": "room"}, {"_tool": "fails", "_dependsOn": ["book"]}]`, plc.Undo)
	by := r.Undone.Run
	_, err := eng.Fork(t.Context(), plc.Fork{Run: by, At: "book"}, plc.Change{})
	wantUndoes(t, err, "undoes the run "+r.ID()+" and can't be forked")
	_, err = eng.Continue(t.Context(), by, plc.Change{Plan: plc.Text("[]")})
	wantUndoes(t, err, "undoes the run "+r.ID()+" and can't get another plan")
	_, err = eng.PlanUndo(t.Context(), by, nil)
	wantUndoes(t, err, "undoes the run "+r.ID()+" and can't be undone itself")
	if all, err := eng.Runs(t.Context(), journal.Filter{}); err != nil || len(all) != 2 {
		t.Errorf("%d runs, %v", len(all), err)
	}
}

func wantUndoes(t *testing.T, err error, text string) {
	t.Helper()
	var undoes *plc.UndoesError
	if !errors.As(err, &undoes) || !strings.Contains(err.Error(), text) {
		t.Errorf("got %v, want %s", err, text)
	}
}

// The notation of plans that undo runs is the engine's own. A run that has it in its record and
// undoes nothing, as older versions let callers start, can be looked at and does not go on.
func TestUndoNotationIsPrivate(t *testing.T) {
	store := memory.New()
	defer store.Close()
	eng, r, _ := doneRun(t, store, `[{"_tool": "book", "what": "room"}, {"_tool": "fails", "_dependsOn": ["book"]}]`, plc.Undo)
	given, err := store.Given(t.Context(), r.Undone.Run)
	if err != nil {
		t.Fatal(err)
	}
	var kept struct {
		Spec struct{ Plan struct{ Notation string } }
	}
	if err := json.Unmarshal(given.Settings, &kept); err != nil {
		t.Fatal(err)
	}
	private := kept.Spec.Plan.Notation
	var setting *plc.SpecError
	spec := plc.Spec{Plan: plc.Text("[]").From(private)}
	if _, err := eng.Check(t.Context(), spec); !errors.As(err, &setting) || setting.Setting != "from" {
		t.Errorf("checked in the notation %q: %v", private, err)
	}
	if _, err := eng.Prepare(t.Context(), spec); !errors.As(err, &setting) {
		t.Errorf("prepared: %v", err)
	}
	if _, _, err := plc.Parse(nil, private); !errors.As(err, &setting) {
		t.Errorf("parsed: %v", err)
	}
	stray := createLike(t, store, r.Undone.Run, func(g *journal.Given) { g.Labels = nil })
	if _, err := eng.PlanOf(t.Context(), stray); err != nil {
		t.Errorf("looked at: %v", err)
	}
	var undoes *plc.UndoesError
	if _, err := eng.Resume(t.Context(), stray, plc.Change{}); !errors.As(err, &undoes) {
		t.Errorf("resumed: %v", err)
	}
	if _, err := eng.Fork(t.Context(), plc.Fork{Run: stray, At: "book"}, plc.Change{}); !errors.As(err, &undoes) {
		t.Errorf("forked: %v", err)
	}
	if all, err := eng.Runs(t.Context(), journal.Filter{}); err != nil || len(all) != 3 {
		t.Errorf("%d runs, %v", len(all), err)
	}
}

// doneRun runs a plan over the tools of the agency.
func doneRun(t *testing.T, store journal.Store, plan string, how plc.OnFailure) (*plc.Engine, *plc.Run, *exec.Result) {
	t.Helper()
	eng, r, err := begunUndoing(t, store, plan, how)
	if err != nil {
		t.Fatal(err)
	}
	return eng, r, doRun(t, r)
}

func doRun(t *testing.T, r *plc.Run) *exec.Result {
	t.Helper()
	res, err := r.Do(t.Context())
	if err := errors.Join(err, r.Close()); err != nil {
		t.Fatal(err)
	}
	return res
}

// createLike makes the record of a run that was given what another was, with changes.
func createLike(t *testing.T, store journal.Store, run string, change func(*journal.Given)) (id string) {
	t.Helper()
	given, err := store.Given(t.Context(), run)
	if err != nil {
		t.Fatal(err)
	}
	change(given)
	id = exec.NewID()
	record, err := store.Create(t.Context(), id, given)
	if err == nil {
		err = record.Close()
	}
	if err != nil {
		t.Fatal(err)
	}
	return id
}

// A fork sets values whatever the ids of the calls have in them: what a call writes is refused when
// its result is taken over, and only then.
func TestForkSetsWhatIsMadeAgain(t *testing.T) {
	for _, id := range []string{"b", "a/b", "a[0]", "a#2", "a~1b"} {
		store := memory.New()
		defer store.Close()
		name, _ := json.Marshal(id)
		plan := fmt.Sprintf(`[{"_tool": "mail", "_id": "first", "_outputPath": "†state.x"}, {"_tool": "mail", "_id": %s, "_outputPath": "†state.y", "_dependsOn": ["first"]}]`, name)
		eng, r, _ := doneRun(t, store, plan, "")
		for at, want := range map[string]bool{"first": true, exec.PathOf(id): true} {
			fork, err := eng.Fork(t.Context(), plc.Fork{Run: r.ID(), At: at, Set: map[string]json.RawMessage{"state.y": json.RawMessage("1")}}, plc.Change{})
			if (err == nil) != want {
				t.Errorf("%s: a fork at %q: %v", id, at, err)
			}
			if err == nil {
				doRun(t, fork)
			}
		}
		_, err := eng.Fork(t.Context(), plc.Fork{Run: r.ID(), At: exec.PathOf(id), Set: map[string]json.RawMessage{"state.x": json.RawMessage("1")}}, plc.Change{})
		if setting, ok := errors.AsType[*plc.SpecError](err); !ok || setting.Setting != "set" {
			t.Errorf("%s: a result is overwritten: %v", id, err)
		}
	}
}

// A fork that can't run is refused before there is a run of it.
func TestForkThatCanNotRunIsNotMade(t *testing.T) {
	store := memory.New()
	defer store.Close()
	double := tool.Func("double", "Doubles a number.", func(_ context.Context, in struct {
		N int `json:"n"`
	}) (int, error) {
		return 2 * in.N, nil
	})
	eng := plc.New(plc.Config{Tools: []*tool.Tool{double}, Store: store})
	first, err := eng.Run(t.Context(), plc.Spec{
		Plan: plc.Text(`[{"_tool": "double", "n": "†input.n", "_outputPath": "†state.x"}]`), Values: plc.Values{Input: []plc.Source{plc.Text(`{"n": 1}`)}},
	})
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		n      string
		change plc.Change
	}{
		"a value that does not fit": {n: `"one"`},
		"a plan with an error":      {n: `2`, change: plc.Change{Plan: plc.Text(`[{"_tool": "dubble"}]`)}},
		"a setting that is wrong":   {n: `2`, change: plc.Change{Edit: func(s *plc.Spec) { s.OnFailure = "explode" }}},
	} {
		how := plc.Fork{Run: first.Run, At: "double", Set: map[string]json.RawMessage{"input.n": json.RawMessage(c.n)}}
		_, err := eng.Fork(t.Context(), how, c.change)
		runs, failed := eng.Runs(t.Context(), journal.Filter{})
		if err == nil || failed != nil || len(runs) != 1 {
			t.Errorf("%s: %d runs, error %v", name, len(runs), errors.Join(err, failed))
		}
	}
}
