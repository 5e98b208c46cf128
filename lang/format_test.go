package lang

import (
	"errors"
	"strings"
	"testing"

	"github.com/plc-lang/plc/diag"
)

var formats = []struct{ name, text, want string }{
	{"an empty plan", ` [ ] `, "[]\n"},
	{"one call", `[{"_tool":"a"}]`, "[\n  {\"_tool\": \"a\"}\n]\n"},
	{"numbers and strings as written", `[{"_tool":"\u0061","x":[1.50,-0E+2,"\/\u00e9"]}]`, `[
  {"_tool": "\u0061", "x": [1.50, -0E+2, "\/\u00e9"]}
]
`},
	{"expressions", `[{"_tool":"a","x":" †state.a||'b' ","y":"a † x †{ †input.name<|>'c' } ††{","_outputPath":"†state.a  &&†state.b","_when":"†state[\"ok\"]","_scopes":["†input . x","state"],"d":"5†"}]`, `[
  {
    "_tool": "a",
    "x": "†state.a || 'b'",
    "y": "a † x †{input.name <|> 'c'} ††{",
    "_outputPath": "†state.a && †state.b",
    "_when": "†state.ok",
    "_scopes": ["†input . x", "state"],
    "d": "5†"
  }
]
`},
	{"a long call", `[{"_tool":"a","text":"a text that is so long that the call does not fit on one line of a hundred","x":{"y":[]},"z":{}}]`, `[
  {
    "_tool": "a",
    "text": "a text that is so long that the call does not fit on one line of a hundred",
    "x": {"y": []},
    "z": {}
  }
]
`},
	{"a request", `{"context":[{"type":"input","a":1},{"type":"plan","plan":[{"_tool":"a"}]}],"solution":{"calls":[{"_tool":"b"}],"output":null}}`, `{
  "context": [
    {"type": "input", "a": 1},
    {"type": "plan", "plan": [{"_tool": "a"}]}
  ],
  "solution": {
    "calls": [
      {"_tool": "b"}
    ],
    "output": null
  }
}
`},
	{"comments and blank lines", "\ufeff// head\r\n\r\n\n/* two */ [ // open\r\n\r\n  {\"_tool\": \"a\", /* here */ \"x\": 1,}, // trail\n\n\n // own\n {\"_tool\":\"b\", // c1\n \"y\": /* v */ 2,\n\n \"l\":[1,2,{/* e */}]} /*z*/ ,\n [// \n]\n\n // end  \n]\n// after\n\n// eof", `// head

/* two */
[ // open
  {
    "_tool": "a",
    /* here */
    "x": 1
  }, // trail

  // own
  {
    "_tool": "b", // c1
    /* v */
    "y": 2,

    "l": [
      1,
      2,
      { /* e */
      }
    ]
  }, /*z*/
  [ //
  ]

  // end
]
// after

// eof
`},
}

func TestFormat(t *testing.T) {
	for _, c := range formats {
		doc, _ := parse(c.text, nil)
		got, err := Format(doc)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v\n%s\nwant\n%s", c.name, err, got, c.want)
			continue
		}
		if again := formatted(t, string(got)); again != c.want {
			t.Errorf("%s: formatted again it is\n%s", c.name, again)
		}
	}
}

func formatted(t *testing.T, text string) string {
	doc, _ := parse(text, nil)
	out, err := Format(doc)
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

func TestFormatOfAHundredColumns(t *testing.T) {
	call := func(n int) string { return `{"_tool": "a", "x": "` + strings.Repeat("é", n) + `"}` }
	n := 100 - len("  ") - len(call(0)) - len(",")
	if got := formatted(t, "["+call(n)+"]"); strings.Count(got, "\n") != 3 {
		t.Errorf("a call of 100 columns is not on one line:\n%s", got)
	}
	if got := formatted(t, "["+call(n+1)+"]"); strings.Count(got, "\n") != 6 {
		t.Errorf("a call of 101 columns is on one line:\n%s", got)
	}
}

func TestFormatOfAnAnswer(t *testing.T) {
	doc, list := parse("Sure /* no comment */ [{'_tool': 'a', x: “†{ †input.a } \"b\"”, \"y\": None // why\n}] // that's all", &Options{Answer: true})
	if list.HasErrors() {
		t.Fatal(showAll(list))
	}
	const want = `[
  {
    "_tool": "a",
    "x": "†{input.a} \"b\"",
    "y": null // why
  }
]
`
	if got, err := Format(doc); err != nil || string(got) != want {
		t.Errorf("%v\n%s", err, got)
	}
}

func TestWhatIsNotReadIsNotFormatted(t *testing.T) {
	for _, text := range []string{"", "[", `{"hello":1}`, `[{"_tool":"a" "x":1}]`, "[[[[[]]]]]"} {
		doc, list := Parse(diag.NewFile("plan.json", []byte(text)), &Options{MaxDepth: 4})
		if out, err := Format(doc); !errors.Is(err, ErrNotFormattable) || out != nil || !list.HasErrors() {
			t.Errorf("%q: %s %v", text, out, err)
		}
	}
	if got := formatted(t, `[{"_tool":"a","_tool":1,"_foo":2,"x":"†"},3]`); !strings.Contains(got, `"_tool": 1, "_foo": 2`) {
		t.Errorf("a document with other errors:\n%s", got)
	}
}
