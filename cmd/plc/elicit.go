package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/plc-lang/plc/internal/display"
	"github.com/plc-lang/plc/tool/mcp"
)

// answerServer asks a person the question of an MCP server, one member of the answer at a time.
func (env *environment) answerServer(ctx context.Context, q *mcp.Question) (*mcp.Answer, error) {
	show := env.shown.Load()
	yes, _ := env.ask(ctx, show, aboutServer(q))
	if !yes || q.URL != "" {
		return &mcp.Answer{Accept: yes}, ctx.Err()
	}
	release, ok := env.hold(ctx)
	if !ok {
		return nil, errors.New(interrupted)
	}
	defer release()
	a := &mcp.Answer{Accept: true, Content: map[string]any{}}
	for _, f := range q.Fields {
		value, given, err := env.askField(ctx, show, f)
		if err != nil {
			return nil, err
		}
		if given {
			a.Content[f.Name] = value
		}
	}
	return a, nil
}

// aboutServer renders the question of an MCP server, with the fields of the answer.
func aboutServer(q *mcp.Question) display.Text {
	var b display.Builder
	b.Line("? the MCP server %q asks: %q", q.Server, q.Message)
	if q.URL != "" {
		b.Line("  open %q", q.URL)
		return display.Sprintf("%s  done?", b.Text())
	}
	for _, f := range q.Fields {
		b.Line("    %s", shownField(f))
	}
	return display.Sprintf("%s  answer it?", b.Text())
}

// shownField describes a field of an answer: its type, choices, description and default.
func shownField(f mcp.Field) display.Text {
	name := display.Name(f.Name)
	text := display.Sprintf("%s: %s", name, f.Type)
	if f.Choices != nil {
		text = display.Sprintf("%s: one of %s", name, choices(f))
	}
	if f.Type == "array" {
		text = display.Sprintf("%s: some of %s, with commas between", name, choices(f))
	}
	if f.Description != "" {
		text = display.Sprintf("%s, %q", text, f.Description)
	}
	switch {
	case f.Default != nil:
		text = display.Sprintf("%s (may be left empty, which is %s)", text, display.JSON(f.Default))
	case !f.Required:
		text = display.Sprintf("%s (may be left empty)", text)
	}
	return text
}

// choices lists the choices of a field, with their titles.
func choices(f mcp.Field) display.Text {
	all := make([]display.Text, len(f.Choices))
	for i, c := range f.Choices {
		all[i] = display.Name(c)
	}
	for i, title := range f.Titles {
		if title != "" && title != f.Choices[i] {
			all[i] = display.Sprintf("%s (%q)", all[i], title)
		}
	}
	return display.Join(all, ", ")
}

// askField asks for one member until the answer fits; an empty line leaves it out.
func (env *environment) askField(ctx context.Context, show *progress, f mcp.Field) (value any, given bool, err error) {
	question := display.Sprintf("  %s:", display.Name(f.Name))
	for {
		text, why := env.prompt(ctx, show, question)
		if why != "" {
			return nil, false, errors.New(why)
		}
		text = strings.TrimSpace(text)
		if text == "" && (!f.Required || f.Default != nil) {
			return nil, false, nil
		}
		if value, ok := readField(f, text); ok && f.Check(value) == nil {
			return value, true, nil
		}
		question = display.Sprintf("  that is not %s\n  %s:", shownField(f), display.Name(f.Name))
	}
}

// readField reads a line as a value of the field's type.
func readField(f mcp.Field, text string) (any, bool) {
	switch f.Type {
	case "boolean":
		yes, _ := verdictOfLine(text)
		return yes || text == "true", true
	case "number", "integer":
		dec := json.NewDecoder(bytes.NewReader([]byte(text)))
		dec.UseNumber()
		var n json.Number
		err := dec.Decode(&n)
		return n, err == nil && !strings.HasPrefix(text, `"`)
	case "array":
		all := []string{}
		for one := range strings.SplitSeq(text, ",") {
			all = append(all, strings.TrimSpace(one))
		}
		return all, true
	}
	return text, f.Choices == nil || slices.Contains(f.Choices, text)
}
