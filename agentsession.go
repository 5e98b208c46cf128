package plc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/plc-lang/plc/journal"
)

// An AgentSession describes the session of an agent that plans, such as a connection of an MCP
// client. The store keeps it next to its runs, which have its id as the value of their label
// SessionLabel.
type AgentSession struct {
	ID     string    `json:"session"`
	By     string    `json:"by,omitempty"`     // the owner of the agent's token
	Role   string    `json:"role,omitempty"`   // the role that limits what it may use
	Client string    `json:"client,omitempty"` // the name that the agent's program gives itself
	Began  time.Time `json:"began"`
}

const (
	// SessionLabel is the label of a run whose value is the id of the session in which it was
	// begun.
	SessionLabel = "session"

	// sessionRecord is the prefix of the names of records of sessions, which are kept among the
	// loops.
	sessionRecord = "session-"

	// webhookRecord is the prefix of the names of records of webhooks, which are kept among the
	// loops.
	webhookRecord = "webhook-"
)

// WebhookRecord returns the name of the record of what was sent to a webhook: see
// journal.Store.CreateLoop.
func WebhookRecord(hook string) string { return webhookRecord + hook }

// BeginSession makes the record of a session.
func (e *Engine) BeginSession(ctx context.Context, s *AgentSession) error {
	store, err := e.records()
	if err != nil {
		return err
	}
	held, err := store.CreateLoop(ctx, sessionRecord+s.ID, encoded(s))
	if err != nil {
		return err
	}
	return held.Close()
}

// NoteSession adds an entry to the record of a session. It is durable when NoteSession returns nil.
func (e *Engine) NoteSession(ctx context.Context, session string, entry json.RawMessage) error {
	return e.withSession(ctx, session, func(held journal.Loop) error { return held.Append(ctx, entry) })
}

// SessionEntries returns a session with the entries of its record, in order.
func (e *Engine) SessionEntries(ctx context.Context, session string) (s *AgentSession, entries []json.RawMessage, err error) {
	err = e.withSession(ctx, session, func(held journal.Loop) error {
		s = &AgentSession{}
		if err := json.Unmarshal(held.Given(), s); err != nil {
			return fmt.Errorf("the record of the session %q is broken: %w", session, err)
		}
		entries, err = held.Entries(ctx)
		return err
	})
	return s, entries, err
}

// Sessions returns the ids of the sessions of the record, the newest first.
func (e *Engine) Sessions(ctx context.Context) ([]string, error) {
	store, err := e.records()
	if err != nil {
		return nil, err
	}
	all, err := store.Loops(ctx)
	var ids []string
	for _, name := range all {
		if id, ok := strings.CutPrefix(name, sessionRecord); ok {
			ids = append(ids, id)
		}
	}
	return ids, err
}

// withSession holds the record of a session while it calls use. It waits if another process holds
// the record, which takes only moments.
func (e *Engine) withSession(ctx context.Context, session string, use func(journal.Loop) error) error {
	store, err := e.records()
	if err != nil {
		return err
	}
	for {
		held, err := store.ResumeLoop(ctx, sessionRecord+session)
		var by *journal.HeldError
		var missing *journal.MissingError
		switch {
		case err == nil:
			return errors.Join(use(held), held.Close())
		case errors.As(err, &missing):
			return fmt.Errorf("the record has no session %q", session)
		case !errors.As(err, &by):
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(5 * time.Millisecond):
		}
	}
}
