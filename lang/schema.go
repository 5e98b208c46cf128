package lang

import (
	"bytes"
	"encoding/json"
	"sync"
)

// A word is a member of objects in a plan. The readers accept exactly these names, and Schema
// describes them.
type word struct {
	name, about string
	schema      keywords // the schema of its value; nil is anything
}

// keywords are those of a JSON Schema.
type keywords map[string]any

func names(words []word) []string {
	list := make([]string, len(words))
	for i, w := range words {
		list[i] = w.name
	}
	return list
}

// The names of the members of a call, and of objects in it.
var (
	known      = sync.OnceValue(func() []string { return names(callMembers()) })
	inRetry    = sync.OnceValue(func() []string { return names(retryMembers()) })
	inUndo     = sync.OnceValue(func() []string { return names(undoMembers()) })
	inFallback = sync.OnceValue(func() []string { return names(fallbackMembers()) })
)

// Schemas of members.
func text() keywords        { return keywords{"type": "string"} }
func name() keywords        { return keywords{"type": "string", "minLength": 1} }
func truth() keywords       { return keywords{"type": "boolean"} }
func object() keywords      { return keywords{"type": "object"} }
func notNegative() keywords { return keywords{"type": "number", "minimum": 0} }
func list(of keywords) keywords {
	return keywords{"type": "array", "items": of}
}
func oneOf(words []string) keywords { return keywords{"enum": words} }
func refer(to string) keywords      { return keywords{"$ref": "#/definitions/" + to} }
func delay() keywords               { return keywords{"type": []string{"string", "number"}, "minimum": 0} }
func count() keywords {
	return keywords{"type": "integer", "minimum": 0, "maximum": maxRetries}
}

// objectOr returns the schema of an object, or of something else. It avoids alternatives, since
// editors give better messages without them.
func objectOr(of, other keywords) keywords {
	return keywords{"if": object(), "then": of, "else": other}
}

// callMembers returns the underscore members of a call.
func callMembers() []word {
	return []word{
		{"_tool", "The tool to call.", name()},
		{"_id", "The call's name within the plan. The default is the tool's name, with -2, -3 … for later calls of it.", name()},
		{"_outputPath", "Where the result goes: a path such as †state.profile; a && b writes both, a || b names alternative outcomes.", text()},
		{"_outputMethod", "How the result combines with what is there (default: set).", oneOf(methods())},
		{"_errorPath", "Where an error object goes if the call fails; then the failure is handled.", text()},
		{"_output", "The result, already known: such a call runs nothing. null means not made yet.", nil},
		{"_instance", "The instance that the call works on.", name()},
		{"_scopes", "What of the whiteboard the tool may see besides its params: kinds or paths.", list(text())},
		{"_delegate", "Runs another plan in isolation: a file below the folder of this one, a URL, or anonymous.", name()},
		{"_activity", "The implementation to use, when not the tool's own; \"\" leaves the call to a model.", text()},
		{"_dependsOn", "Ids of calls to wait for.", list(text())},
		{"_when", "The call runs only if this reference is present and neither null nor false.", text()},
		{"_retry", "Retries after a failure: how many, or how.", objectOr(closed(retryMembers(), "max"), count())},
		{"_timeout", "The time for one attempt: \"1.5s\" or seconds.", keywords{"type": []string{"string", "number"}, "exclusiveMinimum": 0}},
		{"_fallback", "Tried once after the last retry failed: a tool, or a call with params of its own.", objectOr(call(fallbackMembers()), name())},
		{"_onFailure", "What the run does when this call fails.", oneOf(failures())},
		{"_undo", "What takes the call back when the run is undone; null: nothing does.", undoable()},
		{"_approve", "A person has to approve this call; a text is the reason.", keywords{"type": []string{"boolean", "string"}}},
		{"_description", "What the call is for, for people and models.", text()},
		{"_reasoningForCall", "Why the call is made, for people.", text()},
		{"_expect", "A JSON Schema that the result must meet.", nil},
		{"_estimatedTokens", "How many tokens the call is estimated to use.", notNegative()},
		{"_estimatedCost", "What the call is estimated to cost.", notNegative()},
		{"_estimatedTime", "How long the call is estimated to take: \"90s\", or seconds.", delay()},
	}
}

