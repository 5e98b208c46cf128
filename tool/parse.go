package tool

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/internal/spell"
	"github.com/plc-lang/plc/schemas"
)

// The limits of a definition: a param may have a compiled schema of its own.
const (
	maxParams = 4096
	maxBytes  = 4 << 20
)

// ParseDefinition reads a definition in any of the accepted forms: a JSON Schema
// object or true, an MCP tool, an OpenAI-style function, wrapped or bare
// (plan-language §7). All forms may have effects, takes and _outcomes at the top, and
// underscore members among their properties.
//
// The tool's name is the definition's name, else its properties._tool.const, else the name given
// here (the key of a map of definitions), else its title.
//
// It returns nil only together with an error finding. An invalid schema or definition is
// diag.BadSchema; a limit that no call can meet, or effects that contradict each other, are
// diag.FixedByTool; an unknown underscore member is diag.UnknownMember, a warning. Findings are at
// loc, with the JSON Pointer of the fault in raw.
func ParseDefinition(raw json.RawMessage, name string, loc diag.Loc) (*Definition, diag.List) {
	p := &parser{def: &Definition{Loc: loc, Raw: raw, Pointer: map[string]string{}}, called: name}
	if p.wellFormed(raw) {
		p.definition(gjson.ParseBytes(raw))
	}
	if p.findings.HasErrors() {
		return nil, p.findings
	}
	return p.def, p.findings
}

// IsDefinition reports whether a JSON object is a definition rather than a map
// from names to definitions: it has a string type, inputSchema or parameters
// (plan-language §1).
func IsDefinition(raw json.RawMessage) bool {
	v := gjson.ParseBytes(raw)
	return v.IsObject() &&
		(v.Get("type").Type == gjson.String || v.Get("inputSchema").Exists() || v.Get("parameters").Exists())
}

// parser reads one definition.
type parser struct {
	def      *Definition
	called   string // the name that the definition has outside of itself
	findings diag.List
}

// source is a schema inside a document.
type source struct {
	doc   json.RawMessage // "$ref"s are resolved in it
	at    string          // JSON Pointer of the schema in doc
	shown string          // JSON Pointer of the schema in the definition
}

// member returns the schema below s at a name.
func (s source) member(name string) source {
	name = "/" + escape(name)
	return source{s.doc, s.at + name, s.shown + name}
}

// find returns the place in the definition that corresponds to a place in the document. If it is
// elsewhere in the document (behind a "$ref"), find returns the place of the schema that refers to
// it.
func (s source) find(pointer string) string {
	tail, _ := strings.CutPrefix(pointer, s.at)
	return s.shown + tail
}

func (p *parser) report(code diag.Code, sev diag.Severity, pointer, format string, args ...any) {
	msg := fmt.Sprintf(format, args...)
	if name := cmp.Or(p.def.Name, p.called); name != "" {
		msg = fmt.Sprintf("tool %q: %s", name, msg)
	}
	p.findings = append(p.findings, diag.Finding{
		Code: code, Severity: sev, Loc: p.def.Loc, Message: msg, Pointer: pointer,
	})
}

func (p *parser) errorf(pointer, format string, args ...any) {
	p.report(diag.BadSchema, diag.Error, pointer, format, args...)
}

// limitf reports a limit that is invalid or that no call can meet.
func (p *parser) limitf(pointer, format string, args ...any) {
	p.report(diag.FixedByTool, diag.Error, pointer, format, args...)
}

// wellFormed reports whether raw is valid JSON within the bounds, which the rest of the parser
// relies on.
func (p *parser) wellFormed(raw json.RawMessage) bool {
	err := jsonscan.Check(raw, jsonscan.Limits{MaxBytes: maxBytes})
	if err == nil {
		return true
	}
	code := diag.NotJSON
	if e, ok := err.(*jsonscan.Error); ok {
		switch e.Kind {
		case jsonscan.Duplicate:
			code = diag.DuplicateMember
		case jsonscan.Limit:
			code = diag.OverLimit
		}
	}
	p.report(code, diag.Error, "", "%v", err)
	return false
}

