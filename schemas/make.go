package schemas

import (
	"encoding/json"

	"github.com/plc-lang/plc/schemas/internal/tree"
	"github.com/plc-lang/plc/schemas/internal/value"
)

// Schemas that are in no document, for the types of references: each part keeps its own document
// and draft.

// Any returns the schema of all values.
func Any() *Schema { return made(tree.New(value.AllTypes)) }

// Nothing returns the schema that no value meets.
func Nothing() *Schema { return made(tree.New(value.NoTypes)) }

// Const returns the schema of a single value. The error is about its JSON, or about numbers that
// exceed the limits.
func Const(raw json.RawMessage) (*Schema, error) {
	v, err := value.Parse(raw)
	if err != nil {
		return nil, err
	}
	return made(tree.Const(&v)), nil
}

// IsConst reports whether s is the schema of a single value, given by const.
func (s *Schema) IsConst() bool { return s.node().Const != nil }

// AppendConst appends the JSON of that value; there must be one.
func (s *Schema) AppendConst(dst []byte) []byte { return s.node().Const.AppendJSON(dst) }

// Union returns the schema of the values that meet at least one of several schemas; without any, it
// is Nothing.
func Union(list ...*Schema) *Schema {
	if len(list) == 0 {
		return Nothing()
	}
	n := list[0].node()
	for _, s := range list[1:] {
		n = tree.EitherFlat(n, s.node())
	}
	return schemaOf(n)
}

// ArrayOf returns the schema of arrays whose elements meet s.
func ArrayOf(s *Schema) *Schema {
	n := tree.New(value.Only(value.Array))
	n.Rest, n.RestWord = s.node(), "items"
	return made(n)
}

// Field is a member of the values of an Object.
type Field struct {
	Name     string
	Schema   *Schema // nil: any value
	Optional bool
}

// Object returns the schema of the objects with these members and no others. The names must be
// distinct.
func Object(fields ...Field) *Schema {
	n := tree.New(value.Only(value.Object))
	for _, f := range fields {
		p := tree.New(value.AllTypes)
		p.Complete()
		if f.Schema != nil {
			p = f.Schema.node()
		}
		n.Props = append(n.Props, tree.Property{Name: f.Name, Node: p})
		if !f.Optional {
			n.Required = append(n.Required, f.Name)
		}
	}
	n.Additional = tree.New(value.NoTypes)
	n.Additional.Complete()
	return made(n)
}

// made returns the schema of a new node.
func made(n *tree.Node) *Schema {
	n.Complete()
	return schemaOf(n)
}
