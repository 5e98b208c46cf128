package exec

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/tool"
)

// A call is the same as a recorded one if its content is the same: its tool, its params, the
// documents that it runs and what it sees of the whiteboard. If the plan was revised, its name does
// not matter. The result of a fallback counts only for a call with the same fallback.

// trail links a call to the record. The zero trail, and a nil one, belong to a call of which the
// record knows nothing.
type trail struct {
	content  string // digest of its tool and params
	past     *Past  // with the same content; nil if there is none
	claimed  bool   // the past is that of a call with another name, or of another run
	replaced bool   // the recorded result came from another fallback than the call has now
	key      string // of earlier attempts of its tool
	fallback string // key of the earlier attempt of its fallback
}

// recording holds the state of the record and of open questions, which the schedulers of a run
// share.
type recording struct {
	asked    map[askPlace]*asking        // nil until there is a question
	pasts    map[string]map[string]*Past // what the record knows, by instance and path; nil without one
	orphans  map[string]orphans          // recorded calls that the plan no longer has, by instance
	shifted  map[string]orphans          // recorded calls that don't delegate, whose paths the plan may have for others, by instance
	claimed  map[claim]string            // paths of the calls of a revised plan that took what is recorded
	renamed  map[callPlace]string        // recorded paths of calls that delegate and were renamed
	unsound  int                         // number of calls that failed unhandled
	finished int                         // number of calls that have ended
	replan   bool                        // the run pauses for a new plan
	err      error                       // error that ended the run and is not of a call: of its record, or a panic of a hook
	boards   [sha256.Size]byte           // combined digest of the whiteboards of instances
}

// applied reports whether what the call wrote is on the initial whiteboard.
func (t *trail) applied() bool { return t != nil && t.past != nil && t.past.Applied }

// load reads what happened before from the record.
func (s *scheduler) load() error {
	if s.opts.Record == nil {
		return nil
	}
	past, err := s.opts.Record.Past("")
	if err != nil {
		return fmt.Errorf("exec: the record can't be read: %w", err)
	}
	s.pasts, s.orphans, s.shifted = map[string]map[string]*Past{"": past}, map[string]orphans{}, map[string]orphans{}
	s.renamed, s.claimed = map[callPlace]string{}, map[claim]string{}
	return nil
}

// orphans are calls of the record that a revised plan no longer has, or may not have, by their
// contents without documents.
type orphans map[string][]orphan

type orphan struct {
	path string
	past *Past
}

// callPlace is where a call is: in an instance, by its path.
type callPlace struct{ instance, path string }

// A claim is what the record knows of the call with a content at a place.
type claim struct {
	callPlace
	content string
}

// claim notes that a call of a revised plan takes what the record knows of the call with a content
// and a path. It reports false if another call has taken it. The caller holds mu.
func (s *scheduler) claim(i int32, path, content string) bool {
	if s.opts.Revision == 0 || s.parent != nil {
		return true
	}
	of, own := claim{callPlace{s.instanceOf(i), path}, content}, s.path(i)
	if by, ok := s.claimed[of]; ok {
		return by == own
	}
	s.claimed[of] = own
	return true
}

// adopt returns the past of a call with this content that the plan no longer has, or nil. The calls
// in the document of that call then count for those in the document of the new call, even if the
// document was changed. A past of a call without a document may also be that of a path that the
// plan has for another call. The caller holds mu.
func (s *scheduler) adopt(i int32, content string) *Past {
	if s.opts.Revision == 0 || s.opts.Record == nil || s.parent != nil {
		return nil
	}
	instance := s.instanceOf(i)
	all, ok := s.orphans[instance]
	if !ok {
		all, s.shifted[instance] = s.findOrphans(s.pastsOf(instance))
		s.orphans[instance] = all
	}
	base := withoutDocuments(content)
	list, delegates := all[base], base != content
	n := slices.IndexFunc(list, func(o orphan) bool { return sameContent(o.past.Content, content) })
	if n < 0 && delegates && len(list) > 0 {
		n = 0
	}
	if n < 0 {
		for _, o := range s.shifted[instance][content] {
			if s.claim(i, o.path, content) {
				return o.past
			}
		}
		return nil
	}
	found := list[n]
	if own := s.pastOf(i); own == nil || withoutDocuments(own.Content) != base {
		if all[base] = slices.Delete(list, n, n+1); delegates {
			s.renamed[callPlace{instance, s.path(i)}] = found.path
		}
	}
	if !sameContent(found.past.Content, content) {
		return nil
	}
	return found.past
}

