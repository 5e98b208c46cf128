package compile

import (
	"encoding/json"
	"fmt"
	"iter"
	"strings"
	"time"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
)

// A Target is what a call, or its fallback, runs: everything except its params that decides what
// happens when it is made. It is made once, during compilation, for every way in which something
// may be called (the tool itself, an _activity of the call or of a definition, an alias such as
// server.tool, an activity that stands for a tool of an MCP server, a delegate, a latent call that
// a model makes, a tool that a document defines). All code that shows, checks, permits, approves,
// records or runs a call uses its target, so that all of it means the same thing.
//
// An activity belongs to the tools of the catalogue whose definitions have it. A call that gets it
// in another way, by its own _activity or by a definition of a document, must comply with these
// tools: it meets their schemas in addition to its own, has their effects, approvals and limits,
// and runs only if the policy permits them.
//
// Calls that run the same thing share one target. It is immutable.
type Target struct {
	// Tool is the tool that the plan names.
	Tool *tool.Tool
	// Owners holds the tools that the activity belongs to, besides Tool.
	Owners []*tool.Tool
	// Definitions holds the definitions that the params must meet: that of Tool and, if the
	// activity was picked, those of the owners.
	Definitions []*tool.Definition
	// Picked reports that the call or a document has picked the activity, and not a trusted
	// definition.
	Picked bool

	// Activity does the work; nil if the call is latent, delegates or is part of the language.
	Activity tool.Activity
	Name     string // of the activity; "" if there is none
	Driver   string // what kind of activity: "process", "http", "mcp", "go", "latent", "delegate", "built-in", …
	Place    tool.Place
	Origin   Origin

	Bounds
	Queue   string       // of the workers that make the calls: see tool.Implementation
	Effects tool.Effects // the worst of those of Tool, the owners and the activity
	// Undo undoes a call, according to the definition of the tool whose work it does; nil if there
	// is none. Undos of documents and servers are not trusted.
	Undo *tool.Undo
	// Approve says that a person must approve each call, because a definition requires it that the
	// call has to meet.
	Approve lang.Approve
	// Asker is the tool whose definition requires the approval; nil if there is none.
	Asker *tool.Tool

	// Raw is the declaration of the activity, and Remote the MCP server's description of the tool.
	Raw, Remote json.RawMessage
	Delegate    *Delegate // of a call that runs a document

	around  tool.Middleware // around the model of a latent call; see Around
	offered bool            // plans may define tools that use the activity
}

// Bounds limits how many calls of a target are made, and how long each takes.
type Bounds struct {
	// Limits bounds how many calls run at once and how many start in a second, counted for all
	// targets with the same Limiter.
	Limits  tool.Limits
	Limiter string
	Timeout time.Duration
	Takes   []time.Duration // how long a call may take, according to the activity; nil if it does not know
}

// Origin says where the definition of a target comes from.
type Origin struct {
	Kind string // "file", "server", "document", "go" or "language"
	Name string // of the file or the server
	// Digest is the SHA-256, in hexadecimal, of the declaration there.
	Digest string
}

// String returns the origin in words.
func (o Origin) String() string {
	switch o.Kind {
	case "file":
		return fmt.Sprintf("the tool file %q", o.Name)
	case "server":
		return fmt.Sprintf("the MCP server %q", o.Name)
	case "document":
		return "the plan"
	case "language":
		return "the language"
	}
	return "Go"
}

// NewTarget returns what a call of t runs. pick is the call's _activity, or nil. It returns false
// if there is no activity with that name: the target then has the name, but no activity.
func NewTarget(cat *tool.Catalogue, t *tool.Tool, pick *string) (*Target, bool) {
	var activity string
	if pick != nil {
		activity = *pick
	}
	r := cat.Resolve(t, activity, pick != nil)
	x := &Target{
		Tool: t, Picked: r.Picked, Activity: r.Activity, Name: r.Name, Driver: r.Driver, Place: r.Place,
		Bounds: Bounds{Limits: t.Limits, Limiter: t.Definition.Name, Timeout: r.Timeout, Takes: r.Takes}, Queue: r.Queue, Effects: effectsOf(t, &r),
		Definitions: []*tool.Definition{t.Definition}, Raw: r.Raw, Remote: r.Declared, around: r.Around, offered: r.Offered,
	}
	if x.Limits == (tool.Limits{}) {
		x.Limits, x.Limiter = r.Limits, r.Name
	}
	if t.Source == tool.BuiltIn && r.Activity == nil && x.Driver == "" {
		x.Driver = tool.BuiltIn
	}
	if r.Status == tool.Latent && x.Driver == "" {
		x.Driver = "latent"
	}
	if r.Model != "" {
		x.Place.Model = r.Model
	}
	x.requireApproval(t)
	for _, o := range r.Owners {
		if o.Definition.Name == t.Definition.Name {
			continue
		}
		o, _ = cat.Lookup(o.Definition.Name) // the tool with its whole definition
		x.Owners = append(x.Owners, o)
		x.requireApproval(o)
		if x.Picked {
			x.Definitions = append(x.Definitions, o.Definition)
			if o.Limits != (tool.Limits{}) {
				x.Limits, x.Limiter = o.Limits, o.Definition.Name
			}
		}
	}
	x.Origin = x.origin(r.Source)
	x.Definitions[0] = withEffects(t.Definition, x.Effects)
	x.Undo = x.undo()
	return x, r.Status != tool.NoActivity
}

// undo returns the undo of the target.
func (t *Target) undo() *tool.Undo {
	did := []*tool.Tool{t.Tool}
	if t.Picked || t.Tool.Source == tool.Document { // the target does the work of another tool
		did = t.Owners
	}
	for _, o := range did {
		if u := o.Undoes(); u != nil {
			return u
		}
	}
	return nil
}

