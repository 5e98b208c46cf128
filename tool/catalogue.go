package tool

import (
	"encoding/json"
	"iter"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/plc-lang/plc/diag"
)

// Tool is a definition with what runs it.
type Tool struct {
	Definition *Definition
	Activity   Activity // nil: latent
	Source     string   // "go", the name of the tool file, "mcp:docs", "plan"
	Driver     string   // what kind of activity: "go", "process", "http", "stand-in", …; "" for none
	Limits     Limits
	// Timeout is of each attempt; 0 is for the run to say.
	Timeout time.Duration
	// Raw is what the activity is, as Implementation.Raw has it; nil when only its
	// name can be told.
	Raw json.RawMessage
}

// Limits bound the calls of one tool.
type Limits struct {
	Parallel  int     // at once; 0 is no limit
	PerSecond float64 // started per second; 0 is no limit
}

// Implementation is an activity with what the tool file says of it.
type Implementation struct {
	Activity Activity // nil: latent on purpose
	Driver   string   // "process", "http", "stand-in", "latent", …
	Model    string   // of a latent one: the model that makes the result; "" is for the run to say
	// Around is what stands around the calls of that model; nil is nothing.
	Around  Middleware
	Limits  Limits // for tools that have none of their own
	Timeout time.Duration
	Loc     diag.Loc
	// Raw is the activity as the tool file has it, with secrets by their names; nil
	// for those of Go.
	Raw json.RawMessage
}

// Catalogue is the tools that a plan may call and the activities that run them.
// The zero Catalogue, and nil, is empty. It is immutable and may be shared by
// goroutines; every change makes a new one, in O(n) of its tools.
type Catalogue struct {
	given      map[string]*Tool // as they were given
	activities map[string]Implementation
	aliases    map[string]string // more names of tools
	bound      map[string]*Tool  // given, joined with the activities
	names      []string          // of the tools, sorted

	whole *Catalogue // with the tools of the language, once somebody asked for it
	once  sync.Once
}

// NewCatalogue makes a catalogue. Of two tools with one name the later one replaces the
// earlier.
func NewCatalogue(tools ...*Tool) *Catalogue { return (*Catalogue)(nil).With(tools...) }

// With is a catalogue of c's tools, its activities and more tools, which replace
// c's of the same name.
func (c *Catalogue) With(tools ...*Tool) *Catalogue {
	d := c.clone()
	for _, t := range tools {
		d.given[t.Definition.Name] = t
	}
	return d.bind()
}

// WithActivities is a catalogue of c's tools and more activities by name: those
// of tools that have none get theirs; others are there for _activity to name.
func (c *Catalogue) WithActivities(activities map[string]Implementation) *Catalogue {
	d := c.clone()
	maps.Copy(d.activities, activities)
	return d.bind()
}

// WithAliases is a catalogue in which Lookup finds tools by more names (alias to name).
// An alias that is a tool's name counts for nothing. What names an activity, a limit or a
// permission means tools by their own names.
func (c *Catalogue) WithAliases(aliases map[string]string) *Catalogue {
	d := c.clone()
	maps.Copy(d.aliases, aliases)
	return d.bind()
}

// AddDocument is a catalogue with the definitions of a document as well. They
// may come from a model: they only add tools; where c has the name already, c's
// stands, and what the document says of effects counts only towards more care
// (plan-language §1). Of two definitions with one name the later one counts
// alone. A definition that picks an activity of another tool (_activity) takes
// over the effects of that tool, so that a new name is no way around them.
func (c *Catalogue) AddDocument(defs ...*Definition) *Catalogue {
	d := c.clone()
	for _, def := range last(defs) {
		if t, ok := d.named(def.Name); ok {
			d.given[t.Definition.Name] = t.withEffects(t.Definition.Effects.MoreCareful(def.Effects))
			continue
		}
		t := &Tool{Definition: def, Source: "plan"}
		var known Effects
		if owner, ok := c.Lookup(def.activity()); ok {
			known = owner.Definition.Effects
		}
		d.given[def.Name] = t.withEffects(known.MoreCareful(def.Effects))
	}
	return d.bind()
}

// last maps each name to the last definition that has it.
func last(defs []*Definition) map[string]*Definition {
	m := make(map[string]*Definition, len(defs))
	for _, def := range defs {
		m[def.Name] = def
	}
	return m
}

// Lookup is the tool of this name, with the activity that runs it unless a call says otherwise.
func (c *Catalogue) Lookup(name string) (*Tool, bool) {
	if c == nil {
		return nil, false
	}
	t, ok := c.bound[name]
	if other, alias := c.aliases[name]; !ok && alias {
		t, ok = c.bound[other]
	}
	return t, ok
}

