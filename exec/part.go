package exec

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/state"
	"github.com/plc-lang/plc/tool"
)

// A forEach over very many items may be divided, so that no engine has to keep all of it in one
// place: a Stepper with Options.PartItems hands out parts of the loop, each of which is run by a
// Stepper of its own (NewPart), perhaps in another process. The result of the loop, and the keys
// and seeds of its calls, are the same as without parts. A loop is not divided when something
// counts for all its calls together, which several steppers can't know: a budget, a guard, the
// limits of a tool, the order of a sequential run.

// mostParts is the most parts of a loop that go on at once, and partBytes the size of items after
// which a part takes no more.
const (
	mostParts = 8
	partBytes = 256 << 10
)

// Part is a range of the items of a forEach, to be run by a Stepper of its own: see NewPart.
type Part struct {
	ID       string // unique among the parts and attempts under way
	Path     string // of the call: see Event
	Instance string
	Past     *History // the history to continue from; nil if the part has not begun

	prefix, stem    string // of the scheduler of the call
	attempt         int    // of the call
	scopes          json.RawMessage
	mode            string // onItemFailure
	first           int    // the number of the first item
	items           []json.RawMessage
	width, parallel int // how many items and calls at once
}

type storedPart struct {
	Version  int      `json:"version"`
	ID       string   `json:"id"`
	Path     string   `json:"path"`
	Instance string   `json:"instance,omitempty"`
	Past     *History `json:"past,omitempty"`
	Prefix   string   `json:"prefix,omitempty"`
	Stem     string   `json:"stem,omitempty"`
	Attempt  int      `json:"attempt"`
	Scopes   *string  `json:"scopes,omitempty"`
	Mode     string   `json:"mode"`
	First    int      `json:"first"`
	Items    []string `json:"items"`
	Width    int      `json:"width"`
	Parallel int      `json:"parallel"`
}

// MarshalJSON writes the part.
func (p *Part) MarshalJSON() ([]byte, error) {
	return json.Marshal(storedPart{
		Version: attemptVersion, ID: p.ID, Path: p.Path, Instance: p.Instance, Past: p.Past, Prefix: p.prefix, Stem: p.stem, Attempt: p.attempt,
		Scopes: textOf(p.scopes), Mode: p.mode, First: p.first, Items: texts(p.items), Width: p.width, Parallel: p.parallel,
	})
}

// UnmarshalJSON reads a part, in any version that there has been.
func (p *Part) UnmarshalJSON(text []byte) error {
	var s storedPart
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("exec: the part can't be read: %w", err)
	}
	if err := readable("part", s.Version); err != nil {
		return err
	}
	*p = Part{
		ID: s.ID, Path: s.Path, Instance: s.Instance, Past: s.Past, prefix: s.Prefix, stem: s.Stem, attempt: s.Attempt,
		scopes: valueOf(s.Scopes), mode: s.Mode, first: s.First, width: s.Width, parallel: s.Parallel,
	}
	for _, item := range s.Items {
		p.items = append(p.items, json.RawMessage(item))
	}
	return nil
}

func texts(values []json.RawMessage) []string {
	all := make([]string, len(values))
	for i, v := range values {
		all[i] = string(v)
	}
	return all
}

// PartMade is the result of a Part, final or so far: see Stepper.Made and Stepper.PartMade.
type PartMade struct {
	// Done reports that all its items have run, or enough of them to know the result of the loop.
	Done bool
	// Lost reports that nobody knows what its calls did; Reason says why.
	Lost   bool
	Status Status // of a part that is not done
	Reason string
	// Past is the history of its calls; nil if the part is done and nothing failed.
	Past *History

	size     int
	results  []json.RawMessage // nil: left out
	failed   *fault
	failedAt int // index in the part of the item that failed
	usage    tool.Usage
	unsure   bool // the outcome of a call in it is not known
	runs     []SubRun
	moreRuns int
	findings []partFinding
	moreFind int
}

// partFinding is a finding of a run of a document, with the name of its file.
type partFinding struct {
	Code     int       `json:"code"`
	Severity int       `json:"severity"`
	File     string    `json:"file,omitempty"`
	Span     diag.Span `json:"span"`
	Call     string    `json:"call,omitempty"`
	Message  string    `json:"message"`
}

