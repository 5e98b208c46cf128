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
	"slices"
	"sync"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/tool"
)

// maxTape is how large a tape may be.
const maxTape = 1 << 30

// Tape is recorded answers and replies. It is used by several goroutines and models at once.
//
// It is a file of JSON lines {"key", "model", "request", "answer"}, in which request is a Request
// or a Turn, answer an Answer or a Reply, and key the digest
// of model and request (SHA-256 over canonical JSON): of two lines with one key the first counts. What
// does not change an answer, such as where the model is and its key, is not in it.
type Tape struct {
	// Name is that of the file, for errors; "" is not told. It is set before the tape is used.
	Name string

	out io.Writer // nil: nothing is added

	mu      sync.Mutex
	answers map[string]*Reply
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
	Answer  *Reply          `json:"answer"` // to a Request without Calls and Cached, which makes it an Answer
}

// ReadTape reads recorded answers; in may be nil when there are none yet. New ones are written to
// out, a line at a time; when it is nil there are none, and a request that has no recorded
// answer fails. The error says which line is none.
func ReadTape(in io.Reader, out io.Writer) (*Tape, error) {
	t := &Tape{out: out, answers: map[string]*Reply{}}
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
	if l.Answer == nil || len(l.Request) == 0 || l.Answer.Input < 0 || l.Answer.Output < 0 || l.Answer.Cached < 0 {
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
	doc := jsonscan.Encode(struct {
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
	return &tapedClient{t, identityOf(c), next}
}

type tapedClient struct {
	tape *Tape
	id   identity
	next Client
}

// Complete is Client's. An answer that can't be recorded is a failure.
func (t *tapedClient) Complete(ctx context.Context, req *Request) (*Answer, error) {
	r, err := t.tape.reply(t.id, jsonscan.Encode(req), t.next == nil, func() (*Reply, error) {
		a, err := t.next.Complete(ctx, req)
		if err != nil {
			return nil, err
		}
		return &Reply{Text: a.Text, Stop: a.Stop, Reason: a.Reason, Input: a.Input, Output: a.Output}, nil
	})
	if err != nil {
		return nil, err
	}
	return &Answer{Text: r.Text, Stop: r.Stop, Reason: r.Reason, Input: r.Input, Output: r.Output}, nil
}

// Converser is next with this tape, as Client is. A recorded reply is told to OnText
// whole. A reply that was told piece by piece is given as it was told, even if another was recorded
// for the same turn meanwhile.
func (t *Tape) Converser(c Config, next Converser) Converser {
	return &tapedConverser{t, identityOf(c), next}
}

type tapedConverser struct {
	tape *Tape
	id   identity
	next Converser
}

// Converse is Converser's. A reply that can't be recorded is a failure.
func (t *tapedConverser) Converse(ctx context.Context, turn *Turn) (*Reply, error) {
	if err := turn.Check(); err != nil {
		return nil, err
	}
	var live *Reply
	r, err := t.tape.reply(t.id, jsonscan.Encode(turn), t.next == nil, func() (*Reply, error) {
		var err error
		live, err = t.next.Converse(ctx, turn)
		return live, err
	})
	switch {
	case err != nil:
		return nil, err
	case turn.OnText == nil:
		return r, ctx.Err()
	case live != nil:
		return live, nil
	case r.Text == "":
		return r, nil
	}
	return r, turn.OnText(r.Text)
}

// Recorded reports whether c is a converser of a Tape that has the reply to a turn, so that no model is
// asked for it.
func Recorded(c Converser, turn *Turn) bool {
	t, ok := c.(*tapedConverser)
	if !ok {
		return false
	}
	l := line{Model: t.id, Request: jsonscan.Encode(turn)}
	if _, known := t.tape.recorded(l.key()); known {
		return true
	}
	return Recorded(t.next, turn)
}

func identityOf(c Config) identity { return identity{c.Model, c.Temperature, c.MaxTokens} }

// reply is the recorded reply to a request, or that of ask, which is then recorded.
func (t *Tape) reply(id identity, request json.RawMessage, replay bool, ask func() (*Reply, error)) (*Reply, error) {
	l := line{Model: id, Request: request}
	l.Key = l.key()
	if r, ok := t.recorded(l.Key); ok {
		return r, nil
	}
	if replay || t.out == nil {
		return nil, t.missing(&l)
	}
	var err error
	if l.Answer, err = ask(); err != nil {
		return nil, err
	}
	return t.record(&l)
}

// missing is the error of a request that has no recorded reply.
func (t *Tape) missing(l *line) error {
	where := ""
	if t.Name != "" {
		where = " in " + t.Name
	}
	return &tool.Error{
		Code: "no-recording", Permanent: true,
		Message: fmt.Sprintf("there is no recorded answer%s to this request of the model %q (%s…); record it anew", where, l.Model.Model, l.Key[:12]),
	}
}

func (t *Tape) recorded(key string) (*Reply, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	r, ok := t.answers[key]
	if !ok {
		return nil, false
	}
	return r.clone(), true
}

// clone is a reply of one's own.
func (r *Reply) clone() *Reply {
	same := *r
	same.Calls = slices.Clone(r.Calls)
	return &same
}

// record writes a line, unless its answer was recorded meanwhile, and returns what is.
func (t *Tape) record(l *line) (*Reply, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if r, ok := t.answers[l.Key]; ok {
		same := r.clone()
		same.Input, same.Output, same.Cached = l.Answer.Input, l.Answer.Output, l.Answer.Cached // what it used up
		return same, nil
	}
	if _, err := t.out.Write(append(jsonscan.Encode(l), '\n')); err != nil {
		return nil, &tool.Error{Code: "not-recorded", Message: fmt.Sprintf("the answer can't be recorded: %v", err), Permanent: true, Err: err}
	}
	t.answers[l.Key] = l.Answer.clone()
	return l.Answer, nil
}