// findOrphans returns the calls of the record whose paths the plan no longer has, and those without
// documents whose paths it may have for calls of other contents.
func (s *scheduler) findOrphans(past map[string]*Past) (gone, shifted orphans) {
	has := map[string]bool{}
	for i := range s.prog().Calls {
		has[s.path(int32(i))] = true
	}
	gone, shifted = orphans{}, orphans{}
	for _, path := range slices.Sorted(maps.Keys(past)) {
		if strings.Contains(path, "/") {
			continue
		}
		p := past[path]
		for _, o := range append([]*Past{p}, p.Others...) {
			base := withoutDocuments(o.Content)
			switch {
			case o.Content == "":
			case o == p && !has[path]:
				gone[base] = append(gone[base], orphan{path, p})
			case o.Content == base:
				shifted[base] = append(shifted[base], orphan{path, p.of(o.Content)})
			}
		}
	}
	return gone, shifted
}

// sameContent reports whether a recorded content is that of a call. In older records, contents do
// not cover documents.
func sameContent(recorded, content string) bool {
	return recorded == content || recorded != "" && recorded == withoutDocuments(content)
}

// withoutDocuments returns a content without the digest of documents at its end.
func withoutDocuments(content string) string { return content[:min(len(content), 2*sha256.Size)] }

// instanceOf returns the instance that a call works on.
func (s *scheduler) instanceOf(i int32) string {
	if r := s.prog().Calls[i].Rare; r != nil && s.instance == "" {
		return r.Instance
	}
	return s.instance
}

// pastOf returns what is known of the call at this path, whose content may be another. The caller
// holds mu.
func (s *scheduler) pastOf(i int32) *Past {
	if s.opts.Record == nil {
		return nil
	}
	instance, path := s.instanceOf(i), s.path(i)
	if len(s.renamed) > 0 {
		if n := strings.IndexAny(path, "/[#"); n >= 0 { // it is in a document
			if was, ok := s.renamed[callPlace{instance, path[:n]}]; ok {
				path = was + path[n:]
			}
		}
	}
	return s.pastsOf(instance)[path]
}

// pastsOf returns what is known of the calls of an instance. The caller holds mu.
func (p *pool) pastsOf(instance string) map[string]*Past {
	past, ok := p.pasts[instance]
	if !ok {
		var err error
		if past, err = p.opts.Record.Past(instance); err != nil {
			p.failRecord(err)
		}
		p.pasts[instance] = past
	}
	return past
}