type storedPartMade struct {
	Version  int           `json:"version"`
	Done     bool          `json:"done,omitempty"`
	Lost     bool          `json:"lost,omitempty"`
	Status   Status        `json:"status,omitempty"`
	Reason   string        `json:"reason,omitempty"`
	Past     *History      `json:"past,omitempty"`
	Size     int           `json:"size"`
	Results  []*string     `json:"results,omitempty"`
	Failed   *storedFault  `json:"failed,omitempty"`
	Usage    tool.Usage    `json:"usage,omitzero"`
	Unsure   bool          `json:"unsure,omitempty"`
	Runs     string        `json:"runs,omitempty"`
	MoreRuns int           `json:"moreRuns,omitempty"`
	Findings []partFinding `json:"findings,omitempty"`
	MoreFind int           `json:"moreFindings,omitempty"`
}

type storedFault struct {
	At      int         `json:"at"`
	Failure Failure     `json:"failure"`
	Object  errorObject `json:"object"`
	Unsure  bool        `json:"unsure,omitempty"`
	Final   bool        `json:"final,omitempty"`
	Undoes  bool        `json:"undoes,omitempty"`
}

// MarshalJSON writes the result of a part in the newest version.
func (p *PartMade) MarshalJSON() ([]byte, error) {
	s := storedPartMade{
		Version: attemptVersion, Done: p.Done, Lost: p.Lost, Status: p.Status, Reason: p.Reason, Past: p.Past, Size: p.size,
		Usage: p.usage, Unsure: p.unsure, MoreRuns: p.moreRuns, Findings: p.findings, MoreFind: p.moreFind,
	}
	for _, v := range p.results {
		s.Results = append(s.Results, textOf(v))
	}
	if f := p.failed; f != nil {
		s.Failed = &storedFault{p.failedAt, f.Failure, f.object, f.unsure, f.final, f.undoes}
	}
	if len(p.runs) > 0 {
		runs, err := jsonscan.Marshal(p.runs)
		if err != nil {
			return nil, err
		}
		s.Runs = string(runs)
	}
	return json.Marshal(s)
}

// UnmarshalJSON reads the result of a part, in any version that there has been.
func (p *PartMade) UnmarshalJSON(text []byte) error {
	var s storedPartMade
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("exec: the result of the part can't be read: %w", err)
	}
	if err := readable("part", s.Version); err != nil {
		return err
	}
	*p = PartMade{
		Done: s.Done, Lost: s.Lost, Status: s.Status, Reason: s.Reason, Past: s.Past, size: s.Size,
		usage: s.Usage, unsure: s.Unsure, moreRuns: s.MoreRuns, findings: s.Findings, moreFind: s.MoreFind,
	}
	for _, v := range s.Results {
		p.results = append(p.results, valueOf(v))
	}
	if f := s.Failed; f != nil {
		p.failed, p.failedAt = &fault{f.Failure, f.Object, f.Unsure, f.Final, f.Undoes}, f.At
	}
	if s.Runs != "" {
		return json.Unmarshal([]byte(s.Runs), &p.runs)
	}
	return nil
}

// dividing says how the loop of a delegation is divided.
type dividing struct {
	m               *Stepper
	items           int // of a part
	width, parallel int // of each part
}

// divide divides the loop of a delegation into parts, if the options ask for that and it is
// possible.
func (d *delegation) divide() {
	m, ok := d.s.drive.(*Stepper)
	l, isForEach := d.loop.(*forEach)
	if !ok || !isForEach {
		return
	}
	o := &d.s.opts
	begun := len(m.known.Parts[d.partsKey()]) > 0 // its history is that of parts
	if !begun && (o.PartItems <= 0 || len(l.items) <= o.PartItems || !divisible(d.to.Program, o) || d.s.guard != nil) {
		return
	}
	at := min(mostParts, d.width, o.MaxParallel)
	d.parts = &dividing{m, cmp.Or(o.PartItems, len(l.items)), d.width / at, o.MaxParallel / at}
	d.width = at
}

// partsKey returns the key of the loop in History.Parts.
func (d *delegation) partsKey() string { return partPlace(d.s.instanceOf(d.i), d.prefix) }

// divisible reports whether nothing, except perhaps a guard, counts for all runs of a document
// together.
func divisible(p *compile.Program, o *Options) bool {
	if o.Schedule != Parallel || o.MaxSteps > 0 || o.MaxTokens > 0 || o.MaxCost > 0 || o.Dry != nil {
		return false
	}
	for _, t := range p.Targets() {
		if t.Limits != (tool.Limits{}) {
			return false
		}
	}
	return true
}

