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

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/tool/math"
)

// NewPlanTest returns a file of tests with one test: what a recorded run was given, what its tools
// answered, and what came of it. Names of files are written relative to a folder.
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
	answers := answered{}
	for entry, err := range store.Events(ctx, w.Summary.Run, 0, false) {
		if err != nil {
			return nil, err
		}
		event, err := entry.Event()
		if err != nil {
			return nil, err
		}
		answers.take(event)
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
		given := w.Plan.checker.options.Values[kind].JSON
		if given != nil {
			fmt.Fprintf(&b, "    %s: %s\n", kind, given)
		}
	}
	answers.write(&b)
	res := w.Result
	fmt.Fprintf(&b, "    expect:\n      status: %s\n", w.Summary.Status)
	if res.Output != nil && string(res.Output) != "null" {
		fmt.Fprintf(&b, "      output: %s\n", res.Output)
	}
	fmt.Fprintf(&b, "      state: %s\n      calls:\n", objectOrEmpty(res.State))
	for i := range res.Calls {
		c := &res.Calls[i]
		fmt.Fprintf(&b, "        %s: {status: %s", encoded(pathOf(c.ID)), c.Status)
		if c.Error != nil {
			fmt.Fprintf(&b, ", error: %s", encoded(c.Error.Code))
		}
		b.WriteString("}\n")
	}
	return []byte(b.String()), nil
}

func objectOrEmpty(v json.RawMessage) json.RawMessage {
	if v == nil {
		return json.RawMessage("{}")
	}
	return v
}

// pathOf returns the path of a call of a plan (see exec.Event).
func pathOf(id string) string {
	return strings.NewReplacer("~", "~0", "/", "~1", "[", "~2", "#", "~3").Replace(id)
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

// answered holds the answers of tools, by their names and the paths of the calls without items.
type answered map[string]map[string]*answers

type answers struct {
	open map[string]int // the attempt that goes on, by the path of its call
	all  []*exec.Event
}

// take notes an event.
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

// standInOf returns a stand-in that answers as an attempt was answered.
func standInOf(e *exec.Event) string {
	switch {
	case e == nil || e.Lost && e.Error == nil: // it has no answer
		return "{lost: true}"
	case e.Error != nil:
		return fmt.Sprintf("{fail: %s}", encoded(map[string]any{
			"code": e.Error.Code, "message": e.Error.Message, "permanent": e.Type == exec.CallReturned,
		}))
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
