package undo

import (
	"encoding/json"
	"slices"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/tool"
)

// A Ledger collects, from the events of a run, what the run did to the world.
type Ledger struct {
	run     string
	entries []*entry               // in the order in which they began
	open    map[place]*entry       // entries whose attempt has no answer yet
	unsure  map[place]*entry       // entries whose answer was lost, and about which a person was asked
	byKey   map[effectKey]*entry   // entries of tools that do their work once for a key
	ended   map[string]exec.Status // how the instances of a template ended
	end     exec.Failure           // how the run ended, if it is to be undone

	revision int // how often its plan was replaced so far
}

// place identifies a call of a run.
type place struct{ instance, path string }

// effectKey identifies what a tool does once.
type effectKey struct{ tool, key string }

// entry is something that a run did to the world, or may have done: the attempts of a call of one
// tool with the same params, as far as the tool does its work once for all of them.
type entry struct {
	place
	tool   string // the tool that was called: that of the call, or of its fallback
	key    string
	params json.RawMessage // nil if the record does not have them
	own    *tool.Undo      // the plan's _undo for the call; nil if there is none
	result json.RawMessage // nil if no result was accepted

	revision int // of the plan that made it
	fallback bool
	did      bool // its tool did its work
	doubtful bool // an attempt may have done its work
}

// NewLedger returns an empty ledger for the run with this id. It leaves out what a fork took over
// from another run: that run did it, and may be undone itself.
func NewLedger(run string) *Ledger {
	return &Ledger{
		run: run, open: map[place]*entry{}, unsure: map[place]*entry{}, byKey: map[effectKey]*entry{},
		ended: map[string]exec.Status{},
	}
}

// Take adds the next event of the run. It keeps values of the event, and not the event.
func (l *Ledger) Take(e *exec.Event) {
	if e.Replayed || e.Run != l.run {
		return
	}
	at := place{e.Instance, e.Call}
	switch e.Type {
	case exec.RunUndoing:
		l.end = exec.Failure{Code: string(exec.Failed), Message: e.Reason}
		if e.Error != nil {
			l.end.Code = e.Error.Code
		}
	case exec.PlanRevised:
		l.revision++
	case exec.InstanceFinished:
		l.ended[e.Instance] = e.Status
	case exec.CallStarted:
		l.start(at, e)
	case exec.CallRetrying:
		l.fail(at, e.Work)
	case exec.CallReturned:
		l.returned(at, e)
	case exec.ApprovalAsked:
		if en := l.open[at]; en != nil && e.Question == exec.UncertainQuestion {
			l.unsure[at] = en
			l.fail(at, exec.WorkUnknown)
		}
	}
}

// start notes that an attempt begins. If the attempt before it has no answer, that may have done
// its work.
func (l *Ledger) start(at place, e *exec.Event) {
	l.fail(at, exec.WorkUnknown)
	delete(l.unsure, at)
	if e.Intent == nil {
		return
	}
	key := effectKey{e.Tool, e.Key}
	en := l.byKey[key]
	if en == nil {
		en = &entry{place: at, tool: e.Tool, key: e.Key, revision: l.revision, fallback: e.Fallback, params: e.Intent.Params, own: e.Intent.Undo}
		l.entries = append(l.entries, en)
	}
	if e.Intent.Repeatable {
		l.byKey[key] = en
	}
	l.open[at] = en
}

// fail notes that an attempt failed. w says whether it did its work.
func (l *Ledger) fail(at place, w exec.Work) {
	en := l.open[at]
	if en == nil {
		return
	}
	delete(l.open, at)
	switch w {
	case exec.WorkDone:
		en.did = true
	case exec.WorkUnknown:
		en.doubtful = true
	}
}

// returned notes the outcome of a call.
func (l *Ledger) returned(at place, e *exec.Event) {
	en := l.open[at]
	switch {
	case e.Cached: // nothing was called
		delete(l.open, at)
	case e.Status == exec.Skipped:
		l.fail(at, exec.WorkUnknown)
	case e.Error != nil:
		l.fail(at, e.Work)
	case en != nil:
		en.did, en.result = true, jsonscan.OrNull(e.Value)
		delete(l.open, at)
	case l.unsure[at] != nil: // a person gave its result, so it did its work
		en := l.unsure[at]
		en.did, en.result = true, jsonscan.OrNull(e.Value)
	}
	delete(l.unsure, at)
}

// done returns what the run did, or may have done, in the order in which it began. Unless all is
// true, it leaves out what instances did that completed.
func (l *Ledger) done(all bool) []*entry {
	for _, en := range l.open { // what has no answer may have done its work
		en.doubtful = true
	}
	return slices.DeleteFunc(slices.Clone(l.entries), func(en *entry) bool {
		return !en.did && !en.doubtful || !all && l.ended[en.instance] == exec.Completed
	})
}
