package plantest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/tool"
)

// FaultKind is a way for an attempt to go wrong.
type FaultKind string

// The kinds of faults. Faults that change values are for tools whose results have a schema.
const (
	Fail     FaultKind = "fail"     // it fails, and has done nothing
	Down     FaultKind = "down"     // it fails, as do all later attempts of the call
	Timeout  FaultKind = "timeout"  // no answer comes in time; the work was done
	Lost     FaultKind = "lost"     // the answer is lost; the work was done
	Dropped  FaultKind = "dropped"  // the request is lost; nothing was done, and nobody knows
	Late     FaultKind = "late"     // it answers just before its timeout
	Twice    FaultKind = "twice"    // the tool gets the request twice
	Smallest FaultKind = "smallest" // its result is the smallest value of its schema
	Largest  FaultKind = "largest"  // its result is the largest value that can be made
	Other    FaultKind = "other"    // its result is another value of its schema
	Crash    FaultKind = "crash"    // the process dies when the work is done, and the run is resumed
)

// Kinds returns the kinds of faults that Explore tries by default: all but Twice, which a plan can
// do nothing about.
func Kinds() []FaultKind {
	return []FaultKind{Fail, Down, Timeout, Lost, Dropped, Late, Smallest, Largest, Other, Crash}
}

// AllKinds returns all kinds of faults.
func AllKinds() []FaultKind { return append(Kinds(), Twice) }

// Fault is a fault of one attempt. Its text is "CALL@ATTEMPT=KIND", as in "charge@1=lost"; for the
// fallback of a call it is "charge/fallback@1=fail". The attempt may be left out if it is the
// first.
type Fault struct {
	Call     string // its path: see exec.Event
	Fallback bool   // the fallback of the call has the fault
	Attempt  int    // from 1
	Kind     FaultKind
}

// site is an attempt of a run.
type site struct {
	call     string
	fallback bool
	number   int
}

func (f Fault) site() site { return site{f.Call, f.Fallback, f.Attempt} }

// fallbackSuffix ends the paths of fallbacks. No _id of a call has a slash in a path.
const fallbackSuffix = "/fallback"

// String returns the text of the fault.
func (f Fault) String() string {
	call := f.Call
	if f.Fallback {
		call += fallbackSuffix
	}
	return fmt.Sprintf("%s@%d=%s", call, f.Attempt, f.Kind)
}

// ParseFault reads the text of a fault.
func ParseFault(text string) (Fault, error) {
	i := strings.LastIndexByte(text, '=')
	f := Fault{Attempt: 1}
	if i <= 0 {
		return f, fmt.Errorf("%q is no fault: it is CALL@ATTEMPT=KIND, as in charge@1=lost", text)
	}
	f.Call, f.Kind = text[:i], FaultKind(text[i+1:])
	if !slices.Contains(AllKinds(), f.Kind) {
		var names []string
		for _, k := range AllKinds() {
			names = append(names, string(k))
		}
		return f, fmt.Errorf("%q is no kind of fault: it is one of %s", f.Kind, strings.Join(names, ", "))
	}
	if i := strings.LastIndexByte(f.Call, '@'); i > 0 {
		n, err := strconv.Atoi(f.Call[i+1:])
		if err != nil || n < 1 {
			return f, fmt.Errorf("%q has no attempt behind the @: it is a number from 1", text)
		}
		f.Call, f.Attempt = f.Call[:i], n
	}
	f.Call, f.Fallback = strings.CutSuffix(f.Call, fallbackSuffix)
	return f, nil
}

// fits reports whether an attempt can have a fault of this kind.
func (k FaultKind) fits(a *Attempt) bool {
	switch k {
	case Down:
		return a.retried
	case Twice:
		return a.effect
	case Smallest, Largest, Other:
		return a.schema != nil
	}
	return true
}

// apply changes the answer of an attempt.
func (k FaultKind) apply(w *pending, a *exec.Attempt, made *Attempt) {
	fails := func() { w.undone, w.Result, w.Lost = true, tool.Result{}, false }
	works := func() { w.undone = !w.Worked() }
	switch k {
	case Fail, Down:
		fails()
		w.Err = &tool.Error{Code: "fault", Message: "a simulated failure"}
	case Timeout:
		works()
		w.After, w.Err, w.Lost = a.Timeout, timedOut(a.Timeout), false
	case Lost:
		works()
		w.Lost = true
	case Dropped:
		fails()
		w.Lost = true
	case Late:
		w.After = max(w.After, a.Timeout-time.Millisecond)
	case Twice:
		w.twice = true
	case Crash:
		w.crash = true
	case Smallest, Largest, Other:
		if v := k.value(made, a.Request.Seed, w.Result.Value); v != nil && w.Err == nil {
			w.Result = tool.Result{Value: v}
		}
	}
}

// value returns the value that a fault of this kind puts in place of the result; nil if there is
// none.
func (k FaultKind) value(made *Attempt, seed uint64, now json.RawMessage) json.RawMessage {
	switch k {
	case Smallest:
		return extreme(made.schema, false, seed)
	case Largest:
		return extreme(made.schema, true, seed)
	}
	return other(made.schema, now, seed)
}

// MarshalText returns the text of the fault.
func (f Fault) MarshalText() ([]byte, error) { return []byte(f.String()), nil }
