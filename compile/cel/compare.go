package cel

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
)

// scanned is the number of bytes of a text that count as one step.
const scanned = 10

// textLen returns how many bytes a text has.
func textLen(v any) int {
	switch v := v.(type) {
	case string:
		return len(v)
	case octets:
		return len(v)
	}
	return 0
}

var errNaN = errors.New("NaN values cannot be ordered")

// order compares two values of one type, or two numbers.
func order(a, b any) (int, error) {
	switch a := a.(type) {
	case int64, uint64, float64:
		if isNumber(b) {
			return orderNumbers(a, b)
		}
	case string:
		if b, ok := b.(string); ok {
			return strings.Compare(a, b), nil
		}
	case octets:
		if b, ok := b.(octets); ok {
			return cmp.Compare(a, b), nil
		}
	case bool:
		if b, ok := b.(bool); ok {
			return cmp.Compare(bit(a), bit(b)), nil
		}
	case time.Time:
		if b, ok := b.(time.Time); ok {
			return a.Compare(b), nil
		}
	case time.Duration:
		if b, ok := b.(time.Duration); ok {
			return cmp.Compare(a, b), nil
		}
	}
	return 0, errOverload
}

// orderable reports whether values of a type have an order.
func orderable(v any) bool {
	_, err := order(v, v)
	return err != errOverload
}

func isNumber(v any) bool {
	switch v.(type) {
	case int64, uint64, float64:
		return true
	}
	return false
}

func bit(b bool) int {
	if b {
		return 1
	}
	return 0
}

// orderNumbers compares numbers of any two types. An int beside a double is the nearest double.
func orderNumbers(a, b any) (int, error) {
	switch a := a.(type) {
	case int64:
		switch b := b.(type) {
		case int64:
			return cmp.Compare(a, b), nil
		case uint64:
			if a < 0 {
				return -1, nil
			}
			return cmp.Compare(uint64(a), b), nil
		}
	case uint64:
		switch b := b.(type) {
		case uint64:
			return cmp.Compare(a, b), nil
		case int64:
			c, err := orderNumbers(b, a)
			return -c, err
		}
	}
	x, y := toFloat(a), toFloat(b)
	if math.IsNaN(x) || math.IsNaN(y) {
		return 0, errNaN
	}
	return cmp.Compare(x, y), nil
}

func toFloat(v any) float64 {
	switch v := v.(type) {
	case int64:
		return float64(v)
	case uint64:
		return float64(v)
	}
	return v.(float64)
}

// ordering makes an operator of what the comparison has to be. Of a NaN it is false.
func ordering(holds func(int) bool) native {
	return func(_ *frame, _ *node, args []any) (any, error) {
		c, err := order(args[0], args[1])
		for i, a := range args {
			if d, ok := a.(float64); ok && isNaN(d) && (i == 0 || orderable(args[0])) {
				return false, nil
			}
		}
		if err != nil {
			return nil, err
		}
		return holds(c), nil
	}
}

// equal reports whether two values are equal, and counts what it looks at.
func (f *frame) equal(a, b any) (bool, error) {
	if err := f.spend(1); err != nil {
		return false, err
	}
	switch a := a.(type) {
	case int64, uint64, float64:
		if !isNumber(b) {
			return false, nil
		}
		c, err := orderNumbers(a, b)
		return err == nil && c == 0, nil
	case list:
		b, ok := b.(list)
		return f.equalLists(a, b, ok)
	case *object:
		b, ok := b.(*object)
		return f.equalObjects(a, b, ok)
	case time.Time:
		b, ok := b.(time.Time)
		return ok && a.Equal(b), nil
	case string:
		b, ok := b.(string)
		return ok && a == b, f.spend(min(len(a), len(b)) / scanned)
	}
	switch b.(type) { // what can't be compared by Go is not equal to what is left
	case list, *object:
		return false, nil
	}
	return a == b, nil
}

func (f *frame) equalLists(a, b list, ok bool) (bool, error) {
	if !ok || len(a) != len(b) {
		return false, nil
	}
	for i := range a {
		if same, err := f.equal(a[i], b[i]); !same || err != nil {
			return false, err
		}
	}
	return true, nil
}

// equalObjects compares members, in any order.
func (f *frame) equalObjects(a, b *object, ok bool) (bool, error) {
	if !ok || len(a.members()) != len(b.members()) {
		return false, nil
	}
	for _, name := range a.names {
		v, _ := a.find(name)
		w, ok := b.find(name)
		if !ok {
			return false, f.spend(1)
		}
		if same, err := f.equal(v, w); !same || err != nil {
			return false, err
		}
	}
	return true, nil
}

// contains evaluates the operator in, which also asks for a member of an object by its name.
func contains(f *frame, _ *node, args []any) (any, error) {
	switch in := args[1].(type) {
	case *object:
		_, ok := in.find(args[0])
		return ok, nil
	case list:
		for _, e := range in {
			if same, err := f.equal(args[0], e); same || err != nil {
				return same, err
			}
		}
		return false, nil
	}
	return nil, fmt.Errorf("%q wants a list or an object, not %s", "in", nameOf(args[1]))
}

// sortList evaluates the method sort.
func sortList(f *frame, _ *node, args []any) (any, error) {
	all, ok := args[0].(list)
	if !ok {
		return nil, errOverload
	}
	return f.sorted(all, all)
}

// sorted returns a list in the order of its keys, which have to be of one type.
func (f *frame) sorted(all, keys list) (any, error) {
	if err := f.spend(2 * len(all)); err != nil {
		return nil, err
	}
	for _, k := range keys {
		if nameOf(k) != nameOf(keys[0]) {
			return nil, errors.New("list elements must have the same type")
		}
		if !orderable(k) {
			return nil, errors.New("list elements must be comparable")
		}
	}
	at := make([]int, len(all))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(i, j int) int {
		c, _ := order(keys[i], keys[j])
		return c
	})
	sorted := make(list, len(all))
	for i, from := range at {
		sorted[i] = all[from]
	}
	return sorted, nil
}
