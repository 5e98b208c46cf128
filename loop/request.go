package loop

import (
	"encoding/json"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
)

// ParseContext reads the context of a task: a list of messages, or a request {"schema", "context"}
// of the † dialect, which also has the schema of the output (nil when there is none). A schema of
// the whole solution, {"properties": {"calls", "output"}}, stands for that of its output. The text
// may be written in the style of JavaScript: with comments, names without quotes and strings in
// single quotes. The findings say what was mended, and what is wrong.
func ParseContext(file *diag.File) (context, schema json.RawMessage, findings diag.List) {
	v, found := lang.ReadValue(file, nil)
	if found.HasErrors() {
		doc, all := lang.Parse(file, &lang.Options{Answer: true})
		v, found = doc.Root, all
	}
	for _, f := range found {
		switch f.Code {
		case diag.NotJSON, diag.OverLimit, diag.DuplicateMember, diag.Mended:
			findings = append(findings, f)
		}
	}
	if findings.HasErrors() {
		return nil, nil, findings
	}
	root := gjson.ParseBytes(v.AppendJSON(nil))
	switch messages := root.Get("context"); {
	case root.IsArray():
		return json.RawMessage(root.Raw), nil, findings
	case messages.IsArray():
		return json.RawMessage(messages.Raw), outputSchema(root.Get("schema")), findings
	}
	return nil, nil, append(findings, diag.Finding{Code: diag.NotAPlan, Severity: diag.Error, Loc: diag.Loc{File: file},
		Message: `the context is not a list of messages, and not a request {"schema": …, "context": [messages]}`})
}

// outputSchema returns the schema of the output that a request's schema is or has; nil is none.
func outputSchema(schema gjson.Result) json.RawMessage {
	calls, output := schema.Get("properties.calls"), schema.Get("properties.output")
	switch {
	case !schema.IsObject():
		return nil
	case !calls.Exists() || calls.Get("type").Exists() && calls.Get("type").Str != "array":
		return json.RawMessage(schema.Raw)
	case !output.Exists():
		return nil
	}
	if defs := schema.Get("$defs"); defs.IsObject() && output.IsObject() && !output.Get("$defs").Exists() {
		return writeObject(append([]Member{{"$defs", json.RawMessage(defs.Raw)}}, membersOf(output)...)...)
	}
	return json.RawMessage(output.Raw)
}
