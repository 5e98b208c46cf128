package journal

import "fmt"

// Repair says what can be kept of a run of a store that may be damaged.
type Repair struct {
	Run    string
	Kept   int64 // number of events, from the first on
	Whole  bool  // nothing is wrong with it
	Fault  error // what is wrong; nil if it is whole
	Fatal  bool  // nothing can be kept, since its row or what it was given is broken
	Number int64 // of the run in its store
}

// String describes the repair in words.
func (r *Repair) String() string {
	switch {
	case r.Whole:
		return fmt.Sprintf("%s: whole, %d events", r.Run, r.Kept)
	case r.Fatal:
		return fmt.Sprintf("%s: lost: %v", r.Run, r.Fault)
	}
	return fmt.Sprintf("%s: the first %d events can be kept: %v", r.Run, r.Kept, r.Fault)
}
