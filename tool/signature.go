package tool

import (
	"maps"
	"slices"
	"strings"

	"github.com/plc-lang/plc/schemas"
)

// Signature returns the tool on one line, as people write functions:
//
//	fetchUserProfile(userName: string, limit?: integer) → {email: string}
//
// Required params come first, in the order of "required", then the others by name; "…" at the end
// means that others are accepted. If the result is not declared there is no arrow. Outcomes follow
// the result, after a bar.
func (d *Definition) Signature() string {
	var params []string
	for _, name := range d.Required {
		params = append(params, name+": "+typeName(d.Param[name]))
	}
	for _, name := range slices.Sorted(maps.Keys(d.Param)) {
		if !slices.Contains(d.Required, name) {
			params = append(params, name+"?: "+typeName(d.Param[name]))
		}
	}
	if len(params) == 0 && !d.Closed {
		params = []string{"…"}
	}
	s := d.Name + "(" + strings.Join(params, ", ") + ")"
	if d.Output != nil {
		s += " → " + typeName(d.Output)
	}
	for _, o := range d.Outcomes {
		s += " | " + o.Name
	}
	return s
}

// typeName returns a schema as people write types.
func typeName(s *schemas.Schema) string {
	if s == nil {
		return "any"
	}
	return s.String()
}
