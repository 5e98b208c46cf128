package http

import (
	"encoding/json"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/internal/driver"
)

func TestConfigJSON(t *testing.T) {
	var got Config
	err := json.Unmarshal([]byte(`{"method": "POST", "url": "https://a.example/{x}", "query": {"q": "1"}, "headers": {"X": "y"},
		"body": {"a": "{b}"}, "timeout": "5s", "maxBytes": 9, "allowHosts": ["a.example"], "allowPrivate": true,
		"result": "full", "proxy": "http://p:1"}`), &got)
	want := Config{
		Method: "POST", URL: "https://a.example/{x}", Query: map[string]string{"q": "1"}, Headers: map[string]string{"X": "y"},
		Body: json.RawMessage(`{"a": "{b}"}`), Timeout: 5 * time.Second, MaxBytes: 9, AllowHosts: []string{"a.example"},
		AllowPrivate: true, Result: "full", Proxy: "http://p:1",
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("%+v, %v", got, err)
	}
	for _, text := range []string{`{"uri": "x"}`, `{"timeout": "soon"}`, `{"headers": ["x"]}`} {
		if err := json.Unmarshal([]byte(text), &got); err == nil {
			t.Errorf("%s is taken", text)
		}
	}
}

func TestNewRefuses(t *testing.T) {
	const good = "https://a.example/"
	for _, c := range []struct {
		cfg  Config
		want string
	}{
		{Config{}, "https://"},
		{Config{URL: "ftp://a.example/"}, "https://"},
		{Config{URL: "{scheme}://a.example/"}, "https://"},
		{Config{URL: "https:///path"}, "no host"},
		{Config{URL: "https://a.example:port/"}, "url"},
		{Config{URL: "https://bücher.example/"}, "no host"},
		{Config{URL: "https://me:pw@a.example/"}, "Authorization"},
		{Config{URL: "https://a.example/#top"}, "#"},
		{Config{URL: "https://a.example/{a b}"}, "placeholder"},
		{Config{URL: "https://a.example/?{x}=1"}, "name"},
		{Config{URL: "https://a.example/{x} y"}, "%20"},
		{Config{URL: "https://a.example/größe"}, "%20"},
		{Config{URL: "https://a.example/?a= b"}, "%20"},
		{Config{URL: "https://{host}/"}, "allowHosts"},
		{Config{URL: good, AllowHosts: []string{"b.example"}}, "allowHosts does not have"},
		{Config{URL: good, AllowHosts: []string{"*"}}, "allowHosts"},
		{Config{URL: good, AllowHosts: []string{"*example"}}, "allowHosts"},
		{Config{URL: good, AllowHosts: []string{"https://a.example"}}, "allowHosts"},
		{Config{URL: good, AllowHosts: []string{""}}, "allowHosts"},
		{Config{URL: good, Method: "GET /"}, "method"},
		{Config{URL: good, Method: "CONNECT"}, "method"},
		{Config{URL: good, Result: "xml"}, "result"},
		{Config{URL: good, Timeout: -1}, "negative"},
		{Config{URL: good, Query: map[string]string{"q": "{"}}, `query "q"`},
		{Config{URL: good, Headers: map[string]string{"a b": "x"}}, "headers"},
		{Config{URL: good, Headers: map[string]string{"X": "a\r\nB: c"}}, "headers"},
		{Config{URL: good, Headers: map[string]string{"host": "x"}}, "client alone"},
		{Config{URL: good, Headers: map[string]string{"content-type": "{t}"}}, "content-type"},
		{Config{URL: good, Body: json.RawMessage(`{"a": 1`)}, "body"},
		{Config{URL: good, Body: json.RawMessage(`{"a": ["{x y}"]}`)}, "body"},
		{Config{URL: good, Body: json.RawMessage(`"{{\"a\": \"{x}\"}}"`), Headers: map[string]string{"Content-Type": "application/json"}}, "JSON value"},
		{Config{URL: good, Proxy: "ftp://p"}, "proxy"},
	} {
		if _, err := New(c.cfg); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.cfg, err, c.want)
		}
	}
}

func TestParams(t *testing.T) {
	a := activity(t, Config{
		URL: "https://{h}.a.example/{p}?q={q}", AllowHosts: []string{"*.a.example"}, Method: "POST",
		Query: map[string]string{"x": "{x}{p}"}, Headers: map[string]string{"X": "{head}"},
		Body: json.RawMessage(`{"a": ["{b1}", {"c": "-{b2}"}]}`),
	})
	if got := strings.Join(a.Params(), " "); got != "b1 b2 h head p q x" {
		t.Errorf("params %s", got)
	}
}

