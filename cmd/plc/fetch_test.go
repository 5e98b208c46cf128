package main

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"path/filepath"
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

// A document of a delegate comes from a host that is allowed, by a flag or by the policy
// of a tool file, and from no other.
func TestDelegateOfURL(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		fmt.Fprint(w, `{"calls": [{"_tool": "a", "x": "†input.x", "_outputPath": "†state.y"}], "output": "†state.y.x"}`)
	}))
	defer s.Close()
	host := strings.TrimPrefix(s.URL, "http://")
	const tools = `{"tools": {"a": {"properties": {"x": {}}, "effects": {"pure": true}}, "sub": {"properties": {"x": {}}}},
		"activities": {"a": {"echo": true}}, "policy": {"hosts": [%s]}}`
	dir := t.TempDir()
	write(t, filepath.Join(dir, "plan.json"), fmt.Sprintf(`{"calls": [{"_tool": "sub", "x": 7, "_delegate": "%s/sub.json", "_outputPath": "†state.r"}], "output": "†state.r"}`, s.URL))
	write(t, filepath.Join(dir, "none.json"), fmt.Sprintf(tools, ""))
	write(t, filepath.Join(dir, "policy.json"), fmt.Sprintf(tools, `"`+host+`"`))
	for _, test := range []struct {
		tools, flag string
		code        int
		out         string
	}{
		{"none.json", "", exitErrors, "no host is allowed to give documents; --delegate-hosts names those that are"},
		{"none.json", "--delegate-hosts=other.example", exitErrors, "[PLC605]"},
		{"policy.json", "--delegate-hosts=other.example", exitErrors, "[PLC605]"},
		{"none.json", "--delegate-hosts=" + host, exitDone, "7\n"},
		{"policy.json", "--strict=false", exitDone, "7\n"},
	} {
		args := []string{"run", "plan.json", "--tools", test.tools}
		if test.flag != "" {
			args = append(args, test.flag)
		}
		got := plc(t, dir, args...)
		if got.code != test.code || !strings.Contains(got.stdout+got.stderr, test.out) {
			t.Errorf("%s %s: exit %d: %s%s", test.tools, test.flag, got.code, got.stdout, got.stderr)
		}
	}
}
