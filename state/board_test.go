package state

import (
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"
)

func blank(t testing.TB) *Whiteboard { return initial(t, `{}`) }

func initial(t testing.TB, state string) *Whiteboard {
	t.Helper()
	w, err := New(map[string]json.RawMessage{"state": json.RawMessage(state)})
	if err != nil {
		t.Fatal(err)
	}
	return w
}

func write(t testing.TB, w *Whiteboard, place Place, p Path, m Method, value string) {
	t.Helper()
	if err := w.Write(place, p, m, json.RawMessage(value)); err != nil {
		t.Fatalf("%d: %s: %v", place, p, err)
	}
}

// want is the value that a read must give; "" is nothing.
func want(t testing.TB, w *Whiteboard, p Path, since, before Place, want string) {
	t.Helper()
	got, ok := w.Read(p, since, before)
	if string(got) != want || ok != (want != "") {
		t.Errorf("%s in [%d,%d): got %s %v, want %s", p, since, before, got, ok, want)
	}
}

// One write each: what it makes of what is there (plan-language §4 and §6).
func TestWrite(t *testing.T) {
	l := func(steps ...any) Path { return at(append([]any{"state"}, steps...)...) }
	for _, tt := range []struct {
		means  string
		have   string
		path   Path
		method Method
		value  string
		want   string // the state, or the error
	}{
		{"set replaces", `{"a":{"b":1}}`, l("a"), Set, `2`, `{"a":2}`},
		{"set keeps the order of members", `{"a":1,"b":2,"c":3}`, l("b"), Set, `0`, `{"a":1,"b":0,"c":3}`},
		{"a new member comes last", `{"b":1}`, l("a"), Set, `2`, `{"b":1,"a":2}`},
		{"null is kept", `{}`, l("a"), Set, `null`, `{"a":null}`},
		{"numbers keep their digits", `{"x":1.0}`, l("a"), Set, `[9007199254740993,1e2,-0.0]`, `{"x":1.0,"a":[9007199254740993,1e2,-0.0]}`},
		{"strings keep their spelling", `{}`, l("a"), Set, `"\u00e9<\/>"`, `{"a":"\u00e9<\/>"}`},
		{"white space goes", ` { "x" : [ 1 , 2 ] } `, l("a"), Set, " {\n\"b\" : \" \" } ", `{"x":[1,2],"a":{"b":" "}}`},
		{"a path through a missing object creates it", `{}`, l("a", "b", "c"), Set, `1`, `{"a":{"b":{"c":1}}}`},
		{"a name on an array", `{"a":[]}`, l("a", "b"), Set, `1`, `†state.a: a list has no members`},
		{"a name on a scalar", `{"a":1}`, l("a", "b"), Set, `1`, `†state.a: a number has no members`},
		{"a name on null", `{"a":null}`, l("a", "b", "c"), Set, `1`, `†state.a: null has no members`},
		{"any name", `{}`, l("", "a.b", "é\"\\\n<", "*"), Set, `1`, `{"":{"a.b":{"é\"\\\n<":{"*":1}}}}`},
		{"an element that exists is replaced", `{"l":[1,2]}`, l("l", 0), Set, `3`, `{"l":[3,2]}`},
		{"the index of the length appends", `{"l":[1,2]}`, l("l", 2), Set, `3`, `{"l":[1,2,3]}`},
		{"beyond it there is nothing", `{"l":[1,2]}`, l("l", 3), Set, `3`, `†state.l: a list of 2 has no [3]`},
		{"[0] starts a list", `{}`, l("l", 0, "a"), Set, `3`, `{"l":[{"a":3}]}`},
		{"[1] does not", `{}`, l("l", 1), Set, `3`, `†state.l: there is no list here`},
		{"an index from the end", `{"l":[1,2]}`, l("l", -1), Set, `3`, `{"l":[1,3]}`},
		{"too far from the end", `{"l":[1,2]}`, l("l", -3), Set, `3`, `†state.l: a list of 2 has no [-3]`},
		{"an index from the end of nothing", `{}`, l("l", -1), Set, `3`, `†state.l: there is no list here`},
		{"an index on an object", `{"l":{}}`, l("l", 0), Set, `3`, `†state.l: an object has no elements`},
		{".1 on an array is an index", `{"l":[1,2]}`, l("l", ".1"), Set, `3`, `{"l":[1,3]}`},
		{".1 on an object is a member", `{"l":{"1":2}}`, l("l", ".1"), Set, `3`, `{"l":{"1":3}}`},
		{".1 on nothing is a member", `{}`, l("l", ".1"), Set, `3`, `{"l":{"1":3}}`},
		{"[*] is not written", `{"l":[1]}`, l("l", "[*]"), Set, `3`, `†state.l: [*] can only be read`},
		{"the root is an object", `{"a":1}`, l(), Set, `{"b":2}`, `{"b":2}`},
		{"and nothing else", `{"a":1}`, l(), Set, `[]`, `†state: set of a list`},
		{"merge of a root", `{"a":{"b":1}}`, l(), Merge, `{"a":{"c":2}}`, `{"a":{"b":1,"c":2}}`},
		{"merge of a root and no object", `{"a":1}`, l(), Merge, `1`, `†state: merge of a number`},
		{"assign of a root and no object", `{"a":1}`, l(), Assign, `null`, `†state: assign of null`},
		{"push onto a root", `{"a":1}`, l(), Push, `1`, `†state: push onto an object`},
		{"concat onto a root", `{"a":1}`, l(), Concat, `[]`, `†state: concat onto an object`},
		{"merge is deep", `{"a":{"b":{"c":1,"d":2},"e":3}}`, l("a"), Merge, `{"b":{"d":4,"f":5}}`, `{"a":{"b":{"c":1,"d":4,"f":5},"e":3}}`},
		{"merge without deletion", `{"a":{"b":1}}`, l("a"), Merge, `{"b":null}`, `{"a":{"b":null}}`},
		{"merge replaces arrays", `{"a":{"b":[1,2]}}`, l("a"), Merge, `{"b":[3]}`, `{"a":{"b":[3]}}`},
		{"merge of nothing new", `{"a":{"b":1}}`, l("a"), Merge, `{}`, `{"a":{"b":1}}`},
		{"merge onto nothing is a set", `{}`, l("a"), Merge, `{"b":{}}`, `{"a":{"b":{}}}`},
		{"merge onto a scalar is a set", `{"a":1}`, l("a"), Merge, `{"b":1}`, `{"a":{"b":1}}`},
		{"merge of a scalar is a set", `{"a":{"b":1}}`, l("a"), Merge, `2`, `{"a":2}`},
		{"merge of a list is a set", `{"a":[1]}`, l("a"), Merge, `[2]`, `{"a":[2]}`},
		{"assign is shallow", `{"a":{"b":{"c":1},"d":2}}`, l("a"), Assign, `{"b":{"e":3}}`, `{"a":{"b":{"e":3},"d":2}}`},
		{"assign onto a list is a set", `{"a":[]}`, l("a"), Assign, `{"b":1}`, `{"a":{"b":1}}`},
		{"assign of a list is a set", `{"a":{}}`, l("a"), Assign, `[1]`, `{"a":[1]}`},
		{"push appends one", `{"l":[1]}`, l("l"), Push, `[2]`, `{"l":[1,[2]]}`},
		{"push onto nothing starts a list", `{}`, l("a", "l"), Push, `1`, `{"a":{"l":[1]}}`},
		{"push onto anything else", `{"l":1}`, l("l"), Push, `1`, `†state.l: push onto a number`},
		{"push onto null", `{"l":null}`, l("l"), Push, `1`, `†state.l: push onto null`},
		{"concat appends many", `{"l":[1]}`, l("l"), Concat, `[2,[3]]`, `{"l":[1,2,[3]]}`},
		{"concat onto nothing starts a list", `{}`, l("l"), Concat, `[]`, `{"l":[]}`},
		{"concat of anything but a list", `{"l":[1]}`, l("l"), Concat, `2`, `†state.l: concat of a number`},
		{"concat onto anything but a list", `{"l":{}}`, l("l"), Concat, `[2]`, `†state.l: concat onto an object`},
		{"push in an element", `{"l":[[1]]}`, l("l", 0), Push, `2`, `{"l":[[1,2]]}`},
		{"input", `{}`, at("input", "a"), Set, `1`, `†input: the input is read-only`},
		{"a kind that there is not", `{}`, at("user", "a"), Set, `1`, `†user: there is no such kind`},
		{"no path", `{}`, nil, Set, `1`, `a path must start with a kind`},
		{"a path too long", `{}`, make(Path, maxSteps+1), Set, `1`, `: a path of 1001 steps`},
	} {
		t.Run(tt.means, func(t *testing.T) {
			if len(tt.path) > 0 && tt.path[0].Name == "state" {
				applied(t, tt.have, tt.path[1:], tt.method, tt.value, tt.want)
			}
			w := initial(t, tt.have)
			err := w.Write(1, tt.path, tt.method, json.RawMessage(tt.value))
			got, _ := w.Snapshot("state")
			if strings.HasPrefix(tt.want, "{") {
				if err != nil || string(got) != tt.want {
					t.Errorf("got %s %v, want %s", got, err, tt.want)
				}
				return
			}
			var e *Error
			if !errors.As(err, &e) || !strings.Contains(err.Error(), tt.want) || e.Method != tt.method {
				t.Errorf("got %v, want %s", err, tt.want)
			}
			if w := initial(t, tt.have); !sameSnapshot(w, got) {
				t.Errorf("a write that failed left %s", got)
			}
			for range w.Log() {
				t.Error("a write that failed is in the log")
			}
		})
	}
}

