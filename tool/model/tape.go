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

// maxTape is the maximum size of a tape in bytes.
const maxTape = 1 << 30

// Tape keeps the answers of models and people. Several goroutines and models may use it at once.
//
// It is a file of JSON lines {"key", "model", "place", "request", "answer"}. A request is a Request
// or a Turn and its answer an Answer or a Reply; the requests and answers of the methods Answer and
// Record may be any JSON. The key is the digest of model and request (SHA-256 over canonical JSON),
// without settings that do not change an answer, such as the address of the model and its API key.
//
// Equal requests get an answer each, in the order of the lines: the second request with a key gets
// the second line with it. The place says which part of a program makes the request, so that parts
// that make requests at the same time get their own answers. A line without a place, from an older
// tape, is for any place.
type Tape struct {
	// Name is the name of the file, for errors; it may be "". Set it before the tape is used.
	Name string

	out io.Writer // nil if nothing is recorded

	mu      sync.Mutex
	answers map[string][]*taped // by key, in the order of the lines
}

// taped is a recorded answer.
type taped struct {
	place  string
	answer json.RawMessage
	used   bool // since the tape was read
}

// identity has the settings that a model's answers depend on.
type identity struct {
	Model       string   `json:"model"`
	Person      bool     `json:"person,omitempty"` // no model: a person or a callback of this name
	Temperature *float64 `json:"temperature,omitempty"`
	MaxTokens   int      `json:"maxTokens,omitempty"`
}

// line is a line of a tape.
type line struct {
	Key     string          `json:"key"`
	Model   identity        `json:"model"`
	Place   string          `json:"place,omitempty"`
	Request json.RawMessage `json:"request"`
	Answer  json.RawMessage `json:"answer"`
}

// ReadTape reads recorded answers; in may be nil if there are none yet. New answers are written to
// out, a line at a time. If out is nil, nothing is recorded, and a request without a recorded
// answer fails. The error says which line is invalid.
func ReadTape(in io.Reader, out io.Writer) (*Tape, error) {
	t := &Tape{out: out, answers: map[string][]*taped{}}
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

// add adds a line to the answers.
func (t *Tape) add(text []byte) error {
	if err := jsonscan.Check(text, jsonscan.Limits{}); err != nil {
		return err
	}
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return errors.New("it is not of the form {key, model, request, answer}")
	}
	if len(l.Request) == 0 || !l.sound() {
		return errors.New("it has no request, or no answer to it")
	}
	key := l.key()
	if l.Key != "" && l.Key != key {
		return fmt.Errorf("its key is not that of its request, which is %s; it was edited", key)
	}
	t.answers[key] = append(t.answers[key], &taped{place: l.Place, answer: l.Answer})
	return nil
}

// sound reports whether the answer of a line has the form that its request requires.
func (l *line) sound() bool {
	if l.Model.Person {
		return len(l.Answer) > 0
	}
	var r *Reply
	return len(l.Answer) > 0 && json.Unmarshal(l.Answer, &r) == nil && r != nil && r.Input >= 0 && r.Output >= 0 && r.Cached >= 0
}

// key returns the digest of model and request.
func (l *line) key() string {
	doc := jsonscan.Encode(struct {
		Model   identity        `json:"model"`
		Request json.RawMessage `json:"request"`
	}{l.Model, l.Request})
	sum := sha256.Sum256(jsonscan.Canonical(nil, doc))
	return hex.EncodeToString(sum[:])
}

// Client returns a client that takes answers from the tape, and otherwise asks next and records its
// answer. If next is nil and there are fewer answers than equal requests, the last answer is
// repeated.
func (t *Tape) Client(c Config, next Client) Client {
	return &tapedClient{t, identityOf(c), next}
}

type tapedClient struct {
	tape *Tape
	id   identity
	next Client
}

// Complete implements Client. An answer that can't be recorded is a failure.
func (t *tapedClient) Complete(ctx context.Context, req *Request) (*Answer, error) {
	l := newLine(t.id, req.Place, jsonscan.Encode(req))
	raw, ok := t.tape.take(l, t.next == nil)
	var a Answer
	switch {
	case ok:
		return &a, json.Unmarshal(raw, &a)
	case t.next == nil || t.tape.out == nil:
		return nil, t.tape.missing(l)
	}
	said, err := t.next.Complete(ctx, req)
	if err != nil {
		return nil, err
	}
	return said, t.tape.record(l, jsonscan.Encode(said))
}

