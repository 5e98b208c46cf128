package driver

import (
	"github.com/plc-lang/plc/internal/jsonscan"
)

// Fault is an error in a config, with its place. Its text is that of Err.
type Fault struct {
	Pointer string // JSON Pointer
	Err     error
}

func (f *Fault) Error() string { return f.Err.Error() }

// Unwrap returns Err.
func (f *Fault) Unwrap() error { return f.Err }

// At returns err as an error about the member of a config that path leads to.
func At(err error, path ...string) error {
	pointer := ""
	for _, name := range path {
		pointer += "/" + jsonscan.EscapePointer(name)
	}
	return &Fault{pointer, err}
}
