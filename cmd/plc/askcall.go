package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"strings"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/tool"
)

// approver puts calls to the person at the terminal, with all that they would be called with.
// Somebody elsewhere may be quicker.
func (env *environment) approver(show *progress, k *kept) func(context.Context, *exec.Question) (exec.Answer, error) {
	return func(ctx context.Context, q *exec.Question) (exec.Answer, error) {
		a, err := env.askCall(ctx, show, &asked{
			path: q.Path, instance: q.Instance, tool: q.Call.Source.Tool, kind: q.Kind, reason: q.Reason, params: q.Params,
			failure: q.Failure, definition: definitionOf(q.Call.Tool),
		})
		if k == nil || err != nil {
			return a, err
		}
		return k.put(ctx, q, a)
	}
}

func definitionOf(t *tool.Tool) *tool.Definition {
	if t == nil {
		return nil
	}
	return t.Definition
}

// asked is a question about a call, as a person is shown it.
type asked struct {
	path, instance, tool string
	kind                 exec.QuestionKind
	reason               string
	params               json.RawMessage
	failure              *exec.Failure
	definition           *tool.Definition // nil: params and results are not checked here
}

// String is the question with what a call would be made with.
func (q *asked) String() string {
	var b strings.Builder
	name := q.path
	if q.instance != "" {
		name = q.instance + ": " + name
	}
	fmt.Fprintf(&b, "? %s (%s): %s\n", name, q.tool, q.reason)
	if q.failure != nil && q.reason != q.failure.Message {
		fmt.Fprintf(&b, "  %s\n", q.failure)
	}
	if q.params != nil {
		var params bytes.Buffer
		if json.Indent(&params, q.params, "  ", "  ") != nil {
			params.Reset()
			params.Write(q.params)
		}
		fmt.Fprintf(&b, "  %s\n", params.Bytes())
	}
	return b.String()
}

// choices are the answers that there are.
func (q *asked) choices(others int32) string {
	s := "call it?"
	switch q.kind {
	case exec.UncertainQuestion:
		s = "call it again?"
	case exec.FailureQuestion:
		s = "try it again?"
	}
	s += " y yes, n no, e edit, v value, s skip"
	if others > 0 {
		s += fmt.Sprintf(", + next (of %d more)", others)
	}
	return s + ", ? help:"
}

// help is what the answers mean.
func (q *asked) help() string {
	no := "it fails with the code rejected"
	switch q.kind {
	case exec.UncertainQuestion:
		no = "it fails for good"
	case exec.FailureQuestion:
		no = "it has failed for good, and the run ends"
	}
	return `  y            make the call
  n [WHY]      do not: ` + no + `; any other text is a no, and why
  e [PARAMS]   make it with other params: a JSON object, or without it your $EDITOR or a line to type
  v [RESULT]   do not, and take this JSON value for its result
  s [WHY]      skip it
  +            another call first
`
}

// askCall puts a question about a call until there is an answer that can be taken.
func (env *environment) askCall(ctx context.Context, show *progress, q *asked) (exec.Answer, error) {
	release, ok := env.hold(ctx)
	if !ok {
		return exec.Answer{}, context.Cause(ctx)
	}
	defer func() { release() }()
	for text := q.String(); ; {
		line, why := env.prompt(ctx, show, text+"  "+q.choices(env.waiting.Load()-1))
		if why == interrupted {
			return exec.Answer{}, context.Cause(ctx)
		}
		if why != "" {
			return exec.Answer{Reason: why}, nil
		}
		switch line = strings.TrimSpace(line); line {
		case "+":
			release()
			if release, ok = env.hold(ctx); !ok {
				release = func() {}
				return exec.Answer{}, context.Cause(ctx)
			}
			text = q.String()
			continue
		case "?":
			text = q.help()
			continue
		}
		a, err := env.answerOf(ctx, show, q, line)
		if err == nil {
			err = q.fits(&a)
		}
		if err == nil {
			return a, nil
		}
		if ctx.Err() != nil {
			return exec.Answer{}, context.Cause(ctx)
		}
		text = fmt.Sprintf("? %s: %s\n", q.path, err)
	}
}

