package agentframework

import (
	"encoding/json"
	"fmt"
	"slices"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/loop"
)

// text returns a value as text: what a string says, else its JSON.
func text(v json.RawMessage) string {
	var s string
	if len(v) > 0 && v[0] == '"' && json.Unmarshal(v, &s) == nil {
		return s
	}
	return string(v)
}

// Values are values by name, in the order in which they came. The zero Values has none.
type Values struct {
	names []string
	byID  map[string]json.RawMessage
}

// Get returns the value of a name.
func (v *Values) Get(name string) (json.RawMessage, bool) {
	value, ok := v.byID[name]
	return value, ok
}

// Names returns those of all values, in order.
func (v *Values) Names() []string { return slices.Clone(v.names) }

// Len returns how many there are.
func (v *Values) Len() int { return len(v.names) }

func (v *Values) set(name string, value json.RawMessage) {
	if v.byID == nil {
		v.byID = map[string]json.RawMessage{}
	}
	if _, ok := v.byID[name]; !ok {
		v.names = append(v.names, name)
	}
	v.byID[name] = value
}

func (v *Values) remove(gone func(name string) bool) {
	v.names = slices.DeleteFunc(v.names, func(name string) bool {
		if !gone(name) {
			return false
		}
		delete(v.byID, name)
		return true
	})
}

// MarshalJSON implements json.Marshaler: an object, in order.
func (v *Values) MarshalJSON() ([]byte, error) {
	var o loop.Object
	for _, name := range v.names {
		o = append(o, loop.Member{Name: name, Value: v.byID[name]})
	}
	return o.JSON(), nil
}

// UnmarshalJSON implements json.Unmarshaler: the members of an object.
func (v *Values) UnmarshalJSON(raw []byte) error {
	object := gjson.ParseBytes(raw)
	if !object.IsObject() {
		return fmt.Errorf("agentframework: values are an object, not %s", typeName(object))
	}
	*v = Values{}
	v.add(object)
	return nil
}

// add takes the members of an object.
func (v *Values) add(object gjson.Result) {
	object.ForEach(func(name, value gjson.Result) bool {
		v.set(name.Str, json.RawMessage(value.Raw))
		return true
	})
}

// orNull returns JSON, or null if there is none.
func orNull(v json.RawMessage) json.RawMessage {
	if v == nil {
		return json.RawMessage("null")
	}
	return v
}

// nullable returns a text, null where it is "".
func nullable(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}