func (p *parser) definition(v gjson.Result) {
	switch {
	case v.Type == gjson.True:
		p.def.Name = p.called
	case !v.IsObject():
		p.errorf("", "a definition is an object, not %s", kindOf(v))
		return
	}
	f := formOf(v)
	f.doc = forParams(f.params)
	p.besideProperties(f)
	p.names(f)
	p.params(f)
	if s := f.top.Get("outputSchema"); s.Exists() {
		p.def.Output = p.compile(source{json.RawMessage(s.Raw), "", f.prefix + "/outputSchema"})
	}
	p.outcomes(f)
	p.annotations(f.top.Get("annotations"), f.prefix+"/annotations")
	p.effects(v.Get("effects"))
	p.takes(v.Get("takes"))
	p.undo(v.Get("undo"))
}

// takes reads how long calls usually take.
func (p *parser) takes(v gjson.Result) {
	if !v.Exists() {
		return
	}
	d, err := time.ParseDuration(v.Str)
	if v.Type == gjson.Number && v.Num < maxTakes.Seconds() {
		d, err = time.Duration(v.Num*float64(time.Second)), nil
	}
	if err != nil || d <= 0 || d > maxTakes {
		p.errorf("/takes", "\"takes\" is a duration above 0 and up to a year, such as \"1.5s\", or seconds, not %s", v.Raw)
		return
	}
	p.def.Takes = d
}

// maxTakes is the longest duration that a definition may give.
const maxTakes = 366 * 24 * time.Hour

// besideProperties warns about underscore members in places where they have no effect.
func (p *parser) besideProperties(f form) {
	places := []source{{doc: json.RawMessage(f.top.Raw), shown: f.prefix}}
	if f.shown != f.prefix {
		places = append(places, source{doc: json.RawMessage(f.params.Raw), shown: f.shown})
	}
	for _, at := range places {
		gjson.ParseBytes(at.doc).ForEach(func(key, _ gjson.Result) bool {
			if name := key.Str; strings.HasPrefix(name, "_") && name != "_meta" && name != "_outcomes" {
				p.report(diag.BadSchema, diag.Warning, at.member(name).shown,
					"%q means nothing here; what is fixed for calls stands in \"properties\", as in {%q: {\"const\": …}}", name, name)
			}
			return true
		})
	}
}

// form is the form of a definition.
type form struct {
	whole  gjson.Result    // the definition
	top    gjson.Result    // the object that has the name and the description
	prefix string          // JSON Pointer of top
	params gjson.Result    // the schema of the params as it was given
	shown  string          // JSON Pointer of params
	doc    json.RawMessage // the params as they are compiled: see forParams
	plain  bool            // the definition itself is the schema of the params
}

// noParams is the schema of a function that lists no parameters: it takes none.
const noParams = `{"type":"object","additionalProperties":false}`

func formOf(v gjson.Result) form {
	f := form{whole: v, top: v}
	function := v.Get("type").Str == "function"
	if inner := v.Get("function"); function && inner.IsObject() {
		f.top, f.prefix = inner, "/function"
	}
	for _, member := range []string{"inputSchema", "parameters"} {
		if f.params = f.top.Get(member); f.params.Exists() {
			f.shown = f.prefix + "/" + member
			return f
		}
	}
	if function {
		f.params, f.shown = gjson.Parse(noParams), f.prefix
	} else {
		f.params, f.plain = v, true
	}
	return f
}

func (p *parser) names(f form) {
	d := p.def
	constant := f.params.Get("properties._tool.const")
	own := cmp.Or(p.text(f, "name"), constant.Str)
	d.Name = cmp.Or(own, p.called)
	d.Title = cmp.Or(p.text(f, "title"), f.top.Get("annotations.title").Str)
	d.Name = cmp.Or(d.Name, d.Title)
	d.Description = p.text(f, "description")
	switch {
	case d.Name == "":
		p.errorf("", "the tool has no name; give it a member \"name\"")
	case constant.Type == gjson.String && constant.Str != d.Name:
		p.limitf(f.shown+"/properties/_tool/const", "_tool is fixed to %q, so that no call can name the tool", constant.Str)
	case p.called != "" && own != "" && own != p.called:
		p.report(diag.BadSchema, diag.Warning, f.prefix, "it is listed as %q; calls must name it %q", p.called, own)
	}
}

