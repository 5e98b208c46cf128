package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plc-lang/plc/approval"
	"github.com/plc-lang/plc/compile/report"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec/forecast"
	"github.com/plc-lang/plc/internal/display"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/tool"
)

// manifestProgram is a program in a manifest: the plan, or a document that it delegates to.
type manifestProgram struct {
	Order  []string
	Calls  map[string]manifestCall
	Output json.RawMessage
}

// manifestCall is a call in a manifest.
type manifestCall struct {
	Call                map[string]json.RawMessage // as it is written
	Target              string
	FallbackTarget      string
	UndoTargets         []string
	FallbackUndoTargets []string
	Delegate            []any    // the document, how it loops, and the name of its program
	Cases               []string // of choose, in the order in which they are tried
}

// manifestTarget is a target in a manifest, with what its tool declares.
type manifestTarget struct {
	Activity, Driver string
	Effects          string
	Place            tool.Place
	Tool             struct{ Name string }
	Undo             json.RawMessage // the undo of the definition
	// Definitions are pairs of a name and a definition; the tool is the first.
	Definitions [][2]json.RawMessage
}

// fixed returns the values that the definition of the tool fixes for underscore members of its
// calls, as the compiler reads it.
func (t *manifestTarget) fixed() map[string]json.RawMessage {
	all := map[string]json.RawMessage{}
	if len(t.Definitions) == 0 {
		return all
	}
	definition, _ := tool.ParseDefinition(t.Definitions[0][1], t.Tool.Name, diag.Loc{})
	if definition == nil { // with which no plan compiles
		return all
	}
	for name, f := range definition.Fixed {
		if f.Const != nil && !slices.Contains([]string{"_activity", "_id", "_tool"}, name) {
			all[name] = f.Const
		}
	}
	return all
}

// words describes in one line what runs.
func (t *manifestTarget) words() string {
	words := t.Place.Words(t.Driver)
	if t.Activity != "" && t.Activity != t.Tool.Name {
		words += fmt.Sprintf(", the activity %q", t.Activity)
	}
	return words
}

// previewManifest renders a manifest in the form of plc plan: the calls as they are written, their
// effects, and the values of the run. A manifest has no results of a dry run. It leaves out
// definitions, which shownManifest shows. It does not cut the values of calls that the approval
// covers, since nobody is asked about these again.
func previewManifest(plan string, m report.Manifest, covers []approval.Covered) display.Text {
	var all struct {
		Order    []string
		Programs map[string]json.RawMessage
		Targets  map[string]manifestTarget
	}
	shown := m.Shown()
	if json.Unmarshal(shown, &all) != nil {
		return display.Lit("what is to be approved can't be read\n")
	}
	b := &manifestPreview{targets: all.Targets, callers: map[string][]display.Text{}, fixed: map[string]map[string]json.RawMessage{}, covered: map[string]bool{}}
	for _, c := range covers {
		b.covered[c.Call] = true
		// The values of a call in a document may come from any other call.
		b.allCovered = b.allCovered || !slices.Contains(all.Order, c.Call)
	}
	b.Line("%s: %s may run; SHA-256 %s", display.Name(plan), count(len(all.Order), "call"), m.Digest())
	b.Line("")
	b.program("", shown)
	for _, name := range slices.Sorted(maps.Keys(all.Programs)) {
		b.Line("")
		b.Line("the document %s:", display.Name(name))
		b.program(name, all.Programs[name])
		b.others("  ", all.Programs[name])
	}
	b.effects()
	b.Line("")
	b.others("", shown)
	b.Line("not shown: definitions of tools and activities, and what is cut; --full shows them, and so does + at the question")
	return b.Text()
}

// others writes the members of a program, or of the whole manifest, other than its calls.
func (b *manifestPreview) others(in display.Literal, value json.RawMessage) {
	members := map[string]json.RawMessage{}
	_ = json.Unmarshal(value, &members) // it was already parsed
	for _, name := range slices.Sorted(maps.Keys(members)) {
		switch name {
		case "calls", "order", "output", "programs", "targets": // which are elsewhere
		case "tools", "activities", "document", "version", "lazy", "refs":
		default:
			b.uncut = len(b.covered) > 0
			if said := withoutZeros(members[name]); string(said) != "{}" {
				b.Line("%s%s: %s", display.Lit(in), display.Name(name), b.value(said))
			}
			b.uncut = false
		}
	}
}

// withoutZeros returns an object without the members that hold a zero value.
func withoutZeros(value json.RawMessage) json.RawMessage {
	members := map[string]json.RawMessage{}
	if json.Unmarshal(value, &members) != nil {
		return value
	}
	maps.DeleteFunc(members, func(_ string, v json.RawMessage) bool {
		return slices.Contains([]string{"null", `""`, "false", "0", `"0"`, `"0s"`, "{}"}, string(v))
	})
	return jsonscan.Encode(members)
}

