package plantest

import (
	"math/rand/v2"
	"testing"
)

// A draw holds so many sequences only, in their order, and each comes in as often as any other.
func TestDraw(t *testing.T) {
	const all, most, rounds = 50, 10, 2000
	counts := make([]int, all)
	for seed := range uint64(rounds) {
		d := &draw{most: most, rand: rand.New(rand.NewPCG(seed, 0xfa))}
		for range all {
			if to := d.place(); to != nil {
				*to = &node{number: d.seen}
			}
			if len(d.nodes) > most {
				t.Fatalf("it holds %d", len(d.nodes))
			}
		}
		last := 0
		for _, n := range d.inOrder() {
			if n.number <= last {
				t.Fatalf("%d is behind %d", n.number, last)
			}
			last = n.number
			counts[n.number-1]++
		}
	}
	for i, n := range counts {
		if n < 300 || n > 500 { // 400 are expected; this is more than five deviations off
			t.Errorf("%d was drawn %d times", i, n)
		}
	}
}