// text returns a member that must be a string.
func (p *parser) text(f form, member string) string {
	m := f.top.Get(member)
	if m.Exists() && m.Type != gjson.String {
		p.errorf(f.prefix+"/"+member, "%q is a string, not %s", member, kindOf(m))
	}
	return m.Str
}

// params reads the object schema whose properties are the params and the
// underscore members.
func (p *parser) params(f form) {
	src := source{doc: f.doc, shown: f.shown}
	if p.def.Params = p.compile(src); p.def.Params == nil {
		return
	}
	v := gjson.ParseBytes(src.doc)
	p.def.Closed = v.Get("additionalProperties").Type == gjson.False || v.Get("unevaluatedProperties").Type == gjson.False
	p.def.Param = map[string]*schemas.Schema{}
	p.def.Fixed = map[string]*Fixed{}
	v.Get("properties").ForEach(func(key, value gjson.Result) bool {
		return p.property(src.member("properties").member(key.Str), key.Str, value)
	})
	v.Get("required").ForEach(func(_, name gjson.Result) bool {
		p.def.Required = append(p.def.Required, name.Str)
		return true
	})
	f.params.Get("required").ForEach(func(_, name gjson.Result) bool {
		p.requireMember(name.Str, source{shown: f.shown}.member("required"))
		return true
	})
}

// requireMember notes an underscore member that a call must have.
func (p *parser) requireMember(name string, src source) {
	switch fixed := p.def.Fixed[name]; {
	case !strings.HasPrefix(name, "_") || name == "_tool" || name == "_output" || name == "_outcomes":
	case fixed != nil:
		fixed.Required = true
	default:
		p.knownMember(name, src)
		p.def.Fixed[name] = &Fixed{Required: true}
	}
}

// property reads a property: a param or an underscore member.
func (p *parser) property(src source, name string, value gjson.Result) bool {
	if len(p.def.Param)+len(p.def.Fixed) == maxParams {
		p.report(diag.OverLimit, diag.Error, src.shown, "more than %d params", maxParams)
		return false
	}
	if strings.HasPrefix(name, "_") {
		p.fixed(src, name, value)
		return true
	}
	if _, twice := p.def.Param[name]; !twice {
		p.def.order = append(p.def.order, name)
		p.noteText(name, value)
	}
	p.def.Param[name] = p.param(src, name, value)
	p.def.Pointer[name] = src.shown
	return true
}

// param returns the schema of a param. Most are found in the schema of all params, which is already
// compiled; a schema that allows everything needs no document.
func (p *parser) param(src source, name string, value gjson.Result) *schemas.Schema {
	if s, _ := p.def.Params.At(schemas.Step{Name: name}); s != nil {
		if _, at := s.JSON(); at == src.at {
			return s
		}
	}
	if value.Type == gjson.True || value.Raw == "{}" {
		return p.compile(source{doc: json.RawMessage("true"), shown: src.shown})
	}
	return p.compile(src)
}

// compile compiles a schema, or reports its fault. It warns about parts that are not enforced.
func (p *parser) compile(src source) *schemas.Schema {
	s, err := schemas.Compile(src.doc, &schemas.Options{Pointer: src.at})
	if err != nil {
		shown, msg := src.shown, err.Error()
		if e, ok := err.(*schemas.SchemaError); ok {
			shown, msg = src.find(e.Pointer), cmp.Or(noType(src.doc, e.Pointer), e.Message)
		}
		p.errorf(shown, "not a schema: %s", msg)
		return nil
	}
	for _, w := range s.Warnings() {
		shown := src.find(w.Pointer)
		known := func(f diag.Finding) bool { return f.Pointer == shown && f.Severity == diag.Warning }
		if !slices.ContainsFunc(p.findings, known) {
			p.report(diag.BadSchema, diag.Warning, shown, "%s", w.Message)
		}
	}
	return s
}

