package loop

import (
	"bytes"
	"encoding/json"
	"errors"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/internal/jsonscan"
)

// Object is a JSON object that preserves the order of its members and the spelling of their values.
// Styles use it where their systems define the order: in answers, states and schemas.
type Object []Member

// Member is a member of an Object. Its Value is JSON.
type Member struct {
	Name  string
	Value json.RawMessage
}

// ObjectOf returns an object made of pairs of a name and a value that can be encoded as JSON.
func ObjectOf(pairs ...any) Object {
	o := make(Object, 0, len(pairs)/2)
	for i := 0; i < len(pairs); i += 2 {
		o = append(o, Member{pairs[i].(string), jsonscan.Encode(pairs[i+1])})
	}
	return o
}

// Get returns the value of a member, or nil. It takes time linear in the number of members.
func (o Object) Get(name string) json.RawMessage {
	for i := range o {
		if o[i].Name == name {
			return o[i].Value
		}
	}
	return nil
}

// Set sets a member to a value that can be encoded as JSON. A new member is added at the end. It
// takes linear time like Get.
func (o *Object) Set(name string, value any) { o.Put(name, jsonscan.Encode(value)) }

// Put sets a member to a JSON value, whose spelling it keeps. See Set.
func (o *Object) Put(name string, value json.RawMessage) {
	for i := range *o {
		if (*o)[i].Name == name {
			(*o)[i].Value = value
			return
		}
	}
	*o = append(*o, Member{name, value})
}

// Add sets the members of a JSON object in o. It takes linear time.
func (o *Object) Add(object json.RawMessage) {
	at := map[string]int{}
	for i, m := range *o {
		at[m.Name] = i
	}
	for _, m := range membersOf(gjson.ParseBytes(object)) {
		i, ok := at[m.Name]
		if !ok {
			i, at[m.Name] = len(*o), len(*o)
			*o = append(*o, m)
		}
		(*o)[i].Value = m.Value
	}
}

// Names returns the names of the members, in order.
func (o Object) Names() []string {
	names := make([]string, len(o))
	for i := range o {
		names[i] = o[i].Name
	}
	return names
}

// JSON returns the object as text.
func (o Object) JSON() json.RawMessage {
	b := []byte{'{'}
	for i, m := range o {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, jsonscan.Encode(m.Name)...), ':'), m.Value...)
	}
	return append(b, '}')
}

// MarshalJSON implements json.Marshaler.
func (o Object) MarshalJSON() ([]byte, error) { return o.JSON(), nil }

// UnmarshalJSON parses an object, which must not repeat a name. null makes an empty object.
func (o *Object) UnmarshalJSON(text []byte) error {
	*o = nil
	if err := jsonscan.Check(text, jsonscan.Limits{}); err != nil {
		return err
	}
	d := json.NewDecoder(bytes.NewReader(text))
	switch first, err := d.Token(); {
	case err != nil:
		return err
	case first == nil:
		return nil
	case first != json.Delim('{'):
		return errors.New("it is not an object")
	}
	*o = Object{}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return err
		}
		var value json.RawMessage
		if err := d.Decode(&value); err != nil {
			return err
		}
		*o = append(*o, Member{name.(string), jsonscan.Compact(nil, value)})
	}
	return nil
}

func writeObject(members ...Member) json.RawMessage { return Object(members).JSON() }
