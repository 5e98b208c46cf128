package tool

import (
	"encoding/json"
	"iter"
	"maps"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/plc-lang/plc/diag"
)

// Document is the Source of the tools that a document defines, which nobody trusts.
const Document = "plan"

// Tool is a definition with the activity that runs it.
type Tool struct {
	Definition *Definition
	Activity   Activity // nil: latent
	Source     string   // "go", the name of the tool file, "mcp:docs", "plan"
	Driver     string   // what kind of activity: "go", "process", "http", "stand-in", …; "" for none
	Limits     Limits
	// Timeout is the timeout of each attempt; 0 is that of the run.
	Timeout time.Duration
	// Takes lists how long a call may take, if the activity knows; otherwise it is nil.
	Takes []time.Duration
	// Raw describes the activity, like Implementation.Raw; nil if only its name is known.
	Raw json.RawMessage
	// Place says where the activity does its work, as far as that is declared.
	Place Place
	// Later reads the whole definition; then Definition has only the members that listing the tool
	// needs. Later is nil if Definition is whole, as in all tools that Catalogue.Lookup returns.
	Later *Later
	// Findings are about the tool, and matter only to plans that use it.
	Findings diag.List
}

// Limits bound the calls of one tool.
type Limits struct {
	Parallel  int     // at once; 0 is no limit
	PerSecond float64 // started per second; 0 is no limit
}

// Implementation is an activity with its settings from the tool file.
type Implementation struct {
	Activity Activity // nil: latent on purpose
	Driver   string   // "process", "http", "stand-in", "latent", …
	Model    string   // the model that makes the result of a latent one; "" is the model of the run
	// Around wraps the calls of that model; nil wraps nothing.
	Around  Middleware
	Limits  Limits // for tools that have none of their own
	Timeout time.Duration
	// Queue names the workers that make its calls, for engines that have workers; "" is any.
	Queue string
	// Takes lists how long a call may take, if the activity knows; otherwise it is nil.
	Takes []time.Duration
	Loc   diag.Loc
	// Raw is the activity as the tool file has it, with secrets by their names; nil
	// for those of Go.
	Raw json.RawMessage
	// Place is where it does its work, as far as that is declared.
	Place Place
	// Source names where it is declared: "go", the name of the tool file, "mcp:docs".
	Source string
	// Declared is the definition that an MCP server gives for the tool that is called; nil for
	// other activities.
	Declared json.RawMessage
	// Effects are the effects of the activity itself, in addition to those of the tools that have
	// it.
	Effects Effects
	// Offered says that plans may define tools with this activity.
	Offered bool
}

// Catalogue is the tools that a plan may call and the activities that run them.
// The zero Catalogue, and nil, is empty. It is immutable and may be shared by
// goroutines; every change makes a new one, in O(n) of its tools.
type Catalogue struct {
	given      map[string]*Tool // as they were given
	activities map[string]Implementation
	aliases    map[string]string       // more names of tools
	bound      map[string]*Tool        // given, with their activities
	names      []string                // of the tools, sorted
	later      map[string]func() *Tool // the tools of bound that have a Later, with their whole definitions
	owners     map[string][]*Tool      // by the activity, the tools to which trusted definitions give it
	same       map[string][]*Tool      // by Place.identity, the tools that run the same
	aliasesOf  map[string][]string     // by the tool, sorted

	whole *Catalogue // with the tools of the language; made when it is first needed
	once  sync.Once
}

// NewCatalogue makes a catalogue. If two tools have the same name, the later one counts.
func NewCatalogue(tools ...*Tool) *Catalogue { return (*Catalogue)(nil).With(tools...) }

// With returns a catalogue of c's tools, its activities and more tools, which replace
// c's of the same name.
func (c *Catalogue) With(tools ...*Tool) *Catalogue {
	d := c.clone()
	for _, t := range tools {
		d.given[t.Definition.Name] = t
	}
	return d.bind()
}

// WithActivities returns a catalogue with more activities by name. Tools of c that have no activity
// get the one with their name; the others can be named by _activity.
func (c *Catalogue) WithActivities(activities map[string]Implementation) *Catalogue {
	d := c.clone()
	maps.Copy(d.activities, activities)
	return d.bind()
}

