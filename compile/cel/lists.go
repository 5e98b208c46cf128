package cel

import (
	"errors"
	"fmt"
	"slices"
)

func reverse(f *frame, _ *node, args []any) (any, error) {
	switch v := args[0].(type) {
	case string:
		runes := []rune(v)
		slices.Reverse(runes)
		return string(runes), nil
	case list:
		all := slices.Clone(v)
		slices.Reverse(all)
		return all, f.spend(len(all))
	}
	return nil, errOverload
}

func slice(f *frame, _ *node, args []any) (any, error) {
	all, ok := args[0].(list)
	at, whole := ints(args[1:])
	switch {
	case !ok || !whole:
		return nil, errOverload
	case at[0] < 0 || at[1] < at[0] || at[1] > int64(len(all)):
		return nil, fmt.Errorf("a part of a list from %d to %d, which has %d elements", at[0], at[1], len(all))
	}
	return all[at[0]:at[1]:at[1]], f.spend(int(at[1] - at[0]))
}

func flatten(f *frame, _ *node, args []any) (any, error) {
	all, ok := args[0].(list)
	depth, whole := ints(args[1:])
	switch {
	case !ok || !whole:
		return nil, errOverload
	case len(depth) == 0:
		depth = []int64{1}
	case depth[0] < 0:
		return nil, errors.New("level must be non-negative")
	}
	return f.flat(list{}, all, depth[0])
}

func (f *frame) flat(to, all list, depth int64) (list, error) {
	if err := f.spend(len(all)); err != nil {
		return nil, err
	}
	for _, e := range all {
		inner, ok := e.(list)
		if !ok || depth == 0 {
			to = append(to, e)
			continue
		}
		var err error
		if to, err = f.flat(to, inner, depth-1); err != nil {
			return nil, err
		}
	}
	return to, nil
}

// listRange returns the ints from 0 on, of which a condition can take as many as it may have steps.
func listRange(f *frame, _ *node, args []any) (any, error) {
	n, ok := args[0].(int64)
	switch {
	case !ok:
		return nil, errOverload
	case n < 0:
		return nil, fmt.Errorf("a list of %d elements", n)
	}
	if err := f.spend(int(min(n, maxCost+1)) / scanned * scanned); err != nil {
		return nil, err
	}
	all := make(list, n)
	for i := range all {
		all[i] = int64(i)
	}
	return all, nil
}
