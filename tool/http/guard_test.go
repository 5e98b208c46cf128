package http

import (
	"fmt"
	nethttp "net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/netip"
	"strings"
	"testing"
)

func TestSpecialAddresses(t *testing.T) {
	for _, text := range []string{
		"127.0.0.1", "127.8.9.1", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "0.0.0.0", "0.1.2.3",
		"224.0.0.1", "255.255.255.255", "240.0.0.1", "192.0.0.170", "198.18.0.1", "203.0.113.7",
		"::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd00:ec2::254", "ff02::1", "::ffff:127.0.0.1", "::ffff:10.0.0.1",
		"::7f00:1", "64:ff9b::7f00:1", "2002:7f00:1::", "2001:db8::1", "2001::1", "fec0::1",
	} {
		if !special(netip.MustParseAddr(text)) {
			t.Errorf("%s may be connected to", text)
		}
	}
	for _, text := range []string{"1.1.1.1", "8.8.8.8", "172.32.0.1", "100.128.0.1", "2606:4700:4700::1111", "::ffff:8.8.8.8"} {
		if special(netip.MustParseAddr(text)) {
			t.Errorf("%s may not be connected to", text)
		}
	}
}

func TestAllowHosts(t *testing.T) {
	for _, c := range []struct {
		entry      string
		yes, no    string // URLs
		trustworth bool
	}{
		{"a.example", "https://A.example./x https://a.example:8443/ http://a.example/", "https://b.a.example/ https://a.example.evil/ https://xa.example/", false},
		{"*.a.example", "https://b.a.example/ https://c.b.a.example/", "https://a.example/ https://xa.example/", false},
		{"a.example:8443", "https://a.example:8443/", "https://a.example/ http://a.example:80/", false},
		{"a.example:443", "https://a.example/", "http://a.example/", false},
		{"127.0.0.1", "http://127.0.0.1:9/ http://[::ffff:127.0.0.1]/", "http://127.0.0.2/ http://localhost/", true},
		{"::1", "http://[::1]:8080/ http://[0:0::1]/", "http://[::2]/", true},
		{"[::1]:80", "http://[::1]/", "http://[::1]:8080/", true},
		{"[::1]", "http://[::1]/", "http://1/", true},
		{"localhost:8080", "http://LOCALHOST:8080/", "http://localhost/", true},
	} {
		p, err := parsePattern(c.entry)
		if err != nil {
			t.Errorf("%s: %v", c.entry, err)
			continue
		}
		h := hosts{p}
		for _, text := range strings.Fields(c.yes) {
			u := mustParse(t, text)
			if !h.allow(u) || h.trust(u.Hostname(), portOf(u)) != c.trustworth {
				t.Errorf("%s: %s allowed %v, trusted %v", c.entry, text, h.allow(u), h.trust(u.Hostname(), portOf(u)))
			}
		}
		for _, text := range strings.Fields(c.no) {
			if h.allow(mustParse(t, text)) {
				t.Errorf("%s allows %s", c.entry, text)
			}
		}
	}
}