// manifestPreview writes the preview of a manifest.
type manifestPreview struct {
	manifestWriter
	targets    map[string]manifestTarget
	callers    map[string][]display.Text             // the calls that run a target
	fixed      map[string]map[string]json.RawMessage // by target: see manifestTarget.fixed
	covered    map[string]bool                       // paths of the calls that the approval covers
	allCovered bool                                  // some are in a document, so that any call counts as covered
}

// program writes the calls of a program. The document is the name of its program; "" is the plan.
func (b *manifestPreview) program(document string, value json.RawMessage) {
	var p manifestProgram
	if json.Unmarshal(value, &p) != nil {
		b.Line("it can't be read")
		return
	}
	for i, id := range p.Order {
		caller := display.Name(id)
		if document != "" {
			caller = display.Sprintf("%s: %s", display.Name(document), caller)
		}
		c := p.Calls[id]
		var named string // may be an alias of the tool
		_ = json.Unmarshal(c.Call["_tool"], &named)
		b.Line("%3d  %s  %s", i+1, display.Name(id), b.describe(c.Target, named, caller))
		var params, others []string
		for _, name := range slices.Sorted(maps.Keys(c.Call)) {
			switch {
			case !strings.HasPrefix(name, "_"):
				params = append(params, name)
			case name != "_tool" && name != "_id" && name != "_outputPath":
				others = append(others, name)
			}
		}
		b.uncut = b.allCovered || b.covered[id]
		for _, name := range slices.Concat(params, others) {
			b.Line("       %s: %s", display.Name(name), b.value(c.Call[name]))
		}
		fixed, known := b.fixed[c.Target]
		if !known {
			target := b.targets[c.Target]
			fixed = target.fixed()
			b.fixed[c.Target] = fixed
		}
		for _, name := range slices.Sorted(maps.Keys(fixed)) {
			if _, ok := c.Call[name]; !ok {
				b.Line("       %s: %s, as the definition of the tool says", display.Name(name), b.value(fixed[name]))
			}
		}
		if len(c.Cases) > 1 {
			b.Line("       tried in this order: %s", namesText(c.Cases))
		}
		if len(c.Delegate) == 3 && c.Delegate[0] != c.Delegate[2] && c.Delegate[2] != "" {
			b.Line("       runs the document %s", display.Name(fmt.Sprint(c.Delegate[2])))
		}
		if c.FallbackTarget != "" {
			b.Line("       if it fails for good: %s", b.describe(c.FallbackTarget, "", caller))
		}
		b.undo(c.Target, c.UndoTargets, caller)
		b.undo(c.FallbackTarget, c.FallbackUndoTargets, caller)
		b.uncut = false
		var to string
		if json.Unmarshal(c.Call["_outputPath"], &to) == nil {
			b.Line("       → %s", display.Line(to))
		}
	}
	if p.Output != nil {
		b.Line("  output  %s", b.value(p.Output))
	}
}

// undo writes the call that undoes the call of a target.
func (b *manifestPreview) undo(target string, by []string, caller display.Text) {
	if len(by) == 0 {
		return
	}
	var all []display.Text
	for _, name := range by {
		all = append(all, b.describe(name, "", display.Sprintf("%s/undo", caller)))
	}
	b.Line("       undone by: %s", display.Join(all, ", "))
	if how := b.targets[target].Undo; how != nil {
		b.Line("         %s", b.value(how))
	}
}

// describe returns the tool of a target with its effects, and notes who calls it. named replaces
// the name of the tool if it is not empty.
func (b *manifestPreview) describe(target, named string, caller display.Text) display.Text {
	b.callers[target] = append(b.callers[target], caller)
	t := b.targets[target]
	return display.Sprintf("%s (%s)", display.Name(cmp.Or(named, t.Tool.Name)), forecast.EffectOf(report.ReadEffects(t.Effects)).Meaning())
}

// effects writes the tools that may change the world, and the other tools that may be called.
func (b *manifestPreview) effects() {
	var changing, others display.Builder
	for _, name := range slices.Sorted(maps.Keys(b.targets)) {
		t := b.targets[name]
		e := report.ReadEffects(t.Effects)
		kind, to, domain := forecast.EffectOf(e), &others, ""
		if kind != forecast.Reads && kind != forecast.Pure {
			to = &changing
		}
		if e.Domain != "" {
			domain = ", in the domain " + e.Domain
		}
		to.Line("  %s  %s, by %s%s: %s", display.Name(t.Tool.Name), kind.Meaning(), t.words(), domain, display.Join(b.callers[name], ", ").Cut(maxValue))
	}
	b.Line("")
	if text := changing.Text(); text != (display.Text{}) {
		b.Line("effects that may happen:")
		b.Add(text)
	} else {
		b.Line("effects: none; all tools that may be called are declared to change nothing")
	}
	if text := others.Text(); text != (display.Text{}) {
		b.Line("tools that may be called and change nothing:")
		b.Add(text)
	}
}
