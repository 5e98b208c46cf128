package forecast

import (
	"encoding/json"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/lang"
)

// Terms describes how a call is made according to the plan and the definition of its tool,
// whichever path the run takes.
type Terms struct {
	Written   json.RawMessage `json:"written"` // the params as the plan has them, with their references
	When      string          `json:"when,omitempty"`
	Words     string          `json:"target,omitempty"`   // what runs it, in words
	Origin    string          `json:"origin,omitempty"`   // who declares that
	Activity  string          `json:"activity,omitempty"` // that the call picks
	Retries   int             `json:"retries"`            // after the first attempt, at most
	Timeout   string          `json:"timeout,omitempty"`  // of an attempt, as in "5s"; "" is the run's
	Fallback  *FallbackTerms  `json:"fallback,omitempty"`
	OnFailure string          `json:"onFailure,omitempty"`
	Undo      *UndoTerms      `json:"undo,omitempty"`    // how it is undone when the run is undone
	Repeats   *Count          `json:"repeats,omitempty"` // most runs of its document in one attempt; nil if it has none

	Params []lang.Member `json:"-"` // the params as they are written
}

// FallbackTerms describes how the fallback of a call is made.
type FallbackTerms struct {
	Tool   string     `json:"tool"`
	Effect EffectKind `json:"effect"`
	Words  string     `json:"target"`
	// Approval is why a person is asked before it is called, or "" if nobody is.
	Approval string          `json:"approval,omitempty"`
	Written  json.RawMessage `json:"written"`        // nil: the params of the call
	Undo     *UndoTerms      `json:"undo,omitempty"` // how it is undone

	Params []lang.Member `json:"-"` // its own params as they are written
}

// UndoTerms describes how a call is undone when the run is undone.
type UndoTerms struct {
	Tool     string          `json:"tool"`
	Effect   EffectKind      `json:"effect"`
	Words    string          `json:"target"`
	Approval string          `json:"approval,omitempty"` // why a person is asked before
	Fallback *FallbackTerms  `json:"fallback,omitempty"` // that the definition of the tool fixes
	Written  json.RawMessage `json:"written"`            // its params, with their references
}

// undoTerms returns how a call is undone; nil if nothing undoes it.
func undoTerms(u *compile.Undoing, opts *Options) *UndoTerms {
	if u == nil {
		return nil
	}
	t := &UndoTerms{Tool: u.Tool, Effect: Undeclared, Written: u.Params}
	if u.Call == nil {
		return t
	}
	t.Effect, t.Words = EffectOf(u.Call.Target.Effects), u.Call.Target.Words()
	t.Approval, _ = opts.Approve.Asks(u.Call)
	t.Fallback = fallbackTerms(u.Call.Fallback, opts)
	return t
}

// fallbackTerms returns the terms of a fallback with the params of its call; nil if there is none.
func fallbackTerms(f *compile.Fallback, opts *Options) *FallbackTerms {
	if f == nil {
		return nil
	}
	t := f.Target
	return &FallbackTerms{Tool: t.Tool.Definition.Name, Effect: EffectOf(t.Effects), Words: t.Words(), Undo: undoTerms(f.Undoing, opts)}
}

// termsOf returns the terms of a call.
func termsOf(c *compile.Call, opts *Options) *Terms {
	t := &Terms{Written: written(c.Source.Params), Retries: Retries(c, opts), Undo: undoTerms(c.Undoing, opts), Params: c.Source.Params}
	if c.Target != nil {
		t.Words, t.Origin = c.Target.Words(), c.Target.Origin.String()
	}
	src := c.Source.Rest
	if src == nil || c.Rare == nil {
		return t
	}
	if src.When != nil {
		t.When = src.When.String()
	}
	t.Activity, t.OnFailure = src.Activity, c.OnFailure
	if c.Timeout > 0 {
		t.Timeout = c.Timeout.String()
	}
	if c.Fallback != nil {
		t.Fallback = fallbackTerms(c.Fallback, opts)
		t.Fallback.Approval, _ = opts.Approve.AsksFallback(c)
		if src.Fallback != nil && src.Fallback.Own {
			t.Fallback.Params = src.Fallback.Params
			t.Fallback.Written = written(src.Fallback.Params)
		}
	}
	if c.Delegate != nil && c.Delegate.Program != nil {
		n := rounds(c.Delegate)
		t.Repeats = &n
	}
	return t
}

// written returns an object of params as the plan has them.
func written(params []lang.Member) json.RawMessage {
	out := []byte{'{'}
	for i, m := range params {
		if i > 0 {
			out = append(out, ',')
		}
		name, err := json.Marshal(m.Name)
		if err != nil {
			panic(err) // a string can always be encoded
		}
		out = m.Value.AppendJSON(append(append(out, name...), ':'))
	}
	return append(out, '}')
}
