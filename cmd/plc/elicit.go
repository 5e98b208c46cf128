package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/plc-lang/plc/tool/mcp"
)

// answerServer puts to a person what an MCP server wants to know: each member of the
// answer is asked for by itself.
func (env *environment) answerServer(ctx context.Context, q *mcp.Question) (*mcp.Answer, error) {
	show := env.shown.Load()
	about := fmt.Sprintf("? the MCP server %q asks: %s", q.Server, q.Message)
	if q.URL != "" {
		yes, _ := env.ask(ctx, show, fmt.Sprintf("%s\n  open %s\n  done?", about, q.URL))
		return &mcp.Answer{Accept: yes}, ctx.Err()
	}
	question := about + "\n  answer it?"
	for _, f := range q.Fields {
		question += "\n  " + shownField(f)
	}
	yes, _ := env.ask(ctx, show, question)
	if !yes {
		return &mcp.Answer{}, ctx.Err()
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

// shownField is what a person has to know of a member of an answer.
func shownField(f mcp.Field) string {
	text := f.Name + ": " + f.Type
	if f.Choices != nil {
		text = f.Name + ": one of " + choices(f)
	}
	if f.Type == "array" {
		text = f.Name + ": some of " + choices(f) + ", with commas between"
	}
	if f.Description != "" {
		text += ", " + f.Description
	}
	switch {
	case f.Default != nil:
		text += fmt.Sprintf(" (may be left empty, which is %s)", f.Default)
	case !f.Required:
		text += " (may be left empty)"
	}
	return text
}

// choices are those of a member, with what they mean.
func choices(f mcp.Field) string {
	all := slices.Clone(f.Choices)
	for i, title := range f.Titles {
		if title != "" && title != all[i] {
			all[i] += " (" + title + ")"
		}
	}
	return strings.Join(all, ", ")
}

// askField asks for one member until the answer fits; an empty line leaves it out.
func (env *environment) askField(ctx context.Context, show *progress, f mcp.Field) (value any, given bool, err error) {
	question := "  " + f.Name + ":"
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
		question = "  that is not " + shownField(f) + "\n  " + f.Name + ":"
	}
}

// readField is a line as a value of the field's type.
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
