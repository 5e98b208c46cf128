package forecast

import (
	"math"
	"strconv"
)

// Count is an upper bound on the number of times that something happens. In JSON, Unbounded is
// null.
type Count int64

// Unbounded is the count of something that has no bound. A bound that is too large for a Count is
// Unbounded too.
const Unbounded Count = math.MaxInt64

func (c Count) plus(d Count) Count {
	if c > Unbounded-d {
		return Unbounded
	}
	return c + d
}

func (c Count) times(d Count) Count {
	if c != 0 && d > Unbounded/c {
		return Unbounded
	}
	return c * d
}

// MarshalJSON implements json.Marshaler.
func (c Count) MarshalJSON() ([]byte, error) {
	if c == Unbounded {
		return []byte("null"), nil
	}
	return strconv.AppendInt(nil, int64(c), 10), nil
}

// Amount is an upper bound on a quantity, such as a cost. An amount without a bound is +Inf, and
// null in JSON.
type Amount float64

// amount returns an amount multiplied by a number of times.
func amount(each float64, times Count) Amount {
	switch {
	case each == 0 || times == 0:
		return 0
	case times == Unbounded:
		return noBound
	}
	return Amount(each * float64(times))
}

var noBound = Amount(math.Inf(1))

// Bounded reports whether there is a bound.
func (a Amount) Bounded() bool { return !math.IsInf(float64(a), 0) }

// MarshalJSON implements json.Marshaler.
func (a Amount) MarshalJSON() ([]byte, error) {
	if !a.Bounded() {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, float64(a), 'g', -1, 64), nil
}
