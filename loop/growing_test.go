package loop

import (
	"bytes"
	"testing"

	"github.com/tidwall/gjson"

	"github.com/plc-lang/plc/internal/jsonscan"
)

// What is taken from the text of a solution while that is being written are the first of the
// calls that it has when it is whole, whatever the pieces; and all of them, when the text is
// nothing but one object, which has the calls under their usual name.
func FuzzGrowing(f *testing.F) {
	for _, text := range []string{
		`{"calls":[{"_tool":"a"},{"_tool":"b","x":{"calls":[{}]}}],"output":null}`,
		`{"output":"calls","x":["calls",{"calls":[{}]}],"calls":[{"q":"]}\"{"},{}]}`,
		`{"c\u0061lls":[{}],"calls":[{}]}`, `{"calls":{"calls":[{}]}}`, `{"calls":[[{}],1,{"a":[]},null]}`,
		`I say {"calls":[{}]}`, `[{"_tool":"a"}]`, `{"calls":[{}],"calls":[{"b":1}]}`, `<think>{</think>{"calls":[{}]}`, `{"plan":{"calls":[{}]}}`, `"calls" {"calls":[{}]`,
	} {
		f.Add(text, uint8(3))
	}
	f.Fuzz(func(t *testing.T, text string, size uint8) {
		var g, whole growing
		var got [][]byte
		for rest := text; rest != ""; {
			n := min(len(rest), 1+int(size))
			got = append(got, g.add(rest[:n])...)
			rest = rest[n:]
		}
		all := whole.add(text)
		if len(all) != len(got) {
			t.Fatalf("%d calls in pieces, %d at once", len(got), len(all))
		}
		for i, c := range got {
			if !bytes.Equal(c, all[i]) {
				t.Errorf("call %d: %s in pieces, %s at once", i, c, all[i])
			}
		}
		if jsonscan.Check([]byte(text), jsonscan.Limits{}) != nil { // duplicate members are an error
			return
		}
		var want []string
		for _, c := range gjson.Get(text, "calls").Array() {
			if c.IsObject() {
				want = append(want, c.Raw)
			}
		}
		v := gjson.Parse(text)
		if !v.IsObject() || !v.Get("calls").IsArray() || !bytes.Contains([]byte(text), []byte(`"calls"`)) {
			return
		}
		if len(got) > len(want) {
			t.Fatalf("%d calls, and %d in the whole", len(got), len(want))
		}
		for i, c := range got {
			if string(c) != want[i] {
				t.Errorf("call %d: %s, and %s in the whole", i, c, want[i])
			}
		}
	})
}
