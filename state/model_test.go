package state

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/plc-lang/plc/internal/jsonscan"
)

// A program is writes in order of their places, on an initial state.
type program struct {
	initial json.RawMessage
	writes  []Entry
}

var (
	initials = []string{
		`{}`,
		`{"a":{"b":1,"a":[1,{"a":2}]},"b":[]}`,
		`{"a":[[1,2],{"b":{"a":null}},"x"],"1":{"1":[0]},"b":9007199254740993}`,
		`{"":{"":1.0},"b":{"a":{"b":{"a":1e2}}},"a":null}`,
	}
	values = []string{
		`1`, `"x"`, `null`, `true`, `[]`, `{}`, `[1,2]`, `{"a":1}`, `{"b":{"a":2}}`, `{"b":{"b":3},"a":[]}`,
		`[{"a":1},[2]]`, `{"1":1}`, `{"a":{"a":{}}}`, `{"":0}`, `{"a":{}}`, `[[]]`, `{"a":null,"b":-0.0}`, ` { "a" : [ 1 , 2 ] } `,
	}
	memberNames = []string{"a", "b", "a", "b", "1", "", ":1", "a.b<*", "é\"\\\n"}
)

// dice reads choices from fuzzed bytes; at their end all are 0.
type dice struct {
	data  []byte
	named bool // only names
}

func (d *dice) roll(n int) int {
	if len(d.data) == 0 {
		return 0
	}
	b := d.data[0]
	d.data = d.data[1:]
	return int(b) % n
}

func (d *dice) segment(star bool) Segment {
	switch k := d.roll(12); {
	case k < 6 || d.named:
		return Segment{Name: memberNames[d.roll(len(memberNames))]}
	case k < 9:
		return Segment{Kind: Index, Index: d.roll(6) - 2}
	case k < 11 || !star:
		i := d.roll(3)
		return Segment{Kind: Either, Name: fmt.Sprint(i), Index: i}
	}
	return Segment{Kind: Star}
}

// path is a path that often leads to what is in doc.
func (d *dice) path(doc []byte, star bool) Path {
	p := Path{{Name: "state"}}
	for range d.roll(5) {
		seg := d.segment(star)
		if d.roll(4) > 0 && (!d.named || shapeOf(doc) != list) {
			seg = d.known(doc, seg)
		}
		p = append(p, seg)
		if shapeOf(doc) == object || shapeOf(doc) == list {
			_, doc, _ = pick(doc, seg)
		}
	}
	return p
}

// known is a segment that a container has a child for, or the next one of a list.
func (d *dice) known(doc []byte, or Segment) Segment {
	switch shapeOf(doc) {
	case object:
		var names []string
		for m := range members(doc) {
			names = append(names, m.name)
		}
		if len(names) > 0 {
			return Segment{Name: names[d.roll(len(names))]}
		}
	case list:
		i := d.roll(1 + len(slices.Collect(elements(doc))))
		return []Segment{{Kind: Index, Index: i}, {Kind: Either, Name: fmt.Sprint(i), Index: i}}[d.roll(2)]
	}
	return or
}

func (d *dice) program() program {
	doc := json.RawMessage(initials[d.roll(len(initials))])
	pr := program{initial: doc}
	at := Place(1)
	for range d.roll(24) {
		at += Place(d.roll(3)) // 0: one more write of the same call
		e := Entry{at, d.path(doc, false), Method(d.roll(5)), json.RawMessage(values[d.roll(len(values))])}
		pr.writes = append(pr.writes, e)
		if next, err := Apply(doc, e.Path[1:], e.Method, e.Value); err == nil {
			doc = next
		}
	}
	return pr
}

