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

// Cache keeps the plans of tasks that were solved. Its methods may be called by several
// goroutines. What it gives is checked like any answer of a planner; it must come from
// whom one would take a plan.
type Cache interface {
	// Get is the solution under a key; nil is none.
	Get(key string) json.RawMessage
	Put(key string, solution json.RawMessage)
}

// Memory is a Cache in memory, of the last 1,000 plans. The zero value is empty.
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

// alike returns the key of a task: those with the same goal, the same schema of a solution
// (tools and output) and the same members of the input, whatever their values, are alike.
func (s *solver) alike() string {
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

// lookUp returns the solution that the cache has for a task like this; nil is none.
func (s *solver) lookUp() json.RawMessage {
	if s.Loop.Cache == nil {
		return nil
	}
	s.key = s.alike()
	return s.Loop.Cache.Get(s.key)
}

// next returns the next answer: that of the cache, once, else the planner's.
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

// remember keeps the plan of a task that was solved in one turn, in which nothing failed and the
// planner made no result itself: it is good for other values too.
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
