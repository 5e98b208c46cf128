package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/plc-lang/plc/exec"
)

// canAsk reports whether there is a person to ask: one who sees the question and
// can type.
func (env *environment) canAsk() bool {
	return isTerminal(env.stdin) && isTerminal(env.stderr)
}

// ask puts a question to a person, who says yes, or anything else: that is a no and
// the reason. An end of input or of ctx is a no as well. show draws nothing meanwhile.
//
// What was typed before the question can't be meant as an answer, and is thrown away.
// Nothing is read but for a question: a run in the background would be stopped for it.
func (env *environment) ask(ctx context.Context, show *progress, question string) (yes bool, why string) {
	const interrupted = "it was interrupted"
	select {
	case env.asking <- struct{}{}: // one question at a time
		defer func() { <-env.asking }()
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return false, interrupted
	}
	defer show.pause()()
	flushInput(env.stdin)
	fmt.Fprintf(env.stderr, "%s y is yes, anything else is no, and why: ", printableLines(question))
	select {
	case line, ok := <-readLine(env.stdin):
		if ok {
			return verdictOfLine(line)
		}
		why = "there was no answer"
	case <-ctx.Done():
		why = interrupted
	}
	fmt.Fprintln(env.stderr)
	return false, why
}

// readLine reads one line of a terminal, which gives no more at once; at the end of
// input there is none. A line that comes when nobody wants it any more is lost.
func readLine(terminal io.Reader) <-chan string {
	line := make(chan string, 1)
	go func() {
		defer close(line)
		in := bufio.NewScanner(terminal)
		if in.Scan() {
			line <- in.Text()
		}
	}()
	return line
}

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

// approver puts calls to a person, with all that they would be called with.
func (env *environment) approver(show *progress) func(context.Context, *exec.Question) (exec.Answer, error) {
	return func(ctx context.Context, q *exec.Question) (exec.Answer, error) {
		var params bytes.Buffer
		if err := json.Indent(&params, q.Params, "  ", "  "); q.Params != nil && err != nil {
			return exec.Answer{}, err
		}
		what := "call it?"
		if q.Kind != exec.ApprovalQuestion {
			what = "call it again?"
		}
		text := fmt.Sprintf("? %s (%s): %s\n  %s\n  %s", q.Path, q.Call.Source.Tool, q.Reason, params.Bytes(), what)
		yes, why := env.ask(ctx, show, text)
		return exec.Answer{Approved: yes, Reason: why}, nil
	}
}
