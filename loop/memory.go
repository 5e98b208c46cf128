package loop

import (
	"cmp"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/tool"
)

// memory holds the calls of a loop's runs so that no call is made twice. If a call is listed again,
// with the same tool, params, output path and instance, it gets its earlier result. A call whose
// answer was lost, or whose result was not accepted, is treated like any uncertain call of a run,
// whatever its output path. A call that failed otherwise is made again.
type memory struct {
	mu        sync.Mutex
	now       map[place]*made    // calls of the current run
	known     map[string][]*made // calls of earlier runs, by content and output path
	recounted tool.Usage         // usage of results reused in the current run, which was counted before
	takenOver map[place]bool     // calls whose results the last run reused
	fresh     int                // calls that the last run made for the first time
	done      int                // how many of those returned a result
}

// place identifies a call in a run.
type place struct{ instance, path string }

// made is a call that was started.
type made struct {
	past    exec.Past
	taken   bool // the result comes from another run
	counted bool // counted as an event of a turn
	before  bool // the run's record already had it
}

func newMemory() *memory {
	return &memory{now: map[place]*made{}, known: map[string][]*made{}}
}

// watch processes an event of the current run.
func (m *memory) watch(e *exec.Event) {
	if e.Call == "" {
		return
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	at := place{e.Instance, e.Call}
	if m.now[at] == nil {
		m.now[at] = &made{}
	}
	m.now[at].past.Take(e)
}

// recall processes the recorded past of an instance of the current run.
func (m *memory) recall(instance string, pasts map[string]*exec.Past) {
	m.mu.Lock()
	defer m.mu.Unlock()
	keys := map[string]bool{}
	for path, past := range pasts {
		m.now[place{instance, path}] = &made{past: *past, before: true}
		keys[past.Key] = past.Key != ""
	}
	m.forget(keys)
}

// forget removes calls with these idempotency keys, since they belong to the current run. The
// caller holds mu.
func (m *memory) forget(keys map[string]bool) {
	if len(keys) == 0 {
		return
	}
	for key, list := range m.known {
		m.known[key] = slices.DeleteFunc(list, func(made *made) bool { return keys[made.past.Key] })
	}
}

// take returns what is known of a call: see exec.Options.Known.
func (m *memory) take(c *compile.Call, instance, path, content string) *exec.Past {
	m.mu.Lock()
	defer m.mu.Unlock()
	key := keyOf(instance, content, pathOf(c))
	if strings.Contains(path, "/") {
		if key = m.keyBelow(place{instance, path}, content); key == "" {
			return nil
		}
	}
	list := m.listed(&key, instance, content)
	if len(list) == 0 {
		return nil
	}
	m.known[key] = list[1:]
	past := list[0].past
	m.recounted = m.recounted.Plus(past.Usage)
	taken := &made{past: past, taken: true, counted: list[0].counted}
	m.now[place{instance, path}] = taken
	return &past
}

// listed returns the calls that are known by a key. If there are none, it returns those of the
// instance and content that may have done their work, and sets the key to theirs. The caller holds
// mu.
func (m *memory) listed(key *string, instance, content string) []*made {
	if len(m.known[*key]) == 0 {
		*key = keyOf(instance, content, anyPath)
	}
	return m.known[*key]
}

// anyPath is the output path in the key of a call that may have done its work.
const anyPath = "*"

// keyBelow returns the key of a call made by a delegate, or "". A recorded call only matches below
// a delegate with the same content. The caller holds mu.
func (m *memory) keyBelow(at place, content string) string {
	first, rest, _ := strings.Cut(at.path, "/")
	top := m.now[place{at.instance, number.ReplaceAllString(first, "")}]
	if top == nil || top.past.Content == "" {
		return ""
	}
	return string(jsonscan.Encode([]string{at.instance, content, top.past.Content, number.ReplaceAllString(rest, "")}))
}

// number matches the indices of items and the attempts of delegates in a call's path.
var number = regexp.MustCompile(`\[\d+\]|#\d+`)

// keepBelow keeps the outcomes of calls below unfinished delegates. If such a delegate is listed
// again, it runs again but its calls don't. The caller holds mu.
func (m *memory) keepBelow() {
	for _, at := range slices.SortedFunc(maps.Keys(m.now), place.compare) {
		made := m.now[at]
		first, _, below := strings.Cut(at.path, "/")
		top := m.now[place{at.instance, number.ReplaceAllString(first, "")}]
		if !below || made.past.Content == "" || top == nil || top.past.Settled == exec.Completed || !made.keep() {
			continue
		}
		if key := m.keyBelow(at, made.past.Content); key != "" {
			made.taken, made.past.Applied = false, false
			m.known[key] = append(m.known[key], made)
		}
	}
}

// end stores the calls of a finished run. kept says that the run's whiteboard is passed on to the
// next run. Known calls that the run didn't reach stay known. end returns the usage of the reused
// calls, which the run counted a second time.
func (m *memory) end(prog *compile.Program, kept bool) (again tool.Usage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	calls := map[string]*compile.Call{}
	for i := range prog.Calls {
		calls[exec.PathOf(prog.Calls[i].ID)] = &prog.Calls[i]
	}
	m.fresh, m.done, m.takenOver = 0, 0, map[place]bool{}
	m.keepBelow()
	for _, at := range slices.SortedFunc(maps.Keys(m.now), place.compare) {
		made, c := m.now[at], calls[at.path]
		if c != nil && made.before && made.past.Attempts == 0 {
			m.retake(made, at.instance, pathOf(c))
		}
		if made.taken {
			m.takenOver[at] = true
		}
		if c != nil && kept && !made.counted && (made.past.Attempts > 0 || made.past.Returned != nil) {
			made.counted = true
			m.fresh++
			if r := made.past.Returned; r != nil && r.Failure == nil {
				m.done++
			}
		}
		if c == nil || made.past.Content == "" || !made.keep() {
			continue // a call below a delegate: see keepBelow
		}
		if (made.past.Lost || made.past.Returned.Done) && !hold(c) {
			continue // it changes nothing, so it can simply be made again
		}
		made.past.Applied = made.past.Applied || kept && made.past.Settled == exec.Completed
		made.taken = false
		path := pathOf(c)
		if made.past.Lost || made.past.Returned.Done {
			path = anyPath
		}
		key := keyOf(at.instance, made.past.Content, path)
		m.known[key] = append(m.known[key], made)
	}
	m.now = map[place]*made{}
	again, m.recounted = m.recounted, tool.Usage{}
	return again
}

// retake reuses a result again that an interrupted run had already reused. The record of that run
// has the result, but doesn't say that the call was made. The caller holds mu.
func (m *memory) retake(now *made, instance, path string) {
	key := keyOf(instance, now.past.Content, path)
	list := m.listed(&key, instance, now.past.Content)
	if now.past.Returned == nil || len(list) == 0 {
		return
	}
	m.known[key] = list[1:]
	m.recounted = m.recounted.Plus(now.past.Usage)
	now.taken, now.counted = true, list[0].counted
	was := &list[0].past
	now.past.Key, now.past.Attempts, now.past.Fallback, now.past.Instead = was.Key, was.Attempts, was.Fallback, was.Instead
}

// wasTaken reports whether the last run reused the result of a call.
func (m *memory) wasTaken(instance, id string) bool {
	return m.takenOver[place{instance, exec.PathOf(id)}]
}

// keep reports whether a call must not simply be made again.
func (m *made) keep() bool {
	r := m.past.Returned
	switch {
	case r == nil:
		return m.past.Lost
	case r.Failure == nil:
		return !r.Skipped
	case r.Lost: // the tool and the run's policy decide whether it is made again
		m.past.Returned, m.past.Lost = nil, true
		return true
	}
	return r.Done
}

// pathOf returns the output path of a call as its plan spells it.
func pathOf(c *compile.Call) string {
	if c.Source == nil {
		return ""
	}
	return c.Source.OutputNode.Str()
}

func keyOf(instance, content, path string) string {
	return string(jsonscan.Encode([]string{instance, content, path}))
}

func (a place) compare(b place) int {
	return cmp.Or(cmp.Compare(a.instance, b.instance), cmp.Compare(a.path, b.path))
}
