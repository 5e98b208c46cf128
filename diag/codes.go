package diag

//go:generate go run ./internal/explaingen

import "fmt"

// Code is the stable number of a kind of finding (plan-language §11). Numbers
// are never reused.
type Code uint16

// String returns the code in the form in which it is shown: PLC302.
func (c Code) String() string { return fmt.Sprintf("PLC%03d", uint16(c)) }

// MarshalText returns the code in the form that a finding's JSON has.
func (c Code) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// The codes.
//
// Their comments are the source of the output of plc explain and of docs/codes; go generate makes
// both. Each comment has a sentence, which ends in (warning) or (info) if findings of that code are
// not errors; an explanation; under Example, the smallest document that has this finding and no
// other that is as severe; and a Cure. An example is a sequence of files, each headed by "-- name
// --". It is checked with
//
//	plc check plan.json
//
// and --tools tools.yaml if there is such a file, unless a first section "-- args --" has other
// arguments. "Example: none" is for a code that no document can have. The file is long because it
// is a table with one entry for each code.
const (
	// NotJSON is text that is not JSON.
	//
	// A document is JSON, with comments and trailing commas allowed, in UTF-8. Reading stopped at
	// the place shown, and nothing after it was checked.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"type": "tool", "tool": {"greet": {"properties": {"name": {"type": "string"}}, "required": ["name"]}}},
	//	  {"type": "plan", "plan": [
	//	    {"_tool": "greet" "name": "Ada"}
	//	  ]}
	//	]
	//
	// Cure: correct the text at the place shown, here with a comma after "greet". If the text is
	// the raw answer of a model, --from llm repairs faults that can be repaired safely.
	NotJSON Code = 101

	// DuplicateMember is a member name that appears twice in one object.
	//
	// Programs that read JSON disagree about which of the two counts, so a different plan might run
	// than the one that was approved. Both places are shown.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"type": "tool", "tool": {"greet": {"properties": {"name": {"type": "string"}}, "required": ["name"]}}},
	//	  {"type": "plan", "plan": [
	//	    {"_tool": "greet", "name": "Ada", "name": "Bob"}
	//	  ]}
	//	]
	//
	// Cure: remove one of the two, or rename it.
	DuplicateMember Code = 102

	// OverLimit is a document that exceeds a limit: its size, its depth or its number of calls.
	//
	// A document has at most 64 MiB, 256 levels of nesting and 1,000,000 calls, so that a small
	// file can't use up the machine that reads it. The work of checking all its values against
	// their schemas is limited as well; only schemas that were made for that purpose exceed this
	// limit.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"type": "tool", "tool": {"greet": {"properties": {"name": {"type": "string"}}, "required": ["name"]}}},
	//	  {"type": "plan", "plan": [
	//	    {"_tool": "greet", "name": "Ada", "deep":
	//	[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[
	//	[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[
	//	[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[
	//	[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[
	//	]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]
	//	]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]
	//	]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]
	//	]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]
	//	    }
	//	  ]}
	//	]
	//
	// Cure: make the document smaller: move large data into the input, and move parts of a large
	// plan into separate plans to which calls delegate.
	OverLimit Code = 103

	// Mended is a model's text that was repaired so that it could be read (warning).
	//
	// With --from llm the text may be a raw answer: prose and code fences around the plan are
	// skipped, and small faults, such as strings in single quotes, are repaired. Each repair is
	// reported, since the model may have meant something else; nothing is repaired silently.
	//
	// Example:
	//
	//	-- args --
	//	check answer.txt --from llm
	//	-- answer.txt --
	//	Here is the plan:
	//
	//	```json
	//	[
	//	  {"type": "tool", "tool": {"greet": {"properties": {"name": {"type": "string"}}, "required": ["name"]}}},
	//	  {"type": "plan", "plan": [
	//	    {"_tool": 'greet', "name": "Ada"}
	//	  ]}
	//	]
	//	```
	//
	// Cure: check the repaired text, and write it as valid JSON, here with double quotes.
	Mended Code = 104

	// NotAPlan is JSON that is not a plan.
	//
	// A document is a list of calls, a plan message, a solution, a context or a request. They are
	// distinguished by their form; this document has none of these forms.
	//
	// Example:
	//
	//	-- plan.json --
	//	{"greet": {"name": "Ada"}}
	//
	// Cure: write the calls as a list of objects with _tool, here [{"_tool": "greet", "name":
	// "Ada"}]. To read another notation, use --from.
	NotAPlan Code = 105

	// BadNotation is text that is not valid in its notation.
	//
	// A plan in another notation (--from) is read exactly: text outside the grammar is neither
	// interpreted nor dropped. The finding is at the place where reading failed; the steps after it
	// are still read.
	//
	// Example:
	//
	//	-- args --
	//	check plan.txt --from rewoo
	//	-- plan.txt --
	//	Plan: Look it up. #E1 = Search[top speed of a cheetah
	//	Plan: Convert it. #E2 = Calculator[#E1 in km/h]
	//
	// Cure: write it in the form that the notation requires, here with the bracket that closes
	// Search[ .
	BadNotation Code = 106

	// PassedOver is text that is not part of the plan (warning).
	//
	// Models put sentences and code fences around the plans that they write. Text before the first
	// step and after the last is skipped, and is reported so that no step is lost unnoticed. The
	// same goes for members of a document, or of another client's configuration, that plc doesn't
	// read. Such a finding is an info, which --verbose shows, unless the name is similar to one
	// that plc reads.
	//
	// Example:
	//
	//	-- args --
	//	check plan.txt --from rewoo
	//	-- plan.txt --
	//	Here you are.
	//	Plan: Look it up. #E1 = Search[top speed of a cheetah]
	//
	// Cure: remove it if it is not part of the plan.
	PassedOver Code = 107

	// PerhapsCutOff is a plan in another notation without its end (warning).
	//
	// Plans in this notation have a certain ending. Without it, the plan may have been cut off, and
	// steps may be missing.
	//
	// Example:
	//
	//	-- args --
	//	check plan.txt --from rewoo
	//	-- plan.txt --
	//	Plan: Look it up. #E1 = Search[top speed of a cheetah]
	//	Plan: Convert it to
	//
	// Cure: have the plan completed, here with a step for the second Plan.
	PerhapsCutOff Code = 108

	// CannotSay is a part of a plan that another notation can't express.
	//
	// Our notation can express more than most others: retries, branches, references to parts of
	// results. plc convert --to writes a plan only if the other notation can express all of it, so
	// that reading it back gives the same graph.
	//
	// Example:
	//
	//	-- args --
	//	convert plan.json --to rewoo
	//	-- plan.json --
	//	[
	//	  {"_tool": "Search", "input": "cheetah", "_timeout": "5s"}
	//	]
	//
	// Cure: leave out the part that the other notation can't express, or don't convert the plan.
	CannotSay Code = 109

	// BadExpression is an expression that does not parse.
	//
	// A string that starts with † is a reference or an expression as a whole, and so is the text
	// between †{ and }. Names follow a dot, or are in brackets and quotes if they contain dots,
	// spaces or punctuation.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"type": "tool", "tool": {"greet": {"properties": {"name": {"type": "string"}}, "required": ["name"]}}},
	//	  {"type": "input", "input": {"name": "Ada"}},
	//	  {"type": "plan", "plan": [
	//	    {"_tool": "greet", "name": "†input..name"}
	//	  ]}
	//	]
	//
	// Cure: correct the expression at the place shown, here †input.name. Write text that must start
	// with a † with two of them: ††.
	BadExpression Code = 110

	// MixedOperators is || and && mixed without parentheses.
	//
	// Neither operator has precedence over the other: a || b && c can mean two things, and they
	// differ in when a call runs.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"type": "tool", "tool": {"greet": {"properties": {"name": {"type": "string"}}, "required": ["name"]}}},
	//	  {"type": "input", "input": {"title": "Dr", "name": "Ada"}},
	//	  {"type": "plan", "plan": [
	//	    {"_tool": "greet", "name": "†input.title && †input.name || 'friend'"}
	//	  ]}
	//	]
	//
	// Cure: put parentheses around the part that belongs together, here (†input.title &&
	// †input.name) || 'friend'.
	MixedOperators Code = 111

	// BareDagger is a bare † inside longer text (warning).
	//
	// A reference inside text is only replaced between †{ and }. Without the braces it stays text,
	// which is seldom intended. In a plan that a model wrote (--from llm, plc solve) it is an
	// error.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"type": "tool", "tool": {"greet": {"properties": {"name": {"type": "string"}}, "required": ["name"]}}},
	//	  {"type": "input", "input": {"name": "Ada"}},
	//	  {"type": "plan", "plan": [
	//	    {"_tool": "greet", "name": "my friend †input.name"}
	//	  ]}
	//	]
	//
	// Cure: write the reference in braces, here †{input.name}. If the text is intended, it needs no
	// change.
	BareDagger Code = 112

	// NearReference is literal text that looks like a reference (warning).
	//
	// The text is taken literally, as its notation requires. But a reference may have been
	// intended: in our own notation, the text is a path that some call writes or that has an
	// initial value, without its dagger or in the syntax of another notation ("state.user",
	// "$state.user", "${state.user}", "{{state.user}}", "{state.user}"). In a plan that a model
	// wrote (--from llm, plc solve) that is an error.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"type": "tool", "tool": {"greet": {"properties": {"name": {"type": "string"}}, "required": ["name"]}}},
	//	  {"type": "input", "input": {"name": "Ada"}},
	//	  {"type": "plan", "plan": [
	//	    {"_tool": "greet", "name": "{{input.name}}"}
	//	  ]}
	//	]
	//
	// Cure: write the reference in the notation's syntax, here †input.name. If the text is
	// intended, it needs no change; where that is an error, write it as a literal in braces,
	// †{'{{input.name}}'}.
	NearReference Code = 113

	// UnknownTool is a tool that nobody defines.
	//
	// Tools are defined by tool files, MCP servers, Go code and the tool messages of the
	// document. A call to a tool without a definition can't be checked, and never runs.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"type": "tool", "tool": {"greet": {"properties": {"name": {"type": "string"}}, "required": ["name"]}}},
	//	  {"type": "plan", "plan": [
	//	    {"_tool": "gret", "name": "Ada"}
	//	  ]}
	//	]
	//
	// Cure: correct the name, here greet, or define the tool. plc tools lists the known tools.
	UnknownTool Code = 201

	// NoTool is a call without _tool.
	//
	// Every element of a plan is a call, and a call names its tool in _tool.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"type": "tool", "tool": {"greet": {"properties": {"name": {"type": "string"}}, "required": ["name"]}}},
	//	  {"type": "plan", "plan": [
	//	    {"name": "Ada"}
	//	  ]}
	//	]
	//
	// Cure: add the member, here "_tool": "greet".
	NoTool Code = 202

	// UnknownMember is an underscore member that the language does not have.
	//
	// Members of a call that begin with an underscore belong to the language; all others are
	// params. Without this finding, a misspelled member would silently have no effect.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"type": "tool", "tool": {"greet": {"properties": {"name": {"type": "string"}}, "required": ["name"]}}},
	//	  {"type": "plan", "plan": [
	//	    {"_tool": "greet", "name": "Ada", "_outputpath": "†state.greeting"}
	//	  ]}
	//	]
	//
	// Cure: correct the name, here _outputPath. A param of a tool can't begin with an underscore.
	UnknownMember Code = 203

	// DuplicateID is an _id that two calls have.
	//
	// The _id is the name of a call in _dependsOn, in the record and in findings, so it must
	// belong to one call of the plan. Calls without one get an unused name.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"_tool": "greet", "_id": "hello", "name": "Ada", "_outputPath": "†state.ada"},
	//	  {"_tool": "greet", "_id": "hello", "name": "Bob", "_outputPath": "†state.bob"}
	//	]
	//	-- tools.yaml --
	//	tools:
	//	  greet:
	//	    properties: {name: {type: string}}
	//	    required: [name]
	//	    effects: {readOnly: true}
	//
	// Cure: rename one of the two calls, or leave its _id out.
	DuplicateID Code = 204

	// MissingParam is a required param that is missing.
	//
	// The definition of the tool lists the param under required, and the call does not give
	// it.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"type": "tool", "tool": {"greet": {"properties": {"name": {"type": "string"}}, "required": ["name"]}}},
	//	  {"type": "plan", "plan": [
	//	    {"_tool": "greet"}
	//	  ]}
	//	]
	//
	// Cure: give the param a value or a reference, here "name": "Ada".
	MissingParam Code = 205

	// UnknownParam is a param that the tool does not have.
	//
	// The definition of the tool says additionalProperties: false, and does not declare the
	// param. If other params are allowed, the finding is a warning. It is then reported only if the
	// name is similar to that of a declared param that the call doesn't give.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"type": "tool", "tool": {"greet": {"properties": {"name": {"type": "string"}}, "required": ["name"],
	//	    "additionalProperties": false}}},
	//	  {"type": "plan", "plan": [
	//	    {"_tool": "greet", "name": "Ada", "colour": "red"}
	//	  ]}
	//	]
	//
	// Cure: correct the name of the param, or remove it.
	UnknownParam Code = 206

	// BadMember is an underscore member with a wrong value.
	//
	// Each underscore member has its own type: _retry is a number of retries or an object, _timeout
	// is a duration, _dependsOn is a list of names. An undo may refer to params, result, key and
	// failure; with whenUncertain, it must not refer to result.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"type": "tool", "tool": {"greet": {"properties": {"name": {"type": "string"}}, "required": ["name"]}}},
	//	  {"type": "plan", "plan": [
	//	    {"_tool": "greet", "name": "Ada", "_retry": "twice"}
	//	  ]}
	//	]
	//
	// Cure: give the member an allowed value, here "_retry": 2.
	BadMember Code = 207

	// FixedByTool is a member with a value that its tool doesn't allow.
	//
	// The definition of a tool may fix or limit the underscore members of its calls with const,
	// enum or pattern, and name its outcomes. The call has another value.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"type": "tool", "tool": {"remember": {"properties": {
	//	    "text": {"type": "string"}, "_outputPath": {"const": "†state.memory"}}}}},
	//	  {"type": "plan", "plan": [
	//	    {"_tool": "remember", "text": "buy milk", "_outputPath": "†state.note"}
	//	  ]}
	//	]
	//
	// Cure: use a value that the definition allows, or leave the member out where the
	// definition fixes it.
	FixedByTool Code = 208

	// UnknownActivity is an activity that nothing implements.
	//
	// The call or its tool names an activity as its implementation, but no tool file, MCP server or
	// Go code has an activity with that name. A call without _activity may have no implementation;
	// a call with _activity must have one.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"type": "tool", "tool": {"greet": {"properties": {"name": {"type": "string"}}, "required": ["name"]}}},
	//	  {"type": "plan", "plan": [
	//	    {"_tool": "greet", "name": "Ada", "_activity": "greetLoudly"}
	//	  ]}
	//	]
	//
	// Cure: correct the name, add the activity to a tool file, or leave _activity out.
	UnknownActivity Code = 209

	// AmbiguousTool is a name that tools of several servers have (warning).
	//
	// Two MCP servers, or a server and the tool file, have tools with the same name. In the plan,
	// the name means the tool in the tool file; if only servers have it, it means none. Each tool
	// of a server can be called as server.tool.
	//
	// Example:
	//
	//	-- args --
	//	check plan.json --tools tools.yaml --lock plc.lock.json
	//	-- plan.json --
	//	[
	//	  {"_tool": "docs.search", "query": "oslo", "_outputPath": "†state.found"}
	//	]
	//	-- tools.yaml --
	//	mcpServers:
	//	  docs: {command: docs-server}
	//	  web: {command: web-server}
	//	-- plc.lock.json --
	//	{"plc": "lock", "version": 1, "servers": {
	//	  "docs": {"tools": [{"name": "search",
	//	    "digest": "sha256:c1a9616ea935dfb24fbde9e6611b83626faba46975f99c0dbb701fc8f5fab982",
	//	    "definition": {"name": "search", "description": "Searches the docs.",
	//	      "inputSchema": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
	//	      "annotations": {"readOnlyHint": true}}}]},
	//	  "web": {"tools": [{"name": "search",
	//	    "digest": "sha256:d6f5d032cf358f71f64f8c4d6a9cfc886631accadf19ad7554b5296e70374228",
	//	    "definition": {"name": "search", "description": "Searches the web.",
	//	      "inputSchema": {"type": "object", "properties": {"query": {"type": "string"}}, "required": ["query"]},
	//	      "annotations": {"readOnlyHint": true}}}]}
	//	}}
	//
	// Cure: call the tool as server.tool, or specify the intended one in a tool file: activities:
	// {search: {mcp: {server: docs, tool: search}}}.
	AmbiguousTool Code = 210

	// NotOffered is a tool defined in the plan that uses an activity not offered to plans.
	//
	// A plan may come from a model. The tools that it defines itself must be latent, or use
	// activities for which the tool file says offer: true. All other activities are only for the
	// tools of the tool file.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"type": "tool", "tool": {"tidy": {"properties": {"_activity": {"const": "wipe"}}}}},
	//	  {"type": "plan", "plan": [
	//	    {"_tool": "tidy"}
	//	  ]}
	//	]
	//	-- tools.yaml --
	//	activities:
	//	  wipe: {process: [./wipe.sh]}
	//
	// Cure: call the tool that uses the activity, or offer the activity to plans in the tool file:
	// wipe: {process: [./wipe.sh], offer: true}.
	NotOffered Code = 211

	// ReservedName is a tool with a name that the language reserves.
	//
	// The names choose, forEach, reduce and repeat mean the same in every plan. A tool of an MCP
	// server with such a name can only be called as server.choose. The names step and join are
	// called by plans in other notations; only tool files may define them, not plans or MCP
	// servers.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"type": "tool", "tool": {"choose": {"properties": {"colour": {"type": "string"}}}}},
	//	  {"type": "plan", "plan": []}
	//	]
	//
	// Cure: give the tool another name.
	ReservedName Code = 212

	// UnknownKind is a reference to a kind that does not exist.
	//
	// A reference begins with a kind: input, state, data, or the kind of a data message in the
	// document.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"type": "tool", "tool": {"greet": {"properties": {"name": {"type": "string"}}, "required": ["name"]}}},
	//	  {"type": "input", "input": {"name": "Ada"}},
	//	  {"type": "plan", "plan": [
	//	    {"_tool": "greet", "name": "†inputs.name"}
	//	  ]}
	//	]
	//
	// Cure: correct the kind, here †input.name, or add a data message of that kind. The result of a
	// call is read at its _outputPath, not by the name of the call.
	UnknownKind Code = 301

	// NothingThere is a reference to a path that no call writes and that has no value.
	//
	// A call waits for the values that it reads. No call in the plan writes this path, and the
	// input, the state and the data have no value there, so the call would wait forever. An
	// alternative after || may be missing; a reference on its own may not. The finding names the
	// path that was probably intended, or else up to 5 existing paths, the most similar first.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"_tool": "fetchUser", "name": "ada", "_outputPath": "†state.user"},
	//	  {"_tool": "greet", "name": "†state.usr.name", "_outputPath": "†state.greeting"}
	//	]
	//	-- tools.yaml --
	//	tools:
	//	  fetchUser:
	//	    properties: {name: {type: string}}
	//	    required: [name]
	//	    effects: {readOnly: true}
	//	  greet:
	//	    properties: {name: {type: string}}
	//	    required: [name]
	//	    effects: {readOnly: true}
	//
	// Cure: correct the path, here †state.user.name, give a call the output path †state.usr,
	// or put the value into the input or the state.
	NothingThere Code = 302

	// WriteToInput is a write to the input.
	//
	// The input is read-only: it is the same for every call, whenever it runs. Only state,
	// data and the kinds of data messages can be written.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"type": "tool", "tool": {"fetchUser": {"properties": {"name": {"type": "string"}}, "required": ["name"]}}},
	//	  {"type": "plan", "plan": [
	//	    {"_tool": "fetchUser", "name": "ada", "_outputPath": "†input.user"}
	//	  ]}
	//	]
	//
	// Cure: write to the state, here †state.user.
	WriteToInput Code = 303

	// PathNotAllowed is a path that the state schema does not allow.
	//
	// The state has a schema, and according to it this path can't exist: a name is not declared
	// where additionalProperties is false, or the path leads into a value that has no members.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"type": "tool", "tool": {"fetchUser": {"properties": {"name": {"type": "string"}}, "required": ["name"]}}},
	//	  {"type": "state", "state": {}, "schema": {"type": "object",
	//	    "properties": {"user": {}}, "additionalProperties": false}},
	//	  {"type": "plan", "plan": [
	//	    {"_tool": "fetchUser", "name": "ada", "_outputPath": "†state.usr"}
	//	  ]}
	//	]
	//
	// Cure: correct the path, here †state.user, or declare it in the schema.
	PathNotAllowed Code = 304

	// UnknownCall is a _dependsOn that names no call.
	//
	// A call waits for the calls whose _id is in _dependsOn. A name that no call in the plan has
	// would never be done.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"_tool": "fetchUser", "_id": "fetch", "name": "ada", "_outputPath": "†state.user"},
	//	  {"_tool": "greet", "name": "Ada", "_outputPath": "†state.greeting", "_dependsOn": ["fetchAda"]}
	//	]
	//	-- tools.yaml --
	//	tools:
	//	  fetchUser:
	//	    properties: {name: {type: string}}
	//	    required: [name]
	//	    effects: {readOnly: true}
	//	  greet:
	//	    properties: {name: {type: string}}
	//	    required: [name]
	//	    effects: {readOnly: true}
	//
	// Cure: correct the name, here fetch. A call without _id is named after its tool; from the
	// second such call on, with -2, -3 and so on.
	UnknownCall Code = 305

	// DeadWrite is a write that no one can read (warning).
	//
	// A later call always overwrites the path before anyone reads it, so the result is lost.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"type": "tool", "tool": {"fetchUser": {"properties": {"name": {"type": "string"}}, "required": ["name"]}}},
	//	  {"type": "plan", "plan": [
	//	    {"_tool": "fetchUser", "name": "ada", "_outputPath": "†state.user"},
	//	    {"_tool": "fetchUser", "name": "bob", "_outputPath": "†state.user", "_dependsOn": ["fetchUser"]}
	//	  ]}
	//	]
	//
	// Cure: give the two results separate paths, collect them with "_outputMethod": "push", or
	// remove the call that is not needed.
	DeadWrite Code = 306

	// RacingWrites is two calls that write the same path in no defined order (warning).
	//
	// The order of the list decides: the later call wins, however fast it is. Nothing else in the
	// plan shows that this is intended, and moving a call would change the result.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"_tool": "fetchUser", "name": "ada", "_outputPath": "†state.user"},
	//	  {"_tool": "greet", "name": "†state.user.name", "_outputPath": "†state.greeting"},
	//	  {"_tool": "fetchUser", "name": "bob", "_outputPath": "†state.user"}
	//	]
	//	-- tools.yaml --
	//	tools:
	//	  fetchUser:
	//	    properties: {name: {type: string}}
	//	    required: [name]
	//	    effects: {readOnly: true}
	//	  greet:
	//	    properties: {name: {type: string}}
	//	    required: [name]
	//	    effects: {readOnly: true}
	//
	// Cure: give the two results separate paths, collect them with "_outputMethod": "push", or
	// define the order with _dependsOn.
	RacingWrites Code = 307

	// UnhandledOutcome is an outcome that nothing handles (warning).
	//
	// An output path with || names the possible outcomes of a call, of which one happens. No call
	// and no output reads this one, so its value would be lost: a failure that is written there
	// counts as handled.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"_tool": "fetchUser", "name": "ada", "_outputPath": "†state.user || †state.error"},
	//	  {"_tool": "report", "user": "†state.user", "_outputPath": "†state.report"}
	//	]
	//	-- tools.yaml --
	//	tools:
	//	  fetchUser:
	//	    properties:
	//	      name: {type: string}
	//	      _output: {type: object}
	//	    required: [name]
	//	    effects: {readOnly: true}
	//	  report:
	//	    properties:
	//	      user: {type: object}
	//	      error: {type: object}
	//	    effects: {readOnly: true}
	//	activities:
	//	  fetchUser: {return: {name: Ada}}
	//
	// Cure: add a call that reads the outcome, or remove the outcome from the output path.
	UnhandledOutcome Code = 308

	// ResultDropped is a read-only call without an output path (warning).
	//
	// A read-only tool is called only for its result, and here no other call can read it: it only
	// goes into the record of the run.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"_tool": "fetchUser", "name": "ada"}
	//	]
	//	-- tools.yaml --
	//	tools:
	//	  fetchUser:
	//	    properties: {name: {type: string}}
	//	    required: [name]
	//	    effects: {readOnly: true}
	//
	// Cure: give the call an output path, here "_outputPath": "†state.user", or remove it.
	ResultDropped Code = 309

	// ResultIgnored is a result in _output that is not used (warning).
	//
	// The tool has an implementation, which will run. A result in the plan is used only for a
	// latent tool, because nothing else would produce its result.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"_tool": "fetchUser", "name": "ada", "_output": {"mail": "ada@example.org"}, "_outputPath": "†state.user"}
	//	]
	//	-- tools.yaml --
	//	tools:
	//	  fetchUser:
	//	    properties: {name: {type: string}}
	//	    required: [name]
	//	activities:
	//	  fetchUser: {return: {mail: ada@example.org}}
	//
	// Cure: remove _output from the call, or set "_activity": "" to make the call latent.
	ResultIgnored Code = 310

	// NotEarlier is a reference to the same step or to a later one, in a notation with references
	// to earlier steps only.
	//
	// Plans in our notation may refer to later calls. Most notations that are read with --from
	// don't allow it: their systems run the steps in order, and would leave the reference empty or
	// unreplaced. If all references are off by one, the plan starts counting at another number than
	// its notation; then there is one finding with one fix.
	//
	// Example:
	//
	//	-- args --
	//	check plan.txt --from rewoo
	//	-- plan.txt --
	//	Plan: Look it up. #E1 = Search[top speed of a cheetah]
	//	Plan: Convert it. #E2 = Calculator[#E2 in km/h]
	//
	// Cure: refer to an earlier step, here #E1.
	NotEarlier Code = 311

	// LinkDisagrees is a declared link that disagrees with the data (warning).
	//
	// Besides the references in the arguments, some notations (--from) declare which steps use the
	// results of which others. The references decide; a link without one only orders the two steps,
	// and perhaps a reference was intended.
	//
	// Example:
	//
	//	-- args --
	//	check plan.json --from taskbench
	//
	//	-- plan.json --
	//	{
	//	  "task_nodes": [
	//	    {"task": "Image Downloader", "arguments": ["https://example.org/a.jpg"]},
	//	    {"task": "Image-to-Text", "arguments": ["a.jpg"]}
	//	  ],
	//	  "task_links": [{"source": "Image Downloader", "target": "Image-to-Text"}]
	//	}
	//
	// Cure: refer to the result, here with <node-0> for "a.jpg", or remove the link.
	LinkDisagrees Code = 312

	// Cycle is a group of calls that wait for each other in a circle.
	//
	// Each call in the circle reads a path that the previous one writes, or names the previous one
	// in _dependsOn, so none of them can start. The whole circle is shown, call by call and path by
	// path.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"type": "tool", "tool": {"refine": {"properties": {"text": {}}, "required": ["text"]}}},
	//	  {"type": "plan", "plan": [
	//	    {"_tool": "refine", "text": "†state.review", "_outputPath": "†state.draft"},
	//	    {"_tool": "refine", "text": "†state.draft", "_outputPath": "†state.review"}
	//	  ]}
	//	]
	//
	// Cure: let one of the calls read something else, here †input.text, or give an alternative that
	// already exists. To repeat calls, use the tool repeat.
	Cycle Code = 401

	// NeverRuns is a call that can never run.
	//
	// The call needs values that can't all exist: outcomes of one call that exclude each other, or
	// a value that only a call that never runs would write.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"_tool": "fetchUser", "name": "ada", "_outputPath": "†state.user || †state.error"},
	//	  {"_tool": "report", "user": "†state.user", "error": "†state.error", "_outputPath": "†state.report"}
	//	]
	//	-- tools.yaml --
	//	tools:
	//	  fetchUser:
	//	    properties:
	//	      name: {type: string}
	//	      _output: {type: object}
	//	    required: [name]
	//	    effects: {readOnly: true}
	//	  report:
	//	    properties:
	//	      user: {type: object}
	//	      error: {type: object}
	//	    effects: {readOnly: true}
	//	activities:
	//	  fetchUser: {return: {name: Ada}}
	//
	// Cure: make a call for each outcome, or join the outcomes with || in one param, here
	// †state.user || †state.error.
	NeverRuns Code = 402

	// UndeclaredEffects is calls that may overlap, to tools that declare no effects (info).
	//
	// It is unknown whether these tools change the world, so the calls run as soon as the values
	// that they read exist, perhaps at the same time. Calls to tools that are declared to change
	// the world run in the order of the list.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"type": "tool", "tool": {"fetchUser": {"properties": {"name": {"type": "string"}}, "required": ["name"]}}},
	//	  {"type": "tool", "tool": {"greet": {"properties": {"name": {"type": "string"}}, "required": ["name"]}}},
	//	  {"type": "plan", "plan": [
	//	    {"_tool": "fetchUser", "name": "ada"},
	//	    {"_tool": "greet", "name": "Ada"}
	//	  ]}
	//	]
	//
	// Cure: declare the effects of the tools in a tool file, here effects: {readOnly: true}
	// for fetchUser and effects: {readOnly: false} for greet, or order the calls with
	// _dependsOn. The annotations of an MCP server count if its entry in mcpServers has trust:
	// true. With --effects strict, undeclared tools are treated as changing the world.
	UndeclaredEffects Code = 403

	// EffectOrder is calls that run one after the other because of their effects (info).
	//
	// A call to a tool that is declared to change the world waits for the calls before it in plan
	// order, and later calls wait for it, so that effects happen in that order.
	//
	// It is shown with --verbose.
	//
	// Example:
	//
	//	-- args --
	//	check plan.json --tools tools.yaml --verbose
	//	-- plan.json --
	//	[
	//	  {"_tool": "check", "_outputPath": "†state.checked"},
	//	  {"_tool": "refund", "amount": 5}
	//	]
	//	-- tools.yaml --
	//	tools:
	//	  check: {effects: {readOnly: true}}
	//	  refund:
	//	    properties: {amount: {type: number}}
	//	    required: [amount]
	//	    effects: {readOnly: false}
	//
	// Cure: none is needed. Tools that don't affect the same things can declare that, with a domain
	// or as independent.
	EffectOrder Code = 404

	// NoReturn is a call that can't be undone, before calls that may fail (info).
	//
	// If one of those calls fails and the run is undone, the effect of this call remains. The
	// finding is reported if undoing matters: because the run is undone when it fails, or because a
	// tool in the plan defines how its calls are undone.
	//
	// Example:
	//
	//	-- args --
	//	check plan.json --tools tools.yaml --verbose --ignore PLC404
	//	-- plan.json --
	//	{"onFailure": "undo", "calls": [
	//	  {"_tool": "sendMail", "text": "Your order is on its way."},
	//	  {"_tool": "charge", "amount": 5}
	//	]}
	//	-- tools.yaml --
	//	tools:
	//	  sendMail:
	//	    properties: {text: {type: string}}
	//	    effects: {readOnly: false}
	//	  charge:
	//	    properties: {amount: {type: number}}
	//	    effects: {readOnly: false}
	//	    undo: {tool: refund, params: {key: "†key"}}
	//	  refund:
	//	    properties: {key: {type: string}}
	//	    effects: {readOnly: false}
	//
	// Cure: make the call wait for those that may fail, here with "_dependsOn": ["charge"], give
	// it an undo, or handle the failure. --fix adds the "_dependsOn" if --severity made the finding
	// a warning or an error. If the plan has two calls that can't be undone, the finding remains
	// for the first of them.
	NoReturn Code = 405

	// BadLiteral is a literal that its schema doesn't allow.
	//
	// The value is a literal in the plan, and the schema of the param doesn't allow it.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"type": "tool", "tool": {"wait": {"properties": {"seconds": {"type": "integer"}}}}},
	//	  {"type": "plan", "plan": [
	//	    {"_tool": "wait", "seconds": "three"}
	//	  ]}
	//	]
	//
	// Cure: use a value that the schema allows, here 3.
	BadLiteral Code = 501

	// NotAssignable is a reference whose value can't fit.
	//
	// No possible value of the reference meets the schema of the param. The possible values follow
	// from the _output that the writer declares, the error object of a last outcome, or the values
	// in the input and the state. If there are alternatives, each one that could be chosen must
	// fit.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"type": "tool", "tool": {"countUsers": {"properties": {"_output": {"type": "integer"}}}}},
	//	  {"type": "tool", "tool": {"greet": {"properties": {"name": {"type": "string"}}, "required": ["name"]}}},
	//	  {"type": "plan", "plan": [
	//	    {"_tool": "countUsers", "_outputPath": "†state.users"},
	//	    {"_tool": "greet", "name": "†state.users"}
	//	  ]}
	//	]
	//
	// Cure: refer to a value of the right type, turn it into text with a template, here
	// "†{state.users}", or correct the schema that is wrong.
	NotAssignable Code = 502

	// PerhapsNotAssignable is a reference whose value may not fit (warning).
	//
	// Some possible values of the writer meet the schema of the param, and some don't. This is
	// reported only with --strict: each value is checked before the tool gets it, and the call
	// fails if the value doesn't fit.
	//
	// Example:
	//
	//	-- args --
	//	check plan.json --strict
	//	-- plan.json --
	//	[
	//	  {"type": "tool", "tool": {"pickColor": {"properties": {"_output": {"type": "string"}}}}},
	//	  {"type": "tool", "tool": {"paint": {"properties": {"color": {"enum": ["red", "blue"]}}}}},
	//	  {"type": "plan", "plan": [
	//	    {"_tool": "pickColor", "_outputPath": "†state.color"},
	//	    {"_tool": "paint", "color": "†state.color"}
	//	  ]}
	//	]
	//
	// Cure: narrow the _output of the writer, here to the same enum, or widen the schema of
	// the param.
	PerhapsNotAssignable Code = 503

	// OptionalRead is an optional member that is read like a required one (warning).
	//
	// The _output of the writer declares the member but doesn't require it. If a result doesn't
	// have it, the call that reads it fails.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"type": "tool", "tool": {"fetchUser": {"properties": {"name": {"type": "string"},
	//	    "_output": {"type": "object", "properties": {"email": {"type": "string"}}}}}}},
	//	  {"type": "tool", "tool": {"sendMail": {"properties": {"to": {"type": "string"}}, "required": ["to"]}}},
	//	  {"type": "plan", "plan": [
	//	    {"_tool": "fetchUser", "name": "ada", "_outputPath": "†state.user"},
	//	    {"_tool": "sendMail", "to": "†state.user.email"}
	//	  ]}
	//	]
	//
	// Cure: require the member in the _output of the writer, or give an alternative, here
	// †state.user.email || 'office@example.org'.
	OptionalRead Code = 504

	// BadResult is a result that the state schema doesn't allow.
	//
	// No value that the tool declares as its _output meets the schema of the state at the output
	// path. Every write would fail.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"type": "tool", "tool": {"countUsers": {"properties": {"_output": {"type": "string"}}}}},
	//	  {"type": "state", "state": {}, "schema": {"type": "object",
	//	    "properties": {"users": {"type": "integer"}}}},
	//	  {"type": "plan", "plan": [
	//	    {"_tool": "countUsers", "_outputPath": "†state.users"}
	//	  ]}
	//	]
	//
	// Cure: write to another path, or correct the schema that is wrong: that of the state or
	// the _output of the tool.
	BadResult Code = 505

	// BadInput is input or state that breaks its schema.
	//
	// The initial input, state or data of the run doesn't meet its schema.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"type": "tool", "tool": {"greet": {"properties": {"name": {"type": "string"}}, "required": ["name"]}}},
	//	  {"type": "input", "input": {"age": "old"}, "schema": {"type": "object",
	//	    "properties": {"age": {"type": "integer"}}}},
	//	  {"type": "plan", "plan": [
	//	    {"_tool": "greet", "name": "Ada"}
	//	  ]}
	//	]
	//
	// Cure: correct the value, here "age": 36, or the schema.
	BadInput Code = 506

	// BadSchema is a schema that breaks the rules of JSON Schema.
	//
	// Schemas are JSON Schema, draft 2020-12 unless $schema names another draft. This one has a
	// keyword with a value that the draft doesn't allow, a pattern that doesn't parse, or a $ref
	// without a target; remote schemas are never fetched.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"type": "tool", "tool": {"greet": {"properties": {"name": {"type": "string"}}, "required": ["name"]}}},
	//	  {"type": "input", "input": {"age": 36}, "schema": {"type": "object",
	//	    "properties": {"age": {"type": "int"}}}},
	//	  {"type": "plan", "plan": [
	//	    {"_tool": "greet", "name": "Ada"}
	//	  ]}
	//	]
	//
	// Cure: correct the schema at the place shown, here "type": "integer".
	BadSchema Code = 507

	// BadCondition is a condition that does not type-check.
	//
	// The conditions of choose and repeat are CEL expressions. They are checked before anything
	// runs. This one doesn't parse, uses an unknown variable, or compares values that can't be
	// compared. In "when" the variable is value, in "until" they are result and n, the number of
	// rounds so far.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"type": "plan", "plan": [
	//	    {"_tool": "choose", "value": 42, "_outputPath": "†state.large || †state.small",
	//	     "when": {"large": "value > 40", "small": "valeu <= 40"}}
	//	  ]}
	//	]
	//
	// Cure: correct the condition, here value <= 40.
	BadCondition Code = 508

	// LazyWithResults is a lazy plan that already contains results.
	//
	// A lazy plan is shown and approved before anything runs, so it must not claim that a call was
	// made. The only allowed _output is null.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"type": "tool", "tool": {"think": {"properties": {"about": {"type": "string"}}}}},
	//	  {"type": "plan", "mode": "lazy", "plan": [
	//	    {"_tool": "think", "about": "the capital of France", "_output": "Paris"}
	//	  ]}
	//	]
	//
	// Cure: remove the _output, or make the plan eager.
	LazyWithResults Code = 601

	// OpenChoice is a latent call of an eager plan that leaves its outcome open.
	//
	// A call without an implementation gets its result from the model that wrote the plan. In an
	// eager plan the model must already have chosen the outcome; an output path with || shows that
	// it hasn't.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"_tool": "decide", "question": "rain?", "_outputPath": "†state.yes || †state.no"},
	//	  {"_tool": "say", "text": "†state.yes", "_outputPath": "†state.first"},
	//	  {"_tool": "say", "text": "†state.no", "_outputPath": "†state.second"}
	//	]
	//	-- tools.yaml --
	//	tools:
	//	  decide:
	//	    properties: {question: {type: string}}
	//	    effects: {readOnly: true}
	//	    _outcomes: ["yes", "no"]
	//	  say:
	//	    properties: {text: {}}
	//	    effects: {readOnly: true}
	//
	// Cure: keep only the chosen outcome, here "_outputPath": "†state.yes", implement the tool, or
	// make the plan lazy.
	OpenChoice Code = 602

	// OverBudget is a plan that costs more than its budget.
	//
	// The number of calls, or their estimated time, tokens or cost, exceeds the budget of the run.
	// This is reported before anything starts; the actual use is watched while the plan runs.
	//
	// Example:
	//
	//	-- args --
	//	check plan.json --max-cost 1
	//	-- plan.json --
	//	[
	//	  {"type": "tool", "tool": {"greet": {"properties": {"name": {"type": "string"}}, "required": ["name"]}}},
	//	  {"type": "plan", "plan": [
	//	    {"_tool": "greet", "name": "Ada", "_estimatedCost": 2.5}
	//	  ]}
	//	]
	//
	// Cure: raise the budget, here --max-cost 3, remove calls, or correct the estimates.
	OverBudget Code = 603

	// NotPermitted is a tool that may not be used.
	//
	// The policy of a tool file forbids the tool, no matter who defines it.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"_tool": "deleteUser", "name": "ada"}
	//	]
	//	-- tools.yaml --
	//	tools:
	//	  deleteUser:
	//	    properties: {name: {type: string}}
	//	    required: [name]
	//	    effects: {readOnly: false, destructive: true}
	//	policy:
	//	  deny: [deleteUser]
	//
	// Cure: remove the call from the plan, or ask the owner of the policy to permit the tool.
	NotPermitted Code = 604

	// NotAllowed is a host or a path outside the allow-list.
	//
	// The policy of a tool file lists the allowed hosts and folders; a delegate must be in the
	// folder of the plan. This host or path is not among them.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"_tool": "getWeather", "city": "Oslo", "_outputPath": "†state.weather"}
	//	]
	//	-- tools.yaml --
	//	tools:
	//	  getWeather:
	//	    properties: {city: {type: string}}
	//	    required: [city]
	//	    effects: {readOnly: true}
	//	activities:
	//	  getWeather: {http: {method: GET, url: "https://weather.example/{city}"}}
	//	policy:
	//	  hosts: [maps.example]
	//
	// Cure: use an allowed host or path, or add this one to the policy, here hosts: [maps.example,
	// weather.example].
	NotAllowed Code = 605

	// NobodyMakesIt is a latent call whose result nothing can produce.
	//
	// The tool has no implementation, the call contains no result, and the run has no model that
	// could produce one. The run is refused before anything starts. plc check only gives a hint,
	// because a result may still be added.
	//
	// Example:
	//
	//	-- args --
	//	run plan.json --store none
	//	-- plan.json --
	//	[
	//	  {"type": "tool", "tool": {"think": {"properties": {"about": {"type": "string"}}}}},
	//	  {"type": "plan", "plan": [
	//	    {"_tool": "think", "about": "the weather", "_outputPath": "†state.thought"}
	//	  ]}
	//	]
	//
	// Cure: implement the tool in a tool file, give the run a model, or put the result into
	// _output.
	NobodyMakesIt Code = 606

	// BadServer is an MCP server that can't be used.
	//
	// It doesn't start, doesn't answer, or has a tool that differs from the locked one: the
	// definition has changed since somebody reviewed it.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"type": "plan", "plan": [], "mode": "eager"}
	//	]
	//	-- tools.yaml --
	//	mcpServers:
	//	  docs: {command: ./no-such-server}
	//
	// Cure: correct the command or the url, and read the server's standard error. If a tool has
	// changed, review it, then run plc tools lock.
	BadServer Code = 607

	// BadDelegate is a delegate that can't be read.
	//
	// The call runs another document, and that file doesn't exist, is not a plan or has errors
	// itself.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"type": "tool", "tool": {"summarize": {"properties": {"text": {"type": "string"}}}}},
	//	  {"type": "plan", "plan": [
	//	    {"_tool": "summarize", "text": "a long story", "_delegate": "summary.json"}
	//	  ]}
	//	]
	//
	// Cure: correct the path, which is relative to the folder of the plan, or correct the document.
	BadDelegate Code = 701

	// DelegateTooDeep is a chain of delegates that is circular or too long.
	//
	// A document that runs itself, directly or through others, would never end. Delegates may be
	// nested at most 8 documents deep.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"type": "tool", "tool": {"again": {"properties": {}}}},
	//	  {"type": "plan", "plan": [
	//	    {"_tool": "again", "_delegate": "plan.json"}
	//	  ]}
	//	]
	//
	// Cure: remove the delegate from the circle. To repeat calls, use the tools forEach, reduce and
	// repeat.
	DelegateTooDeep Code = 702

	// UnknownInstance is an instance that does not exist.
	//
	// The instance of a call must be named in the _instance of a state or input message, or given
	// with --instances. No instance has this name.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"type": "tool", "tool": {"greet": {"properties": {"name": {"type": "string"}}, "required": ["name"]}}},
	//	  {"type": "state", "_instance": "ada", "state": {"lang": "en"}},
	//	  {"type": "plan", "plan": [
	//	    {"_tool": "greet", "name": "Bob", "_instance": "bob"}
	//	  ]}
	//	]
	//
	// Cure: correct the name, here ada, or add a message with that _instance.
	UnknownInstance Code = 703

	// NotTrusted is a param that may get a value that is not trusted enough for it.
	//
	// The flow section of a tool file defines how far the results of tools are trusted, and how
	// much trust params require. Somebody who is trusted less could choose the value of this param.
	// The notes show the path of the value from its source.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"_tool": "read", "file": "bill.txt", "_outputPath": "†state.bill"},
	//	  {"_tool": "pay", "iban": "†state.bill"}
	//	]
	//	-- tools.yaml --
	//	tools:
	//	  read: {properties: {file: {type: string}}, effects: {openWorld: false}}
	//	  pay: {properties: {iban: {type: string}}, effects: {openWorld: false}}
	//	flow:
	//	  tools:
	//	    read: {gives: {trust: untrusted}}
	//	    pay: {takes: {iban: {trust: user}}}
	//
	// Cure: take the value from a trusted source, such as the input. If the flow is intended,
	// change the policy.
	NotTrusted Code = 801

	// TooSecret is a param that may get a value that is too secret for it.
	//
	// The flow section of a tool file defines how secret the results of tools are, and how secret
	// the values of params may be. Others who can see this param could learn the secret. The notes
	// show the path of the value from its source.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"_tool": "readMail", "_outputPath": "†state.mail"},
	//	  {"_tool": "post", "text": "†state.mail"}
	//	]
	//	-- tools.yaml --
	//	tools:
	//	  readMail: {properties: {}, effects: {openWorld: false}}
	//	  post: {properties: {text: {type: string}}, effects: {openWorld: true}}
	//	flow:
	//	  tools:
	//	    readMail: {gives: {secrecy: secret}}
	//
	// Cure: leave the value out, or pass it to a tool that may get it. If the flow is intended,
	// change the policy.
	TooSecret Code = 802

	// BeyondLimit is calls that together exceed a limit of a policy for a whole run.
	//
	// A rule such as sum(pay.amount) <= 1000, count(pay) <= 3 or distinct(pay.iban) <= 1 counts all
	// calls of a run together. The calls of this plan always break it, even if each of them is
	// allowed on its own. The notes show the counted calls.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"_tool": "pay", "amount": 600},
	//	  {"_tool": "pay", "amount": 600}
	//	]
	//	-- tools.yaml --
	//	tools:
	//	  pay: {properties: {amount: {type: number}}, effects: {openWorld: false}}
	//	flow:
	//	  rules: [sum(pay.amount) <= 1000]
	//
	// Cure: make fewer calls, or use smaller values. If the limit is too low, change the policy.
	BeyondLimit Code = 803

	// WrongOrder is calls in an order that a policy forbids.
	//
	// A rule such as "deleteMail never after sendMail" or "approve before deploy" requires or
	// forbids another call before a call. The notes show the other call.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"_tool": "sendMail", "text": "the code is 1234"},
	//	  {"_tool": "deleteMail", "id": "last"}
	//	]
	//	-- tools.yaml --
	//	tools:
	//	  sendMail: {properties: {text: {type: string}}, effects: {readOnly: false, openWorld: false}}
	//	  deleteMail: {properties: {id: {type: string}}, effects: {readOnly: false, openWorld: false}}
	//	flow:
	//	  rules: [deleteMail never after sendMail]
	//
	// Cure: change the order, or leave one of the calls out. If the order is intended, change the
	// policy.
	WrongOrder Code = 804

	// AgainstRule is a call that breaks a condition of a policy.
	//
	// A rule such as pay only if params.amount <= 100 allows a call only under a condition. The
	// params of this call are known, and the condition does not hold for them.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"_tool": "pay", "amount": 600}
	//	]
	//	-- tools.yaml --
	//	tools:
	//	  pay: {properties: {amount: {type: number}}, required: [amount], effects: {openWorld: false}}
	//	flow:
	//	  rules: [pay only if params.amount <= 100]
	//
	// Cure: give the param another value. If the value is intended, change the policy.
	AgainstRule Code = 805

	// BadPolicy is an inconsistent policy.
	//
	// The policy has levels that are below each other, names that look the same, rules that
	// contradict each other, or conditions that can't be evaluated. No plan runs under such a
	// policy.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"_tool": "pay", "amount": 600}
	//	]
	//	-- tools.yaml --
	//	tools:
	//	  pay: {properties: {amount: {type: number}}, effects: {openWorld: false}}
	//	flow:
	//	  trust: user < partner < untrusted
	//
	// Cure: correct the policy at the place shown.
	BadPolicy Code = 806

	// IdleRule is a condition of a policy that restricts nothing (warning).
	//
	// The condition has the same result for every plan.
	//
	// Example:
	//
	//	-- plan.json --
	//	[
	//	  {"_tool": "pay", "amount": 600}
	//	]
	//	-- tools.yaml --
	//	tools:
	//	  pay: {properties: {amount: {type: number}}, effects: {openWorld: false}}
	//	flow:
	//	  rules: [pay only if 1 < 2]
	//
	// Cure: correct the rule, or leave it out.
	IdleRule Code = 807

	// InternalError is a bug in plc.
	//
	// plc failed while it worked on this plan. The message names the place in plc's source. The
	// plan could not be checked, and it does not run. If many plans are checked together, the
	// others are not affected.
	//
	// Example: none
	//
	// Cure: report it at https://github.com/plc-lang/plc/issues, with the message, the plan, its
	// tool file and the output of plc version.
	InternalError Code = 901
)
