package loop

import (
	"encoding/json"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
)

// ParseContext parses the context of a task: a list of messages, or a request {"schema", "context"}
// of the † dialect. A request may include the schema of the output; schema is nil if it doesn't. If
// it has the schema of a whole solution, {"properties": {"calls", "output"}}, ParseContext takes
// the output's schema from there. The text may use JavaScript syntax: comments, unquoted names, and
// strings in single quotes. The findings say what was repaired, and what is wrong.
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
	switch messages := valueIn(v, "context"); {
	case v.Kind() == lang.Array:
		return v.AppendJSON(nil), nil, findings
	case messages.Kind() == lang.Array:
		return messages.AppendJSON(nil), outputSchema(valueIn(v, "schema")), findings
	}
	return nil, nil, append(findings, diag.Finding{Code: diag.NotAPlan, Severity: diag.Error, Loc: diag.Loc{File: file},
		Message: `the context is not a list of messages, and not a request {"schema": …, "context": [messages]}`})
}

// outputSchema returns the schema of the output in a request's schema, or nil.
func outputSchema(schema lang.Node) json.RawMessage {
	calls, output := valueIn(schema, "properties", "calls"), valueIn(schema, "properties", "output")
	kind := valueIn(calls, "type")
	switch {
	case schema.Kind() != lang.Object:
		return nil
	case calls.IsZero() || !kind.IsZero() && kind.Str() != "array":
		return schema.AppendJSON(nil)
	case output.IsZero():
		return nil
	}
	if defs := valueIn(schema, "$defs"); defs.Kind() == lang.Object && output.Kind() == lang.Object && valueIn(output, "$defs").IsZero() {
		return writeObject(append([]Member{{"$defs", defs.AppendJSON(nil)}}, membersIn(output)...)...)
	}
	return output.AppendJSON(nil)
}
