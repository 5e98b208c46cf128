// Package tracetest is a collector of traces for tests. It accepts OTLP/JSON over HTTP and returns
// what it received.
package tracetest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Span is a received span. Values of attributes are as in JSON, except that integers are int64.
type Span struct {
	Trace, ID, Parent, State, Name string
	Kind, Flags                    int
	Start, End                     time.Time
	Attributes                     map[string]any
	Events                         []Event
	Failed                         bool
	Resource                       map[string]any
}

// Event is an event of a span.
type Event struct {
	Name       string
	Time       time.Time
	Attributes map[string]any
}

// Collector is a listening collector. Its methods may be called at any time.
type Collector struct {
	URL string // to which traces are posted

	mu       sync.Mutex
	spans    []*Span
	requests []*http.Request
	bodies   []string
	faults   []string
}

// New starts a collector, which ends with the test. answer may answer a request instead of the
// collector, and reports whether it did; nil is an answer that never does.
func New(t testing.TB, answer func(w http.ResponseWriter, r *http.Request) bool) *Collector {
	t.Helper()
	c := &Collector{}
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if answer != nil && answer(w, r) {
			return
		}
		c.serve(w, r)
	}))
	t.Cleanup(s.Close)
	c.URL = s.URL + "/v1/traces"
	return c
}

func (c *Collector) serve(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.requests, c.bodies = append(c.requests, r), append(c.bodies, string(body))
	if err == nil {
		err = c.take(r, body)
	}
	if err != nil {
		c.faults = append(c.faults, err.Error())
		w.WriteHeader(http.StatusBadRequest)
		return
	}
	w.Header().Set("Content-Type", "application/json")
	_, _ = io.WriteString(w, "{}")
}

type attribute struct {
	Key   string
	Value map[string]any
}

type wire struct {
	ResourceSpans []struct {
		Resource   struct{ Attributes []attribute }
		ScopeSpans []struct {
			Scope struct{ Name, Version string }
			Spans []struct {
				TraceID, SpanID, ParentSpanID, TraceState, Name string
				Kind, Flags                                     int
				StartTimeUnixNano, EndTimeUnixNano              string
				Attributes                                      []attribute
				Events                                          []struct {
					TimeUnixNano, Name string
					Attributes         []attribute
				}
				Status struct {
					Code    int
					Message string
				}
			}
		}
	}
}

// take decodes a request strictly according to the protocol.
func (c *Collector) take(r *http.Request, body []byte) error {
	if r.Method != http.MethodPost || r.Header.Get("Content-Type") != "application/json" {
		return fmt.Errorf("%s of %q", r.Method, r.Header.Get("Content-Type"))
	}
	var w wire
	d := json.NewDecoder(strings.NewReader(string(body)))
	d.DisallowUnknownFields()
	if err := d.Decode(&w); err != nil {
		return err
	}
	for _, rs := range w.ResourceSpans {
		for _, ss := range rs.ScopeSpans {
			for _, s := range ss.Spans {
				span := &Span{
					Trace: s.TraceID, ID: s.SpanID, Parent: s.ParentSpanID, State: s.TraceState, Name: s.Name, Kind: s.Kind, Flags: s.Flags,
					Start: at(s.StartTimeUnixNano), End: at(s.EndTimeUnixNano), Attributes: values(s.Attributes), Failed: s.Status.Code == 2, Resource: values(rs.Resource.Attributes),
				}
				for _, e := range s.Events {
					span.Events = append(span.Events, Event{e.Name, at(e.TimeUnixNano), values(e.Attributes)})
				}
				if len(span.Trace) != 32 || len(span.ID) != 16 || len(span.Parent) != 0 && len(span.Parent) != 16 || span.Start.IsZero() || span.End.Before(span.Start) {
					return fmt.Errorf("no sound span: %+v", s)
				}
				c.spans = append(c.spans, span)
			}
		}
	}
	return nil
}

func at(nanos string) time.Time {
	n, err := strconv.ParseInt(nanos, 10, 64)
	if err != nil {
		return time.Time{}
	}
	return time.Unix(0, n)
}

func values(all []attribute) map[string]any {
	m := map[string]any{}
	for _, a := range all {
		for kind, v := range a.Value {
			if text, ok := v.(string); ok && kind == "intValue" {
				v, _ = strconv.ParseInt(text, 10, 64)
			}
			m[a.Key] = v
		}
	}
	return m
}

// Spans returns the received spans in order of arrival. A received body that is not a trace fails
// the test.
func (c *Collector) Spans(t testing.TB) []*Span {
	t.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, f := range c.faults {
		t.Error(f)
	}
	return slices.Clone(c.spans)
}

// Requests returns the received requests and their bodies.
func (c *Collector) Requests() ([]*http.Request, []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.requests), slices.Clone(c.bodies)
}

// Tree returns the spans as lines, each below its parent, in order of their start. Attributes are
// sorted by name, without the given ones. A span whose parent was not received is at the top level.
func (c *Collector) Tree(t testing.TB, without ...string) string {
	t.Helper()
	all := c.Spans(t)
	slices.SortStableFunc(all, func(a, b *Span) int {
		if d := a.Start.Compare(b.Start); d != 0 {
			return d
		}
		return strings.Compare(fmt.Sprint(a.Name, a.Attributes), fmt.Sprint(b.Name, b.Attributes))
	})
	known := map[string]bool{}
	for _, s := range all {
		known[s.ID] = true
	}
	var out strings.Builder
	var walk func(parent string, depth int)
	walk = func(parent string, depth int) {
		for _, s := range all {
			if s.Parent == parent || parent == "" && !known[s.Parent] {
				out.WriteString(strings.Repeat("  ", depth) + s.line(without) + "\n")
				walk(s.ID, depth+1)
			}
		}
	}
	walk("", 0)
	return out.String()
}

func (s *Span) line(without []string) string {
	line := s.Name
	var facts []string
	for name, v := range s.Attributes {
		if !slices.Contains(without, name) {
			facts = append(facts, fmt.Sprintf("%s=%v", name, v))
		}
	}
	slices.Sort(facts)
	if s.Kind == 3 {
		facts = append([]string{"client"}, facts...)
	}
	for _, e := range s.Events {
		facts = append(facts, e.Name)
	}
	if s.Failed {
		facts = append(facts, "ERROR")
	}
	return strings.TrimSpace(line + " [" + strings.Join(facts, " ") + "]")
}