// An empty list allows no host, where none at all allows that of the URL.
func TestNoHosts(t *testing.T) {
	if _, err := New(Config{URL: "https://a.example/x", AllowHosts: []string{}}); err == nil || !strings.Contains(err.Error(), "host-not-allowed") {
		t.Error(err)
	}
	a, err := New(Config{URL: "https://{host}/x", AllowHosts: []string{}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := call(t, a, `{"host": "a.example"}`); toolError(t, err).Code != "host-not-allowed" {
		t.Error(err)
	}
}

// A private address is refused however it is come by: written, named or redirected to.
func TestPrivateAddresses(t *testing.T) {
	base, got := server(t, ok)
	for _, c := range []struct {
		cfg     Config
		allowed bool
	}{
		{Config{URL: base, AllowHosts: []string{}}, false},
		{Config{URL: named(base), AllowHosts: []string{}}, false},
		{Config{URL: named(base), AllowHosts: []string{"localhost"}}, true},
		{Config{URL: base, AllowHosts: []string{"127.0.0.1:1", "127.0.0.1:" + mustParse(t, base).Port()}}, true},
		{Config{URL: base, AllowHosts: []string{}, AllowPrivate: true}, true},
		{Config{URL: named(base), AllowHosts: []string{}, AllowPrivate: true}, true},
	} {
		*got = nil
		_, err := call(t, activity(t, c.cfg), "")
		if c.allowed != (err == nil) || c.allowed != (len(*got) == 1) {
			t.Errorf("%+v: %v", c.cfg, err)
		}
		if err != nil {
			if e := toolError(t, err); e.Code != "private-address" || !e.Permanent || e.Uncertain || !strings.Contains(e.Message, "allowPrivate") {
				t.Errorf("%+v: %+v", c.cfg, e)
			}
		}
	}
}

func TestHostOfAParam(t *testing.T) {
	base, got := server(t, ok)
	port := mustParse(t, base).Port()
	a := activity(t, Config{URL: "http://{host}:" + port + "/", AllowHosts: []string{"127.0.0.1", "*.api.example"}})
	if _, err := call(t, a, `{"host": "127.0.0.1"}`); err != nil {
		t.Error(err)
	}
	for host, code := range map[string]string{
		"evil.example":              "host-not-allowed",
		"api.example.evil.example":  "host-not-allowed",
		"127.0.0.1/@evil.example":   "bad-params",
		"evil.example#127.0.0.1":    "bad-params",
		"user@evil.example":         "bad-params",
		"127.0.0.1:80@evil.example": "bad-params",
		"evil.example?":             "bad-params",
		"%65vil.example":            "bad-params",
		"127.0.0.1:22":              "bad-params",
		"[::1]":                     "bad-params",
		"":                          "bad-params",
		"127.0.0.1\r\n":             "bad-params",
	} {
		_, err := call(t, a, fmt.Sprintf(`{"host": %q}`, host))
		if e := toolError(t, err); e.Code != code || !e.Permanent {
			t.Errorf("%q: %+v, want %s", host, e, code)
		}
	}
	if len(*got) != 1 {
		t.Errorf("%d requests", len(*got))
	}
}

// redirects sends on to a place.
func redirects(status int, to func() string) nethttp.HandlerFunc {
	return func(w nethttp.ResponseWriter, r *nethttp.Request) { nethttp.Redirect(w, r, to(), status) }
}

func TestRedirect(t *testing.T) {
	base, got := server(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		if n := len(r.URL.Path); n < 6 {
			nethttp.Redirect(w, r, r.URL.Path+"x", nethttp.StatusTemporaryRedirect)
			return
		}
		ok(w, r)
	})
	a := activity(t, Config{URL: base + "/{p}", Method: "POST", Headers: map[string]string{"Authorization": "secret"}})
	if value, err := call(t, a, `{"p": "x", "q": 1}`); err != nil || value != `{"ok":true}` {
		t.Errorf("four redirects: %s, %v", value, err)
	}
	for _, r := range *got {
		if r.method != "POST" || r.body != `{"q":1}` || r.header.Get("Authorization") != "secret" || r.header.Get("Referer") != "" {
			t.Errorf("%+v", r)
		}
	}
}

func TestRedirectsThatAreRefused(t *testing.T) {
	var loop string
	loop, loops := server(t, redirects(302, func() string { return loop }))
	inside, asked := server(t, ok)
	away := func(to string) string {
		base, _ := server(t, redirects(307, func() string { return to }))
		return base
	}
	for _, c := range []struct {
		cfg  Config
		code string
	}{
		{Config{URL: loop}, "too-many-redirects"},
		{Config{URL: away("http://evil.example/")}, "host-not-allowed"},
		{Config{URL: away("ftp://127.0.0.1/")}, "insecure-redirect"},
		{Config{URL: away("file:///etc/passwd")}, "insecure-redirect"},
		{Config{URL: away(named(inside)), AllowHosts: []string{"127.0.0.1", "*.example"}}, "host-not-allowed"},
		{Config{URL: away("http://127.0.0.2:1/"), AllowHosts: []string{"127.0.0.1"}}, "host-not-allowed"},
		{Config{URL: away(named(inside)), Method: "POST"}, "host-not-allowed"},
	} {
		_, err := call(t, activity(t, c.cfg), "")
		if e := toolError(t, err); e.Code != c.code || !e.Permanent || e.Uncertain != (c.cfg.Method == "POST") {
			t.Errorf("%s: %+v, want %s", c.cfg.URL, e, c.code)
		}
	}
	if len(*loops) != 1+maxRedirects || len(*asked) != 0 {
		t.Errorf("%d rounds, %d requests inside", len(*loops), len(*asked))
	}
}

func TestRedirectFromHTTPS(t *testing.T) {
	a := activity(t, Config{URL: "https://a.example/", AllowHosts: []string{}})
	from := &nethttp.Request{URL: mustParse(t, "https://a.example/")}
	to := &nethttp.Request{URL: mustParse(t, "http://a.example/"), Header: nethttp.Header{}}
	if e := toolError(t, a.redirect(to, []*nethttp.Request{from})); e.Code != "insecure-redirect" {
		t.Errorf("%+v", e)
	}
	to.URL.Scheme = "https"
	if err := a.redirect(to, []*nethttp.Request{from}); err != nil {
		t.Error(err)
	}
}

// What was meant for the first host goes to no other, and not back through another.
func TestSecretsStayWithTheHost(t *testing.T) {
	var first string
	second, gotSecond := server(t, redirects(302, func() string { return first + "/back" }))
	first, gotFirst := server(t, func(w nethttp.ResponseWriter, r *nethttp.Request) {
		if r.URL.Path == "/back" {
			ok(w, r)
			return
		}
		nethttp.Redirect(w, r, named(second), nethttp.StatusFound)
	})
	a := activity(t, Config{
		URL: first + "/?key=secret", AllowHosts: []string{"127.0.0.1", "localhost"},
		Headers: map[string]string{"Authorization": "secret", "X-Api-Key": "secret", "Cookie": "a=secret"},
	})
	if _, err := call(t, a, ""); err != nil {
		t.Fatal(err)
	}
	for _, r := range append((*gotFirst)[1:], *gotSecond...) {
		if text := fmt.Sprint(r); strings.Contains(text, "secret") {
			t.Errorf("it was told: %s", text)
		}
	}
	if len(*gotFirst) != 2 || len(*gotSecond) != 1 {
		t.Errorf("%d and %d requests", len(*gotFirst), len(*gotSecond))
	}
}

func TestProxy(t *testing.T) {
	t.Setenv("HTTP_PROXY", "http://192.0.2.1:1") // is not to be looked at
	base, got := server(t, ok)
	var through []string
	p := httptest.NewServer(&httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) {
			through = append(through, r.In.URL.Host)
			r.SetURL(mustParse(t, base))
		},
	})
	defer p.Close()
	if _, err := call(t, activity(t, Config{URL: "http://a.example/x", AllowHosts: []string{}, Proxy: p.URL}), ""); err != nil {
		t.Error(err)
	}
	for _, host := range []string{"10.0.0.1", "localhost", "x.localhost", "[::1]"} {
		_, err := call(t, activity(t, Config{URL: "http://" + host + "/", AllowHosts: []string{}, Proxy: p.URL}), "")
		if e := toolError(t, err); e.Code != "private-address" {
			t.Errorf("%s: %+v", host, e)
		}
	}
	if len(through) != 1 || through[0] != "a.example" || len(*got) != 1 {
		t.Errorf("through the proxy: %q", through)
	}
}
