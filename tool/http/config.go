package http

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	nethttp "net/http"
	"slices"
	"strings"
	"time"

	"github.com/plc-lang/plc/tool/internal/driver"
)

// DefaultMaxBytes is the maximum size of an answer when Config.MaxBytes is 0.
const DefaultMaxBytes = 16 << 20

// Config says what to request. Only URL is needed. URL, Query, Headers and Body are
// templates: `{name}` is replaced by the param, a string as it is, anything else as compact JSON,
// and then escaped as its place requires; `{{` and `}}` are braces.
type Config struct {
	Method string `json:"method"` // "" is GET
	// URL is http or https. A param in the path is one segment or part of one, and
	// may not be missing, empty, "." or ".."; one in the host needs AllowHosts.
	URL string `json:"url"`
	// Query is added to the query of the URL. In Query and Headers, an entry is left out if one of
	// its params is not given or is null.
	Query   map[string]string `json:"query"`
	Headers map[string]string `json:"headers"`
	// Body is a text, or a JSON value with templates in its strings: a string that is
	// nothing but a placeholder becomes the param's value, of whatever type, and its
	// member or element is left out if the param is not given. Nil: the params that no
	// placeholder uses are sent, as query for GET, HEAD, DELETE and OPTIONS, otherwise
	// as a JSON object.
	Body json.RawMessage `json:"body"`
	// Timeout bounds one attempt, from the first byte to the last; "5s" in JSON. With 0 only the
	// context does.
	Timeout time.Duration `json:"-"`
	// MaxBytes limits the size of the answer, decompressed; 0 is DefaultMaxBytes.
	MaxBytes int64 `json:"maxBytes"`
	// AllowHosts are the only hosts that requests may go to: "api.example", "*.example" (all below
	// it), with ":port" only on that port. A nil list allows the host of URL, and an empty one no
	// host.
	AllowHosts []string `json:"allowHosts"`
	// AllowPrivate permits private, loopback and link-local addresses. Without it, only those that
	// AllowHosts lists as an address or as "localhost" are permitted.
	AllowPrivate bool `json:"allowPrivate"`
	// Result is "json" (the answer must be JSON), "text" (a string), "full" (an object
	// of status, headers and body), or "" : JSON if the server says that it is,
	// otherwise a string.
	Result string `json:"result"`
	// Proxy is the URL of a proxy (http, https or socks5). "" is none: proxies are never taken from
	// the environment. With a proxy, only the proxy can check the addresses of names.
	Proxy string `json:"proxy"`
}

// UnmarshalJSON reads the config of a tool file: an object with the names of the
// fields' tags and no others (cli).
func (c *Config) UnmarshalJSON(text []byte) error {
	type plain Config
	file := struct {
		plain
		Timeout string `json:"timeout"`
	}{}
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&file); err != nil {
		return err
	}
	*c = Config(file.plain)
	if file.Timeout == "" {
		return nil
	}
	var err error
	c.Timeout, err = time.ParseDuration(file.Timeout)
	return err
}

// Results returns the values of Config.Result.
func Results() []string { return []string{"json", "text", "full", ""} }

// New makes the activity, with connections of its own. An error names the member of
// the config and a cure.
func New(cfg Config) (*Activity, error) {
	a := &Activity{
		method:   strings.ToUpper(cfg.Method),
		timeout:  cfg.Timeout,
		maxBytes: min(cfg.MaxBytes, math.MaxInt64-1), // one more byte is read, to find out whether there is more
		private:  cfg.AllowPrivate,
		result:   cfg.Result,
	}
	if a.method == "" {
		a.method = nethttp.MethodGet
	}
	if a.maxBytes == 0 {
		a.maxBytes = DefaultMaxBytes
	}
	if err := a.check(); err != nil {
		return nil, err
	}
	var err error
	if a.url, err = parseAddress(cfg.URL); err != nil {
		return nil, driver.At(fmt.Errorf("url %q: %w", cfg.URL, err), "url")
	}
	if a.hosts, err = allowed(cfg.AllowHosts, a.url); err != nil {
		return nil, err
	}
	if err := a.parseFields(cfg); err != nil {
		return nil, err
	}
	if a.body, err = parseBody(cfg.Body, a.contentType()); err != nil {
		return nil, driver.At(fmt.Errorf("body: %w", err), "body")
	}
	a.used = driver.SortedNames(a.templates()...)
	return a, a.dial(cfg.Proxy)
}

func (a *Activity) check() error {
	switch {
	case a.method == nethttp.MethodConnect || a.method == nethttp.MethodTrace || !token(a.method):
		return fmt.Errorf("method %q cannot be used; use GET, POST, PUT, PATCH or DELETE", a.method)
	case a.timeout < 0 || a.maxBytes < 0:
		return errors.New("timeout and maxBytes cannot be negative")
	case !slices.Contains(Results(), a.result):
		return fmt.Errorf("result %q is not json, text or full", a.result)
	}
	return nil
}

// field is a member of the query or a header.
type field struct {
	name  string
	value driver.Template
}

// parseFields reads Query and Headers, in the order of their names.
func (a *Activity) parseFields(cfg Config) error {
	var err error
	if a.query, err = fields("query", cfg.Query); err != nil {
		return err
	}
	if a.headers, err = fields("headers", cfg.Headers); err != nil {
		return err
	}
	for i, h := range a.headers {
		name := nethttp.CanonicalHeaderKey(h.name)
		switch {
		case !token(name) || !line(cfg.Headers[h.name]):
			return fmt.Errorf("headers %q: names are letters, digits and dashes, values have no control characters", h.name)
		case ownHeader(name):
			return fmt.Errorf("headers %q: this header is for the client alone to set; leave it out", h.name)
		case name == "Content-Type" && !h.value.Literal():
			return fmt.Errorf("headers %q cannot hold a param: how the body is written depends on it", h.name)
		}
		a.headers[i].name = name
	}
	return nil
}

func fields(member string, m map[string]string) ([]field, error) {
	var list []field
	for name, text := range m {
		t, err := driver.ParseTemplate(text)
		if err != nil {
			return nil, driver.At(fmt.Errorf("%s %q: %w", member, name, err), member, name)
		}
		list = append(list, field{name, t})
	}
	slices.SortFunc(list, func(a, b field) int { return strings.Compare(a.name, b.name) })
	return list, nil
}

// ownHeader reports whether a header would change where a request goes, where it ends or how its
// answer is read.
func ownHeader(name string) bool {
	switch name {
	case "Host", "Content-Length", "Transfer-Encoding", "Connection", "Keep-Alive", "Upgrade", "Te", "Trailer",
		"Expect", "Accept-Encoding", "Proxy-Authorization", "Proxy-Connection":
		return true
	}
	return false
}

// contentType returns the header Content-Type of the config; "" if there is none.
func (a *Activity) contentType() string {
	for _, h := range a.headers {
		if h.name == "Content-Type" {
			return h.value.String()
		}
	}
	return ""
}

// token reports whether text may be the name of a header or a method (RFC 9110 §5.6.2).
func token(text string) bool {
	return text != "" && !strings.ContainsFunc(text, func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`"(),/:;<=>?@[\]{}`, r)
	})
}

// line reports whether text may be the value of a header.
func line(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' && r != '\t' || r == 0x7f })
}
