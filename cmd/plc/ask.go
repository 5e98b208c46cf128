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

// canAsk reports whether there is a person to ask: one who sees the question and
// can type.
func (env *environment) canAsk() bool {
	return isTerminal(env.stdin) && isTerminal(env.stderr)
}

// ask puts a question to a person, who says yes, or anything else: that is a no and
// the reason. At an end of input or of ctx it is a no as well, for the reason noAnswer or
// interrupted. show draws nothing meanwhile. A single letter that is no answer, and not among the
// letters, is asked about again, and after maxUnknown of them there was no answer.
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

// maxUnknown is the number of unclear lines in a row after which nobody is asked any more.
const maxUnknown = 3

// isSlip reports whether a line is more likely a slip of the finger than a reason: a letter, or y
// and something else.
func isSlip(line string) bool {
	return utf8.RuneCountInString(line) == 1 || strings.HasPrefix(strings.ToLower(line), "y ")
}

// askWhole asks a question with pages, which + shows.
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

// Why there is no line.
const (
	interrupted = "it was interrupted"
	noAnswer    = "there was no answer"
)

// hold waits for the turn of a question: there is one at a time, the one that has waited
// longest. It is not ok when ctx is done before.
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

// prompt puts a question whose turn it is and reads a line; why says that there is none.
//
// What was typed before the question can't be meant as an answer, and is thrown away.
// Nothing is read but for a question: a run in the background would be stopped for it.
func (env *environment) prompt(ctx context.Context, show *progress, question display.Text) (line, why string) {
	defer show.pause()()
	flushInput(env.stdin)
	select { // a line that was meant for a question that was answered elsewhere
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

// readLine reads one line of a terminal, which gives no more at once; at the end of
// input there is none. A line that nobody waited for to its end is for the next question.
// Who calls it holds asking.
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

// approveAll lets every call be made, and answers nothing else.
func approveAll(_ context.Context, q *exec.Question) (exec.Answer, error) {
	if q.Kind != exec.ApprovalQuestion {
		return exec.Answer{}, exec.ErrNobody
	}
	return exec.Answer{Approved: true}, nil
}
