package cel

import (
	"encoding/json"

	lib "cel.dev/cel-go/cel"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"

	"github.com/plc-lang/plc/schemas"
)

// shape is a schema as a type of CEL.
type shape struct {
	cel    *types.Type
	elem   *shape            // of a list
	schema *schemas.Schema   // of an object
	fields map[string]*shape // of an object: the members that the condition names; nil: there never is one
}

// typing makes types of schemas and is the provider of the types of objects. It is made for
// one condition: while that is checked, the members that it names are looked up, and never
// again afterwards.
type typing struct {
	types.Provider // of the language
	checker        *Checker
	relation       schemas.Relation
	vars           map[string]*shape
	objects        map[string]*shape // by the name of the type
	order          []*shape          // as they were met
}

// basic is a type that all values of a schema may have.
type basic struct {
	schema *schemas.Schema
	cel    *types.Type // nil: an object
}

// basics returns the types, a narrower one before a wider one.
func basics() (list []basic) {
	for _, b := range []struct {
		name string
		cel  *types.Type
	}{
		{"integer", types.IntType}, {"number", types.DoubleType}, {"string", types.StringType},
		{"boolean", types.BoolType}, {"null", types.NullType}, {"array", types.ListType}, {"object", nil},
	} {
		s, err := schemas.Compile(json.RawMessage(`{"type":"`+b.name+`"}`), nil)
		if err != nil {
			panic(err) // it is one
		}
		list = append(list, basic{s, b.cel})
	}
	return list
}

func (c *Checker) newTyping(vars map[string]*schemas.Schema, m *schemas.Meter) *typing {
	t := &typing{Provider: c.base.CELTypeProvider(), checker: c, relation: schemas.Relation{Meter: m}, vars: map[string]*shape{}, objects: map[string]*shape{}}
	for name, s := range vars {
		t.vars[name] = t.shape(s)
	}
	return t
}

func (t *typing) options() []lib.EnvOption {
	opts := []lib.EnvOption{lib.CustomTypeProvider(t)}
	for name, s := range t.vars {
		opts = append(opts, lib.Variable(name, s.cel))
	}
	return opts
}

// shape returns the type of the values of a schema; of those that may be of several it is dyn.
func (t *typing) shape(s *schemas.Schema) *shape {
	dyn := &shape{cel: types.DynType}
	if s == nil || t.relation.Assignable(s, schemas.Nothing()).Verdict == schemas.Yes {
		return dyn
	}
	for _, b := range t.checker.basics {
		if t.relation.Assignable(s, b.schema).Verdict != schemas.Yes {
			continue
		}
		switch b.cel {
		case nil:
			return t.object(s)
		case types.ListType:
			elem, _ := s.At(schemas.Step{Kind: schemas.Every})
			e := t.shape(elem)
			return &shape{cel: types.NewListType(e.cel), elem: e}
		}
		return &shape{cel: b.cel}
	}
	return dyn
}

// object returns the type of an object. Its name, which findings show, is the schema in short.
func (t *typing) object(s *schemas.Schema) *shape {
	name := s.String()
	for {
		o, taken := t.objects[name]
		if !taken {
			break
		}
		if o.schema == s {
			return o
		}
		name += "'" // another schema that looks the same in short
	}
	o := &shape{cel: types.NewObjectType(name), schema: s, fields: map[string]*shape{}}
	t.objects[name] = o
	t.order = append(t.order, o)
	return o
}

// field returns a member of an object; nil when there never is one.
func (t *typing) field(o *shape, name string) *shape {
	f, known := o.fields[name]
	if !known {
		s, presence := o.schema.At(schemas.Step{Name: name})
		if presence != schemas.Never {
			f = t.shape(s)
		}
		o.fields[name] = f
	}
	return f
}

// FindStructType knows the types of objects.
func (t *typing) FindStructType(name string) (*types.Type, bool) {
	if o := t.objects[name]; o != nil {
		return types.NewTypeTypeWithParam(o.cel), true
	}
	return nil, false
}

// FindStructFieldNames returns the members that a schema declares.
func (t *typing) FindStructFieldNames(name string) (names []string, ok bool) {
	o := t.objects[name]
	if o == nil {
		return nil, false
	}
	for n := range o.schema.Names() {
		names = append(names, n)
	}
	return names, true
}

// FindStructFieldType returns the type of a member. It has no accessors: values are maps.
func (t *typing) FindStructFieldType(name, field string) (*types.FieldType, bool) {
	o := t.objects[name]
	if o == nil {
		return nil, false
	}
	if f := t.field(o, field); f != nil {
		return &types.FieldType{Type: f.cel}, true
	}
	return nil, false
}

// NewValue makes no objects: a condition has {} for that.
func (t *typing) NewValue(name string, _ map[string]ref.Val) ref.Val {
	return types.NewErr("there is no type %q to make values of", name)
}
