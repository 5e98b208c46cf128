package gateway

import (
	"fmt"
	"maps"
	"slices"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/lang/yaml"
	"github.com/plc-lang/plc/tool"
)

// A Role says what agents may do. The zero Role has no limits.
type Role struct {
	// Tools are the only tools that they see and may use, by name or pattern; nil is all tools.
	Tools []string `json:"tools"`
	Deny  []string `json:"deny"` // tools that they neither see nor may use
	// Approve may be "all": a person has to approve each call.
	Approve string `json:"approve"`
	Lazy    bool   `json:"lazy"`    // a person has to approve each plan as a whole
	Session Budget `json:"session"` // of each session

	name string
}

// A Budget bounds what runs may use; 0 is no bound.
type Budget struct {
	Steps  int     `json:"steps"` // calls that start
	Tokens float64 `json:"tokens"`
	Cost   float64 `json:"cost"`
}

// least returns the lower bound of each kind.
func (b Budget) least(o Budget) Budget {
	return Budget{lower(b.Steps, o.Steps), lower(b.Tokens, o.Tokens), lower(b.Cost, o.Cost)}
}

// lower returns the lower of two bounds, where 0 means no bound.
func lower[N int | float64](a, b N) N {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// maxRoleDepth is the maximum depth of a file of roles.
const maxRoleDepth = 20

// ReadRoles reads a file of roles: {"roles": {NAME: …}}, in JSON or YAML.
func ReadRoles(name string, text []byte) (map[string]*Role, error) {
	var f struct {
		Roles map[string]*Role `json:"roles"`
	}
	if err := yaml.Decode(name, text, maxRoleDepth, &f); err != nil {
		return nil, err
	}
	if len(f.Roles) == 0 {
		return nil, fmt.Errorf(`%s has no roles; it is {"roles": {"NAME": {"tools": [...]}}}`, name)
	}
	for _, of := range slices.Sorted(maps.Keys(f.Roles)) {
		r := f.Roles[of]
		switch {
		case r == nil:
			r = &Role{}
		case r.Approve != "" && r.Approve != string(plc.ApproveAll):
			return nil, fmt.Errorf("%s: the role %q has approve %q; a role can only ask for more care, with all", name, of, r.Approve)
		case r.Session.Steps < 0 || r.Session.Tokens < 0 || r.Session.Cost < 0:
			return nil, fmt.Errorf("%s: the role %q has a negative budget; 0 is no bound", name, of)
		}
		r.name, f.Roles[of] = of, r
	}
	return f.Roles, nil
}

// CheckRoles returns an error if a role names a tool that does not exist.
func (g *Gateway) CheckRoles(roles map[string]*Role) error {
	for _, of := range slices.Sorted(maps.Keys(roles)) {
		for _, pattern := range slices.Concat(roles[of].Tools, roles[of].Deny) {
			if !g.has(pattern) && !g.lacksTools { // the tool may be that of a server which is left out
				return fmt.Errorf("the role %q names the tool %q, which does not exist", of, pattern)
			}
		}
	}
	return nil
}

// has reports whether a tool has a name that matches a pattern.
func (g *Gateway) has(pattern string) bool {
	all := g.tools.WithBuiltIns()
	for t := range all.Listed() {
		if slices.ContainsFunc(all.Names(t), func(name string) bool { return tool.Matches(pattern, name) }) {
			return true
		}
	}
	return slices.ContainsFunc(slices.Collect(all.Activities()), func(name string) bool { return tool.Matches(pattern, name) })
}
