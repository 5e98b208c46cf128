package forecast

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/plc-lang/plc/compile"
)

// layers returns documents, each with n calls that delegate to the next; those of the last have this
// text. They are d0.json to the number of layers.
func layers(n, depth int, last string) fstest.MapFS {
	docs := fstest.MapFS{fmt.Sprintf("d%d.json", depth): {Data: []byte(last)}}
	for d := range depth {
		var calls []string
		for i := range n {
			calls = append(calls, fmt.Sprintf(`{"_tool": "look", "_id": "c%d", "_delegate": "d%d.json"}`, i, d+1))
		}
		docs[fmt.Sprintf("d%d.json", d)] = &fstest.MapFile{Data: []byte("[" + strings.Join(calls, ",") + "]")}
	}
	return docs
}

// Documents that many calls delegate to have very many paths: only so many are listed, and one of
// them is found without the others.
func TestManyPaths(t *testing.T) {
	docs := layers(10, 8, `[{"_tool": "look", "_id": "last"}, {"_tool": "wipe", "_id": "w"}]`)
	plan := string(docs["d0.json"].Data)
	prog := compiled(t, plan, docs, map[string]string{"look": `{}`, "wipe": `{}`})
	bytes, n := 0, 0
	for path := range AllPaths(prog) {
		bytes += len(path)
		if n++; bytes > maxPathBytes {
			t.Fatalf("%d paths have %d bytes", n, bytes)
		}
	}
	deep := strings.Repeat("c7/", 8)
	for path, want := range map[string]string{"c3": "look", deep + "w": "wipe", deep + "nope": "", "c3/w": "", deep + "w/c1": "", "": ""} {
		c, ok := CallAt(prog, path)
		if ok != (want != "") || ok && c.Tool.Definition.Name != want {
			t.Errorf("%s: %v", path, ok)
		}
	}
	_, err := newWalk(prog, &Options{Branch: map[string]string{"c0/c0/c00": "x"}})
	if err == nil || !strings.Contains(err.Error(), `did you mean "c0/c0/c0"?`) {
		t.Error(err)
	}
	for range Paths(prog, func(*compile.Call) bool { return false }) {
		t.Error("a call that nobody wants")
	}
}

// Paths are in plan order, and only of the calls that are wanted, however deep they are.
func TestPathsOfSome(t *testing.T) {
	docs := layers(2, 2, `[{"_tool": "look", "_id": "l"}, {"_tool": "wipe", "_id": "w"}]`)
	prog := compiled(t, string(docs["d0.json"].Data), docs, map[string]string{"look": `{}`, "wipe": `{}`})
	var got []string
	for path := range Paths(prog, func(c *compile.Call) bool { return c.Tool.Definition.Name == "wipe" }) {
		got = append(got, path)
	}
	if want := []string{"c0/c0/w", "c0/c1/w", "c1/c0/w", "c1/c1/w"}; !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
}
