package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// What a server asks holds no secret that it was given, wherever it says it.
func TestQuestionsHoldNoSecrets(t *testing.T) {
	var asked *Question
	c := &Client{opts: &Options{Ask: func(_ context.Context, q *Question) (*Answer, error) {
		asked = q
		return &Answer{}, nil
	}}}
	redact := func(s string) string { return strings.ReplaceAll(s, "s3cr3t", "•••") }
	c.server = Server{Name: "test", Redact: redact, RedactValue: func(v json.RawMessage) json.RawMessage { return json.RawMessage(redact(string(v))) }}
	schema := `{"type":"object","properties":{
		"s3cr3t":{"type":"string","description":"is it s3cr3t?","default":"s3cr3t"},
		"choice":{"type":"string","title":"s3cr3t","enum":["s3cr3t","b"],"enumNames":["the s3cr3t","b"]},
		"titled":{"type":"string","oneOf":[{"const":"s3cr3t","title":"my s3cr3t"}]}}}`
	ask := func(p *mcp.ElicitParams) error {
		_, err := c.elicit(t.Context(), "tool", p)
		return err
	}
	if err := ask(&mcp.ElicitParams{Message: "your token is s3cr3t?", URL: "https://x.example/?t=s3cr3t", Meta: mcp.Meta{rawKey: schema}}); err != nil {
		t.Fatal(err)
	}
	if text := fmt.Sprintf("%+v", asked); strings.Contains(text, "s3cr3t") || !strings.Contains(text, "•••") || len(asked.Fields) != 3 {
		t.Errorf("%s", text)
	}
	c.opts = &Options{}
	if err := ask(&mcp.ElicitParams{Message: "your token is s3cr3t?"}); err == nil || strings.Contains(err.Error(), "s3cr3t") {
		t.Error(err)
	}
}

// A question with more fields than are shown is refused, not cut.
func TestQuestionOfManyFields(t *testing.T) {
	schema := func(n int) string {
		var fields []string
		for i := range n {
			fields = append(fields, fmt.Sprintf(`"f%d":{"type":"string"}`, i))
		}
		return `{"properties":{` + strings.Join(fields, ",") + `}}`
	}
	if fields, err := fieldsOf(schema(maxFields)); err != nil || len(fields) != maxFields {
		t.Errorf("%d fields, %v", len(fields), err)
	}
	if _, err := fieldsOf(schema(maxFields + 1)); err == nil || !strings.Contains(err.Error(), "more than 50 fields") {
		t.Error(err)
	}
}
