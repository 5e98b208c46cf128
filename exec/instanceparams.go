package exec

import (
	"encoding/json"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/state"
)

// callsOfStart returns the calls whose params depend only on what an instance begins with: they are
// always made, and read nothing that other calls write.
func callsOfStart(prog *compile.Program) (calls []*compile.Call) {
	for i := range prog.Calls {
		c := &prog.Calls[i]
		_, literal := c.Params.Literal()
		if !literal && c.When == nil && c.Target != nil && (c.Rare == nil || c.Instance == "" && c.Result == nil) && !readsWrites(prog, c) {
			calls = append(calls, c)
		}
	}
	return calls
}

// readsWrites reports whether the params of a call read what calls write.
func readsWrites(prog *compile.Program, c *compile.Call) bool {
	for read := range c.Params.Reads() {
		for layer := read; layer != nil; layer = layer.Under {
			for range prog.Writers(layer.Path, layer.Since, c.Place) {
				return true
			}
		}
	}
	return false
}

// params checks the params of calls against what their tools take, on a whiteboard to which nothing
// was written.
func (c *instanceCheck) params(calls []*compile.Call, board *state.Whiteboard) {
	for _, call := range calls {
		if c.err = c.meter.Err(); c.err != nil {
			return
		}
		params, err := call.Params.Resolve(&startReader{board, call.Place}, c.prog.Refs == compile.LenientRefs, func(*compile.Read) {})
		c.meter.Take(len(params))
		if u, ok := err.(*compile.Unresolved); ok && u.Presence != compile.Missing {
			continue // the call is skipped
		}
		if err != nil {
			c.errorf("the call %q would fail: %s", call.ID, err)
			continue
		}
		for _, def := range call.Target.Definitions {
			if def.Params == nil {
				continue
			}
			if err := c.validate(def.Params, def.Sent(params)); err != nil {
				c.errorf("the call %q would fail: %s", call.ID, unfitParams(def, err))
			}
		}
	}
}

// startReader reads a whiteboard as it is before the first write.
type startReader struct {
	board  *state.Whiteboard
	before state.Place
}

func (r *startReader) Read(read *compile.Read) (json.RawMessage, compile.Presence) {
	if v, ok := r.board.Read(read.Path, read.Since, r.before); ok {
		return v, compile.Present
	}
	if r.board.Held(read.Path) {
		return nil, compile.Missing
	}
	return nil, compile.Gone
}
