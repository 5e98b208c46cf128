package loop

import (
	"context"
	"fmt"
	"sync"

	"github.com/plc-lang/plc/tool/model"
)

// Planner is the model that writes solutions. What it is asked holds all that it has to
// know: it remembers nothing. The clients of packages tool/model/openai and
// tool/model/anthropic are planners, and so is a model.Tape.
type Planner interface {
	// Converse may be called by several goroutines at once, since a planner also makes the
	// results of latent calls. It ends soon after ctx is done.
	Converse(ctx context.Context, turn *model.Turn) (*model.Reply, error)
}

// Script is a planner that gives these replies, in order, whatever it is asked; it is for
// tests and demonstrations. After the last one it fails. It may be used by several
// goroutines.
type Script struct {
	Replies []model.Reply
	// Piece is into how many bytes long pieces a reply is cut for model.Turn.OnText; 0 gives it
	// whole.
	Piece int
	// OnTurn is called with each request, before its reply is given; nil is not.
	OnTurn func(turn *model.Turn)

	mu   sync.Mutex
	next int
}

// Say returns a script of replies that are only text.
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

// tell hands a text to onText in pieces of this size; 0 is one piece.
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
