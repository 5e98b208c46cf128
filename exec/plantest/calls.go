package plantest

import (
	"fmt"
	"iter"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
)

// All yields the result of each call, by its path (see exec.Event). The calls of the plan are each
// followed by those of the documents that they delegate to.
func (o *Outcome) All() iter.Seq2[string, *exec.CallResult] {
	return func(yield func(string, *exec.CallResult) bool) { each(o.prog, "", o.Calls, yield) }
}

func each(prog *compile.Program, prefix string, calls []exec.CallResult, yield func(string, *exec.CallResult) bool) bool {
	for i := range calls {
		c := &calls[i]
		path := prefix + exec.PathOf(c.ID)
		if !yield(path, c) {
			return false
		}
		d := delegateOf(prog, c.ID)
		for _, r := range c.Runs {
			if d == nil {
				break
			}
			below := path + "/"
			if d.Loop != compile.Once {
				below = fmt.Sprintf("%s[%d]/", path, r.Item)
			}
			if !each(d.Program, below, r.Calls, yield) {
				return false
			}
		}
	}
	return true
}

// delegateOf returns the document that a call runs; nil if it runs none.
func delegateOf(prog *compile.Program, id string) *compile.Delegate {
	c, ok := prog.Call(id)
	if !ok || c.Rare == nil || c.Delegate == nil || c.Delegate.Program == nil {
		return nil
	}
	return c.Delegate
}
