package texttree

import (
	"bytes"
	"strings"
	"testing"

	"github.com/plc-lang/plc/internal/jsonscan"
)

func TestYAML(t *testing.T) {
	strict := YAML{What: "files", MaxDepth: 4}
	loose := YAML{What: "files", MaxDepth: 4, MaxNodes: 20, MaxBytes: 200, Aliases: true, Loose: true, Numbers: true}
	for _, c := range []struct {
		text string
		y    YAML
		want string // JSON, or the fault with its offset
	}{
		{"a: 1\nb: [x, null, true, 2026-11-23]", strict, `{"a":1,"b":["x",null,true,"2026-11-23"]}`},
		{"a: &x 1\nb: *x", strict, "11: *x is an alias, which files do not have; write the value out"},
		{"a: &x [1]\nb: *x\nc: *x", loose, `{"a":[1],"b":[1],"c":[1]}`},
		{"&x [*x]", loose, "4: *x stands inside the value that it names"},
		{"a: &x [[[1]]]\nb: {c: *x}", loose, "21: nested more than 4 deep"},
		{"[[[[[1]]]]]", strict, "4: nested more than 4 deep"},
		{"a: &x [1,2,3,4,5,6]\nb: [*x,*x,*x]", loose, "27: the text has more than 20 values, with its aliases written out"},
		{"a: &x " + strings.Repeat("y", 90) + "\nb: [*x,*x,*x]", loose, "104: the text has more than 200 bytes, with its aliases written out"},
		{"a: 1\n\"a\": 2", strict, `5: the name "a" stands twice in one object`},
		{"a: 1\n\"a\": 2", loose, `5: the name "a" stands twice in one object`},
		{"200: a", strict, `0: the name 200 is not a string; write "200"`},
		{"200: a", loose, `{"200":"a"}`},
		{"? [a]\n: b", loose, "2: a name is a string"},
		{"<<: {a: 1}", loose, "0: << merges, which files do not have; write the members out"},
		{"a: 0x1F", strict, `3: the number 0x1F is not written as in JSON; write "0x1F" if it is text`},
		{"a: 0x1F\nb: 1e999\nc: .5", loose, `{"a":31,"b":1e999,"c":0.5}`},
		{"a: !own b", strict, "3: the tag !own is not one that files have"},
		{"a: !own b", loose, `{"a":"b"}`},
		{"a: 1\n---\nb: 2", strict, "0: there are several documents in the file, and one is read"},
		{"# nothing", strict, "0: there is nothing in the file"},
		{"a:\n\tb: 1", strict, "3: a tab: YAML is indented by spaces"},
		{"a: b # c\u2028d: e", strict, `8: the character U+2028 ends a line in YAML 1.1 and not in YAML 1.2; write \u2028 in double quotes, or leave it out`},
		{"a: b # c\u0085d: e", strict, `8: the character U+0085 ends a line in YAML 1.1 and not in YAML 1.2; write \u0085 in double quotes, or leave it out`},
		{`a: "b\u2028c"`, strict, "{\"a\":\"b\\u2028c\"}"},
		{"a: \xff", strict, "0: the text is not UTF-8"},
	} {
		if got := outcome(c.y.Parse([]byte(c.text))); got != c.want {
			t.Errorf("%q:\n%s, want\n%s", c.text, got, c.want)
		}
	}
}

func outcome(n *Node, err *jsonscan.Error) string {
	if err != nil {
		return string(jsonscan.Encode(err.Offset)) + ": " + err.Message
	}
	return string(n.JSON())
}

// Every value knows where it stands, in both forms.
func TestSpans(t *testing.T) {
	for _, text := range []string{"{\"a\": [\"x\", 12], // no\n\"b\": true}", "a: [\"x\", 12] # no\nb: true"} {
		n, err := ParseJSON([]byte(text), 4)
		if err != nil {
			n, err = YAML{MaxDepth: 4}.Parse([]byte(text))
		}
		if err != nil {
			t.Fatal(err)
		}
		for pointer, want := range map[string]string{"/a/0": `"x"`, "/a/1": "12", "/b": "true", "/b/c": "true"} {
			at := n.At(pointer).Span
			if got := text[at.Start:at.End]; got != want {
				t.Errorf("%s of %q is %s", pointer, text, got)
			}
		}
	}
}

// What a text of YAML comes to is JSON without duplicate names, within the limits.
func FuzzYAML(f *testing.F) {
	for _, text := range []string{"a: &x [1]\nb: *x", "{a: !t b, 1: .5}", "- 1\n- - 2", "a: |\n  b\n  c"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		y := YAML{What: "files", MaxDepth: 10, MaxNodes: 1000, MaxBytes: 1 << 16, Aliases: true, Loose: true, Numbers: true}
		n, err := y.Parse(text)
		if err != nil {
			if err.Offset < 0 || err.Offset > len(text) {
				t.Fatalf("a fault at %d of %d bytes", err.Offset, len(text))
			}
			return
		}
		out := n.JSON()
		if err := jsonscan.Check(out, jsonscan.Limits{MaxBytes: 1 << 18, MaxDepth: 11}); err != nil {
			t.Fatalf("%q gives %q: %v", text, out, err)
		}
		again, err := ParseJSON(out, 10)
		if err != nil || !bytes.Equal(again.JSON(), out) {
			t.Fatalf("%q gives %q, and that %v", text, out, err)
		}
	})
}
