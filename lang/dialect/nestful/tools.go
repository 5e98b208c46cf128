package nestful

import (
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/lang/dialect"
	"github.com/plc-lang/plc/lang/dialect/tree"
)

// catalogue reads function specifications: a list of {name, description, parameters or
// query_parameters, output_parameters}, or a record with tools.
func catalogue(b *dialect.Builder) {
	root, ok := tree.Read(b)
	if !ok {
		return
	}
	list := root
	if tools := root.First("tools").Value; !tools.IsZero() {
		if list, ok = tools.Inner(b); !ok {
			return
		}
	}
	b.Object(root.At())
	b.Member("tools", root.At())
	definitions(b, list)
	b.Close()
}

// definitions writes a map of tools.
func definitions(b *dialect.Builder, list tree.Value) {
	b.Object(list.At())
	if !list.Is(lang.Array) {
		b.Errorf(list.At(), diag.BadNotation, "the functions are a list, not %s", list.Describe())
	}
	seen := map[string]bool{}
	for _, f := range list.Elements() {
		name := f.First("name").Value
		if !name.Is(lang.String) {
			b.Errorf(f.At(), diag.BadNotation, "the function has no name")
			continue
		}
		if seen[name.Str()] {
			continue // real data has some functions more than once
		}
		seen[name.Str()] = true
		d := tree.Definition{
			At:          f.At(),
			Name:        name,
			Description: f.First("description").Value,
			Params:      params(f),
			Needed:      true,
			Loose:       true,
			Results:     results(f),
		}
		d.Write(b)
	}
	b.Close()
}

// results returns the description of a function's result.
func results(f tree.Value) tree.Value {
	return f.First("output_parameters", "output_parameter", "output_schema").Value
}

// params returns the params of a function, which may be those of an API's path and query.
func params(f tree.Value) (list []tree.Value) {
	for _, name := range []string{"query_parameters", "parameters", "path_parameters", "arguments"} {
		if v := f.First(name).Value; !v.IsZero() {
			list = append(list, v)
		}
	}
	return list
}