// requests are configs, params, and what the server gets.
var requests = []struct {
	cfg    Config // URL is the path
	params string
	uri    string
	body   string
}{
	{Config{URL: "/weather/{city}"}, `{"city": "São Paulo/..x?#&"}`, "/weather/S%C3%A3o%20Paulo%2F..x%3F%23&", ""},
	{Config{URL: ""}, `{}`, "/", ""},
	{Config{URL: "?a=1"}, ``, "/?a=1", ""},
	{Config{URL: "/a/{x}"}, `{"x": {"k": [1, 2]}}`, "/a/%7B%22k%22:%5B1%2C2%5D%7D", ""},
	{Config{URL: "/a/{x}.json"}, `{"x": 1.50}`, "/a/1.50.json", ""},
	{Config{URL: "/a?q={q}&fixed=%20&opt={opt}"}, `{"q": "a&b=c d+é"}`, "/a?q=a%26b%3Dc+d%2B%C3%A9&fixed=%20", ""},
	{Config{URL: "/a?q={q}"}, `{"q": "1", "rest": "a b", "n": null, "list": [1]}`, "/a?q=1&rest=a+b&list=%5B1%5D", ""},
	{Config{URL: "/a", Query: map[string]string{"$top": "{n}", "s": "a b", "gone": "{gone}"}}, `{"n": 3}`, "/a?%24top=3&s=a+b", ""},
	{Config{URL: "/a/{id}", Method: "DELETE"}, `{"id": "x", "force": true}`, "/a/x?force=true", ""},
	{Config{URL: "/a/{id}", Method: "post"}, `{"id": "x", "b": 1.0, "a": null}`, "/a/x", `{"b":1.0,"a":null}`},
	{Config{URL: "/a/{id}", Method: "POST"}, `{"id": "x"}`, "/a/x", `{}`},
	{Config{URL: "/a", Method: "PUT", Body: json.RawMessage(`""`)}, `{"id": "x"}`, "/a", ``},
	{Config{URL: "/a", Method: "POST", Body: json.RawMessage(`"raw {x} {{}}"`)}, `{"x": "\"<"}`, "/a", `raw "< {}`},
	{Config{URL: "/a", Method: "POST", Body: json.RawMessage(`"a={x}&b={y}"`),
		Headers: map[string]string{"content-type": "application/x-www-form-urlencoded"}},
		`{"x": "1&admin=1", "y": " "}`, "/a", `a=1%26admin%3D1&b=+`},
	{Config{URL: "/a", Method: "POST", Body: json.RawMessage(`"<q>{x}</q>"`), Headers: map[string]string{"Content-Type": "text/xml"}},
		`{"x": "</q><admin/>"}`, "/a", `<q>&lt;/q&gt;&lt;admin/&gt;</q>`},
	{Config{URL: "/a", Method: "POST", Body: json.RawMessage(`{"s": "{s}", "n": "{n}", "z": "{z}", "gone": "{gone}", "mix": "<{s}>",
		"lost": "<{gone}>", "list": ["{gone}", "{n}", 1e400, true], "fixed": {"a": null}}`)},
		`{"s": "a\"b", "n": 12345678901234567890, "z": null}`, "/a",
		`{"s":"a\"b","n":12345678901234567890,"z":null,"mix":"<a\"b>","list":[12345678901234567890,1e400,true],"fixed":{"a":null}}`},
	{Config{URL: "/a", Method: "POST", Body: json.RawMessage(`"{x}"`), Headers: map[string]string{"X-Id": "{x}"}}, `{"x": {"a": [1, 2]}}`, "/a", `{"a":[1,2]}`},
	{Config{URL: "/a", Method: "PATCH", Body: json.RawMessage(`["{x}"]`)}, `{"x": [ 1 ]}`, "/a", `[[ 1 ]]`},
}

func TestRequest(t *testing.T) {
	base, got := server(t, ok)
	for _, c := range requests {
		*got = nil
		c.cfg.URL = base + c.cfg.URL
		value, err := call(t, activity(t, c.cfg), c.params)
		if err != nil || value != `{"ok":true}` || len(*got) != 1 {
			t.Errorf("%+v with %s: %s, %v", c.cfg, c.params, value, err)
			continue
		}
		r := (*got)[0]
		body := strings.ReplaceAll(r.body, `\u003c`, "<")
		body = strings.ReplaceAll(body, `\u003e`, ">")
		if r.uri != c.uri || body != c.body {
			t.Errorf("%s with %s:\n got %s %s\nwant %s %s", c.cfg.URL, c.params, r.uri, body, c.uri, c.body)
		}
	}
}

