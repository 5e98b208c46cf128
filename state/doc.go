// Package state is the whiteboard of a run (plan-language §6): a log of writes,
// ordered by their place in the plan and not by the clock, on top of an initial
// JSON object per kind.
//
//	board, err := state.New(map[string]json.RawMessage{"state": []byte(`{"n":1}`)})
//	path := state.Path{{Name: "state"}, {Name: "n"}}
//	err = board.Write(7, path, state.Set, []byte(`2`))
//	old, ok := board.Read(path, 0, 7)  // 1: as of place 7
//	now, ok := board.Read(path, 0, 8)  // 2
//
// What a write makes of what is there is said in the plainest way by Apply; a
// Whiteboard does the same for every place in the plan at once. Writes may come in
// any order as long as those whose paths conflict (Path.Conflicts) come in the
// order of their places: no result depends on which order it was.
//
// A value is JSON text that is never changed once it is here. A write costs the
// size of what it writes, a read the size of what it returns, whatever the size
// of the whiteboard. The package knows no parser: paths come as segments.
package state
