package sealtools

import (
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect"
	"github.com/plc-lang/plc/lang/dialect/tree"
)

// catalogue reads tools, a list of {api_name, api_description, parameters, required,
// responses} or one on each line.
func catalogue(b *dialect.Builder) {
	all := dialect.Span(b.Start(), len(b.File.Text))
	b.Object(all)
	b.Member("tools", all)
	b.Object(all)
	seen := map[string]bool{}
	for v := range tree.Records(b) {
		list := v.List()
		if v.Is(lang.Object) {
			list = []tree.Value{v}
		}
		for _, t := range list {
			definition(b, t, seen)
		}
	}
	b.Close()
	b.Close()
}

func definition(b *dialect.Builder, v tree.Value, seen map[string]bool) {
	name := v.Get("api_name")
	if !name.Is(lang.String) || name.Str() == "" {
		b.Errorf(v.At(), diag.BadNotation, "the tool has no api_name")
		return
	}
	if seen[name.Str()] {
		return // real data has some tools more than once
	}
	seen[name.Str()] = true
	d := tree.Definition{
		At:          v.At(),
		Name:        name,
		Description: v.Get("api_description"),
		Params:      []tree.Value{v.Get("parameters")},
		Required:    v.Get("required"),
		Results:     v.First("responses").Value,
		Loose:       true,
	}
	d.Write(b)
}
