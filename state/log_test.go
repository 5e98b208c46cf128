package state

import (
	"slices"
	"testing"
)

// The log gives back what went in, whatever was dropped in between.
func TestWriteLog(t *testing.T) {
	var l writeLog
	var want []key
	for i := range key(2000) {
		l.append(record{key: i})
		want = append(want, i)
		if i%7 == 0 {
			for range min(len(want), int(i%23)) {
				if got := l.drop(); got.key != want[len(want)-1] {
					t.Fatalf("dropped %d, want %d", got.key, want[len(want)-1])
				}
				want = want[:len(want)-1]
			}
		}
	}
	var got []key
	for r := range l.all() {
		got = append(got, r.key)
	}
	if !slices.Equal(got, want) || l.len != len(want) {
		t.Errorf("%d of %d writes, len %d", len(got), len(want), l.len)
	}
	for l.len > 0 {
		l.drop()
	}
	if l.append(record{key: 1}); l.len != 1 || len(l.blocks) != 1 {
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
