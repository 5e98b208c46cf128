package plc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/exec/undo"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/tool/math"
)

// NewPlanTest returns a file of tests with one test: what a recorded run was given, what its tools
// answered, and how it ended. Names of files are written relative to folder.
func (e *Engine) NewPlanTest(ctx context.Context, run, folder string) ([]byte, error) {
	store, err := e.records()
	if err != nil {
		return nil, err
	}
	w, err := e.Replay(ctx, run, Source{}, nil)
	if err != nil {
		return nil, err
	}
	spec := w.Plan.Spec()
	if !spec.Instances.isZero() || w.Plan.Program.Template {
		return nil, errors.New("the plan ran for instances, and plc test runs a plan once")
	}
	kept, err := readSettings(w.Given.Settings)
	if err != nil {
		return nil, err
	}
	if of := Undoes(w.Summary); of != "" {
		return nil, &UndoesError{w.Summary.Run, of, "be made into a test; name the other one"}
	}
	rec := &testParts{status: w.Summary.Status, tools: answered{}, people: map[string]*exec.Answer{}}
	if err := rec.read(ctx, store, w.Summary.Run, nil); err != nil {
		return nil, err
	}
	switch {
	case !isUndone(w.Summary.Status):
	case rec.before == "":
		if err := rec.readUndoing(ctx, store, w.Summary.Run); err != nil {
			return nil, err
		}
	default: // the test leaves out what plc undo did
		rec.status = rec.before
	}
	beside := func(name string) string {
		if name == math.Name {
			return name
		}
		if !filepath.IsAbs(name) {
			name = filepath.Join(kept.Folder, name)
		}
		if rel, err := filepath.Rel(folder, name); err == nil {
			name = rel
		}
		return filepath.ToSlash(name)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "# What the run %s did, by plc test --new.\nplan: %s\n", w.Summary.Run, encoded(beside(w.Given.Plan.Name)))
	if n := spec.Plan.Notation; n != "" {
		fmt.Fprintf(&b, "from: %s\n", encoded(n))
	}
	writeNames(&b, "tools", filesOf(spec.Toolset.Files), beside)
	writeNames(&b, "mcp", spec.Toolset.MCP, beside)
	fmt.Fprintf(&b, "tests:\n  %s:\n", encoded("the run "+w.Summary.Run))
	for _, kind := range []string{"input", "state"} {
		given := w.Plan.values[kind].JSON
		if given != nil {
			fmt.Fprintf(&b, "    %s: %s\n", kind, given)
		}
	}
	writeSettings(&b, &spec)
	rec.tools.write(&b)
	rec.writePeople(&b)
	res := w.Result
	fmt.Fprintf(&b, "    expect:\n      status: %s\n", rec.status)
	if res.Output != nil && string(res.Output) != "null" {
		fmt.Fprintf(&b, "      output: %s\n", res.Output)
	}
	fmt.Fprintf(&b, "      state: %s\n      calls:\n", objectOrEmpty(res.State))
	for i := range res.Calls {
		c := &res.Calls[i]
		fmt.Fprintf(&b, "        %s: {status: %s", encoded(exec.PathOf(c.ID)), c.Status)
		if c.Error != nil {
			fmt.Fprintf(&b, ", error: %s", encoded(c.Error.Code))
		}
		b.WriteString("}\n")
	}
	return []byte(b.String()), nil
}

// testParts holds what a recorded run contributes to a test.
type testParts struct {
	status exec.Status // the status that the test expects
	before exec.Status // the status before plc undo undid the run; "" if it did not
	tools  answered
	people map[string]*exec.Answer // the last answer about each call, by path
}

// read reads the record of a run. names maps the paths of calls to their paths in the test; nil
// changes no path.
func (t *testParts) read(ctx context.Context, store journal.Store, run string, names map[string]string) error {
	for entry, err := range store.Events(ctx, run, 0, false) {
		if err != nil {
			return err
		}
		e, err := entry.Event()
		if err != nil {
			return err
		}
		if name, ok := names[e.Call]; ok {
			e.Call = name
		}
		switch {
		case e.Type == exec.RunUndoing && e.By != "" && e.Error != nil:
			t.before = exec.Status(e.Error.Code)
		case e.Type == exec.ApprovalGiven && e.Answer != nil:
			t.people[e.Call] = e.Answer
		}
		t.tools.take(e)
	}
	return nil
}

// readUndoing reads the record of the run that undoes a run, if there is one.
func (t *testParts) readUndoing(ctx context.Context, store journal.Store, run string) error {
	given, err := store.Given(ctx, undoID(run))
	var missing *journal.MissingError
	if errors.As(err, &missing) {
		return nil
	} else if err != nil {
		return err
	}
	calls, _, err := undo.Read(given.Plan.Bytes)
	if err != nil {
		return err
	}
	names := map[string]string{}
	for _, c := range calls {
		names[exec.PathOf(c.ID)] = c.Path + "/undo"
	}
	return t.read(ctx, store, undoID(run), names)
}

