package exec

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/state"
)

// loop decides which runs of a document a call makes, and what their result is (plan-language §9).
// Only one goroutine at a time uses it.
type loop interface {
	// next returns the input of the next run; ok is false if none can start now.
	next() (input json.RawMessage, ok bool)
	// ended takes the result or the failure of a run. It reports whether the runs of later items
	// still matter.
	ended(item int, v json.RawMessage, f *fault) (more bool)
	// value returns the result of all runs; done is false if they were cut short.
	value() (v json.RawMessage, f *fault, done bool)
}

// newLoop returns the loop of a call with these params, and how many of its runs may go on at once.
func (s *scheduler) newLoop(d *delegation, params json.RawMessage) (loop, int, error) {
	if d.to.Loop == compile.Once {
		return &once{input: params}, 1, nil
	}
	args := fields(params)
	var items []json.RawMessage
	if d.to.Loop != compile.Repeat {
		if !s.spendItems(args["items"]) {
			return nil, 0, errors.New("the items are too many for a dry run")
		}
		if err := json.Unmarshal(args["items"], &items); err != nil || items == nil {
			f := &Failure{"params", "the items are no list"}
			if !s.tolerates(d.i, f) {
				return nil, 0, errors.New(f.Message)
			}
			items = []json.RawMessage{json.RawMessage("null")} // one unknown item
		}
	}
	switch d.to.Loop {
	case compile.ForEach:
		return newForEach(items, args), s.width(d.to, args), nil
	case compile.Reduce:
		initial, ok := args["initial"]
		if !ok {
			initial = json.RawMessage("null")
		}
		return &reduce{items: items, result: initial}, 1, nil
	default:
		n, ok := count(args["max"])
		f := &Failure{"params", "max is not a number of rounds"}
		switch {
		case ok && s.opts.Dry != nil:
			n = min(n, mostRuns)
		case ok:
		case s.tolerates(d.i, f):
			n = 1
		default:
			return nil, 0, errors.New(f.Message)
		}
		return &repeat{ctx: s.ctx, holds: s.holds, max: n, until: d.to.Until, input: args["initial"], dry: s.opts.Dry != nil}, 1, nil
	}
}

// width returns how many items of a forEach run at once.
func (s *scheduler) width(to *compile.Delegate, args map[string]json.RawMessage) int {
	n, ok := count(args["concurrency"])
	switch {
	case to.OneByOne || s.opts.Schedule == Sequential:
		return 1
	case ok:
		return n
	}
	return s.opts.MaxParallel
}

// count returns a number, rounded down; false if it is not a number of at least 1.
func count(v json.RawMessage) (int, bool) {
	f, err := strconv.ParseFloat(string(v), 64)
	if err != nil || !(f >= 1) {
		return 0, false
	}
	return int(min(f, math.MaxInt32)), true
}

// fields returns the members of an object, and nil for any other value.
func fields(v json.RawMessage) (all map[string]json.RawMessage) {
	if len(v) == 0 || json.Unmarshal(v, &all) != nil {
		return nil
	}
	return all
}

// asInput returns a value as the input of a document: an object is the input itself, and any other
// value becomes its member "item".
func asInput(v json.RawMessage) json.RawMessage {
	if len(v) > 0 && v[0] == '{' {
		return v
	}
	return fmt.Appendf(nil, `{"item":%s}`, v)
}

// once is for a call without a loop: one run, whose input is the params.
type once struct {
	input  json.RawMessage
	result json.RawMessage
	failed *fault
}

func (l *once) next() (json.RawMessage, bool) {
	input := l.input
	l.input = nil
	return input, input != nil
}

func (l *once) ended(_ int, v json.RawMessage, f *fault) bool {
	if l.result = v; f != nil {
		l.failed = f
	}
	return true
}

func (l *once) value() (json.RawMessage, *fault, bool) {
	return l.result, l.failed, l.result != nil || l.failed != nil
}

// forEach runs the document for each item. In the mode "abort" it fails with the first item in
// order that fails: items before that go on even if a later one fails earlier, so that the result
// does not depend on timing.
type forEach struct {
	items   []json.RawMessage
	results []json.RawMessage // nil: not there, or left out
	mode    string            // onItemFailure
	first   int               // the number of the first of the items
	at      int               // the next item
	taken   int               // number of items that have ended
	end     int               // items from here on are not wanted: the number of items, or the first that failed
	failed  *fault
}