// begunBefore reports whether the record knows of an instance.
func (p *pool) begunBefore(instance string) bool {
	if p.opts.Record == nil {
		return false
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.pastsOf(instance) != nil
}

// failRecord ends the run because of its record. The caller holds mu.
func (p *pool) failRecord(err error) {
	p.breakOff(&RecordError{err})
}

// known reports whether a call will end as the record says, without calling its tool. The caller
// holds mu.
func (s *scheduler) known(i int32) bool {
	past := s.pastOf(i)
	switch {
	case past == nil:
		return false
	case s.opts.Replay:
		return past.Returned != nil || past.Settled != "" || s.opts.OnParams != nil
	}
	return past.Returned != nil && (past.Returned.Failure == nil || !s.mayRetry(past.Returned))
}

// mayTake reports whether a ready call may be taken. In a run that stops nothing new starts, but
// calls that ended before it stopped are taken. The caller holds mu.
func (s *scheduler) mayTake(i int32) bool {
	switch {
	case s.opts.Replay:
		return s.known(i)
	case s.mayStart(i):
		return true
	}
	return s.catchesUp() && (s.known(i) || s.stopped.status == Failed && s.isUncertain(i))
}

// lostBefore returns what is known of a call that another process started and to which the record
// has no answer; nil for any other call. The caller holds mu.
func (s *scheduler) lostBefore(i int32) *Past {
	past := s.pastOf(i)
	if past == nil || !past.Lost || past.Returned != nil || s.prog().Calls[i].Delegates() && !past.Fallback {
		return nil
	}
	return past
}

// isUncertain reports whether a call was started by another process, has no answer, and must not be
// made again unless somebody allows it, which nobody has yet. The caller holds mu.
func (s *scheduler) isUncertain(i int32) bool {
	past := s.lostBefore(i)
	return past != nil && past.Answer == nil && s.opts.OnUncertain != RetryUncertain && !repeatable(&s.prog().Calls[i], past.Fallback)
}

// repeatable reports whether an attempt of a call, or of its fallback, may be made again when its
// answer was lost.
func repeatable(p *compile.Call, fallback bool) bool {
	if fallback && p.Fallback != nil {
		return p.Fallback.Target.Effects.Repeatable()
	}
	return p.Repeatable
}

// catchesUp reports whether a scheduler that stops still takes calls that the record knows.
func (s *scheduler) catchesUp() bool {
	return s.opts.Replay || s.pasts[""] != nil && s.err == nil && s.ctx.Err() == nil
}

// recall continues a call, whose params are resolved, from where the record left it. It reports
// whether there is more to do.
func (s *scheduler) recall(i int32, c *call, p *compile.Call) (unfinished bool) {
	if s.opts.Record == nil && s.opts.Known == nil {
		return true
	}
	t := &trail{content: s.content(p, c.params)}
	c.trail = t
	if p.Result != nil && s.opts.OnCallDone == nil {
		return true
	}
	s.match(i, t)
	s.dropOtherFallback(p, c)
	past := t.past
	if past == nil {
		return true
	}
	s.mu.Lock()
	s.spend(past.Usage)
	s.mu.Unlock()
	doubted := t.claimed && past.Returned != nil && past.Returned.Done && !s.opts.Replay // nobody has been asked about it yet
	if r := past.Returned; r != nil && !doubted && !s.retries(r, p) && !s.replaysDocument(p) {
		s.endAsRecorded(i, c, p, r)
		return false
	}
	if s.acceptsNow(i, c, p) {
		return false
	}
	if !p.Delegates() || past.Fallback { // else its document runs again, from what the record knows of the calls in it
		c.resume(past.Attempts, past.Attempts-past.Failed)
	}
	if past.Approved.Digest != "" {
		terms := s.terms(i, past.Approved.params, false)
		c.approved = past.Approved.isAbout(terms, s.path(i))
		c.fallbackApproved = c.approved && terms.Fallback != nil && terms.Fallback.Params != nil
	}
	if past.Params != nil {
		c.edit(past.Params)
	}
	if c.approved && bytes.Equal(c.params, past.Approved.params) {
		c.allowed = past.Approved.breaks
	}
	if past.Fallback {
		if s.guard != nil {
			s.guard.Made(p, p.Target, c.params)
		}
		c.fallbackFor, t.fallback = past.Failure, past.Key
	} else {
		t.key = past.Key
	}
	lost := past.Lost
	if r := past.Returned; r != nil {
		t.dropAnswer(FailureQuestion) // it was about the failure before
		c.spared, lost = c.attempts, r.Lost || r.Done
		if !lost || !past.Fallback { // else the call itself had failed for good, and its fallback is what is made again
			c.fallbackFor = nil
		}
	}
	if p.Delegates() && c.fallbackFor == nil { // the calls in its document decide that
		lost = false
	}
	return !lost || s.repeats(i, p, t.replaced)
}

// replaysDocument reports whether a call that delegates runs its document again in a replay, so
// that OnParams gets the params of the calls in it.
func (s *scheduler) replaysDocument(p *compile.Call) bool {
	return s.opts.Replay && s.opts.OnParams != nil && p.Delegates()
}

// amended returns the params that a person gave for a call whose own params have no value or do not
// fit; nil if there are none.
func (s *scheduler) amended(i int32, p *compile.Call) json.RawMessage {
	s.mu.Lock()
	past := s.pastOf(i)
	s.mu.Unlock()
	if past == nil || past.Params == nil || !sameContent(past.Content, s.content(p, past.Params)) {
		return nil
	}
	return past.Params
}

// match finds the past of a call: that of its path if it has the same content, otherwise that of a
// call with the same content which the plan no longer has, or which another run made.
func (s *scheduler) match(i int32, t *trail) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if past := s.pastOf(i).of(t.content); past != nil && s.claim(i, s.path(i), t.content) {
		t.past = past.in(s.opts.ID)
		return
	}
	past := s.adopt(i, t.content).in(s.opts.ID)
	if past == nil && s.opts.Known != nil {
		past = s.opts.Known(&s.prog().Calls[i], s.instanceOf(i), s.stemOf(i), t.content)
	}
	t.past, t.claimed = past, past != nil
}

