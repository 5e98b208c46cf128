package simulate_test

import (
	"context"
	"fmt"
	"time"

	"github.com/plc-lang/plc/exec/simulate"
)

// Of two calls, one fails more often and the other takes longer.
func ExampleRun() {
	prog, _ := program(`
		{"_tool": "look", "_id": "find", "_outputPath": "†state.found"},
		{"_tool": "book", "_id": "reserve", "_dependsOn": ["find"]}`)
	report, err := simulate.Run(context.Background(), prog, &simulate.Options{
		Runs: 100,
		Tools: map[string]*simulate.Behaviour{
			"look": {Takes: simulate.Durations{Of: []time.Duration{2 * time.Second}}},
			"book": {Fails: 0.5},
		},
		Results: one,
	})
	if err != nil {
		panic(err)
	}
	fmt.Printf("%d of %d runs completed\n", report.Succeeded.Runs, report.Runs)
	for _, c := range report.Calls {
		fmt.Printf("%s: %d more if it never failed, %+g s at the median if it took no time\n", c.Call, c.Sure.Succeeded.More, c.Instant.P50)
	}
	// Output:
	// 44 of 100 runs completed
	// reserve: 56 more if it never failed, +0 s at the median if it took no time
	// find: 0 more if it never failed, -2 s at the median if it took no time
}
