package temporal

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	metricspb "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	tracepb "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	commonpb "go.opentelemetry.io/proto/otlp/common/v1"
	"google.golang.org/protobuf/proto"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/tool"
)

// collector is an OpenTelemetry collector: it takes what is sent to it.
type collector struct {
	mu      sync.Mutex
	spans   []span
	metrics map[string]bool // the names
	all     bytes.Buffer    // all that was sent
}

// span holds the fields of a span that the tests look at.
type span struct {
	name, trace, id, parent string
	attributes              map[string]string
}

func (c *collector) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.all.Write(body)
	switch r.URL.Path {
	case "/v1/traces":
		var req tracepb.ExportTraceServiceRequest
		if err = errors.Join(err, proto.Unmarshal(body, &req)); err == nil {
			for _, res := range req.ResourceSpans {
				for _, scope := range res.ScopeSpans {
					for _, s := range scope.Spans {
						c.spans = append(c.spans, span{s.Name, fmt.Sprintf("%x", s.TraceId), fmt.Sprintf("%x", s.SpanId), fmt.Sprintf("%x", s.ParentSpanId), spanAttributes(s.Attributes)})
					}
				}
			}
		}
	case "/v1/metrics":
		var req metricspb.ExportMetricsServiceRequest
		if err = errors.Join(err, proto.Unmarshal(body, &req)); err == nil {
			for _, res := range req.ResourceMetrics {
				for _, scope := range res.ScopeMetrics {
					for _, m := range scope.Metrics {
						c.metrics[m.Name] = true
					}
				}
			}
		}
	}
	if err != nil {
		w.WriteHeader(http.StatusBadRequest)
	}
}

func spanAttributes(all []*commonpb.KeyValue) map[string]string {
	m := map[string]string{}
	for _, kv := range all {
		switch v := kv.Value.Value.(type) {
		case *commonpb.AnyValue_StringValue:
			m[kv.Key] = v.StringValue
		case *commonpb.AnyValue_IntValue:
			m[kv.Key] = fmt.Sprint(v.IntValue)
		case *commonpb.AnyValue_BoolValue:
			m[kv.Key] = fmt.Sprint(v.BoolValue)
		}
	}
	return m
}

// The spans of a run are one trace, below the span of the environment, on whatever worker its calls
// are made. They hold no values.
func TestTelemetry(t *testing.T) {
	const parent = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
	got := &collector{metrics: map[string]bool{}}
	endpoint := httptest.NewServer(got)
	defer endpoint.Close()
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", endpoint.URL)
	t.Setenv("TRACEPARENT", parent)
	s := needServer(t)
	var told tool.Trace
	tools := []*tool.Tool{tool.Func("flaky", "Fails once.", func(ctx context.Context, p text) (string, error) {
		if told.Parent == "" {
			told = tool.TraceOf(ctx)
			return "", &tool.Error{Code: "busy", Message: "a secret reason"}
		}
		return "a secret result", nil
	})}
	tools[0].Definition.Effects.Idempotent = tool.Yes
	dial := func() (*Client, *Telemetry) {
		all, err := NewTelemetry(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return s.dial(t, Options{Queue: "telemetry", Telemetry: all}), all
	}
	c, client := dial()
	w, worker := dial()
	stop := serve(t, w, WorkerOptions{Config: plc.Config{Tools: tools}})
	spec := specOf(t, `[{"_tool": "flaky", "text": "a secret param", "_id": "f", "_retry": {"max": 2, "delay": "1ms"}, "_outputPath": "†state.a"}]`)
	p, err := plc.New(plc.Config{Tools: tools}).Prepare(t.Context(), spec)
	if err != nil {
		t.Fatal(err)
	}
	b, err := p.Bundle()
	if err != nil {
		t.Fatal(err)
	}
	if err := c.Start(ParentSpan(t.Context()), b); err != nil {
		t.Fatal(err)
	}
	if o := wait(t, c, b.Run); o.Status != exec.Completed {
		t.Fatalf("%+v", o)
	}
	stop()
	for _, all := range []*Telemetry{client, worker} {
		if err := all.Close(); err != nil {
			t.Error(err)
		}
	}
	got.mu.Lock()
	defer got.mu.Unlock()
	ids := map[string]bool{strings.Split(parent, "-")[2]: true}
	for _, s := range got.spans {
		ids[s.id] = true
	}
	var attempts []string
	for _, s := range got.spans {
		if s.trace != strings.Split(parent, "-")[1] || !ids[s.parent] {
			t.Errorf("the span %q is of the trace %s, below %s", s.name, s.trace, s.parent)
		}
		if a := s.attributes; s.name == "execute_tool flaky" {
			attempts = append(attempts, a["gen_ai.tool.call.id"]+a["plc.attempt"]+a["error.type"])
			if a["plc.run.id"] != b.Run {
				t.Errorf("the attempt is of the run %q, want %q", a["plc.run.id"], b.Run)
			}
			if a["error.type"] != "" && told.Parent != "00-"+s.trace+"-"+s.id+"-01" {
				t.Errorf("the tool was told %q", told.Parent)
			}
		}
	}
	slices.Sort(attempts)
	if want := []string{"f1busy", "f2"}; !slices.Equal(attempts, want) {
		t.Errorf("attempts %q, want %q, of %d spans", attempts, want, len(got.spans))
	}
	for _, name := range []string{"temporal_activity_execution_latency", "temporal_workflow_completed", "temporal_worker_task_slots_used"} {
		if !got.metrics[name] {
			t.Errorf("there is no metric %s among %v", name, got.metrics)
		}
	}
	if bytes.Contains(got.all.Bytes(), []byte("secret")) {
		t.Error("a value was sent")
	}
}

// Without its variables nothing is sent. What can't be followed is refused.
func TestTelemetryVariables(t *testing.T) {
	for _, test := range []struct {
		name, value string
		want        bool
		err         string
	}{
		{"", "", false, ""},
		{"OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:1", true, ""},
		{"OTEL_TRACES_EXPORTER", "none", false, ""},
		{"OTEL_METRICS_EXPORTER", "otlp", true, ""},
		{"OTEL_TRACES_EXPORTER", "pigeon", false, "pigeon"},
		{"OTEL_METRICS_EXPORTER", "pigeon", false, "pigeon"},
	} {
		t.Run(test.name+test.value, func(t *testing.T) {
			if test.name != "" {
				t.Setenv(test.name, test.value)
			}
			got, err := NewTelemetry(t.Context())
			if (got != nil) != test.want || (err != nil) != (test.err != "") || err != nil && !strings.Contains(err.Error(), test.err) {
				t.Errorf("%v, %v", got, err)
			}
		})
	}
}
