package temporal

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"go.opentelemetry.io/contrib/exporters/autoexport"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/resource"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
	"go.temporal.io/sdk/client"
	"go.temporal.io/sdk/contrib/opentelemetry"
	"go.temporal.io/sdk/interceptor"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/tool"
)

// Telemetry sends spans and metrics to the destinations given by the OTEL_… environment variables.
// The spans of a run form one trace, across workers; the metrics are those of Temporal's SDK. A nil
// Telemetry sends nothing.
type Telemetry struct {
	traces  *sdktrace.TracerProvider // nil if there is none
	metrics *metric.MeterProvider    // nil if there is none
}

// NewTelemetry returns the telemetry that the environment asks for, or nil if it sets neither an
// endpoint, OTEL_EXPORTER_OTLP_ENDPOINT, nor an exporter, OTEL_TRACES_EXPORTER or
// OTEL_METRICS_EXPORTER. Close sends what remains.
func NewTelemetry(ctx context.Context) (*Telemetry, error) {
	if !wanted("TRACES") && !wanted("METRICS") {
		return nil, nil
	}
	t := &Telemetry{}
	res, err := resource.New(ctx, resource.WithAttributes(attribute.String("service.name", "plc")), resource.WithTelemetrySDK(), resource.WithFromEnv())
	if err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	if wanted("TRACES") {
		exporter, err := autoexport.NewSpanExporter(ctx)
		if err != nil {
			return nil, fmt.Errorf("traces can't be sent (OTEL_TRACES_EXPORTER=%s, OTEL_EXPORTER_OTLP_PROTOCOL=%s): %w", os.Getenv("OTEL_TRACES_EXPORTER"), os.Getenv("OTEL_EXPORTER_OTLP_PROTOCOL"), err)
		}
		t.traces = sdktrace.NewTracerProvider(sdktrace.WithBatcher(exporter), sdktrace.WithResource(res))
	}
	if wanted("METRICS") {
		reader, err := autoexport.NewMetricReader(ctx)
		if err != nil {
			return nil, errors.Join(fmt.Errorf("metrics can't be sent (OTEL_METRICS_EXPORTER=%s, OTEL_EXPORTER_OTLP_PROTOCOL=%s): %w", os.Getenv("OTEL_METRICS_EXPORTER"), os.Getenv("OTEL_EXPORTER_OTLP_PROTOCOL"), err), t.Close())
		}
		t.metrics = metric.NewMeterProvider(metric.WithReader(reader), metric.WithResource(res))
	}
	return t, nil
}

// wanted reports whether the environment asks for a signal, TRACES or METRICS.
func wanted(signal string) bool {
	exporter := os.Getenv("OTEL_" + signal + "_EXPORTER")
	switch {
	case strings.EqualFold(os.Getenv("OTEL_SDK_DISABLED"), "true"), exporter == "none":
		return false
	case exporter != "":
		return true
	}
	return os.Getenv("OTEL_EXPORTER_OTLP_ENDPOINT") != "" || os.Getenv("OTEL_EXPORTER_OTLP_"+signal+"_ENDPOINT") != ""
}

// ParentSpan returns a context in which runs start below the span given by TRACEPARENT and
// TRACESTATE, if those are set.
func ParentSpan(ctx context.Context) context.Context {
	return propagation.TraceContext{}.Extract(ctx, propagation.MapCarrier{"traceparent": os.Getenv("TRACEPARENT"), "tracestate": os.Getenv("TRACESTATE")})
}

// Close sends the remaining data, for at most 10 seconds.
func (t *Telemetry) Close() error {
	if t == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	var errs []error
	if t.traces != nil {
		errs = append(errs, t.traces.Shutdown(ctx))
	}
	if t.metrics != nil {
		errs = append(errs, t.metrics.Shutdown(ctx))
	}
	return errors.Join(errs...)
}

// apply sets the options of the SDK's client.
func (t *Telemetry) apply(opts *client.Options) error {
	if t == nil {
		return nil
	}
	if t.metrics != nil {
		opts.MetricsHandler = opentelemetry.NewMetricsHandler(opentelemetry.MetricsHandlerOptions{Meter: t.metrics.Meter("plc")})
	}
	if t.traces != nil {
		i, err := opentelemetry.NewTracingInterceptor(opentelemetry.TracerOptions{
			Tracer: t.traces.Tracer("plc"), DisableQueryTracing: true, DisableSignalTracing: true, DisableUpdateTracing: true, DisableBaggage: true, AllowInvalidParentSpans: true,
			TextMapPropagator: propagation.TraceContext{},
		})
		if err != nil {
			return err
		}
		opts.Interceptors = []interceptor.ClientInterceptor{i}
	}
	return nil
}

// spanned starts a span below that of ctx, for an attempt in a batch. The caller must call end.
func spanned(ctx context.Context) (own context.Context, end func()) {
	parent := trace.SpanFromContext(ctx)
	if !parent.SpanContext().IsValid() {
		return ctx, func() {}
	}
	own, span := parent.TracerProvider().Tracer("plc").Start(ctx, "execute_tool")
	return own, func() { span.End() }
}

// traced names the span in ctx, which belongs to an attempt, and sets its attributes as package
// trace does. It returns a context that passes the span to the tool.
func traced(ctx context.Context, a *exec.Attempt) context.Context {
	span := trace.SpanFromContext(ctx)
	if !span.SpanContext().IsValid() {
		return ctx
	}
	span.SetName("execute_tool " + a.Request.Tool)
	span.SetAttributes(
		attribute.String("gen_ai.operation.name", "execute_tool"), attribute.String("gen_ai.tool.name", a.Request.Tool),
		attribute.String("gen_ai.tool.call.id", a.Path), attribute.Int("plc.attempt", a.Request.Attempt), attribute.String("plc.run.id", a.Request.Run),
	)
	if a.Instance != "" {
		span.SetAttributes(attribute.String("plc.instance", a.Instance))
	}
	if a.Fallback {
		span.SetAttributes(attribute.Bool("plc.fallback", true))
	}
	carrier := propagation.MapCarrier{}
	propagation.TraceContext{}.Inject(ctx, carrier)
	return tool.WithTrace(ctx, tool.Trace{Parent: carrier["traceparent"], State: carrier["tracestate"], Note: func(name string, value any) {
		switch v := value.(type) {
		case string:
			span.SetAttributes(attribute.String(name, v))
		case int:
			span.SetAttributes(attribute.Int(name, v))
		case bool:
			span.SetAttributes(attribute.Bool(name, v))
		}
	}})
}

// failed records the error code of an attempt on its span; err may be nil.
func failed(ctx context.Context, err error) {
	if err == nil {
		return
	}
	code := "failed"
	if e, ok := errors.AsType[*tool.Error](err); ok && e.Code != "" {
		code = e.Code
	}
	span := trace.SpanFromContext(ctx)
	span.SetAttributes(attribute.String("error.type", code))
	span.SetStatus(codes.Error, "")
}
