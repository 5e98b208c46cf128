package cel

import (
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"strings"
	"time"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/internal/jsonscan"
)

// A value is nil (null), a bool, int64, uint64, float64, string, octets, list, *object, time.Time,
// time.Duration or typeName. It is never changed.
type (
	octets   string // bytes
	list     []any
	typeName string
)

// typeNames are the types that have a name, as a condition may write them.
var typeNames = map[string]*typ{
	"bool": boolType, "bytes": bytesType, "double": doubleType, "int": intType, "list": listOf(dynType), "map": mapOf(dynType, dynType),
	"null_type": nullType, "string": stringType, "type": typeOf(dynType), "uint": uintType,
	"google.protobuf.Timestamp": timestampType, "google.protobuf.Duration": durationType,
}

// nameOf returns the name of a value's type.
func nameOf(v any) string {
	switch v.(type) {
	case nil:
		return "null_type"
	case bool:
		return "bool"
	case int64:
		return "int"
	case uint64:
		return "uint"
	case float64:
		return "double"
	case string:
		return "string"
	case octets:
		return "bytes"
	case list:
		return "list"
	case *object:
		return "map"
	case time.Time:
		return "google.protobuf.Timestamp"
	case time.Duration:
		return "google.protobuf.Duration"
	}
	return "type"
}

// read returns a JSON value, of a shape that may be any.
func read(raw json.RawMessage, s *shape) (any, error) {
	if err := jsonscan.Check(raw, jsonscan.Limits{}); err != nil {
		return nil, fmt.Errorf("not a JSON value: %w", err)
	}
	return value(gjson.ParseBytes(raw), s), nil
}

// value returns a JSON value that was checked. An object is read when it is looked into.
func value(v gjson.Result, s *shape) any {
	switch v.Type {
	case gjson.String:
		return v.Str
	case gjson.Number:
		return number(v.Raw, s != nil && s.typ == doubleType)
	case gjson.True, gjson.False:
		return v.Type == gjson.True
	case gjson.JSON:
		if v.IsObject() {
			return &object{raw: v, shape: s}
		}
		return array(v, s)
	}
	return nil
}

func array(v gjson.Result, s *shape) list {
	var elem *shape
	if s != nil {
		elem = s.elem
	}
	all := list{}
	v.ForEach(func(_, e gjson.Result) bool {
		all = append(all, value(e, elem))
		return true
	})
	return all
}

// number returns an int when it is a whole number that fits, else a double: the nearest, or an
// infinity when there is none near.
func number(text string, double bool) any {
	if double {
		return nearest(text)
	}
	if i, err := strconv.ParseInt(text, 10, 64); err == nil {
		return i
	}
	if i, ok := whole(text); ok {
		return i
	}
	return nearest(text)
}

func nearest(text string) float64 {
	f, _ := strconv.ParseFloat(text, 64) // beyond all doubles it is an infinity
	return f
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

// object is a JSON object or a map, with its members in the order of the text. It is of one
// evaluation, and not for several goroutines.
type object struct {
	raw    gjson.Result
	shape  *shape      // nil: any
	names  list        // the keys
	values map[any]any // by what key makes of the keys; nil: not read yet
}

// members reads the object.
func (o *object) members() map[any]any {
	if o.values != nil {
		return o.values
	}
	o.values = map[any]any{}
	o.raw.ForEach(func(k, v gjson.Result) bool {
		var s *shape
		if o.shape != nil {
			s = o.shape.fields[k.Str]
		}
		o.names = append(o.names, k.Str)
		o.values[k.Str] = value(v, s)
		return true
	})
	return o.values
}

// find returns a member by its key.
func (o *object) find(by any) (any, bool) {
	k, ok := key(by)
	if !ok {
		return nil, false
	}
	v, ok := o.members()[k]
	return v, ok
}

// key returns a value as the key of a map: numbers that are equal are the same key. Not all values
// may be one.
func key(v any) (any, bool) {
	switch v := v.(type) {
	case string, bool, int64:
		return v, true
	case uint64:
		if v <= math.MaxInt64 {
			return int64(v), true
		}
		return v, true
	case float64:
		switch {
		case v != math.Trunc(v) || v < math.MinInt64 || v >= 1<<64:
			return v, v == v // not a NaN
		case v < math.MaxInt64:
			return int64(v), true
		}
		return uint64(v), true
	}
	return nil, false
}

// index returns an element of a list or a member of an object.
func index(of, by any) (any, error) {
	switch of := of.(type) {
	case *object:
		if v, ok := of.find(by); ok {
			return v, nil
		}
	case list:
		k, _ := key(by)
		i, ok := k.(int64)
		switch {
		case !ok:
			return nil, errOverload
		case i < 0 || i >= int64(len(of)):
			return nil, fmt.Errorf("index out of bounds: %d", i)
		}
		return of[i], nil
	}
	return nil, fmt.Errorf("there is no member %q; has(…) asks for one", fmt.Sprint(by))
}

// has reports whether a value has a member. What is no object has none, and a list may not be
// asked.
func has(of any, name string) (any, error) {
	switch of := of.(type) {
	case *object:
		_, ok := of.find(name)
		return ok, nil
	case list:
		return nil, errOverload
	}
	return false, nil
}
