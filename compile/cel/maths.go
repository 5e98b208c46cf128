package cel

import (
	"fmt"
	"math"
)

func ofDouble[T any](of func(float64) T) native {
	return func(_ *frame, _ *node, args []any) (any, error) {
		if v, ok := args[0].(float64); ok {
			return of(v), nil
		}
		return nil, errOverload
	}
}

func ceil(v float64) float64  { return math.Ceil(v) }
func floor(v float64) float64 { return math.Floor(v) }
func round(v float64) float64 { return math.Round(v) }
func trunc(v float64) float64 { return math.Trunc(v) }
func isNaN(v float64) bool    { return math.IsNaN(v) }
func isInf(v float64) bool    { return math.IsInf(v, 0) }
func isFinite(v float64) bool { return !math.IsInf(v, 0) && !math.IsNaN(v) }

// extremeOf returns math.greatest or math.least, of one number, of two or of those of a list.
func extremeOf(wanted int) native {
	return func(f *frame, _ *node, args []any) (any, error) {
		if all, ok := args[0].(list); ok && len(args) == 1 {
			args = all
		}
		if len(args) == 0 {
			return nil, fmt.Errorf("the greatest or least number of an empty list")
		}
		if err := f.spend(len(args)); err != nil {
			return nil, err
		}
		best := args[0]
		for _, a := range args {
			if !isNumber(a) {
				return nil, errOverload
			}
			c, err := order(a, best)
			if err != nil && len(args) > 1 {
				return nil, err
			}
			if c == wanted {
				best = a
			}
		}
		return best, nil
	}
}

func abs(_ *frame, _ *node, args []any) (any, error) {
	switch v := args[0].(type) {
	case int64:
		return checked(int64(size64(v)), v != math.MinInt64, errInt)
	case uint64:
		return v, nil
	case float64:
		return math.Abs(v), nil
	}
	return nil, errOverload
}

func signum(_ *frame, _ *node, args []any) (any, error) {
	switch v := args[0].(type) {
	case int64:
		c, err := orderNumbers(v, int64(0))
		return int64(c), err
	case uint64:
		return min(v, 1), nil
	case float64:
		switch {
		case v > 0:
			return 1.0, nil
		case v < 0:
			return -1.0, nil
		case v == 0:
			return 0.0, nil
		}
		return v, nil // NaN
	}
	return nil, errOverload
}

func sqrt(_ *frame, _ *node, args []any) (any, error) {
	if !isNumber(args[0]) {
		return nil, errOverload
	}
	return math.Sqrt(toFloat(args[0])), nil
}

// bitwise evaluates math.bitAnd, bitOr, bitXor and bitNot.
func bitwise(_ *frame, n *node, args []any) (any, error) {
	switch a := args[0].(type) {
	case int64:
		b := a
		if len(args) > 1 {
			var ok bool
			if b, ok = args[1].(int64); !ok {
				return nil, errOverload
			}
		}
		return int64(combine(n.name, uint64(a), uint64(b))), nil
	case uint64:
		b := a
		if len(args) > 1 {
			var ok bool
			if b, ok = args[1].(uint64); !ok {
				return nil, errOverload
			}
		}
		return combine(n.name, a, b), nil
	}
	return nil, errOverload
}

func combine(name string, a, b uint64) uint64 {
	switch name {
	case "math.bitAnd":
		return a & b
	case "math.bitOr":
		return a | b
	case "math.bitXor":
		return a ^ b
	}
	return ^a
}

// shift evaluates math.bitShiftLeft and bitShiftRight, which fills with zeros.
func shift(_ *frame, n *node, args []any) (any, error) {
	by, ok := args[1].(int64)
	switch {
	case !ok:
		return nil, errOverload
	case by < 0:
		return nil, fmt.Errorf("%s by %d", n.name, by)
	}
	move := func(v uint64) uint64 {
		if n.name == "math.bitShiftLeft" {
			return v << by
		}
		return v >> by
	}
	switch v := args[0].(type) {
	case int64:
		return int64(move(uint64(v))), nil
	case uint64:
		return move(v), nil
	}
	return nil, errOverload
}
