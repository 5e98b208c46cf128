package plc

import (
	"errors"
	"strings"
	"testing"
)

// A run goes on only with the programs that it was begun with; a plan that replaces another may use
// other tools.
func TestPinsUnchanged(t *testing.T) {
	const one, two = "activity one", "MCP server two"
	for _, c := range []struct {
		name, changed string
		before, now   pins
	}{
		{"the same", "", pins{one + " #0": "a", two + " #0": "b"}, pins{one + " #0": "a", two + " #0": "b"}},
		{"other content", one, pins{one + " #0": "a", one + " #1": "b"}, pins{one + " #0": "a", one + " #1": "c"}},
		{"a file was added", one, pins{one + " #0": "a"}, pins{one + " #0": "a", one + " #1": "b"}},
		{"a file is gone", two, pins{two + " #0": "a", two + " #1": "b"}, pins{two + " #0": "a"}},
		{"a program appeared", one, pins{one + " #0": ""}, pins{one + " #0": "a"}},
		{"a program is gone", one, pins{one + " #0": "a"}, pins{one + " #0": ""}},
		{"became unreadable", one, pins{one + " #0": "a"}, pins{one + " #0": "unreadable"}},
		{"other tools", "", pins{one + " #0": "a"}, pins{two + " #0": "b"}},
		{"nothing was pinned", "", nil, pins{one + " #0": "a"}},
		{"nothing is pinned", "", pins{one + " #0": "a"}, nil},
	} {
		err := c.before.unchanged("r", c.now)
		var changed *ChangedProgramError
		switch {
		case c.changed == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.changed != "" && (!errors.As(err, &changed) || !strings.HasSuffix(changed.What, c.changed)):
			t.Errorf("%s: %v", c.name, err)
		}
	}
}
