package loop

import (
	"context"
	"fmt"
	"sync"

	"github.com/plc-lang/plc/tool/model"
)

// Planner is the model that writes solutions. Each request holds everything a planner must know, so
// it needs no memory. The clients of packages tool/model/openai and tool/model/anthropic are
// planners, and so is a model.Tape.
type Planner interface {
	// Converse sends a turn to the model and returns its reply. It must be safe for concurrent use,
	// since a planner also makes the results of latent calls, and return soon after ctx is done.
	Converse(ctx context.Context, turn *model.Turn) (*model.Reply, error)
}

// Script is a planner for tests and demonstrations. It returns the given replies in order, whatever
// the requests, and fails after the last one. It is safe for concurrent use.
type Script struct {
	Replies []model.Reply
	// Piece is the size in bytes of the pieces in which model.Turn.OnText gets a reply; 0 means in
	// one piece.
	Piece int
	// OnTurn is called with each request before its reply is returned; it may be nil.
	OnTurn func(turn *model.Turn)

	mu   sync.Mutex
	next int
}

// Say returns a script of text replies.
func Say(texts ...string) *Script {
	s := &Script{}
	for _, t := range texts {
		s.Replies = append(s.Replies, model.Reply{Text: t})
	}
	return s
}

// Converse implements Planner.
func (s *Script) Converse(ctx context.Context, turn *model.Turn) (*model.Reply, error) {
	s.mu.Lock()
	i := s.next
	s.next++
	s.mu.Unlock()
	if s.OnTurn != nil {
		s.OnTurn(turn)
	}
	if i >= len(s.Replies) {
		return nil, fmt.Errorf("loop: the script has %d replies, and was asked for one more", len(s.Replies))
	}
	reply := s.Replies[i]
	if err := tell(ctx, reply.Text, s.Piece, turn.OnText); err != nil {
		return nil, err
	}
	return &reply, nil
}

// tell passes a text to onText in pieces of the given size; 0 means in one piece.
func tell(ctx context.Context, text string, size int, onText func(string) error) error {
	if onText == nil || text == "" {
		return ctx.Err()
	}
	if size <= 0 {
		size = len(text)
	}
	for text != "" {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := min(size, len(text))
		if err := onText(text[:n]); err != nil {
			return err
		}
		text = text[n:]
	}
	return nil
}
