package storetest_test

import (
	"testing"

	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/memory"
	"github.com/plc-lang/plc/journal/storetest"
)

// A store's own tests call Test.
func Example() {
	_ = func(t *testing.T) {
		storetest.Test(t, storetest.Maker{New: func(*testing.T) journal.Store { return memory.New() }})
	}
	// Output:
}
