package jq

import (
	"encoding/json"
	"math/big"
	"reflect"
)

// The budget of a query. A step costs more than it usually takes in memory, since a recursion keeps
// each of its steps.
const (
	budget    = 256 << 20 // bytes, of all steps together
	stepCost  = 128
	nodeCost  = 32       // of a value within another
	largest   = 64 << 20 // bytes, of one value
	longest   = 64 << 10 // bytes, of one number: the time to multiply grows faster than that
	deepest   = 1000     // values within values
	entryCost = 64       // of a member of an object
)

// account counts the work that a call may still do. It belongs to one goroutine.
type account struct {
	left int
	// known has the lists and objects that were measured, so that each is paid for only once, and a
	// value that contains another many times takes no longer to measure.
	known map[place]measure
}

// place identifies a list or object by its address.
type place struct {
	at  uintptr
	len int
}

// measure holds the size and depth of a value, and the value itself, so that nothing else can get
// its address.
type measure struct {
	size, depth int
	value       any
}

// overdrawn is the error of a query that exceeds its budget.
type overdrawn struct{ why string }

func (e *overdrawn) Error() string { return e.why }

// pay pays for a step with a value.
func (a *account) pay(v any) error {
	m := a.measure(v, 0)
	if a.left -= stepCost; m.value == nil { // it is paid for each time
		a.left -= m.size
	}
	switch {
	case m.size > largest:
		return &overdrawn{"the query makes too large a value"}
	case m.depth > deepest:
		return &overdrawn{"the query makes too deep a value"}
	case a.left < 0:
		return &overdrawn{"the query does too much"}
	}
	return nil
}

// measure measures a value that is nested depth levels deep. It does not descend into values that
// are too deep or too large.
func (a *account) measure(v any, depth int) measure {
	switch v := v.(type) {
	case string:
		return measure{size: len(v)}
	case json.Number:
		return number(len(v))
	case *big.Int:
		return number(v.BitLen() / 8)
	case []any:
		return a.container(v, len(v), depth, func(each func(any)) {
			for _, e := range v {
				each(e)
			}
		})
	case map[string]any:
		return a.container(v, len(v), depth, func(each func(any)) {
			for name, e := range v {
				each(name)
				each(e)
			}
		})
	}
	return measure{}
}

// number returns the measure of a number of n bytes, which is too large if the number is too long.
func number(n int) measure {
	if n > longest {
		n = largest + 1
	}
	return measure{size: n}
}

// container measures a list or object, and pays for it if it is new.
func (a *account) container(v any, n, depth int, all func(func(any))) measure {
	key := place{reflect.ValueOf(v).Pointer(), n}
	if m, ok := a.known[key]; ok && n > 0 {
		return m
	}
	m := measure{size: n * nodeCost, value: v}
	if _, object := v.(map[string]any); object {
		m.size = n * entryCost
	}
	own := m.size
	if depth > deepest || own > largest {
		m.depth = deepest + 1
		return m
	}
	all(func(e any) {
		if m.size > largest {
			return
		}
		inner := a.measure(e, depth+1)
		if inner.value == nil {
			own += inner.size
		}
		m.size += inner.size
		m.depth = max(m.depth, inner.depth+1)
	})
	if n > 0 {
		a.known[key] = m
		a.left -= own
	}
	return m
}
