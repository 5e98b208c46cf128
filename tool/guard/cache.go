package guard

import (
	"container/list"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/tool"
)

// maxCached is the maximum size of a cache, in bytes of params and results.
const maxCached = 64 << 20

// Cache remembers results for the time keep, by the tool, its params (in any order), the scopes of
// the call and its description for a model. It keeps only results of tools that are declared pure
// or read-only. When there are more than 64 MiB, it drops the least recently used results. A result
// from the cache has used no tokens and no cost. Errors are not kept, and if two equal calls are
// made at the same time, both are made.
func Cache(keep time.Duration) tool.Middleware {
	return func(next tool.Activity) tool.Activity {
		return &cache{next: next, keep: keep, known: map[string]*list.Element{}, order: list.New()}
	}
}

// Memory keeps results outside the process. It is used by several goroutines at once, and does not
// look at what it keeps. It reports no errors: what it can't keep is lost.
type Memory interface {
	// Recall returns the value that was kept under a key, if it is not too old.
	Recall(key []byte) (value []byte, outcome string, ok bool)
	// Keep keeps a result for the time keep. The caller must not change the arguments afterwards.
	Keep(key, value []byte, outcome string, keep time.Duration)
}

// CacheIn does what Cache does, with a memory that outlives the process. who identifies the
// activity: it has to contain everything that decides the result of a call, besides the definition
// of the tool. The key in the memory is a digest (SHA-256) of who, the definition, the params, the
// scopes and the description for a model.
func CacheIn(m Memory, who []byte, keep time.Duration) tool.Middleware {
	return func(next tool.Activity) tool.Activity {
		return tool.ActivityFunc(func(ctx context.Context, req *tool.Request) (tool.Result, error) {
			if !remembers(req) {
				return next.Call(ctx, req)
			}
			key := digest(who, []byte(req.Definition.Raw), []byte(keyOf(req)))
			if value, outcome, ok := m.Recall(key); ok {
				return tool.Result{Value: value, Outcome: outcome, Cached: true}, nil
			}
			result, err := next.Call(ctx, req)
			if err == nil {
				m.Keep(key, slices.Clone(result.Value), result.Outcome, keep)
			}
			return result, err
		})
	}
}

// digest returns the digest of several texts.
func digest(parts ...[]byte) []byte {
	h := sha256.New()
	for _, part := range parts {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		h.Write(part)
	}
	return h.Sum(nil)
}

// remembers reports whether a call may be answered from memory.
func remembers(req *tool.Request) bool {
	return req.Definition != nil && (req.Definition.Effects.Pure == tool.Yes || req.Definition.Effects.ReadOnly == tool.Yes)
}

// cache is an activity with a memory in this process.
type cache struct {
	next tool.Activity
	keep time.Duration

	mu    sync.Mutex
	known map[string]*list.Element
	order *list.List // of *remembered, the last used first
	size  int
}

// remembered is a result.
type remembered struct {
	key    string
	result tool.Result
	until  time.Time
}

func (r *remembered) size() int { return len(r.key) + len(r.result.Value) }

// Call returns a remembered result, or calls the activity.
func (c *cache) Call(ctx context.Context, req *tool.Request) (tool.Result, error) {
	if !remembers(req) {
		return c.next.Call(ctx, req)
	}
	key := keyOf(req)
	if result, ok := c.lookup(key); ok {
		return result, nil
	}
	result, err := c.next.Call(ctx, req)
	if err == nil {
		c.remember(key, result)
	}
	return result, err
}

// keyOf returns a key that is the same for equal calls.
func keyOf(req *tool.Request) string {
	key := append([]byte(req.Tool), 0)
	for _, part := range [][]byte{req.Params, req.Scopes} {
		if len(part) > 0 {
			key = jsonscan.Canonical(key, part)
		}
		key = append(key, 0)
	}
	return string(append(key, briefing(req.Brief)...))
}

// briefing returns the description of a call for a model, without its params, as one text.
func briefing(b *tool.Brief) []byte {
	if b == nil {
		return nil
	}
	parts := []string{b.Description, ""}
	if b.Expect != nil {
		parts[1] = string(b.Expect.Text())
	}
	for _, o := range b.Outcomes {
		schema := ""
		if o.Schema != nil {
			schema = string(o.Schema.Text())
		}
		parts = append(parts, o.Name, schema)
	}
	text, _ := json.Marshal(parts) // texts can always be encoded
	return text
}

func (c *cache) lookup(key string) (tool.Result, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e, ok := c.known[key]
	if !ok {
		return tool.Result{}, false
	}
	r := e.Value.(*remembered)
	if !time.Now().Before(r.until) {
		c.drop(e)
		return tool.Result{}, false
	}
	c.order.MoveToFront(e)
	return r.result, true
}

func (c *cache) remember(key string, result tool.Result) {
	result.Value, result.Usage = slices.Clone(result.Value), tool.Usage{}
	result.Cached = true
	r := &remembered{key, result, time.Now().Add(c.keep)}
	if r.size() > maxCached {
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if e, ok := c.known[key]; ok {
		c.drop(e)
	}
	c.known[key] = c.order.PushFront(r)
	for c.size += r.size(); c.size > maxCached; {
		c.drop(c.order.Back())
	}
}

func (c *cache) drop(e *list.Element) {
	r := c.order.Remove(e).(*remembered)
	delete(c.known, r.key)
	c.size -= r.size()
}
