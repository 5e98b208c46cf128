package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plc-lang/plc/internal/jsonscan"
)

// notYet are the cases that need what is not built. A case
// that passes must be taken off.
var notYet = []string{}

// TestConformance runs the cases of the language through the command: see
// testdata/conformance/README.md.
func TestConformance(t *testing.T) {
	names, err := filepath.Glob("../../testdata/conformance/*.json")
	if err != nil || len(names) == 0 {
		t.Fatalf("no cases: %v", err)
	}
	var ids []string
	for _, name := range names {
		c := readCase(t, name)
		ids = append(ids, c.ID)
		t.Run(c.ID, func(t *testing.T) {
			t.Parallel()
			faults := c.run(t)
			switch pending := slices.Contains(notYet, c.ID); {
			case pending && len(faults) == 0:
				t.Error("it passes: take it off notYet")
			case pending:
				t.Skipf("not yet: %s", strings.Join(faults, "; "))
			case len(faults) > 0:
				t.Errorf("§%s, %s:\n\t%s", c.Section, c.About, strings.Join(faults, "\n\t"))
			}
		})
	}
	for _, id := range notYet {
		if !slices.Contains(ids, id) {
			t.Errorf("notYet names %s, which is no case", id)
		}
	}
}

// TestJudge makes sure that the judge of the cases finds faults: one of each kind.
func TestJudge(t *testing.T) {
	got := verdictOf(
		&expectation{Exit: 1},
		outcome{code: 0, stdout: `{"status": "completed", "calls": [], "findings": []}`}, "run")
	if len(got) != 1 || !strings.HasPrefix(got[0], "exit 0, want 1") {
		t.Errorf("wrong exit code: %q", got)
	}
	const doc = `{
		"status": "completed", "output": null, "state": {"n": 1, "s": {"a": true}}, "instances": {"①": {"state": {"n": 1}}},
		"findings": [{"code": "PLC302", "severity": "error", "line": 2, "column": 3, "message": "a b", "related": []}],
		"calls": [
			{"id": "a", "status": "completed", "attempts": 1, "startedAt": "2026-01-01T00:00:00.1Z", "endedAt": "2026-01-01T00:00:00.3Z"},
			{"id": "b", "status": "failed", "attempts": 2, "startedAt": "2026-01-01T00:00:00.2Z", "endedAt": "2026-01-01T00:00:00.4Z"}]}`
	for want, faults := range map[string]int{
		`{"codes": ["PLC302"], "not": ["PLC401"], "state": {"s": {"a": true}, "n": 1}, "output": null,
		  "stateText": "{\"n\":1,\"s\":{\"a\":true}}", "stateHas": {"s": {"a": true}}, "status": "completed",
		  "calls": {"a": "completed", "b": "failed"}, "attempts": {"a": 1, "b": 2}, "callIds": ["a", "b"],
		  "notCompleted": ["b", "c"], "overlap": [["a", "b"]], "warn": ["PLC302"], "codesAny": ["PLC302", "PLC401"],
		  "instances": {"①": {"n": 1}},
		  "findings": [{"code": "PLC302", "line": 2, "column": 3, "message~": "a", "mentions": ["a", "b"], "related": 0}]}`: 0,
		`{"codes": []}`:                        1,
		`{"codesAny": ["PLC401"]}`:             1,
		`{"warn": ["PLC401"]}`:                 1,
		`{"not": ["PLC302"]}`:                  1,
		`{"state": {"n": true}}`:               1,
		`{"state": {"n": 1.0}}`:                1,
		`{"stateText": "{}"}`:                  1,
		`{"stateHas": {"s": {"b": 1}}}`:        1,
		`{"output": 1}`:                        1,
		`{"status": "failed"}`:                 1,
		`{"calls": {"a": "failed", "z": "x"}}`: 2,
		`{"attempts": {"a": 0}}`:               1,
		`{"callIds": ["b", "a"]}`:              1,
		`{"notCompleted": ["a"]}`:              1,
		`{"before": [["a", "b"]]}`:             1,
		`{"overlap": [["a", "z"]]}`:            1,
		`{"instances": {"②": {}}}`:             1,
		`{"findings": [{"code": "PLC302", "line": 3}, {"code": "PLC302", "column": 1}, {"code": "PLC302", "related": 1},
		  {"code": "PLC302", "message~": "z"}, {"code": "PLC302", "mentions": ["z"]}, {"code": "PLC1"}]}`: 6,
	} {
		var w expectation
		decode(t, []byte(want), &w)
		if got := verdictOf(&w, outcome{stdout: doc}, "run"); len(got) != faults {
			t.Errorf("%s: %d faults, want %d: %q", want, len(got), faults, got)
		}
	}
}

