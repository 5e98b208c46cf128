package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	osexec "os/exec"
	"slices"
	"strings"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/display"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/tool"
)

// approver returns a function that asks the person at the terminal about calls, showing everything
// that they would be called with. Meanwhile somebody elsewhere may answer a question of the run r.
// r is nil for a run of a loop, whose questions nobody else can answer.
func (env *environment) approver(show *progress, r *plc.Run) func(context.Context, *exec.Question) (exec.Answer, error) {
	return func(ctx context.Context, q *exec.Question) (exec.Answer, error) {
		a, err := env.askCall(ctx, show, &asked{
			path: q.Path, instance: q.Instance, terms: q.Terms, fallback: q.Fallback, kind: q.Kind, reason: q.Reason,
			failure: q.Failure, definition: definitionOf(q.Call.Tool),
		})
		if err != nil || r == nil {
			return a, err
		}
		return r.Put(ctx, q, a)
	}
}

func definitionOf(t *tool.Tool) *tool.Definition {
	if t == nil {
		return nil
	}
	return t.Definition
}

// asked is a question about a call, as plc shows it.
type asked struct {
	path, instance string
	terms          *exec.Terms
	fallback       bool // the terms are those of the call's fallback
	kind           exec.QuestionKind
	reason         string
	failure        *exec.Failure
	definition     *tool.Definition // nil if params and results are not checked here
}

// text returns the question, with everything that the call would do. Long params are cut; then
// whole is false, and the other pages show the rest.
func (q *asked) text() (text display.Text, whole bool) { return q.write(true) }

// full returns the question without cutting anything.
func (q *asked) full() display.Text {
	text, _ := q.write(false)
	return text
}

func (q *asked) write(cut bool) (text display.Text, whole bool) {
	var b display.Builder
	b.Line("? %s (%s): %s", q.name(), display.Name(q.terms.Tool), q.reason)
	if q.failure != nil && q.reason != q.failure.Message {
		b.Line("  %s", q.failure)
	}
	if q.fallback {
		b.Line("  this is the fallback: the call itself has failed")
	}
	whole = showTerms(&b, q.terms, cut)
	if f := q.terms.Fallback; f != nil {
		b.Line("  when it has failed, its fallback %s:", display.Name(f.Tool))
		switch {
		case f.Params == nil:
			b.Line("  with params that are not known yet: when it changes the world, it is asked about then")
			whole = showTerms(&b, f, cut) && whole
		case string(f.Params) == string(q.terms.Params):
			b.Line("  with the same params")
			same := *f
			same.Params = nil
			showTerms(&b, &same, cut)
		default:
			whole = showTerms(&b, f, cut) && whole
		}
	}
	return b.Text(), whole
}

// How much of the params a question shows at once.
const (
	paramLines = 40
	pageRows   = 40
)

// showTerms shows what runs, how often and with which params. With cut, it shortens long values,
// and reports whether nothing was cut.
func showTerms(b *display.Builder, t *exec.Terms, cut bool) (whole bool) {
	if t.Target != "" {
		b.Line("  runs %s (%s)", t.Target, t.Origin)
	}
	switch {
	case t.Retries > 0 && t.Timeout != "":
		b.Line("  at most %s after the first attempt, %s each", count(t.Retries, "attempt"), t.Timeout)
	case t.Retries > 0:
		b.Line("  at most %s after the first", count(t.Retries, "attempt"))
	case t.Timeout != "" && t.Timeout != exec.DefaultTimeout.String():
		b.Line("  for at most %s", t.Timeout)
	}
	whole = true
	if t.Params != nil {
		whole = showValue(b, "the params are", t.Params, cut)
	}
	if t.Scopes != nil {
		b.Line("  it may also read")
		whole = showValue(b, "what it may read is", t.Scopes, cut) && whole
	}
	return whole
}

// showValue shows a value; with cut, it shortens a long one. It reports whether the value was shown
// completely. If not, it adds a line that begins with what.
func showValue(b *display.Builder, what display.Literal, value json.RawMessage, cut bool) (whole bool) {
	whole = true
	lines := display.IndentedJSON(value, "  ").Lines()
	for i, line := range lines {
		if cut && i == paramLines {
			b.Line("  … %s more", count(len(lines)-i, "line"))
			whole = false
			break
		}
		if n := len(line.String()); cut && line.Columns() > maxValue {
			line, whole = display.Sprintf("%s (%d bytes)", line.Cut(maxValue), n), false
		}
		if i == 0 {
			line = display.Sprintf("  %s", line)
		}
		b.Line("%s", line)
	}
	if !whole {
		b.Line("  %s cut: %d bytes, SHA-256 %x", display.Lit(what), len(value), sha256.Sum256(value))
	}
	return whole
}

// pages returns the complete params, in pages of rows that fit into this width.
func (q *asked) pages(width int) (pages []display.Text) {
	var b display.Builder
	b.Line("  params %s", display.IndentedJSON(q.terms.Params, "  "))
	if q.terms.Scopes != nil {
		b.Line("  may also read %s", display.IndentedJSON(q.terms.Scopes, "  "))
	}
	if f := q.terms.Fallback; f != nil && f.Params != nil {
		b.Line("  params of its fallback %s", display.IndentedJSON(f.Params, "  "))
	}
	return pagesOf(b.Text(), width)
}

