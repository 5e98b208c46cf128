package state

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// What these tests assert is counted, not timed: nodes, members, appends and
// bytes that reads and writes looked at.

// workOf is what f adds to the work of w.
func workOf(w *Whiteboard, f func()) int64 {
	before := w.work.Load()
	f()
	return w.work.Load() - before
}

func writeAll(t testing.TB, w *Whiteboard, ps []Path, n int) {
	for i := range n {
		write(t, w, Place(i+1), ps[i%len(ps)], Set, `{"a":1}`)
	}
}

// A write costs the same on a large whiteboard as on a small one.
func TestWorkOfWrites(t *testing.T) {
	work := func(paths, writes int) int64 {
		w := blank(t)
		ps := deepPaths(paths)
		return workOf(w, func() { writeAll(t, w, ps, writes) })
	}
	small := work(1_000, 1_000)
	if large := work(20_000, 20_000); large > 21*small {
		t.Errorf("20,000 writes: %d steps, 1,000: %d", large, small)
	}
	if large := work(20_000, 200_000); large > 210*small {
		t.Errorf("200,000 writes over 20,000 paths: %d steps, 1,000: %d", large, small)
	}
}

// A read of one path costs the same whatever else was written, before or after.
func TestWorkOfReads(t *testing.T) {
	const n = 100_000
	w := initial(t, `{"b0":{"all":{"old":1}}}`)
	writeAll(t, w, deepPaths(n), n)
	write(t, w, n+1, at("state", "b0", "all"), Set, `{"x":1}`)
	write(t, w, n+2, at("state", "b0", "all", "y"), Set, `2`)
	write(t, w, n+3, at("state"), Set, `{"z":1}`)
	for _, tt := range []struct {
		path   Path
		before Place
		want   string
	}{
		{at("state", "b500", "all", "n50000"), n + 2, `{"a":1}`},
		{at("state", "b0", "all", "old"), n, `1`},
		{at("state", "b0", "all"), n + 3, `{"x":1,"y":2}`}, // and nothing that these two hide
		{at("state"), 1, `{"b0":{"all":{"old":1}}}`},       // and nothing that came later
		{at("state"), 2, `{"b0":{"all":{"old":1,"n0":{"a":1}}}}`},
		{at("state"), End, `{"z":1}`},
	} {
		steps := workOf(w, func() { want(t, w, tt.path, 0, tt.before, tt.want) })
		if steps > 25 {
			t.Errorf("%s before %d: %d steps", tt.path, tt.before, steps)
		}
	}
}

// One small member of a large value costs its size, but for the first look.
func TestWorkOfDeepReads(t *testing.T) {
	value := string(large(4 << 20))
	w := initial(t, value)
	deep := []Path{at("state", "records", 9000, "name"), at("state", "byName", "last", "id"), at("state", "byName", "nobody")}
	read := func() {
		for _, p := range deep {
			w.Read(p, 0, End)
		}
	}
	read()
	if steps := workOf(w, read); steps > 60 {
		t.Errorf("%d steps", steps)
	}
	write(t, w, 1, at("state", "records", 9000, "name"), Set, `"new"`)
	write(t, w, 2, at("state", "records"), Push, `"last"`)
	if steps := workOf(w, func() { want(t, w, deep[0], 0, End, `"new"`) }); steps > 20 {
		t.Errorf("%d steps after writes", steps)
	}
	want(t, w, at("state", "records", -1), 0, End, `"last"`)
	want(t, w, at("state", "byName", "record 1", "score"), 0, End, `1.5`)
	want(t, w, deep[1], 0, End, `-1`)
}

// Every member and element of a large value is found by its table.
func TestTables(t *testing.T) {
	const n = 2000
	var object, list strings.Builder
	for i := range n {
		fmt.Fprintf(&object, `,"k\u00e9 \"%d":{"i":[%d]}`, i, i)
		fmt.Fprintf(&list, `,["%d,]}",%d]`, i, i)
	}
	w := initial(t, `{"o":{`+object.String()[1:]+`},"l":[`+list.String()[1:]+`]}`)
	for i := range n {
		want(t, w, at("state", "o", fmt.Sprintf("ké \"%d", i), "i", 0), 0, End, fmt.Sprint(i))
		want(t, w, at("state", "l", i, 1), 0, End, fmt.Sprint(i))
		want(t, w, at("state", "l", i-n, 1), 0, End, fmt.Sprint(i))
	}
	want(t, w, at("state", "l", n), 0, End, ``)
	want(t, w, at("state", "o", "x"), 0, End, ``)
}

// Pushes are linear together, and so is a look at the last after each.
func TestWorkOfPushes(t *testing.T) {
	work := func(n int) int64 {
		w := initial(t, `{"l":[0,0,0]}`)
		return workOf(w, func() {
			for i := range n {
				write(t, w, Place(i+1), at("state", "l"), Push, `1`)
				w.Read(at("state", "l", -1), 0, Place(i+2))
				w.Read(at("state", "l", i/2), Place(i/2), Place(i+1))
			}
		})
	}
	small, large := work(1_000), work(100_000)
	if large > 101*small {
		t.Errorf("100,000 pushes: %d steps, 1,000: %d", large, small)
	}
}

// Merges cost what they merge, not what they are merged into.
func TestWorkOfMerges(t *testing.T) {
	work := func(n int) int64 {
		w := blank(t)
		return workOf(w, func() {
			for i := range n {
				write(t, w, Place(i+1), at("state", "u"), Merge, fmt.Sprintf(`{"m":{"x%d":1,"y":%[1]d}}`, i))
				w.Read(at("state", "u", "m", "y"), 0, Place(i+2))
			}
		})
	}
	small, large := work(1_000), work(100_000)
	if large > 101*small {
		t.Errorf("100,000 merges: %d steps, 1,000: %d", large, small)
	}
}

// Sets that come in any order find a flat tree.
func TestTreeIsFlat(t *testing.T) {
	const n = 100_000
	for name, order := range map[string][]int{
		"random": rand.New(rand.NewPCG(1, 1)).Perm(n), "forward": nil, "backward": nil, "one key": nil,
	} {
		var tr tree[int]
		for i := range n {
			k := i
			switch name {
			case "random":
				k = order[i]
			case "backward":
				k = n - i
			case "one key":
				k = 7
			}
			tr.insert(key(k), i)
		}
		last, count := -1, 0
		tr.root.ascend(never, func(i *item[int]) {
			if name == "one key" && i.value != count || int(i.key) < last {
				t.Fatalf("%s: out of order at %d", name, count)
			}
			last, count = int(i.key), count+1
		})
		if depth := tr.root.depth(); count != n || depth > 80 {
			t.Errorf("%s: %d items, depth %d", name, count, depth)
		}
	}
}

func (n *item[T]) depth() int {
	if n == nil {
		return 0
	}
	return 1 + max(n.left.depth(), n.right.depth())
}

// A large document is kept once, with tables a fraction of its size.
func TestMemory(t *testing.T) {
	value := large(16 << 20)
	before := heap()
	w := initial(t, string(value))
	for _, p := range []Path{at("state", "records", 5, "name"), at("state", "byName", "last", "id")} {
		w.Read(p, 0, End)
		write(t, w, 1, p, Set, `null`)
	}
	if grown := heap() - before; grown > int64(len(value))*3/2 {
		t.Errorf("%d bytes for a document of %d", grown, len(value))
	}
	w.Read(at("state"), 0, 1)
}
