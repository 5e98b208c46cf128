package http

import (
	"context"
	"errors"
	"fmt"
	"net"
	nethttp "net/http"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/plc-lang/plc/tool"
)

const (
	maxRedirects   = 5
	maxHeaderBytes = 256 << 10
	dialTimeout    = 15 * time.Second
	// A POST on a connection that the server is just closing is uncertain, so we close idle
	// connections before the server does.
	idleTimeout = 30 * time.Second
)

// dial makes the HTTP client.
func (a *Activity) dial(proxy string) error {
	a.transport = &nethttp.Transport{
		ForceAttemptHTTP2:      true,
		MaxIdleConns:           64,
		MaxIdleConnsPerHost:    16,
		IdleConnTimeout:        idleTimeout,
		TLSHandshakeTimeout:    dialTimeout,
		MaxResponseHeaderBytes: maxHeaderBytes,
	}
	exempt := ""
	if proxy != "" {
		u, err := url.Parse(proxy)
		if err != nil || u.Hostname() == "" || u.Scheme != "http" && u.Scheme != "https" && u.Scheme != "socks5" {
			return errors.New("proxy is no URL with http, https or socks5 and a host")
		}
		a.proxied = true
		a.transport.Proxy = nethttp.ProxyURL(u)
		exempt = canonical(u.Hostname())
	}
	open := &net.Dialer{Timeout: dialTimeout, Resolver: a.resolver}
	guarded := &net.Dialer{Timeout: dialTimeout, Resolver: a.resolver, Control: public}
	a.transport.DialContext = func(ctx context.Context, network, addr string) (net.Conn, error) {
		host, port, _ := net.SplitHostPort(addr)
		if a.private || a.hosts.trust(host, port) || exempt != "" && exempt == canonical(host) {
			return open.DialContext(ctx, network, addr)
		}
		return guarded.DialContext(ctx, network, addr)
	}
	a.client = &nethttp.Client{Transport: a.transport, CheckRedirect: a.redirect}
	return nil
}

// PublicDialer returns a dialer that connects to addresses of the public internet only. For other
// addresses its error is a *tool.Error with the code "private-address".
func PublicDialer() *net.Dialer { return &net.Dialer{Timeout: dialTimeout, Control: public} }

// public refuses to connect to an address that is not on the public internet. It is called with the
// address that a name was resolved to.
func public(_, address string, _ syscall.RawConn) error {
	addr, err := netip.ParseAddrPort(address)
	if err != nil {
		return err
	}
	if special(addr.Addr()) {
		return privateAddress(addr.Addr().String())
	}
	return nil
}

func privateAddress(addr string) error {
	return &tool.Error{Code: "private-address", Permanent: true, Message: fmt.Sprintf(
		"%s is not a public address; to allow it, name it (or localhost) in allowHosts, for http.get and openapi in policy.hosts, or set allowPrivate", addr)}
}

// special reports whether an address is not on the public internet: private, of this machine or
// link, multicast, reserved, or one that contains an IPv4 address for a gateway (IANA
// special-purpose registries).
func special(addr netip.Addr) bool {
	addr = addr.Unmap()
	if !addr.IsGlobalUnicast() || addr.IsPrivate() || addr.Zone() != "" {
		return true
	}
	for _, block := range [...]string{
		"0.0.0.0/8", "100.64.0.0/10", "192.0.0.0/24", "192.0.2.0/24", "192.88.99.0/24", "198.18.0.0/15",
		"198.51.100.0/24", "203.0.113.0/24", "240.0.0.0/4",
		"::/96", "64:ff9b::/96", "64:ff9b:1::/48", "100::/64", "2001::/23", "2001:db8::/32", "2002::/16", "fec0::/10",
	} {
		if netip.MustParsePrefix(block).Contains(addr) {
			return true
		}
	}
	return false
}

// redirect decides whether a redirect is followed, and with which headers.
func (a *Activity) redirect(req *nethttp.Request, via []*nethttp.Request) error {
	refuse := func(code, format string, args ...any) error {
		return &tool.Error{Code: code, Message: fmt.Sprintf(format, args...), Permanent: true}
	}
	switch {
	case len(via) > maxRedirects:
		return refuse("too-many-redirects", "more than %d redirects", maxRedirects)
	case req.URL.Scheme != "https" && (req.URL.Scheme != "http" || via[len(via)-1].URL.Scheme == "https"):
		return refuse("insecure-redirect", "a redirect from %s to %s", via[len(via)-1].URL.Scheme, req.URL.Scheme)
	}
	if err := a.checkHost(req.URL); err != nil {
		return err
	}
	// A Referer would reveal the query. The other headers may be secrets of the first host; once a
	// redirect has led to another host they are not sent any more, even if a later one leads back.
	req.Header.Del("Referer")
	left := func(r *nethttp.Request) bool { return r.URL.Host != via[0].URL.Host }
	if left(req) || slices.ContainsFunc(via, left) {
		keepHeaders(req.Header, "Accept", "Content-Type", "User-Agent")
	}
	return nil
}

func keepHeaders(h nethttp.Header, names ...string) {
	kept := nethttp.Header{}
	for _, name := range names {
		if v, ok := h[name]; ok {
			kept[name] = v
		}
	}
	clear(h)
	for name, v := range kept {
		h[name] = v
	}
}

// oddAddress reports whether a host ends in a number, like an address, but is not an address that
// all systems read in the same way: for some systems, and perhaps a proxy, 127.1, 0x7f000001 and
// 2130706433 are 127.0.0.1.
func oddAddress(host string) bool {
	host = strings.TrimSuffix(host, ".")
	last := host[strings.LastIndexByte(host, '.')+1:]
	_, err := strconv.ParseUint(last, 0, 64)
	if err != nil && strings.Trim(last, "0123456789") != "" {
		return false
	}
	_, err = netip.ParseAddr(host)
	return err != nil
}

// checkHost refuses a URL whose host is not allowed. With a proxy it also checks a host that is an
// address, since no connection is made to it here.
func (a *Activity) checkHost(u *url.URL) error {
	if oddAddress(u.Hostname()) {
		return &tool.Error{Code: "host-not-allowed", Permanent: true, Message: fmt.Sprintf(
			"the host %q is no address as everybody reads it, though some take it for one; write it like 192.0.2.1", u.Host)}
	}
	if !a.hosts.allow(u) {
		return &tool.Error{Code: "host-not-allowed", Permanent: true, Message: fmt.Sprintf("the host %q is not among allowHosts", u.Host)}
	}
	if !a.proxied || a.private || a.hosts.trust(u.Hostname(), portOf(u)) {
		return nil
	}
	host := canonical(u.Hostname())
	if addr, err := netip.ParseAddr(host); err == nil && special(addr) || host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return privateAddress(host)
	}
	return nil
}