// Converser returns a converser that uses the tape like Client does. It passes a recorded reply to
// OnText in one piece.
func (t *Tape) Converser(c Config, next Converser) Converser {
	return &tapedConverser{t, identityOf(c), next}
}

type tapedConverser struct {
	tape *Tape
	id   identity
	next Converser
}

// Converse implements Converser. A reply that can't be recorded is a failure.
func (t *tapedConverser) Converse(ctx context.Context, turn *Turn) (*Reply, error) {
	if err := turn.Check(); err != nil {
		return nil, err
	}
	l := newLine(t.id, turn.Place, jsonscan.Encode(turn))
	raw, ok := t.tape.take(l, t.next == nil)
	switch {
	case ok:
		var r Reply
		if err := json.Unmarshal(raw, &r); err != nil {
			return nil, err
		}
		if turn.OnText != nil && r.Text != "" {
			return &r, turn.OnText(r.Text)
		}
		return &r, ctx.Err()
	case t.next == nil || t.tape.out == nil:
		return nil, t.tape.missing(l)
	}
	said, err := t.next.Converse(ctx, turn)
	if err != nil {
		return nil, err
	}
	return said, t.tape.record(l, jsonscan.Encode(said))
}

// Recorded reports whether c is a converser of a Tape that has the reply to a turn, so that no
// model is asked.
func Recorded(c Converser, turn *Turn) bool {
	t, ok := c.(*tapedConverser)
	if !ok {
		return false
	}
	t.tape.mu.Lock()
	known := t.tape.find(newLine(t.id, turn.Place, jsonscan.Encode(turn)), t.next == nil) != nil
	t.tape.mu.Unlock()
	if known {
		return true
	}
	return Recorded(t.next, turn)
}

// Answer returns the next recorded answer to a request that was made at a place. who is the model,
// person or callback that was asked.
func (t *Tape) Answer(who Asked, place string, request json.RawMessage) (answer json.RawMessage, ok bool) {
	return t.take(newLine(who.identity(), place, request), false)
}

// Record adds an answer that Answer did not find.
func (t *Tape) Record(who Asked, place string, request, answer json.RawMessage) error {
	return t.record(newLine(who.identity(), place, request), answer)
}

// Asked identifies who was asked: a model, a person or a callback.
type Asked struct {
	Name   string
	Person bool // a person or a callback of the program, not a model
}

func (a Asked) identity() identity { return identity{Model: a.Name, Person: a.Person} }

func identityOf(c Config) identity {
	return identity{Model: c.Model, Temperature: c.Temperature, MaxTokens: c.MaxTokens}
}

func newLine(id identity, place string, request json.RawMessage) *line {
	l := &line{Model: id, Place: place, Request: request}
	l.Key = l.key()
	return l
}

// missing returns the error of a request that has no recorded reply.
func (t *Tape) missing(l *line) error {
	where := ""
	if t.Name != "" {
		where = " in " + t.Name
	}
	return &tool.Error{
		Code: "no-recording", Permanent: true,
		Message: fmt.Sprintf("there is no recorded answer%s to this request of the model %q (%s…); record it again", where, l.Model.Model, l.Key[:12]),
	}
}

// take returns the answer that find returns, and marks it as used.
func (t *Tape) take(l *line, last bool) (json.RawMessage, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	a := t.find(l, last)
	if a == nil {
		return nil, false
	}
	a.used = true
	return a.answer, true
}

// find returns the next answer to a line: the first unused one with its place, else the first
// unused one without a place. With last, which is for tapes that record nothing, it then tries
// unused answers of other places, and finally returns the last answer, used or not. The caller
// holds mu.
func (t *Tape) find(l *line, last bool) (found *taped) {
	rank := 0
	for _, a := range t.answers[l.Key] {
		r := 0
		switch {
		case a.used && last:
			r = 1
		case a.used:
		case a.place == l.Place:
			return a
		case a.place == "":
			r = 3
		case last:
			r = 2
		}
		if r > rank || r == 1 && rank == 1 {
			found, rank = a, r
		}
	}
	return found
}

// record writes a line with an answer.
func (t *Tape) record(l *line, answer json.RawMessage) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	l.Answer = answer
	if t.out == nil {
		return t.missing(l)
	}
	if _, err := t.out.Write(append(jsonscan.Encode(l), '\n')); err != nil {
		return &tool.Error{Code: "not-recorded", Message: fmt.Sprintf("the answer can't be recorded: %v", err), Permanent: true, Err: err}
	}
	t.answers[l.Key] = append(t.answers[l.Key], &taped{l.Place, answer, true})
	return nil
}
