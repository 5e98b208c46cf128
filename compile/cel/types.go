package cel

import (
	"encoding/json"
	"slices"

	"github.com/plc-lang/plc/schemas"
)

// shape is a schema as a type of CEL.
type shape struct {
	typ    *typ
	elem   *shape            // of a list
	schema *schemas.Schema   // of an object
	fields map[string]*shape // of an object: the members that the condition names; nil: there never is one
}

// typing makes types of schemas, and knows the types of objects. It is made for one condition:
// while that is checked, the members that it names are looked up, and never again afterwards.
type typing struct {
	checker  *Checker
	relation schemas.Relation
	vars     map[string]*shape
	objects  map[string]*shape // by the name of the type
	order    []*shape          // as they were met
}

// basic is a type that all values of a schema may have.
type basic struct {
	schema *schemas.Schema
	typ    *typ // nil: an object
}

// anyList stands for the type of lists, whose elements have one of their own.
var anyList = listOf(dynType)

// basics returns the types, a narrower one before a wider one.
func basics() (list []basic) {
	for _, b := range []struct {
		name string
		typ  *typ
	}{
		{"integer", intType}, {"number", doubleType}, {"string", stringType},
		{"boolean", boolType}, {"null", nullType}, {"array", anyList}, {"object", nil},
	} {
		s, err := schemas.Compile(json.RawMessage(`{"type":"`+b.name+`"}`), nil)
		if err != nil {
			panic(err) // it is one
		}
		list = append(list, basic{s, b.typ})
	}
	return list
}

func (c *Checker) newTyping(vars map[string]*schemas.Schema, m *schemas.Meter) *typing {
	t := &typing{checker: c, relation: schemas.Relation{Meter: m}, vars: map[string]*shape{}, objects: map[string]*shape{}}
	for name, s := range vars {
		t.vars[name] = t.shape(s)
	}
	return t
}

// shape returns the type of the values of a schema; of those that may be of several it is dyn.
func (t *typing) shape(s *schemas.Schema) *shape {
	i := -1
	if s != nil {
		i = t.kind(s)
	}
	if i < 0 {
		return &shape{typ: dynType}
	}
	switch b := t.checker.basics[i]; b.typ {
	case nil:
		return t.object(s)
	case anyList:
		elem, _ := s.At(schemas.Step{Kind: schemas.Every})
		e := t.shape(elem)
		return &shape{typ: listOf(e.typ), elem: e}
	default:
		return &shape{typ: b.typ}
	}
}

// maxKinds is the maximum number of schemas whose types a Checker remembers.
const maxKinds = 1000

// kind returns the index in Checker.basics of the type of the values of a schema; -1 if they may be
// of several. The Checker remembers it, since policies have many conditions over few schemas.
func (t *typing) kind(s *schemas.Schema) int {
	c := t.checker
	c.mu.Lock()
	i, ok := c.kinds[s]
	c.mu.Unlock()
	if ok {
		return i
	}
	if i = t.findKind(s); t.relation.Meter.Err() != nil { // it was not looked at to the end
		return i
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.kinds) >= maxKinds {
		clear(c.kinds)
	}
	c.kinds[s] = i
	return i
}

func (t *typing) findKind(s *schemas.Schema) int {
	if t.relation.Assignable(s, schemas.Nothing()).Verdict == schemas.Yes {
		return -1
	}
	return slices.IndexFunc(t.checker.basics, func(b basic) bool { return t.relation.Assignable(s, b.schema).Verdict == schemas.Yes })
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
	o := &shape{typ: &typ{kind: objectKind, name: name}, schema: s, fields: map[string]*shape{}}
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
