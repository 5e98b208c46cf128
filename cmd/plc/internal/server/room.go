package server

import (
	"context"
	"sync"
)

// room bounds how many requests compile plans at once, since each may take much memory. One caller
// may have all places but one, so that a single caller can't lock out all others.
type room struct {
	all chan struct{}

	mu sync.Mutex
	of map[string]*share // by caller
}

// share holds the places of one caller.
type share struct {
	places chan struct{}
	users  int // requests that have a place or wait for one; the share is dropped with the last
}

// newRoom returns a room in which one caller has n places.
func newRoom(n int) *room { return &room{all: make(chan struct{}, n+1), of: map[string]*share{}} }

// enter waits for a place. leave gives the place back. The error is that of ctx.
func (m *room) enter(ctx context.Context, caller string) (leave func(), err error) {
	own := m.join(caller)
	held := 0
	leave = func() {
		if held > 1 {
			<-m.all
		}
		if held > 0 {
			<-own.places
		}
		m.drop(caller, own)
	}
	for _, places := range []chan struct{}{own.places, m.all} {
		select {
		case places <- struct{}{}:
			held++
		case <-ctx.Done():
			leave()
			return nil, ctx.Err()
		}
	}
	return leave, nil
}

func (m *room) join(caller string) *share {
	m.mu.Lock()
	defer m.mu.Unlock()
	own := m.of[caller]
	if own == nil {
		own = &share{places: make(chan struct{}, cap(m.all)-1)}
		m.of[caller] = own
	}
	own.users++
	return own
}

func (m *room) drop(caller string, own *share) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if own.users--; own.users == 0 {
		delete(m.of, caller)
	}
}
