package state

import (
	"encoding/json"
	"testing"
	"unicode/utf8"
)

// FuzzNames: any name can be written and read back, by Apply, whose library
// reads names as paths, and by a whiteboard; no other member changes.
func FuzzNames(f *testing.F) {
	for _, name := range []string{
		"", "a", "0", "-1", ":", ":1", "::a", "a.b", ".", "..", "..0", `\`, `\\`, `a\`, `\.`, `"`, "*", "?", "a*", "#", "a.#", "@this", "@pretty",
		"!", `!"x"`, "{a,b}", "[a]", "(", "|", "a|b", "~", "%", "=", "<&>", "é", "†", "\u2028", "\x00", "\n", "\x7f", "😀", " ", "a b",
	} {
		f.Add(name, "b")
		f.Add(name, name)
		f.Add("x", name)
	}
	f.Fuzz(func(t *testing.T, outer, inner string) {
		if !utf8.ValidString(outer) || !utf8.ValidString(inner) {
			return // no JSON text holds such a name
		}
		want := map[string]any{"x": 1.0, "": map[string]any{"x": 2.0}, "a": map[string]any{}}
		if _, ok := want[outer].(map[string]any); !ok && outer != "x" {
			want[outer] = map[string]any{}
		}
		doc, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		w, path := initial(t, string(doc)), Path{{Name: "state"}, {Name: outer}, {Name: inner}}
		got, err := Apply(doc, path[1:], Set, json.RawMessage(`[3]`))
		if outer == "x" {
			if err == nil {
				t.Errorf("a member of a number: %s", got)
			}
			return
		}
		want[outer].(map[string]any)[inner] = []any{3.0}
		text, _ := json.Marshal(want)
		if err != nil || !sameValue(t, got, text) {
			t.Errorf("%q %q: got %s %v, want %s", outer, inner, got, err, text)
		}
		write(t, w, 1, path, Set, `[3]`)
		if got, _ := w.Snapshot("state"); !sameValue(t, got, text) {
			t.Errorf("%q %q: got %s, want %s", outer, inner, got, text)
		}
		if got, _ := w.Read(path, 0, End); string(got) != `[3]` {
			t.Errorf("%q %q: read %s", outer, inner, got)
		}
	})
}