// retryMembers returns the members of _retry.
func retryMembers() []word {
	return []word{
		{"max", "How many retries.", count()},
		{"delay", "The wait before the first retry (default 100ms).", delay()},
		{"factor", "By how much the wait grows (default 2).", keywords{"type": "number", "minimum": 1}},
		{"maxDelay", "The longest wait (default 30s).", delay()},
		{"jitter", "Vary the wait at random (default true).", truth()},
		{"on", "Codes of errors that are retried; all without it.", list(name())},
	}
}

// undoMembers returns the members of _undo.
func undoMembers() []word {
	return []word{
		{"tool", "The tool that is called.", name()},
		{"params", "Its params, with references to †params, †result, †key and †failure.", object()},
		{"whenUncertain", "It may be called when nobody knows whether the call did its work.", truth()},
	}
}

func undoable() keywords {
	return objectOr(closed(undoMembers(), "tool"), keywords{"type": "null"})
}

// fallbackMembers returns the underscore members of a call in _fallback. Those for people are not
// read.
func fallbackMembers() []word {
	return []word{
		{"_tool", "The tool to call.", name()},
		{"_activity", "The implementation to use, when not the tool's own.", text()},
		{"_timeout", "The time for its attempt: \"1.5s\" or seconds.", keywords{"type": []string{"string", "number"}, "exclusiveMinimum": 0}},
		{"_undo", "What takes it back when the run is undone; null: nothing does.", undoable()},
		{"_description", people, nil}, {"_reasoningForCall", people, nil}, {"_expect", people, nil},
		{"_estimatedTokens", people, nil}, {"_estimatedCost", people, nil}, {"_estimatedTime", people, nil},
	}
}

// planMembers returns the members of a plan message; plan and calls are the same.
func planMembers() []word {
	return []word{
		{"type", "What the message is: plan.", nil},
		{"mode", "When the plan runs: a lazy one is shown and approved first.", oneOf(modes())},
		{"onFailure", "What an unhandled failure does, unless --on-failure names another strategy.", oneOf(failures())},
		{"description", people, nil}, {"_call", people, nil}, {"_date", people, nil}, {"_outputMethod", people, nil},
		{"plan", "The calls, in order.", nil}, {"calls", "The same as plan.", nil},
	}
}

// planMessage returns the schema of a plan message. Of plan and calls the first one is read.
func planMessage() keywords {
	calls := objectOr(refer("solution"), list(refer("call")))
	s := described(planMembers())
	s["if"] = keywords{"required": []string{"plan"}}
	s["then"] = keywords{"properties": keywords{"plan": calls}}
	s["else"] = keywords{"required": []string{"calls"}, "properties": keywords{"calls": calls}}
	return s
}

// people is the description of members that plc does not read.
const people = "Not read by plc."

// solutionMembers returns the members of a solution.
func solutionMembers() []word {
	return []word{
		{"calls", "The calls, in order.", list(refer("call"))},
		{"output", "The output of the plan: any JSON, with references.", nil},
		{"onFailure", "What an unhandled failure does, unless --on-failure names another strategy.", oneOf(failures())},
		{"meta", "For other programs.", nil},
	}
}

// requestMembers returns the members of a request.
func requestMembers() []word {
	return []word{
		{"context", "Messages: tools, input, state, data.", keywords{"type": []string{"array", "null"}, "items": refer("message")}},
		{"schema", "The JSON Schema of the output.", nil},
		{"solution", "The plan.", objectOr(refer("solution"), keywords{"type": "null"})},
		{"type", people, nil},
		{"description", people, nil},
	}
}

