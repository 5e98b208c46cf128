package tool

import (
	"encoding/json"
	"strings"

	"github.com/tidwall/gjson"
)

// Undo describes the call of another tool that undoes a call of a tool.
type Undo struct {
	Tool string `json:"tool,omitempty"`
	// Params are the params of the other call: an object whose strings may have references to the
	// call that is undone, with the kinds params, result, key and failure.
	Params json.RawMessage `json:"params,omitempty"`
	// WhenUncertain says that the other tool may be called when it is unknown whether the call did
	// its work.
	WhenUncertain bool `json:"whenUncertain,omitempty"`
}

// Undoes returns the undo of the tool, nil if it has none. It ignores the undo of tools of
// documents and MCP servers, which are not trusted.
func (t *Tool) Undoes() *Undo {
	if t.Source == Document || strings.HasPrefix(t.Source, "mcp:") {
		return nil
	}
	return t.Definition.Undo
}

// undo reads the member undo of a definition.
func (p *parser) undo(v gjson.Result) {
	switch {
	case !v.Exists() || v.Type == gjson.Null:
		return
	case !v.IsObject():
		p.errorf("/undo", "\"undo\" is an object such as {\"tool\": \"refund\", \"params\": {…}}, not %s", kindOf(v))
		return
	}
	u := &Undo{Params: json.RawMessage("{}")}
	v.ForEach(func(key, member gjson.Result) bool {
		at := "/undo/" + escape(key.Str)
		switch key.Str {
		case "tool":
			if u.Tool = member.Str; u.Tool == "" {
				p.errorf(at, "\"tool\" is the name of the tool that takes a call back, not %s", member.Raw)
			}
		case "params":
			if !member.IsObject() {
				p.errorf(at, "\"params\" is an object, not %s", kindOf(member))
			}
			u.Params = json.RawMessage(member.Raw)
		case "whenUncertain":
			if !member.IsBool() {
				p.errorf(at, "\"whenUncertain\" is true or false, not %s", kindOf(member))
			}
			u.WhenUncertain = member.Bool()
		default:
			p.errorf(at, "\"undo\" has no member %q; it has tool, params and whenUncertain", key.Str)
		}
		return true
	})
	if !v.Get("tool").Exists() {
		p.errorf("/undo", "\"undo\" names no tool, as in {\"tool\": \"refund\", \"params\": {…}}")
	}
	p.def.Undo = u
}
