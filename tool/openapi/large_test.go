package openapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/openapi"
)

// entangled returns a document of n schemas of which each leads to all.
func entangled(n int) []byte {
	var all []string
	for i := range n {
		var members []string
		for j := range 8 {
			members = append(members, fmt.Sprintf(`"p%d":{"oneOf":[{"$ref":"#/components/schemas/S%d"},{"$ref":"#/components/schemas/S%d"}]}`, j, (7*i+13*j+1)%n, (11*i+j+2)%n))
		}
		all = append(all, fmt.Sprintf(`"S%d":{"type":"object","required":["kind"],"properties":{"kind":{"const":%d},%s},"not":{"required":["bad"],"properties":{"bad":{"$ref":"#/components/schemas/S%d"}}}}`, i, i, strings.Join(members, ","), (i+5)%n))
	}
	return []byte(`{"openapi":"3.1.0","info":{"title":"t","version":"1"},"servers":[{"url":"https://a.example"}],"paths":{"/s":{"post":{"operationId":"send",` +
		`"requestBody":{"required":true,"content":{"application/json":{"schema":{"$ref":"#/components/schemas/S0"}}}},` +
		`"responses":{"200":{"description":"ok","content":{"application/json":{"schema":{"$ref":"#/components/schemas/S0"}}}}}}}},"components":{"schemas":{` + strings.Join(all, ",") + `}}}`)
}

// Of a service in which everything leads to everything an operation is told what is near: what is
// far may be anything, and no alternative is refused because two of them may.
func TestEntangledSchemas(t *testing.T) {
	doc, err := openapi.Read(entangled(800))
	if err != nil {
		t.Fatal(err)
	}
	tools, err := doc.Tools(openapi.Config{})
	if err != nil || len(tools) != 1 {
		t.Fatal(len(tools), err)
	}
	whole := tools[0].Whole()
	if len(whole.Findings) > 0 {
		t.Fatal(whole.Findings)
	}
	def := whole.Definition
	if len(def.Raw) > 1<<20 {
		t.Errorf("the definition has %d bytes", len(def.Raw))
	}
	near := `{"body":{"kind":0,"p0":{"kind":1}}}`
	if err := def.Params.Validate(json.RawMessage(near)); err != nil {
		t.Error(err)
	}
	if err := def.Params.Validate(json.RawMessage(`{"body":{"kind":7}}`)); err == nil {
		t.Error("what is near is not told any more")
	}
	s := 0
	for range 12 { // S0 → S1 → S8 → S57 …: by p0
		s = (7*s + 1) % 800
	}
	far := fmt.Sprintf(`{"kind":%d,"bad":{"kind":%d}}`, s, (s+5)%800)
	for range 12 {
		far = `{"kind":` + kindBefore(far) + `,"p0":` + far + `}`
	}
	if err := def.Output.Validate(json.RawMessage(far)); err != nil {
		t.Errorf("%s: %v", far, err)
	}
}

// kindBefore returns the kind of the schema whose p0 leads to that of a value.
func kindBefore(value string) string {
	var v struct{ Kind int }
	_ = json.Unmarshal([]byte(value), &v)
	for i := range 800 {
		if (7*i+1)%800 == v.Kind {
			return fmt.Sprint(i)
		}
	}
	return "0"
}

// What documents leave out, say twice or write as OpenAPI does not mean it is used as it was meant.
func TestSloppyDocuments(t *testing.T) {
	var seen *http.Request
	srv := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen = r }))
	defer srv.Close()
	doc, err := openapi.Read([]byte(`
openapi: 3.0.3
info: {title: t, version: "1"}
security: [{key: []}]
paths:
  /a/{x}:
    get: {operationId: twice, parameters: [{name: X-API-Key, in: header, schema: {type: string}}], responses: {"200": {description: ok}}}
    delete: {operationId: twice, responses: {"200": {description: ok}}}
    put: {operationId: put, requestBody: {content: {application/json: {schema: {nullable: true, allOf: [{$ref: "#/components/schemas/O"}]}}}}, responses: {"200": {description: ok}}}
components:
  securitySchemes: {key: {type: apiKey, in: header, name: x-api-key}}
  schemas: {O: {type: object}}
`))
	if err != nil {
		t.Fatal(err)
	}
	tools := toolsOf(t, doc, openapi.Config{Server: srv.URL, AllowPrivate: true, Auth: map[string]openapi.Credential{"key": {Token: "secret"}}})
	for range 20 { // maps have no order
		if _, err := tools["twice"].Activity.Call(t.Context(), &tool.Request{Params: json.RawMessage(`{"x":"1/2","X-API-Key":"mine"}`)}); err != nil {
			t.Fatal(err)
		}
		if seen.URL.EscapedPath() != "/a/1%2F2" || seen.Header.Get("X-Api-Key") != "secret" {
			t.Fatal(seen.URL, seen.Header)
		}
	}
	if tools["DELETE /a/{x}"] == nil {
		t.Error("the second operation of a name is not there")
	}
	if err := tools["put"].Definition.Params.Validate(json.RawMessage(`{"x":1,"body":null}`)); err != nil {
		t.Error(err)
	}
	if err := tools["put"].Definition.Params.Validate(json.RawMessage(`{"body":{}}`)); err == nil {
		t.Error("a placeholder of the path need not be given")
	}
}
