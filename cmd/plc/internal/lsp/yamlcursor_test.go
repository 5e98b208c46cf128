package lsp

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/plc-lang/plc/internal/texttree"
)

// The cursor at each name and each string of the YAML of this repository has the path that they
// have in the tree, and knows which other members there are.
func TestCursorsAreWhereTheTreeIs(t *testing.T) {
	files, places := 0, 0
	err := filepath.WalkDir("../../../..", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (strings.HasPrefix(e.Name(), ".") && len(e.Name()) > 2 || e.Name() == "node_modules" || e.Name() == "suite"):
			return fs.SkipDir
		case e.IsDir() || filepath.Ext(name) != ".yaml" && filepath.Ext(name) != ".yml":
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil || len(text) > 20_000 {
			return err
		}
		root, fault := texttree.YAML{What: "files", MaxDepth: 100, Loose: true, Numbers: true}.Parse(text)
		if fault != nil {
			return nil
		}
		files++
		w := &cursorWalk{t: t, name: name, text: text}
		w.walk(root, nil)
		places += w.places
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d places in %d files", places, files)
	if files < 20 || places < 2000 {
		t.Error("that is too few: what is tested has gone elsewhere")
	}
}

type cursorWalk struct {
	t      *testing.T
	name   string
	text   []byte
	places int
}

func (w *cursorWalk) walk(n *texttree.Node, path []any) {
	names := []string{}
	for _, e := range n.Entries {
		names = append(names, e.Name)
	}
	for i, e := range n.Entries {
		below := append(slices.Clip(path), any(i))
		if n.Kind == texttree.Object {
			below[len(path)] = e.Name
			w.at(int(e.Key.Start), append(slices.Clip(path), any("")), append(slices.Clip(names[:i]), names[i+1:]...))
		}
		if e.Value.Kind == texttree.String && e.Value.Span.End > e.Value.Span.Start && strings.IndexByte("&*!|>", w.text[e.Value.Span.Start]) < 0 {
			w.at(int(e.Value.Span.Start), below, nil)
		}
		w.walk(e.Value, below)
	}
}

// at wants one of the cursors at an offset to have a path and, as a name, these members.
func (w *cursorWalk) at(offset int, path []any, names []string) {
	w.places++
	var got []string
	for _, c := range yamlCursors(w.text, offset) {
		if fmt.Sprint(c.way(0)) == fmt.Sprint(path) && c.inName == (names != nil) {
			if names != nil {
				have := slices.Compact(slices.Sorted(slices.Values(c.inner().names)))
				want := slices.Sorted(slices.Values(names))
				if !slices.Equal(slices.DeleteFunc(slices.Clone(have), func(s string) bool { return !slices.Contains(want, s) }), want) || len(have) > len(want)+1 {
					w.t.Errorf("%s: at %d are the names %q, not %q and perhaps its own", w.name, offset, have, want)
				}
			}
			return
		}
		got = append(got, fmt.Sprint(c.way(0), c.inName))
	}
	w.t.Errorf("%s: %d (%.20q) is %v, not %v", w.name, offset, w.text[offset:], got, path)
}
