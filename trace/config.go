package trace

import (
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Config configures where traces are sent. Endpoint is required.
type Config struct {
	Endpoint string            // URL to post spans to, such as "http://localhost:4318/v1/traces"
	Headers  map[string]string // headers of the requests
	Timeout  time.Duration     // of a request; 0 means 10 s
	Resource map[string]string // attributes of the program that makes the spans; service.name defaults to "plc"
	Version  string            // version of plc, for the scope of the spans; "" if unknown
	Workflow string            // name of the plan or the goal, or ""
	Parent   string            // a traceparent, the parent span of runs; if "", each run has its own trace, derived from its ID
	State    string            // a tracestate
	Client   *http.Client      // used for requests, but without redirects; nil means a client without proxies
}

const (
	localEndpoint  = "http://localhost:4318"
	tracesPath     = "/v1/traces"
	defaultTimeout = 10 * time.Second
	maxState       = 512 // most bytes of a tracestate that must be passed on
)

// FromEnvironment returns the config that OpenTelemetry's environment variables describe; get is
// os.Getenv. It returns nil if traces aren't wanted: no endpoint and no exporter is set, or tracing
// is turned off. It returns an error for invalid values; the message contains no value that may be
// secret.
func FromEnvironment(get func(name string) string) (*Config, error) {
	if strings.EqualFold(get("OTEL_SDK_DISABLED"), "true") {
		return nil, nil
	}
	c := &Config{Timeout: defaultTimeout}
	on, err := exporters(get("OTEL_TRACES_EXPORTER"))
	if err != nil || on == no {
		return nil, err
	}
	if c.Endpoint, err = endpoint(get); err != nil || c.Endpoint == "" && on == unsaid {
		return nil, err
	}
	if c.Endpoint == "" {
		c.Endpoint = localEndpoint + tracesPath
	}
	if p := either(get, "PROTOCOL"); p != "" && p != "http/json" && p != "http/protobuf" {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_PROTOCOL %q: plc sends traces by HTTP; set http/json, and an endpoint for it (port 4318)", p)
	}
	if c.Headers, err = pairs(either(get, "HEADERS")); err != nil {
		return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_HEADERS: %w", err)
	}
	if c.Resource, err = pairs(get("OTEL_RESOURCE_ATTRIBUTES")); err != nil {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	if name := get("OTEL_SERVICE_NAME"); name != "" {
		c.Resource["service.name"] = name
	}
	if ms := either(get, "TIMEOUT"); ms != "" {
		n, err := strconv.ParseInt(ms, 10, 32)
		if err != nil || n < 0 {
			return nil, fmt.Errorf("OTEL_EXPORTER_OTLP_TIMEOUT %q: it is a number of milliseconds", ms)
		}
		c.Timeout = time.Duration(n) * time.Millisecond
	}
	if _, err := parseParent(get("TRACEPARENT")); err == nil { // an invalid one counts as absent (W3C Trace Context §4.3)
		c.Parent = get("TRACEPARENT")
		if state := get("TRACESTATE"); len(state) <= maxState && !strings.ContainsFunc(state, func(r rune) bool { return r < ' ' || r > '~' }) {
			c.State = state
		}
	}
	return c, nil
}

// either returns the variable for traces or, if it isn't set, the general one.
func either(get func(string) string, name string) string {
	if v := get("OTEL_EXPORTER_OTLP_TRACES_" + name); v != "" {
		return v
	}
	return get("OTEL_EXPORTER_OTLP_" + name)
}

type wanted uint8

const (
	unsaid wanted = iota
	yes
	no
)

// exporters parses the list in OTEL_TRACES_EXPORTER.
func exporters(list string) (wanted, error) {
	if list == "" {
		return unsaid, nil
	}
	names := strings.Split(strings.ReplaceAll(list, " ", ""), ",")
	switch {
	case slices.Contains(names, "otlp"):
		return yes, nil
	case slices.Contains(names, "none"):
		return no, nil
	}
	return no, fmt.Errorf("OTEL_TRACES_EXPORTER %q: plc has otlp and none", list)
}

// endpoint returns the URL for traces, or "" if none is set.
func endpoint(get func(string) string) (string, error) {
	variable, path := "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", ""
	text := get(variable)
	if text == "" {
		variable, path = "OTEL_EXPORTER_OTLP_ENDPOINT", tracesPath
		if text = get(variable); text == "" {
			return "", nil
		}
	}
	u, err := url.Parse(text)
	if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return "", fmt.Errorf("%s: it is a URL, as http://localhost:4318", variable) // the value may contain a secret
	}
	u.Path = strings.TrimSuffix(u.Path, "/") + path
	return u.String(), nil
}

// pairs parses name=value,name=value with percent-encoded values (W3C Baggage).
func pairs(text string) (map[string]string, error) {
	all := map[string]string{}
	for pair := range strings.SplitSeq(text, ",") {
		if pair = strings.TrimSpace(pair); pair == "" {
			continue
		}
		name, value, ok := strings.Cut(pair, "=")
		name, errName := url.PathUnescape(strings.TrimSpace(name))
		value, errValue := url.PathUnescape(strings.TrimSpace(value))
		if !ok || name == "" || errName != nil || errValue != nil {
			return nil, errors.New("it is a list of name=value with commas between, whose values are percent-encoded")
		}
		all[name] = value
	}
	return all, nil
}