// named is the tool of this name or alias as it was given.
func (c *Catalogue) named(name string) (*Tool, bool) {
	t, ok := c.given[name]
	if other, alias := c.aliases[name]; !ok && alias {
		t, ok = c.given[other]
	}
	return t, ok
}

// Implementation is the activity of this name: that of the tool of this name
// which came with one (of Go, of an MCP server), else the activity that was added
// under it.
func (c *Catalogue) Implementation(name string) (Implementation, bool) {
	if c == nil {
		return Implementation{}, false
	}
	if t, ok := c.given[name]; ok && t.Activity != nil {
		return t.implementation(), true
	}
	i, ok := c.activities[name]
	return i, ok
}

// Status says what Resolve found.
type Status uint8

// The statuses of a call's implementation.
const (
	Latent      Status = iota // nothing runs it: a model, or a result already known, stands in
	Implemented               // Implementation.Activity runs it
	NoActivity                // it names an activity that does not exist (PLC209)
)

// Resolve is what runs a call of t (plan-language §2). explicit says that the call has an
// _activity, which is then activity. What counts is, in this order: the
// call's _activity, that of t's definition, the name of t. An _activity of "" makes the call
// latent; one that names nothing is NoActivity, since a slip of the pen must
// not turn a payment into an invented result; a tool without any is
// latent. A latent status may still come with an implementation, which says
// which model to use.
//
// The effects of a call that picks the activity of another tool are those of both:
// see Lookup and Effects.MoreCareful.
func (c *Catalogue) Resolve(t *Tool, activity string, explicit bool) (Implementation, Status) {
	if !explicit {
		activity, explicit = t.Definition.activity(), t.Definition.HasActivity
	}
	if !explicit && t.Activity != nil {
		return t.implementation(), Implemented
	}
	if activity == "" {
		return Implementation{}, Latent
	}
	i, ok := c.Implementation(activity)
	switch {
	case ok && i.Activity != nil:
		return i, Implemented
	case ok || !explicit:
		return i, Latent
	}
	return Implementation{}, NoActivity
}

// Tools are the tools by name.
func (c *Catalogue) Tools() iter.Seq[*Tool] {
	return func(yield func(*Tool) bool) {
		if c == nil {
			return
		}
		for _, name := range c.names {
			if !yield(c.bound[name]) {
				return
			}
		}
	}
}

// Activities are the names of the activities that were added by name, sorted.
// Those of tools that came with their own are not among them.
func (c *Catalogue) Activities() iter.Seq[string] {
	if c == nil {
		return func(func(string) bool) {}
	}
	return slices.Values(slices.Sorted(maps.Keys(c.activities)))
}

// Len is the number of tools.
func (c *Catalogue) Len() int {
	if c == nil {
		return 0
	}
	return len(c.names)
}

func (c *Catalogue) clone() *Catalogue {
	d := &Catalogue{given: map[string]*Tool{}, activities: map[string]Implementation{}, aliases: map[string]string{}}
	if c != nil {
		maps.Copy(d.aliases, c.aliases)
		maps.Copy(d.given, c.given)
		maps.Copy(d.activities, c.activities)
	}
	return d
}

// bind joins the tools that were given with the activities. The tools that
// were given stay as they are, so that one can be bound anew when an activity
// comes later.
func (c *Catalogue) bind() *Catalogue {
	c.bound = make(map[string]*Tool, len(c.given))
	for name, t := range c.given {
		c.bound[name] = t.bound(c)
	}
	c.names = slices.Sorted(maps.Keys(c.bound))
	return c
}

// bound is t with its activity as c has it; t itself when nothing changes.
func (t *Tool) bound(c *Catalogue) *Tool {
	i, _ := c.Resolve(t, "", false)
	u := *t
	u.Activity, u.Driver = i.Activity, i.Driver
	if u.Timeout == 0 {
		u.Timeout = i.Timeout
	}
	if u.Limits == (Limits{}) {
		u.Limits = i.Limits
	}
	return &u
}

func (t *Tool) implementation() Implementation {
	return Implementation{
		Activity: t.Activity, Driver: t.Driver, Limits: t.Limits, Timeout: t.Timeout, Loc: t.Definition.Loc,
		Raw: t.Raw,
	}
}

func (t *Tool) withEffects(e Effects) *Tool {
	def := *t.Definition
	def.Effects = e
	u := *t
	u.Definition = &def
	return &u
}
