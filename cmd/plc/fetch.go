package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/http"
)

// fetchTimeout is how long the document of a delegate may take to come.
const fetchTimeout = 30 * time.Second

// fetcher reads the documents that plans delegate to at URLs of these hosts, with the
// guards of tool/http: redirects lead to these hosts only, private addresses are refused
// unless they are among them. Nil when there are no hosts.
func fetcher(ctx context.Context, hosts []string) func(url string) ([]byte, error) {
	if len(hosts) == 0 {
		return nil
	}
	return func(url string) ([]byte, error) {
		escaped := strings.NewReplacer("{", "{{", "}", "}}").Replace(url) // it is no template
		a, err := http.New(http.Config{URL: escaped, AllowHosts: hosts, Result: "text", Timeout: fetchTimeout})
		if err != nil {
			return nil, fmt.Errorf("%w; --delegate-hosts says which hosts may be asked", err)
		}
		defer a.Close()
		res, err := a.Call(ctx, &tool.Request{Params: json.RawMessage("{}")})
		if err != nil {
			return nil, err
		}
		var text string
		if err := json.Unmarshal(res.Value, &text); err != nil {
			return nil, fmt.Errorf("the answer is no text: %w", err)
		}
		return []byte(text), nil
	}
}