func TestParamsThatAreRefused(t *testing.T) {
	base, got := server(t, ok)
	for _, c := range []struct {
		cfg          Config
		params, want string
	}{
		{Config{URL: "/users/{id}"}, `{"id": ""}`, "empty"},
		{Config{URL: "/users/{id}"}, `{}`, "not given"},
		{Config{URL: "/users/{id}"}, `{"id": null}`, "not given"},
		{Config{URL: "/users/{id}"}, `{"id": ".."}`, "elsewhere"},
		{Config{URL: "/users/{id}/x"}, `{"id": "a/../../admin"}`, "elsewhere"},
		{Config{URL: "/users/{id}/x"}, `{"id": "..\\admin"}`, "elsewhere"},
		{Config{URL: "/users/{a}{b}"}, `{"a": ".", "b": "."}`, "elsewhere"},
		{Config{URL: "/", Headers: map[string]string{"X": "{x}"}}, `{"x": "a\r\nAuthorization: b"}`, "X"},
		{Config{URL: "/", Headers: map[string]string{"X": "{x}"}}, `{"x": "\u0000"}`, "X"},
		{Config{URL: "/", Method: "POST", Body: json.RawMessage(`"a {x}"`)}, `{}`, "body"},
		{Config{URL: "/", Method: "POST", Body: json.RawMessage(`"x"`), Headers: map[string]string{"X": "{x}"}}, `{"x": "\u007f"}`, "X"},
	} {
		c.cfg.URL = base + c.cfg.URL
		_, err := call(t, activity(t, c.cfg), c.params)
		if e := toolError(t, err); e.Code != driver.BadParams || !e.Permanent || e.Uncertain || !strings.Contains(e.Message, c.want) {
			t.Errorf("%s with %s: %+v, want %q", c.cfg.URL, c.params, e, c.want)
		}
	}
	if len(*got) > 0 {
		t.Errorf("the server was asked: %+v", *got)
	}
}

func TestHeaders(t *testing.T) {
	base, got := server(t, ok)
	for _, c := range []struct {
		cfg  Config
		key  string
		want map[string]string // "" is absent
	}{
		{Config{Method: "POST"}, "run/pay-2", map[string]string{
			"Idempotency-Key": "run/pay-2", "Content-Type": "application/json", "User-Agent": "plc",
			"Accept": "application/json, text/plain;q=0.9, */*;q=0.5",
		}},
		{Config{Method: "GET"}, "run/pay", map[string]string{"Idempotency-Key": "", "Content-Type": ""}},
		{Config{Method: "POST"}, "run/naïve\r\nX: 1", map[string]string{"Idempotency-Key": "run%2Fna%C3%AFve%0D%0AX:%201"}},
		{Config{Method: "POST", Headers: map[string]string{
			"idempotency-key": "mine-{x}", "authorization": "Bearer {x}", "X-Gone": "{gone}", "user-agent": "me", "content-type": "a/b+json",
		}}, "k", map[string]string{
			"Idempotency-Key": "mine-1", "Authorization": "Bearer 1", "X-Gone": "", "User-Agent": "me", "Content-Type": "a/b+json",
		}},
		{Config{Method: "POST", Body: json.RawMessage(`"x"`)}, "", map[string]string{"Content-Type": "text/plain; charset=utf-8"}},
	} {
		*got = nil
		c.cfg.URL = base
		_, err := activity(t, c.cfg).Call(t.Context(), &tool.Request{Key: c.key, Params: json.RawMessage(`{"x": 1}`)})
		if err != nil || len(*got) != 1 {
			t.Errorf("%+v: %v", c.cfg, err)
			continue
		}
		for name, want := range c.want {
			if have := strings.Join((*got)[0].header.Values(name), "|"); have != want {
				t.Errorf("%+v: %s is %q, want %q", c.cfg, name, have, want)
			}
		}
	}
}

// FuzzURL: whatever a param holds, it stays one segment and one value, on the host
// that was meant.
func FuzzURL(f *testing.F) {
	for _, c := range requests {
		f.Add("/weather/{city}?q={q}", "Paris", c.params)
		f.Add(c.cfg.URL, "..", "a&b=c#d")
	}
	f.Add("/{a}/x", "%2e%2e", "\r\n")
	f.Add("/{a} ", "/", "")
	f.Fuzz(func(t *testing.T, path, one, two string) {
		template, err := parseAddress("https://a.example" + path)
		if err != nil {
			return
		}
		names := driver.SortedNames(template.templates()...)
		fill := func(values ...string) func(string) (string, bool) {
			return func(name string) (string, bool) { return values[slices.Index(names, name)%2], true }
		}
		plain, err := template.fill(fill("0", "0"), nil)
		if err != nil {
			t.Fatalf("%q: harmless params: %v", path, err)
		}
		got, err := template.fill(fill(one, two), nil)
		if err != nil {
			return
		}
		if driver.SortedNames(template.host) == nil && got.Host != plain.Host {
			t.Fatalf("%q with %q, %q: host %q, want %q", path, one, two, got.Host, plain.Host)
		}
		count := strings.Count
		if count(got.EscapedPath(), "/") != count(plain.EscapedPath(), "/") || got.Fragment != "" || got.User != nil ||
			count(got.RawQuery, "&") != count(plain.RawQuery, "&") || count(got.RawQuery, "=") != count(plain.RawQuery, "=") {
			t.Fatalf("%q with %q, %q: %s, want the shape of %s", path, one, two, got, plain)
		}
	})
}
