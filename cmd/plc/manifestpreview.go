package main

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plc-lang/plc/compile/report"
	"github.com/plc-lang/plc/exec/forecast"
	"github.com/plc-lang/plc/internal/display"
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
	UndoTargets         string // with commas between them
	FallbackUndoTargets string
}

// manifestTarget is a target in a manifest, with what its tool declares.
type manifestTarget struct {
	Activity, Driver string
	Effects          string
	Place            tool.Place
	Tool             struct{ Name string }
	Undo             json.RawMessage // how the definition says to take it back
}

// words says in one line what runs.
func (t *manifestTarget) words() string {
	words := t.Place.Words(t.Driver)
	if t.Activity != "" && t.Activity != t.Tool.Name {
		words += fmt.Sprintf(", the activity %q", t.Activity)
	}
	return words
}

// previewManifest renders a manifest in the form of plc plan: the calls as they are written, what
// they may do, and what the run is given. A manifest has no results of a dry run. Definitions are
// left out; shownManifest shows them.
func previewManifest(plan string, m report.Manifest) display.Text {
	members := map[string]json.RawMessage{}
	var all struct {
		manifestProgram
		Programs map[string]manifestProgram
		Targets  map[string]manifestTarget
	}
	if shown := m.Shown(); json.Unmarshal(shown, &members) != nil || json.Unmarshal(shown, &all) != nil {
		return display.Lit("what is to be approved can't be read\n")
	}
	b := &manifestPreview{targets: all.Targets, callers: map[string][]string{}}
	b.Line("%s: %s may run; SHA-256 %s", display.Name(plan), count(len(all.Order), "call"), m.Digest())
	b.Line("")
	b.program("", &all.manifestProgram)
	for _, name := range slices.Sorted(maps.Keys(all.Programs)) {
		p := all.Programs[name]
		b.Line("")
		b.Line("the document %s:", display.Name(name))
		b.program(name+": ", &p)
	}
	b.effects()
	b.Line("")
	for _, name := range slices.Sorted(maps.Keys(members)) {
		switch name {
		case "calls", "order", "output", "programs", "targets": // which are above
		case "tools", "activities", "document", "version", "lazy", "refs":
		default:
			if said := withoutZeros(members[name]); string(said) != "{}" {
				b.Line("%s: %s", display.Name(name), b.value(said))
			}
		}
	}
	b.Line("not shown: definitions of tools and activities, and what is cut; --full shows them, and so does + at the question")
	return b.Text()
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
	return encoded(members)
}

// manifestPreview writes the preview of a manifest.
type manifestPreview struct {
	manifestWriter
	targets map[string]manifestTarget
	callers map[string][]string // the calls that run a target
}

// program writes the calls of a program. The prefix tells them apart from those of others.
func (b *manifestPreview) program(prefix string, p *manifestProgram) {
	for i, id := range p.Order {
		c := p.Calls[id]
		var named string // which may be another name of the tool than its own
		_ = json.Unmarshal(c.Call["_tool"], &named)
		b.Line("%3d  %s  %s", i+1, display.Name(id), b.describe(c.Target, named, prefix+id))
		var params, others []string
		for _, name := range slices.Sorted(maps.Keys(c.Call)) {
			switch {
			case !strings.HasPrefix(name, "_"):
				params = append(params, name)
			case name != "_tool" && name != "_id" && name != "_outputPath":
				others = append(others, name)
			}
		}
		for _, name := range slices.Concat(params, others) {
			b.Line("       %s: %s", display.Name(name), b.value(c.Call[name]))
		}
		if c.FallbackTarget != "" {
			b.Line("       if it fails for good: %s", b.describe(c.FallbackTarget, "", prefix+id))
		}
		for _, undo := range [][2]string{{c.Target, c.UndoTargets}, {c.FallbackTarget, c.FallbackUndoTargets}} {
			if undo[1] == "" {
				continue
			}
			b.Line("       undone by: %s", b.describe(undo[1], "", prefix+id+"/undo"))
			if how := b.targets[undo[0]].Undo; how != nil {
				b.Line("         %s", b.value(how))
			}
		}
		var to string
		if json.Unmarshal(c.Call["_outputPath"], &to) == nil {
			b.Line("       → %s", display.Line(to))
		}
	}
	if p.Output != nil {
		b.Line("  output  %s", b.value(p.Output))
	}
}

// describe returns the tools of a comma-separated list of targets with their effects, and adds call
// to the callers of each. named replaces the name of a tool if it is not empty.
func (b *manifestPreview) describe(targets, named, call string) display.Text {
	var all display.Builder
	for i, name := range strings.Split(targets, ", ") {
		if i > 0 {
			all.Add(display.Lit(", "))
		}
		b.callers[name] = append(b.callers[name], call)
		t := b.targets[name]
		all.Add(display.Sprintf("%s (%s)", display.Name(cmp.Or(named, t.Tool.Name)), forecast.EffectOf(report.ReadEffects(t.Effects)).Meaning()))
	}
	return all.Text()
}

// effects writes what may change the world, and what else may be called.
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
		to.Line("  %s  %s, by %s%s: %s", display.Name(t.Tool.Name), kind.Meaning(), t.words(), domain, display.Line(strings.Join(b.callers[name], ", ")).Cut(maxValue))
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