func newForEach(items []json.RawMessage, args map[string]json.RawMessage) *forEach {
	l := &forEach{items: items, results: make([]json.RawMessage, len(items)), mode: "abort", end: len(items)}
	if mode := args["onItemFailure"]; mode != nil {
		_ = json.Unmarshal(mode, &l.mode) // one of three strings, as the definition says
	}
	return l
}

func (l *forEach) next() (json.RawMessage, bool) {
	if l.at >= l.end {
		return nil, false
	}
	item := l.items[l.at]
	l.items[l.at] = nil
	l.at++
	return asInput(item), true
}

func (l *forEach) ended(item int, v json.RawMessage, f *fault) bool {
	if item -= l.first; item >= l.end {
		return true
	}
	l.taken++
	switch {
	case f == nil:
		l.results[item] = v
	case l.mode == "collect":
		l.results[item] = slices.Concat([]byte(`{"error":`), f.object.json(), []byte("}"))
	case l.mode != "skip":
		l.failed, l.end = f, item
		return false
	}
	return true
}

func (l *forEach) value() (json.RawMessage, *fault, bool) {
	switch {
	case l.failed != nil:
		return nil, l.failed, !slices.ContainsFunc(l.results[:l.end], func(r json.RawMessage) bool { return r == nil })
	case l.taken < l.end:
		return nil, nil, false
	}
	size := 2
	for _, r := range l.results {
		size += len(r) + 1
	}
	list := append(make([]byte, 0, size), '[')
	for _, r := range l.results {
		if r == nil {
			continue
		}
		if len(list) > 1 {
			list = append(list, ',')
		}
		list = append(list, r...)
	}
	return append(list, ']'), nil, true
}

// reduce runs the document for one item after the other, each with the result of the one
// before.
type reduce struct {
	items  []json.RawMessage
	result json.RawMessage
	at     int
	taken  int
	failed *fault
}

func (l *reduce) next() (json.RawMessage, bool) {
	if l.at >= len(l.items) || l.failed != nil || l.taken < l.at {
		return nil, false
	}
	l.at++
	return fmt.Appendf(nil, `{"item":%s,"result":%s}`, l.items[l.at-1], l.result), true
}

func (l *reduce) ended(_ int, v json.RawMessage, f *fault) bool {
	l.taken++
	if l.result = v; f != nil {
		l.failed = f
	}
	return true
}

func (l *reduce) value() (json.RawMessage, *fault, bool) {
	return l.result, l.failed, l.failed != nil || l.taken == len(l.items)
}

// repeat runs the document until a condition holds.
type repeat struct {
	ctx    context.Context
	holds  func(context.Context, compile.Predicate, map[string]json.RawMessage) (bool, error)
	max    int
	until  compile.Predicate // nil: never
	input  json.RawMessage   // of the first round; nil if there is none
	result json.RawMessage
	at     int
	rounds int
	done   bool
	failed *fault
	dry    bool // values are made up: the condition holds after the last round
}

func (l *repeat) next() (json.RawMessage, bool) {
	if l.done || l.rounds < l.at {
		return nil, false
	}
	l.at++
	input := json.RawMessage(`{}`)
	if l.input != nil {
		input = asInput(l.input)
	}
	if l.result != nil {
		input = mustWrite(input, state.Assign, asInput(l.result))
	}
	return input, true
}

func (l *repeat) ended(_ int, v json.RawMessage, f *fault) bool {
	l.rounds++
	l.result = v
	if f != nil {
		l.failed = f
	} else if l.until != nil {
		l.judge()
	}
	l.done = l.done || l.failed != nil || l.rounds >= l.max
	return true
}

// judge evaluates the condition on the result of a round.
func (l *repeat) judge() {
	ok, err := l.holds(l.ctx, l.until, map[string]json.RawMessage{
		"result": l.result, "n": json.RawMessage(strconv.Itoa(l.rounds)),
	})
	switch {
	case err != nil:
		l.failed = final(conditionFailed, fmt.Sprintf("round %d: until: %s", l.rounds, err))
	case ok, l.dry && l.rounds >= l.max:
		l.done = true
	case l.rounds >= l.max:
		l.failed = final("exhausted", fmt.Sprintf("until did not hold within %d rounds, the most that max allows", l.max))
	}
}

func (l *repeat) value() (json.RawMessage, *fault, bool) { return l.result, l.failed, l.done }
