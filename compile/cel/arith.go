package cel

import (
	"errors"
	"math"
	"math/bits"
	"time"
)

var (
	errInt       = errors.New("integer overflow")
	errUint      = errors.New("unsigned integer overflow")
	errDuration  = errors.New("duration overflow")
	errTimestamp = errors.New("timestamp overflow")
	errDivide    = errors.New("division by zero")
	errModulo    = errors.New("modulus by zero")
)

// pair returns two values when both are of one type.
func pair[T any](args []any) (a, b T, ok bool) {
	a, ok = args[0].(T)
	if ok {
		b, ok = args[1].(T)
	}
	return a, b, ok
}

func checked[T any](v T, ok bool, err error) (any, error) {
	if !ok {
		return nil, err
	}
	return v, nil
}

func not(_ *frame, _ *node, args []any) (any, error) {
	if b, ok := args[0].(bool); ok {
		return !b, nil
	}
	return nil, errOverload
}

func negate(_ *frame, _ *node, args []any) (any, error) {
	switch v := args[0].(type) {
	case int64:
		return checked(-v, v != math.MinInt64, errInt)
	case float64:
		return -v, nil
	}
	return nil, errOverload
}

func add(f *frame, _ *node, args []any) (any, error) {
	switch a := args[0].(type) {
	case int64:
		if b, ok := args[1].(int64); ok {
			return addInts(a, b, errInt)
		}
	case uint64:
		if b, ok := args[1].(uint64); ok {
			return checked(a+b, a+b >= a, errUint)
		}
	case float64:
		if b, ok := args[1].(float64); ok {
			return a + b, nil
		}
	case string:
		if b, ok := args[1].(string); ok {
			return a + b, nil
		}
	case octets:
		if b, ok := args[1].(octets); ok {
			return a + b, nil
		}
	case list:
		if b, ok := args[1].(list); ok {
			return append(append(make(list, 0, len(a)+len(b)), a...), b...), f.spend(len(a) + len(b))
		}
	case time.Duration:
		switch b := args[1].(type) {
		case time.Duration:
			return addInts(a, b, errDuration)
		case time.Time:
			return later(b, a)
		}
	case time.Time:
		if b, ok := args[1].(time.Duration); ok {
			return later(a, b)
		}
	}
	return nil, errOverload
}

func addInts[T ~int64](a, b T, err error) (any, error) {
	sum := a + b
	return checked(sum, (sum > a) == (b > 0), err)
}

func subtractInts[T ~int64](a, b T, err error) (any, error) {
	difference := a - b
	return checked(difference, (difference < a) == (b > 0), err)
}

// The seconds of the first and of the last moment that a timestamp may be.
const firstSecond, lastSecond = -62135596800, 253402300799

func inRange(t time.Time) (any, error) {
	return checked(t, t.Unix() >= firstSecond && t.Unix() <= lastSecond, errTimestamp)
}

// later returns a time a duration later. Both are so small that nothing overflows.
func later(t time.Time, d time.Duration) (any, error) { return inRange(t.Add(d)) }

func subtract(_ *frame, _ *node, args []any) (any, error) {
	switch a := args[0].(type) {
	case int64:
		if b, ok := args[1].(int64); ok {
			return subtractInts(a, b, errInt)
		}
	case uint64:
		if b, ok := args[1].(uint64); ok {
			return checked(a-b, b <= a, errUint)
		}
	case float64:
		if b, ok := args[1].(float64); ok {
			return a - b, nil
		}
	case time.Duration:
		if b, ok := args[1].(time.Duration); ok {
			return subtractInts(a, b, errDuration)
		}
	case time.Time:
		switch b := args[1].(type) {
		case time.Duration:
			if b == math.MinInt64 {
				return nil, errDuration
			}
			return later(a, -b)
		case time.Time:
			d := a.Sub(b) // the nearest one when it overflows
			return checked(d, d != math.MinInt64 && d != math.MaxInt64, errInt)
		}
	}
	return nil, errOverload
}

func multiply(_ *frame, _ *node, args []any) (any, error) {
	if a, b, ok := pair[int64](args); ok {
		high, low := bits.Mul64(size64(a), size64(b))
		limit := uint64(math.MaxInt64)
		if (a < 0) != (b < 0) {
			limit++
		}
		return checked(a*b, high == 0 && low <= limit, errInt)
	}
	if a, b, ok := pair[uint64](args); ok {
		high, low := bits.Mul64(a, b)
		return checked(low, high == 0, errUint)
	}
	if a, b, ok := pair[float64](args); ok {
		return a * b, nil
	}
	return nil, errOverload
}

// size64 returns the absolute value of an int.
func size64(a int64) uint64 {
	if a < 0 {
		return -uint64(a)
	}
	return uint64(a)
}

func divide(_ *frame, _ *node, args []any) (any, error) {
	if a, b, ok := pair[int64](args); ok {
		if b == 0 {
			return nil, errDivide
		}
		return checked(a/b, a != math.MinInt64 || b != -1, errInt)
	}
	if a, b, ok := pair[uint64](args); ok {
		if b == 0 {
			return nil, errDivide
		}
		return a / b, nil
	}
	if a, b, ok := pair[float64](args); ok {
		return a / b, nil
	}
	return nil, errOverload
}

func modulo(_ *frame, _ *node, args []any) (any, error) {
	if a, b, ok := pair[int64](args); ok {
		if b == 0 {
			return nil, errModulo
		}
		return checked(a%b, a != math.MinInt64 || b != -1, errInt)
	}
	if a, b, ok := pair[uint64](args); ok {
		if b == 0 {
			return nil, errModulo
		}
		return a % b, nil
	}
	return nil, errOverload
}
