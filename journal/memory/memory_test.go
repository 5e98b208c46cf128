package memory_test

import (
	"testing"

	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/memory"
	"github.com/plc-lang/plc/journal/storetest"
)

func TestStore(t *testing.T) {
	storetest.Test(t, storetest.Maker{New: func(t *testing.T) journal.Store {
		s := memory.New()
		t.Cleanup(func() { s.Close() })
		return s
	}})
}