// answerOf is the answer that a line says: a word, and what follows it. Anything that is no
// answer is a no, and why.
func (env *environment) answerOf(ctx context.Context, show *progress, q *asked, line string) (exec.Answer, error) {
	word, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	switch strings.ToLower(word) {
	case "y", "yes":
		if rest == "" {
			return exec.Answer{Approved: true}, nil
		}
	case "n", "no", "":
		return exec.Answer{Reason: rest}, nil
	case "s", "skip":
		return exec.Answer{Skip: true, Reason: rest}, nil
	case "e", "edit":
		if rest == "" || strings.HasPrefix(rest, "{") {
			params, err := env.edited(ctx, show, rest, q.params, "its params, a JSON object on one line:")
			return exec.Answer{Approved: true, Params: params}, err
		}
	case "v", "value", "result":
		if rest == "" || jsonscan.Check([]byte(rest), jsonscan.Limits{}) == nil {
			result, err := env.edited(ctx, show, rest, nil, "its result, as JSON on one line:")
			return exec.Answer{Result: result}, err
		}
	}
	return exec.Answer{Reason: line}, nil
}

// fits reports, as an error, that a call can't be made or end like this.
func (q *asked) fits(a *exec.Answer) error {
	for _, v := range []json.RawMessage{a.Params, a.Result} {
		if v != nil {
			if err := jsonscan.Check(v, jsonscan.Limits{}); err != nil {
				return fmt.Errorf("that is not JSON: %w", err)
			}
		}
	}
	if q.definition == nil {
		return nil
	}
	if a.Params != nil && q.definition.Params != nil {
		if err := q.definition.Params.Validate(a.Params); err != nil {
			return fmt.Errorf("the params do not fit: %w", err)
		}
	}
	if a.Result != nil && q.definition.Output != nil {
		if err := q.definition.Output.Validate(a.Result); err != nil {
			return fmt.Errorf("the result does not fit: %w", err)
		}
	}
	return nil
}

// edited is JSON that a person gives: what stands on the line already, else what the editor of
// the user makes of the text, or else another line.
func (env *environment) edited(ctx context.Context, show *progress, given string, text json.RawMessage, what string) (json.RawMessage, error) {
	if given != "" {
		return jsonscan.Compact(nil, []byte(given)), nil
	}
	var line []byte
	if editor := editorOf(); editor != "" {
		var err error
		if line, err = env.inEditor(ctx, show, editor, text); err != nil {
			return nil, err
		}
	} else {
		typed, why := env.prompt(ctx, show, "  "+what)
		if why != "" {
			return nil, errors.New(why)
		}
		line = []byte(typed)
	}
	if err := jsonscan.Check(line, jsonscan.Limits{}); err != nil {
		return nil, fmt.Errorf("that is not JSON: %w", err)
	}
	return jsonscan.Compact(nil, line), nil
}

// editorOf is the user's editor; "" is none.
func editorOf() string {
	if e := os.Getenv("VISUAL"); e != "" {
		return e
	}
	return os.Getenv("EDITOR")
}

// inEditor has a text edited.
func (env *environment) inEditor(ctx context.Context, show *progress, editor string, text json.RawMessage) ([]byte, error) {
	f, err := os.CreateTemp("", "plc-*.json")
	if err != nil {
		return nil, err
	}
	defer os.Remove(f.Name())
	var indented bytes.Buffer
	if json.Indent(&indented, text, "", "  ") != nil {
		indented.Reset()
	}
	_, err = fmt.Fprintf(f, "%s\n", indented.Bytes())
	if err = errors.Join(err, f.Close()); err != nil {
		return nil, err
	}
	defer show.pause()()
	words := append(strings.Fields(editor), f.Name())
	cmd := osexec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = env.stdin, env.stderr, env.stderr
	if err := cmd.Run(); err != nil {
		return nil, fmt.Errorf("the editor %s: %w", words[0], err)
	}
	return os.ReadFile(f.Name())
}