// applied does the same write by Apply.
func applied(t *testing.T, have string, below Path, m Method, value, want string) {
	got, err := Apply(json.RawMessage(have), below, m, json.RawMessage(value))
	if err == nil {
		if spelled(got) != spelled([]byte(want)) {
			t.Errorf("Apply: got %s, want %s", got, want)
		}
		return
	}
	_, reason, _ := strings.Cut(want, ": ")
	if e := err.(*Error); reason == "" || !strings.HasPrefix(e.Reason, reason) || e.Method != m {
		t.Errorf("Apply: got %v, want %s", err, want)
	}
}

func TestApplyLongPath(t *testing.T) {
	if _, err := Apply(nil, make(Path, maxSteps), Set, json.RawMessage(`1`)); err == nil {
		t.Error("a path too long was written")
	}
	got, err := Apply(nil, make(Path, maxSteps-1), Set, json.RawMessage(`1`))
	if w := blank(t); err != nil || w.Write(1, append(at("state"), make(Path, maxSteps-1)...), Set, json.RawMessage(`1`)) != nil || !sameSnapshot(w, got) {
		t.Error("a path of the greatest length was not written", err)
	}
}

func sameSnapshot(w *Whiteboard, got json.RawMessage) bool {
	s, _ := w.Snapshot("state")
	return string(s) == string(got)
}

