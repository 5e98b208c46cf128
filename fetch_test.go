package plc

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"
)

func TestFetch(t *testing.T) {
	elsewhere := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "[]") }))
	defer elsewhere.Close()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/plan.json":
			fmt.Fprint(w, "// a plan\n[]")
		case "/{a}.json":
			fmt.Fprint(w, "braces")
		case "/moved":
			http.Redirect(w, r, "/plan.json", http.StatusFound)
		case "/away":
			http.Redirect(w, r, elsewhere.URL, http.StatusFound)
		case "/large":
			w.Write(make([]byte, 17<<20))
		default:
			http.NotFound(w, r)
		}
	}))
	defer s.Close()
	u, _ := url.Parse(s.URL)
	for _, test := range []struct{ hosts, url, want string }{
		{u.Host, s.URL + "/plan.json", "// a plan\n[]"},
		{u.Host, s.URL + "/moved", "// a plan\n[]"},
		{u.Host, s.URL + "/%7Ba%7D.json", "braces"},
		{u.Host, s.URL + "/away", "! the host \""},
		{u.Host, s.URL + "/none", "! "},
		{u.Host, s.URL + "/large", "! the document has more than 16 MiB"},
		{u.Host, "file:///etc/passwd", "! url"},
		{u.Host, "http://{host}/", "! "},
		{"api.example", s.URL + "/plan.json", "! --delegate-hosts does not have its host"},
		{"*.example," + u.Host, s.URL + "/plan.json", "// a plan\n[]"},
		{"localhost.example", "http://10.0.0.1/", "! --delegate-hosts does not have its host"},
	} {
		got, err := fetcher(t.Context(), strings.Split(test.hosts, ","))(test.url)
		text := string(got)
		if err != nil {
			text = "! " + err.Error()
		}
		if !strings.HasPrefix(text, test.want) || test.want == "" {
			t.Errorf("%s: %.200s", test.url, text)
		}
	}
	if fetcher(t.Context(), nil) != nil {
		t.Error("without hosts there is something to fetch from")
	}
}