// messageTypes returns the types of messages that plc reads.
func messageTypes() []string {
	return []string{"tool", "input", "state", "data", "plan", "text", "system", "error", "meta"}
}

// messageMembers returns the members of a message; other members are its payload.
func messageMembers() []word {
	return []word{
		{"type", "What the message is; one of another type is for others.", keywords{"anyOf": []keywords{oneOf(messageTypes()), text()}}},
		{"kind", "Of a data message: what references call it.", nil},
		{"schema", "The JSON Schema of the kind.", nil},
		{"_instance", "The instance that the message is about.", name()},
		{"tool", "A tool, or tools by name.", nil},
		{"input", "The input.", nil},
		{"state", "The initial state.", nil},
		{"data", "The value of the message.", nil},
	}
}

// described returns the schema of an object with these members, and any others.
func described(words []word, required ...string) keywords {
	properties := keywords{}
	for _, w := range words {
		of := w.schema
		if of["$ref"] != nil { // keywords beside $ref are ignored
			of = keywords{"allOf": []keywords{of}}
		}
		about := keywords{"description": w.about}
		for k, v := range of {
			about[k] = v
		}
		properties[w.name] = about
	}
	s := keywords{"type": "object", "properties": properties}
	if required != nil {
		s["required"] = required
	}
	return s
}

// closed returns the schema of an object with these members and no others.
func closed(words []word, required ...string) keywords {
	s := described(words, required...)
	s["additionalProperties"] = false
	return s
}

// call returns the schema of a call with these underscore members.
func call(words []word) keywords {
	s := closed(words, "_tool")
	s["patternProperties"] = keywords{"^($|[^_])": keywords{}}
	return s
}

// Schema returns the JSON Schema, of draft 7, of a plan in JSON or YAML. It is made from the tables
// with which plans are read, and accepts everything that Parse accepts. In a context, where Parse
// reads only one of several plans, it describes calls but accepts anything.
func Schema() (json.RawMessage, error) {
	callSchema := call(callMembers())
	callSchema["description"] = "A call of a tool. Members without an underscore are its params."
	// A schema can't express which of several plans counts.
	message := described(append(messageMembers(), word{"plan", "The calls, in order.", keywords{"anyOf": []keywords{list(refer("call")), {}}}},
		word{"mode", "When the plan runs: eager, or lazy: shown and approved first.", nil}), "type")
	has := func(name string, of keywords) keywords {
		return keywords{"required": []string{name}, "properties": keywords{name: of}}
	}
	schema := keywords{
		"$schema":     "http://json-schema.org/draft-07/schema#",
		"title":       "Plan of plc",
		"description": "A list of calls, a plan message, a solution, a list of messages, or a request.",
		"type":        []string{"array", "object"},
		"definitions": keywords{
			"call": callSchema, "message": message, "solution": described(solutionMembers(), "calls"),
			"plan": planMessage(), "request": described(requestMembers()),
			"answered": described(append(requestMembers(), solutionMembers()...)),
		},
		"if": keywords{"type": "array"},
		"then": keywords{
			"if":   keywords{"anyOf": []keywords{{"maxItems": 0}, {"contains": keywords{"required": []string{"_tool"}}}}},
			"then": keywords{"items": refer("call")},
			"else": keywords{"items": refer("message")},
		},
		"else": keywords{
			"if":   has("type", keywords{"enum": []string{"plan"}}),
			"then": refer("plan"),
			"else": keywords{
				"if": keywords{"anyOf": []keywords{has("context", keywords{"type": "array"}), has("solution", object())}},
				"then": keywords{
					"if":   keywords{"required": []string{"calls"}, "not": keywords{"required": []string{"solution"}}},
					"then": refer("answered"), "else": refer("request"),
				},
				"else": keywords{"if": keywords{"required": []string{"calls"}}, "then": refer("solution"), "else": refer("plan")},
			},
		},
	}
	var out bytes.Buffer
	enc := json.NewEncoder(&out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "\t")
	err := enc.Encode(schema)
	return out.Bytes(), err
}