// pagesOf returns the pages of a text, with rows that fit into this width; 0 is any width.
func pagesOf(text display.Text, width int) (pages []display.Text) {
	if width > 0 {
		text = text.Wrap(width, onward)
	}
	rows := text.Lines()
	if rows[len(rows)-1] == (display.Text{}) {
		rows = rows[:len(rows)-1]
	}
	for page := range slices.Chunk(rows, pageRows) {
		pages = append(pages, display.Sprintf("%s\n", display.Join(page, "\n")))
	}
	return pages
}

// name returns the call that the question is about.
func (q *asked) name() display.Text {
	if q.instance != "" {
		return display.Sprintf("%s: %s", display.Name(q.instance), display.Name(q.path))
	}
	return display.Name(q.path)
}

// choices lists the possible answers.
func (q *asked) choices(others int32, page, pages int) string {
	s := "call it?"
	switch q.kind {
	case exec.UncertainQuestion:
		s = "call it again?"
	case exec.FailureQuestion:
		s = "try it again?"
	}
	s += " y yes, n no, e edit, v value, s skip"
	switch {
	case page < pages:
		s += fmt.Sprintf(", + params as a whole (page %d of %d)", page+1, pages)
	case others > 0:
		s += fmt.Sprintf(", + next (of %d more)", others)
	}
	return s + ", ? help:"
}

// help explains the answers.
func (q *asked) help() display.Text {
	no := display.Lit("it fails with the code rejected")
	switch q.kind {
	case exec.UncertainQuestion:
		no = display.Lit("it fails for good")
	case exec.FailureQuestion:
		no = display.Lit("it has failed for good, and the run ends")
	}
	return display.Sprintf(`  y            make the call
  n [WHY]      do not: %s; any other text is a no, and why
  e [PARAMS]   make it with other params: a JSON object, or without it your $EDITOR or a line to type
  v [RESULT]   do not, and take this JSON value for its result
  s [WHY]      skip it
  +            the params as a whole, a page at a time; then another call first
`, no)
}

// askCall asks a question about a call until there is a valid answer.
func (env *environment) askCall(ctx context.Context, show *progress, q *asked) (exec.Answer, error) {
	release, ok := env.hold(ctx)
	if !ok {
		return exec.Answer{}, context.Cause(ctx)
	}
	defer func() { release() }()
	text, whole := q.text()
	var pages []display.Text
	if !whole {
		pages = q.pages(widthOf(env.stderr))
	}
	for page, unknown := 0, 0; ; {
		line, why := env.prompt(ctx, show, display.Sprintf("%s  %s", text, q.choices(env.waiting.Load()-1, page, len(pages))))
		if why == interrupted {
			return exec.Answer{}, context.Cause(ctx)
		}
		if why == "" && q.isUnknown(strings.TrimSpace(line)) {
			if unknown++; unknown < maxUnknown {
				text = display.Sprintf("? %s: %q is no answer: type y, n, e, v, s, + or ?, or why not\n", q.name(), display.Line(strings.TrimSpace(line)))
				continue
			}
			why = noAnswer
		}
		if why != "" && q.kind != exec.UncertainQuestion {
			return exec.Answer{}, exec.ErrNobody // the question stays open
		}
		if why != "" {
			return exec.Answer{Reason: why}, nil
		}
		switch line = strings.TrimSpace(line); line {
		case "+":
			if page < len(pages) {
				text = pages[page]
				page++
				continue
			}
			release()
			if release, ok = env.hold(ctx); !ok {
				release = func() {}
				return exec.Answer{}, context.Cause(ctx)
			}
			text, _ = q.text()
			continue
		case "?":
			text = q.help()
			continue
		}
		a, err := env.answerOf(ctx, show, q, line)
		if err == nil {
			err = plc.Fits(q.definition, a)
		}
		if err == nil {
			return a, nil
		}
		if ctx.Err() != nil {
			return exec.Answer{}, context.Cause(ctx)
		}
		text = said(display.Sprintf("? %s: ", q.name()), err.Error())
	}
}

// isUnknown reports whether a line is not an answer, and more likely a typing error than a reason
// for a no.
func (q *asked) isUnknown(line string) bool {
	word, rest, _ := strings.Cut(line, " ")
	rest = strings.TrimSpace(rest)
	switch strings.ToLower(word) {
	case "n", "s", "+", "?":
		return false
	case "y":
		return rest != ""
	case "e":
		return rest != "" && !q.fallback && !strings.HasPrefix(rest, "{")
	case "v":
		return rest != "" && jsonscan.Check([]byte(rest), jsonscan.Limits{}) != nil
	}
	return isSlip(line)
}

// answerOf returns the answer in a line, which is a word and text after it. Any other line is a no,
// with the line as the reason.
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
		if q.fallback {
			return exec.Answer{}, errors.New("the params of a fallback can't be changed; give a result, or skip the call")
		}
		if rest == "" || strings.HasPrefix(rest, "{") {
			params, err := env.edited(ctx, show, rest, q.terms.Params, "its params, a JSON object on one line:")
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

// edited returns JSON from a person: the text given on the line, else the text as changed in the
// user's editor, or else another line.
func (env *environment) edited(ctx context.Context, show *progress, given string, text json.RawMessage, what string) (json.RawMessage, error) {
	if given != "" {
		return jsonscan.Compact(nil, []byte(given)), nil
	}
	var line []byte
	if editor := cmp.Or(os.Getenv("VISUAL"), os.Getenv("EDITOR")); editor != "" {
		var err error
		if line, err = env.inEditor(ctx, show, editor, text); err != nil {
			return nil, err
		}
	} else {
		typed, why := env.prompt(ctx, show, display.Sprintf("  %s", what))
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

// inEditor lets the user edit a text in an editor.
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
	return jsonscan.ReadFile(f.Name())
}
