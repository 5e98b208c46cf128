// Package flux reads and writes plans of Flux agents: steps in words, by name.
//
//	[{"name": "collect", "description": "Collect the figures"},
//	 {"name": "report", "description": "Write the report", "depends_on": ["collect"]}]
//
// A step calls the tool step. A completed step has its result; a step that failed or was in
// progress is done again, like a step of a new plan in Flux.
package flux

import (
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/lazyregexp"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect"
	"github.com/plc-lang/plc/lang/dialect/tree"
)

// Notation returns the notation of Flux.
func Notation() *dialect.Notation {
	return &dialect.Notation{Name: "flux", What: "a Flux plan", Read: read, Write: write}
}

// The minimum and maximum number of steps of a plan.
const (
	minSteps = 2
	maxSteps = 20
)

func read(b *dialect.Builder) {
	b.Profile = lang.Profile{ResultsStand: true}
	root, ok := tree.Read(b)
	if !ok {
		return
	}
	list, owner, ok := tree.Steps(b, root, "a Flux plan", "steps", "plan")
	if !ok {
		return
	}
	tree.Known(b, owner, "a plan", "steps", "plan", "type", "warning")
	switch n := list.Len(); {
	case n < minSteps:
		b.Errorf(list.At(), diag.BadNotation, "a Flux plan has at least %d steps, and this one %d; what is simple is just done", minSteps, n)
	case n > maxSteps:
		b.Errorf(list.At(), diag.OverLimit, "a Flux plan has at most %d steps, and this one %d; make them coarser", maxSteps, n)
	}
	names := map[string]bool{}
	for _, s := range list.Elements() {
		names[s.Get("name").Str()] = true
	}
	b.List(list.At())
	for _, s := range list.Elements() {
		step(b, s, names)
	}
	b.Close()
}

func step(b *dialect.Builder, v tree.Value, names map[string]bool) {
	m := v.Member("name")
	if !m.Value.Is(lang.String) {
		b.Errorf(v.At(), diag.BadNotation, "the step has no name; it is written {\"name\": …, \"description\": …, \"depends_on\": […]}")
		return
	}
	name := m.Value.Str()
	if fault := faultOf(name); fault != "" {
		b.Errorf(m.Value.All(), diag.BadNotation, "the step name %q %s", name, fault)
	}
	tree.Known(b, v, "a step", "name", "description", "depends_on", "status", "result", "error")
	status := tree.Status(b, v.Get("status"), "pending", "in_progress", "completed", "failed")
	b.Object(v.At())
	b.Member("_tool", v.At())
	b.String(dialect.StepTool, v.At())
	if name != "" {
		b.Member("_id", m.Key)
		b.String(name, m.Value.All())
	}
	tree.Description(b, v.Get("description"), v.At())
	dependsOn(b, v, status, names)
	if status == "completed" {
		tree.Output(b, v.Get("status"), v.Get("result"))
	}
	if name != "" {
		b.Member("_outputPath", m.Key)
		b.Path(name, m.Value.All())
	}
	b.Close()
}

// dependsOn writes the steps that a step waits for. A completed step may name a step that is no
// longer in the plan.
func dependsOn(b *dialect.Builder, v tree.Value, status string, names map[string]bool) {
	m := v.Member("depends_on")
	if !tree.IsNames(b, m) {
		return
	}
	if status != "completed" {
		tree.DependsOn(b, m)
		return
	}
	var left []tree.Value
	for _, d := range m.Value.Elements() {
		if names[d.Str()] {
			left = append(left, d)
		}
	}
	if len(left) > 0 {
		b.Member("_dependsOn", m.Key)
		tree.Names(b, left)
	}
}

var pattern = lazyregexp.New(`^[a-z0-9](?:[a-z0-9_-]*[a-z0-9])?$`)

// faultOf returns what is wrong with the name of a step; "" if it is valid.
func faultOf(name string) string {
	switch {
	case name == "":
		return "is empty"
	case len([]rune(name)) > 64:
		return "has more than 64 characters"
	case strings.Contains(name, "--") || strings.Contains(name, "__"):
		return "has two hyphens or underscores in a row"
	case !pattern.MatchString(name):
		return "has other signs than small letters, digits, hyphens and underscores, or begins or ends with one of these two"
	}
	return ""
}