func (pr program) board(t testing.TB) *Whiteboard {
	w, err := New(map[string]json.RawMessage{"state": pr.initial})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// run applies all writes by Apply, and returns the documents before each and at
// the end, with the errors.
func (pr program) run() (docs []json.RawMessage, errs []error) {
	doc := pr.initial
	for _, e := range pr.writes {
		docs = append(docs, doc)
		next, err := Apply(doc, e.Path[1:], e.Method, e.Value)
		if err == nil {
			doc = next
		}
		errs = append(errs, err)
	}
	return append(docs, doc), errs
}

// get reads a path in a document, in the plainest way.
func get(doc json.RawMessage, below Path) (string, bool) {
	if len(below) == 0 {
		return string(doc), doc != nil
	}
	have, seg := shapeOf(doc), below[0]
	if have == list && seg.Kind == Star {
		out := "["
		for e := range elements(doc) {
			s, ok := get(e, below[1:])
			if !ok {
				return "", false
			}
			if out != "[" {
				out += ","
			}
			out += s
		}
		return out + "]", true
	}
	if seg.Kind == Star || have != list && have != object {
		return "", false
	}
	_, child, err := pick(doc, seg)
	if err != nil || child == nil {
		return "", false
	}
	return get(child, below[1:])
}

// spelled is a value with its member names in one spelling: sjson has its own.
func spelled(raw []byte) string {
	var dst []byte
	switch shapeOf(raw) {
	case object:
		dst = append(dst, '{')
		for m := range members(raw) {
			dst = appendQuoted(comma(dst, 1), m.name)
			dst = append(dst, ':')
			dst = append(dst, spelled(m.value)...)
		}
		return string(dst) + "}"
	case list:
		dst = append(dst, '[')
		for e := range elements(raw) {
			dst = append(comma(dst, 1), spelled(e)...)
		}
		return string(dst) + "]"
	}
	return string(raw)
}

func sameError(a, b error) bool {
	if a == nil || b == nil {
		return a == nil && b == nil
	}
	x, y := a.(*Error), b.(*Error)
	return x.Have == y.Have && x.Reason == y.Reason && x.Method == y.Method && len(x.Path) == len(y.Path)+1
}

// FuzzWhiteboard runs programs on a whiteboard and by Apply: the same errors, and
// for a reader at any place the same values.
func FuzzWhiteboard(f *testing.F) {
	for i := range uint64(64) {
		f.Add(noise(i, 300))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d := &dice{data: data}
		pr := d.program()
		docs, errs := pr.run()
		w := pr.board(t)
		for i, e := range pr.writes {
			err := w.Write(e.Place, e.Path, e.Method, e.Value)
			if !sameError(err, errs[i]) {
				t.Fatalf("%s\nwrite %d: %v, by Apply: %v", pr, i, err, errs[i])
			}
		}
		for range 6 {
			before := Place(1 + d.roll(50))
			doc := docs[0]
			for i, e := range pr.writes {
				if e.Place < before {
					doc = docs[i+1]
				}
			}
			for _, p := range append(pr.paths(), d.path(doc, true)) {
				got, ok := w.Read(p, 0, before)
				want, wantOK := get(jsonscan.Compacted(doc), p[1:])
				if ok != wantOK || spelled(got) != spelled([]byte(want)) {
					t.Fatalf("%s\n%s before %d: %s %v, by Apply: %s %v", pr, p, before, got, ok, want, wantOK)
				}
				if ok && !json.Valid(got) {
					t.Fatalf("%s\n%s before %d: %s is not JSON", pr, p, before, got)
				}
			}
		}
	})
}

func (pr program) paths() []Path {
	var ps []Path
	for _, e := range pr.writes {
		for n := range e.Path {
			ps = append(ps, e.Path[:n+1])
		}
	}
	return ps
}

func (pr program) String() string {
	s := string(pr.initial)
	for _, e := range pr.writes {
		s += fmt.Sprintf("\n%d: %s %s %s", e.Place, e.Path, e.Method, e.Value)
	}
	return s
}

func noise(seed uint64, n int) []byte {
	r := rand.New(rand.NewPCG(seed, seed))
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// FuzzArrival lets writes come in other orders: those that conflict in the order
// of their places, a set of a top-level member at any time. Every read, and the
// log, is the same.
func FuzzArrival(f *testing.F) {
	for i := range uint64(64) {
		f.Add(noise(i, 300), i)
	}
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		d := &dice{data: data}
		pr := d.program()
		docs, errs := pr.run()
		pr.writes = slices.DeleteFunc(pr.writes, func(e Entry) bool { err := errs[0]; errs = errs[1:]; return err != nil })
		want := pr.board(t)
		for _, e := range pr.writes {
			if err := want.Write(e.Place, e.Path, e.Method, e.Value); err != nil {
				t.Fatal(err)
			}
		}
		got := pr.board(t)
		for _, e := range pr.shuffled(rand.New(rand.NewPCG(seed, 1))) {
			if err := got.Write(e.Place, e.Path, e.Method, e.Value); err != nil {
				t.Fatalf("%s\n%d: %v", pr, e.Place, err)
			}
		}
		for range 6 {
			since, before := Place(d.roll(30)), Place(d.roll(50))
			for _, p := range append(pr.paths(), d.path(docs[len(docs)-1], true)) {
				a, aok := want.Read(p, since, before)
				b, bok := got.Read(p, since, before)
				if string(a) != string(b) || aok != bok {
					t.Fatalf("%s\n%s in [%d,%d): %s %v, other arrival: %s %v", pr, p, since, before, a, aok, b, bok)
				}
			}
		}
		a, b := slices.Collect(want.Log()), slices.Collect(got.Log())
		if fmt.Sprint(a) != fmt.Sprint(b) {
			t.Fatalf("log %v, other arrival %v", a, b)
		}
	})
}

// shuffled is an order in which the writes may come.
func (pr program) shuffled(r *rand.Rand) []Entry {
	return shuffle(pr.writes, r, func(earlier, e Entry) bool {
		return !free(e) && earlier.Path.Conflicts(e.Path)
	})
}

