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
// What there is to know comes from events; the middleware tells tools which span is theirs
// (tool.TraceOf), and takes what they have to say of it. Params, results and messages of
// failures are never part of a span.
//
// Spans are sent as OTLP/JSON by one goroutine. Nothing waits for it: of what comes faster than it
// goes out, or that no collector takes, the spans are dropped and counted. A Tracer may be used for
// several runs, at once too.
package trace