// cut takes the next items: most of them, or fewer if they are large.
func (l *forEach) cut(most int) (first int, items []json.RawMessage) {
	first = l.at
	for size := 0; len(items) < most && size < partBytes; {
		item, ok := l.next()
		if !ok {
			break
		}
		items = append(items, item)
		size += len(item)
	}
	return first, items
}

// take adds the results of a part that begins with item first. It reports whether later items
// matter.
func (l *forEach) take(first int, made *PartMade) (more bool) {
	if first >= l.end {
		return true
	}
	n := made.size
	if made.failed != nil {
		n = made.failedAt
	}
	copy(l.results[first:first+n], made.results)
	l.taken += n
	if made.failed != nil {
		l.failed, l.end = made.failed, first+n
	}
	return made.failed == nil
}

// pendingPart is a part that runs elsewhere.
type pendingPart struct {
	d        *delegation
	key      string // of the loop in History.Parts
	first    int
	number   int64
	unwanted bool // an item before it failed
	canceled bool // it is or was in Stepper.canceled
	halted   bool // it is or was in Stepper.haltedParts
}

// startPart starts the next part of the loop, or takes its known result. It reports whether there
// was one.
func (d *delegation) startPart() bool {
	s, l, m := d.s, d.loop.(*forEach), d.parts.m
	if l.at >= l.end {
		return false
	}
	key, most := d.partsKey(), d.parts.items
	made := m.known.Parts[key][l.at]
	if made != nil {
		most = made.size
	}
	if made == nil && (s.opts.Replay || m.held) {
		return false
	}
	first, items := l.cut(most)
	if made != nil && (made.Lost || made.Done && (made.Past == nil || !s.opts.RetryFailed)) {
		m.history.notePart(key, first, made)
		d.takePart(first, made)
		return true
	}
	p := &s.prog().Calls[d.i]
	part := &Part{
		ID: fmt.Sprintf("%s[%d+%d]", d.prefix, first, len(items)), Path: s.path(d.i), Instance: s.instanceOf(d.i),
		prefix: s.prefix, stem: s.stem, attempt: s.call(d.i).attempts, scopes: s.scopes(p, false), mode: l.mode,
		first: first, items: items, width: d.parts.width, parallel: d.parts.parallel,
	}
	if made != nil {
		part.Past = made.Past
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if d.late || !s.mayStart(d.i) || s.opts.Replay {
		return false
	}
	d.running++
	s.busy++
	m.made++
	if part.Instance != "" {
		part.ID = partPlace(part.Instance, part.ID)
	}
	m.parts[part.ID] = &pendingPart{d: d, key: key, first: first, number: m.made}
	m.freshParts = append(m.freshParts, part)
	return true
}

// partPlace returns the key of something in a run, from its instance and path.
func partPlace(instance, path string) string { return instance + "\x00" + path }

// takePart takes the result of a part into the loop.
func (d *delegation) takePart(first int, made *PartMade) {
	s := d.s
	s.mu.Lock()
	d.lost = d.lost || made.unsure || made.Lost
	for _, r := range made.runs {
		d.note(r)
	}
	d.moreRuns += made.moreRuns
	for _, f := range made.findings {
		d.find(f.finding(s.prog()))
	}
	d.findings += made.moreFind
	s.spend(made.usage)
	switch {
	case made.Lost:
		d.gone = &Failure{"uncertain", fmt.Sprintf("nobody knows what the calls of the items from %d on did: %s", first, made.Reason)}
		d.late = true
	case !made.Done && made.Status != Cancelled && s.mayStart(d.i):
		s.root.halt(made.Status, made.Reason)
	}
	s.mu.Unlock()
	if made.Done && !d.loop.(*forEach).take(first, made) {
		at := first + made.failedAt
		d.callOff(at, context.Canceled, "an item before it failed")
		for _, p := range d.parts.m.parts {
			p.unwanted = p.unwanted || p.d == d && p.first > at
		}
	}
}

// find adds a finding of a run to those that the call reports, unless there are too many. The
// caller holds mu.
func (d *delegation) find(f diag.Finding) {
	switch d.findings++; {
	case d.findings <= mostFindings:
		d.s.findings = append(d.s.findings, f)
	case d.findings == mostFindings+1:
		d.leftOut = f
	}
}

// finding returns the finding, with its place in a document of the program.
func (f *partFinding) finding(prog *compile.Program) diag.Finding {
	out := diag.Finding{Code: diag.Code(f.Code), Severity: diag.Severity(f.Severity), Call: f.Call, Message: f.Message}
	for p := range programs(prog) {
		if at := p.Loc(f.Span); at.File != nil && at.File.Name == f.File {
			out.Loc = at
			break
		}
	}
	return out
}

// programs yields a program and those that it delegates to.
func programs(p *compile.Program) func(yield func(*compile.Program) bool) {
	return func(yield func(*compile.Program) bool) {
		seen := map[*compile.Program]bool{p: true}
		for todo := []*compile.Program{p}; len(todo) > 0; todo = todo[1:] {
			if !yield(todo[0]) {
				return
			}
			for i := range todo[0].Calls {
				if c := &todo[0].Calls[i]; c.Delegates() && c.Delegate.Program != nil && !seen[c.Delegate.Program] {
					seen[c.Delegate.Program] = true
					todo = append(todo, c.Delegate.Program)
				}
			}
		}
	}
}

// Parts returns the parts of loops that are to be run now, each once: see Options.PartItems.
func (m *Stepper) Parts() []*Part {
	fresh := m.freshParts
	m.freshParts = nil
	return fresh
}

// Halted returns the parts that are to end soon, each once. They must begin no more calls, and give
// the results that they have when the attempts under way have ended: see Stepper.Hold and Made.
func (m *Stepper) Halted() []string {
	ids := m.haltedParts
	m.haltedParts = nil
	return ids
}

// PartMade takes the result of a part. It returns an error, and changes nothing, if no such part
// goes on.
func (m *Stepper) PartMade(id string, made *PartMade) error {
	p := m.parts[id]
	if p == nil {
		return fmt.Errorf("exec: no part %q goes on", id)
	}
	delete(m.parts, id)
	if made.Lost || made.size > 0 { // else it was not begun
		m.history.notePart(p.key, p.first, made)
	}
	if m.held && p.d.s.root.stopped.status == "" {
		return nil // another stepper continues the loop
	}
	m.do(func() {
		s := p.d.s
		s.mu.Lock()
		s.active++
		gone := s.closed
		s.mu.Unlock()
		if !gone {
			s.leaveIf(p.d.advance(func() {
				s.mu.Lock()
				p.d.running--
				s.mu.Unlock()
				p.d.takePart(p.first, made)
			}))
		}
	})
	return nil
}

// withdrawParts finds the parts that nobody wants any more, and those that are to end soon.
func (m *Stepper) withdrawParts() {
	var canceled, halted []*pendingPart
	ids := map[*pendingPart]string{}
	for id, p := range m.parts {
		ids[p] = id
		switch d := p.d; {
		case p.canceled:
		case p.unwanted || d.ctx.Err() != nil:
			p.canceled = true
			canceled = append(canceled, p)
		case !p.halted && (m.held || !d.s.mayStart(d.i)):
			p.halted = true
			halted = append(halted, p)
		}
	}
	older := func(a, b *pendingPart) int { return int(a.number - b.number) }
	slices.SortFunc(canceled, older)
	slices.SortFunc(halted, older)
	for _, p := range canceled {
		m.canceled = append(m.canceled, ids[p])
	}
	for _, p := range halted {
		m.haltedParts = append(m.haltedParts, ids[p])
	}
}

// notePart notes the result of a part of a loop.
func (h *History) notePart(key string, first int, made *PartMade) {
	if h.Parts == nil {
		h.Parts = map[string]map[int]*PartMade{}
	}
	if h.Parts[key] == nil {
		h.Parts[key] = map[int]*PartMade{}
	}
	h.Parts[key][first] = made
}

// dropParts forgets the parts of a call that has returned a value.
func (h *History) dropParts(instance, path string) {
	if len(h.Parts) == 0 {
		return
	}
	call := partPlace(instance, path)
	maps.DeleteFunc(h.Parts, func(key string, _ map[int]*PartMade) bool {
		rest, of := strings.CutPrefix(key, call)
		return of && (rest == "" || rest[0] == '#')
	})
}

// NewPart begins a part of a loop, or continues one that has a history: see NewStepper. The program
// and the options must be those of the Stepper that handed out the part, except for OnEvent. When
// the new Stepper has a Result, Made returns the result of the part.
func NewPart(prog *compile.Program, opts *Options, part *Part, now time.Time) (*Stepper, error) {
	if err := steppable(prog, opts); err != nil {
		return nil, err
	}
	in, i, ok := holder(prog, part.Path)
	if !ok || !in.Calls[i].Delegates() || in.Calls[i].Delegate.Loop != compile.ForEach {
		return nil, fmt.Errorf("exec: the program has no loop %q", part.Path)
	}
	o := *opts
	o.MaxTime, o.MaxParallel = 0, part.parallel
	m := newStepper(&o, part.Past, now)
	board, err := state.New(nil)
	if err != nil {
		return nil, err
	}
	s := newRoot(context.Background(), in, board, m.pool)
	s.prefix, s.stem, s.instance = part.prefix, part.stem, part.Instance
	if err := s.load(); err != nil {
		return nil, err
	}
	c := s.call(i)
	c.attempts = part.attempt
	d := &delegation{s: s, i: i, to: in.Calls[i].Delegate, width: part.width, prefix: s.path(i), stem: s.stemOf(i), next: part.first, part: true}
	if part.attempt > 1 {
		d.prefix += "#" + strconv.Itoa(part.attempt)
	}
	d.ctx, d.cancel = context.WithCancelCause(s.ctx)
	if f := d.begin(part.scopes); f != nil {
		return nil, errors.New("exec: " + f.Message)
	}
	d.loop = &forEach{
		items: slices.Clone(part.items), results: make([]json.RawMessage, len(part.items)), mode: part.mode, end: len(part.items), first: part.first,
	}
	m.part, c.sub = d, d
	m.do(func() {
		s.mu.Lock()
		s.active++
		s.busy++
		s.mu.Unlock()
		s.leaveIf(d.advance(func() {}))
	})
	return m, nil
}

// holder returns the program that contains the call at a path, and the index of the call.
func holder(prog *compile.Program, path string) (*compile.Program, int32, bool) {
	in := prog
	if end := strings.LastIndex(path, "/"); end >= 0 {
		outer := path[:end]
		if at := strings.LastIndex(outer, "/") + 1; strings.ContainsAny(outer[at:], "#[") {
			outer = outer[:at+strings.IndexAny(outer[at:], "#[")] // the item and the attempt don't matter
		}
		c, ok := CallAt(prog, outer)
		if !ok || !c.Delegates() || c.Delegate.Program == nil {
			return nil, 0, false
		}
		in = c.Delegate.Program
	}
	c, ok := CallAt(prog, path)
	if !ok {
		return nil, 0, false
	}
	i := slices.IndexFunc(in.Calls, func(other compile.Call) bool { return other.ID == c.ID })
	return in, int32(i), i >= 0
}

// finishPart makes the result of a part in which nothing goes on any more.
func (m *Stepper) finishPart() *Result {
	s, d := m.pool.root, m.part
	s.closed = true
	for _, sub := range s.subs {
		sub.owner.left(sub, sub.finish())
	}
	res := &Result{Run: s.opts.ID, Status: s.stopped.status, Reason: s.stopped.reason, Usage: s.usage, Err: s.err}
	if _, _, done := d.loop.value(); done {
		res.Status, res.Reason = Completed, ""
	} else if res.Status == "" {
		res.Status = Cancelled
	}
	return res
}

// Made returns the result of a part: the final one if there is a Result, otherwise what there is so
// far, from which another Stepper can continue (Part.Past).
func (m *Stepper) Made() *PartMade {
	d := m.part
	l := d.loop.(*forEach)
	_, f, done := l.value()
	made := &PartMade{
		Done: done, size: len(l.results), results: l.results, failed: f, usage: m.pool.usage, unsure: d.lost,
		runs: d.runs, moreRuns: d.moreRuns, moreFind: max(d.findings-mostFindings, 0),
	}
	slices.SortFunc(made.runs, func(a, b SubRun) int { return a.Item - b.Item })
	for _, f := range d.s.findings {
		made.findings = append(made.findings, partFinding{int(f.Code), int(f.Severity), nameOf(f.Loc.File), f.Loc.Span, f.Call, f.Message})
	}
	if f != nil {
		made.failedAt = l.end
	}
	if !done {
		made.Status = Cancelled
		if m.result != nil {
			made.Status, made.Reason = m.result.Status, m.result.Reason
		}
	}
	if !done || d.failed {
		made.Past = m.History()
	}
	return made
}

func nameOf(f *diag.File) string {
	if f == nil {
		return ""
	}
	return f.Name
}
