package exec

import (
	"bytes"
	"cmp"
	"encoding/json"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/compile/report"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
)

// Terms describes, for the person who is asked about a call, all that is done when the call is
// made.
type Terms struct {
	Tool     string          `json:"tool"`
	Target   string          `json:"target,omitempty"`   // what runs it, in words, with what others wrote in quotes
	Origin   string          `json:"origin,omitempty"`   // who declares that, in words
	Identity string          `json:"identity,omitempty"` // digest of the target
	Params   json.RawMessage `json:"params"`             // null: not known before the call is made
	Scopes   json.RawMessage `json:"scopes,omitempty"`   // the parts of the whiteboard that the call may read
	Retries  int             `json:"retries,omitempty"`  // after the first attempt, at most
	Timeout  string          `json:"timeout,omitempty"`  // of an attempt
	// Breaks lists the parts of a policy that the call breaks, which is why a guard asks a person.
	Breaks []string `json:"breaks,omitempty"`
	// Asks is the kind of a question other than an approval, and Answered the number of questions
	// about the call that were answered before. They make the digest differ from those of earlier
	// questions about the call, so that no earlier answer is taken for an answer to this one.
	Asks     QuestionKind `json:"asks,omitempty"`
	Answered int          `json:"answered,omitempty"`
	// Fallback describes the call that is made if this one fails. If its params are null and it
	// changes the world, a person is asked about it when it is reached.
	Fallback *Terms `json:"fallback,omitempty"`
}

// Digest returns the SHA-256, in hexadecimal, of the terms and the path of a call (see Event). It
// identifies a question in its answer, and a covered call.
func (t *Terms) Digest(path string) string {
	text, err := json.Marshal(t)
	if err != nil {
		panic(err) // the params are JSON
	}
	return digest([]byte(path), canonical(text))
}

// Terms returns the terms of a call under the options, with these params and these params of its
// fallback. Nil params are not known.
func (o *Options) Terms(c *compile.Call, params, fallback json.RawMessage) *Terms {
	t := termsOf(c.Source.Tool, c.Target, params)
	if !c.Delegates() {
		t.Timeout = cmp.Or(c.Timeout, o.Timeout, DefaultTimeout).String()
	} else if c.Timeout > 0 {
		t.Timeout = c.Timeout.String()
	}
	if c.Rare == nil {
		if o.Retry != nil {
			t.Retries = max(0, o.Retry.Max)
		}
		return t
	}
	if r := cmp.Or(c.Retry, o.Retry); r != (*lang.Retry)(nil) {
		t.Retries = max(0, r.Max)
	}
	if c.Fallback != nil {
		t.Fallback = o.FallbackTerms(c, fallback)
	}
	return t
}

// FallbackTerms returns the terms of the fallback of a call.
func (o *Options) FallbackTerms(c *compile.Call, params json.RawMessage) *Terms {
	f := c.Fallback
	t := termsOf(f.Tool.Definition.Name, f.Target, params)
	t.Timeout = cmp.Or(f.Timeout, o.Timeout, DefaultTimeout).String()
	return t
}

func termsOf(name string, target *compile.Target, params json.RawMessage) *Terms {
	t := &Terms{Tool: name, Params: params}
	if target != nil {
		t.Target, t.Origin, t.Identity = target.Words(), target.Origin.String(), report.TargetDigest(target)
	}
	return t
}

// since lists what has changed since the call had other terms; nil if nothing has, or if before is
// nil. It does not compare Breaks.
func (t *Terms) since(before *Terms) (changed []string) {
	if before == nil {
		return nil
	}
	for _, part := range []struct {
		name string
		is   bool
	}{
		{"the tool", t.Tool != before.Tool},
		{"what runs it", t.Target != before.Target || t.Identity != before.Identity},
		{"the params", !sameJSON(t.Params, before.Params)},
		{"what it may read", !sameJSON(t.Scopes, before.Scopes)},
		{"the retries", t.Retries != before.Retries},
		{"the timeout", t.Timeout != before.Timeout},
	} {
		if part.is {
			changed = append(changed, part.name)
		}
	}
	switch f, was := t.Fallback, before.Fallback; {
	case (f == nil) != (was == nil), f != nil && f.since(was) != nil:
		changed = append(changed, "the fallback")
	}
	return changed
}

// sameJSON reports whether two values are the same; nil is null.
func sameJSON(a, b json.RawMessage) bool {
	null := json.RawMessage("null")
	if a == nil {
		a = null
	}
	if b == nil {
		b = null
	}
	return bytes.Equal(canonical(a), canonical(b))
}

// Cover returns the key in Options.Covered of a call with these terms.
func (t *Terms) Cover(instance, path string) string { return instance + "\x00" + t.Digest(path) }

// AsksFallback reports whether a person must approve the fallback of a call when it is reached, and
// the reason to show. No approval is needed if exactly this fallback was shown before; the caller
// finds that out.
func (a Approve) AsksFallback(p *compile.Call) (reason string, asks bool) {
	if p.Rare == nil || p.Fallback == nil {
		return "", false
	}
	f := p.Fallback.Target
	if f == nil {
		f = &compile.Target{}
	}
	switch why, asks := a.Asks(p); {
	case f.Approve.Needed:
		return "its fallback: " + quotedReason(f.Asker, f.Approve.Reason), true
	case a == ApproveAll:
		return "every call needs approval", true
	case a == ApproveDestructive && f.Effects.Destructive == tool.Yes:
		return fallbackDestroys(p), true
	case asks && (f.Effects.ChangesWorld() || !f.Effects.Declared()):
		return why, true
	}
	return "", false
}

// fallbackParams returns the params of the fallback of a call as they would be now; false if there
// is no fallback or they have no value. held reports whether the caller holds mu.
func (s *scheduler) fallbackParams(p *compile.Call, params json.RawMessage, held bool) (json.RawMessage, bool) {
	if p.Rare == nil || p.Fallback == nil {
		return nil, false
	}
	if p.Fallback.Params == nil {
		return params, true
	}
	params, err := p.Fallback.Params.ResolveWithin(s.maxValue(), &placeReader{s: s, before: p.Place, held: held}, s.prog().Refs == compile.LenientRefs, nil)
	s.spendRoom(len(params), held)
	return params, err == nil
}

// terms returns the terms of a call with these params. held reports whether the caller holds mu.
func (s *scheduler) terms(i int32, params json.RawMessage, held bool) *Terms {
	p := &s.prog().Calls[i]
	fallback, _ := s.fallbackParams(p, params, held)
	t := s.opts.Terms(p, params, fallback)
	t.Scopes = s.scopes(p, held)
	return t
}

// fallbackTerms returns the terms of the fallback of a call with these params. held reports whether
// the caller holds mu.
func (s *scheduler) fallbackTerms(p *compile.Call, params json.RawMessage, held bool) *Terms {
	t := s.opts.FallbackTerms(p, params)
	t.Scopes = s.scopes(p, held)
	return t
}

// covered reports whether exactly this call, and exactly its fallback, were shown to whoever
// approved the plan.
func (s *scheduler) covered(i int32, params json.RawMessage) (call, fallback bool) {
	if len(s.opts.Covered) == 0 || s.opts.Approve == ApproveAll {
		return false, false
	}
	t := s.terms(i, params, false)
	key := func() string { return t.Cover(s.instanceOf(i), s.path(i)) }
	if s.opts.Covered[key()] {
		return true, t.Fallback != nil && t.Fallback.Params != nil
	}
	if t.Fallback == nil || t.Fallback.Params == nil {
		return false, false
	}
	t.Fallback.Params = nil
	return s.opts.Covered[key()], false
}
