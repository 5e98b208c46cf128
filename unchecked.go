package plc

import (
	"cmp"
	"iter"
	"strings"

	"github.com/plc-lang/plc/tool/file"
)

// Unimplemented returns the names of tools that have calls which nothing can make: the tools have
// no implementation, the plan does not hold the results, and the tool files declare no model for
// them. A check reports no finding about that, since a result may still be added; a run is refused
// (PLC606). It returns none for a plan in another notation than plc's own.
func (p *Plan) Unimplemented() []string {
	if p.checker.reader.foreign != nil {
		return nil
	}
	models := file.Models(p.checker.Files...)
	return distinct(func(yield func(string) bool) {
		for c, t := range p.Program.Targets() {
			if t != c.Target || c.Runner() != nil || c.Choose != nil || c.Delegates() || c.Result != nil {
				continue
			}
			if _, made := models[cmp.Or(t.Place.Model, file.DefaultModel)]; !made && !yield(t.Tool.Definition.Name) {
				return
			}
		}
	})
}

// UncheckedInput returns the paths of the input that the plan reads, if it has neither an input nor
// a schema for it. A check reports no finding about them; a run without them may be refused
// (PLC302). It returns none for a plan in another notation than plc's own.
func (p *Plan) UncheckedInput() []string {
	if p.checker.reader.foreign != nil || p.Program.Given("input") != nil || len(p.Program.Initial["input"]) > len("{}") || len(p.Program.Schemas["input"]) > 0 || !p.checker.spec.Instances.isZero() {
		return nil
	}
	return distinct(func(yield func(string) bool) {
		for r := range p.Program.Reads() {
			if path := r.Path.String(); r.Since == 0 && strings.HasPrefix(path, "†input") && !yield(path) {
				return
			}
		}
	})
}

// distinct returns the names, each once, in the order of their first occurrence.
func distinct(names iter.Seq[string]) (all []string) {
	seen := map[string]bool{}
	for name := range names {
		if !seen[name] {
			seen[name] = true
			all = append(all, name)
		}
	}
	return all
}
