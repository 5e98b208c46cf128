package compile

import (
	"fmt"
	"slices"

	"github.com/plc-lang/plc/tool"
)

// permission says which tools of a catalogue plans may use.
type permission struct {
	cat  *tool.Catalogue
	opts *Options
}

// Permits reports whether plans may use a tool of the catalogue.
func (o *Options) Permits(t *tool.Tool) bool { return permission{o.Catalogue, o}.permits(t) }

// refused returns which part of a target the policy does not permit, in words; "" if it permits
// all. Deny takes precedence over allow, and applies to every name of what runs: the tool's, the
// activity's, those of Place.Names and, for a picked activity, those of the tools that it belongs
// to. An allow-list must have the tool and, if the activity was picked, the tools that it belongs
// to, or else the activity. It need not have the activities that trusted definitions give to their
// own tools.
func (p permission) refused(t *Target) string {
	if !p.permits(t.Tool) {
		return fmt.Sprintf("the tool %q", t.Tool.Definition.Name)
	}
	if t.Name == "" {
		return ""
	}
	activity := p.denied(t.Name) || slices.ContainsFunc(t.Place.Names(), p.denied)
	if t.Picked {
		for _, o := range t.Owners {
			if !p.permits(o) {
				return fmt.Sprintf("the activity %q, which belongs to the tool %q", t.Name, o.Definition.Name)
			}
		}
		activity = activity || len(t.Owners) == 0 && !p.names(t.Name)
	}
	if activity {
		return fmt.Sprintf("the activity %q", t.Name)
	}
	return ""
}

func (p permission) permits(t *tool.Tool) bool {
	if p.opts.Allow == nil && len(p.opts.Only) == 0 && len(p.opts.Deny) == 0 {
		return true
	}
	names := p.cat.Names(t)
	return !slices.ContainsFunc(names, p.denied) && p.allowed(func(list []string) bool { return p.lists(list, t, names) })
}

// lists reports whether an allow-list has a tool. The name that an MCP server has for its tool does
// not count if it is here the name of another tool.
func (p permission) lists(list []string, t *tool.Tool, names []string) bool {
	return slices.ContainsFunc(names, func(name string) bool {
		other, taken := p.cat.Lookup(name)
		return matchesAny(list, name) && (!taken || other.Definition.Name == t.Definition.Name)
	})
}

// names reports whether all allow-lists have a name and Deny does not.
func (p permission) names(name string) bool {
	return !p.denied(name) && p.allowed(func(list []string) bool { return matchesAny(list, name) })
}

func (p permission) denied(name string) bool { return matchesAny(p.opts.Deny, name) }

// allowed reports whether has is true for all allow-lists.
func (p permission) allowed(has func(list []string) bool) bool {
	if p.opts.Allow != nil && !has(p.opts.Allow) {
		return false
	}
	return !slices.ContainsFunc(p.opts.Only, func(list []string) bool { return !has(list) })
}

func matchesAny(patterns []string, name string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return tool.Matches(pattern, name) })
}

// offers reports whether a tool that a document defines may have an activity: one of the catalogue
// that says so.
func offers(t *Target) bool {
	return t.Tool.Source != tool.Document || t.Name == "" || t.offered
}
