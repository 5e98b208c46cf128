// Package trace makes traces of runs, as OpenTelemetry has them: a trace a run, a span a
// call, with the names of the semantic conventions for generative AI (execution §6).
//
//	config, err := trace.FromEnvironment(os.Getenv)
//	if err != nil || config == nil {
//		return err // nobody wants traces
//	}
//	t := trace.New(config)
//	opts.OnEvent, opts.Middleware = t.Event, []tool.Middleware{t.Middleware}
//	result, err := exec.Run(ctx, prog, opts)
//	lost := t.Close()
//
// Spans are made from events. The middleware passes each tool its span (tool.TraceOf), and adds the
// attributes that the tool reports. Params, results and messages of failures are never part of a
// span.
//
// One goroutine sends the spans as OTLP/JSON, and nothing waits for it. Spans that arrive faster
// than they can be sent, or that the collector doesn't accept, are dropped and counted. A Tracer
// may be used for several runs at the same time.
package trace
