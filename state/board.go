package state

import (
	"encoding/json"
	"fmt"
	"iter"
)

// Method says how a written value combines with what is there (plan-language §6).
type Method uint8

// The methods.
const (
	Set    Method = iota
	Merge         // deep, RFC 7396 without deletion
	Assign        // shallow
	Push          // append one
	Concat        // append many
)

// Place is a position in plan order; the first call has 1. Place 0 is the
// initial whiteboard.
type Place int32

// Whiteboard is the log of writes of one run. Its methods may be called by
// several goroutines.
type Whiteboard struct{}

// New makes a whiteboard that holds these objects by kind. "input", "state" and
// "data" always exist. The values must be valid JSON objects.
func New(initial map[string]json.RawMessage) (*Whiteboard, error) { panic("todo") }

// Write applies a write of the call at this place. Writes to overlapping paths
// must come in the order of their places; others may come in any order. A write
// that can't be applied changes nothing and returns an *Error.
func (w *Whiteboard) Write(at Place, path Path, method Method, value json.RawMessage) error {
	panic("todo")
}

// Read is the value at path as a reader at place before sees it that is bound
// to the writes since since: the writes at places in [since, before), on top of
// the initial whiteboard only if since is 0. It reports false when there is nothing.
func (w *Whiteboard) Read(path Path, since, before Place) (json.RawMessage, bool) { panic("todo") }

// Entry is a write in the log.
type Entry struct {
	Place  Place
	Path   Path
	Method Method
	Value  json.RawMessage
}

// Log is the writes in order of their places.
func (w *Whiteboard) Log() iter.Seq[Entry] { panic("todo") }

// Kinds are the kinds that exist, in order.
func (w *Whiteboard) Kinds() []string { panic("todo") }

// Error says why a write can't be applied.
type Error struct {
	Path   Path   // the place that is in the way
	Method Method // of the write
	Have   string // what is there: "a number", "an object", …
	Reason string
}

func (e *Error) Error() string { return fmt.Sprintf("%s: %s", e.Path, e.Reason) }
