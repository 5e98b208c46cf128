package http

import (
	"fmt"
	"net"
	"net/netip"
	"net/url"
	"strings"

	"github.com/plc-lang/plc/tool"
)

// hosts are the hosts that requests may go to.
type hosts []pattern

// pattern is an entry of AllowHosts.
type pattern struct {
	name    string // canonical; without the "*" of those below it: ".example"
	port    string // "" is any
	below   bool
	implied bool // it is the host of the URL, and AllowHosts was nil
}

// allowed reads AllowHosts. A nil list allows the host of the URL, and an empty one none.
func allowed(list []string, a address) (hosts, error) {
	if list == nil {
		if !a.host.Literal() {
			return nil, fmt.Errorf("url: the host %q has a param; say in allowHosts which hosts that may give", a.host)
		}
		u, err := url.Parse("//" + a.host.String())
		if err != nil {
			return nil, fmt.Errorf("url: %w", err)
		}
		return hosts{{name: canonical(u.Hostname()), implied: true}}, nil
	}
	var h hosts
	for _, entry := range list {
		p, err := parsePattern(entry)
		if err != nil {
			return nil, err
		}
		h = append(h, p)
	}
	if a.host.Literal() {
		u := &url.URL{Scheme: a.scheme, Host: a.host.String()}
		if !h.allow(u) {
			return nil, fmt.Errorf("url: %w", &tool.Error{Code: "host-not-allowed", Permanent: true,
				Message: fmt.Sprintf("allowHosts does not have its host %q; add it", a.host)})
		}
	}
	return h, nil
}

func parsePattern(entry string) (pattern, error) {
	var p pattern
	name := entry
	if _, err := netip.ParseAddr(entry); err != nil {
		if host, port, err := net.SplitHostPort(entry); err == nil {
			name, p.port = host, port
		}
	}
	name = strings.TrimSuffix(strings.TrimPrefix(name, "["), "]")
	name, p.below = strings.CutPrefix(name, "*")
	if p.name = canonical(name); p.below && len(p.name) < 2 || p.below != strings.HasPrefix(p.name, ".") ||
		p.name == "" || strings.ContainsFunc(p.name, func(r rune) bool { return !nameRune(r) && r != '_' && r != ':' }) {
		return p, fmt.Errorf(`allowHosts %q: write "api.example", "*.example" (all below it), "api.example:8443" or an address`, entry)
	}
	return p, nil
}

// canonical returns one spelling of a host: a name in lower case without the last dot, an
// address as netip writes it.
func canonical(host string) string {
	if addr, err := netip.ParseAddr(host); err == nil {
		return addr.Unmap().String()
	}
	return strings.ToLower(strings.TrimSuffix(host, "."))
}

// allow reports whether the host of a URL is one of the hosts.
func (h hosts) allow(u *url.URL) bool {
	return h.match(canonical(u.Hostname()), portOf(u), func(pattern) bool { return true })
}

// trust reports whether a host may have a private address: it is listed as an
// address itself, or as localhost.
func (h hosts) trust(host, port string) bool {
	return h.match(canonical(host), port, func(p pattern) bool {
		_, err := netip.ParseAddr(p.name)
		return !p.implied && (err == nil || p.name == "localhost")
	})
}

func (h hosts) match(host, port string, also func(pattern) bool) bool {
	for _, p := range h {
		same := p.name == host || p.below && strings.HasSuffix(host, p.name)
		if same && (p.port == "" || p.port == port) && also(p) {
			return true
		}
	}
	return false
}

func portOf(u *url.URL) string {
	switch {
	case u.Port() != "":
		return u.Port()
	case u.Scheme == "https":
		return "443"
	}
	return "80"
}