// WithAliases returns a catalogue in which Lookup finds tools by more names (alias to name).
// An alias that is a tool's name is ignored. Activities, limits and permissions name tools by their
// own names, not by aliases.
func (c *Catalogue) WithAliases(aliases map[string]string) *Catalogue {
	d := c.clone()
	maps.Copy(d.aliases, aliases)
	return d.bind()
}

// AddDocument returns a catalogue with the definitions of a document as well. They may come from a
// model, so they can only add tools: if c has a tool of the same name, it stays, and the effects
// that the document declares count only if they require more care (plan-language §1). If two
// definitions of the document have the same name, the later one counts.
func (c *Catalogue) AddDocument(defs ...*Definition) *Catalogue {
	d := c.clone()
	for _, def := range last(defs) {
		if t, ok := d.named(def.Name); ok {
			d.given[t.Definition.Name] = t.withEffects(t.Definition.Effects.MoreCareful(def.Effects))
			continue
		}
		t := &Tool{Definition: def, Source: Document}
		d.given[def.Name] = t.withEffects(Effects{}.MoreCareful(def.Effects))
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

// Lookup returns the tool of this name, with the activity that runs it unless a call picks another.
func (c *Catalogue) Lookup(name string) (*Tool, bool) {
	if c == nil {
		return nil, false
	}
	t, ok := c.bound[name]
	if other, alias := c.aliases[name]; !ok && alias {
		t, ok = c.bound[other]
	}
	if !ok {
		return nil, false
	}
	return c.complete(t), true
}

// named returns the tool of this name or alias as it was given.
func (c *Catalogue) named(name string) (*Tool, bool) {
	t, ok := c.given[name]
	if other, alias := c.aliases[name]; !ok && alias {
		t, ok = c.given[other]
	}
	return t, ok
}

// Implementation returns the activity of this name. If a tool of this name came with its own
// activity (a Go function, a tool of an MCP server), it is that one, else the activity that was
// added under the name.
func (c *Catalogue) Implementation(name string) (Implementation, bool) {
	if c == nil {
		return Implementation{}, false
	}
	if t, ok := c.named(name); ok && t.Activity != nil {
		return c.implementationOf(t), true
	}
	i, ok := c.activities[name]
	return i, ok
}

// canonical returns the name of an activity that may be given by an alias.
func (c *Catalogue) canonical(name string) string {
	if c == nil {
		return name
	}
	if other, alias := c.aliases[name]; alias && c.given[name] == nil {
		return other
	}
	return name
}

// implementationOf returns the implementation of a tool that came with its activity. If the
// catalogue has the same activity, its settings there apply.
func (c *Catalogue) implementationOf(t *Tool) Implementation {
	name := t.Definition.activity()
	if given, ok := c.given[t.Definition.Name]; !ok || given.Activity == nil {
		if i, ok := c.activities[name]; ok {
			return i
		}
	}
	return t.implementation()
}

// Status says what Resolve found.
type Status uint8

// The statuses of a call's implementation.
const (
	Latent      Status = iota // nothing runs it: a model makes the result, or it is known already
	Implemented               // Implementation.Activity runs it
	NoActivity                // it names an activity that does not exist (PLC209)
)

// Resolved is the result of Catalogue.Resolve.
type Resolved struct {
	Status Status
	// Name is the name of the activity; "" if there is none.
	Name string
	// Implementation is the activity. A latent one may say which model to use.
	Implementation
	// Owners are the tools of the catalogue that do the work of the activity, sorted by name: the
	// tool with the activity's name, and the tools whose definitions pick it. Activities that run
	// the same MCP tool or the same operation count as one. Definitions in documents are not
	// owners. The tools are those of Catalogue.Listed.
	Owners []*Tool
	// Picked reports that the call or a document chose the activity for t, rather than a trusted
	// definition.
	Picked bool
}

// Resolve returns what runs a call of t (plan-language §2). If explicit is true, the call has an
// _activity, which is activity. The first of these counts: the call's _activity, that of t's
// definition, the name of t. An _activity of "" makes the call latent. One that names nothing is
// NoActivity, since a misspelt name must not turn a payment into an invented result. A tool without
// any activity is latent. A latent call may still have an implementation, which says which model to
// use.
//
// Outside this package only compile.NewTarget calls Resolve, so that there is one place that
// decides what runs.
func (c *Catalogue) Resolve(t *Tool, activity string, explicit bool) Resolved {
	own, fixed := c.canonical(t.Definition.activity()), t.Definition.HasActivity
	if !explicit {
		activity = own
	}
	activity = c.canonical(activity)
	r := Resolved{Name: activity, Picked: explicit && activity != own || t.Source == Document}
	explicit = explicit || fixed
	ok := true
	switch {
	case activity == own && !fixed && t.Activity != nil:
		r.Implementation = c.implementationOf(t)
	case activity == "":
		return r
	default:
		r.Implementation, ok = c.Implementation(activity)
	}
	if reflect.ValueOf(r.Place).IsZero() {
		r.Place = PlaceOf(r.Raw)
	}
	switch {
	case r.Activity != nil:
		r.Status = Implemented
	case !ok && explicit:
		r.Status = NoActivity
		return r
	case !ok:
		r.Name = ""
		return r
	}
	r.Owners = c.owners[activity]
	if same := c.same[r.Place.identity()]; len(same) > len(r.Owners) {
		r.Owners = union(r.Owners, same)
	}
	return r
}

// union returns the tools of two lists without duplicates, by name.
func union(a, b []*Tool) []*Tool {
	all := slices.Concat(a, b)
	slices.SortFunc(all, func(a, b *Tool) int { return strings.Compare(a.Definition.Name, b.Definition.Name) })
	return slices.CompactFunc(all, func(a, b *Tool) bool { return a.Definition.Name == b.Definition.Name })
}

// Tools returns the tools by name, with their whole definitions. Listed costs less if there are
// many tools.
func (c *Catalogue) Tools() iter.Seq[*Tool] {
	return func(yield func(*Tool) bool) {
		for t := range c.Listed() {
			if !yield(c.complete(t)) {
				return
			}
		}
	}
}

// Activities returns the names of the activities that were added by name, sorted.
// Those of tools that came with their own are not among them.
func (c *Catalogue) Activities() iter.Seq[string] {
	if c == nil {
		return func(func(string) bool) {}
	}
	return slices.Values(slices.Sorted(maps.Keys(c.activities)))
}

// Len returns the number of tools.
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

// bind gives each tool its activity. It does not change the tools that were given, so that they can
// be bound again when more activities are added.
func (c *Catalogue) bind() *Catalogue {
	c.bound, c.later = make(map[string]*Tool, len(c.given)), map[string]func() *Tool{}
	for name, t := range c.given {
		bound := t.bound(c)
		c.bound[name] = bound
		if bound.Later != nil {
			c.later[name] = sync.OnceValue(bound.Whole)
		}
	}
	c.names = slices.Sorted(maps.Keys(c.bound))
	c.owners, c.same, c.aliasesOf = map[string][]*Tool{}, map[string][]*Tool{}, map[string][]string{}
	for _, alias := range slices.Sorted(maps.Keys(c.aliases)) {
		c.aliasesOf[c.aliases[alias]] = append(c.aliasesOf[c.aliases[alias]], alias)
	}
	for _, name := range c.names {
		t := c.bound[name]
		if t.Source == Document || t.Source == BuiltIn {
			continue
		}
		activity := c.canonical(t.Definition.activity())
		if activity != "" {
			c.owners[activity] = append(c.owners[activity], t)
		}
		if id := t.Place.identity(); id != "" {
			c.same[id] = append(c.same[id], t)
		}
	}
	return c
}

// bound returns t with its activity in c, and with the effects of that activity, which no
// definition can remove.
func (t *Tool) bound(c *Catalogue) *Tool {
	i := c.Resolve(t, "", false)
	u := *t
	u.Activity, u.Driver, u.Place, u.Takes = i.Activity, i.Driver, i.Place, i.Takes
	if i.Effects != (Effects{}) && t.Source != Document {
		def := *t.Definition
		def.Effects = def.Effects.Either(i.Effects)
		u.Definition = &def
	}
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
		Activity: t.Activity, Driver: t.Driver, Limits: t.Limits, Timeout: t.Timeout, Takes: t.Takes, Loc: t.Definition.Loc,
		Raw: t.Raw, Place: t.Place, Source: t.Source, Declared: t.Definition.Raw,
	}
}

func (t *Tool) withEffects(e Effects) *Tool {
	def := *t.Definition
	def.Effects = e
	u := *t
	u.Definition = &def
	return &u
}