// plan-language §3.
func TestRead(t *testing.T) {
	w := initial(t, `{"l":[1,[2,3],{"n":4}],"o":{"1":5,"odd name":null},"e":[],"u":[{"n":"a","t":[1]},{"n":"b","t":[]}]}`)
	for _, tt := range []struct {
		path Path
		want string
	}{
		{at("state", "l", 0), `1`},
		{at("state", "l", -1, "n"), `4`},
		{at("state", "l", ".1"), `[2,3]`},
		{at("state", "l", 3), ``},
		{at("state", "l", -4), ``},
		{at("state", "l", "0"), ``},
		{at("state", "o", 1), ``},
		{at("state", "o", ".1"), `5`},
		{at("state", "o", "1"), `5`},
		{at("state", "o", "odd name"), `null`},
		{at("state", "o", "odd name", "x"), ``},
		{at("state", "o", "x", "y"), ``},
		{at("state", "l", 0, 0), ``},
		{at("state", "u", "[*]"), `[{"n":"a","t":[1]},{"n":"b","t":[]}]`},
		{at("state", "u", "[*]", "n"), `["a","b"]`},
		{at("state", "u", "[*]", "t", "[*]"), `[[1],[]]`},
		{at("state", "u", "[*]", "t", 0), ``}, // one has no such element
		{at("state", "l", "[*]", "n"), ``},
		{at("state", "e", "[*]", "n"), `[]`},
		{at("state", "o", "[*]"), ``},
		{at("state", "x", "[*]"), ``},
		{at("input"), `{}`},
		{at("data"), `{}`},
		{at("user"), ``},
		{nil, ``},
	} {
		want(t, w, tt.path, 0, End, tt.want)
		if got := w.Held(tt.path); got != (tt.want != "") {
			t.Errorf("%s held: %v", tt.path, got)
		}
	}
}