// Latent reports that the catalogue has no activity for the work, and that none was named: a model
// does it, a document that the call delegates to, or the language.
func (t *Target) Latent() bool { return t.Activity == nil && t.Driver != "" }

// Around wraps the model that does the work of a latent target in what the catalogue has for it,
// such as a cache or a limit.
func (t *Target) Around(model tool.Activity) tool.Activity {
	if t.around == nil {
		return model
	}
	return t.around(model)
}

// withEffects returns a definition for the activity, with the effects of what runs.
func withEffects(def *tool.Definition, e tool.Effects) *tool.Definition {
	if def.Effects == e {
		return def
	}
	other := *def
	other.Effects = e
	return &other
}

// meets returns the tools whose definitions the params must meet.
func (t *Target) meets() []*tool.Tool {
	if !t.Picked {
		return []*tool.Tool{t.Tool}
	}
	return append([]*tool.Tool{t.Tool}, t.Owners...)
}

// effectsOf returns the effects of a call of t: those of t joined with those of every tool that has
// the activity, so that another name for it is not a way around their effects. An effect that
// nobody declares is not known.
func effectsOf(t *tool.Tool, r *tool.Resolved) tool.Effects {
	var all []tool.Effects
	for _, o := range r.Owners {
		if o.Definition.Name != t.Definition.Name {
			all = append(all, o.Definition.Effects)
		}
	}
	if r.Implementation.Effects != (tool.Effects{}) || r.Picked && r.Name != "" && len(all) == 0 {
		all = append(all, r.Implementation.Effects)
	}
	own := t.Definition.Effects
	if t.Source == tool.Document { // a document can't make us less careful
		if len(all) == 0 {
			return own
		}
		worst := all[0]
		for _, e := range all[1:] {
			worst = worst.Either(e)
		}
		return worst.MoreCareful(own)
	}
	for _, e := range all {
		own = own.Either(e)
	}
	return own
}

// requireApproval notes that the definition of a tool requires approval of each call, by a const
// _approve.
func (t *Target) requireApproval(by *tool.Tool) {
	f := by.Definition.Fixed["_approve"]
	if f == nil || f.Const == nil {
		return
	}
	var reason string
	var needed bool
	switch {
	case json.Unmarshal(f.Const, &reason) == nil:
		t.Approve, t.Asker = lang.Approve{Needed: true, Reason: reason}, by
	case json.Unmarshal(f.Const, &needed) == nil && needed && !t.Approve.Needed:
		t.Approve.Needed, t.Asker = true, by
	}
}

func (t *Target) origin(source string) Origin {
	if source == "" {
		source = t.Tool.Source
	}
	o := Origin{Kind: "file", Name: source}
	server, remote := strings.CutPrefix(source, "mcp:")
	switch {
	case remote:
		o = Origin{Kind: "server", Name: server}
	case source == tool.Document:
		o = Origin{Kind: "document"}
	case source == tool.BuiltIn:
		o = Origin{Kind: "language"}
	case source == "" || source == "go":
		o = Origin{Kind: "go"}
	}
	parts := []byte{'['}
	for _, d := range t.Definitions {
		parts = append(append(parts, jsonscan.OrNull(d.Raw)...), ',')
	}
	parts = append(append(append(append(parts, jsonscan.OrNull(t.Raw)...), ','), jsonscan.OrNull(t.Remote)...), ']')
	o.Digest = jsonscan.Digest(parts)
	return o
}

// otherWays says, for a finding, what else a plan may do if it can't have the activity for a tool
// of its own.
func (t *Target) otherWays() string {
	if len(t.Owners) > 0 {
		return fmt.Sprintf("call the tool %q", t.Owners[0].Definition.Name)
	}
	return "let the tool file say offer: true of it"
}

// Words describes in one line what runs. Words that others wrote are in quotes.
func (t *Target) Words() string {
	words := t.Place.Words(t.Driver)
	if t.Name != "" && t.Name != t.Tool.Definition.Name {
		words += fmt.Sprintf(", the activity %q", t.Name)
	}
	return words
}

// Targets returns the targets of all calls of the program, of their fallbacks and of the undos of
// these, in plan order, and then those of the programs that they delegate to, each program once.
func (p *Program) Targets() iter.Seq2[*Call, *Target] {
	return func(yield func(*Call, *Target) bool) {
		seen, todo := map[*Program]bool{p: true}, []*Program{p}
		for len(todo) > 0 {
			prog := todo[0]
			todo = todo[1:]
			for i := range prog.Calls {
				c := &prog.Calls[i]
				for t := range c.Targets() {
					if !yield(c, t) {
						return
					}
				}
				if c.Rare == nil {
					continue
				}
				if d := c.Delegate; d != nil && d.Program != nil && !seen[d.Program] {
					seen[d.Program] = true
					todo = append(todo, d.Program)
				}
			}
		}
	}
}

// Targets returns the target of the call, that of its fallback, and those of the undos of these.
func (c *Call) Targets() iter.Seq[*Target] {
	return func(yield func(*Target) bool) {
		if c.Target != nil && !yield(c.Target) || !c.Undoing.targets(yield) || c.Rare == nil || c.Fallback == nil {
			return
		}
		if yield(c.Fallback.Target) {
			c.Fallback.Undoing.targets(yield)
		}
	}
}

// targets yields the targets of an undo. It returns false if yield does.
func (u *Undoing) targets(yield func(*Target) bool) bool {
	if u == nil || u.Call == nil {
		return true
	}
	for t := range u.Call.Targets() {
		if !yield(t) {
			return false
		}
	}
	return true
}
