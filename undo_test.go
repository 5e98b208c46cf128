package plc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/memory"
)

// agency are the tools of a travel agency: what is booked can be cancelled, what is stuck can't.
const agency = `
tools:
  book: {properties: {what: {type: string}, _output: {type: object, properties: {id: {type: string}}, required: [id]}}, effects: {readOnly: false}, undo: {tool: cancel, params: {id: "†result.id", what: "†params.what"}}}
  cancel: {properties: {id: {type: string}, what: {type: string}}, effects: {readOnly: false, idempotent: true}}
  stick: {properties: {}, effects: {readOnly: false}, undo: {tool: unstick}}
  unstick: {properties: {}, effects: {readOnly: false, idempotent: true}}
  mail: {properties: {}, effects: {readOnly: false}}
  fails: {properties: {}, effects: {readOnly: true}}
activities:
  book: {return: {id: b-1}}
  cancel: {echo: true}
  stick: {return: 1}
  unstick: {fail: {code: jammed, permanent: true}}
  mail: {return: 1}
  fails: {fail: {code: broken, permanent: true}}
`

// begunUndoing begins a run of a plan over the tools of the agency.
func begunUndoing(t *testing.T, store journal.Store, plan string, how plc.OnFailure) (*plc.Engine, *plc.Run, error) {
	t.Helper()
	eng := plc.New(plc.Config{Store: store})
	t.Cleanup(func() { eng.Close() })
	p, err := eng.Prepare(t.Context(), plc.Spec{
		Plan: plc.Text(plan), OnFailure: how, Toolset: plc.Toolset{Files: []plc.Source{{Name: "tools.yaml", Text: agency}}},
	})
	if err != nil {
		t.Fatal(err)
	}
	r, err := p.Begin(t.Context())
	return eng, r, err
}

// undoneText returns the progress of undoing a run on one line.
func undoneText(u *plc.Undone) string {
	if u == nil {
		return "not undone"
	}
	s := string(u.Status) + ":"
	for _, c := range u.Undone {
		s += fmt.Sprintf(" -%s", c.Name())
	}
	for _, c := range u.Stands {
		s += fmt.Sprintf(" +%s (%s)", c.Name(), c.Why)
	}
	return s
}

// A run that ends badly undoes what it did, and says what stands.
func TestRunUndoesItself(t *testing.T) {
	const fails = `{"_tool": "fails", "_dependsOn": ["book"]}`
	for _, test := range []struct {
		name, plan string
		how        plc.OnFailure
		want       string
	}{
		{"by the setting", `[{"_tool": "book", "what": "room"}, ` + fails + `]`, plc.Undo, "undone: -book"},
		{"by the plan", `{"onFailure": "undo", "calls": [{"_tool": "book", "what": "room"}, ` + fails + `]}`, "", "undone: -book"},
		{"by a call", `[{"_tool": "book", "what": "room"}, {"_tool": "fails", "_dependsOn": ["book"], "_onFailure": "undo"}]`, "", "undone: -book"},
		{"not by another call", `[{"_tool": "book", "what": "room", "_onFailure": "undo"}, ` + fails + `]`, "", "not undone"},
		{"the setting counts", `{"onFailure": "undo", "calls": [{"_tool": "book", "what": "room"}, ` + fails + `]}`, plc.Abort, "not undone"},
		{"a handled failure", `[{"_tool": "book", "what": "room"}, {"_tool": "fails", "_errorPath": "†state.e"}]`, plc.Undo, "not undone"},
		{"nothing was done", `[{"_tool": "fails"}]`, plc.Undo, "undone:"},
		{"not all", `[{"_tool": "mail", "_id": "book"}, {"_tool": "book", "_id": "b", "what": "x", "_undo": null}, {"_tool": "fails", "_dependsOn": ["book", "b"]}]`, plc.Undo,
			"undoneInPart: +book (its tool has no undo) +b (the plan says that nothing takes it back)"},
		{"an undo that fails", `[{"_tool": "book", "what": "room"}, {"_tool": "stick", "_dependsOn": ["book"]}, {"_tool": "fails", "_dependsOn": ["stick"]}]`, plc.Undo,
			"undoing: +stick (its undo failed: jammed) +book (it was not undone yet)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			store := memory.New()
			defer store.Close()
			eng, r, err := begunUndoing(t, store, test.plan, test.how)
			if err != nil {
				t.Fatal(err)
			}
			res, err := r.Do(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			if got := undoneText(r.Undone); got != test.want {
				t.Errorf("got  %s (%v)\nwant %s", got, r.Undone, test.want)
			}
			later, err := eng.Undone(t.Context(), r.ID())
			if err != nil || undoneText(later) != undoneText(r.Undone) {
				t.Errorf("by the record: %s, %v", undoneText(later), err)
			}
			sum, err := eng.Summary(t.Context(), r.ID())
			if err != nil || sum.Status != res.Status || r.Undone != nil && res.Status != r.Undone.Status {
				t.Errorf("the run is %s, by the record %s, %v", res.Status, sum.Status, err)
			}
			checkUndoneStays(t, eng, r, res)
		})
	}
}

