package openapi_test

import (
	"encoding/json"
	"errors"
	"io"
	nethttp "net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers/legacy"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/openapi"
)

// service returns a server that holds to testdata/styles.yaml: a request that the document does not
// allow is refused, others are told what was understood of them.
func service(t *testing.T, text []byte) *httptest.Server {
	t.Helper()
	mux := nethttp.NewServeMux()
	srv := httptest.NewServer(mux)
	t.Cleanup(srv.Close)
	doc, err := openapi3.NewLoader().LoadFromData(text)
	if err != nil {
		t.Fatal(err)
	}
	doc.Servers = nil // any
	router, err := legacy.NewRouter(doc)
	if err != nil {
		t.Fatal(err)
	}
	mux.HandleFunc("/", func(w nethttp.ResponseWriter, r *nethttp.Request) {
		body, _ := io.ReadAll(r.Body)
		r.Body = io.NopCloser(strings.NewReader(string(body)))
		route, path, err := router.FindRoute(r)
		if err == nil {
			in := &openapi3filter.RequestValidationInput{Request: r, PathParams: path, Route: route, Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc}}
			err = openapi3filter.ValidateRequest(r.Context(), in)
		}
		if err != nil {
			nethttp.Error(w, err.Error(), nethttp.StatusBadRequest)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"method": r.Method, "uri": r.RequestURI, "auth": r.Header.Get("Authorization"), "cookie": r.Header.Get("Cookie"),
			"x": r.Header.Get("X-List"), "key": r.Header.Get("X-Key"), "body": string(body), "idempotency": r.Header.Get("Idempotency-Key"),
		})
	})
	return srv
}

// told is what the server understood.
type told struct{ Method, URI, Auth, Cookie, X, Key, Body, Idempotency string }

func read(t *testing.T, name string) ([]byte, *openapi.Document) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	doc, err := openapi.Read(text)
	if err != nil {
		t.Fatal(err)
	}
	return text, doc
}

func toolsOf(t *testing.T, doc *openapi.Document, cfg openapi.Config) map[string]*tool.Tool {
	t.Helper()
	tools, err := doc.Tools(cfg)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*tool.Tool{}
	for _, o := range tools {
		o = o.Whole()
		if o.Findings.HasErrors() {
			t.Fatal(o.Findings)
		}
		all[o.Definition.Name] = o
	}
	return all
}

func TestCalls(t *testing.T) {
	text, doc := read(t, "styles.yaml")
	srv := service(t, text)
	tools := toolsOf(t, doc, openapi.Config{Server: srv.URL, AllowPrivate: true, Auth: map[string]openapi.Credential{
		"bearer": {Token: "tok"}, "basic": {Username: "ada", Password: "pw"},
		"inHeader": {Token: "hk"}, "inQuery": {Token: "q&k"}, "inCookie": {Token: "ck"},
	}})
	for _, c := range []struct {
		tool, params string
		want         told
	}{
		{"getItem", `{"id":"ä b?","verbose":true}`, told{Method: "GET", URI: "/items/%C3%A4%20b%3F?verbose=true", Auth: "Bearer tok"}},
		{"list", `{"tags":["a","b&c"],"ids":[1,2],"pipes":["x","y"],"filter":{"color":"red","size":3},"where":{"a": 1}}`,
			told{Method: "GET", URI: "/items?tags=a&tags=b%26c&ids=1,2&pipes=x%7Cy&filter%5Bcolor%5D=red&filter%5Bsize%5D=3&where=%7B%22a%22%3A1%7D", Auth: "Basic YWRhOnB3"}},
		{"list", `{"tags":[]}`, told{Method: "GET", URI: "/items", Auth: "Basic YWRhOnB3"}},
		{"paths", `{"list":[1,2],"label":[3,4],"matrix":5}`, told{Method: "GET", URI: "/paths/1,2/.3,4/;matrix=5?k=q%26k"}},
		{"create", `{"X-List":["a","b"],"session":"s","body":{"name":"pen","price":1.50}}`,
			told{Method: "POST", URI: "/items", X: "a,b", Cookie: "session=s; ck=ck", Body: `{"name":"pen","price":1.50}`, Idempotency: "k1"}},
		{"form", `{"body":{"a":"x y","list":[1,2]}}`, told{Method: "POST", URI: "/form", Key: "hk", Body: "a=x+y&list=1&list=2", Idempotency: "k1"}},
		{"DELETE /items/{id}", `{"id":"1"}`, told{Method: "DELETE", URI: "/items/1", Idempotency: "k1"}},
	} {
		o := tools[c.tool]
		if o == nil {
			t.Fatalf("there is no %s", c.tool)
		}
		if err := o.Definition.Params.Validate(json.RawMessage(c.params)); err != nil {
			t.Errorf("%s: %v", c.params, err)
		}
		res, err := o.Activity.Call(t.Context(), &tool.Request{Params: json.RawMessage(c.params), Key: "k1"})
		if err != nil {
			t.Errorf("%s %s: %v", c.tool, c.params, err)
			continue
		}
		var got told
		if err := json.Unmarshal(res.Value, &got); err != nil || got != c.want {
			t.Errorf("%s %s:\ngot  %+v\nwant %+v", c.tool, c.params, got, c.want)
		}
	}
	for params, code := range map[string]string{`{"id":""}`: "bad-params", `{"id":".."}`: "bad-params", `{"id":null}`: "bad-params", `{"id":"x","verbose":"maybe"}`: "http-400"} {
		_, err := tools["getItem"].Activity.Call(t.Context(), &tool.Request{Params: json.RawMessage(params)})
		if e := (*tool.Error)(nil); !errors.As(err, &e) || e.Code != code {
			t.Errorf("%s: %v, want %s", params, err, code)
		}
	}
}