// writePeople writes the answers of people.
func (t *testParts) writePeople(b *strings.Builder) {
	if len(t.people) == 0 {
		return
	}
	b.WriteString("    answers:\n")
	for _, path := range slices.Sorted(maps.Keys(t.people)) {
		a, text := t.people[path], ""
		switch {
		case a.Skip:
			text = "skip"
		case a.Result != nil:
			text = fmt.Sprintf("{result: %s}", a.Result)
		case a.Params != nil:
			text = fmt.Sprintf("{params: %s}", a.Params)
		case a.Approved:
			text = "approve"
		default:
			text = fmt.Sprintf("{reject: %s}", encoded(a.Reason))
		}
		fmt.Fprintf(b, "      %s: %s\n", encoded(path), text)
	}
}

// writeSettings writes the settings of a run that a test may have.
func writeSettings(b *strings.Builder, spec *Spec) {
	var all []string
	add := func(name string, value any) {
		all = append(all, fmt.Sprintf("%s: %s", name, encoded(value)))
	}
	for name, value := range map[string]string{
		"onFailure": string(spec.OnFailure), "onUncertain": string(spec.OnUncertain), "approve": string(spec.Approvals.Calls),
		"effects": string(spec.Effects), "refs": string(spec.Refs), "schedule": string(spec.Schedule),
	} {
		if value != "" {
			add(name, value)
		}
	}
	for name, value := range map[string]time.Duration{"timeout": spec.Limits.Timeout, "maxTime": spec.Limits.Time} {
		if value > 0 {
			add(name, value.String())
		}
	}
	for name, value := range map[string]int{"maxSteps": spec.Limits.Steps, "maxParallel": spec.Limits.Parallel} {
		if value > 0 {
			add(name, value)
		}
	}
	if len(all) > 0 {
		slices.Sort(all)
		fmt.Fprintf(b, "    settings: {%s}\n", strings.Join(all, ", "))
	}
}

func objectOrEmpty(v json.RawMessage) json.RawMessage {
	if v == nil {
		return json.RawMessage("{}")
	}
	return v
}

func filesOf(sources []Source) (names []string) {
	for _, s := range sources {
		if !s.inline() {
			names = append(names, s.Name)
		}
	}
	return names
}

func writeNames(b *strings.Builder, member string, names []string, beside func(string) string) {
	if len(names) == 0 {
		return
	}
	fmt.Fprintf(b, "%s: [", member)
	for i, name := range names {
		if i > 0 {
			b.WriteString(", ")
		}
		b.Write(encoded(beside(name)))
	}
	b.WriteString("]\n")
}

// answered holds the answers of tools, by the name of the tool and the path of the call without
// items.
type answered map[string]map[string]*answers

type answers struct {
	open map[string]int // index of the attempt under way, by the path of its call
	all  []*exec.Event
}

// take adds an event.
func (a answered) take(e *exec.Event) {
	if e.Call == "" || e.Replayed {
		return
	}
	stem := withoutItems(e.Call)
	switch e.Type {
	case exec.CallStarted:
		if a[e.Tool] == nil {
			a[e.Tool] = map[string]*answers{}
		}
		of := a[e.Tool][stem]
		if of == nil {
			of = &answers{open: map[string]int{}}
			a[e.Tool][stem] = of
		}
		of.open[e.Call] = len(of.all)
		of.all = append(of.all, nil)
	case exec.CallRetrying, exec.CallReturned:
		for _, calls := range a {
			of := calls[stem]
			if of == nil {
				continue
			}
			if i, ok := of.open[e.Call]; ok {
				of.all[i] = e
				delete(of.open, e.Call)
			}
		}
	}
}

// withoutItems returns the path of a call without the items of loops and the attempts of delegates.
func withoutItems(path string) string {
	parts := strings.Split(path, "/")
	for i, p := range parts {
		p, _, _ = strings.Cut(p, "[")
		parts[i], _, _ = strings.Cut(p, "#")
	}
	return strings.Join(parts, "/")
}

// write writes the stand-ins of a test.
func (a answered) write(b *strings.Builder) {
	if len(a) == 0 {
		return
	}
	b.WriteString("    standIns:\n")
	for _, name := range slices.Sorted(maps.Keys(a)) {
		fmt.Fprintf(b, "      %s:\n        calls:\n", encoded(name))
		for _, stem := range slices.Sorted(maps.Keys(a[name])) {
			of := a[name][stem]
			fmt.Fprintf(b, "          %s: ", encoded(stem))
			if len(of.all) == 1 {
				fmt.Fprintf(b, "%s\n", standInOf(of.all[0]))
				continue
			}
			b.WriteString("\n            sequence:\n")
			for _, e := range of.all {
				fmt.Fprintf(b, "              - %s\n", standInOf(e))
			}
		}
	}
}

// standInOf returns a stand-in that answers as the attempt was answered.
func standInOf(e *exec.Event) string {
	switch {
	case e == nil || e.Lost && e.Error == nil: // it has no answer
		return "{lost: true}"
	case e.Error != nil:
		failure := map[string]any{"code": e.Error.Code, "message": e.Error.Message, "permanent": e.Type == exec.CallReturned}
		if e.Lost || e.Work == exec.WorkUnknown {
			failure["uncertain"] = true
		}
		return fmt.Sprintf("{fail: %s}", encoded(failure))
	}
	value := "null"
	if e.Value != nil {
		value = string(jsonscan.Compact(nil, e.Value))
	}
	if e.Outcome != "" {
		return fmt.Sprintf("{return: %s, outcome: %s}", value, encoded(e.Outcome))
	}
	return fmt.Sprintf("{return: %s}", value)
}
