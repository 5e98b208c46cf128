// Package forecast says what a program would do, without doing it (execution §4): a dry
// run walks it with made-up results, and from that comes a forecast of time, cost and
// effects.
//
//	dry, err := forecast.Run(ctx, prog, &forecast.Options{})
//	if err != nil {
//		return err // it can't be run at all, or the options name what is not there
//	}
//	for _, c := range dry.Calls {
//		fmt.Println(c.Path, string(c.Params), c.Marks)
//	}
//	f := forecast.Of(prog, dry, &forecast.Options{})
//
// A dry run is a run of package exec in which nothing is called: no tool, no process, no network.
// Results come from records, if the caller has some, or are made from the schemas of results, the
// same each time; a result without a schema is made from what other calls read of it. Every value
// is marked with its origin: see Mark. It is assumed that calls are approved and that tools
// succeed, unless Options.Branch says otherwise.
//
// Everything here may be used by several goroutines at once; results are not shared.
package forecast
