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

// Config says where traces go. Endpoint is needed; the rest has defaults.
type Config struct {
	Endpoint string            // the URL that spans are posted to: "http://localhost:4318/v1/traces"
	Headers  map[string]string // of the requests
	Timeout  time.Duration     // of a request; 0 is 10 s
	Resource map[string]string // what makes the spans; service.name is "plc" if it is not said
	Version  string            // of plc, for the scope of the spans; "" is unknown
	Workflow string            // name of what runs, a plan or a goal; "" is none
	Parent   string            // a traceparent: runs hang on that span; "" is that each run has a trace of its own, which its id tells
	State    string            // a tracestate
	Client   *http.Client      // that makes the requests, without redirects; nil is one without proxies
}

const (
	localEndpoint  = "http://localhost:4318"
	tracesPath     = "/v1/traces"
	defaultTimeout = 10 * time.Second
	maxState       = 512 // bytes of a tracestate that have to be passed on
)

// FromEnvironment reads what the usual variables of OpenTelemetry say; get is os.Getenv. Nil
// is that nobody wants traces: no endpoint and no exporter is named, or they are turned off.
// Of values that can't be used there is an error, which holds none that may be a secret.
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
	if _, err := parseParent(get("TRACEPARENT")); err == nil { // one that is none counts as absent (W3C Trace Context §4.3)
		c.Parent = get("TRACEPARENT")
		if state := get("TRACESTATE"); len(state) <= maxState && !strings.ContainsFunc(state, func(r rune) bool { return r < ' ' || r > '~' }) {
			c.State = state
		}
	}
	return c, nil
}

// either returns the variable for traces, or else that for everything.
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

// exporters reads the list of OTEL_TRACES_EXPORTER.
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

// endpoint returns the URL of traces; "" is that none is said.
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
		return "", fmt.Errorf("%s: it is a URL, as http://localhost:4318", variable) // what it is may hold a secret
	}
	u.Path = strings.TrimSuffix(u.Path, "/") + path
	return u.String(), nil
}

// pairs reads name=value,name=value, whose values are percent-encoded (W3C Baggage).
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
