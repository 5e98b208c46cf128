package server

import (
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

// Who logs in comes to the page that was asked for, and to no other place.
func TestLoginLeadsOn(t *testing.T) {
	g := newRig(t, Options{})
	token := g.token("ann", Read)
	ask := func(method, path, form string) *http.Response {
		t.Helper()
		r := httptest.NewRequestWithContext(t.Context(), method, g.http.URL+path, strings.NewReader(form))
		r.RequestURI = ""
		r.Header.Set("Accept", "text/html")
		if form != "" {
			r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
			r.Header.Set("Origin", g.http.URL)
		}
		res, err := http.DefaultTransport.RoundTrip(r)
		if err != nil {
			t.Fatal(err)
		}
		res.Body.Close()
		return res
	}
	at := ask("GET", "/inbox?run=R", "").Header.Get("Location")
	if at != "/login?to=%2Finbox%3Frun%3DR" {
		t.Errorf("it leads to %q", at)
	}
	for to, want := range map[string]string{
		"/inbox?run=R": "/inbox?run=R", "": "/", "https://evil.example/": "/", "//evil.example/x": "/", `/\evil.example`: "/", "evil": "/", "javascript:alert(1)": "/",
		"/\t/evil.example": "/", "http:evil": "/",
	} {
		res := ask("POST", "/login", url.Values{"token": {token}, "to": {to}}.Encode())
		if got := res.Header.Get("Location"); res.StatusCode != http.StatusSeeOther || got != want {
			t.Errorf("%q: %d, to %q, want %q", to, res.StatusCode, got, want)
		}
	}
}
