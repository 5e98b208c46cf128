package forecast

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/tool"
)

// EffectKind is what a call does to the world, as far as it is declared.
type EffectKind string

// The kinds of effects, the gravest last.
const (
	Pure        EffectKind = "pure"        // no contact with the world
	Reads       EffectKind = "reads"       // it changes nothing
	Undeclared  EffectKind = "undeclared"  // nobody says
	Changes     EffectKind = "changes"     // it changes the world
	Destructive EffectKind = "destructive" // it may destroy
)

func effectOf(e tool.Effects) EffectKind {
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

// Effect is what the calls of one tool would change outside.
type Effect struct {
	Tool   string     `json:"tool"`
	Kind   EffectKind `json:"effect"`
	Domain string     `json:"domain,omitempty"`
	// Driver is the kind of activity, At where it acts: a method and a host, a command;
	// "" when that can't be told.
	Driver string   `json:"driver,omitempty"`
	At     string   `json:"at,omitempty"`
	Count  int      `json:"count"` // of calls
	Calls  []string `json:"calls"` // the first of them, at most maxNamed
}

// maxNamed is how many calls of an effect are named.
const maxNamed = 20

// effects are the effects of the calls that would run, those of one tool together, in
// the order of their first calls.
func effects(w map[*compile.Call]*compile.Program, calls []Call) []Effect {
	type key struct {
		tool string
		kind EffectKind
		at   string
	}
	all := []Effect{}
	index := map[key]int{}
	for i := range calls {
		c := &calls[i]
		if !c.WouldRun() || c.Runs > 0 || c.Effect == Pure || c.Effect == Reads {
			continue
		}
		impl := w[c.call].Implementation(c.call)
		k := key{c.Tool, c.Effect, place(impl.Raw)}
		at, ok := index[k]
		if !ok {
			at = len(all)
			index[k] = at
			all = append(all, Effect{Tool: c.Tool, Kind: c.Effect, Domain: c.call.Effects.Domain, Driver: impl.Driver, At: k.at, Calls: []string{}})
		}
		all[at].Count++
		if len(all[at].Calls) < maxNamed {
			name := c.Path
			if c.Instance != "" {
				name += " of " + c.Instance
			}
			all[at].Calls = append(all[at].Calls, name)
		}
	}
	return all
}

// place is where an activity of a tool file acts: "POST api.example", "git push".
func place(raw json.RawMessage) string {
	var a struct {
		Process json.RawMessage
		HTTP    struct{ Method, URL string }
		MCP     struct{ Server, Tool string }
	}
	if json.Unmarshal(raw, &a) != nil {
		return ""
	}
	switch {
	case a.Process != nil:
		return command(a.Process)
	case a.HTTP.URL != "":
		host := a.HTTP.URL
		if u, err := url.Parse(strings.NewReplacer("{", "", "}", "").Replace(host)); err == nil && u.Host != "" && !strings.Contains(host, "{") {
			host = u.Host
		}
		return strings.TrimSpace(strings.ToUpper(a.HTTP.Method) + " " + host)
	case a.MCP.Server != "":
		return a.MCP.Server + "/" + a.MCP.Tool
	}
	return ""
}

// command is the command of a process, as a list or in an object.
func command(raw json.RawMessage) string {
	var words []string
	if json.Unmarshal(raw, &words) != nil {
		var c struct{ Command []string }
		if json.Unmarshal(raw, &c) != nil {
			return ""
		}
		words = c.Command
	}
	return strings.Join(slices.Clip(words), " ")
}
