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

// memory holds the calls that the runs of a loop made, so that none is made twice: a call that is
// listed again, of the same tool with the same params, output path and instance, has the result
// that it gave. One whose answer was lost, or whose result was not accepted, goes on as the run
// does with uncertain calls, whatever its output path; one that failed otherwise is made again.
type memory struct {
	mu    sync.Mutex
	now   map[place]*made    // of the run that goes on
	known map[string][]*made // of those before, by content and output path
	again tool.Usage         // of what was taken over in the run that goes on, which was counted before
	took  map[place]bool     // what the last run took over
	fresh int                // calls that the last run was the first to make
	done  int                // of them, those that gave a result
}

// place is where a call is in a run.
type place struct{ instance, path string }

// made is a call that was made.
type made struct {
	past    exec.Past
	taken   bool // from another run
	counted bool // as what has happened in a turn
	before  bool // the record of the run knew it
}

func newMemory() *memory {
	return &memory{now: map[place]*made{}, known: map[string][]*made{}}
}

// watch takes an event of the run that goes on.
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

// recall takes what the record of the run that goes on knows of an instance.
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

// forget forgets calls by their idempotency keys: they are of the run that goes on. The caller
// holds mu.
func (m *memory) forget(keys map[string]bool) {
	if len(keys) == 0 {
		return
	}
	for key, list := range m.known {
		m.known[key] = slices.DeleteFunc(list, func(made *made) bool { return keys[made.past.Key] })
	}
}

// take gives what is known of a call: see exec.Options.Known.
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
	m.again = m.again.Plus(past.Usage)
	taken := &made{past: past, taken: true, counted: list[0].counted}
	m.now[place{instance, path}] = taken
	return &past
}

// listed returns the calls that are known by a key or, if there are none, those of the instance and
// content that may have done their work, whose key it then sets. The caller holds mu.
func (m *memory) listed(key *string, instance, content string) []*made {
	if len(m.known[*key]) == 0 {
		*key = keyOf(instance, content, anyPath)
	}
	return m.known[*key]
}

// anyPath is the output path in the key of a call that may have done its work.
const anyPath = "*"

// keyBelow returns the key of a call that a delegate leads to: it is that call only below one
// of the same content. "" is none. The caller holds mu.
func (m *memory) keyBelow(at place, content string) string {
	first, rest, _ := strings.Cut(at.path, "/")
	top := m.now[place{at.instance, number.ReplaceAllString(first, "")}]
	if top == nil || top.past.Content == "" {
		return ""
	}
	return string(jsonscan.Encode([]string{at.instance, content, top.past.Content, number.ReplaceAllString(rest, "")}))
}

// number matches the indices of items and attempts of delegates in the path of a call.
var number = regexp.MustCompile(`\[\d+\]|#\d+`)

// keepBelow keeps the outcome of the calls that delegates lead to which have not come to their end:
// these are made again when they are listed again, and their calls are not. The caller holds mu.
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

// end keeps what a run did, which has ended; kept says that its whiteboard is that of the next
// one. Calls that it did not come to stay known. It returns what was used up by calls that it
// took over, which is counted in the run, and was before.
func (m *memory) end(prog *compile.Program, kept bool) (again tool.Usage) {
	m.mu.Lock()
	defer m.mu.Unlock()
	calls := map[string]*compile.Call{}
	for i := range prog.Calls {
		calls[exec.PathOf(prog.Calls[i].ID)] = &prog.Calls[i]
	}
	m.fresh, m.done, m.took = 0, 0, map[place]bool{}
	m.keepBelow()
	for _, at := range slices.SortedFunc(maps.Keys(m.now), place.compare) {
		made, c := m.now[at], calls[at.path]
		if c != nil && made.before && made.past.Attempts == 0 {
			m.retake(made, at.instance, pathOf(c))
		}
		if made.taken {
			m.took[at] = true
		}
		if c != nil && kept && !made.counted && (made.past.Attempts > 0 || made.past.Returned != nil) {
			made.counted = true
			m.fresh++
			if r := made.past.Returned; r != nil && r.Failure == nil {
				m.done++
			}
		}
		if c == nil || made.past.Content == "" || !made.keep() {
			continue // of one that a delegate leads to see keepBelow
		}
		if (made.past.Lost || made.past.Returned.Done) && !hold(c) {
			continue // it changes nothing: it is made as if it had never been
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
	again, m.again = m.again, tool.Usage{}
	return again
}

// retake takes a call over again that a run had taken over when it was cut off: its record says
// what it gave, and not that it was made. The caller holds mu.
func (m *memory) retake(now *made, instance, path string) {
	key := keyOf(instance, now.past.Content, path)
	list := m.listed(&key, instance, now.past.Content)
	if now.past.Returned == nil || len(list) == 0 {
		return
	}
	m.known[key] = list[1:]
	m.again = m.again.Plus(now.past.Usage)
	now.taken, now.counted = true, list[0].counted
	was := &list[0].past
	now.past.Key, now.past.Attempts, now.past.Fallback, now.past.Instead = was.Key, was.Attempts, was.Fallback, was.Instead
}

// wasTaken reports whether the last run took a call over.
func (m *memory) wasTaken(instance, id string) bool { return m.took[place{instance, exec.PathOf(id)}] }

// keep reports whether a call is not to be made again as if it had never been.
func (m *made) keep() bool {
	r := m.past.Returned
	switch {
	case r == nil:
		return m.past.Lost
	case r.Failure == nil:
		return !r.Skipped
	case r.Lost: // whether it is made again depends on its tool and on what the run does with such calls
		m.past.Returned, m.past.Lost = nil, true
		return true
	}
	return r.Done
}

// pathOf returns where the result of a call goes, as its plan spells it.
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
