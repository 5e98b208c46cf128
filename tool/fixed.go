package tool

import (
	"encoding/json"
	"maps"
	"slices"
	"strconv"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/spell"
	"github.com/plc-lang/plc/schemas"
)

// member describes the values that an underscore member of a call can have, so that a definition
// with a limit that no call can meet is reported.
type member struct {
	text  bool     // it is always a string
	among []string // it is one of these
}

// members returns the underscore members that a definition may constrain
// (plan-language §2).
func members() map[string]member {
	text := member{text: true}
	return map[string]member{
		"_tool": text, "_id": text, "_outputPath": text, "_errorPath": text, "_instance": text,
		"_delegate": text, "_activity": text, "_description": text, "_reasoningForCall": text,
		"_outputMethod": {text: true, among: []string{"set", "merge", "assign", "push", "concat"}},
		"_onFailure":    {text: true, among: []string{"abort", "skip", "continue", "replan", "ask", "undo"}},
		"_output":       {}, "_outcomes": {}, "_scopes": {}, "_dependsOn": {}, "_when": {}, "_retry": {}, "_timeout": {},
		"_fallback": {}, "_undo": {}, "_approve": {}, "_expect": {}, "_estimatedTokens": {}, "_estimatedCost": {}, "_estimatedTime": {},
	}
}

// fixed reads the rule of a definition for an underscore member.
func (p *parser) fixed(src source, name string, value gjson.Result) {
	m, ok := p.knownMember(name, src)
	if !ok {
		return
	}
	s := p.compile(src)
	if name == "_output" {
		p.def.Output = s
		return
	}
	f := &Fixed{Schema: s}
	p.def.Fixed[name] = f
	one := only(value)
	if !one.Exists() {
		return
	}
	f.Const = json.RawMessage(one.Raw)
	if !m.possible(one) {
		p.limitf(src.shown, "%s can't be %s", name, f.Const)
		return
	}
	if name == "_activity" {
		p.def.Activity, p.def.HasActivity = one.Str, true
	}
}

// knownMember warns about an underscore member that calls can't have: its constraint would never
// apply.
func (p *parser) knownMember(name string, src source) (m member, ok bool) {
	known := members()
	if m, ok = known[name]; !ok {
		p.report(diag.UnknownMember, diag.Warning, src.shown, "no call has a member %q%s", name, nearest(name, known))
	}
	return m, ok
}

// only returns the only value that a schema allows, or no value if it allows several.
func only(schema gjson.Result) gjson.Result {
	if c := schema.Get("const"); c.Exists() {
		return c
	}
	if e := schema.Get("enum"); e.IsArray() {
		if values := e.Array(); len(values) == 1 {
			return values[0]
		}
	}
	return gjson.Result{}
}

// possible reports whether a call's member can have this value.
func (m member) possible(v gjson.Result) bool {
	return !m.text || v.Type == gjson.String && (m.among == nil || slices.Contains(m.among, v.Str))
}

// outcomes reads _outcomes, at the top of the definition or among the properties: a list of names
// or a map name → schema. Among the properties it may also be an enum or a const, like other
// members.
func (p *parser) outcomes(f form) {
	v, src := f.params.Get("properties._outcomes"), source{f.doc, "/_outcomes", f.shown + "/properties/_outcomes"}
	if top := f.whole.Get("_outcomes"); top.Exists() {
		v, src.shown = top, "/_outcomes"
		if !f.plain {
			src.doc = json.RawMessage(`{"_outcomes":` + v.Raw + "}")
		}
	}
	for _, keyword := range []string{"const", "enum"} {
		if inner := v.Get(keyword); inner.IsArray() {
			v, src = inner, src.member(keyword)
		}
	}
	switch {
	case !v.Exists():
	case v.IsArray(), v.IsObject():
		p.outcomeList(v, src)
	default:
		p.limitf(src.shown, "_outcomes is a list of names or a map from names to schemas, not %s", kindOf(v))
	}
}

// outcomeList reads the names, or names and schemas, of outcomes.
func (p *parser) outcomeList(v gjson.Result, src source) {
	i := 0
	v.ForEach(func(key, value gjson.Result) bool {
		switch {
		case i == maxParams:
			p.report(diag.OverLimit, diag.Error, src.shown, "more than %d outcomes", maxParams)
			return false
		case v.IsArray():
			p.outcome(value, src.member(strconv.Itoa(i)), nil)
		case value.IsBool(): // which needs no document
			p.outcome(key, src.member(key.Str), p.compile(source{doc: json.RawMessage(value.Raw), shown: src.shown}))
		default:
			p.outcome(key, src.member(key.Str), p.compile(src.member(key.Str)))
		}
		i++
		return true
	})
	if i == 0 {
		p.limitf(src.shown, "_outcomes is empty, so that no call can end")
	}
}

func (p *parser) outcome(name gjson.Result, src source, s *schemas.Schema) {
	same := func(o Outcome) bool { return o.Name == name.Str }
	switch {
	case name.Type != gjson.String || name.Str == "":
		p.limitf(src.shown, "an outcome is a name, not %s", name.Raw)
	case slices.ContainsFunc(p.def.Outcomes, same):
		p.limitf(src.shown, "the outcome %q is listed twice", name.Str)
	default:
		p.def.Outcomes = append(p.def.Outcomes, Outcome{name.Str, s})
	}
}

