package state

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
)

// deepPaths are n paths of four segments, a hundred to a branch.
func deepPaths(n int) []Path {
	ps := make([]Path, n)
	for i := range ps {
		ps[i] = at("state", fmt.Sprintf("b%d", i/100), "all", fmt.Sprintf("n%d", i))
	}
	return ps
}

func BenchmarkWrite(b *testing.B) {
	for n := 10; n <= 1_000_000; n *= 10 {
		ps := deepPaths(min(n, 100_000))
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w := blank(b)
				for i := range n {
					write(b, w, Place(i+1), ps[i%len(ps)], Set, `{"a":1}`)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/write")
		})
	}
}

// Sets of one top-level member in any order: the worst case for what is sorted.
func BenchmarkWriteOutOfOrder(b *testing.B) {
	const n = 100_000
	orders := map[string][]int{"random": rand.New(rand.NewPCG(1, 1)).Perm(n), "reverse": make([]int, n)}
	for i := range n {
		orders["reverse"][i] = n - 1 - i
	}
	for name, order := range orders {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w := blank(b)
				for _, i := range order {
					write(b, w, Place(i+1), at("state", "x"), Set, `1`)
				}
			}
		})
	}
}

func BenchmarkRead(b *testing.B) {
	for n := 10; n <= 1_000_000; n *= 10 {
		ps := deepPaths(min(n, 100_000))
		w := blank(b)
		for i := range n {
			write(b, w, Place(i+1), ps[i%len(ps)], Set, `{"a":1}`)
		}
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				i++
				if _, ok := w.Read(ps[i%len(ps)], 0, End); !ok {
					b.Fatal("nothing")
				}
			}
		})
	}
}

func BenchmarkReadParallel(b *testing.B) {
	ps := deepPaths(100_000)
	w := blank(b)
	for i, p := range ps {
		write(b, w, Place(i+1), p, Set, `{"a":1}`)
	}
	b.RunParallel(func(pb *testing.PB) {
		for i := 0; pb.Next(); i++ {
			w.Read(ps[i%len(ps)], 0, End)
		}
	})
}

func BenchmarkReadAll(b *testing.B) {
	ps := deepPaths(100_000)
	w := blank(b)
	for i, p := range ps {
		write(b, w, Place(i+1), p, Set, `{"a":1}`)
	}
	all, _ := w.Snapshot("state")
	b.SetBytes(int64(len(all)))
	b.ReportAllocs()
	for b.Loop() {
		w.Snapshot("state")
	}
}

// large is an object of about this many bytes: records in a list, by name.
func large(bytes int) json.RawMessage {
	var s strings.Builder
	s.WriteString(`{"records":[`)
	for i := 0; s.Len() < bytes/2; i++ {
		fmt.Fprintf(&s, `{"id":%d,"name":"record %d","tags":["a","b"],"score":%d.5},`, i, i, i%100)
	}
	s.WriteString(`null],"byName":{`)
	for i := 0; s.Len() < bytes; i++ {
		fmt.Fprintf(&s, `"record %d":{"id":%d,"score":%d.5},`, i, i, i%100)
	}
	return json.RawMessage(s.String() + `"last":{"id":-1}}}`)
}

// A small member deep inside a large value, and what the tables for it weigh.
func BenchmarkReadDeep(b *testing.B) {
	for _, mb := range []int{1, 10, 100} {
		b.Run(fmt.Sprintf("%dMB", mb), func(b *testing.B) {
			value := large(mb << 20)
			before := heap()
			w, err := New(map[string]json.RawMessage{"state": value})
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				w.Read(at("state", "records", 5, "name"), 0, End)
				w.Read(at("state", "byName", "last", "id"), 0, End)
			}
			b.ReportMetric(1+float64(heap()-before)/float64(len(value)), "heap/json")
			runtime.KeepAlive(w)
			runtime.KeepAlive(value)
		})
	}
}

// The first look into a large value.
func BenchmarkReadDeepFirst(b *testing.B) {
	value := large(100 << 20)
	b.SetBytes(int64(len(value)))
	b.ReportAllocs()
	for b.Loop() {
		w, err := New(map[string]json.RawMessage{"state": value})
		if err != nil {
			b.Fatal(err)
		}
		w.Read(at("state", "records", 5, "name"), 0, End)
		w.Read(at("state", "byName", "last", "id"), 0, End)
	}
}

func heap() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

func BenchmarkPush(b *testing.B) {
	for n := 10; n <= 1_000_000; n *= 10 {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w := blank(b)
				for i := range n {
					write(b, w, Place(i+1), at("state", "l"), Push, `{"a":1}`)
					w.Read(at("state", "l", -1), 0, Place(i+2))
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/push")
		})
	}
}

func BenchmarkMerge(b *testing.B) {
	for n := 10; n <= 100_000; n *= 10 {
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				w := blank(b)
				for i := range n {
					write(b, w, Place(i+1), at("state", "u"), Merge, fmt.Sprintf(`{"m%d":{"a":1},"n":%d}`, i%1000, i))
				}
				w.Snapshot("state")
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/merge")
		})
	}
}

// The reference, for comparison.
func BenchmarkApply(b *testing.B) {
	doc := json.RawMessage(large(1 << 20))
	b.SetBytes(int64(len(doc)))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Apply(doc, at("byName", "last", "id"), Set, json.RawMessage(`1`)); err != nil {
			b.Fatal(err)
		}
	}
}
