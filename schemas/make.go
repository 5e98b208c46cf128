package schemas

import "encoding/json"

// Schemas that no document says, for the types of references: each part keeps its own
// document and draft.

// Any returns the schema of all values.
func Any() *Schema { return made(newNode(allTypes)) }

// Nothing returns the schema that no value meets.
func Nothing() *Schema { return made(newNode(noTypes)) }

// Const returns the schema of one value. The error is about its JSON, or about numbers
// that are out of bounds.
func Const(raw json.RawMessage) (*Schema, error) {
	v, err := parseValue(raw)
	if err != nil {
		return nil, err
	}
	return made(constNode(&v)), nil
}

// IsConst reports whether s is the schema of one value, which const says.
func (s *Schema) IsConst() bool { return s.node().konst != nil }

// AppendConst appends the JSON of that value; there must be one.
func (s *Schema) AppendConst(dst []byte) []byte { return s.node().konst.appendJSON(dst) }

// Union returns the schema of the values that meet one of several; of none it is Nothing.
func Union(list ...*Schema) *Schema {
	if len(list) == 0 {
		return Nothing()
	}
	n := list[0].node()
	for _, s := range list[1:] {
		n = eitherFlat(n, s.node())
	}
	return schemaOf(n)
}

// ArrayOf returns the schema of the arrays of elements that meet s.
func ArrayOf(s *Schema) *Schema {
	n := newNode(only(kindArray))
	n.rest, n.restWord = s.node(), "items"
	return made(n)
}

// Field is a member of the values of an Object.
type Field struct {
	Name     string
	Schema   *Schema // nil: any value
	Optional bool
}

// Object returns the schema of the objects with these members and no others. Names are
// different.
func Object(fields ...Field) *Schema {
	n := newNode(only(kindObject))
	for _, f := range fields {
		p := newNode(allTypes)
		p.masks()
		if f.Schema != nil {
			p = f.Schema.node()
		}
		n.props = append(n.props, property{f.Name, p})
		if !f.Optional {
			n.required = append(n.required, f.Name)
		}
	}
	n.additional = newNode(noTypes)
	n.additional.masks()
	return made(n)
}

// made returns the schema of a new node.
func made(n *node) *Schema {
	n.masks()
	return schemaOf(n)
}
