package main

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/state"
	"github.com/plc-lang/plc/tool"
)

func boardSection(set *Settings, r *Report) error {
	r.say("## The whiteboard")
	table := &Table{Head: []string{"what", "measured"}}
	for _, size := range []int{32, 512} {
		if err := manyWrites(set, r, table, size); err != nil {
			return err
		}
	}
	if err := greatDocument(set, r, table); err != nil {
		return err
	}
	if err := manyPushes(set, r, table); err != nil {
		return err
	}
	r.table(table)
	return nil
}

// manyWrites writes and reads many times on a tenth of as many paths, values of so many
// bytes.
func manyWrites(set *Settings, r *Report, table *Table, size int) error {
	writes := pick(set, 1_000_000, 100_000)
	one := func(write int) []byte {
		text := fmt.Sprintf(`{"write":%d,"fill":"`, write)
		return slices.Clip([]byte(text + strings.Repeat("x", max(0, size-len(text)-2)) + `"}`))
	}
	paths := make([]state.Path, writes/10)
	for i := range paths {
		paths[i] = state.Path{{Name: "state"}, {Name: fmt.Sprintf("group%d", i%100)}, {Name: fmt.Sprintf("key%d", i)}}
	}
	board, err := state.New(nil)
	if err != nil {
		return err
	}
	before := heap()
	start := time.Now()
	for i := range writes {
		if err := board.Write(state.Place(i+1), paths[i%len(paths)], state.Set, one(i)); err != nil {
			return err
		}
	}
	wrote := time.Since(start)
	kept := heap() - before
	start = time.Now()
	for i := range writes {
		p := i * 7919 % len(paths)
		v, ok := board.Read(paths[p], 0, state.End)
		if want := one(writes - len(paths) + p); !ok || string(v) != string(want) {
			return fmt.Errorf("%v is %s, and not %s", paths[p], v, want)
		}
	}
	read := time.Since(start)
	log := 0
	for e := range board.Log() {
		log += len(e.Value)
	}
	name := fmt.Sprintf("%s writes of %d bytes on %s paths", count(writes), size, count(len(paths)))
	table.add(name+", a write", number(wrote.Seconds()*1e6/float64(writes))+" µs")
	table.add("as many reads, a read", number(read.Seconds()*1e6/float64(writes))+" µs")
	table.add("memory over the JSON of all that was written, none of which is forgotten", number(kept/float64(log))+"×")
	r.atMost("whiteboard: memory of "+name+", over their JSON", 3, kept/float64(log), "×")
	return nil
}

// greatDocument begins with a large document.
func greatDocument(set *Settings, r *Report, table *Table) error {
	size := pick(set, 100<<20, 10<<20)
	before := heap()
	doc := rowsOf(size)
	length := len(doc)
	start := time.Now()
	board, err := state.New(map[string]json.RawMessage{"state": doc})
	if err != nil {
		return err
	}
	made := time.Since(start)
	rows := state.Path{{Name: "state"}, {Name: "rows"}, {Kind: state.Index, Index: 1000}, {Name: "id"}}
	start = time.Now()
	v, ok := board.Read(rows, 0, 1)
	first := time.Since(start)
	if !ok || string(v) != "1000" {
		return fmt.Errorf("%v is %s", rows, v)
	}
	again := 0
	start = time.Now()
	for ; time.Since(start) < 10*time.Millisecond; again++ {
		board.Read(rows, 0, 1)
	}
	each := time.Since(start) / time.Duration(again)
	if err := board.Write(1, rows, state.Set, []byte(`7`)); err != nil {
		return err
	}
	kept := heap() - before
	runtime.KeepAlive(board)
	name := fmt.Sprintf("a document of %d MB", size>>20)
	table.add(name+": begin with it", made.Round(time.Millisecond/10).String())
	table.add("the first read of an element of its list", first.Round(time.Millisecond/10).String())
	table.add("another read", each.Round(time.Nanosecond*10).String())
	table.add("memory, with the text itself and a write in the middle, over the text", number(kept/float64(length))+"×")
	r.atMost("whiteboard: memory of "+name+", over its JSON", 3, kept/float64(length), "×")
	return nil
}

// rowsOf is a document of about this size, with no room behind it.
func rowsOf(size int) json.RawMessage {
	var b strings.Builder
	b.WriteString(`{"rows":[`)
	for i := 0; b.Len() < size; i++ {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"id":%d,"city":"Rome","zip":"00100","tags":["a","b"],"note":"Lorem ipsum dolor sit amet"}`, i)
	}
	b.WriteString(`],"last":{"n":1}}`)
	return json.RawMessage(b.String())
}

// manyPushes runs plans that push to one list.
func manyPushes(set *Settings, r *Report, table *Table) error {
	var times []float64
	for _, n := range pick(set, []int{10_000, 100_000}, []int{1000, 10_000}) {
		text := calls(func(int) string { return `"n":1,"_outputPath":"†state.list","_outputMethod":"push"` })(n)
		cat, err := typed(func(context.Context, *tool.Request) (tool.Result, error) {
			return tool.Result{Value: []byte(`{"n":1}`)}, nil
		})
		if err != nil {
			return err
		}
		k, err := check([]byte(text), cat)
		if err != nil {
			return err
		}
		var runs Spread
		for range set.Rounds {
			start := time.Now()
			res, err := exec.Run(context.Background(), k.prog, &exec.Options{})
			if err != nil || res.Status != exec.Completed {
				return fmt.Errorf("%v: %v", res, err)
			}
			runs = append(runs, time.Since(start).Seconds())
			if got := strings.Count(string(res.State), `{"n":1}`); got != n+1 {
				return fmt.Errorf("%d values of %d calls", got, n)
			}
		}
		table.add(fmt.Sprintf("a run of %s calls that push to one list, a call", count(n)), number(runs.Median()*1e6/float64(n))+" µs")
		times = append(times, runs.Median())
	}
	r.atMost("whiteboard: ten times as many calls that push to one list", 11, times[1]/times[0], "×")
	return nil
}
