package compile

import (
	"encoding/json"

	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
)

// Undoing undoes what a call did when the run is undone. It is a call of another tool, in a run of
// its own.
type Undoing struct {
	*tool.Undo
	// Call holds what the tool alone decides about that call: its target, effects, approval and
	// fallback, but no params. It is nil if there is no such tool, which undo.Check reports.
	Call *Call
}

// NewUndoing returns the Undoing for an undo, with the tools of a catalogue.
func NewUndoing(tools *tool.Catalogue, u *tool.Undo) *Undoing {
	s := &delegates{base: tools, undoing: map[string]*Call{}}
	return &Undoing{u, s.undoCall(u.Tool)}
}

// findUndoing finds the undo of a call and that of its fallback.
func (c *lowerer) findUndoing(d *draft) {
	if d.Target != nil && !d.Delegates() && d.Result == nil {
		d.Undoing = c.undoing(d.Target, d.OwnUndo())
	}
	if f := d.Fallback; f != nil {
		f.Undoing = c.undoing(f.Target, f.Undo)
	}
}

// undoing returns what takes back calls of a target; nil if nothing does. own is what the plan
// says.
func (c *lowerer) undoing(t *Target, own *tool.Undo) *Undoing {
	u := own
	if u == nil {
		u = t.Undo
	}
	if u == nil || u.Tool == "" || t.Effects.ReadOnly == tool.Yes || t.Effects.Pure == tool.Yes {
		return nil
	}
	return &Undoing{u, c.delegates.undoCall(u.Tool)}
}

// undoCall returns the call of a tool that takes others back; nil if there is no such tool. A run
// that undoes another has the tools of the options, and none that a document defines.
func (s *delegates) undoCall(name string) *Call {
	if call, known := s.undoing[name]; known {
		return call
	}
	var call *Call
	if t, ok := s.base.Lookup(name); ok {
		target, _ := NewTarget(s.base, t, nil)
		call = &Call{Source: &lang.Call{Tool: name}, Tool: t, Target: target, Effects: target.Effects, Rare: &Rare{Approve: target.Approve}}
		if call.Fallback = s.fixedFallback(t); call.Fallback != nil {
			call.Effects = call.Effects.Either(call.Fallback.Target.Effects)
			if !call.Approve.Needed {
				call.Approve = call.Fallback.Target.Approve
			}
		}
	}
	s.undoing[name] = call
	return call
}

// fixedFallback returns the fallback that the definition of a tool fixes for its calls; nil if it
// fixes none.
func (s *delegates) fixedFallback(t *tool.Tool) *Fallback {
	fixed := t.Definition.Fixed["_fallback"]
	if fixed == nil || fixed.Const == nil {
		return nil
	}
	var own struct {
		Tool     string  `json:"_tool"`
		Activity *string `json:"_activity"`
	}
	if json.Unmarshal(fixed.Const, &own.Tool) != nil && json.Unmarshal(fixed.Const, &own) != nil {
		return nil
	}
	other, ok := s.base.Lookup(own.Tool)
	if !ok {
		return nil
	}
	target, _ := NewTarget(s.base, other, own.Activity)
	return &Fallback{Target: target, Tool: other, Activity: target.Activity}
}
