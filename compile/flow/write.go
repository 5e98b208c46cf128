package flow

import (
	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/state"
	"github.com/plc-lang/plc/tool/label"
)

// Ran returns the outcome of a call of a run. It never returns nil.
type Ran func(c *compile.Call) *Outcome

// An Outcome says how a call of a run ended.
type Outcome struct {
	// Alternative is the index of the alternative that got the result; -1 if none did.
	Alternative int
	// Failed reports that the error object of the call was written.
	Failed bool
	// Inner returns the outcome of the calls of the document that the call ran; nil if that is not
	// known, or if there were several runs.
	Inner Ran
}

// OutcomeOf returns the outcome of a call that was completed, or whose failure was handled, or
// neither. chosen is the name of the alternative that was written, "" if none was.
func OutcomeOf(c *compile.Call, completed, handled bool, chosen string) *Outcome {
	o := &Outcome{Alternative: -1, Failed: handled && !completed}
	if !completed {
		return o
	}
	for i := range c.Alternatives {
		if c.Alternatives[i].Name() == chosen {
			o.Alternative = i
		}
	}
	return o
}

// A Write is a value that a call writes to the whiteboard, with the worst label that it may have.
type Write struct {
	Call *compile.Call
	Path state.Path
	// Failure reports that the value is the error object of the call.
	Failure bool
	Label   label.Label
	// Decides is the worst label of the values that decide whether the call writes, and where.
	Decides label.Label
	Sources []*Source // of the value
}

// writes returns what the calls of the program may write.
func (w *walk) writes() (all []*Write) {
	for i := range w.prog.Calls {
		c, r := &w.prog.Calls[i], &w.results[i]
		add := func(path state.Path, failure bool) {
			m := r.value.all
			if failure {
				m = r.failure
			}
			all = append(all, &Write{c, path, failure, w.report.label(m), w.report.label(r.wrote), w.report.sourcesOf(m)})
		}
		for j := range c.Alternatives {
			for k := range c.Alternatives[j].Writes {
				path := c.Alternatives[j].Writes[k].Path
				if r.takes(c, j) {
					add(path, false)
				}
				if r.takesFailure(w, c, j) {
					add(path, true)
				}
			}
		}
		if c.ErrorPath != nil && (r.ran == nil || r.ran.Failed) {
			add(c.ErrorPath.Path, true)
		}
	}
	return all
}
