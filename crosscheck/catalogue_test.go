package crosscheck

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/plc-lang/plc/schemas"
)

// catalogue is what the tools of a file give, at all places, and what they take.
type catalogue struct{ given, taken []string }

func readCatalogue(t testing.TB, file string) (c catalogue) {
	content, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var doc struct {
		Tools map[string]struct{ InputSchema, OutputSchema object }
	}
	if err := json.Unmarshal(content, &doc); err != nil {
		t.Fatal(file, err)
	}
	for _, name := range slices.Sorted(maps.Keys(doc.Tools)) {
		tool := doc.Tools[name]
		properties, _ := tool.InputSchema["properties"].(object)
		for _, param := range slices.Sorted(maps.Keys(properties)) {
			c.taken = append(c.taken, alone(properties[param], tool.InputSchema))
		}
		if tool.OutputSchema != nil {
			places(tool.OutputSchema, 3, func(s object) { c.given = append(c.given, alone(s, tool.OutputSchema)) })
		}
	}
	return c
}

// places calls see for a schema, its members and its elements.
func places(s object, depth int, see func(object)) {
	see(s)
	if depth == 0 {
		return
	}
	properties, _ := s["properties"].(object)
	for _, name := range slices.Sorted(maps.Keys(properties)) {
		if p, ok := properties[name].(object); ok {
			places(p, depth-1, see)
		}
	}
	if items, ok := s["items"].(object); ok {
		places(items, depth-1, see)
	}
}

// alone returns a part of a schema as a document of its own.
func alone(part any, of object) string {
	s := maps.Clone(part.(object))
	for _, word := range []string{"$schema", "$defs"} {
		if v, ok := of[word]; ok {
			s[word] = v
		}
	}
	return text(s)
}

func catalogues(t testing.TB) (all []catalogue) {
	files, err := filepath.Glob("../testdata/catalogues/*.json")
	if err != nil || len(files) == 0 {
		t.Fatal("no catalogues", err)
	}
	for _, file := range files {
		if c := readCatalogue(t, file); len(c.given) > 0 {
			all = append(all, c)
		}
	}
	return all
}

// cataloguePair returns what one tool of a catalogue gives, and what one takes or gives.
func cataloguePair(m maker, all []catalogue) (from, to string) {
	c := all[m.IntN(len(all))]
	to = pick(m, c.taken...)
	if m.chance(3) {
		to = pick(m, c.given...)
	}
	return pick(m, c.given...), to
}

// Pairs of what real tools give and take.
func TestCataloguePairs(t *testing.T) {
	all, c := catalogues(t), newTable()
	for seed := range *pairs / 5 {
		m := newMaker(uint64(seed))
		from, to := cataloguePair(m, all)
		c.compare(t, m, from, to)
	}
	c.log(t)
}

// BenchmarkCatalogues asks about pairs for the first time, when a No makes the library
// compile the two for its witness, and again. It reports the median, the 99th
// percentile and the longest.
func BenchmarkCatalogues(b *testing.B) {
	b.Run("first", func(b *testing.B) { benchmarkCatalogues(b, false) })
	b.Run("again", func(b *testing.B) { benchmarkCatalogues(b, true) })
}

func benchmarkCatalogues(b *testing.B, again bool) {
	all := catalogues(b)
	var took []time.Duration
	for seed := uint64(0); b.Loop(); seed++ {
		b.StopTimer()
		from, to := cataloguePair(newMaker(seed), all)
		f, err1 := schemas.Compile([]byte(from), nil)
		g, err2 := schemas.Compile([]byte(to), nil)
		if err1 != nil || err2 != nil {
			b.Fatal(err1, err2)
		}
		if again {
			schemas.Assignable(f, g, nil)
		}
		b.StartTimer()
		start := time.Now()
		schemas.Assignable(f, g, nil)
		took = append(took, time.Since(start))
	}
	slices.Sort(took)
	for name, d := range map[string]time.Duration{"median": took[len(took)/2], "p99": took[len(took)*99/100], "longest": took[len(took)-1]} {
		b.ReportMetric(float64(d.Nanoseconds())/1000, "µs/"+name)
	}
}