// checkUndoneStays checks that a run that was undone can't go on, and that one that waits can.
func checkUndoneStays(t *testing.T, eng *plc.Engine, r *plc.Run, res *exec.Result) {
	t.Helper()
	if r.Undone == nil {
		return
	}
	var undone *plc.UndoneError
	_, err := eng.Fork(t.Context(), plc.Fork{Run: r.ID(), At: res.Calls[0].ID}, plc.Change{})
	if !errors.As(err, &undone) {
		t.Errorf("forked: %v", err)
	}
	if res.Status != exec.Undoing {
		if _, err := eng.Resume(t.Context(), r.ID(), plc.Change{}); !errors.As(err, &undone) {
			t.Errorf("resumed: %v", err)
		}
		return
	}
	err = eng.Answer(t.Context(), r.Undone.Run, journal.Answer{Path: "stick", Answer: exec.Answer{Skip: true, Reason: "by hand"}})
	if err != nil {
		t.Fatal(err)
	}
	if res, err = eng.Resume(t.Context(), r.ID(), plc.Change{}); err != nil || res.Status != exec.UndoneInPart {
		t.Fatalf("resumed: %v, %+v", err, res)
	}
	u, err := eng.Undone(t.Context(), r.ID())
	if want := "undoneInPart: -book +stick (a person skipped it: by hand)"; err != nil || undoneText(u) != want {
		t.Errorf("at the end: %s, %v", undoneText(u), err)
	}
}

// A run without a record could not be undone.
func TestUndoNeedsARecord(t *testing.T) {
	_, _, err := begunUndoing(t, nil, `[{"_tool": "fails"}]`, plc.Undo)
	var setting *plc.SpecError
	if !errors.As(err, &setting) || setting.Setting != "on-failure" {
		t.Errorf("%v", err)
	}
}

