package compile_test

import (
	"maps"
	"runtime"
	"testing"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/effort"
	"github.com/plc-lang/plc/lang"
	"github.com/plc-lang/plc/tool"
)

// matching are the documents in which each of n reads matches each of n writes.
var matching = []string{"stars", "from the end"}

// TestGrowth compiles documents of n and of ten times as many calls. What is
// allocated, and what is looked at, may grow eleven times: little more than the text.
func TestGrowth(t *testing.T) {
	cat := catalogue(t)
	documents := maps.Clone(sound)
	maps.Copy(documents, faulty)
	for _, name := range matching {
		delete(documents, name)
	}
	for name, document := range documents {
		t.Run(name, func(t *testing.T) {
			const n = 200
			small, large := measure(t, document(n), cat), measure(t, document(10*n), cat)
			if large.allocs > 11*small.allocs {
				t.Errorf("%d allocations, then %d", small.allocs, large.allocs)
			}
			if large.bytes > 11*small.bytes {
				t.Errorf("%d bytes, then %d", small.bytes, large.bytes)
			}
			if large.work > 11*(small.work+n) {
				t.Errorf("%d steps, then %d", small.work, large.work)
			}
		})
	}
}

// cost is what a compilation costs.
type cost struct {
	allocs, bytes uint64
	work          int
}

func measure(t *testing.T, text string, cat *tool.Catalogue) cost {
	opts := &compile.Options{Catalogue: cat}
	file := diag.NewFile("plan.json", []byte(text))
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	doc, _ := lang.Parse(file, nil)
	work := compile.Work(doc, opts)
	runtime.ReadMemStats(&after)
	return cost{after.Mallocs - before.Mallocs, after.TotalAlloc - before.TotalAlloc, work}
}

// TestKept counts what a plan costs for each call: next to no allocations, since what is made
// lies side by side, and what its document and program keep besides the text.
func TestKept(t *testing.T) {
	n := fewer(effort.Of(5_000, 20_000))
	for name, most := range map[string]struct{ allocs, bytes float64 }{
		"chain": {0.5, 1024}, "wide": {0.5, 1024}, "ladder": {1.5, 1300}, "all to one": {7, 1300}, "literal": {5, 1000}, "deep": {0.5, 1300},
	} {
		t.Run(name, func(t *testing.T) {
			cat, text := catalogue(t), []byte(sound[name](n))
			before := heap()
			doc, _ := lang.Parse(diag.NewFile("plan.json", text), nil)
			prog, _ := compile.Compile(doc, &compile.Options{Catalogue: cat})
			after := heap()
			if got := float64(after.Mallocs-before.Mallocs) / float64(n); got > most.allocs {
				t.Errorf("%.2f allocations a call", got)
			}
			if got := (float64(after.HeapAlloc) - float64(before.HeapAlloc)) / float64(n); got > most.bytes {
				t.Errorf("%.0f bytes are kept a call", got)
			}
			runtime.KeepAlive(prog)
		})
	}
}

// heap is what is on the heap once the garbage is gone.
func heap() (m runtime.MemStats) {
	runtime.GC()
	runtime.GC()
	runtime.ReadMemStats(&m)
	return m
}

// TestShapes makes sure that the documents whose growth is watched are what they
// are taken for: sound, or full of faults of which a bounded number is told.
func TestShapes(t *testing.T) {
	opts := &compile.Options{Catalogue: catalogue(t)}
	for name, document := range sound {
		if _, findings := compiled(t, []byte(document(50)), opts); findings.HasErrors() {
			t.Errorf("%s: %v", name, findings.Err())
		}
	}
	for name, document := range faulty {
		_, few := compiled(t, []byte(document(20)), opts)
		_, many := compiled(t, []byte(document(2000)), opts)
		if few.Count(diag.Error)+few.Count(diag.Warning) == 0 {
			t.Errorf("%s: nothing is found", name)
		}
		if len(many) > 600 {
			t.Errorf("%s: %d findings", name, len(many))
		}
	}
}

// TestTooManyMatches refuses plans whose edges would be as many as pairs of calls.
func TestTooManyMatches(t *testing.T) {
	opts := &compile.Options{Catalogue: catalogue(t)}
	for _, name := range matching {
		_, findings := compiled(t, []byte(sound[name](4100)), opts)
		if len(findings) != 1 || findings[0].Code != diag.OverLimit {
			t.Errorf("%s: %d findings: %v", name, len(findings), findings.Err())
		}
	}
}
