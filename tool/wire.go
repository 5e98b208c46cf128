package tool

import (
	"encoding/json"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/internal/jsonscan"
)

// WireMember is the member of a param's schema that says, with the value "text", that the param is
// sent as text: the string "5" and the number 5 are then sent in the same way.
const WireMember = "x-wire"

// SentAsText reports whether a param is sent as text.
func (d *Definition) SentAsText(param string) bool {
	return slices.Contains(d.texts, param)
}

// noteText notes a param whose schema says that it is sent as text.
func (p *parser) noteText(name string, schema gjson.Result) {
	if schema.IsObject() && schema.Get(WireMember).Str == "text" {
		p.def.texts = append(p.def.texts, name)
	}
}

// Sent returns params as their tool sees them: in params that are sent as text, strings that spell
// a number or a boolean are replaced by it.
func (d *Definition) Sent(params json.RawMessage) json.RawMessage {
	for _, name := range d.texts {
		given := gjson.GetBytes(params, gjson.Escape(name))
		if value, ok := Said(json.RawMessage(given.Raw)); ok {
			at := given.Index
			params = slices.Concat(params[:at], value, params[at+len(given.Raw):])
		}
	}
	return params
}

// Said returns the number or boolean that a JSON string spells.
func Said(value json.RawMessage) (json.RawMessage, bool) {
	var text string
	if len(value) == 0 || value[0] != '"' || json.Unmarshal(value, &text) != nil {
		return nil, false
	}
	said := gjson.Parse(text)
	if said.Raw != text || jsonscan.Check([]byte(text), jsonscan.Limits{}) != nil {
		return nil, false
	}
	switch said.Type {
	case gjson.Number, gjson.True, gjson.False:
		return json.RawMessage(text), true
	}
	return nil, false
}
