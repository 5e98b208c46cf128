package openapi_test

import (
	"strings"
	"testing"

	"github.com/plc-lang/plc/tool/openapi"
)

// What is not as OpenAPI wants it is told with its place, and the document is used all the same.
func TestDoubts(t *testing.T) {
	const head30, head31 = `{"openapi":"3.0.3","info":{"title":"t","version":"1"},`, `{"openapi":"3.1.0","info":{"title":"t","version":"1"},`
	const ok = `{"get":{"responses":{"200":{"description":"ok"}}}}`
	for text, want := range map[string]string{
		head30 + `"paths":{"/a":` + ok + `}}`: "",
		head31 + `"paths":{"/a":` + ok + `}}`: "",
		head31 + `"paths":{"/a":{"get":{"responses":{"200":{"description":"ok","content":{"application/json":{"schema":{"type":["string","null"],"examples":[{"$ref":"#/no"}]}}}}}}}}}`: "",
		`{"openapi":"3.0.3","paths":{"/a":` + ok + `}}`:                                                         "info",
		`{"openapi":"3.9.0","info":{"title":"t","version":"1"},"paths":{"/a":` + ok + `}}`:                      "openapi",
		head30 + `"paths":{"/a":{"get":{}}}}`:                                                                   "responses",
		head30 + `"paths":{"/a":{"get":{"parameters":[{"name":"x"}],"responses":{"200":{"description":""}}}}}}`: "/paths/~1a/get/parameters/0",
		head31 + `"paths":{"/a":{"get":{"parameters":[{"name":"x","in":"query"}]}}}}`:                           "/paths/~1a/get/parameters/0",
		head31 + `"paths":{"/a":{"get":{"parameters":[{"$ref":"#/components/parameters/none"}]}}}}`:             `"#/components/parameters/none" leads nowhere`,
		head31 + `"paths":{"/a":{"get":{"operationId":"x"}},"/b":{"post":{"operationId":"x"}}}}`:                `GET /a and POST /b have one id, "x"`,
		head31 + `"paths":{"/a":{"get":{"parametres":[]}}}}`:                                                    "parametres",
	} {
		doc, err := openapi.Read([]byte(text))
		if err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		if len(doc.Operations()) == 0 {
			t.Errorf("%s: there are no operations", text)
		}
		switch doubt := doc.Doubt(); {
		case want == "" && doubt != nil:
			t.Errorf("%s: %v", text, doubt)
		case want != "" && (doubt == nil || !strings.Contains(doubt.Error(), want)):
			t.Errorf("%s: %v, want %s", text, doubt, want)
		}
	}
}
