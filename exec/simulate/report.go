package simulate

import (
	"cmp"
	"maps"
	"slices"

	"github.com/plc-lang/plc/exec"
)

// Report is the result of a simulation. Times are in seconds.
type Report struct {
	Runs    int    `json:"runs"`
	Planned int    `json:"planned"` // runs that were requested
	Stopped bool   `json:"stopped"` // it was stopped before its end
	Seed    uint64 `json:"seed"`

	Succeeded Share               `json:"succeeded"` // runs that completed
	Ends      map[exec.Status]int `json:"ends"`
	Approved  int                 `json:"approved"` // runs in which somebody was asked for approval
	Waiting   int                 `json:"waiting"`  // runs that wait for a person at their end
	// Unexplained counts runs that did not complete although no attempt failed and no person is
	// being asked or has refused a call. Made-up values or limits are the cause.
	Unexplained Unexplained `json:"unexplained"`

	Took      Took     `json:"took"`
	Histogram []Bin    `json:"histogram"`
	Tokens    *Spread  `json:"tokens"` // as the plan estimates them; nil if it does not
	Cost      *Spread  `json:"cost"`
	Effects   []Effect `json:"effects"` // by tool
	Calls     []Call   `json:"calls"`   // that ran, most important first
}

// Took describes how long runs took, without the time that people take to answer.
type Took struct {
	All       Spread `json:"all"`
	Completed Spread `json:"completed"`
}

// Unexplained counts runs that no failure explains. Reason is that of the first.
type Unexplained struct {
	Runs   int    `json:"runs"`
	Reason string `json:"reason"`
}

// Effect counts what a tool did to the world in all runs.
type Effect struct {
	Tool    string `json:"tool"`
	Made    int    `json:"made"`
	Undone  int    `json:"undone"`  // by the tool that undoes it
	Stand   int    `json:"stand"`   // at the end of the run, without the effects of undoing
	Left    int    `json:"left"`    // of Stand: in runs that did not complete
	Unknown int    `json:"unknown"` // of Made: the run did not receive the answer
}

// succeeded reports whether the run completed.
func (p *played) succeeded() bool { return p.status == exec.Completed }

// reportOf describes runs, without what each call contributes.
func reportOf(runs []*played) *Report {
	r := &Report{Runs: len(runs), Ends: map[exec.Status]int{}, Effects: []Effect{}, Calls: []Call{}, Histogram: histogramOf(runs)}
	var completed []*played
	effects := map[string]*Effect{}
	calls := map[string]*Call{}
	for _, p := range runs {
		r.Ends[p.status]++
		if p.succeeded() {
			completed = append(completed, p)
		}
		if p.asked > 0 {
			r.Approved++
		}
		if p.waits {
			r.Waiting++
		}
		if !p.succeeded() && !p.refused && !p.waits && !p.failed() {
			r.Unexplained.Runs++
			r.Unexplained.Reason = cmp.Or(r.Unexplained.Reason, p.reason)
		}
		p.addEffects(effects)
		p.addCalls(calls, len(runs))
	}
	r.Succeeded = shareOf(len(completed), len(runs))
	r.Took = Took{spreadOf(seconds(runs)), spreadOf(seconds(completed))}
	r.Tokens = used(runs, func(p *played) float64 { return p.tokens })
	r.Cost = used(runs, func(p *played) float64 { return p.cost })
	for _, name := range slices.Sorted(maps.Keys(effects)) {
		r.Effects = append(r.Effects, *effects[name])
	}
	for _, path := range slices.Sorted(maps.Keys(calls)) {
		r.Calls = append(r.Calls, *calls[path])
	}
	return r
}

// addEffects counts the effects of a run by their tools.
func (p *played) addEffects(all map[string]*Effect) {
	for name, s := range p.effects {
		e := all[name]
		if e == nil {
			e = &Effect{Tool: name}
			all[name] = e
		}
		e.Made, e.Undone, e.Unknown = e.Made+s.made, e.Undone+s.undone, e.Unknown+s.unknown
		e.Stand += s.stand
		if !p.succeeded() {
			e.Left += s.stand
		}
	}
}

// addCalls adds the attempts of one of runs runs to the calls.
func (p *played) addCalls(all map[string]*Call, runs int) {
	for path, t := range p.calls {
		c := all[path]
		if c == nil {
			c = &Call{Call: path, Tool: t.tool}
			all[path] = c
		}
		c.Attempts, c.Failed = c.Attempts+t.attempts, c.Failed+t.failed
		c.Seconds += t.spent.Seconds() / float64(runs)
	}
}

// seconds returns how long runs took.
func seconds(runs []*played) []float64 {
	all := make([]float64, len(runs))
	for i, r := range runs {
		all[i] = r.took.Seconds()
	}
	return all
}

// used describes how much runs used; nil if they used nothing.
func used(runs []*played, of func(*played) float64) *Spread {
	all, sum := make([]float64, len(runs)), 0.0
	for i, r := range runs {
		all[i] = of(r)
		sum += all[i]
	}
	if sum == 0 {
		return nil
	}
	s := spreadOf(all)
	return &s
}
