package tool

import "context"

// Trace is the trace that an attempt of a call belongs to, for activities that pass it on (W3C
// Trace Context). The zero Trace means that the call is not traced.
type Trace struct {
	Parent string // a traceparent: the trace and the span of the attempt
	State  string // a tracestate; "" is none
	// Note adds an attribute to the span of the attempt, with a name from the semantic conventions
	// of OpenTelemetry; the value is a string, an int or a bool. Callers must not put params,
	// results or secrets into it. Note is nil if the call is not traced. It may be called by
	// several goroutines at once, until the activity returns.
	Note func(name string, value any)
}

type traceKey struct{}

// WithTrace returns a context with a trace.
func WithTrace(ctx context.Context, t Trace) context.Context {
	return context.WithValue(ctx, traceKey{}, t)
}

// TraceOf returns the trace of a context.
func TraceOf(ctx context.Context) Trace {
	t, _ := ctx.Value(traceKey{}).(Trace)
	return t
}

// Annotate adds an attribute to the span of the context, if there is one.
func Annotate(ctx context.Context, name string, value any) {
	if note := TraceOf(ctx).Note; note != nil {
		note(name, value)
	}
}