func TestDefinitions(t *testing.T) {
	_, doc := read(t, "styles.yaml")
	tools, err := doc.Tools(openapi.Config{Server: "https://x.example/v1/", Prefix: "shop.", Effects: map[string]json.RawMessage{"form": json.RawMessage(`{"readOnly":true}`)}})
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	var findings diag.List
	for _, o := range tools {
		o = o.Whole()
		findings = append(findings, o.Findings...)
		e := o.Definition.Effects
		lines = append(lines, o.Definition.Signature()+" "+e.ReadOnly.String()+" "+e.Destructive.String()+" "+e.Idempotent.String())
	}
	for _, f := range findings {
		lines = append(lines, f.Severity.String()+": "+f.Message)
	}
	want, err := os.ReadFile("testdata/styles.txt")
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(lines, "\n") + "\n"; got != string(want) {
		t.Errorf("got:\n%s\nwant:\n%s", got, want)
	}
	if doc.Doubt() != nil {
		t.Error(doc.Doubt())
	}
}

// Params that only come back are not asked for; null is allowed where 3.0 says so; references may
// go round.
func TestSchemas(t *testing.T) {
	_, doc := read(t, "styles.yaml")
	create := toolsOf(t, doc, openapi.Config{Server: "https://x.example", Only: []string{"create"}})["create"].Definition
	for value, ok := range map[string]bool{
		`{"body":{"name":"a","price":1}}`:                                                true,
		`{"body":{"name":"a","price":null,"parts":[{"name":"b","price":2,"parts":[]}]}}`: true,
		`{"body":{"name":"a","price":0}}`:                                                false, // exclusiveMinimum of 3.0
		`{"body":{"price":1}}`:                                                           false,
		`{"body":{"name":"a","price":1,"parts":[{"name":1}]}}`:                           false,
		`{}`: false,
	} {
		if err := create.Params.Validate(json.RawMessage(value)); (err == nil) != ok {
			t.Errorf("%s: %v", value, err)
		}
	}
	get := toolsOf(t, doc, openapi.Config{Server: "https://x.example", Only: []string{"getItem"}})["getItem"].Definition
	if get.Output.Validate(json.RawMessage(`{"name":"a","price":1}`)) == nil || get.Output.Validate(json.RawMessage(`{"id":"1","name":"a","price":1}`)) != nil {
		t.Error("what comes back has its id")
	}
}

func TestBadDocuments(t *testing.T) {
	for text, want := range map[string]string{
		``: "nothing in the file", `[1]`: "no OpenAPI document", `{"swagger":"2.0"}`: "no OpenAPI document", `{"openapi":"3.0.0","paths":`: "",
		`{"openapi":"3.0.0","info":{"title":"a","version":"1"},"paths":{"/a":{"$ref":"other.yaml"}}}`:                                                           "external",
		`{"openapi":"3.0.0","info":{"title":"a","version":"1"},"paths":{"/a":{"get":{"parameters":[{"$ref":"#/components/parameters/none"}],"responses":{}}}}}`: "",
		"openapi: 3.0.0\nx: &a [1]\ny: [*a, *a]\n": "",
		"a: &a [*a]":                "",
		strings.Repeat("[", 100000): "",
	} {
		if doc, err := openapi.Read([]byte(text)); want != "" && (err == nil || !strings.Contains(err.Error(), want)) {
			t.Errorf("%.80s: %v, want %s", text, err, want)
		} else if err == nil {
			doc.Operations()
		}
	}
	_, doc := read(t, "styles.yaml")
	for want, cfg := range map[string]openapi.Config{
		`no operation "getItm"; did you mean "getItem"?`:     {Only: []string{"getItm"}},
		`no security scheme "bearr"; did you mean "bearer"?`: {Auth: map[string]openapi.Credential{"bearr": {}}},
		`is no whole URL; say which it is in "server"`:       {},
		`the host`: {Server: "https://x.example", AllowHosts: []string{"y.example"}},
	} {
		if _, err := doc.Tools(cfg); err == nil || !strings.Contains(err.Error(), want) && want != "the host" {
			t.Errorf("%v, want %s", err, want)
		}
	}
}

// FuzzRead: no document, however bad, does more than be refused, and its tools can be made.
func FuzzRead(f *testing.F) {
	text, err := os.ReadFile("testdata/styles.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(text)
	f.Add([]byte(`{"openapi":"3.1.0","info":{"title":"a","version":"1"},"paths":{"/a":{"get":{"responses":{"200":{"description":"","content":{"application/json":{"schema":{"$ref":"#/components/schemas/A"}}}}}}}},"components":{"schemas":{"A":{"type":["object","null"],"properties":{"a":{"$ref":"#/components/schemas/A"}}}}}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		doc, err := openapi.Read(text)
		if err != nil {
			return
		}
		tools, err := doc.Tools(openapi.Config{Server: "https://x.example"})
		if err != nil {
			t.Log(err)
		}
		for _, o := range tools {
			if o.Whole().Definition.Params == nil {
				t.Errorf("%q has no params", o.Definition.Name)
			}
		}
	})
}
