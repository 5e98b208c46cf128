// Package simulate runs a program many times, with attempts that fail at random and take a random
// time, and says how often it succeeds, how long it takes, what it costs, which effects stand at
// its end, and which call matters most. No tool is called, and time is made up.
//
//	report, err := simulate.Run(ctx, prog, &simulate.Options{
//		Tools: map[string]*simulate.Behaviour{
//			"charge_card": {Fails: 0.05, Takes: simulate.Durations{Least: time.Second, Most: 3 * time.Second}},
//		},
//	})
//	fmt.Println(report.Succeeded, report.Took.All.Percentile(95), report.Calls[0].Call)
//
// Each run is one of package plantest, so that retries, fallbacks, handled failures, budgets and
// undoing are those of a real run. What is drawn for an attempt follows from the seed, the number
// of the run, the call and the number of the attempt alone. So the same options give the same
// report, and two simulations that differ in one call have the same luck everywhere else: the
// difference between them is that call's.
//
// Read behaviour.go, play.go, simulate.go, change.go, statistics.go and report.go in this order.
package simulate