// A reader sees the whiteboard as of its place, whatever is written later, and
// only the writes that it is bound to.
func TestReadAsOfPlace(t *testing.T) {
	x, y := at("state", "o", "x"), at("state", "o", "y")
	w := initial(t, `{"o":{"x":0}}`)
	write(t, w, 2, x, Set, `1`)
	write(t, w, 4, at("state", "o"), Merge, `{"y":2,"x":3}`)
	write(t, w, 6, at("state", "o"), Set, `{"z":4}`)
	write(t, w, 8, y, Set, `5`)
	write(t, w, 8, y, Set, `6`)
	for _, tt := range []struct {
		path          Path
		since, before Place
		want          string
	}{
		{x, 0, 1, `0`}, {x, 0, 2, `0`}, {x, 0, 3, `1`}, {x, 0, 5, `3`}, {x, 0, 7, ``},
		{x, 2, 3, `1`}, {x, 3, 4, ``}, {x, 3, 5, `3`}, {x, 2, 2, ``}, {x, 5, 2, ``},
		{y, 0, 4, ``}, {y, 0, 5, `2`}, {y, 0, 8, ``}, {y, 0, 9, `6`},
		{at("state", "o"), 0, 5, `{"x":3,"y":2}`},
		{at("state", "o"), 1, 5, `{"x":3,"y":2}`}, // x since 2
		{at("state", "o"), 3, 5, `{"x":3,"y":2}`}, // of one place in the order in which they first came
		{at("state", "o"), 5, 9, `{"z":4,"y":6}`},
		{at("state", "o"), 7, 9, `{"y":6}`},
		{at("state"), 7, 9, `{"o":{"y":6}}`},
		{at("state"), 9, End, ``},
	} {
		want(t, w, tt.path, tt.since, tt.before, tt.want)
	}
}

// A reader that is bound since a place starts from nothing: members come in the
// order of the writes that it sees, and a merge of {} is one.
func TestReadObjectSince(t *testing.T) {
	o := at("state", "o")
	w := initial(t, `{"o":{"x":0}}`)
	write(t, w, 2, at("state", "o", "b"), Set, `2`)
	write(t, w, 3, at("state", "o", "a", "l"), Push, `3`)
	write(t, w, 5, at("state", "o", "a", "l"), Push, `5`)
	write(t, w, 6, at("state", "o", "b"), Set, `6`)
	write(t, w, 7, o, Merge, `{}`)
	want(t, w, o, 0, End, `{"x":0,"b":6,"a":{"l":[3,5]}}`)
	want(t, w, o, 2, End, `{"b":6,"a":{"l":[3,5]}}`)
	want(t, w, o, 4, End, `{"a":{"l":[5]},"b":6}`)
	want(t, w, o, 7, End, `{}`)
	want(t, w, o, 8, End, ``)
}

// A reader that is bound since a place knows the elements that came since.
func TestReadListSince(t *testing.T) {
	l := at("state", "l")
	w := initial(t, `{"l":[0,{"a":1}]}`)
	write(t, w, 2, at("state", "l", 1), Set, `{"b":2}`)
	write(t, w, 3, l, Push, `3`)
	write(t, w, 4, at("state", "l", 1, "c"), Set, `4`)
	write(t, w, 5, l, Concat, `[5,6]`)
	write(t, w, 6, at("state", "l", 2), Set, `7`)
	want(t, w, l, 0, End, `[0,{"b":2,"c":4},7,5,6]`)
	want(t, w, l, 2, End, `[7,5,6]`)
	want(t, w, l, 4, End, `[5,6]`)
	want(t, w, l, 6, End, ``)
	want(t, w, at("state", "l", 1), 2, 3, `{"b":2}`) // the very element that was set
	want(t, w, at("state", "l", 1, "b"), 2, End, `2`)
	want(t, w, at("state", "l", 1), 3, End, `{"c":4}`)
	want(t, w, at("state", "l", 2), 6, End, `7`)
	want(t, w, at("state", "l", 3), 2, End, `5`)
	want(t, w, at("state", "l", 0), 2, End, ``)
	want(t, w, at("state", "l", -1), 2, End, `6`)
	want(t, w, at("state", "l", -4), 2, End, ``)
}

// Members follow in the order of the places that made them, not as they came.
func TestOrderOfMembersIsOfPlaces(t *testing.T) {
	w := blank(t)
	write(t, w, 5, at("state", "o", "e"), Set, `5`)
	write(t, w, 3, at("state", "o", "c"), Set, `3`)
	write(t, w, 4, at("state", "p", "d"), Set, `4`)
	write(t, w, 2, at("state", "o", "b", "x"), Push, `2`)
	want(t, w, at("state"), 0, End, `{"o":{"b":{"x":[2]},"c":3,"e":5},"p":{"d":4}}`)

	// Both make the same element, whichever comes first.
	write(t, w, 9, at("state", "l", 0, "x"), Set, `9`)
	write(t, w, 7, at("state", "l", 0, "y"), Set, `7`)
	want(t, w, at("state", "l"), 0, End, `[{"y":7,"x":9}]`)
	want(t, w, at("state", "l"), 0, 8, `[{"y":7}]`)
}

