package loop

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"sync"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/tool/model"
)

// Cache keeps the plans of solved tasks. It must be safe for concurrent use. The loop checks a
// cached plan like any answer of a planner, but the cache must be as trustworthy as a planner.
type Cache interface {
	// Get returns the solution stored for a key, or nil.
	Get(key string) json.RawMessage
	Put(key string, solution json.RawMessage)
}

// Memory is a Cache in memory that keeps the last 1,000 plans. The zero value is an empty Memory.
type Memory struct {
	mu    sync.Mutex
	plans map[string]json.RawMessage
	order []string
}

// maxCached is the maximum number of plans that a Memory keeps.
const maxCached = 1000

// Get implements Cache.
func (m *Memory) Get(key string) json.RawMessage {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.plans[key]
}

// Put implements Cache.
func (m *Memory) Put(key string, solution json.RawMessage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.plans == nil {
		m.plans = map[string]json.RawMessage{}
	}
	if _, ok := m.plans[key]; !ok {
		m.order = append(m.order, key)
	}
	m.plans[key] = solution
	if len(m.order) > maxCached {
		delete(m.plans, m.order[0])
		m.order = slices.Delete(m.order, 0, 1)
	}
}

// cacheKey returns the cache key of a task. Tasks have the same key if their goal, the schema of
// their solution (tools and output) and the names of their input's members are the same, whatever
// the values.
func (s *solver) cacheKey() string {
	h := sha256.New()
	put := func(v any) { h.Write(append(jsonscan.Encode(v), '\n')) }
	put(s.Task.Goal)
	put(s.schema)
	for _, b := range s.board.blocks {
		put(b.kind)
		put(b.instance)
		for _, name := range sortedKeys(members(gjson.ParseBytes(b.value))) {
			put(name)
		}
	}
	return hex.EncodeToString(h.Sum(nil))
}

// lookUp returns the cached solution for the task, or nil.
func (s *solver) lookUp() json.RawMessage {
	if s.Loop.Cache == nil {
		return nil
	}
	s.key = s.cacheKey()
	return s.Loop.Cache.Get(s.key)
}

// next returns the next answer: first the cached one if there is one, then the planner's.
func (s *solver) next(ctx context.Context, turn *model.Turn, a *attempt) (*model.Reply, error) {
	if s.cached == nil {
		return s.ask(ctx, turn, a)
	}
	reply := &model.Reply{Text: string(s.cached)}
	s.cached = nil
	s.Emit(Event{Type: Warned, Text: "the plan is that of a task like this one"})
	s.Emit(Event{Type: Replied, Reply: reply})
	return reply, nil
}

// remember caches the plan if it solved the task in one turn, nothing failed, and the planner made
// no result itself. Such a plan works for other values too.
func (s *solver) remember(r *exec.Result) {
	if s.Loop.Cache == nil || s.result.Turns != 1 || r.Status != exec.Completed || len(s.errors) > 0 {
		return
	}
	for _, c := range gjson.GetBytes(s.solved, "calls").Array() {
		if c.Get("_output").Exists() {
			return
		}
	}
	s.Loop.Cache.Put(s.key, s.solved)
}
