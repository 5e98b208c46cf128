package model_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/model"
)

// converses is a converser that fails so often with one error, and then says one thing.
type converses struct {
	err   error
	fails int
	tells string // before it fails
	asked int
	at    []time.Duration
	began time.Time
	reply model.Reply
}

func (c *converses) Converse(_ context.Context, turn *model.Turn) (*model.Reply, error) {
	if c.asked == 0 {
		c.began = time.Now()
	}
	c.asked++
	c.at = append(c.at, time.Since(c.began))
	if c.asked <= c.fails {
		if c.tells != "" && turn.OnText != nil {
			if err := turn.OnText(c.tells); err != nil {
				return nil, err
			}
		}
		return nil, c.err
	}
	r := c.reply
	if turn.OnText != nil && r.Text != "" {
		if err := turn.OnText(r.Text); err != nil {
			return nil, err
		}
	}
	return &r, nil
}

func TestRetry(t *testing.T) {
	busy := &tool.Error{Code: "http-503"}
	for _, c := range []struct {
		name   string
		next   converses
		tries  int
		stream bool
		asked  int
		code   string // of the failure; "<nil>" is none
		least  time.Duration
		most   time.Duration
	}{
		{"no failure", converses{}, 0, true, 1, "<nil>", 0, 0},
		{"some", converses{err: busy, fails: 4}, 0, false, 5, "<nil>", 0, 7500 * time.Millisecond},
		{"no more than five", converses{err: busy, fails: 5}, 0, false, 5, "http-503", 0, 7500 * time.Millisecond},
		{"no more than said", converses{err: busy, fails: 5}, 2, false, 2, "http-503", 0, 500 * time.Millisecond},
		{"never longer than half a minute", converses{err: busy, fails: 50}, 20, false, 20, "http-503", 0, 20 * 30 * time.Second},
		{"not before the provider says", converses{err: &tool.Error{Code: "http-429", RetryAfter: time.Minute}, fails: 2}, 0, true, 3, "<nil>", 2 * time.Minute, 2 * time.Minute},
		{"not when it says next week", converses{err: &tool.Error{Code: "http-429", RetryAfter: 168 * time.Hour}, fails: 2}, 0, true, 1, "http-429", 0, 0},
		{"not what is permanent", converses{err: &tool.Error{Code: "http-401", Permanent: true}, fails: 2}, 0, true, 1, "http-401", 0, 0},
		{"not what is no failure of a model", converses{err: errors.New("oops"), fails: 2}, 0, true, 1, "oops", 0, 0},
		{"not what has begun", converses{err: busy, fails: 2, tells: "He"}, 0, true, 1, "http-503", 0, 0},
		{"what nobody was told of", converses{err: busy, fails: 1, tells: "He"}, 0, false, 2, "<nil>", 0, 500 * time.Millisecond},
	} {
		synctest.Test(t, func(t *testing.T) {
			_, err := ask(t.Context(), model.Retry(&c.next, c.tries), model.Turn{Messages: hello}, c.stream)
			if code(err) != c.code || c.next.asked != c.asked {
				t.Errorf("%s: asked %d times, %v", c.name, c.next.asked, err)
			}
			if took := c.next.at[len(c.next.at)-1]; took < c.least || took > c.most {
				t.Errorf("%s: took %v, want %v to %v", c.name, took, c.least, c.most)
			}
		})
	}
}

// A wait ends with ctx; one that would not end before is not begun.
func TestRetryEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		busy := &converses{err: &tool.Error{Code: "http-429", RetryAfter: time.Minute}, fails: 9}
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
		defer cancel()
		began := time.Now()
		if _, err := model.Retry(busy, 0).Converse(ctx, &model.Turn{}); code(err) != "http-429" || time.Since(began) > 0 {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		ctx, stop := context.WithCancel(t.Context())
		time.AfterFunc(20*time.Second, stop)
		if _, err := model.Retry(busy, 0).Converse(ctx, &model.Turn{}); code(err) != "cancelled" || time.Since(began) != 20*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		if busy.asked != 2 {
			t.Errorf("asked %d times", busy.asked)
		}
	})
}

// What OnText says no to is not asked again.
func TestRetryGivesUpWithOnText(t *testing.T) {
	enough := &tool.Error{Code: "enough"}
	next := &converses{reply: model.Reply{Text: "hello"}}
	_, err := model.Retry(next, 0).Converse(t.Context(), &model.Turn{OnText: func(string) error { return enough }})
	if !errors.Is(err, enough) || next.asked != 1 {
		t.Errorf("%v, asked %d times", err, next.asked)
	}
}
