package compile

import (
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
)

// toolbox holds what is known about the tools. Each fact is found once.
type toolbox struct {
	*unit
	cat     *tool.Catalogue
	unread  map[string]bool // tools whose definitions have errors; "" is a tool whose name is not known
	facts   map[*tool.Tool]*toolFacts
	targets map[targetKey]knownTarget

	// The last results, since consecutive calls often need the same.
	lastTool  last[string, *tool.Tool]
	lastFacts last[*tool.Tool, *toolFacts]
}

func newToolbox(u *unit) *toolbox {
	return &toolbox{unit: u, unread: map[string]bool{}, facts: map[*tool.Tool]*toolFacts{}, targets: map[targetKey]knownTarget{}}
}

// last caches the last result of a search with its key. The zero value holds none.
type last[K comparable, V any] struct {
	by    K
	found V
}

// toolFacts holds the facts about a tool that calls need. They are found once.
type toolFacts struct {
	defaults *lang.Call // the members that the definition fixes; nil if there are none
	required []string   // underscore members that a call must have
	whole    bool       // there are rules about the params together, not only about single params
}

// permission says which of the tools plans may use.
func (c *toolbox) permission() permission { return permission{c.cat, c.opts} }

func (c *toolbox) hasTool(name string) bool {
	_, ok := c.cat.Lookup(name)
	return ok
}

// unknownTool reports a tool that nobody defines.
func (c *toolbox) unknownTool(loc diag.Loc, name string) finding {
	if c.unread[name] || c.unread[""] {
		return silent()
	}
	return c.errorf(diag.UnknownTool, loc, "unknown tool %q", name).suggestString(name, c.toolNames())
}

// toolNames returns the names of the tools that plans may use.
func (c *toolbox) toolNames() iter.Seq[string] {
	return func(yield func(string) bool) {
		for t := range c.cat.Listed() {
			if c.permission().permits(t) && !yield(t.Definition.Name) {
				return
			}
		}
	}
}

// tool returns the tool with this name. It is fast for consecutive calls of the same few tools.
func (c *toolbox) tool(name string) (*tool.Tool, bool) {
	if c.lastTool.found != nil && c.lastTool.by == name {
		return c.lastTool.found, true
	}
	t, ok := c.cat.Lookup(name)
	if !ok {
		t, ok = tool.Step(name)
	}
	if ok {
		c.lastTool = last[string, *tool.Tool]{name, t}
	}
	return t, ok
}

// factsOf finds the facts about a tool.
func (c *toolbox) factsOf(t *tool.Tool) *toolFacts {
	if t == c.lastFacts.by {
		return c.lastFacts.found
	}
	f, ok := c.facts[t]
	if !ok {
		f = c.findFacts(t)
	}
	c.lastFacts = last[*tool.Tool, *toolFacts]{t, f}
	return f
}

func (c *toolbox) findFacts(t *tool.Tool) *toolFacts {
	def := t.Definition
	f := &toolFacts{}
	c.facts[t] = f
	c.findings = append(c.findings, t.Findings...)
	for name, v := range members(def.Raw) {
		switch name {
		case "required":
			var all []string
			if json.Unmarshal(v, &all) == nil {
				f.required = slices.DeleteFunc(all, func(s string) bool {
					return !strings.HasPrefix(s, "_") || s == "_tool" || s == "_output"
				})
			}
		case "allOf", "anyOf", "oneOf", "not", "if", "dependentRequired", "dependentSchemas", "dependencies",
			"minProperties", "maxProperties", "propertyNames", "$ref", "$dynamicRef", "inputSchema", "parameters", "function":
			f.whole = true
		}
	}
	f.defaults = c.defaultsOf(def)
	return f
}

// defaultsOf reads the members that a definition fixes, as those of a call.
func (c *toolbox) defaultsOf(def *tool.Definition) *lang.Call {
	text := []byte(`[{"_tool":"t"`)
	n := len(text)
	for _, name := range slices.Sorted(maps.Keys(def.Fixed)) { // so that the same fault is reported each time
		fixed := def.Fixed[name]
		if fixed.Const == nil || name == "_tool" || name == "_activity" || name == "_id" {
			continue
		}
		text = append(append(append(text, ','), jsonscan.AppendQuoted(nil, name)...), ':')
		text = append(text, fixed.Const...)
	}
	if len(text) == n {
		return nil
	}
	doc, findings := lang.Parse(diag.NewFile("tool "+def.Name, append(text, `}]`...)), nil)
	for _, f := range findings {
		if f.Severity == diag.Error {
			c.errorf(diag.FixedByTool, c.orFile(def.Loc), "the tool %q fixes what no call can have: %s", def.Name, f.Message)
			return nil
		}
	}
	return &doc.Calls[0]
}

// targetKey identifies a target: by the tool, and by the _activity of the call if it has one.
type targetKey struct {
	tool     *tool.Tool
	activity string
	picked   bool
}

// target returns what a call or a fallback of t runs. It makes one target for all that run the
// same. It returns false if the target can't run, which it reports at the _activity or, if there is
// none, at the name of the tool.
func (c *toolbox) target(d *draft, t *tool.Tool, activity string, node, toolNode lang.Node) (*Target, bool) {
	key := targetKey{t, activity, !node.IsZero()}
	x, known := c.targets[key]
	if !known {
		var pick *string
		if key.picked {
			pick = &activity
		}
		x.target, x.found = NewTarget(c.cat, t, pick)
		c.targets[key] = x
	}
	if node.IsZero() {
		node = toolNode
	}
	switch {
	case !c.permitted(d, x.target, node):
		return x.target, false
	case !x.found:
		c.errorf(diag.UnknownActivity, d.loc(node), "no activity is named %q", x.target.Name).
			related(t.Definition.Loc, "declared here").inside(d, d.span(node.Span())).suggest(x.target.Name, c.activities())
	case !offers(x.target):
		c.errorf(diag.NotOffered, d.loc(node), "the plan defines the tool %q over the activity %q, which is not offered to plans; %s", t.Definition.Name, x.target.Name, x.target.otherWays()).
			related(t.Definition.Loc, "defined here").inside(d, d.span(node.Span()))
	default:
		return x.target, true
	}
	return x.target, false
}

// activities returns the names of the activities that plans may use.
func (c *toolbox) activities() iter.Seq[string] {
	return func(yield func(string) bool) {
		for name := range c.cat.Activities() {
			if c.permission().names(name) && !yield(name) {
				return
			}
		}
	}
}

// permitted reports a target that the policy does not permit.
func (c *toolbox) permitted(d *draft, t *Target, n lang.Node) bool {
	what := c.permission().refused(t)
	if what != "" {
		d.denied = true
		c.errorf(diag.NotPermitted, d.loc(n), "the policy does not permit %s", what).inside(d, d.span(n.Span()))
	}
	return what == ""
}

// knownTarget is a target that was made, and what is wrong with it.
type knownTarget struct {
	target *Target
	found  bool // its activity is there
}

// model returns the model of a latent tool, wrapped by Target.Around, if the program is compiled
// for a run and there is such a model.
func (c *toolbox) model(t *Target) (tool.Activity, error) {
	if !c.opts.Run || c.opts.Models == nil {
		return nil, nil
	}
	m, err := c.opts.Models(t.Place.Model)
	if m == nil || t.around == nil {
		return m, err
	}
	return t.around(m), err
}
