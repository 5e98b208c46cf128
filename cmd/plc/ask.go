package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/plc-lang/plc/exec"
)

// questions is what asks a person at the terminal, one question at a time.
type questions struct {
	turn chan struct{} // holds one while nobody asks
	end  chan struct{} // closed at the end of input

	mu     sync.Mutex
	answer chan<- string // of who asks, with room for one; nil while nobody does
}

// canAsk reports whether there is a person to ask: one who sees the question and
// can type.
func (env *environment) canAsk() bool {
	return isTerminal(env.stdin) && isTerminal(env.stderr)
}

// settle is how long it takes to read, and drop, what was typed before anything
// was asked: it can't be meant as an answer.
const settle = 20 * time.Millisecond

// listen begins to read answers. It is not done before the first question: a run in
// the background would be stopped for it.
func (env *environment) listen() *questions {
	q := &questions{turn: make(chan struct{}, 1), end: make(chan struct{})}
	q.turn <- struct{}{}
	go func() {
		defer close(q.end)
		in := bufio.NewScanner(env.stdin)
		for in.Scan() {
			q.typed(in.Text())
		}
	}()
	time.Sleep(settle)
	return q
}

// typed takes a line as the answer, if somebody asks.
func (q *questions) typed(line string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.answer != nil {
		q.answer <- line
		q.answer = nil
	}
}

// listenFor makes the next line that is typed the answer.
func (q *questions) listenFor(answer chan<- string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.answer = answer
}

// ask puts a question to a person, who says yes, or anything else: that is a no and
// the reason. An end of input or of ctx is a no as well. show draws nothing meanwhile.
func (env *environment) ask(ctx context.Context, show *progress, question string) (yes bool, why string) {
	const interrupted = "it was interrupted"
	q := env.asked()
	select {
	case <-q.turn:
		defer func() { q.turn <- struct{}{} }()
	case <-ctx.Done():
	}
	if ctx.Err() != nil {
		return false, interrupted
	}
	defer show.pause()()
	answer := make(chan string, 1)
	q.listenFor(answer)
	defer q.listenFor(nil)
	fmt.Fprintf(env.stderr, "%s y is yes, anything else is no, and why: ", printableLines(question))
	select {
	case line := <-answer:
		return verdictOfLine(line)
	case <-q.end:
		why = "there was no answer"
	case <-ctx.Done():
		why = interrupted
	}
	fmt.Fprintln(env.stderr)
	return false, why
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

// approver puts calls to a person, with all that they would be called with.
func (env *environment) approver(show *progress) func(context.Context, *exec.Question) (exec.Answer, error) {
	return func(ctx context.Context, q *exec.Question) (exec.Answer, error) {
		var params bytes.Buffer
		if err := json.Indent(&params, q.Params, "  ", "  "); err != nil {
			return exec.Answer{}, err
		}
		text := fmt.Sprintf("? %s (%s): %s\n  %s\n  call it?", q.Call.ID, q.Call.Source.Tool, q.Reason, params.Bytes())
		yes, why := env.ask(ctx, show, text)
		return exec.Answer{Approved: yes, Reason: why}, nil
	}
}