// dropOtherFallback drops the recorded result of a call if it came from another fallback than the
// one that the call has now. The result then counts as lost.
func (s *scheduler) dropOtherFallback(p *compile.Call, c *call) {
	past := c.trail.past
	if past == nil || past.Instead == "" || past.Returned == nil || past.Returned.Failure != nil {
		return
	}
	given := c.params
	if past.Params != nil { // a person, or a hook, gave others
		given = past.Params
	}
	if params, ok := s.fallbackParams(p, given, false); ok && past.Instead == fallbackContent(p.Fallback, params) {
		return
	}
	other := *past
	other.Returned, other.Fallback, other.Lost, other.Key = nil, false, true, "" // the key was its fallback's
	c.trail.past, c.trail.replaced = &other, true
}

// retries reports whether a call that failed, according to the record, is made again.
func (s *scheduler) retries(r *Returned, p *compile.Call) bool {
	if r.Failure == nil || r.Skipped || !s.mayRetry(r) || s.opts.Replay || s.handles(p, r.Failure) {
		return false
	}
	return s.strategyOf(p) != Skip
}

// mayRetry reports whether the options allow a recorded failure to be tried again.
func (p *pool) mayRetry(r *Returned) bool {
	return p.opts.RetryFailed && (p.opts.RetryUntil == 0 || r.Seq <= p.opts.RetryUntil)
}

// repeats decides about a call whose last attempt has no answer. It reports whether the call is
// made again; if not, the call waits for a person or has ended. replaced reports that its fallback
// gave an answer that does not count any more.
func (s *scheduler) repeats(i int32, p *compile.Call, replaced bool) bool {
	c := s.call(i)
	if !c.trail.asked(UncertainQuestion) && (repeatable(p, c.fallbackFor != nil) || s.opts.OnUncertain == RetryUncertain) {
		return true
	}
	r := c.trail.past.Returned
	switch {
	case replaced:
		s.uncertain(i, uncertainty(&Failure{"lost", "it failed before, and the fallback that gave a result in its place is not that of this plan"}))
	case r != nil && r.Done:
		s.doubt(i, "it did its work, but its result was not accepted: "+r.Failure.Message, r.Failure, WorkDone)
	default:
		s.uncertain(i, lossOf(c.trail.past))
	}
	return false
}

// lostFailure returns the failure of an attempt whose process ended.
func lostFailure() *Failure {
	return &Failure{"lost", "the process that called it ended before the answer came"}
}

// lossOf returns the failure of a call whose last attempt has no answer, as the record has it.
func lossOf(p *Past) *Failure {
	if p.Loss != nil {
		return p.Loss
	}
	return uncertainty(lostFailure())
}

// acceptsNow ends a call with a recorded result that was not accepted before, if it is now, as the
// plan was changed. It reports whether it did.
func (s *scheduler) acceptsNow(i int32, c *call, p *compile.Call) bool {
	res := c.trail.refusedResult()
	if res == nil || c.trail.past.Instead != "" || s.opts.Replay {
		return false
	}
	if _, f := s.judge(p, &tool.Result{Value: res.Value, Outcome: res.Outcome}); f != nil {
		return false
	}
	c.trail.claimed = true // so that there is an event of the result
	s.endAsRecorded(i, c, p, &Returned{Value: res.Value, Outcome: res.Outcome})
	return true
}

// refusedResult returns the recorded result of a call that was not accepted; nil if there is none.
func (t *trail) refusedResult() *tool.Result {
	if t == nil || t.past == nil {
		return nil
	}
	r := t.past.Returned
	if r == nil || !r.Done || r.Value == nil {
		return nil
	}
	return &tool.Result{Value: r.Value, Outcome: r.Outcome}
}

// endAsRecorded ends a call as the record says.
func (s *scheduler) endAsRecorded(i int32, c *call, p *compile.Call, r *Returned) {
	c.attempts = c.trail.past.Attempts
	if c.attempts > 0 {
		s.countMade(c, p)
		c.admitted = true
		s.mu.Lock()
		s.started++
		s.mu.Unlock()
	}
	if c.trail.claimed {
		e := r.event()
		e.Applied = c.trail.past.Applied
		s.tellReturned(i, e)
	}
	switch {
	case r.Skipped:
		s.skip(i, r.Reason, r.Failure != nil)
	case r.Failure != nil:
		c.lostInside, c.permanent, c.undoes = p.Delegates() && r.Lost, r.Permanent, r.Undoes
		s.conclude(i, writing{outcome: -1, failure: r.Failure})
	default:
		s.accepted(i, p, tool.Result{Value: r.Value, Outcome: r.Outcome, Usage: r.Usage}, true)
	}
}

