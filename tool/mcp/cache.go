package mcp

import (
	"cmp"
	"context"
	"crypto/sha256"
	"slices"
	"sync"
	"time"

	"github.com/plc-lang/plc/internal/jsonscan"
)

// A Cache keeps servers running for several pools: a pool uses a server that an earlier pool has
// started, as long as the server still has the same tools. The zero Cache is ready for use. Its
// methods may be called by several goroutines at once.
type Cache struct {
	mu    sync.Mutex
	kept  map[[sha256.Size]byte]*cached
	all   []*Client
	ended bool
}

// cached is a server that is started once. mu is held while somebody checks whether its tools have
// changed.
type cached struct {
	mu     sync.Mutex
	client *Client
	failed time.Time // when it failed; zero if it has not
}

// Open does what the function Open does, but uses servers that are already running. It asks each of
// these for its tools again; if they have changed, it starts the server again, and older pools keep
// the old one. The pool need not be closed: Cache.Close ends its servers.
func (k *Cache) Open(ctx context.Context, servers []Server, opts *Options) *Pool {
	if opts == nil {
		opts = &Options{}
	}
	return pooled(servers, opts, func(s Server) *Client { return k.client(ctx, s, opts) })
}

// Close ends all servers that pools of the cache have, and waits for that.
func (k *Cache) Close() {
	k.mu.Lock()
	all := k.all
	k.all, k.kept, k.ended = nil, nil, true
	k.mu.Unlock()
	(&Pool{clients: all}).Close()
}

// client returns a client of a server that has listed its tools, or failed to.
func (k *Cache) client(ctx context.Context, s Server, opts *Options) *Client {
	if opts.Offline && opts.Lock.Has(s.Name) {
		return k.start(ctx, s, opts)
	}
	if c := k.unlocked(ctx, &s, opts.Lock); c != nil {
		return c
	}
	key := keyOf(&s, opts.Lock)
	k.mu.Lock()
	if k.kept == nil {
		k.kept = map[[sha256.Size]byte]*cached{}
	}
	one := k.kept[key]
	if one == nil {
		one = &cached{}
		k.kept[key] = one
	}
	k.mu.Unlock()
	one.mu.Lock()
	defer one.mu.Unlock()
	if one.client != nil && (time.Since(one.failed) < opts.TryAgain || one.failed.IsZero() && one.client.asBefore(ctx)) {
		return one.client
	}
	c := k.start(ctx, s, opts)
	one.client, one.failed = c, time.Time{}
	if c.Err() != nil { // it is not running
		one.failed = time.Now()
		k.mu.Lock()
		k.all = slices.DeleteFunc(k.all, func(o *Client) bool { return o == c })
		k.mu.Unlock()
	}
	return c
}

// unlocked returns the client of a running server without a lock whose tools are exactly those of
// l; nil if there is none. With it a resumed run continues with the server that it began with.
func (k *Cache) unlocked(ctx context.Context, s *Server, l *Lock) *Client {
	locked, held := l.server(s.Name)
	if !held {
		return nil
	}
	k.mu.Lock()
	one := k.kept[keyOf(s, nil)]
	k.mu.Unlock()
	if one == nil {
		return nil
	}
	one.mu.Lock()
	defer one.mu.Unlock()
	if c := one.client; c != nil && one.failed.IsZero() && c.asBefore(ctx) && c.hasJust(locked) {
		return c
	}
	return nil
}

// hasJust reports whether a server has listed these definitions and no others.
func (c *Client) hasJust(locked []definition) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, d := range locked {
		if text, ok := c.texts[d.name]; !ok || (definition{text: text}).digest() != d.digest() {
			return false
		}
	}
	return len(locked) == len(c.texts)
}

// start returns a new client, which Close ends.
func (k *Cache) start(ctx context.Context, s Server, opts *Options) *Client {
	c := newClient(s, opts)
	k.mu.Lock()
	ended := k.ended
	k.all = append(k.all, c)
	k.mu.Unlock()
	if ended {
		c.close()
	}
	c.open(ctx)
	return c
}

// keyOf returns a digest that is the same for equal servers with equal locks.
func keyOf(s *Server, l *Lock) [sha256.Size]byte {
	locked, held := l.server(s.Name)
	locked = slices.SortedFunc(slices.Values(locked), func(a, b definition) int { return cmp.Compare(a.name, b.name) })
	var texts []string
	for _, d := range locked {
		texts = append(texts, d.text)
	}
	return sha256.Sum256(jsonscan.Exact([]any{s.Name, s.Command, s.Args, s.Dir, s.Env, s.URL, s.Headers, s.Trust, s.Place, held, texts}))
}

// asBefore asks a server for its tools and reports whether they are the same as before.
func (c *Client) asBefore(ctx context.Context) bool {
	c.mu.Lock()
	before := c.listed
	if c.link != nil {
		c.link.stale.Store(true)
	}
	c.mu.Unlock()
	if _, err := c.connected(ctx); err != nil {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.listed == before
}
