// Package state is the whiteboard of a run (plan-language §6): a log of writes on top of an initial
// JSON object per kind. The writes are ordered by their place in the plan, not by time.
//
//	board, err := state.New(map[string]json.RawMessage{"state": []byte(`{"n":1}`)})
//	path := state.Path{{Name: "state"}, {Name: "n"}}
//	err = board.Write(7, path, state.Set, []byte(`2`))
//	old, ok := board.Read(path, 0, 7)  // 1: as of place 7
//	now, ok := board.Read(path, 0, 8)  // 2
//
// Apply is the simplest definition of the effect of a write; a Whiteboard gives the same results
// for every place in the plan. Writes may come in any order, as long as writes to conflicting paths
// (Path.Conflicts) come in the order of their places: no result depends on the order of arrival.
//
// A value is JSON text that never changes after it was written. The cost of a write is linear in
// the size of its value, and the cost of a read in the size of its result, whatever the size of the
// whiteboard. The package has no parser: callers give paths as segments.
package state
