// Package tea reads and writes plans of The Edge Agent (plan.*): subtasks in words, by id.
//
//	{"id": "plan_1", "goal": "A report", "strategy": "flat", "subtasks": [
//	  {"id": "collect", "description": "Collect the figures", "dependencies": []},
//	  {"id": "report", "description": "Write it", "dependencies": ["collect"], "status": "pending"}]}
//
// A subtask calls the tool step, which sees the results of its dependencies (_scopes). A completed
// subtask has its result; a skipped one is not done again, and does not hold up others; every other
// subtask is done.
package tea

import (
	"fmt"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect"
	"github.com/plc-lang/plc/lang/dialect/tree"
)

// Notation returns the notation of The Edge Agent.
func Notation() *dialect.Notation {
	return &dialect.Notation{Name: "tea", What: "a plan of The Edge Agent", Read: read, Write: write}
}

func read(b *dialect.Builder) {
	b.Profile = lang.Profile{SkippedSatisfies: true, ResultsStand: true}
	root, ok := tree.Read(b)
	if !ok {
		return
	}
	list, owner, ok := tree.Steps(b, root, "a plan of The Edge Agent", "subtasks", "plan")
	if !ok {
		return
	}
	tree.Known(b, owner, "a plan", "id", "goal", "strategy", "subtasks", "metadata", "planning_complete")
	if s := owner.First("strategy").Value; !s.IsZero() && s.Str() != "flat" && s.Str() != "hierarchical" && s.Str() != "iterative" {
		b.Errorf(s.At(), diag.BadNotation, "%s is no strategy; it is one of flat, hierarchical, iterative", s.AppendJSON(nil))
	}
	b.Object(root.At())
	meta(b, owner)
	b.Member("calls", list.At())
	b.List(list.At())
	for i, s := range list.Elements() {
		subtask(b, s, i)
	}
	b.Close()
	b.Close()
}

// meta writes the members about the plan as a whole.
func meta(b *dialect.Builder, plan tree.Value) {
	if !plan.Has("goal") && !plan.Has("id") && !plan.Has("strategy") && !plan.Has("metadata") && !plan.Has("planning_complete") {
		return
	}
	b.Member("meta", plan.At())
	b.Object(plan.At())
	for m := range plan.Members() {
		switch m.Name {
		case "id", "goal", "strategy", "metadata", "planning_complete":
			b.Member(m.Name, m.Key)
			tree.Words(b, m.Value)
		}
	}
	b.Close()
}

func subtask(b *dialect.Builder, v tree.Value, place int) {
	if !v.Is(lang.Object) {
		b.Errorf(v.At(), diag.BadNotation, "a subtask is an object {\"id\": …, \"description\": …, \"dependencies\": […]}, not %s", v.Describe())
		return
	}
	tree.Known(b, v, "a subtask", "id", "description", "dependencies", "status", "result", "error", "retry_count", "started_at", "completed_at")
	id, at := v.Get("id").Word(), v.Get("id").All()
	if id == "" {
		id, at = fmt.Sprintf("subtask_%d", place+1), v.At()
	}
	status := tree.Status(b, v.Get("status"), "pending", "in_progress", "completed", "failed", "skipped")
	b.Object(v.At())
	b.Member("_tool", v.At())
	b.String(dialect.StepTool, v.At())
	b.Member("_id", at)
	b.String(id, at)
	tree.Description(b, v.Get("description"), v.At())
	if m := v.Member("dependencies"); tree.IsNames(b, m) {
		tree.DependsOn(b, m)
		scopes(b, m)
	}
	switch status {
	case "completed":
		tree.Output(b, v.Get("status"), v.Get("result"))
	case "skipped":
		skipped(b, v)
	}
	b.Member("_outputPath", at)
	b.Path(id, at)
	b.Close()
}

// scopes writes that a subtask sees the results of its dependencies.
func scopes(b *dialect.Builder, m tree.Member) {
	if m.Value.Len() == 0 {
		return
	}
	b.Member("_scopes", m.Key)
	b.List(m.Value.At())
	for _, d := range m.Value.Elements() {
		b.Path(d.Word(), d.All())
	}
	b.Close()
}

// skipped writes the result of a subtask that was skipped.
func skipped(b *dialect.Builder, v tree.Value) {
	at := v.Get("status").At()
	b.Member("_output", at)
	b.Object(at)
	b.Member("skipped", at)
	b.JSON("true", at)
	if e := v.First("error"); !e.Value.IsZero() {
		b.Member("error", e.Key)
		tree.Words(b, e.Value)
	}
	b.Close()
}
