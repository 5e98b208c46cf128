package plc

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/plantest"
	"github.com/plc-lang/plc/internal/durable"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/internal/links"
)

// snapshot is the part of a run's result that a file of snapshots keeps.
type snapshot struct {
	Status  exec.Status             `json:"status"`
	Reason  string                  `json:"reason,omitempty"`
	Output  json.RawMessage         `json:"output"`
	State   json.RawMessage         `json:"state"`
	Data    json.RawMessage         `json:"data"`
	Calls   map[string]snapshotCall `json:"calls"`
	Effects []plantest.Effect       `json:"effects"`
}

type snapshotCall struct {
	Status   exec.Status     `json:"status"`
	Attempts int             `json:"attempts"`
	Outcome  string          `json:"outcome,omitempty"`
	Error    *exec.Failure   `json:"error,omitempty"`
	Params   json.RawMessage `json:"params,omitempty"`
}

// SnapshotName returns the name of the file with the snapshots of the tests.
func (t *PlanTests) SnapshotName() string {
	for _, suffix := range TestSuffixes() {
		if stem, ok := strings.CutSuffix(t.Name, suffix); ok {
			return stem + ".snap.json"
		}
	}
	return t.Name + ".snap.json"
}

// CompareSnapshots adds failures to the results of tests that have a snapshot and differ from it.
func (e *Engine) CompareSnapshots(t *PlanTests, results []*PlanTestResult) error {
	if !slices.ContainsFunc(results, (*PlanTestResult).hasSnapshot) {
		return nil
	}
	kept, err := e.readSnapshots(t)
	if err != nil {
		return err
	}
	for _, r := range results {
		if !r.hasSnapshot() {
			continue
		}
		want, ok := kept[r.Test.Name]
		if !ok {
			r.fail(r.Test.Loc, "%s has no snapshot of this test; --update writes it", t.SnapshotName())
			continue
		}
		if d := difference("the snapshot's run", encoded(r.snapshot()), want, true); d != "" {
			r.fail(r.Test.Loc, "%s; if that is meant, --update keeps it", strings.Replace(d, "the snapshot's run.", "", 1))
		}
	}
	return nil
}

// UpdateSnapshots writes the snapshots of the tests that have one. It keeps those of tests that
// were not run but still exist.
func (e *Engine) UpdateSnapshots(t *PlanTests, results []*PlanTestResult) error {
	kept, err := e.readSnapshots(t)
	if err != nil {
		return err
	}
	before := encoded(kept)
	maps.DeleteFunc(kept, func(name string, _ json.RawMessage) bool {
		return !slices.ContainsFunc(t.Cases, func(c *PlanTest) bool { return c.Name == name && c.Snapshot() })
	})
	for _, r := range results {
		if r.hasSnapshot() {
			kept[r.Test.Name] = encoded(r.snapshot())
		}
	}
	after := encoded(kept)
	if string(before) == string(after) {
		return nil
	}
	text, err := json.MarshalIndent(after, "", "  ")
	if err != nil {
		return err
	}
	name := t.SnapshotName()
	if at, err := links.Outside(filepath.Dir(name), name); err != nil {
		return err
	} else if at != "" {
		return fmt.Errorf("%s is a link out of its folder, to %s; remove the link to have snapshots written to a file", name, at)
	}
	return durable.WriteFile(name, append(text, '\n'))
}

func (e *Engine) readSnapshots(t *PlanTests) (map[string]json.RawMessage, error) {
	kept := map[string]json.RawMessage{}
	text, err := e.readFile(t.SnapshotName(), maxTests)
	if errors.Is(err, fs.ErrNotExist) {
		return kept, nil
	}
	if err == nil {
		err = jsonscan.Check(text, jsonscan.Limits{})
	}
	if err == nil {
		err = json.Unmarshal(text, &kept)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w; delete it, and --update writes it", t.SnapshotName(), err)
	}
	for name, v := range kept {
		kept[name] = jsonscan.Compact(nil, v)
	}
	return kept, nil
}

func (r *PlanTestResult) hasSnapshot() bool { return r.Test.Snapshot() && r.Outcome != nil }

func (r *PlanTestResult) snapshot() *snapshot {
	out := r.Outcome
	s := &snapshot{
		Status: out.Status, Reason: out.Reason, Output: out.Output, State: out.State, Data: out.Data,
		Calls: map[string]snapshotCall{}, Effects: out.Effects,
	}
	if s.Effects == nil {
		s.Effects = []plantest.Effect{}
	}
	for path, c := range out.All() {
		s.Calls[path] = snapshotCall{Status: c.Status, Attempts: c.Attempts, Outcome: c.Outcome, Error: c.Error, Params: r.params(path)}
	}
	return s
}
