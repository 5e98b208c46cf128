package builtin

import (
	"context"
	"encoding/json"
	"errors"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/http"
	"github.com/plc-lang/plc/tool/internal/driver"
)

// newGet makes http.get. Its connections are shared by all calls.
func newGet(cfg Config) (tool.Activity, error) {
	if len(cfg.Hosts) == 0 {
		return nil, errors.New("no host is allowed that it could ask")
	}
	web, err := http.New(http.Config{URL: "https://{host}", AllowHosts: cfg.Hosts, MaxBytes: cfg.MaxBytes, Result: "full"})
	if err != nil {
		return nil, err
	}
	return &get{web}, nil
}

// get is http.get.
type get struct{ web *http.Activity }

var _ tool.Refuser = (*get)(nil)

// Call requests the URL.
func (g *get) Call(ctx context.Context, req *tool.Request) (tool.Result, error) {
	p := driver.ReadParams(req.Params)
	m := &http.Message{Method: "GET", Header: map[string]string{}}
	m.URL, _ = p.Text("url")
	if m.URL == "" {
		return tool.Result{}, driver.Refuse("the param \"url\" is missing or empty")
	}
	headers, _ := p.Raw("headers")
	gjson.Parse(headers).ForEach(func(name, value gjson.Result) bool {
		m.Header[name.Str] = value.Str
		return true
	})
	return g.web.Send(ctx, m)
}

// Refuses returns why a URL is not requested.
func (g *get) Refuses(param string, value json.RawMessage) error {
	if address := gjson.ParseBytes(value); param == "url" && address.Type == gjson.String {
		return g.web.Allows(address.Str)
	}
	return nil
}
