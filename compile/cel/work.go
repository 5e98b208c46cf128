package cel

import (
	"cel.dev/cel-go/common/operators"
	"cel.dev/cel-go/common/types"
	"cel.dev/cel-go/common/types/ref"
	"cel.dev/cel-go/common/types/traits"
)

// scanned is the number of bytes of a text that count as one step.
const scanned = 10

// work sets the cost of functions that go through whole values: the library counts these as one
// step, or as one for each element of the outermost list.
type work struct{}

// CallCost returns the cost of a call, or nil when the library counts well.
func (work) CallCost(function, overload string, args []ref.Val, _ ref.Val) *uint64 {
	cost := uint64(1)
	switch function {
	case operators.Equals, operators.NotEquals:
		cost += min(depth(args[0], maxCost), depth(args[1], maxCost)) // the smaller one ends the comparison
	case operators.In:
		if _, object := args[1].(traits.Mapper); !object {
			cost += depth(args[1], maxCost)
		}
	case "size", "charAt", "indexOf", "lastIndexOf", "substring", "split", "trim", "quote", "reverse", "lowerAscii", "upperAscii",
		"string", "bytes", "int", "uint", "double", "timestamp", "duration":
		for _, a := range args {
			cost += text(a)
		}
	default:
		if overload != "" {
			return nil
		}
		for _, a := range args { // of types that are not known before
			cost += depth(a, maxCost)
		}
	}
	return &cost
}

// text returns the cost of going through a text, and 0 for any other value.
func text(v ref.Val) uint64 {
	switch v := v.(type) {
	case types.String:
		return uint64(len(v)) / scanned
	case types.Bytes:
		return uint64(len(v)) / scanned
	}
	return 0
}

// depth returns the cost of going through all that is in a value. It looks no further than most.
func depth(v ref.Val, most uint64) uint64 {
	var in traits.Iterator
	var members traits.Mapper
	switch v := v.(type) {
	case traits.Mapper:
		in, members = v.Iterator(), v
	case traits.Lister:
		in = v.Iterator()
	default:
		return 1 + text(v)
	}
	sum := uint64(1)
	for sum < most && in.HasNext() == types.True {
		e := in.Next()
		if members != nil {
			sum += text(e)
			e, _ = members.Find(e)
		}
		sum += depth(e, most-sum)
	}
	return sum
}
