package diag

//go:generate go run ./internal/explaingen

import "fmt"

// Code is the stable number of a kind of finding (plan-language §11). Numbers
// are never reused.
type Code uint16

// String returns the code as it is shown: PLC302.
func (c Code) String() string { return fmt.Sprintf("PLC%03d", uint16(c)) }

// MarshalText writes the code as a finding's JSON has it.
func (c Code) MarshalText() ([]byte, error) { return []byte(c.String()), nil }

// The codes.
//
// Their comments are the source of what plc explain prints and of docs/codes;
// go generate makes both. Each has a sentence, which ends in (warning) or (info)
// when a finding of that code is no error; what it means; under Example the
// smallest document that gives this finding and no other as bad; and a Cure. An
// example is one file after the other, each headed by "-- name --". It is checked with
//
//	plc check plan.json
//
// and --tools tools.yaml when there is such a file, unless a first section "-- args --"
// holds other arguments. "Example: none" is for a code that no document gives. The file is long
// because it is a table: one entry a code.
const (
	// NotJSON is text that is not JSON.
	//
	// A document is JSON, with comments and trailing commas allowed, in UTF-8. The place is
	// where reading had to stop; nothing after it was looked at.
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
	// Cure: mend the text at the place shown, here with a comma after "greet". For the raw
	// answer of a model, --from llm mends what can be mended safely.
	NotJSON Code = 101

	// DuplicateMember is a member name that stands twice in one object.
	//
	// Programs that read JSON disagree about which of the two counts, so that what was
	// approved might not be what runs. Both places are shown.
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

	// OverLimit is a document over a limit: its size, its depth or its number of calls.
	//
	// A document has at most 64 MiB, 256 levels of nesting and 1,000,000 calls, so that a
	// small file can not use up the machine that reads it. Checking all its values against their
	// schemas is bounded as well: what only schemas made for it exceed.
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
	// Cure: make the document smaller: move large data into the input, and parts of a large
	// plan into plans of their own that calls delegate to.
	OverLimit Code = 103

	// Mended is text of a model that was mended to be read (warning).
	//
	// With --from llm the text may be a raw answer: prose and code fences round the plan are
	// passed over, and small faults, like strings in single quotes, are mended. Each mended
	// place is reported, since what was meant may be something else; nothing is ever repaired
	// silently.
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
	// Cure: look at what was made of the place, and write it as JSON, here with double quotes.
	Mended Code = 104

	// NotAPlan is JSON that is not a plan.
	//
	// A document is a list of calls, a plan message, a solution, a context or a request; they
	// are told apart by their shape. This one has the shape of none of them.
	//
	// Example:
	//
	//	-- plan.json --
	//	{"greet": {"name": "Ada"}}
	//
	// Cure: write the calls as a list of objects with _tool, here [{"_tool": "greet", "name":
	// "Ada"}]. Another notation is read with --from.
	NotAPlan Code = 105

	// BadNotation is text that its notation does not have.
	//
	// A plan in another notation (--from) is read exactly: what its grammar does not have is
	// neither guessed at nor dropped. The place is where reading went wrong; the steps after it
	// are read all the same.
	//
	// Example:
	//
	//	-- args --
	//	check plan.txt --from rewoo
	//	-- plan.txt --
	//	Plan: Look it up. #E1 = Search[top speed of a cheetah
	//	Plan: Convert it. #E2 = Calculator[#E1 in km/h]
	//
	// Cure: write it as the notation has it, here with the bracket that closes Search[ .
	BadNotation Code = 106

	// PassedOver is text that is no part of the plan (warning).
	//
	// Models put sentences and code fences round the plans they write. What stands before the
	// first step and after the last is passed over, and is reported so that no step gets lost
	// that way. So is a member of a document, or of another client's configuration, that nothing
	// reads; unless it is nearly one that is read, this is an info, which --verbose shows.
	//
	// Example:
	//
	//	-- args --
	//	check plan.txt --from rewoo
	//	-- plan.txt --
	//	Here you are.
	//	Plan: Look it up. #E1 = Search[top speed of a cheetah]
	//
	// Cure: cut it out, if it is no part of the plan.
	PassedOver Code = 107

	// PerhapsCutOff is a plan in another notation without its end (warning).
	//
	// Plans of this notation end in a certain way. Without it, the plan may have been cut off,
	// and steps may be missing.
	//
	// Example:
	//
	//	-- args --
	//	check plan.txt --from rewoo
	//	-- plan.txt --
	//	Plan: Look it up. #E1 = Search[top speed of a cheetah]
	//	Plan: Convert it to
	//
	// Cure: have the plan written to its end, here a step for the second Plan.
	PerhapsCutOff Code = 108

	// CannotSay is a part of a plan that another notation has no words for.
	//
	// Our notation says more than most: retries, branches, references to parts of results.
	// plc convert --to writes a plan only if the other notation can say all of it, so that
	// reading it back gives the same graph.
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
	// Cure: leave out what the other notation can't say, or keep the plan as it is.
	CannotSay Code = 109

	// BadExpression is an expression that does not parse.
	//
	// A string that starts with † is a reference or an expression as a whole; the same goes
	// for what is between †{ and }. Names go after a dot, or in brackets and quotes when they
	// hold dots, spaces or signs.
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
	// Cure: mend the expression at the place shown, here †input.name. Text that must start
	// with a † is written with two: ††.
	BadExpression Code = 110

	// MixedOperators is || and && mixed without parentheses.
	//
	// Neither operator binds stronger than the other: a || b && c may be meant in two ways,
	// and which one decides when a call runs.
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
	// Cure: put the part that belongs together into parentheses, here (†input.title &&
	// †input.name) || 'friend'.
	MixedOperators Code = 111

	// BareDagger is a bare † inside longer text (warning).
	//
	// A reference inside text is only replaced between †{ and }. Without the braces it stays
	// text, which is seldom what was meant. In a plan that a model wrote (--from llm, plc solve) it
	// is an error.
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
	// Cure: write the reference in braces, here †{input.name}; text that is meant as it is
	// needs no change.
	BareDagger Code = 112

	// NearReference is literal text that nearly is a reference (warning).
	//
	// The text is taken as it stands, since that is what its notation says. It looks so much
	// like a reference that one may have been meant: in a plan of ours, a path that is written or
	// held, without its dagger or in the marks of another notation ("state.user", "$state.user",
	// "${state.user}", "{{state.user}}", "{state.user}"). In a plan that a model wrote (--from llm,
	// plc solve) that is an error.
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
	// Cure: write the reference as the notation has it, here †input.name. Text that is meant as it
	// is needs no change; where it is an error, it is written as a literal in braces,
	// †{'{{input.name}}'}.
	NearReference Code = 113

	// UnknownTool is a tool that nobody defines.
	//
	// Tools are defined by tool files, MCP servers, Go code and the tool messages of the
	// document. A call to a tool without a definition can not be checked, and is never run.
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
	// Cure: correct the name, here greet, or define the tool: plc tools lists those that are
	// known.
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
	// Members of a call that begin with an underscore belong to the language, all others are
	// params. One that is misspelled would otherwise be lost without a word.
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
	// Cure: correct the name, here _outputPath. A param of a tool can not begin with an
	// underscore.
	UnknownMember Code = 203

	// DuplicateID is an _id that two calls have.
	//
	// The _id is the name of a call in _dependsOn, in the record and in findings, so it must
	// belong to one call of the plan. Calls without one get a name that is free.
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
	// param. Where others are allowed, it is a warning if the name is nearly that of a param which
	// the definition declares and the call does not give.
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
	// Each underscore member has a type of its own: _retry is a number of retries or an
	// object, _timeout a duration, _dependsOn a list of names. An undo may refer to params,
	// result, key and failure; with whenUncertain, it must not refer to result.
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
	// Cure: give the member a value that it may have, here "_retry": 2.
	BadMember Code = 207

	// FixedByTool is a member that breaks what the tool fixes or limits.
	//
	// The definition of a tool may fix or limit the underscore members of its calls with
	// const, enum or pattern, and name its outcomes. The call says something else.
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
	// The call or its tool names the activity that implements it, and no tool file, MCP server
	// or Go code has one of that name. A call without _activity may stay without an
	// implementation; one that asks for it may not.
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
	// Two MCP servers, or a server and the tool file, have tools of one name. In the plan the name
	// means that of the tool file, or nothing; each tool of a server can be called as server.tool.
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
	// Cure: call the tool as server.tool, or say in a tool file which one the name means:
	// activities: {search: {mcp: {server: docs, tool: search}}}.
	AmbiguousTool Code = 210

	// NotOffered is a tool of the plan over an activity that is not offered to plans.
	//
	// A plan may come from a model. The tools that it defines itself are latent, or have activities
	// of which the tool file says offer: true; any other activity is there for the tools of the
	// tool file.
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
	// Cure: call the tool that has the activity, or let the tool file say that plans may have it:
	// wipe: {process: [./wipe.sh], offer: true}.
	NotOffered Code = 211

	// ReservedName is a tool with a name of the language.
	//
	// The names choose, forEach, reduce and repeat mean the same in every plan. A tool of an MCP
	// server that has one of them goes by server.choose only. The names step and join, which plans
	// of other notations call, are for tool files to define: no plan can, and no MCP server.
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
	// A reference begins with a kind: input, state, data, or the kind of a data message of the
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

	// NothingThere is a reference to nothing: nobody writes it and nothing holds it.
	//
	// A call waits for what it reads. Nothing in the plan writes this path, neither does the
	// input, the state or the data hold it, so that the call would wait for ever. An
	// alternative after || may be missing; a reference by itself may not. The finding names the
	// path that was perhaps meant, or else what there is, at most 5 paths, the most similar first.
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
	// The state has a schema, and by it no such path can exist: a name is not declared where
	// additionalProperties is false, or leads into a value that has no members.
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
	// A call waits for the calls that _dependsOn names by _id. A name that no call of the plan
	// has is never taken as done.
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
	// Cure: correct the name, here fetch. A call without _id has the name of its tool, with
	// -2, -3 and so on from its second call.
	UnknownCall Code = 305

	// DeadWrite is a write that no one can read (warning).
	//
	// A later call is certain to overwrite the path before anyone reads it, so the result is
	// lost.
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
	// Cure: give the two results paths of their own, add them up with "_outputMethod": "push",
	// or remove the call that is not needed.
	DeadWrite Code = 306

	// RacingWrites is two writers of one path with no order between them (warning).
	//
	// The order of the list decides: the later call wins, however fast it is. Nothing else
	// says that this is meant, and moving a call would change the result.
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
	// Cure: give the two results paths of their own, add them up with "_outputMethod": "push",
	// or say the order with _dependsOn.
	RacingWrites Code = 307

	// UnhandledOutcome is an outcome that nothing handles (warning).
	//
	// An output path with || names the outcomes of a call, of which one happens. No call and
	// no output reads this one, so that what happens then is lost: a failure that is written
	// to it counts as handled.
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
	// Cure: add a call that reads the outcome, or take it out of the output path.
	UnhandledOutcome Code = 308

	// ResultDropped is a read-only call without an output path (warning).
	//
	// A read-only tool is called for its result alone, and here no other call can read it: it
	// only goes into the record of the run.
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
	// The tool has an implementation, which is run; a result that the plan brings along
	// stands in only for a latent tool's, which nothing else would make.
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
	// Cure: take _output out of the call, or say "_activity": "" to make the call latent.
	ResultIgnored Code = 310

	// NotEarlier is a reference to the step itself or to a later one, in a notation that
	// refers only to earlier ones.
	//
	// Our own plans may refer to later calls. The notations that are read with --from mostly
	// can't: their systems run the steps in order, and would put nothing, or the reference
	// itself, in its place. When all references are off by one, the plan counts from another
	// number than its notation, and one finding with one fix says so.
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
	// Some notations (--from) declare which step uses the result of which, besides the
	// references in the arguments. The references decide; a link without one only orders the
	// two steps, and what was meant is perhaps a reference.
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
	// Cure: refer to the result, here with <node-0> for "a.jpg", or take the link out.
	LinkDisagrees Code = 312

	// Cycle is calls that wait for each other in a circle.
	//
	// Each call of the circle reads what the one before it writes, or names it in _dependsOn,
	// so that none can be the first. The whole circle is shown, call by call and path by path.
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
	// Cure: let one of the calls start from something else, here †input.text, or give an
	// alternative that is there already. What must be repeated is the work of the tool repeat.
	Cycle Code = 401

	// NeverRuns is a call that can never run.
	//
	// The call needs things of which never all can come: outcomes of one call that exclude
	// each other, or what only a call that itself never runs would write.
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

	// UndeclaredEffects is calls of tools that declare no effects and may overlap (info).
	//
	// Nothing says whether these tools change the world, so the calls run as soon as what they
	// read is there, perhaps at the same time. Tools that are declared to change the world
	// keep the order of the list.
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
	// _dependsOn. What an MCP server declares in annotations counts with trust: true in its
	// entry among the mcpServers. With --effects strict, undeclared tools count as changing
	// the world.
	UndeclaredEffects Code = 403

	// EffectOrder is calls that run one after the other because of effects (info).
	//
	// A call to a tool that is declared to change the world waits for the calls before it
	// in plan order, and those behind it wait for it, so that no effect overtakes another.
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
	// Cure: none is needed. Tools that do not touch the same things can say so: with a
	// domain, or as independent.
	EffectOrder Code = 404

	// NoReturn is a call that can't be undone, with calls that may fail after it (info).
	//
	// When one of those calls fails and the run is undone, what this one did stands. It is
	// reported where undoing matters: the run is undone when it ends badly, or a tool of the
	// plan says how its calls are undone.
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
	// a warning or an error. If two calls can't be undone, one of them always comes first.
	NoReturn Code = 405

	// BadLiteral is a literal that its schema forbids.
	//
	// The value stands in the plan as it is, and the schema of the param does not allow it.
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
	// Cure: give a value that the schema allows, here 3.
	BadLiteral Code = 501

	// NotAssignable is a reference whose value can not fit.
	//
	// No value that the reference can have meets the schema of the param, by what the writer
	// declares as its _output, the error object of a last outcome, or what the input and the
	// state hold. With alternatives every one that could be picked must fit.
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
	// Cure: refer to a value of the right type, make text of it with a template, here
	// "†{state.users}", or correct the schema that is wrong.
	NotAssignable Code = 502

	// PerhapsNotAssignable is a reference whose value may not fit (warning).
	//
	// Some values that the writer may give meet the schema of the param, and some do not. This
	// is only reported with --strict: each value is checked before the tool gets it, and the
	// call fails if it does not fit.
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

	// OptionalRead is an optional member read as if it were required (warning).
	//
	// The _output of the writer declares the member and does not require it. When a result
	// comes without it, the call that reads it fails.
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

	// BadResult is a result that the state schema forbids.
	//
	// What the tool declares as its _output can never be what the schema of the state wants at
	// the output path. Every write would fail.
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
	// The input, the state or the data that the run begins with does not meet the schema that
	// is given for it.
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

	// BadSchema is a schema that is not one.
	//
	// A schema is JSON Schema, draft 2020-12 unless its $schema says another. This one has a
	// keyword with a value that the draft does not know, a pattern that does not parse, or a
	// $ref that leads nowhere; remote ones are never fetched.
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
	// The conditions of choose and repeat are CEL expressions. They are checked before
	// anything runs: this one does not parse, names a variable that it does not have, or
	// compares what can't be compared. In "when" the variable is value, in "until" they are
	// result and n, the number of rounds so far.
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

	// LazyWithResults is a lazy plan that already holds results.
	//
	// A lazy plan is a blueprint: it is shown and approved before anything runs, so it must
	// not claim that a call was made. Only "_output": null may stand in it.
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
	// A call without an implementation has its result from the model that wrote the plan. In
	// an eager plan the model must have chosen the outcome by then; an output path with ||
	// says that it has not.
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
	// Cure: keep the outcome that was chosen, here "_outputPath": "†state.yes", implement the
	// tool, or make the plan lazy.
	OpenChoice Code = 602

	// OverBudget is a plan that costs more than its budget.
	//
	// The number of calls, or what they are estimated to take in time, tokens and cost, is
	// over what the run may use. It is reported before anything starts; what is really spent
	// is watched while the plan runs.
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
	// Cure: raise the budget, here --max-cost 3, take calls out, or correct the estimates.
	OverBudget Code = 603

	// NotPermitted is a tool that may not be used.
	//
	// The policy of a tool file forbids the tool, whoever defines it.
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
	// Cure: take the call out of the plan, or have whoever keeps the policy permit the tool.
	NotPermitted Code = 604

	// NotAllowed is a host or a path outside the allow-list.
	//
	// The policy of a tool file lists the hosts and the folders that may be used; a delegate
	// must lie in the folder of the plan. This one lies outside.
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
	// Cure: use a host or a path that is allowed, or add this one to the policy, here hosts:
	// [maps.example, weather.example].
	NotAllowed Code = 605

	// NobodyMakesIt is a latent call that nothing can make.
	//
	// The tool has no implementation, the call holds no result, and the run has no model that
	// could make one. The run is refused before anything starts. plc check only gives a hint,
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

	// BadServer is an MCP server that can not be used.
	//
	// It does not start, does not answer, or a tool of it is not the one that was
	// locked: what its definition says has changed since somebody looked at it.
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
	// Cure: correct the command or the url, and see what the server says on standard error. For a
	// tool that has changed: look at what it does now, then plc tools lock.
	BadServer Code = 607

	// BadDelegate is a delegate that can not be read.
	//
	// The call runs another document, and that file is not there, is not a plan or has errors
	// of its own.
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
	// Cure: correct the path, which is taken from the folder of the plan, or mend the
	// document.
	BadDelegate Code = 701

	// DelegateTooDeep is delegates in a circle, or nested too deep.
	//
	// A document that runs itself, directly or through others, would never end, and more than
	// 8 documents below each other are refused.
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
	// Cure: take the delegate out of the circle. What must be repeated is the work of the
	// tools forEach, reduce and repeat.
	DelegateTooDeep Code = 702

	// UnknownInstance is an instance that does not exist.
	//
	// A call works on an instance that a state or input message names in its _instance, or
	// that --instances gives. None has this name.
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

	// NotTrusted is a param that may hold what is not trusted enough for it.
	//
	// The flow section of a tool file says how far what tools give may be trusted, and what params
	// want. Somebody who is trusted less could choose the value of this param. The notes show the
	// way from where the value comes from.
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
	// Cure: take the value from where it may be trusted, such as the input. If the flow is meant,
	// change the policy.
	NotTrusted Code = 801

	// TooSecret is a param that may hold what is too secret for it.
	//
	// The flow section of a tool file says how secret what tools give is, and what params may
	// hold. What others can see of this param may tell them more. The notes show the way from
	// where the value comes from.
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
	// Cure: leave the value out, or give it to a tool that may hold it. If the flow is meant,
	// change the policy.
	TooSecret Code = 802

	// BeyondLimit is calls that go over what a policy allows in a whole run.
	//
	// A rule such as sum(pay.amount) <= 1000, count(pay) <= 3 or distinct(pay.iban) <= 1 counts all
	// calls of a run together. The calls of this plan break it whatever else happens, though each
	// of them may be allowed by itself. The notes show the calls that count.
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
	// Cure: make fewer calls, or with less. If the limit is too low, change the policy.
	BeyondLimit Code = 803

	// WrongOrder is calls in an order that a policy forbids.
	//
	// A rule such as "deleteMail never after sendMail" or "approve before deploy" says what has to
	// come before a call, or may not. The notes show the other call.
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
	// Cure: change the order, or leave one of the calls out. If the order is meant, change the
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
	// Cure: give the param another value. If the value is meant, change the policy.
	AgainstRule Code = 805

	// BadPolicy is a policy that does not hold together.
	//
	// Levels that are below each other, names that look the same, rules that contradict each
	// other, conditions that can't be evaluated: a policy that has one of these means nothing, and
	// no plan runs under it.
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
	// Cure: correct the policy where the finding says.
	BadPolicy Code = 806

	// IdleRule is a condition of a policy that restricts nothing (warning).
	//
	// The condition has the same result whatever plans do.
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

	// InternalError is a fault in plc itself.
	//
	// plc failed while it worked on this plan. The message names the place in the source of plc.
	// Nothing is known of the plan, and it does not run. Of many plans that are checked together
	// the others are not affected.
	//
	// Example: none
	//
	// Cure: report it at https://github.com/plc-lang/plc/issues, with the message, the plan, its
	// tool file and the output of plc version.
	InternalError Code = 901
)
