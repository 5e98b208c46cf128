package file

import (
	"reflect"

	"github.com/plc-lang/plc/internal/texttree"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/label"
)

// definition describes a definition, which package tool reads (plan-language §7).
func (r *reader) definition(v value) {
	v.named("definition", "A tool: a JSON Schema of its params, a tool of MCP, or a function of OpenAI.")
	if v.Kind == texttree.Boolean {
		v.describe("enum", []any{true})
		return
	}
	if !r.is(v, texttree.Object) {
		return
	}
	anything := func(value) {}
	v.shape.open = true
	r.members(v, map[string]set{
		"name":                 doc("The tool's name, when it is in a list.", anything),
		"title":                doc("A name for people.", anything),
		"description":          doc("What the tool does, for people and models.", anything),
		"type":                 doc("Of the params: an object. Or function, for one of OpenAI.", anything),
		"properties":           doc("The params by name, each a JSON Schema. _output is the schema of the result; other names with an underscore fix members of calls.", anything),
		"required":             doc("The params that must be given.", anything),
		"additionalProperties": doc("Whether there may be other params: false, or their JSON Schema.", anything),
		"inputSchema":          doc("The JSON Schema of the params, of a tool as MCP has it.", anything),
		"parameters":           doc("The JSON Schema of the params, of a function as OpenAI has it.", anything),
		"outputSchema":         doc("The JSON Schema of the result.", anything),
		"function":             doc("A function of OpenAI.", anything),
		"annotations":          doc("What MCP says of a tool: readOnlyHint, destructiveHint, idempotentHint, openWorldHint.", anything),
		"effects":              doc("What the tool does to the world.", r.effectMembers),
		"labels":               doc("What the tool gives and takes, for the policy on information.", func(v value) { emptyPolicy().tool(&section{reader: r}, v, "", label.Reject) }),
		"takes":                doc("How long a call usually takes, for forecasts: 1.5s, or a number of seconds.", r.duration(nil, 1)),
		"undo":                 doc("Which call takes a call of the tool back; null: none.", r.undo),
		"_outcomes":            doc("The names of alternative outcomes, or their schemas by name.", r.outcomes),
	})
	// The other members depend on the form of the definition: see tool.ParseDefinition.
	plain := keywords{"properties": keywords{
		"properties":           keywords{"type": "object", "properties": keywords{"_outcomes": keywords{}}, "additionalProperties": schemaOrTruth()},
		"required":             keywords{"type": "array", "items": keywords{"type": "string"}},
		"additionalProperties": schemaOrTruth(),
	}}
	outcomes := keywords{"type": []string{"array", "object"}, "minItems": 1, "minProperties": 1}
	plain["if"] = has("_outcomes", keywords{}) // _outcomes at the top replaces _outcomes among the properties
	plain["else"] = keywords{"properties": keywords{"properties": keywords{"properties": keywords{"_outcomes": outcomes}}}}
	v.describe("if", has("function", keywords{"type": "object"}).and(isFunction()),
		"then", keywords{"properties": keywords{"function": named(keywords{})}},
		"else", named(keywords{"if": isFunction(), "else": plain}))
}

// keywords are those of a JSON Schema.
type keywords map[string]any

func (k keywords) and(other keywords) keywords { return keywords{"allOf": []any{k, other}} }

// has returns the schema of objects with a member.
func has(name string, of keywords) keywords {
	return keywords{"required": []string{name}, "properties": keywords{name: of}}
}

func isFunction() keywords { return has("type", keywords{"enum": []string{"function"}}) }

func schemaOrTruth() keywords { return keywords{"type": []string{"object", "boolean"}} }

// named returns the schema of an object with the name and the description of a tool. Its params are
// in one of two members, or else as in plain.
func named(plain keywords) keywords {
	text := keywords{"type": "string"}
	return keywords{
		"properties": keywords{"name": text, "title": text, "description": text, "outputSchema": schemaOrTruth()},
		"if":         has("inputSchema", keywords{}),
		"then":       keywords{"properties": keywords{"inputSchema": schemaOrTruth()}},
		"else": keywords{
			"if":   has("parameters", keywords{}),
			"then": keywords{"properties": keywords{"parameters": schemaOrTruth()}},
			"else": plain,
		},
	}
}

// outcomes describes the outcomes of a definition.
func (r *reader) outcomes(v value) {
	v.describe("minItems", 1, "minProperties", 1)
	if v.Kind != texttree.Array {
		r.is(v, texttree.Object)
	}
}

// undo describes the member undo.
func (r *reader) undo(v value) {
	if v.Kind == texttree.Null {
		return
	}
	about := map[string]string{
		"tool": "The tool that is called.", "params": "Its params, with references to †params, †result, †key and †failure.",
		"whenUncertain": "It may be called when nobody knows whether the call did its work.",
	}
	known := map[string]set{}
	for name, t := range jsonFields(reflect.TypeFor[tool.Undo]()) {
		known[name] = doc(about[name], r.like(t))
	}
	known["params"] = doc(about["params"], func(v value) { r.is(v, texttree.Object) })
	v.needs("tool")
	r.members(v, known)
}

// effectMembers describes effects.
func (r *reader) effectMembers(v value) {
	v.named("effects", "What the tool does to the world.")
	hints, texts := tool.EffectMembers()
	known := map[string]set{}
	for name, about := range hints {
		known[name] = doc(about, r.flag(new(bool)))
	}
	for name, about := range texts {
		known[name] = doc(about, r.text(new(string)))
	}
	r.members(v, known)
}

// processDocs returns the descriptions of the members of a process.
func processDocs() map[string]string {
	return map[string]string{
		"command":    "The program and its arguments. {name} in an argument is a param.",
		"dir":        "The folder that it runs in; without it, the current one.",
		"env":        "Variables that are added to its environment.",
		"inheritEnv": "Variables that it gets from the environment of plc: AWS_* is all that begin so.",
		"stdin":      "What it reads: params (the default: a line of JSON), request (the whole request), none, or a text with params.",
		"output":     "What it writes: json (the default), text, or lines of text.",
		"allowDash":  "The params that may begin with a dash.",
		"allowCode":  "The params that may stand where an interpreter might run them, as after sh -c.",
		"okExit":     "Exit statuses that are no failure, besides 0.",
		"maxOutput":  "Bytes of output at most.",
		"maxStderr":  "Bytes of standard error that a message quotes.",
		"grace":      "The time between SIGTERM and SIGKILL, as in 2s.",
	}
}

// httpDocs returns the descriptions of the members of an HTTP request.
func httpDocs() map[string]string {
	return map[string]string{
		"method":       "The method; the default is GET.",
		"url":          "The URL. {name} is a param.",
		"query":        "What is added to the query of the URL; {name} is a param.",
		"headers":      "Headers of the request; {name} is a param.",
		"body":         "A text, or JSON with params in its texts. Without it, the params that are used nowhere else are sent.",
		"timeout":      "The time for one attempt, as in 5s.",
		"maxBytes":     "Bytes of an answer at most.",
		"allowHosts":   "The only hosts that may be asked; *.example is all below it.",
		"allowPrivate": "Private addresses may be asked.",
		"result":       "The result: json, text, or full (status, headers and body). Without it, JSON if the server says so, else a text.",
		"proxy":        "The URL of a proxy.",
	}
}
