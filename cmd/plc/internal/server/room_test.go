package server

import (
	"context"
	"testing"
)

// One caller can't take all places. What is given back, or was waited for in vain, can be taken.
func TestRoom(t *testing.T) {
	m := newRoom(2)
	full, cancel := context.WithCancel(t.Context())
	cancel()
	try := func(caller string, want bool) (leave func()) {
		t.Helper()
		// A place that is free is taken or, as ctx is done, it is not: several tries tell.
		for range 100 {
			if l, err := m.enter(full, caller); err == nil {
				leave = l
				break
			}
		}
		if (leave != nil) != want {
			t.Errorf("%s has a place: %v, want %v", caller, leave != nil, want)
		}
		return leave
	}
	one, two := try("ann", true), try("ann", true)
	try("ann", false)
	bob := try("bob", true)
	try("bob", false)
	try("eve", false)
	one()
	eve := try("eve", true)
	for _, leave := range []func(){two, bob, eve} {
		leave()
	}
	if len(m.of) != 0 || len(m.all) != 0 {
		t.Errorf("%d shares and %d places are taken", len(m.of), len(m.all))
	}
}
