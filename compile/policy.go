package compile

import (
	"fmt"
	"slices"

	"github.com/plc-lang/plc/tool"
)

// refused returns what of a target the policy does not permit, in words; "" is nothing. Deny wins
// over allow, and counts for every name of what runs: the tool's, the activity's, those of the
// tools that an activity belongs to which was picked, and those of Place.Names. An
// allow-list has to name the tool and, when the activity was picked, the tools that it belongs to,
// or else the activity. It need not name the activities that trusted definitions give to their own
// tools.
func (c *toolbox) refused(t *Target) string {
	if c.opts.Allow == nil && len(c.opts.Deny) == 0 {
		return ""
	}
	if !c.allows(t.Tool) || c.denies(t.Tool) {
		return fmt.Sprintf("the tool %q", t.Tool.Definition.Name)
	}
	if t.Name == "" {
		return ""
	}
	activity := c.denied(t.Name) || slices.ContainsFunc(t.Place.Names(), c.denied)
	if t.Picked {
		for _, o := range t.Owners {
			if !c.allows(o) || c.denies(o) {
				return fmt.Sprintf("the activity %q, which belongs to the tool %q", t.Name, o.Definition.Name)
			}
		}
		activity = activity || len(t.Owners) == 0 && !c.allowed(t.Name)
	}
	if activity {
		return fmt.Sprintf("the activity %q", t.Name)
	}
	return ""
}

func (c *toolbox) denies(t *tool.Tool) bool { return slices.ContainsFunc(c.cat.Names(t), c.denied) }

// allows reports whether an allow-list names a tool. The name that an MCP server has for its tool
// is no name for it here when it is that of another tool.
func (c *toolbox) allows(t *tool.Tool) bool {
	return slices.ContainsFunc(c.cat.Names(t), func(name string) bool {
		other, taken := c.cat.Lookup(name)
		return c.allowed(name) && (!taken || other.Definition.Name == t.Definition.Name)
	})
}

func (c *toolbox) denied(name string) bool {
	return slices.ContainsFunc(c.opts.Deny, func(pattern string) bool { return tool.Matches(pattern, name) })
}

func (c *toolbox) allowed(name string) bool {
	return c.opts.Allow == nil || slices.ContainsFunc(c.opts.Allow, func(pattern string) bool { return tool.Matches(pattern, name) })
}

// offers reports whether a tool that a document defines may have an activity: one of the catalogue
// that says so.
func offers(t *Target) bool {
	return t.Tool.Source != tool.Document || t.Name == "" || t.offered
}
