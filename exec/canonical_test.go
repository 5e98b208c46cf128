package exec

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
)

// asRead is a text as package json writes what it has read, itself if it can't.
func asRead(text []byte) []byte {
	d := json.NewDecoder(bytes.NewReader(text))
	d.UseNumber()
	var v any
	if d.Decode(&v) != nil {
		return text
	}
	out, err := json.Marshal(v)
	if err != nil {
		return text
	}
	return out
}

var canonicalTexts = []struct {
	text  string
	plain bool // it is not left to package json
}{
	{`null`, true},
	{`-0.10e+5`, true},
	{` [ 1 , "two" , [ ] , { } , true ] `, true},
	{`{"node":1,"in":[{"city":"Rome","at":1.0}]}`, true},
	{`{"b":{"y":1,"x":[{"q":1,"p":2}]},"a":{"d":1,"c":2},"c":0}`, true},
	{`{"a":1,"b":2,"c":3}`, true},
	{`{"a b":1,"a":2,"a!":3,"":4,"aa":5}`, true},
	{`{"é":"größe","z":"漢字","😀":1}`, true},
	{`{"a":1,"a":2}`, false},
	{`{"b":{"a":1,"a":2}}`, false},
	{`{"a":"x\ny","b":"\u0041"}`, false},
	{`{"\u0061":1,"a":2}`, false},
	{`{"a<b":"<&>"}`, false},
	{"\"\u2028\"", false},
	{"\"\xff\"", false},
	{`1 2`, false},
	{`{"a":1`, false},
	{`{"a" 1}`, false},
	{`{1:2}`, false},
	{`[1,]`, false},
	{`{"a":1,}`, false},
	{`tru`, false},
	{``, false},
	{strings.Repeat("[", 64) + strings.Repeat("]", 64), true},
	{strings.Repeat("[", 65) + strings.Repeat("]", 65), false},
	{strings.Repeat(`{"a":`, 65) + "1" + strings.Repeat("}", 65), false},
}

// Digests are of the same text whether or not it is left to package json.
func TestCanonical(t *testing.T) {
	for _, c := range canonicalTexts {
		if got, want := canonical([]byte(c.text)), asRead([]byte(c.text)); !bytes.Equal(got, want) {
			t.Errorf("%s: %s, want %s", c.text, got, want)
		}
		z := canonizer{}
		z.lex.Text = []byte(c.text)
		if _, plain := z.text(); plain != c.plain {
			t.Errorf("%s: plain is %t", c.text, plain)
		}
	}
}

func FuzzCanonical(f *testing.F) {
	for _, c := range canonicalTexts {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if got, want := canonical([]byte(text)), asRead([]byte(text)); !bytes.Equal(got, want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	})
}

// What nearly every call is given costs its text and the list of its members.
func TestCanonicalAllocations(t *testing.T) {
	text := []byte(`{"node":17,"in":[{"city":"Rome","zip":"00100"}]}`)
	if n := testing.AllocsPerRun(100, func() { canonical(text) }); n > 5 {
		t.Errorf("%v allocations", n)
	}
	if n := testing.AllocsPerRun(100, func() { digest(text, text, nil) }); n > 2 {
		t.Errorf("%v allocations for a digest", n)
	}
}

func BenchmarkCanonical(b *testing.B) {
	text := []byte(`{"node":17,"in":[{"city":"Rome","zip":"00100"}]}`)
	b.ReportAllocs()
	for b.Loop() {
		digest([]byte("node"), canonical(text), canonical(nil))
	}
}
