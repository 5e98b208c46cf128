package lang

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
)

const nodeText = `[{"_tool": "a", "x": {"a/b": [1.50, -0, {"c~d": null}], "": {"": "\u0041\n"}}, "y": [true, false,], /* c */ "z": "†state.q",}]`

func TestNode(t *testing.T) {
	doc, list := parse(nodeText, nil)
	if len(list) > 0 {
		t.Fatal(showAll(list))
	}
	for pointer, want := range map[string]string{
		"":                 `[{"_tool":"a","x":{"a/b":[1.50,-0,{"c~d":null}],"":{"":"\u0041\n"}},"y":[true,false],"z":"†state.q"}]`,
		"/0/x/a~1b":        `[1.50,-0,{"c~d":null}]`,
		"/0/x/a~1b/0":      `1.50`,
		"/0/x/a~1b/2/c~0d": `null`,
		"/0/x/":            `{"":"\u0041\n"}`,
		"/0/x//":           `"\u0041\n"`,
		"/0/y/1":           `false`,
	} {
		n, ok := doc.Root.At(pointer)
		if got := string(n.AppendJSON(nil)); !ok || got != want {
			t.Errorf("%q: %s %v, want %s", pointer, got, ok, want)
		}
		if got := n.Pointer(); got != pointer {
			t.Errorf("the value at %q is at %q", pointer, got)
		}
	}
	for pointer, want := range map[string]string{
		"/1": "", "/00": "", "/-1": "", "x": "", "/0/q": "/0", "/0/x/a~1b/3/d": "/0/x/a~1b", "/0/y/0/a": "/0/y/0", "/0/z/": "/0/z",
	} {
		if n, ok := doc.Root.At(pointer); ok || n.Pointer() != want {
			t.Errorf("%q: %q %v, want as far as %q", pointer, n.Pointer(), ok, want)
		}
	}
	call := doc.Calls[0].Node
	if call.Len() != 4 || doc.Root.Len() != 1 || call.get("z").Len() != 0 {
		t.Errorf("lengths %d, %d, %d", call.Len(), doc.Root.Len(), call.get("z").Len())
	}
	if s, _ := doc.Root.At("/0/x//"); s.Str() != "A\n" || call.Str() != "" {
		t.Errorf("%q", s.Str())
	}
	if m, ok := call.Member("y"); !ok || string(doc.File.Text[m.Key.Start:m.Key.End]) != `"y"` || m.Value.Loc().File != doc.File {
		t.Errorf("%+v", m)
	}
	for range call.Members() {
		break
	}
	for range doc.Root.Elements() {
		break
	}
}

func TestTheZeroNodeIsNoValue(t *testing.T) {
	var n Node
	if m, ok := n.Member("x"); ok || !m.Value.IsZero() || n.Kind() != Null || n.Str() != "" || n.Len() != 0 ||
		n.Pointer() != "" || n.Text() != nil || !n.Span().IsZero() || !n.Loc().IsZero() || n.AppendJSON(nil) != nil {
		t.Error("it has something")
	}
	if len(slices.Collect(n.Members())) != 0 {
		t.Error("it has members")
	}
	for range n.Texts() {
		t.Error("it has texts")
	}
	if _, ok := n.At("/a"); ok {
		t.Error("it has something below it")
	}
}

func TestMoreNamesThanAreKept(t *testing.T) {
	const n = maxNames + 1000
	members := make(map[string]int, n)
	for i := range n {
		members[fmt.Sprintf("n%d", i)] = i
	}
	text, err := json.Marshal([]any{map[string]any{"_tool": "a", "x": members}})
	if err != nil {
		t.Fatal(err)
	}
	doc, list := parse(string(text), nil)
	if len(list) > 0 {
		t.Fatal(showAll(list))
	}
	x := doc.Calls[0].Params[0].Value
	for m := range x.Members() {
		if string(m.Value.AppendJSON(nil)) != fmt.Sprint(members[m.Name]) {
			t.Fatalf("member %q is %s", m.Name, m.Value.AppendJSON(nil))
		}
	}
	if m, ok := x.Member("n99999"); ok || !m.Value.IsZero() {
		t.Error("found what is not there")
	}
	if m, ok := x.Member("n9999"); !ok || string(m.Value.AppendJSON(nil)) != "9999" {
		t.Errorf("one of the last in the text is not found: %+v", m)
	}
}
