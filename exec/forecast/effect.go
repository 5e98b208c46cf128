package forecast

import (
	"strings"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/tool"
)

// EffectKind classifies what a call does to the world, as far as it is declared.
type EffectKind string

// The kinds of effects, the gravest last.
const (
	Pure        EffectKind = "pure"        // no contact with the world
	Reads       EffectKind = "reads"       // it changes nothing
	Undeclared  EffectKind = "undeclared"  // its tool declares nothing
	Changes     EffectKind = "changes"     // it changes the world
	Destructive EffectKind = "destructive" // it may destroy
)

// Meaning returns what the kind means, in words for people.
func (k EffectKind) Meaning() string {
	switch k {
	case Undeclared:
		return "may change the world: its tool declares no effects"
	case Changes:
		return "changes the world"
	}
	return string(k)
}

// EffectOf returns the kind of declared effects.
func EffectOf(e tool.Effects) EffectKind {
	switch {
	case e.Destructive == tool.Yes:
		return Destructive
	case e.ChangesWorld():
		return Changes
	case e.Pure == tool.Yes:
		return Pure
	case e.ReadOnly == tool.Yes:
		return Reads
	}
	return Undeclared
}

// effectOfCall returns the effect of a call without its fallback.
func effectOfCall(c *compile.Call) EffectKind {
	if c.Target == nil {
		return EffectOf(c.Effects)
	}
	return EffectOf(c.Target.Effects)
}

// Effect describes what the calls of one tool may do outside the run.
type Effect struct {
	Tool   string     `json:"tool"`
	Kind   EffectKind `json:"effect"`
	Domain string     `json:"domain,omitempty"`
	// Driver is the kind of activity, and At where it acts, in short, such as a method and a host,
	// or a command. Either is "" if unknown.
	Words   string     `json:"target"` // the activity
	Driver  string     `json:"driver,omitempty"`
	At      string     `json:"at,omitempty"`
	Place   tool.Place `json:"place,omitzero"`
	Most    Count      `json:"most"`    // attempts at most
	Assumed int        `json:"assumed"` // calls on the assumed path
	Calls   []string   `json:"calls"`   // the first calls that may have it, without the items of loops, at most maxNamed
	More    int        `json:"more"`    // calls that are not named

	activity string // its name; "" if it has none
}

// maxNamed is the maximum number of calls that an effect names.
const maxNamed = 20

// effectKey identifies an effect.
type effectKey struct {
	tool, domain, words string
	kind                EffectKind
}

// ofModel reports whether a model is called for this target.
func ofModel(t *compile.Target) bool { return t != nil && t.Driver == "latent" }

// place returns where an activity acts, in short: "POST api.example", "git push".
func place(p tool.Place) string {
	switch {
	case p.Server != "":
		return p.Server + "/" + p.Tool
	case p.URL != "":
		host := p.URL
		if p.Host != "" && !strings.Contains(p.URL, "{") {
			host = p.Host
		}
		return p.Method + " " + host
	}
	return strings.Join(p.Program, " ")
}