// noType returns the type that was probably meant, if the fault of a schema is a misspelt or
// abbreviated "type"; else "".
func noType(doc json.RawMessage, pointer string) string {
	parent, ok := strings.CutSuffix(pointer, "/type")
	if !ok {
		return ""
	}
	v := gjson.ParseBytes(doc)
	for _, token := range strings.Split(parent, "/")[1:] {
		v = v.Get(gjson.Escape(jsonscan.UnescapePointer(token)))
	}
	types := []string{"null", "boolean", "number", "integer", "string", "array", "object"}
	for _, said := range v.Get("type").Array() {
		if said.Type != gjson.String || slices.Contains(types, said.Str) {
			continue
		}
		best, ok := spell.Nearest(said.Str, slices.Values(types))
		if i := slices.IndexFunc(types, func(t string) bool { return len(said.Str) > 2 && strings.HasPrefix(t, said.Str) }); !ok && i >= 0 {
			best, ok = types[i], true
		}
		if ok {
			return fmt.Sprintf("%q is no type; did you mean %q?", said.Str, best)
		}
	}
	return ""
}

// forParams returns the schema document of the params, which is the given one if possible.
// Underscore members may stay among the properties, since params never have them; but they must not
// be required as params, and the outcomes, which may not be a schema, move to the top.
func forParams(given gjson.Result) json.RawMessage {
	outcomes := given.Get("properties._outcomes")
	drop := outcomes.Exists()
	given.Get("required").ForEach(func(_, name gjson.Result) bool {
		drop = drop || strings.HasPrefix(name.Str, "_")
		return !drop
	})
	if !drop {
		return json.RawMessage(given.Raw)
	}
	change := map[string]func(gjson.Result) string{
		"properties": func(v gjson.Result) string { return without(v, "_outcomes") },
		"required":   withoutUnderscore,
	}
	if !outcomes.Exists() {
		return json.RawMessage(rewrite(given, change))
	}
	change["_outcomes"] = func(gjson.Result) string { return "" }
	return json.RawMessage(`{"_outcomes":` + outcomes.Raw + "," + strings.TrimPrefix(rewrite(given, change), "{"))
}

// rewrite returns an object with some members changed, or left out where they become ""; the rest
// is kept to the byte.
func rewrite(v gjson.Result, change map[string]func(gjson.Result) string) string {
	return collect(v, func(key, value gjson.Result) string {
		if f := change[key.Str]; f != nil {
			if value.Raw = f(value); value.Raw == "" {
				return ""
			}
		}
		return key.Raw + ":" + value.Raw
	})
}

// without returns an object without the member of this name.
func without(v gjson.Result, name string) string {
	if !v.IsObject() {
		return v.Raw
	}
	return collect(v, func(key, value gjson.Result) string {
		if key.Str == name {
			return ""
		}
		return key.Raw + ":" + value.Raw
	})
}

// withoutUnderscore returns an array of names without those of underscore members.
func withoutUnderscore(v gjson.Result) string {
	if !v.IsArray() {
		return v.Raw
	}
	return collect(v, func(_, name gjson.Result) string {
		if strings.HasPrefix(name.Str, "_") {
			return ""
		}
		return name.Raw
	})
}

// collect returns an object or array of the non-empty texts that f makes of each entry.
func collect(v gjson.Result, f func(key, value gjson.Result) string) string {
	var kept []string
	v.ForEach(func(key, value gjson.Result) bool {
		if s := f(key, value); s != "" {
			kept = append(kept, s)
		}
		return true
	})
	if v.IsArray() {
		return "[" + strings.Join(kept, ",") + "]"
	}
	return "{" + strings.Join(kept, ",") + "}"
}

// escape returns a name as a token of a JSON Pointer (RFC 6901).
func escape(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

// kindOf returns the kind of a value, with its article: "an object".
func kindOf(v gjson.Result) string {
	switch {
	case v.IsObject():
		return "an object"
	case v.IsArray():
		return "an array"
	case v.Type == gjson.String:
		return "a string"
	case v.Type == gjson.Number:
		return "a number"
	case v.Type == gjson.Null:
		return "null"
	}
	return "a boolean"
}
