//go:build unix

package mcp

import (
	"context"
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/plc-lang/plc/tool"
)

// All tools of server-everything, which has those for sampling and roots only for clients that have
// these.
func TestServerEverything(t *testing.T) {
	dir := os.Getenv("PLC_NPM_MCP_SERVERS")
	if dir == "" {
		t.Skip("no MCP servers of npm: PLC_NPM_MCP_SERVERS names no folder")
	}
	var asked atomic.Int64
	p := open(t, &Options{Ask: func(_ context.Context, q *Question) (*Answer, error) {
		asked.Add(1)
		content := map[string]any{}
		for _, f := range q.Fields {
			if f.Required && f.Default == nil {
				content[f.Name] = "Ada"
			}
		}
		return &Answer{Accept: true, Content: content}, nil
	}}, Server{Name: "test", Command: filepath.Join(dir, "node_modules/.bin/mcp-server-everything")})
	calls := map[string]struct{ params, want string }{
		"echo":                           {`{"message":"hi"}`, `"Echo: hi"`},
		"get-annotated-message":          {`{"messageType":"success","includeImage":true}`, `{"type":"image","mimeType":"image/png","data":"`},
		"get-env":                        {`{}`, `PATH`},
		"get-resource-links":             {`{"count":2}`, `{"type":"resource_link","uri":"`},
		"get-resource-reference":         {`{"resourceType":"Blob","resourceId":1}`, `{"type":"resource","uri":"`},
		"get-structured-content":         {`{"location":"Chicago"}`, `"humidity":82`},
		"get-sum":                        {`{"a":2,"b":3}`, `The sum of 2 and 3 is 5.`},
		"get-tiny-image":                 {`{}`, `{"type":"image","mimeType":"image/png","data":"`},
		"gzip-file-as-resource":          {`{"name":"x.gz","data":"data:text/plain,hello","outputType":"resource"}`, `"mimeType":"application/gzip","data":"`},
		"simulate-research-query":        {`{"topic":"x"}`, `requires task augmentation`},
		"toggle-simulated-logging":       {`{}`, `logging`},
		"toggle-subscriber-updates":      {`{}`, `updates`},
		"trigger-elicitation-request":    {`{}`, `User provided`},
		"trigger-long-running-operation": {`{"duration":0.3,"steps":3}`, `Steps: 3`},
	}
	if got, want := names(p), slices.Sorted(maps.Keys(calls)); !slices.Equal(got, want) {
		t.Errorf("tools %q, want %q", got, want)
	}
	for _, tl := range p.Tools() {
		c := calls[tl.Definition.Name]
		var steps atomic.Int64
		res, err := tl.Activity.Call(t.Context(), &tool.Request{
			Definition: tl.Definition, Params: json.RawMessage(c.params),
			Progress: func(p tool.Progress) {
				if p.Total == 3 {
					steps.Add(1)
				}
			},
		})
		got := string(res.Value)
		if err != nil {
			got = "error: " + strings.ToLower(err.Error())
		}
		if !strings.Contains(got, c.want) {
			t.Errorf("%s(%s): %.300s; want %s", tl.Definition.Name, c.params, got, c.want)
		}
		if tl.Definition.Name == "trigger-long-running-operation" && steps.Load() == 0 {
			t.Error("no progress")
		}
	}
	if asked.Load() != 1 {
		t.Errorf("asked %d times", asked.Load())
	}
}
