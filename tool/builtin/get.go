package builtin

import (
	"context"
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
	return tool.ActivityFunc(func(ctx context.Context, req *tool.Request) (tool.Result, error) {
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
		return web.Send(ctx, m)
	}), nil
}
