package driver_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/tool/file"
)

// Every tool file in the pages about tools is one, and each of its activities can be made.
func TestToolFilesInTheDocs(t *testing.T) {
	pages, err := filepath.Glob("../../../docs/tools/*.md")
	if err != nil || len(pages) == 0 {
		t.Fatal("no pages", err)
	}
	var blocks []string
	for _, page := range append(pages, "../../../docs/tools.md") {
		text, err := os.ReadFile(page)
		if err != nil {
			t.Fatal(err)
		}
		blocks = append(blocks, strings.Split(string(text), "```yaml\n")[1:]...)
	}
	if len(blocks) < 4 {
		t.Fatalf("only %d examples", len(blocks))
	}
	for _, block := range blocks {
		text, _, _ := strings.Cut(block, "```")
		f, findings := file.Read(diag.NewFile("tools.yaml", []byte(text)))
		f.Secrets = &file.Secrets{LookupEnv: func(name string) (string, bool) { return "value of " + name, true }}
		f.ReadFile = func(string) ([]byte, error) { return []byte(petstore), nil }
		_, _, more := file.Catalogue(f)
		for _, finding := range append(findings, more...) {
			if finding.Code == diag.UnknownActivity && len(f.Servers) > 0 {
				continue // its servers are not there
			}
			t.Errorf("%s\nin\n%s", finding.Message, text)
		}
	}
}

// petstore is the OpenAPI document of the page.
const petstore = `{"openapi": "3.1.0", "info": {"title": "pets", "version": "1"},
"security": [{"apiKey": []}],
"paths": {
	"/pets/{id}": {"get": {"operationId": "getPet", "parameters": [{"name": "id", "in": "path", "required": true, "schema": {"type": "integer"}}], "responses": {"200": {"description": "a pet"}}}},
	"/pets": {"post": {"operationId": "createPet", "responses": {"200": {"description": "a pet"}}}},
	"/pets/search": {"post": {"operationId": "searchPets", "responses": {"200": {"description": "pets"}}}}
},
"components": {"securitySchemes": {"apiKey": {"type": "apiKey", "in": "header", "name": "X-Key"}, "login": {"type": "http", "scheme": "basic"}}}}`
