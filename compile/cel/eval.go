package cel

import (
	"context"
	"errors"
	"fmt"
)

// frame is one evaluation.
type frame struct {
	ctx   context.Context // nil: of what is constant, which is done beforehand
	slots []any           // of variables
	cost  int
	loops int // iterations
}

// ending is an error that ends the evaluation, whatever the condition says beside it: the bound
// of its work, or the end of its context.
type ending struct{ err error }

func (e *ending) Error() string {
	return fmt.Sprintf("the condition takes more than %d steps", maxCost)
}

func (e *ending) Unwrap() error { return e.err }

func ends(err error) bool {
	_, ok := err.(*ending)
	return ok
}

var errOverload = errors.New("values of types that do not go together; double(…) makes a double of an int, string(…) a string")

// spend counts steps.
func (f *frame) spend(steps int) error {
	if f.cost += steps; f.cost > maxCost {
		return &ending{}
	}
	return nil
}

// iteration counts one, and looks at the context every so many of them.
func (f *frame) iteration() error {
	if f.loops++; f.loops%checkEvery == 0 && f.ctx != nil {
		select {
		case <-f.ctx.Done():
			return &ending{f.ctx.Err()}
		default:
		}
	}
	return f.spend(1)
}

// eval returns the value of a node.
func (f *frame) eval(n *node) (any, error) {
	if n.kind == literalNode {
		return n.value, nil
	}
	if err := f.spend(1); err != nil {
		return nil, err
	}
	switch n.kind {
	case nameNode:
		return f.slots[n.slot], nil
	case memberNode, hasNode:
		v, err := f.eval(n.args[0])
		if err != nil {
			return nil, err
		}
		if n.kind == hasNode {
			return has(v, n.name)
		}
		return index(v, n.name)
	case andNode:
		return f.logic(n, false)
	case orNode:
		return f.logic(n, true)
	case choiceNode:
		v, err := f.eval(n.args[0])
		if err != nil {
			return nil, err
		}
		switch v {
		case true:
			return f.eval(n.args[1])
		case false:
			return f.eval(n.args[2])
		}
		return nil, errOverload
	case listNode:
		return f.evalAll(n.args)
	case mapNode:
		return f.makeMap(n)
	case loopNode:
		return f.loop(n)
	}
	args, err := f.evalAll(n.args)
	if err != nil {
		return nil, err
	}
	if n.kind == indexNode {
		return index(args[0], args[1])
	}
	for _, a := range args {
		if err := f.spend(textLen(a) / scanned); err != nil {
			return nil, err
		}
	}
	return n.call(f, n, args)
}

func (f *frame) evalAll(nodes []*node) (list, error) {
	all := make(list, len(nodes))
	for i, n := range nodes {
		v, err := f.eval(n)
		if err != nil {
			return nil, err
		}
		all[i] = v
	}
	return all, nil
}

// logic evaluates && and ||: the value that decides does so whatever is wrong beside it.
func (f *frame) logic(n *node, decides bool) (any, error) {
	var failed error
	for _, a := range n.args {
		v, err := f.eval(a)
		if decided, err := f.decided(v, err, decides, &failed); decided || err != nil {
			return decides, err
		}
	}
	return !decides, failed
}

// decided reports whether a value decides. What else is wrong is kept in failed; the error is one
// that ends the evaluation.
func (f *frame) decided(v any, err error, decides bool, failed *error) (bool, error) {
	b, ok := v.(bool)
	switch {
	case ends(err):
		return false, err
	case err == nil && !ok:
		err = errOverload
	case err == nil:
		return b == decides, nil
	}
	if *failed == nil {
		*failed = err
	}
	return false, nil
}

// makeMap evaluates {key: value}.
func (f *frame) makeMap(n *node) (any, error) {
	all, err := f.evalAll(n.args)
	if err != nil {
		return nil, err
	}
	o := &object{values: map[any]any{}}
	for i := 0; i < len(all); i += 2 {
		k, ok := key(all[i])
		if !ok {
			return nil, fmt.Errorf("%s can't be a key", typeWords(nameOf(all[i])))
		}
		if _, again := o.values[k]; !again {
			o.names = append(o.names, all[i])
		}
		o.values[k] = all[i+1]
	}
	return o, nil
}

// elements returns what a macro goes through.
func elements(v any) (list, error) {
	switch v := v.(type) {
	case list:
		return v, nil
	case *object:
		v.members()
		return v.names, nil
	}
	return nil, fmt.Errorf("%s has no elements to go through", typeWords(nameOf(v)))
}

// loop evaluates a macro.
func (f *frame) loop(n *node) (any, error) {
	v, err := f.eval(n.args[0])
	if err != nil {
		return nil, err
	}
	all, err := elements(v)
	if err != nil {
		return nil, err
	}
	switch n.name {
	case "all", "exists":
		return f.quantifier(n, all, n.name == "exists")
	case "sortBy":
		if _, isList := v.(list); !isList {
			return nil, errOverload
		}
		keys, err := f.each(n, all, nil, n.args[1])
		if err != nil {
			return nil, err
		}
		return f.sorted(all, keys)
	case "filter":
		return f.each(n, all, n.args[1], nil)
	case "map":
		if len(n.args) == 3 {
			return f.each(n, all, n.args[1], n.args[2])
		}
		return f.each(n, all, nil, n.args[1])
	}
	kept, err := f.each(n, all, n.args[1], nil)
	return len(kept) == 1, err
}

// quantifier evaluates all and exists, which are && and || over the elements.
func (f *frame) quantifier(n *node, all list, decides bool) (any, error) {
	var failed error
	for _, e := range all {
		if err := f.iteration(); err != nil {
			return nil, err
		}
		f.slots[n.slot] = e
		v, err := f.eval(n.args[1])
		if decided, err := f.decided(v, err, decides, &failed); decided || err != nil {
			return decides, err
		}
	}
	return !decides, failed
}

// each returns, of the elements for which a condition holds, what is made of them: themselves, if
// nothing is.
func (f *frame) each(n *node, all list, condition, makes *node) (list, error) {
	made := list{}
	for _, e := range all {
		if err := f.iteration(); err != nil {
			return nil, err
		}
		f.slots[n.slot] = e
		if condition != nil {
			v, err := f.eval(condition)
			switch {
			case err != nil:
				return nil, err
			case v == false:
				continue
			case v != true:
				return nil, errOverload
			}
		}
		if makes != nil {
			v, err := f.eval(makes)
			if err != nil {
				return nil, err
			}
			e = v
		}
		made = append(made, e)
	}
	return made, nil
}