// aCase is a case of the language.
type aCase struct {
	ID, Section, About string
	Cmd                string
	Args               []string
	Files              map[string]json.RawMessage
	Want               expectation
}

// expectation is what must hold; what a case does not say is nil.
type expectation struct {
	Exit         int
	Codes        *[]string
	CodesAny     []string
	Warn         []string
	Not          []string
	Findings     []wantedFinding
	State        json.RawMessage
	StateText    *string
	StateHas     json.RawMessage
	Output       json.RawMessage
	Status       string
	Calls        map[string]string
	Attempts     map[string]int
	CallIDs      []string `json:"callIds"`
	NotCompleted []string
	Before       [][2]string
	Overlap      [][2]string
	Instances    map[string]json.RawMessage
}

type wantedFinding struct {
	Code     string
	Line     int
	Column   int
	Message  string `json:"message~"`
	Mentions []string
	Related  int
}

// shown is what the command printed.
type shown struct {
	Status    string
	State     json.RawMessage
	Output    json.RawMessage
	Findings  []shownFinding
	Calls     []shownCall
	Instances map[string]struct{ State json.RawMessage }
}

type shownFinding struct {
	Code     string
	Severity string
	Line     int
	Column   int
	Message  string
	Related  []struct{ Message string }
	Fix      json.RawMessage
}

type shownCall struct {
	ID        string
	Status    string
	Attempts  int
	StartedAt time.Time
	EndedAt   time.Time
}

func readCase(t *testing.T, name string) *aCase {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var c aCase
	decode(t, text, &c)
	return &c
}

// decode is strict, so that a case can't say what nobody looks at.
func decode(t *testing.T, text []byte, v any) {
	t.Helper()
	d := json.NewDecoder(bytes.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		t.Fatalf("%s: %v", text, err)
	}
}

// run runs the case in an empty folder and says what is wrong.
func (c *aCase) run(t *testing.T) []string {
	dir := t.TempDir()
	for name, content := range c.Files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		text := string(content)
		if text[0] == '"' {
			decode(t, content, &text)
		}
		write(t, path, text)
	}
	args := []string{c.Cmd, "plan.json", "--format", "json"}
	for _, kind := range []string{"tools", "input", "state"} {
		if _, ok := c.Files[kind+".json"]; ok {
			args = append(args, "--"+kind, kind+".json")
		}
	}
	if c.Cmd == "run" && !slices.Contains(c.Args, "--store") {
		args = append(args, "--store", filepath.Join(dir, "runs.db"))
	}
	return verdictOf(&c.Want, runPLC(t, dir, append(args, c.Args...)...), c.Cmd)
}

// verdictOf says what of an outcome is not as it is wanted.
func verdictOf(w *expectation, o outcome, cmd string) []string {
	j := &judge{want: w}
	if o.code != w.Exit {
		j.faultf("exit %d, want %d: %.300s", o.code, w.Exit, o.stderr)
	}
	if err := j.got.read(o.stdout, cmd); err != nil {
		j.faultf("the output is not JSON: %s: %.200s", err, o.stdout)
		return j.faults
	}
	j.findings()
	j.whiteboard()
	j.calls()
	j.times()
	return j.faults
}

// read takes what the command printed: a finding a line, or one document.
func (s *shown) read(stdout, cmd string) error {
	if cmd != "check" {
		return json.Unmarshal([]byte(stdout), s)
	}
	for line := range strings.Lines(stdout) {
		var f shownFinding
		if err := json.Unmarshal([]byte(line), &f); err != nil {
			return err
		}
		s.Findings = append(s.Findings, f)
	}
	return nil
}

type judge struct {
	want   *expectation
	got    shown
	faults []string
}

func (j *judge) faultf(format string, args ...any) {
	j.faults = append(j.faults, fmt.Sprintf(format, args...))
}

func (j *judge) findings() {
	var errs, all []string
	for _, f := range j.got.Findings {
		all = append(all, f.Code)
		if f.Severity == "error" {
			errs = append(errs, f.Code)
		}
	}
	if j.want.Codes != nil && !slices.Equal(set(errs), set(*j.want.Codes)) {
		j.faultf("errors %v, want %v", set(errs), *j.want.Codes)
	}
	isError := func(code string) bool { return slices.Contains(errs, code) }
	if j.want.CodesAny != nil && !slices.ContainsFunc(j.want.CodesAny, isError) {
		j.faultf("errors %v, want one of %v", errs, j.want.CodesAny)
	}
	for _, code := range j.want.Warn {
		if !slices.Contains(all, code) {
			j.faultf("no %s among %v", code, all)
		}
	}
	for _, code := range j.want.Not {
		if slices.Contains(all, code) {
			j.faultf("%s among %v", code, all)
		}
	}
	for _, w := range j.want.Findings {
		if !slices.ContainsFunc(j.got.Findings, w.matches) {
			j.faultf("no finding like %+v: %+v", w, j.got.Findings)
		}
	}
}

