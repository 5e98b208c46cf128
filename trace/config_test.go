package trace_test

import (
	"context"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/tracetest"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/trace"
)

// environment reads NAME=value lines; those of OTLP without their OTEL_EXPORTER_OTLP_.
func environment(text string) func(string) string {
	all := map[string]string{}
	for pair := range strings.FieldsSeq(text) {
		name, value, _ := strings.Cut(pair, "=")
		all[name] = value
	}
	return func(name string) string {
		return all[strings.Replace(name, "OTEL_EXPORTER_OTLP_", "_", 1)]
	}
}

func TestFromEnvironment(t *testing.T) {
	for _, c := range []struct{ variables, want string }{ // want is the endpoint, or an error
		{"", ""},
		{"TRACEPARENT=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01 OTEL_SERVICE_NAME=x _HEADERS=a=b", ""},
		{"_ENDPOINT=http://c:4318", "http://c:4318/v1/traces"},
		{"_ENDPOINT=http://c:4318/", "http://c:4318/v1/traces"},
		{"_ENDPOINT=https://c/otlp/?k=v", "https://c/otlp/v1/traces?k=v"},
		{"_TRACES_ENDPOINT=http://c/mine", "http://c/mine"},
		{"_TRACES_ENDPOINT=http://c/mine _ENDPOINT=http://d", "http://c/mine"},
		{"OTEL_TRACES_EXPORTER=otlp", "http://localhost:4318/v1/traces"},
		{"OTEL_TRACES_EXPORTER=console,otlp", "http://localhost:4318/v1/traces"},
		{"OTEL_TRACES_EXPORTER=none _ENDPOINT=http://c", ""},
		{"OTEL_SDK_DISABLED=TRUE _ENDPOINT=http://c", ""},
		{"OTEL_SDK_DISABLED=false _ENDPOINT=http://c", "http://c/v1/traces"},
		{"OTEL_TRACES_EXPORTER=zipkin _ENDPOINT=http://c", `OTEL_TRACES_EXPORTER "zipkin": plc has otlp and none`},
		{"_ENDPOINT=c:4318", "OTEL_EXPORTER_OTLP_ENDPOINT: it is a URL, as http://localhost:4318"},
		{"_TRACES_ENDPOINT=unix:///x", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: it is a URL"},
		{"_ENDPOINT=http://c _PROTOCOL=http/protobuf", "http://c/v1/traces"},
		{"_ENDPOINT=http://c _PROTOCOL=grpc", `OTEL_EXPORTER_OTLP_PROTOCOL "grpc": plc sends traces by HTTP`},
		{"_ENDPOINT=http://c _PROTOCOL=grpc _TRACES_PROTOCOL=http/json", "http://c/v1/traces"},
		{"_ENDPOINT=http://c _HEADERS=s3cret", "OTEL_EXPORTER_OTLP_HEADERS: it is a list of name=value"},
		{"_ENDPOINT=http://c _HEADERS=a=%zz", "OTEL_EXPORTER_OTLP_HEADERS: it is a list of name=value"},
		{"_ENDPOINT=http://c OTEL_RESOURCE_ATTRIBUTES==x", "OTEL_RESOURCE_ATTRIBUTES: it is a list of name=value"},
		{"_ENDPOINT=http://c _TIMEOUT=soon", `OTEL_EXPORTER_OTLP_TIMEOUT "soon": it is a number of milliseconds`},
		{"_ENDPOINT=http://c _TIMEOUT=-1", `OTEL_EXPORTER_OTLP_TIMEOUT "-1": it is a number of milliseconds`},
	} {
		config, err := trace.FromEnvironment(environment(c.variables))
		got := ""
		switch {
		case err != nil:
			got = err.Error()
		case config != nil:
			got = config.Endpoint
		}
		if !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") || strings.Contains(got, "s3cret") || err != nil && config != nil {
			t.Errorf("%s: %q, want %q", c.variables, got, c.want)
		}
	}
}

