package state

import (
	"runtime"
	"slices"
	"testing"
)

// The log gives back what went in, whatever was dropped in between.
func TestWriteLog(t *testing.T) {
	var l writeLog
	var want []Place
	for i := range Place(2000) {
		if r := l.next(Entry{Place: i}); r.key != keyOf(i, uint32(len(want)+1)) {
			t.Fatalf("the key of write %d is %x", len(want)+1, r.key)
		}
		l.append(Entry{Place: i})
		want = append(want, i)
		if i%7 == 0 {
			for range min(len(want), int(i%23)) {
				if got := l.drop(); got.Place != want[len(want)-1] {
					t.Fatalf("dropped %d, want %d", got.Place, want[len(want)-1])
				}
				want = want[:len(want)-1]
			}
		}
	}
	var got []Place
	for r := range l.all() {
		if got = append(got, r.Place); r.key != keyOf(r.Place, uint32(len(got))) {
			t.Fatalf("the key of write %d is %x", len(got), r.key)
		}
	}
	if !slices.Equal(got, want) || l.len != len(want) {
		t.Errorf("%d of %d writes, len %d", len(got), len(want), l.len)
	}
	for l.len > 0 {
		l.drop()
	}
	if l.append(Entry{Place: 1}); l.len != 1 || len(l.blocks) != 1 {
		t.Errorf("%d writes in %d blocks, after all were dropped and one came", l.len, len(l.blocks))
	}
	for range l.all() {
		break
	}
}

// A write to a new path costs two allocations: of the node with its value, and now and then of
// what grows.
func TestAllocationsOfWrites(t *testing.T) {
	const n = 1000
	ps := deepPaths(n)
	got := testing.AllocsPerRun(5, func() { writeAll(t, blank(t), ps, n) })
	if per := got / n; per > 2.5 {
		t.Errorf("%.2f allocations a write", per)
	}
}

// A further write to a path costs little more than an entry of the log and an item of a tree: a
// value of 32 bytes is kept with five times its bytes.
func TestBytesOfWrites(t *testing.T) {
	const n = 10_000
	w, ps := blank(t), deepPaths(n/10)
	writeAll(t, w, ps, len(ps))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	for i := range n {
		write(t, w, Place(len(ps)+i+1), ps[i%len(ps)], Set, `{"a":1}`)
	}
	runtime.ReadMemStats(&after)
	const entry, item, text = 56, 64, 8 // the text is made here
	if per := float64(after.TotalAlloc-before.TotalAlloc) / n; per > entry+item+text+24 {
		t.Errorf("%.0f bytes a write", per)
	}
}
