package state_test

import (
	"encoding/json"
	"testing"

	"github.com/plc-lang/plc/state"
)

func TestWriteAllIsAllOrNothing(t *testing.T) {
	w, err := state.New(map[string]json.RawMessage{"state": []byte(`{"n":5,"l":[1]}`)})
	if err != nil {
		t.Fatal(err)
	}
	path := func(names ...string) state.Path {
		p := state.Path{{Name: "state"}}
		for _, n := range names {
			p = append(p, state.Segment{Name: n})
		}
		return p
	}
	if err := w.WriteAll(1, []state.Path{path("a"), path("n", "deep")}, state.Set, []byte(`1`)); err == nil {
		t.Fatal("a write through a number went through")
	}
	if got, _ := w.Snapshot("state"); string(got) != `{"n":5,"l":[1]}` {
		t.Errorf("after a failed write the state is %s", got)
	}
	if err := w.WriteAll(2, []state.Path{path("a"), path("b", "c")}, state.Set, []byte(`1`)); err != nil {
		t.Fatal(err)
	}
	if got, _ := w.Snapshot("state"); string(got) != `{"n":5,"l":[1],"a":1,"b":{"c":1}}` {
		t.Errorf("the state is %s", got)
	}
}
