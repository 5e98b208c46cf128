package http

import (
	"errors"
	"fmt"
	"net/url"
	"strings"

	"github.com/plc-lang/plc/tool/internal/driver"
)

// address is the template of a URL, split into its parts before anything is filled in, so that a
// value can never begin another part.
type address struct {
	scheme string
	host   driver.Template
	path   []driver.Template // the segments
	query  []field           // names are as they are written
}

// parseAddress reads the template of a URL.
func parseAddress(text string) (address, error) {
	var a address
	scheme, rest, _ := strings.Cut(text, "://")
	if a.scheme = strings.ToLower(scheme); a.scheme != "http" && a.scheme != "https" {
		return a, errors.New("it does not begin with https:// or http://")
	}
	rest, query, _ := strings.Cut(rest, "?")
	host, path, _ := strings.Cut(rest, "/")
	switch {
	case strings.Contains(text, "#"):
		return a, errors.New("what follows # is never sent; leave it out, or write %23")
	case strings.Contains(host, "@"):
		return a, errors.New("a user does not belong here; put an Authorization header into headers")
	}
	var err error
	if a.host, err = driver.ParseTemplate(host); err != nil {
		return a, err
	}
	if a.path, err = parseSegments(path); err != nil {
		return a, err
	}
	if a.query, err = parseQuery(query); err != nil {
		return a, err
	}
	// Filling in harmless values shows all other errors.
	_, err = a.fill(func(string) (string, bool) { return "0", true }, nil)
	return a, err
}

func parseSegments(path string) ([]driver.Template, error) {
	var segments []driver.Template
	for text := range strings.SplitSeq(path, "/") {
		t, err := driver.ParseTemplate(text)
		if err != nil {
			return nil, err
		}
		segments = append(segments, t)
	}
	return segments, nil
}

func parseQuery(query string) ([]field, error) {
	var pairs []field
	if query == "" {
		return nil, nil
	}
	for pair := range strings.SplitSeq(query, "&") {
		name, value, _ := strings.Cut(pair, "=")
		if t, err := driver.ParseTemplate(name); err != nil || !t.Literal() {
			return nil, fmt.Errorf("the name %q in the query cannot be a param; name it, or leave it to the params that are not used", name)
		}
		t, err := driver.ParseTemplate(value)
		if err != nil {
			return nil, err
		}
		pairs = append(pairs, field{name, t})
	}
	return pairs, nil
}

// templates returns all templates of the URL.
func (a address) templates() []driver.Template {
	all := append([]driver.Template{a.host}, a.path...)
	for _, f := range a.query {
		all = append(all, f.value)
	}
	return all
}

// fill makes the URL; more is added to its query.
func (a address) fill(value func(string) (string, bool), more []string) (*url.URL, error) {
	host, err := a.fillHost(value)
	if err != nil {
		return nil, err
	}
	path, err := a.fillPath(value)
	if err != nil {
		return nil, err
	}
	var query []string
	for _, f := range a.query {
		if text, missing := f.value.Fill(escaped(value, url.QueryEscape)); missing == "" {
			query = append(query, f.name+"="+text)
		}
	}
	text := a.scheme + "://" + host + path
	if query = append(query, more...); len(query) > 0 {
		text += "?" + strings.Join(query, "&")
	}
	u, err := url.Parse(text)
	if err != nil {
		var cause *url.Error // it contains the URL, which may contain a secret
		if errors.As(err, &cause) {
			err = cause.Err
		}
		return nil, fmt.Errorf("the URL is not one: %w", err)
	}
	switch {
	case u.Hostname() == "":
		return nil, errors.New("the URL has no host")
	case u.EscapedPath() != path || strings.ContainsFunc(u.RawQuery, func(r rune) bool { return r <= ' ' || r >= 0x7f }):
		// net/url would escape the whole path again, and treat characters in params as separators.
		return nil, errors.New("write the path and the query as they are sent, %20 for a space")
	}
	return u, nil
}

// fillHost makes the host. A param may only be a name or a part of one, and must not change the
// meaning of the rest.
func (a address) fillHost(value func(string) (string, bool)) (string, error) {
	for _, name := range a.host.Names() {
		switch text, ok := value(name); {
		case !ok:
			return "", fmt.Errorf("param %q is not given, and the host needs it", name)
		case text == "" || strings.ContainsFunc(text, func(r rune) bool { return !nameRune(r) }):
			return "", fmt.Errorf("param %q cannot be in a host: %q; names are letters, digits, dots and dashes", name, driver.Head([]byte(text), 60))
		}
	}
	host, _ := a.host.Fill(value)
	if strings.ContainsFunc(host, func(r rune) bool { return !nameRune(r) && !strings.ContainsRune("_:[]", r) }) {
		return "", fmt.Errorf("%q is no host; names are letters, digits, dots and dashes", host)
	}
	return host, nil
}

// nameRune reports whether a host name may contain a rune. Names that are not ASCII have an ASCII
// form.
func nameRune(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '.'
}

// fillPath makes the path. It checks each segment as a whole after it is filled in: a segment that
// is empty or dots would lead to another resource, such as `/users/`.
func (a address) fillPath(value func(string) (string, bool)) (string, error) {
	var path strings.Builder
	for _, segment := range a.path {
		text, missing := segment.Fill(value)
		switch {
		case missing != "":
			return "", fmt.Errorf("param %q is not given, and the path needs it", missing)
		case segment.Literal():
		case text == "":
			return "", fmt.Errorf("the segment %q of the path would be empty", segment)
		case climbs(text):
			return "", fmt.Errorf("the segment %q of the path would lead elsewhere: %q", segment, driver.Head([]byte(text), 60))
		}
		if text, missing = segment.Fill(escaped(value, url.PathEscape)); missing == "" {
			path.WriteString("/" + text)
		}
	}
	return path.String(), nil
}

// climbs reports whether text has a "." or ".." that a server would see as a segment if it decodes
// %2F early or treats a backslash as a slash.
func climbs(text string) bool {
	for part := range strings.SplitSeq(strings.ReplaceAll(text, `\`, "/"), "/") {
		if part == "." || part == ".." {
			return true
		}
	}
	return false
}

func escaped(value func(string) (string, bool), escape func(string) string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		text, ok := value(name)
		return escape(text), ok
	}
}