// hint is a member that declares an effect, and the hint that it sets.
type hint struct {
	name string
	set  *Hint
}

// annotations reads the hints of an MCP tool. Since they are only hints, one of the wrong type is
// ignored with a warning.
func (p *parser) annotations(v gjson.Result, pointer string) {
	e := &p.def.Effects
	for _, h := range []hint{
		{"readOnlyHint", &e.ReadOnly}, {"destructiveHint", &e.Destructive},
		{"idempotentHint", &e.Idempotent}, {"openWorldHint", &e.OpenWorld}, {"privateHint", &p.def.Data.Private},
	} {
		if m := v.Get(h.name); m.IsBool() {
			*h.set = hintOf(m)
		} else if m.Exists() && m.Type != gjson.Null {
			p.report(diag.BadSchema, diag.Warning, pointer+"/"+h.name, "%s is true or false, not %s", h.name, m.Raw)
		}
	}
	switch m := v.Get("sensitiveHint"); m.Str {
	case "low", "medium", "high":
		p.def.Data.Sensitive = m.Str
	default:
		if m.Exists() && m.Type != gjson.Null {
			p.report(diag.BadSchema, diag.Warning, pointer+"/sensitiveHint", "sensitiveHint is low, medium or high, not %s", m.Raw)
		}
	}
}

// effectMember is a member of effects.
type effectMember struct {
	about string
	hint  func(*Effects) *Hint // nil: the member is a text
}

// effectMembers returns the members of effects.
func effectMembers() map[string]effectMember {
	return map[string]effectMember{
		"readOnly":    {"It changes nothing.", func(e *Effects) *Hint { return &e.ReadOnly }},
		"destructive": {"It may destroy something: a person is asked before its calls.", func(e *Effects) *Hint { return &e.Destructive }},
		"idempotent":  {"Calling it twice is the same as calling it once.", func(e *Effects) *Hint { return &e.Idempotent }},
		"openWorld":   {"It reaches what is not known beforehand.", func(e *Effects) *Hint { return &e.OpenWorld }},
		"pure":        {"It has no contact with the world.", func(e *Effects) *Hint { return &e.Pure }},
		"independent": {"Its calls commute with all others.", func(e *Effects) *Hint { return &e.Independent }},
		"domain":      {"Its calls are ordered only against those of this domain and of none.", nil},
	}
}

// EffectMembers returns what each member of effects declares, by its name. Those that are true or
// false are hints; the other one is a text.
func EffectMembers() (hints, texts map[string]string) {
	hints, texts = map[string]string{}, map[string]string{}
	for name, m := range effectMembers() {
		if m.hint != nil {
			hints[name] = m.about
		} else {
			texts[name] = m.about
		}
	}
	return hints, texts
}

// effects reads the member effects, which takes precedence over the annotations.
func (p *parser) effects(v gjson.Result) {
	if v.Exists() && !v.IsObject() {
		p.errorf("/effects", "\"effects\" is an object like {\"readOnly\": true}, not %s", kindOf(v))
		return
	}
	members := effectMembers()
	v.ForEach(func(key, value gjson.Result) bool {
		member, ok := members[key.Str]
		switch pointer := "/effects/" + escape(key.Str); {
		case !ok:
			p.errorf(pointer, "there is no effect %q%s", key.Str, nearest(key.Str, members))
		case member.hint == nil:
			p.domain(value, pointer)
		case !value.IsBool():
			p.errorf(pointer, "effect %q is true or false, not %s", key.Str, value.Raw)
		default:
			*member.hint(&p.def.Effects) = hintOf(value)
		}
		return true
	})
	p.contradictions()
}

func (p *parser) domain(v gjson.Result, pointer string) {
	if v.Type != gjson.String || v.Str == "" {
		p.errorf(pointer, "effect \"domain\" is a name, not %s", v.Raw)
	}
	p.def.Effects.Domain = v.Str
}

// contradictions reports effects that can't be true together, and keeps the one that requires more
// care.
func (p *parser) contradictions() {
	e := &p.def.Effects
	if e.Destructive == Yes && e.ReadOnly == Yes {
		e.ReadOnly = No
		p.report(diag.FixedByTool, diag.Warning, "/effects", "declared both read-only and destructive; it counts as destructive")
	}
	if e.Pure == Yes && (e.ChangesWorld() || e.OpenWorld == Yes) {
		e.Pure = No
		p.report(diag.FixedByTool, diag.Warning, "/effects", "declared pure, but in contact with the world; it does not count as pure")
	}
}

func hintOf(v gjson.Result) Hint {
	if v.Bool() {
		return Yes
	}
	return No
}

// nearest returns the end of a message about an unknown name.
func nearest[V any](word string, known map[string]V) string {
	if best, ok := spell.Nearest(word, maps.Keys(known)); ok {
		return "; did you mean " + strconv.Quote(best) + "?"
	}
	return ""
}