// Any recorded run can be undone, once; its calls in documents as well.
func TestUndoOfACompletedRun(t *testing.T) {
	store := memory.New()
	defer store.Close()
	eng, r, err := begunUndoing(t, store, `[{"_tool": "book", "what": "room"}, {"_tool": "mail"}]`, "")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := r.Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, err := eng.PlanUndo(t.Context(), r.ID(), nil); !errors.As(err, new(*journal.HeldError)) {
		t.Errorf("it is undone while it is held: %v", err)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	plan, err := eng.PlanUndo(t.Context(), r.ID(), nil)
	if err != nil {
		t.Fatal(err)
	}
	by, err := eng.Undo(t.Context(), plan)
	if err != nil {
		t.Fatal(err)
	}
	res, err := by.Do(t.Context())
	if err != nil || res.Status != exec.Completed {
		t.Fatalf("%v, %+v", err, res)
	}
	if err := by.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := eng.PlanUndo(t.Context(), r.ID(), nil) // there is nothing left to do
	if err != nil || again.ID != "" || len(again.Calls) != 0 || len(again.Stands) != 1 {
		t.Errorf("%v, %+v", err, again)
	}
	if _, err := eng.Undo(t.Context(), again); err == nil {
		t.Error("it is undone twice")
	}
	u, err := eng.Undone(t.Context(), r.ID())
	if want := "undoneInPart: -book +mail (its tool has no undo)"; err != nil || undoneText(u) != want {
		t.Errorf("%s, %v", undoneText(u), err)
	}
	before, err := eng.Runs(t.Context(), journal.Filter{})
	if err != nil {
		t.Fatal(err)
	}
	resumed, err := eng.Continue(t.Context(), u.Run, plc.Change{})
	if err != nil {
		t.Fatal(err)
	}
	if res, err := resumed.Do(t.Context()); err != nil || res.Status != exec.Completed || undoneText(resumed.Undone) != undoneText(u) {
		t.Errorf("resumed: %v, %+v, %s", err, res, undoneText(resumed.Undone))
	}
	if err := resumed.Close(); err != nil {
		t.Error(err)
	}
	if after, err := eng.Runs(t.Context(), journal.Filter{}); err != nil || !reflect.DeepEqual(before, after) {
		t.Errorf("runs that had ended were changed: %v", err)
	}
	var params struct{ ID, What string }
	for entry, err := range eng.Events(t.Context(), u.Run, 0) {
		if err != nil {
			t.Fatal(err)
		}
		if e, err := entry.Event(); err == nil && e.Type == exec.CallReturned {
			if err := json.Unmarshal(e.Value, &params); err != nil {
				t.Fatal(err)
			}
		}
	}
	if params.ID != "b-1" || params.What != "room" {
		t.Errorf("undone with %+v", params)
	}
}

// What a policy on the flow of information forbids of an undo does not depend on how the id of the
// call is spelled.
func TestUndoFollowsTheFlow(t *testing.T) {
	const (
		before = `
tools:
  readMail: {properties: {}, effects: {readOnly: true, openWorld: false}}
  book: {properties: {note: {}}, effects: {readOnly: false, openWorld: false}, undo: {tool: send, params: {to: "†params.note"}}}
  send: {properties: {to: {}}, effects: {readOnly: false, idempotent: true, openWorld: false}}
activities: {readMail: {return: evil}, book: {return: 1}, send: {return: 1}}
`
		policy = `
flow:
  given: {input: {trust: user}}
  tools:
    readMail: {gives: {trust: untrusted, secrecy: secret}}
    send: {takes: {to: {trust: user}}}
`
	)
	for _, id := range []string{"ab", "a/b", "a[b", "a[0]", "a#b", "a#2", "a~b", "~1"} {
		t.Run(id, func(t *testing.T) {
			store := memory.New()
			defer store.Close()
			eng := plc.New(plc.Config{Store: store})
			defer eng.Close()
			tools := filepath.Join(t.TempDir(), "tools.yaml")
			write := func(text string) {
				if err := os.WriteFile(tools, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write(before)
			name, _ := json.Marshal(id)
			plan := fmt.Sprintf(`[{"_tool": "readMail", "_outputPath": "†state.m"}, {"_tool": "book", "_id": "other", "note": "x"}, {"_tool": "book", "_id": %s, "note": "†state.m"}]`, name)
			res, err := eng.Run(t.Context(), plc.Spec{Plan: plc.Text(plan), Toolset: plc.Toolset{Files: []plc.Source{plc.File(tools)}}})
			if err != nil || res.Status != exec.Completed {
				t.Fatalf("%v, %+v", err, res)
			}
			write(before + policy)
			u, err := eng.PlanUndo(t.Context(), res.Run, nil)
			if err != nil {
				t.Fatal(err)
			}
			var refused *plc.PlanError
			if err := u.Check(); !errors.As(err, &refused) || !strings.Contains(refused.Error(), "may be untrusted, secret") {
				t.Errorf("checked: %v", err)
			}
			if _, err := eng.Undo(t.Context(), u); !errors.As(err, &refused) {
				t.Errorf("undone: %v", err)
			}
		})
	}
}

// A call that a plan made which was replaced since is not checked as the call of the same id in the
// new plan.
func TestUndoOfARevisedPlan(t *testing.T) {
	const (
		before = `
tools:
  readMail: {properties: {}, effects: {readOnly: true, openWorld: false}}
  readNote: {properties: {}, effects: {pure: true}}
  book: {properties: {note: {}}, effects: {readOnly: false, openWorld: false}, undo: {tool: send, params: {to: "†params.note"}}}
  send: {properties: {to: {}}, effects: {readOnly: false, idempotent: true, openWorld: false}}
  fails: {properties: {}, effects: {readOnly: true, openWorld: false}}
activities: {readMail: {return: evil}, readNote: {return: good}, book: {return: 1}, send: {return: 1}, fails: {fail: {code: broken, permanent: true}}}
`
		policy = `
flow:
  tools:
    readMail: {gives: {trust: untrusted}}
    send: {takes: {to: {trust: user}}}
`
		fails = `[{"_tool": "readMail", "_outputPath": "†state.m"}, {"_tool": "book", "_id": "b", "note": "†state.m"}, {"_tool": "fails", "_dependsOn": ["b"]}]`
	)
	for _, test := range []struct{ name, plan, next, want string }{
		{"another value", fails, `[{"_tool": "book", "_id": "b", "note": "x"}]`, "replaced"},
		{"the same call, of another source", fails, `[{"_tool": "readNote", "_outputPath": "†state.m"}, {"_tool": "book", "_id": "b", "note": "†state.m"}]`, "replaced"},
		{"another id", fails, `[{"_tool": "book", "_id": "c", "note": "x"}]`, "is not known"},
		{"nothing was done before", `[{"_tool": "fails"}]`, `[{"_tool": "book", "_id": "b", "note": "x"}]`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			store := memory.New()
			defer store.Close()
			eng := plc.New(plc.Config{Store: store})
			defer eng.Close()
			tools := filepath.Join(t.TempDir(), "tools.yaml")
			write := func(text string) {
				if err := os.WriteFile(tools, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write(before)
			res, err := eng.Run(t.Context(), plc.Spec{Plan: plc.Text(test.plan), OnFailure: plc.Replan, Toolset: plc.Toolset{Files: []plc.Source{plc.File(tools)}}})
			if err != nil || res.Status == exec.Completed {
				t.Fatalf("%v, %+v", err, res)
			}
			res, err = eng.Resume(t.Context(), res.Run, plc.Change{Plan: plc.Text(test.next)})
			if err != nil || res.Status != exec.Completed {
				t.Fatalf("%v, %+v", err, res)
			}
			write(before + policy)
			u, err := eng.PlanUndo(t.Context(), res.Run, nil)
			if err != nil {
				t.Fatal(err)
			}
			switch err := u.Check(); {
			case test.want == "" && err != nil:
				t.Errorf("refused: %v", err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("%v, want %q", err, test.want)
			}
		})
	}
}

// meanwhileStore is a store in which something is done just before a run is held.
type meanwhileStore struct {
	journal.Store
	do func()
}

// meanwhile calls do, the first time.
func (s *meanwhileStore) meanwhile() {
	if do := s.do; do != nil {
		s.do = nil
		do()
	}
}

func (s *meanwhileStore) Resume(ctx context.Context, run string) (journal.Run, error) {
	s.meanwhile()
	return s.Store.Resume(ctx, run)
}

func (s *meanwhileStore) Fork(ctx context.Context, run string, f *journal.Fork) (journal.Run, error) {
	s.meanwhile()
	return s.Store.Fork(ctx, run, f)
}

// A fork would keep what is taken back of a run that somebody begins to undo just before, and would
// be of two plans if the run gets another one.
func TestForkOfARunThatChanges(t *testing.T) {
	store := &meanwhileStore{Store: memory.New()}
	defer store.Close()
	eng, r, err := begunUndoing(t, store, `[{"_tool": "book", "what": "room"}, {"_tool": "fails", "_dependsOn": ["book"]}]`, "")
	if err != nil {
		t.Fatal(err)
	}
	if res, err := r.Do(t.Context()); err != nil || res.Status != exec.Failed {
		t.Fatalf("%v, %+v", err, res)
	}
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	fork := func(do func()) error {
		store.do = do
		f, err := eng.Fork(t.Context(), plc.Fork{Run: r.ID(), At: "fails"}, plc.Change{})
		if err == nil {
			err = f.Close()
		}
		return err
	}
	err = fork(func() {
		next := plc.Text(`[{"_tool": "book", "what": "room"}, {"_tool": "mail"}, {"_tool": "fails", "_dependsOn": ["book", "mail"]}]`)
		if res, err := eng.Resume(t.Context(), r.ID(), plc.Change{Plan: next}); err != nil || res.Status != exec.Failed {
			t.Errorf("%v, %+v", err, res)
		}
	})
	if !errors.As(err, new(*plc.ChangedRunError)) {
		t.Errorf("forked while it got another plan: %v", err)
	}
	if err := fork(nil); err != nil {
		t.Error(err)
	}
	err = fork(func() {
		u, err := eng.PlanUndo(t.Context(), r.ID(), nil)
		if err != nil {
			t.Fatal(err)
		}
		by, err := eng.Undo(t.Context(), u)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { by.Close() })
	})
	if !errors.As(err, new(*plc.UndoneError)) {
		t.Errorf("forked while it is undone: %v", err)
	}
	if all, err := eng.Runs(t.Context(), journal.Filter{}); err != nil || len(all) != 3 {
		t.Errorf("%d runs, %v", len(all), err) // itself, the fork, and what undoes it
	}
}

// A run that goes on just before it is undone is not undone by what was planned before: what it did
// since would stand.
func TestUndoOfARunThatGoesOn(t *testing.T) {
	for _, goesOn := range []bool{false, true} {
		t.Run(fmt.Sprint(goesOn), func(t *testing.T) {
			store := &meanwhileStore{Store: memory.New()}
			defer store.Close()
			eng, r, err := begunUndoing(t, store, `[{"_tool": "book", "what": "room"}, {"_tool": "book", "_id": "b", "what": "car", "_approve": "a car", "_dependsOn": ["book"]}]`, "")
			if err != nil {
				t.Fatal(err)
			}
			if res, err := r.Do(t.Context()); err != nil || res.Status != exec.Paused {
				t.Fatalf("%v, %+v", err, res)
			}
			if err := r.Close(); err != nil {
				t.Fatal(err)
			}
			begin := func() (*plc.Run, error) {
				u, err := eng.PlanUndo(t.Context(), r.ID(), nil)
				if err != nil {
					t.Fatal(err)
				}
				return eng.Undo(t.Context(), u)
			}
			store.do = func() { // an answer alone changes nothing of what it did
				if err := eng.Answer(t.Context(), r.ID(), journal.Answer{Path: "b", Answer: exec.Answer{Approved: true}}); err != nil {
					t.Error(err)
				}
				if !goesOn {
					return
				}
				if res, err := eng.Resume(t.Context(), r.ID(), plc.Change{}); err != nil || res.Status != exec.Completed {
					t.Errorf("%v, %+v", err, res)
				}
			}
			by, err := begin()
			want := "undone: -book"
			if goesOn {
				var changed *plc.ChangedRunError
				if want = "undone: -b -book"; !errors.As(err, &changed) {
					t.Errorf("it is undone: %v", err)
				}
				if sum, err := eng.Summary(t.Context(), r.ID()); err != nil || sum.Status != exec.Completed || sum.Holder != nil {
					t.Errorf("%+v, %v", sum, err)
				}
				by, err = begin()
			}
			if err != nil {
				t.Fatal(err)
			}
			if res, err := by.Do(t.Context()); err != nil || res.Status != exec.Completed {
				t.Fatalf("%v, %+v", err, res)
			}
			if err := by.Close(); err != nil {
				t.Fatal(err)
			}
			if u, err := eng.Undone(t.Context(), r.ID()); err != nil || undoneText(u) != want {
				t.Errorf("%s, %v, want %s", undoneText(u), err, want)
			}
		})
	}
}