func (w wantedFinding) matches(f shownFinding) bool {
	text := f.Message + " " + string(f.Fix)
	for _, r := range f.Related {
		text += " " + r.Message
	}
	for _, m := range append(w.Mentions, w.Message) {
		if !strings.Contains(text, m) {
			return false
		}
	}
	return f.Code == w.Code && len(f.Related) >= w.Related &&
		(w.Line == 0 || f.Line == w.Line) && (w.Column == 0 || f.Column == w.Column)
}

func (j *judge) whiteboard() {
	state := canonical(j.got.State)
	if w := j.want.StateText; w != nil && state != *w {
		j.faultf("state %s, want %s", state, *w)
	}
	if w := j.want.State; w != nil && state != canonical(w) {
		j.faultf("state %s, want %s", state, w)
	}
	if w := j.want.StateHas; w != nil && !has(value(j.got.State), value(w)) {
		j.faultf("state %s lacks %s", state, w)
	}
	if w := j.want.Output; w != nil && canonical(j.got.Output) != canonical(w) {
		j.faultf("output %s, want %s", j.got.Output, w)
	}
	for name, w := range j.want.Instances {
		if got := j.got.Instances[name].State; canonical(got) != canonical(w) {
			j.faultf("instance %s %s, want %s", name, got, w)
		}
	}
}

func (j *judge) calls() {
	if w := j.want.Status; w != "" && j.got.Status != w {
		j.faultf("status %s, want %s", j.got.Status, w)
	}
	var ids []string
	for _, c := range j.got.Calls {
		ids = append(ids, c.ID)
	}
	if w := j.want.CallIDs; w != nil && !slices.Equal(ids, w) {
		j.faultf("ids %v, want %v", ids, w)
	}
	for id, w := range j.want.Calls {
		if got := j.call(id).Status; got != w {
			j.faultf("call %s %s, want %s", id, got, w)
		}
	}
	for id, w := range j.want.Attempts {
		if got := j.call(id).Attempts; got != w || !slices.Contains(ids, id) {
			j.faultf("call %s has %d attempts, want %d", id, got, w)
		}
	}
	for _, id := range j.want.NotCompleted {
		if j.call(id).Status == "completed" {
			j.faultf("call %s completed", id)
		}
	}
}

func (j *judge) times() {
	for _, p := range j.want.Before {
		a, b := j.call(p[0]), j.call(p[1])
		if a.EndedAt.IsZero() || b.StartedAt.Before(a.EndedAt) {
			j.faultf("%s started before %s ended", p[1], p[0])
		}
	}
	for _, p := range j.want.Overlap {
		a, b := j.call(p[0]), j.call(p[1])
		if !b.StartedAt.Before(a.EndedAt) || !a.StartedAt.Before(b.EndedAt) {
			j.faultf("%s and %s did not overlap", p[0], p[1])
		}
	}
}

// call is the call of this id; one that is not there is zero.
func (j *judge) call(id string) shownCall {
	for _, c := range j.got.Calls {
		if c.ID == id {
			return c
		}
	}
	return shownCall{}
}

func set(codes []string) []string {
	s := slices.Clone(codes)
	slices.Sort(s)
	return slices.Compact(s)
}

// value is a JSON value, numbers as they are written.
func value(text json.RawMessage) any {
	if len(text) == 0 {
		return nil
	}
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		return err
	}
	return v
}

// canonical is a JSON value without white space, members by name, numbers as
// they are written.
func canonical(text json.RawMessage) string {
	var buf bytes.Buffer
	e := json.NewEncoder(&buf)
	e.SetEscapeHTML(false)
	if err := e.Encode(value(text)); err != nil {
		return err.Error()
	}
	return string(jsonscan.Compact(nil, buf.Bytes()))
}

// has reports whether a has all that b has.
func has(a, b any) bool {
	m, ok := b.(map[string]any)
	if !ok {
		return reflect.DeepEqual(a, b)
	}
	n, ok := a.(map[string]any)
	for name, v := range m {
		w, found := n[name]
		if !ok || !found || !has(w, v) {
			return false
		}
	}
	return ok
}
