package model

import (
	"bufio"
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"sync"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/tool"
)

// maxTape is how large a tape may be.
const maxTape = 1 << 30

// Tape is recorded answers. It is used by several goroutines and models at once.
//
// It is a file of JSON lines {"key", "model", "request", "answer"}, in which key is the digest
// of model and request (SHA-256 over canonical JSON): of two lines with one key the first counts. What
// does not change an answer, such as where the model is and its key, is not in it.
type Tape struct {
	out io.Writer // nil: nothing is added

	mu      sync.Mutex
	answers map[string]*Answer
}

// identity is what of a model decides what it answers.
type identity struct {
	Model       string   `json:"model"`
	Temperature *float64 `json:"temperature,omitempty"`
	MaxTokens   int      `json:"maxTokens,omitempty"`
}

// line is a line of a tape.
type line struct {
	Key     string          `json:"key"`
	Model   identity        `json:"model"`
	Request json.RawMessage `json:"request"`
	Answer  *Answer         `json:"answer"`
}

// ReadTape reads recorded answers; in may be nil when there are none yet. New ones are written to
// out, a line at a time; when it is nil there are none, and a request that has no recorded
// answer fails. The error says which line is none.
func ReadTape(in io.Reader, out io.Writer) (*Tape, error) {
	t := &Tape{out: out, answers: map[string]*Answer{}}
	if in == nil {
		return t, nil
	}
	r := bufio.NewReader(io.LimitReader(in, maxTape+1))
	for n, size := 1, 0; ; n++ {
		text, err := r.ReadBytes('\n')
		if size += len(text); size > maxTape {
			return nil, fmt.Errorf("more than %d bytes", maxTape)
		}
		if len(bytes.TrimSpace(text)) > 0 {
			if err := t.add(text); err != nil {
				return nil, fmt.Errorf("line %d: %w", n, err)
			}
		}
		if errors.Is(err, io.EOF) {
			return t, nil
		} else if err != nil {
			return nil, err
		}
	}
}

// add takes a line.
func (t *Tape) add(text []byte) error {
	if err := jsonscan.Check(text, jsonscan.Limits{}); err != nil {
		return err
	}
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return errors.New("it is not of the form {key, model, request, answer}")
	}
	if l.Answer == nil || len(l.Request) == 0 || l.Answer.Input < 0 || l.Answer.Output < 0 {
		return errors.New("it has no request, or no answer to it")
	}
	key := l.key()
	if l.Key != "" && l.Key != key {
		return fmt.Errorf("its key is not that of its request, which is %s; it was edited", key)
	}
	if _, known := t.answers[key]; !known {
		t.answers[key] = l.Answer
	}
	return nil
}

// key is the digest of model and request.
func (l *line) key() string {
	doc := encode(struct {
		Model   identity        `json:"model"`
		Request json.RawMessage `json:"request"`
	}{l.Model, l.Request})
	sum := sha256.Sum256(jsonscan.Canonical(nil, doc))
	return hex.EncodeToString(sum[:])
}

// Client is next with this tape: what it has an answer for is not asked, and what next
// answers is recorded. A nil next is never asked. Of two equal requests at
// once both get the answer that is recorded.
func (t *Tape) Client(c Config, next Client) Client {
	return &taped{t, identity{c.Model, c.Temperature, c.MaxTokens}, next}
}

type taped struct {
	tape *Tape
	id   identity
	next Client
}

// Complete is Client's. An answer that can't be recorded is a failure.
func (t *taped) Complete(ctx context.Context, req *Request) (*Answer, error) {
	l := line{Model: t.id, Request: encode(req)}
	l.Key = l.key()
	if a, ok := t.tape.answer(l.Key); ok {
		return a, nil
	}
	if t.next == nil || t.tape.out == nil {
		return nil, &tool.Error{
			Code: "no-recording", Permanent: true,
			Message: fmt.Sprintf("there is no recorded answer to this request of the model %q (%s…); record it anew", t.id.Model, l.Key[:12]),
		}
	}
	var err error
	if l.Answer, err = t.next.Complete(ctx, req); err != nil {
		return nil, err
	}
	return t.tape.record(&l)
}

func (t *Tape) answer(key string) (*Answer, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a, ok := t.answers[key]
	if !ok {
		return nil, false
	}
	same := *a
	return &same, true
}

// record writes a line, unless its answer was recorded meanwhile, and returns what is.
func (t *Tape) record(l *line) (*Answer, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if a, ok := t.answers[l.Key]; ok {
		same := *l.Answer // what it used up
		same.Text, same.Stop, same.Reason = a.Text, a.Stop, a.Reason
		return &same, nil
	}
	if _, err := t.out.Write(append(encode(l), '\n')); err != nil {
		return nil, &tool.Error{Code: "not-recorded", Message: fmt.Sprintf("the answer can't be recorded: %v", err), Permanent: true, Err: err}
	}
	t.answers[l.Key] = l.Answer
	return l.Answer, nil
}