// shuffle is a random order in which none comes before an earlier one that it
// waits for, or that is of the same place.
func shuffle(es []Entry, r *rand.Rand, waits func(earlier, e Entry) bool) []Entry {
	left := slices.Clone(es)
	var out []Entry
	for len(left) > 0 {
		var can []int
		for i, e := range left {
			if !slices.ContainsFunc(left[:i], func(o Entry) bool { return o.Place == e.Place || waits(o, e) }) {
				can = append(can, i)
			}
		}
		i := can[r.IntN(len(can))]
		out = append(out, left[i])
		left = slices.Delete(left, i, i+1)
	}
	return out
}

// free reports whether a write waits for no other.
func free(e Entry) bool {
	return e.Method == Set && len(e.Path) == 2 && e.Path[1].Kind == Name
}

// FuzzLateSet lets sets of top-level members come even after later writes that
// build on them. The whiteboard is what its log says, in order of places; what
// does not apply there any more is left out.
func FuzzLateSet(f *testing.F) {
	for i := range uint64(64) {
		f.Add(noise(i, 300), i)
	}
	f.Fuzz(func(t *testing.T, data []byte, seed uint64) {
		d := &dice{data: data}
		pr := d.program()
		w := pr.board(t)
		for _, e := range shuffle(pr.writes, rand.New(rand.NewPCG(seed, 2)), func(earlier, e Entry) bool {
			return !free(earlier) && !free(e) && earlier.Path.Conflicts(e.Path)
		}) {
			_ = w.Write(e.Place, e.Path, e.Method, e.Value) // whether it fails depends on what came
		}
		doc := jsonscan.Compacted(pr.initial)
		for e := range w.Log() {
			if next, err := Apply(doc, e.Path[1:], e.Method, e.Value); err == nil {
				doc = next
			}
		}
		if got, ok := w.Snapshot("state"); !ok || spelled(got) != spelled(doc) {
			t.Fatalf("%s\n%s, by Apply: %s", pr, got, doc)
		}
	})
}

// FuzzBound reads as of places since which the reader is bound.
func FuzzBound(f *testing.F) {
	for i := range uint64(64) {
		f.Add(noise(i, 300))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		d := &dice{data: data}
		d.named = d.roll(2) == 1
		pr := d.program()
		w := pr.board(t)
		var applied []Entry
		for _, e := range pr.writes {
			if w.Write(e.Place, e.Path, e.Method, e.Value) == nil {
				applied = append(applied, e)
			}
		}
		docs, _ := pr.run()
		for range 6 {
			before := Place(1 + d.roll(50))
			for _, p := range append(pr.paths(), d.path(docs[len(docs)-1], true)) {
				boundToCover(t, pr, w, applied, p, before)
				if since := Place(d.roll(30)); names(applied, p) {
					fromNothing(t, pr, w, applied, p, since, before)
				}
			}
		}
	})
}

// boundToCover: bound to a set that covers the path, and was applied, a reader
// sees what it sees unbound.
func boundToCover(t *testing.T, pr program, w *Whiteboard, applied []Entry, p Path, before Place) {
	for _, e := range applied {
		if e.Method != Set || !e.Path.Covers(p) || e.Place >= before {
			continue
		}
		got, ok := w.Read(p, e.Place, before)
		want, wantOK := w.Read(p, 0, before)
		if string(got) != string(want) || ok != wantOK {
			t.Fatalf("%s\n%s in [%d,%d): %s %v, unbound: %s %v", pr, p, e.Place, before, got, ok, want, wantOK)
		}
	}
}

// fromNothing: where no index is used, a reader sees what the writes it is bound
// to make of nothing.
func fromNothing(t *testing.T, pr program, w *Whiteboard, applied []Entry, p Path, since, before Place) {
	doc := jsonscan.Compacted(pr.initial)
	if since > 0 {
		doc = nil
	}
	for _, e := range applied {
		if since <= e.Place && e.Place < before {
			if next, err := Apply(doc, e.Path[1:], e.Method, e.Value); err == nil {
				doc = next
			}
		}
	}
	want, wantOK := "", false
	if since < before {
		want, wantOK = get(doc, p[1:])
	}
	got, ok := w.Read(p, since, before)
	if ok != wantOK || !sameValue(t, got, []byte(want)) {
		t.Fatalf("%s\n%s in [%d,%d): %s %v, from nothing by Apply: %s %v", pr, p, since, before, got, ok, want, wantOK)
	}
}

// sameValue reports whether two values are equal but for the order of members.
func sameValue(t *testing.T, a, b []byte) bool {
	var x, y any
	for text, v := range map[*[]byte]*any{&a: &x, &b: &y} {
		if len(*text) > 0 {
			if err := json.Unmarshal(*text, v); err != nil {
				t.Fatalf("%s: %v", *text, err)
			}
		}
	}
	return reflect.DeepEqual(x, y)
}

// names reports whether paths are made of names only.
func names(es []Entry, p Path) bool {
	all := slices.Clone(p)
	for _, e := range es {
		all = append(all, e.Path...)
	}
	return !slices.ContainsFunc(all, func(s Segment) bool { return s.Kind != Name })
}
