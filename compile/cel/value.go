package cel

import (
	"encoding/json"
	"fmt"
	"math/big"
	"reflect"
	"strconv"
	"strings"

	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/internal/jsonscan"
)

// read returns a JSON value for CEL, of a shape that may be any.
func read(raw json.RawMessage, s *shape) (ref.Val, error) {
	if err := jsonscan.Check(raw, jsonscan.Limits{}); err != nil {
		return nil, fmt.Errorf("not a JSON value: %w", err)
	}
	return value(gjson.ParseBytes(raw), s), nil
}

// value returns a JSON value that was checked. A container is read when it is looked into.
func value(v gjson.Result, s *shape) ref.Val {
	switch v.Type {
	case gjson.String:
		return types.String(v.Str)
	case gjson.Number:
		return number(v.Raw, s != nil && s.cel == types.DoubleType)
	case gjson.True, gjson.False:
		return types.Bool(v.Type == gjson.True)
	case gjson.JSON:
		if v.IsObject() {
			return &object{raw: v, shape: s}
		}
		return list(v, s)
	}
	return types.NullValue
}

func list(v gjson.Result, s *shape) ref.Val {
	var elem *shape
	if s != nil {
		elem = s.elem
	}
	var all []ref.Val
	v.ForEach(func(_, e gjson.Result) bool {
		all = append(all, value(e, elem))
		return true
	})
	return types.NewRefValList(types.DefaultTypeAdapter, all)
}

// number returns an int when it is a whole number that fits, else a double: the nearest, or an
// infinity when there is none near.
func number(text string, double bool) ref.Val {
	if double {
		return nearest(text)
	}
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return types.Int(i)
	}
	if i, ok := whole(text); ok {
		return types.Int(i)
	}
	return nearest(text)
}

func nearest(text string) types.Double {
	f, _ := strconv.ParseFloat(text, 64) // beyond all doubles it is an infinity
	return types.Double(f)
}

// maxDigits is the maximum length of a number that is written with a point or an exponent and is
// still read as an int.
const maxDigits = 64

// whole returns the integer that a number is which is written with a point or an exponent.
func whole(text string) (int64, bool) {
	if _, exp, ok := strings.Cut(strings.ToLower(text), "e"); len(text) > maxDigits || ok && len(exp) > 3 {
		return 0, false
	}
	r, ok := new(big.Rat).SetString(text)
	if !ok || !r.IsInt() || !r.Num().IsInt64() {
		return 0, false
	}
	return r.Num().Int64(), true
}

// object is a JSON object: a map of CEL whose members come in the order of the text. It is
// of one evaluation, and not for several goroutines.
type object struct {
	raw    gjson.Result
	shape  *shape // nil: any
	names  []ref.Val
	values map[string]ref.Val // nil: not read yet
}

var _ traits.Mapper = (*object)(nil)

// members reads the object.
func (o *object) members() map[string]ref.Val {
	if o.values != nil {
		return o.values
	}
	o.values = map[string]ref.Val{}
	o.raw.ForEach(func(k, v gjson.Result) bool {
		var s *shape
		if o.shape != nil {
			s = o.shape.fields[k.Str]
		}
		o.names = append(o.names, types.String(k.Str))
		o.values[k.Str] = value(v, s)
		return true
	})
	return o.values
}

// Find returns a member by its name.
func (o *object) Find(key ref.Val) (ref.Val, bool) {
	name, ok := key.(types.String)
	if !ok {
		return nil, false
	}
	v, ok := o.members()[string(name)]
	return v, ok
}

// Get returns a member by its name, or an error.
func (o *object) Get(key ref.Val) ref.Val {
	if v, ok := o.Find(key); ok {
		return v
	}
	return types.NewErr("no such key: %v", key.Value())
}

// Contains reports whether there is a member of this name.
func (o *object) Contains(key ref.Val) ref.Val {
	_, ok := o.Find(key)
	return types.Bool(ok)
}

// Size returns the number of members.
func (o *object) Size() ref.Val { return types.Int(len(o.members())) }

// Iterator goes over the names in the order of the text.
func (o *object) Iterator() traits.Iterator {
	o.members()
	return types.NewRefValList(types.DefaultTypeAdapter, o.names).Iterator()
}

// Equal reports whether other has the same members, in any order.
func (o *object) Equal(other ref.Val) ref.Val {
	m, ok := other.(traits.Mapper)
	if !ok || m.Size() != o.Size() {
		return types.False
	}
	for name, v := range o.members() {
		w, ok := m.Find(types.String(name))
		if !ok || types.Equal(v, w) != types.True {
			return types.False
		}
	}
	return types.True
}

// ConvertToNative would convert values that leave CEL, which none does.
func (o *object) ConvertToNative(t reflect.Type) (any, error) {
	return nil, fmt.Errorf("an object can't become a %s", t)
}

// ConvertToType makes a map of a map, and the type of a value.
func (o *object) ConvertToType(t ref.Type) ref.Val {
	switch t {
	case types.MapType:
		return o
	case types.TypeType:
		return types.MapType
	}
	return types.NewErr("an object can't become a %s", t.TypeName())
}

// Type returns map.
func (o *object) Type() ref.Type { return types.MapType }

// Value returns the object's members.
func (o *object) Value() any { return o.members() }
