package http

import (
	"context"
	"encoding/binary"
	"net"
	nethttp "net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
)

// nameServer returns a resolver that gives each name's addresses in turn, the last again and again.
func nameServer(asked *atomic.Int32, answers ...string) *net.Resolver {
	return &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		here, there := net.Pipe()
		go func() {
			defer there.Close()
			var size [2]byte
			for {
				if _, err := there.Read(size[:]); err != nil {
					return
				}
				query := make([]byte, binary.BigEndian.Uint16(size[:]))
				if _, err := there.Read(query); err != nil {
					return
				}
				n := min(int(asked.Add(1))-1, len(answers)-1)
				reply := answer(query, netip.MustParseAddr(answers[n]))
				_, _ = there.Write(append(binary.BigEndian.AppendUint16(nil, uint16(len(reply))), reply...))
			}
		}()
		return here, nil
	}}
}

// answer returns the answer to a DNS query: the address, if it is of the kind that is asked for.
func answer(query []byte, addr netip.Addr) []byte {
	end := 12
	for query[end] != 0 {
		end += int(query[end]) + 1
	}
	end += 5
	kind := binary.BigEndian.Uint16(query[end-4:])
	reply := append([]byte{query[0], query[1], 0x81, 0x80, 0, 1, 0, 0, 0, 0, 0, 0}, query[12:end]...)
	if kind == 1 != addr.Is4() {
		return reply
	}
	reply[7] = 1
	reply = append(reply, 0xc0, 12, byte(kind>>8), byte(kind), 0, 1, 0, 0, 0, 0, 0, byte(addr.BitLen()/8))
	return append(reply, addr.AsSlice()...)
}

// A name that leads to a private address is refused when the connection is made, whatever it
// led to before and however the address is written; nothing is sent there.
func TestNamesOfPrivateAddresses(t *testing.T) {
	inside, got := server(t, ok)
	port := mustParse(t, inside).Port()
	for _, answers := range [][]string{
		{"127.0.0.1"}, {"::ffff:127.0.0.1"}, {"0.0.0.0"}, {"::"}, {"::1"}, {"169.254.169.254"}, {"10.0.0.7"}, {"64:ff9b::7f00:1"},
		{"::ffff:0.0.0.0"}, {"::127.0.0.1"}, {"fd00:ec2::254"},
		{"10.0.0.7", "192.168.0.1", "127.0.0.1"}, // which changes with each question
	} {
		var asked atomic.Int32
		a := activity(t, Config{URL: "http://rebind.example:" + port + "/", AllowHosts: []string{"*.example"}})
		a.resolver = nameServer(&asked, answers...)
		if err := a.dial(""); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			_, err := call(t, a, "")
			if e := toolError(t, err); e.Code != "private-address" || !e.Permanent || e.Uncertain {
				t.Errorf("%q: %+v", answers, e)
			}
		}
		if asked.Load() < 3 {
			t.Errorf("%q: the name was asked for %d times", answers, asked.Load())
		}
	}
	if len(*got) != 0 {
		t.Errorf("%d requests inside", len(*got))
	}
}

// A chain of redirects ends where it leads inside, by whatever name or address.
func TestRedirectsInside(t *testing.T) {
	inside, got := server(t, ok)
	port := mustParse(t, inside).Port()
	for to, code := range map[string]string{
		"http://127.0.0.2:" + port:          "host-not-allowed",
		"http://[::ffff:127.0.0.2]:" + port: "host-not-allowed",
		"http://[::1]:" + port:              "host-not-allowed",
		"http://0.0.0.0:" + port:            "host-not-allowed",
		"http://0:" + port:                  "host-not-allowed",
		"http://127.1:" + port:              "host-not-allowed",
		"http://2130706433:" + port:         "host-not-allowed",
		"http://0177.0.0.1:" + port:         "host-not-allowed",
		"http://0x7f000001:" + port:         "host-not-allowed",
		"http://localhost:" + port:          "host-not-allowed",
		"http://inside.example:" + port:     "private-address",
		"http://10.0.0.1.example:" + port:   "private-address",
	} {
		var chain *httptest.Server
		chain = httptest.NewServer(nethttp.HandlerFunc(func(w nethttp.ResponseWriter, r *nethttp.Request) {
			next := to
			if len(r.URL.Path) < 3 {
				next = chain.URL + r.URL.Path + "x"
			}
			nethttp.Redirect(w, r, next, nethttp.StatusFound)
		}))
		var asked atomic.Int32
		a := activity(t, Config{URL: chain.URL, AllowHosts: []string{"127.0.0.1", "*.example"}})
		a.resolver = nameServer(&asked, "127.0.0.1")
		if err := a.dial(""); err != nil {
			t.Fatal(err)
		}
		_, err := call(t, a, "")
		if e := toolError(t, err); e.Code != code || !e.Permanent {
			t.Errorf("%s: %+v, want %s", to, e, code)
		}
		chain.Close()
	}
	if len(*got) != 0 {
		t.Errorf("%d requests inside", len(*got))
	}
}

// An address that is not written as addresses are, and which some systems understand all the same,
// is no host, with a proxy or without.
func TestOtherFormsOfAddresses(t *testing.T) {
	inside, got := server(t, ok)
	port := mustParse(t, inside).Port()
	for _, host := range []string{"2130706433", "0x7f000001", "0x7f.0.0.1", "0177.0.0.1", "127.1", "127.0.1", "0", "017700000001", "1.2.3.4.5", "127.0.0.01", "127.0.0.0x1."} {
		for _, cfg := range []Config{
			{URL: "http://" + host + ":" + port + "/", AllowHosts: nil},
			{URL: "http://" + host + ":" + port + "/", AllowHosts: []string{host, "127.0.0.1"}},
			{URL: "http://{h}:" + port + "/", AllowHosts: []string{host, "*.example"}},
			{URL: "http://" + host + ":" + port + "/", AllowHosts: nil, Proxy: inside},
			{URL: "http://" + host + ":" + port + "/", AllowPrivate: true, AllowHosts: nil, Proxy: inside},
		} {
			a, err := New(cfg)
			if err == nil {
				_, err = call(t, a, `{"h":"`+host+`"}`)
				_ = a.Close()
			}
			if err == nil || !strings.Contains(err.Error(), "no address as everybody reads it") {
				t.Errorf("%+v: %v", cfg, err)
			}
		}
	}
	if len(*got) != 0 {
		t.Errorf("%d requests inside", len(*got))
	}
}
