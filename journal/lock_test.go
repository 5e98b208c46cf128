package journal_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/plc-lang/plc/journal"
)

// A name is held once, and again when it was given back.
func TestLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	var stores []*journal.Store
	for range 2 {
		s, err := journal.Open(path, nil)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		stores = append(stores, s)
	}
	for range 2 {
		unlock, err := stores[0].Lock("loop")
		if err != nil {
			t.Fatal(err)
		}
		var held *journal.HeldError
		if _, err := stores[1].Lock("loop"); !errors.As(err, &held) || held.Run != "loop" {
			t.Errorf("held twice: %v", err)
		}
		other, err := stores[1].Lock("other")
		if err != nil {
			t.Error(err)
		} else {
			other()
		}
		unlock()
	}
}
