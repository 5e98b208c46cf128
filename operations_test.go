package plc

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/plc-lang/plc/diag"
)

// The operations of an OpenAPI document are the same tools whether a tool file names the document
// or --tools-from arazzo reads it, and a plan gets the same errors.
func TestOperationsAreTheSameFromArazzo(t *testing.T) {
	const document = `openapi: 3.0.3
info: {title: t, version: "1"}
servers: [{url: https://a.example}]
paths:
  /e/{id}/{more}:
    parameters:
    - {name: shared, in: query, schema: {type: boolean}}
    get:
      operationId: getE
      parameters:
      - {name: id, in: path, schema: {type: integer}}
      - {name: id, in: query, schema: {$ref: "#/components/schemas/Count"}}
      - {name: _limit, in: query, schema: {type: integer, minimum: 1, exclusiveMinimum: true}}
      - {name: filter, in: query, content: {application/json: {schema: {type: integer}}}}
      - {name: Authorization, in: header, schema: {type: string}}
      - {$ref: "#/components/parameters/Trace"}
      responses:
        "200": {description: ok, content: {application/json: {schema: {$ref: "#/components/schemas/Pet"}}}}
        "202": {description: ok, content: {text/plain: {schema: {type: string}}}}
    put:
      operationId: putE
      requestBody: {required: true, content: {application/json: {schema: {$ref: "#/components/schemas/Pet"}}}}
      responses: {"204": {description: done}}
    delete:
      operationId: getE
      responses: {"200": {description: any}}
  /other:
    post:
      x-effects: {readOnly: true}
      requestBody: {content: {text/csv: {schema: {type: object}}}}
      responses: {"200": {description: ok, content: {application/json: {schema: {$ref: "#/components/schemas/Pet"}}}}}
    get:
      operationId: faulty
      parameters: [{name: q, in: query, schema: {type: strin, minimum: x}}]
      responses: {"200": {description: ok}}
    patch:
      operationId: lost
      parameters: [{$ref: "#/components/parameters/None"}]
      responses: {"200": {description: ok}}
    head:
      operationId: lostBelow
      parameters: [{name: q, in: query, schema: {type: array, items: {$ref: "#/components/schemas/None"}}}]
      responses: {"200": {description: ok}}
components:
  parameters:
    Trace: {name: X-Trace, in: header, schema: {type: number}}
  schemas:
    Count: {type: integer}
    Pet:
      type: object
      required: [id, name]
      properties: {id: {type: integer, readOnly: true}, name: {type: string}, mother: {nullable: true, allOf: [{$ref: "#/components/schemas/Pet"}]}}
`
	dir := t.TempDir()
	for name, text := range map[string]string{"api.yaml": document, "tools.yaml": "openapi: [{spec: api.yaml}]\n"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	files := []Source{File(filepath.Join(dir, "tools.yaml")), File(filepath.Join(dir, "api.yaml")).From("arazzo")}
	check := func(from int, plan string) *Plan {
		t.Helper()
		p, err := New(Config{}).Check(t.Context(), Spec{Plan: Text(plan), Toolset: Toolset{Files: files[from : from+1]}})
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	shown := func(p *Plan, name string) string {
		found, ok := p.Checker().Catalogue.Lookup(name)
		if !ok {
			return "unknown"
		}
		d := found.Definition
		if found.Findings.HasErrors() {
			return "faulty"
		}
		var texts []string
		for param := range d.Param {
			if d.SentAsText(param) {
				texts = append(texts, param)
			}
		}
		slices.Sort(texts)
		return fmt.Sprintf("%s closed: %t, as text: %v, %+v", d.Signature(), d.Closed, texts, d.Effects)
	}
	const plan = `[{"_tool":"getE","id":1,"more":"x","_outputPath":"†state.a"}]`
	one, two := check(0, plan), check(1, plan)
	for _, name := range []string{"getE", "putE", "DELETE /e/{id}/{more}", "POST /other", "faulty", "lost", "lostBelow"} {
		if a, b := shown(one, name), shown(two, name); a != b {
			t.Errorf("%s is\n%s\nfrom a tool file, and\n%s\nfrom Arazzo", name, a, b)
		}
	}
	for _, c := range []struct{ plan, want string }{
		{plan, "[]"},
		{`[{"_tool":"getE","id":"12","more":1,"query_id":"3","shared":"true","_outputPath":"†state.a"}]`, "[warning PLC501 warning PLC501 warning PLC501]"},
		{`[{"_tool":"getE","id":1,"more":"x","zzz":1,"_outputPath":"†state.a"}]`, "[error PLC206]"},
		{`[{"_tool":"getE","id":1,"_outputPath":"†state.a"}]`, "[error PLC205]"},
		{`[{"_tool":"putE","id":1,"more":"x","body":{"name":"Rex"}}]`, "[]"},
		{`[{"_tool":"faulty","q":1,"_outputPath":"†state.a"}]`, "[error PLC507]"},
		{`[{"_tool":"lost","_outputPath":"†state.a"}]`, "[error PLC507]"},
		{`[{"_tool":"lostBelow","_outputPath":"†state.a"}]`, "[error PLC507]"},
	} {
		var codes [2][]string
		for from := range files {
			for _, f := range check(from, c.plan).AllFindings() {
				if doubt := from == 0 && f.Severity == diag.Warning && f.Code == diag.BadSchema; !doubt && f.Severity != diag.Info && f.Code != diag.DuplicateMember {
					codes[from] = append(codes[from], fmt.Sprintf("%s %s", f.Severity, f.Code))
				}
			}
		}
		if !slices.Equal(codes[0], codes[1]) {
			t.Errorf("%s: %v from a tool file, and %v from Arazzo", c.plan, codes[0], codes[1])
		}
		if got := fmt.Sprint(codes[0]); got != c.want {
			t.Errorf("%s: %s, want %s", c.plan, got, c.want)
		}
	}
}
