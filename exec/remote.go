package exec

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/tool"
)

// This file encodes attempts and their results, for engines that make the attempts of a Stepper in
// other processes. As in a History, values are strings, so that nothing on the way re-encodes them.

// attemptVersion is the version of the JSON of attempts, parts and their results.
const attemptVersion = 1

// storedAttempt holds what a process that has the same program can't know about an attempt.
type storedAttempt struct {
	Version    int           `json:"version"`
	ID         string        `json:"id"`
	Run        string        `json:"run"`
	Path       string        `json:"path"`
	Instance   string        `json:"instance,omitempty"`
	Fallback   bool          `json:"fallback,omitempty"`
	Timeout    time.Duration `json:"timeout"`
	Repeatable bool          `json:"repeatable,omitempty"`
	Params     *string       `json:"params"`
	Scopes     *string       `json:"scopes,omitempty"`
	Attempt    int           `json:"attempt"`
	Key        string        `json:"key"`
	Seed       uint64        `json:"seed"`
}

// MarshalJSON writes the attempt without what the program has. ReadAttempt reads it.
func (a *Attempt) MarshalJSON() ([]byte, error) {
	r := a.Request
	return json.Marshal(storedAttempt{
		Version: attemptVersion, ID: a.ID, Run: r.Run, Path: a.Path, Instance: a.Instance, Fallback: a.Fallback, Timeout: a.Timeout, Repeatable: a.Repeatable,
		Params: textOf(r.Params), Scopes: textOf(r.Scopes), Attempt: r.Attempt, Key: r.Key, Seed: r.Seed,
	})
}

// ReadAttempt reads an attempt from its JSON. The program must be the one of the Stepper, or one
// that was compiled from the same texts; the attempt calls its activities.
func ReadAttempt(prog *compile.Program, text []byte) (*Attempt, error) {
	var s storedAttempt
	if err := json.Unmarshal(text, &s); err != nil {
		return nil, fmt.Errorf("exec: the attempt can't be read: %w", err)
	}
	if err := readable("attempt", s.Version); err != nil {
		return nil, err
	}
	c, ok := CallAt(prog, s.Path)
	if !ok {
		return nil, fmt.Errorf("exec: the program has no call %q", s.Path)
	}
	t := c.Target
	if s.Fallback {
		if c.Rare == nil || c.Fallback == nil {
			return nil, fmt.Errorf("exec: the call %q has no fallback", s.Path)
		}
		t = c.Fallback.Target
	}
	return &Attempt{
		ID: s.ID, Path: s.Path, Instance: s.Instance, Call: c, Fallback: s.Fallback, Timeout: s.Timeout, Repeatable: s.Repeatable,
		Request: &tool.Request{
			Run: s.Run, Call: c.ID, Tool: t.Tool.Definition.Name, Definition: t.Definitions[0], Brief: brief(c),
			Params: valueOf(s.Params), Scopes: valueOf(s.Scopes), Attempt: s.Attempt, Key: s.Key, Seed: s.Seed,
		},
	}, nil
}

// readable returns an error if this program does not read JSON of this version. what names the JSON
// in the error.
func readable(what string, version int) error {
	if version < 1 || version > attemptVersion {
		return fmt.Errorf("exec: the %s has version %d, and this program reads versions up to %d; use a newer one", what, version, attemptVersion)
	}
	return nil
}

// CallAt returns the call of a program, or of a document that it delegates to, at a path of an
// event (see Event).
func CallAt(prog *compile.Program, path string) (*compile.Call, bool) {
	for {
		step, rest, more := strings.Cut(path, "/")
		if more { // the item and the attempt don't matter
			if end := strings.IndexAny(step, "#["); end >= 0 {
				step = step[:end]
			}
		}
		c, ok := prog.Call(CallID(step))
		switch {
		case !ok || !more:
			return c, ok
		case !c.Delegates() || c.Delegate.Program == nil:
			return nil, false
		}
		prog, path = c.Delegate.Program, rest
	}
}

// Made holds what Attempt.Make returned, for Stepper.Answer. Its JSON keeps what decides how the
// run goes on after an error.
type Made struct {
	Result tool.Result
	Err    error
}

type storedMade struct {
	Version int          `json:"version"`
	Value   *string      `json:"value,omitempty"`
	Outcome string       `json:"outcome,omitempty"`
	Usage   tool.Usage   `json:"usage,omitzero"`
	Cached  bool         `json:"cached,omitempty"`
	Error   *storedError `json:"error,omitempty"`
}

type storedError struct {
	Code       string        `json:"code"`
	Message    string        `json:"message"`
	Permanent  bool          `json:"permanent,omitempty"`
	Uncertain  bool          `json:"uncertain,omitempty"`
	RetryAfter time.Duration `json:"retryAfter,omitempty"`
}

// MarshalJSON writes the result of an attempt in the newest version.
func (m Made) MarshalJSON() ([]byte, error) {
	r := &m.Result
	s := storedMade{Version: attemptVersion, Value: textOf(r.Value), Outcome: r.Outcome, Usage: r.Usage, Cached: r.Cached}
	if m.Err != nil {
		f := failureOf(m.Err, "error")
		s.Error = &storedError{Code: f.Code, Message: f.Message}
		if te, ok := errors.AsType[*tool.Error](m.Err); ok {
			s.Error.Permanent, s.Error.Uncertain, s.Error.RetryAfter = te.Permanent, te.Uncertain, te.RetryAfter
		}
	}
	return json.Marshal(s)
}

// UnmarshalJSON reads the result of an attempt, in any version that there has been.
func (m *Made) UnmarshalJSON(text []byte) error {
	var s storedMade
	if err := json.Unmarshal(text, &s); err != nil {
		return fmt.Errorf("exec: the result of the attempt can't be read: %w", err)
	}
	if err := readable("answer", s.Version); err != nil {
		return err
	}
	*m = Made{Result: tool.Result{Value: valueOf(s.Value), Outcome: s.Outcome, Usage: s.Usage, Cached: s.Cached}}
	if e := s.Error; e != nil {
		m.Err = &tool.Error{Code: e.Code, Message: e.Message, Permanent: e.Permanent, Uncertain: e.Uncertain, RetryAfter: e.RetryAfter}
	}
	return nil
}