// A set of a top-level member counts by its place even when it comes after all
// that builds on it.
func TestLateSet(t *testing.T) {
	w := initial(t, `{"a":1}`)
	write(t, w, 7, at("state", "a"), Set, `{"seven":7}`)
	write(t, w, 9, at("state", "a"), Merge, `{"nine":9}`)
	write(t, w, 8, at("state", "a"), Set, `{"eight":8}`)
	write(t, w, 3, at("state"), Merge, `{"a":{"three":3},"b":3}`)
	write(t, w, 2, at("state", "a"), Set, `{"two":2}`)
	want(t, w, at("state"), 0, End, `{"a":{"eight":8,"nine":9},"b":3}`)
	want(t, w, at("state", "a"), 0, 8, `{"seven":7}`)
	want(t, w, at("state", "a"), 0, 4, `{"two":2,"three":3}`)
	write(t, w, 5, at("state"), Set, `{"five":5}`)
	want(t, w, at("state"), 0, 6, `{"five":5}`)
	want(t, w, at("state"), 0, 8, `{"five":5,"a":{"seven":7}}`)

	// What does not apply on it any more is left out, until it does.
	write(t, w, 14, at("state", "b", "n"), Set, `14`)
	write(t, w, 12, at("state", "b"), Set, `[12]`)
	want(t, w, at("state", "b"), 0, End, `[12]`)
	write(t, w, 13, at("state", "b"), Set, `{"m":13}`)
	want(t, w, at("state", "b"), 0, End, `{"m":13,"n":14}`)
}

func TestLog(t *testing.T) {
	w := blank(t)
	write(t, w, 5, at("state", "b"), Set, ` [ 1 ] `)
	write(t, w, 2, at("data", "a"), Push, `2`)
	write(t, w, 5, at("state", "c"), Merge, `{}`)
	want := []Entry{
		{2, at("data", "a"), Push, json.RawMessage(`2`)},
		{5, at("state", "b"), Set, json.RawMessage(`[1]`)},
		{5, at("state", "c"), Merge, json.RawMessage(`{}`)},
	}
	var got []Entry
	for e := range w.Log() {
		got = append(got, e)
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got %v", got)
	}
	for range w.Log() {
		break
	}
}

func TestNew(t *testing.T) {
	w, err := New(map[string]json.RawMessage{"user": json.RawMessage(`{"a":1}`)})
	if err != nil || fmt.Sprint(w.Kinds()) != "[data input state user]" {
		t.Errorf("%v %v", w.Kinds(), err)
	}
	write(t, w, 1, at("user", "a"), Set, `2`)
	if _, ok := w.Snapshot("nobody"); ok {
		t.Error("a kind that there is not")
	}
	if _, err := New(map[string]json.RawMessage{"user": json.RawMessage(`[]`)}); err == nil || err.Error() != "†user is a list; a kind as a whole is always an object" {
		t.Error(err)
	}
}

// What a reader was given stays as it was.
func TestResultsStay(t *testing.T) {
	w := initial(t, `{"a":{"b":[1]},"c":2}`)
	got, _ := w.Read(at("state", "a"), 0, 1)
	_ = append(got, "garbage"...)
	write(t, w, 1, at("state", "a", "b"), Push, `2`)
	want(t, w, at("state"), 0, End, `{"a":{"b":[1,2]},"c":2}`)
	if string(got) != `{"b":[1]}` {
		t.Errorf("got %s", got)
	}

	value := append(make(json.RawMessage, 0, 10), "[3]"...)
	if err := w.Write(2, at("state", "a"), Set, value); err != nil {
		t.Fatal(err)
	}
	got, _ = w.Read(at("state", "a"), 0, End)
	_ = append(got, "garbage"...)
	if rest := value[:10][3:]; string(rest) != string(make([]byte, 7)) {
		t.Errorf("a reader wrote %q behind the value", rest)
	}
}

// Many write to paths of their own and read what is settled, at once.
func TestManyGoroutines(t *testing.T) {
	const n, each = 8, 200
	w := initial(t, string(large(tableFrom*4)))
	var all sync.WaitGroup
	for g := range n {
		all.Go(func() {
			own := at("state", "new", fmt.Sprint("g", g))
			for i := range each {
				place := Place(i*n + g + 1)
				write(t, w, place, own, Push, fmt.Sprint(i))
				want(t, w, append(own, Segment{Kind: Index, Index: -1}), 0, place+1, fmt.Sprint(i))
				want(t, w, at("state", "byName", "last", "id"), 0, place, `-1`)
			}
		})
	}
	all.Wait()
	for g := range n {
		raw, _ := w.Read(at("state", "new", fmt.Sprint("g", g)), 0, End)
		var l []int
		if err := json.Unmarshal(raw, &l); err != nil || len(l) != each {
			t.Errorf("%s %v", raw, err)
		}
	}
}