// event returns the event of a result, without its type.
func (r *Returned) event() Event {
	e := Event{Value: r.Value, Outcome: r.Outcome, Error: r.Failure, Lost: r.Lost, Permanent: r.Permanent, Undoes: r.Undoes, Reason: r.Reason}
	if r.Usage != (tool.Usage{}) {
		e.Usage = &r.Usage
	}
	if r.Skipped {
		e.Status = Skipped
	}
	return e
}

// tellReturned emits the event of the final result or failure of a call, before its write waits for
// its turn.
func (s *scheduler) tellReturned(i int32, event Event) {
	if !s.tellsReturned(i) {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetSettled(i)
	c := s.call(i)
	event.Type, event.Attempt = CallReturned, c.attempts
	if event.Error != nil {
		event.Lost, event.Permanent, event.Undoes = event.Lost || c.lostInside, c.permanent, c.undoes
	}
	if u := c.used(); u != nil {
		event.Usage = u
	}
	s.emitCall(i, event)
}

// tellResult emits the event of a tool's result, as tellReturned does for others. The caller
// holds mu.
func (s *scheduler) tellResult(i int32, res *tool.Result) {
	if !s.tellsReturned(i) {
		return
	}
	s.forgetSettled(i)
	c := s.call(i)
	e := s.callEvent(CallReturned, "")
	e.Value, e.Outcome, e.Attempt, e.Usage, e.Cached = res.Value, res.Outcome, c.attempts, c.used(), res.Cached
	s.sendCall(i, e)
}

// forgetSettled forgets the recorded status of a call, since the call will end in a way that the
// record does not know. The caller holds mu.
func (s *scheduler) forgetSettled(i int32) {
	if past := s.pastOf(i); past != nil {
		past.Settled = ""
	}
}

// tellsReturned reports whether the result or failure of a call is an event. It is not if its tool
// was not called: a resumed run finds it again.
func (s *scheduler) tellsReturned(i int32) bool {
	if !s.hasListener() || s.call(i).params == nil {
		return false
	}
	return s.prog().Calls[i].Result == nil || s.opts.OnCallDone != nil
}

// hasListener reports whether anybody listens to events.
func (p *pool) hasListener() bool { return p.opts.Record != nil || p.opts.OnEvent != nil }

// answered returns the recorded answer to a question, once. heard reports that an event has it;
// otherwise it was given while no process ran the run.
func (t *trail) answered(q *Question) (a *Answer, heard bool) {
	if t == nil || t.past == nil || t.past.Answer == nil || t.past.Asked.Kind != q.Kind || t.past.Asked.Digest != q.Digest {
		return nil, false
	}
	a, t.past.Answer = t.past.Answer, nil
	return a, t.past.heard
}

// dropAnswer drops a recorded answer to a question of this kind.
func (t *trail) dropAnswer(kind QuestionKind) {
	if t.asked(kind) {
		past := *t.past
		past.Answer = nil
		t.past = &past
	}
}

// answers returns the number of recorded answers to questions about the call. It leaves out an
// answer that has not been acted on yet, since the question is asked again to take it.
func (t *trail) answers() int {
	switch {
	case t == nil || t.past == nil:
		return 0
	case t.past.Answer != nil && t.past.heard:
		return t.past.Answers - 1
	}
	return t.past.Answers
}

// outdated describes the changes since a person allowed the call that a question is about; it
// returns "" if there are none, or if nobody allowed it.
func (t *trail) outdated(q *Question) string {
	if t == nil || t.past == nil || q.Kind != ApprovalQuestion {
		return ""
	}
	before := t.past.Approved.terms
	if a := t.past.Answer; a != nil && a.allows() && t.past.Asked.Kind == q.Kind {
		before = t.past.Asked.terms
	}
	changed := q.Terms.since(before)
	if changed == nil {
		return ""
	}
	return "a person allowed it before, and since then this has changed: " + strings.Join(changed, ", ")
}

// asked reports whether the record has an answer to a question of this kind.
func (t *trail) asked(kind QuestionKind) bool {
	return t != nil && t.past != nil && t.past.Answer != nil && t.past.Asked.Kind == kind
}

// edit replaces the params of a call. What the guard said about the old ones does not count any
// more.
func (c *call) edit(params []byte) {
	c.params, c.edited, c.allowed, c.admitted = params, true, nil, false
	if c.trail != nil {
		c.trail.key = ""
	}
}

// keep appends an event to the record and returns its number; 0 if the event is not kept. The
// caller holds mu.
func (p *pool) keep(e *Event) int64 {
	if p.opts.Record == nil || p.opts.Replay || e.Replayed || e.Type == CallReady || e.Type == CallProgress {
		return 0
	}
	return p.opts.Record.Append(e)
}

// sync returns when an event is on disk. If it never will be, sync ends the run and returns an
// error.
func (p *pool) sync(seq int64) error {
	if seq == 0 {
		return nil
	}
	err := p.opts.Record.Sync(seq)
	if err == nil {
		return nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failRecord(err)
	return p.err
}

// waitsFor reports whether a tool may only be called when the start of the attempt, which is the
// event of this number, is on disk, since the tool may change the world.
func waitsFor(e *tool.Effects, seq int64) bool {
	return seq != 0 && e.Pure != tool.Yes && e.ReadOnly != tool.Yes
}

// intend returns when the start of an attempt is on disk, and starts its clock; the attempt is nil
// for calls that run themselves. If the start can't be kept, it cancels the call and returns false.
func (s *scheduler) intend(i int32, seq int64, a *attempt) bool {
	err := s.sync(seq)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		if a != nil {
			s.watch(a, s.drive.now())
		}
		return true
	}
	if s.closed {
		return false
	}
	c := s.call(i)
	c.cancel(c.failure, "its tool was not called: "+err.Error())
	s.release(i, true)
	return false
}

// inRecord reports whether an event about a call is in the record already.
func (s *scheduler) inRecord(i int32, e *Event) bool {
	past := s.pastOf(i)
	if past == nil || past.Settled == "" || s.opts.Revision > 0 {
		return false
	}
	switch e.Type {
	case CallCompleted, CallFailed, CallSkipped:
		return e.Status == past.Settled
	}
	return e.Type == Written || e.Type == Warned
}

// content returns the digest by which calls are the same or not: of the tool, the activity that it
// picks, the params, what the tool sees of the whiteboard, and the documents that the call runs.
func (s *scheduler) content(p *compile.Call, params []byte) string {
	parts := [][]byte{[]byte(p.Source.Tool), canonical(params), canonical(s.scopes(p, false))}
	if p.Target.Picked {
		parts = append(parts, []byte(p.Target.Name))
	}
	content := digest(parts...)
	if p.Rare != nil && p.Delegate != nil && p.Delegate.Program != nil {
		content += s.documents(p.Delegate.Program)
	}
	return content
}

// fallbackContent returns the digest by which fallbacks are the same or not.
func fallbackContent(f *compile.Fallback, params []byte) string {
	return digest([]byte(f.Tool.Definition.Name), []byte(f.Target.Name), canonical(params))
}

// documents returns the digest of the text of a document, of the documents that it delegates to,
// and of what runs their calls: the plan may define tools that they call.
func (p *pool) documents(doc *compile.Program) string {
	if known, ok := p.texts.Load(doc); ok {
		return known.(string)
	}
	parts := [][]byte{doc.File().Text}
	for _, t := range doc.Targets() {
		parts = append(parts, []byte(t.Name))
		if t.Delegate != nil && t.Delegate.Program != nil {
			parts = append(parts, t.Delegate.Program.File().Text)
		}
	}
	sum := digest(parts...)
	p.texts.Store(doc, sum)
	return sum
}

// boardDigest returns the digest of the whiteboards of a run. The output is no part of it: it
// follows from the whiteboards if the run completed, and a replay of a run that was stopped does
// not know whether it would have completed.
func (p *pool) boardDigest(res *Result) string {
	return digest(append(board(res.State, res.Data, res.Kinds), p.boards[:])...)
}

// addBoard adds the whiteboard of an instance to the combined digest, which does not depend on the
// order in which instances end. The caller holds mu.
func (p *pool) addBoard(r *InstanceResult) {
	if p.opts.Record == nil || r.State == nil {
		return
	}
	sum, err := hex.DecodeString(digest(append(board(r.State, r.Data, r.Kinds), []byte(r.Name))...))
	if err != nil {
		panic(err) // digest returns hexadecimal
	}
	p.mergeBoard(sum)
}

// mergeBoard adds a digest to the combined digest of whiteboards.
func (p *pool) mergeBoard(sum []byte) {
	for i := range p.boards {
		p.boards[i] ^= sum[i]
	}
}

// board returns the parts of a whiteboard, in a fixed order.
func board(state, data json.RawMessage, kinds map[string]json.RawMessage) [][]byte {
	parts := [][]byte{state, data}
	for _, kind := range slices.Sorted(maps.Keys(kinds)) {
		parts = append(parts, []byte(kind), kinds[kind])
	}
	return parts
}
