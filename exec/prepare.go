package exec

import (
	"encoding/json"
	"fmt"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/state"
	"github.com/plc-lang/plc/tool"
)

// prepare decides whether the call runs, and resolves and validates its params.
// It reports false when the call has come to its end.
func (s *scheduler) prepare(i int32, c *call, p *compile.Call, w *worker) bool {
	reads := w.reader(s, p.Place)
	if reason := s.skipIfNeeded(i, p, reads); reason != "" {
		return false
	}
	var warn func(*compile.Read)
	if s.prog().Refs == compile.LenientRefs || s.madeUp(p) {
		warn = func(r *compile.Read) { s.warnNothingThere(i, r) }
	}
	params, err := p.Params.ResolveWithin(s.maxValue(), reads, warn != nil, warn)
	s.spendRoom(len(params), false)
	switch u, _ := err.(*compile.Unresolved); {
	case err != nil && u == nil:
		s.failed(i, &Failure{"too-large", err.Error()})
		return false
	case u == nil:
		f := s.checkParams(p.Target, params)
		if f == nil || s.tolerates(i, f) {
			break
		}
		if params = s.amended(i, p); params == nil {
			s.failed(i, f)
			return false
		}
	case u.Presence == compile.Missing && s.amended(i, p) != nil:
		params = s.amended(i, p)
	default:
		s.unresolved(i, u)
		return false
	}
	c.params = params
	if s.opts.OnParams != nil && s.opts.Replay {
		s.opts.OnParams(s.instanceOf(i), s.path(i), params)
	}
	if !s.recall(i, c, p) {
		return false
	}
	if s.opts.OnCallStart == nil || p.Result != nil || c.attempts > 0 {
		return true
	}
	changed, err := s.opts.OnCallStart(s.ctx, p, c.params)
	if err != nil {
		s.failed(i, failureOf(err, "refused"))
		return false
	}
	if changed != nil {
		if f := s.checkGiven(p.Target, changed); f != nil {
			s.failed(i, f)
			return false
		}
		c.edit(changed)
	}
	return true
}

// skipIfNeeded skips a call whose _when does not hold, or that depends on a call that failed. It
// returns the reason, or "" if the call is not skipped.
func (s *scheduler) skipIfNeeded(i int32, p *compile.Call, reads *placeReader) string {
	if len(p.DependsOn) == 0 && p.When == nil {
		return ""
	}
	s.mu.Lock()
	for _, d := range p.DependsOn {
		if dep := s.call(d); dep.status == Failed && !dep.handled || dep.byFailure && !s.satisfies(dep) {
			reason := fmt.Sprintf("it depends on %q, which %s", s.prog().Calls[d].ID, s.fate(d))
			s.mu.Unlock()
			s.skip(i, reason, true)
			return reason
		}
	}
	s.mu.Unlock()
	if p.When == nil {
		return ""
	}
	v, presence, read := p.When.Eval(reads)
	s.spendRoom(len(v), false)
	reason := ""
	switch {
	case presence != compile.Present && read != nil:
		reason = fmt.Sprintf("its _when is not present: nothing is at %s", read.Path)
	case presence != compile.Present || string(v) == "null" || string(v) == "false":
		reason = fmt.Sprintf("its _when is %s", v)
	default:
		return ""
	}
	s.skip(i, reason, false)
	return reason
}

// satisfies reports whether a call that was skipped because of a failure counts as done for the
// calls that depend on it, as in the system that the plan was made for.
func (s *scheduler) satisfies(c *call) bool {
	return s.prog().Document.Profile.SkippedSatisfies && c.status == Skipped
}

// fate says, for a message, how a call ended. The caller holds mu.
func (s *scheduler) fate(i int32) string {
	c := s.call(i)
	switch {
	case c.failure != nil && c.status != Completed:
		return "failed"
	case c.status == Skipped:
		return "was skipped"
	}
	return "took another outcome"
}

// unresolved ends a call whose params can't be resolved: it is skipped if a value can't come any
// more, and fails if a value is missing (plan-language §5).
func (s *scheduler) unresolved(i int32, u *compile.Unresolved) {
	if u.Presence == compile.Missing {
		s.failed(i, &Failure{"missing", fmt.Sprintf("nothing is at %s", u.Read.Path)})
		return
	}
	reads := &placeReader{s: s, before: s.prog().Calls[i].Place}
	var blame *compile.Call
	byFailure, path := false, u.Read.Path
	for read := range s.prog().Calls[i].Params.Gone(reads) {
		w, failed := s.blame(read, reads.before)
		if failed && !byFailure || blame == nil {
			blame, byFailure, path = w, failed, read.Path
		}
	}
	reason := fmt.Sprintf("%s can't come", path)
	if blame != nil {
		s.mu.Lock()
		reason += fmt.Sprintf(": %q %s", blame.ID, s.fate(int32(blame.Place-1)))
		s.mu.Unlock()
	}
	s.skip(i, reason, byFailure)
}

// blame returns the call because of which a read can't come. It prefers a call that failed, or was
// skipped because of a failure; failed reports that it found one.
func (s *scheduler) blame(read *compile.Read, before state.Place) (call *compile.Call, failed bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for layer := read; layer != nil; layer = layer.Under {
		for w := range s.prog().Writers(layer.Path, layer.Since, before) {
			if c := s.call(int32(w.Place - 1)); c.status == Failed && !c.handled || c.byFailure {
				return w, true
			}
			if call == nil {
				call = w
			}
		}
	}
	return call, false
}

// warnNothingThere reports that a reference found nothing and became an empty string.
func (s *scheduler) warnNothingThere(i int32, r *compile.Read) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f := s.finding(i, r)
	f.Message = fmt.Sprintf("nothing is at %s; an empty string stands for it", r.Path)
	s.spendRoom(bytesOfWarn, true)
	s.findings = append(s.findings, f)
	s.emitCall(i, Event{Type: Warned, Reason: f.Message, Path: r.Path.String()})
}

// checkParams validates resolved params.
func (s *scheduler) checkParams(t *compile.Target, params json.RawMessage) *Failure {
	for _, def := range t.Definitions {
		if def.Params == nil {
			continue
		}
		if err := s.validate(def.Params, def.Sent(params)); err != nil {
			if s.ctx.Err() != nil {
				return calledOff
			}
			return &Failure{"params", unfitParams(def, err)}
		}
	}
	return nil
}

func unfitParams(def *tool.Definition, err error) string {
	return fmt.Sprintf("the params do not fit the tool %q: %s", def.Name, err)
}

// checkGiven validates params that come from a hook or a person.
func (s *scheduler) checkGiven(t *compile.Target, params json.RawMessage) *Failure {
	if err := jsonscan.Check(params, jsonscan.Limits{}); err != nil {
		return &Failure{"params", fmt.Sprintf("the params are not JSON: %s", err)}
	}
	if !jsonscan.IsObject(params) {
		return &Failure{"params", "the params are no JSON object"}
	}
	return s.checkParams(t, params)
}