func TestEverythingFromEnvironment(t *testing.T) {
	c, err := trace.FromEnvironment(environment("_ENDPOINT=http://c _HEADERS=api-key=a%20b%3D,,x=y=z _TIMEOUT=1500 OTEL_SERVICE_NAME=mine " +
		"OTEL_RESOURCE_ATTRIBUTES=service.name=other,team=a%2Cb TRACEPARENT=00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01 TRACESTATE=v=1"))
	if err != nil {
		t.Fatal(err)
	}
	if !maps.Equal(c.Headers, map[string]string{"api-key": "a b=", "x": "y=z"}) || !maps.Equal(c.Resource, map[string]string{"service.name": "mine", "team": "a,b"}) ||
		c.Timeout != 1500*time.Millisecond || c.Parent != "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01" || c.State != "v=1" {
		t.Errorf("%+v", c)
	}
}

// traceparents are texts that may be one; of those that are, what follows.
var traceparents = map[string]bool{
	"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01":       true,
	"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-03":       true,
	"cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-later": true,
	"cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01":       true,
	"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-later": false,
	"ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01":       false,
	"00-0AF7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01":       false,
	"00-00000000000000000000000000000000-b7ad6b7169203331-01":       false,
	"00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01":       false,
	"00-0af7651916cd43dd8448eb211c80319-b7ad6b7169203331-01":        false,
	"00-0af7651916cd43dd8448eb211c80319x-b7ad6b7169203331-01":       false,
	"0-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01":        false,
	"00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331":          false,
	"": false, "-": false, "---": false,
}

// What is no traceparent counts as absent.
func TestParents(t *testing.T) {
	for text, ok := range traceparents {
		collector := tracetest.New(t, nil)
		told := ""
		prog := program(t, `[{"_tool":"a"}]`, map[string]tool.Activity{"a": act(func(ctx context.Context, _ *tool.Request) (tool.Result, error) {
			told = tool.TraceOf(ctx).Parent
			return tool.Result{}, nil
		})})
		c, err := trace.FromEnvironment(environment("_ENDPOINT=" + strings.TrimSuffix(collector.URL, "/v1/traces") + " TRACEPARENT=" + text + " TRACESTATE=v=1"))
		if err != nil {
			t.Fatal(err)
		}
		traced(t, prog, c, &exec.Options{})
		if got := strings.Contains(told, "0af7651916cd43dd8448eb211c80319c"); got != ok || !strings.HasPrefix(told, "00-") || !strings.HasSuffix(told, "-01") {
			t.Errorf("%q: told %q", text, told)
		}
		for _, s := range collector.Spans(t) {
			if (s.State == "v=1") != ok {
				t.Errorf("%q: %+v", text, s)
			}
		}
	}
}

// Whatever the variables hold, what comes of them can be used, and errors hold none of it
// that may be a secret.
func FuzzFromEnvironment(f *testing.F) {
	for text := range traceparents {
		f.Add("http://c", "a=b", text, "v=1", "100")
	}
	f.Add("https://user:pw@c/%zz?x", "a=%20,b", "", "\x00", "-1")
	f.Fuzz(func(t *testing.T, endpoint, headers, parent, state, timeout string) {
		variables := map[string]string{
			"OTEL_EXPORTER_OTLP_ENDPOINT": endpoint, "OTEL_EXPORTER_OTLP_HEADERS": headers, "TRACEPARENT": parent, "TRACESTATE": state, "OTEL_EXPORTER_OTLP_TIMEOUT": timeout,
		}
		c, err := trace.FromEnvironment(func(name string) string { return variables[name] })
		if err != nil && len(headers) > 8 && strings.Contains(err.Error(), headers) {
			t.Errorf("%v", err)
		}
		if c == nil {
			return
		}
		if c.Parent == "" && c.State != "" || c.Parent != "" && len(c.Parent) < 55 {
			t.Errorf("%+v", c)
		}
		tr := trace.New(c)
		if lost := tr.Close(); lost != nil {
			t.Error(lost)
		}
	})
}
