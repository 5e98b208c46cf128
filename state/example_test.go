package state_test

import (
	"encoding/json"
	"fmt"

	"github.com/plc-lang/plc/state"
)

// Writes are ordered by their place in the plan, whenever they come.
func Example() {
	board, err := state.New(map[string]json.RawMessage{"state": json.RawMessage(`{"n": 0}`)})
	if err != nil {
		panic(err)
	}
	n := state.Path{{Kind: state.Name, Name: "state"}, {Kind: state.Name, Name: "n"}}
	for _, w := range []struct {
		place state.Place
		value string
	}{{2, "20"}, {1, "10"}} { // the second call was faster
		if err := board.Write(w.place, n, state.Set, json.RawMessage(w.value)); err != nil {
			panic(err)
		}
	}
	seen, _ := board.Read(n, 0, 2) // by call 2
	last, _ := board.Snapshot("state")
	fmt.Println(string(seen), string(last))
	// Output: 10 {"n":20}
}
