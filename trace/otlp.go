package trace

import (
	"encoding/json"
	"strconv"
	"time"
)

// This file writes OTLP in JSON (opentelemetry-proto, ExportTraceServiceRequest), where IDs are
// hexadecimal and 64-bit numbers are strings.

type otlpRequest struct {
	ResourceSpans []otlpResourceSpans `json:"resourceSpans"`
}

type otlpResourceSpans struct {
	Resource   otlpResource     `json:"resource"`
	ScopeSpans []otlpScopeSpans `json:"scopeSpans"`
}

type otlpResource struct {
	Attributes []otlpAttribute `json:"attributes,omitempty"`
}

type otlpScopeSpans struct {
	Scope otlpScope  `json:"scope"`
	Spans []otlpSpan `json:"spans"`
}

type otlpScope struct {
	Name    string `json:"name"`
	Version string `json:"version,omitempty"`
}

type otlpSpan struct {
	TraceID    string          `json:"traceId"`
	SpanID     string          `json:"spanId"`
	TraceState string          `json:"traceState,omitempty"`
	Parent     string          `json:"parentSpanId,omitempty"`
	Flags      uint32          `json:"flags"`
	Name       string          `json:"name"`
	Kind       int             `json:"kind"`
	Start      string          `json:"startTimeUnixNano"`
	End        string          `json:"endTimeUnixNano"`
	Attributes []otlpAttribute `json:"attributes,omitempty"`
	Events     []otlpEvent     `json:"events,omitempty"`
	Status     otlpStatus      `json:"status"`
}

type otlpEvent struct {
	Time       string          `json:"timeUnixNano"`
	Name       string          `json:"name"`
	Attributes []otlpAttribute `json:"attributes,omitempty"`
}

type otlpStatus struct {
	Code int `json:"code,omitempty"`
}

type otlpAttribute struct {
	Key   string    `json:"key"`
	Value otlpValue `json:"value"`
}

type otlpValue struct {
	String *string  `json:"stringValue,omitempty"`
	Int    *string  `json:"intValue,omitempty"`
	Double *float64 `json:"doubleValue,omitempty"`
	Bool   *bool    `json:"boolValue,omitempty"`
}

// Numbers of OTLP.
const (
	statusError   = 2
	flagSampled   = 1
	flagHasRemote = 0x100 // the next flag says whether the parent is remote
	flagRemote    = 0x200
)

// encode returns a request with the given spans.
func encode(resource attributes, version string, spans []span) []byte {
	scope := otlpScopeSpans{Scope: otlpScope{"github.com/plc-lang/plc", version}, Spans: make([]otlpSpan, len(spans))}
	for i := range spans {
		scope.Spans[i] = spans[i].otlp()
	}
	text, err := json.Marshal(otlpRequest{[]otlpResourceSpans{{otlpResource{resource.otlp()}, []otlpScopeSpans{scope}}}})
	if err != nil {
		panic(err) // all its types can be encoded
	}
	return text
}

func (s *span) otlp() otlpSpan {
	o := otlpSpan{
		TraceID: s.trace.String(), SpanID: s.id.String(), TraceState: s.state, Flags: flagSampled | flagHasRemote,
		Name: s.name, Kind: s.kind, Start: nanos(s.begun), End: nanos(s.ended), Attributes: s.attributes.otlp(),
	}
	if s.parent != (spanID{}) {
		o.Parent = s.parent.String()
		if s.remote {
			o.Flags |= flagRemote
		}
	}
	for _, e := range s.events {
		o.Events = append(o.Events, otlpEvent{nanos(e.time), e.name, e.attributes.otlp()})
	}
	if s.failed {
		o.Status.Code = statusError
	}
	return o
}

func nanos(t time.Time) string { return strconv.FormatInt(t.UnixNano(), 10) }

func (a attributes) otlp() []otlpAttribute {
	all := make([]otlpAttribute, len(a))
	for i, at := range a {
		all[i].Key = at.name
		switch v := at.value.(type) {
		case string:
			all[i].Value.String = &v
		case int64:
			text := strconv.FormatInt(v, 10)
			all[i].Value.Int = &text
		case float64:
			all[i].Value.Double = &v
		case bool:
			all[i].Value.Bool = &v
		}
	}
	return all
}
