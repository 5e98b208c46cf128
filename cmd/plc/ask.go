package main

import (
	"bufio"
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/display"
)

// canAsk reports whether there is a person who can see a question and type an answer.
func (env *environment) canAsk() bool {
	return isTerminal(env.stdin) && isTerminal(env.stderr)
}

// ask asks a person a question. An answer other than yes is a no, with that text as the reason. At
// the end of input, or when ctx is done, it returns a no with the reason noAnswer or interrupted.
// show draws nothing meanwhile. If the person types a single letter that is not an answer and not
// one of letters, ask asks again; after maxUnknown such lines it returns noAnswer.
func (env *environment) ask(ctx context.Context, show *progress, question display.Text, letters ...string) (yes bool, why string) {
	release, ok := env.hold(ctx)
	if !ok {
		return false, interrupted
	}
	defer release()
	for range maxUnknown {
		line, why := env.prompt(ctx, show, display.Sprintf("%s y is yes, anything else is no, and why:", question))
		if why != "" {
			return false, why
		}
		yes, why = verdictOfLine(line)
		if !isSlip(why) || slices.Contains(letters, why) {
			return yes, why
		}
		showf(env.stderr, "%q is no answer: type %s, or why not\n", display.Line(why), strings.Join(append([]string{"y", "n"}, letters...), ", "))
	}
	return false, noAnswer
}

// maxUnknown is the number of unclear lines in a row after which plc stops asking.
const maxUnknown = 3

// isSlip reports whether a line is more likely a typing error than a reason: a single letter, or y
// and more text.
func isSlip(line string) bool {
	return utf8.RuneCountInString(line) == 1 || strings.HasPrefix(strings.ToLower(line), "y ")
}

// askWhole asks a question with more pages, which + shows.
func (env *environment) askWhole(ctx context.Context, question display.Text, pages []display.Text) (yes bool, why string) {
	for page := 0; ; page++ {
		if page == len(pages) {
			return env.ask(ctx, nil, question)
		}
		more := display.Sprintf("%s + shows it as a whole (page %d of %d),", question, page+1, len(pages))
		if yes, why = env.ask(ctx, nil, more, "+"); yes || why != "+" {
			return yes, why
		}
		show(env.stderr, pages[page])
	}
}

// Reasons why there is no line.
const (
	interrupted = "it was interrupted"
	noAnswer    = "there was no answer"
)

// hold waits for the turn of a question. Questions are asked one at a time, the one that has waited
// longest first. ok is false if ctx is done before.
func (env *environment) hold(ctx context.Context) (release func(), ok bool) {
	env.waiting.Add(1)
	select {
	case env.asking <- struct{}{}:
	case <-ctx.Done():
		env.waiting.Add(-1)
		return nil, false
	}
	release = func() { <-env.asking; env.waiting.Add(-1) }
	if ctx.Err() != nil {
		release()
		return nil, false
	}
	return release, true
}

// prompt asks a question whose turn it is and reads a line. If there is no line, why says why.
//
// Text that was typed before the question can't be an answer, so it is discarded. Input is read
// only for a question, since the system stops a background process that reads from its terminal.
func (env *environment) prompt(ctx context.Context, show *progress, question display.Text) (line, why string) {
	defer show.pause()()
	flushInput(env.stdin)
	select { // a line for an earlier question, which was answered elsewhere
	case <-env.line:
		env.line = nil
	default:
	}
	showf(env.stderr, "%s ", question)
	lines := env.readLine()
	select {
	case line, ok := <-lines:
		env.line = nil
		if ok {
			return line, ""
		}
		why = noAnswer
	case <-ctx.Done():
		why = interrupted
	}
	showf(env.stderr, "%s\n", display.Text{})
	return "", why
}

// readLine returns a channel with the next line of the terminal; it has none at the end of input.
// If nobody waits until the line is complete, it is for the next question. The caller holds asking.
func (env *environment) readLine() <-chan string {
	if env.line != nil {
		return env.line
	}
	line := make(chan string, 1)
	env.line = line
	go func() {
		defer close(line)
		in := bufio.NewScanner(env.stdin)
		in.Buffer(nil, maxLineTyped)
		if in.Scan() {
			line <- in.Text()
		}
	}()
	return line
}

// maxLineTyped is the maximum length of a typed line that holds JSON.
const maxLineTyped = 1 << 20

// verdictOfLine reads an answer.
func verdictOfLine(line string) (yes bool, why string) {
	switch line = strings.TrimSpace(line); strings.ToLower(line) {
	case "y", "yes":
		return true, ""
	case "", "n", "no":
		return false, ""
	}
	return false, line
}

// approveAll approves every call, and answers no other questions.
func approveAll(_ context.Context, q *exec.Question) (exec.Answer, error) {
	if q.Kind != exec.ApprovalQuestion {
		return exec.Answer{}, exec.ErrNobody
	}
	return exec.Answer{Approved: true}, nil
}
