package builtin

import (
	"context"
	"strings"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/internal/driver"
)

// newTemplate makes text.template. It uses the templates of activities, which can only insert
// values. A template may come from a model, and templates of Go can have endless loops that can't
// be stopped.
func newTemplate(cfg Config) (tool.Activity, error) {
	return tool.ActivityFunc(func(ctx context.Context, req *tool.Request) (tool.Result, error) {
		p := driver.ReadParams(req.Params)
		text, _ := p.Text("template")
		t, err := driver.ParseTemplate(text)
		if err != nil {
			return tool.Result{}, driver.Refuse("template: %v", err)
		}
		raw, _ := p.Raw("values")
		values := []gjson.Result{gjson.Parse(raw)}
		if values[0].IsArray() {
			values = values[0].Array()
		}
		join, ok := p.Text("join")
		if !ok {
			join = "\n"
		}
		return cfg.fillAll(ctx, t, values, join)
	}), nil
}

// fillAll fills a template with each of the values.
func (cfg Config) fillAll(ctx context.Context, t driver.Template, values []gjson.Result, join string) (tool.Result, error) {
	var b strings.Builder
	for i, v := range values {
		if ctx.Err() != nil {
			return tool.Result{}, driver.Stopped(ctx, false)
		}
		if i > 0 {
			b.WriteString(join)
		}
		if err := cfg.fill(&b, t, v); err != nil {
			return tool.Result{}, err
		}
		if int64(b.Len()) > cfg.MaxBytes {
			return tool.Result{}, tooLarge(cfg.MaxBytes)
		}
	}
	return cfg.text([]byte(b.String()))
}

// fill appends the text of a template, or returns an error if a placeholder has no value. It
// computes the size before it makes the text, since a short template may repeat a long value.
func (cfg Config) fill(b *strings.Builder, t driver.Template, v gjson.Result) error {
	values := map[string]string{}
	size := b.Len()
	for _, name := range t.Names() {
		text, known := values[name]
		if !known {
			var ok bool
			if text, ok = valueAt(v, name); !ok {
				return driver.Refuse("there is no value for {%s}", name)
			}
			values[name] = text
		}
		if size += len(text); int64(size) > cfg.MaxBytes {
			return tooLarge(cfg.MaxBytes)
		}
	}
	filled, _ := t.Fill(func(name string) (string, bool) { return values[name], true })
	b.WriteString(filled)
	return nil
}

// valueAt returns the text of the value at a name, which is a member or a path of members. Null
// counts as no value.
func valueAt(v gjson.Result, name string) (string, bool) {
	p := driver.ReadParams([]byte(v.Raw))
	if text, ok := p.Text(name); ok {
		return text, true
	}
	for i := range len(name) {
		if name[i] != '.' {
			continue
		}
		if raw, ok := p.Raw(name[:i]); ok {
			if inner := gjson.Parse(raw); inner.IsObject() {
				return valueAt(inner, name[i+1:])
			}
		}
	}
	return "", false
}
