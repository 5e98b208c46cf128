package yaml_test

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang/yaml"
)

func TestFormat(t *testing.T) {
	for _, test := range []struct{ text, want string }{
		{"# a\n\n\ncalls:\n- _tool:   a\n  x:  1   # one\n\n\n\n-   _tool: b\n    y:\n        z: [1,\n            2]\noutput: 'x'\n\n\n",
			"# a\n\ncalls:\n  - _tool: a\n    x: 1   # one\n\n  - _tool: b\n    y:\n      z: [1,\n          2]\noutput: 'x'\n"},
		{"- _tool: a\n  x: |\n      one\n        two  \n\n      three\n\n\n  y: >+\n   one\n\n\n- z: |2\n      odd\n  w: \"a\n b  \n    c\"\n",
			"- _tool: a\n  x: |\n    one\n      two  \n\n    three\n\n  y: >+\n    one\n\n\n- z: |2\n      odd\n  w: \"a\n    b  \n    c\"\n"},
		{"-\n    a : 1\n    # about b\n    b:\n    - - 1\n      -   2\n    -\n      - {x: 1}\n    # the last\n# the end", "-\n  a: 1\n  # about b\n  b:\n    - - 1\n      - 2\n    -\n      - {x: 1}\n    # the last\n# the end\n"},
		{"a:\n   one\n   two\nb: it's\n\n  three # and\r\nc: [ 'it''s', \"\\\"[\",\r\n  d ]\r\n", "a:\n  one\n  two\nb: it's\n\n  three # and\nc: [ 'it''s', \"\\\"[\",\n  d ]\n"},
		{"--- # head\na: 1\n", "--- # head\na: 1\n"},
		{"[\n  {_tool: a},\n  {_tool: b}\n]", "[\n  {_tool: a},\n  {_tool: b}\n]\n"},
		{"a: b: c", ""},
		{"", ""},
	} {
		got, err := yaml.Format([]byte(test.text))
		if string(got) != test.want || (err != nil) != (test.want == "") {
			t.Errorf("%s\nbecomes (%v)\n%s\nwant\n%s", test.text, err, got, test.want)
		}
	}
}

// The YAML of this repository can be formatted, and twice is once.
func TestFormatsRealFiles(t *testing.T) {
	n := 0
	err := filepath.WalkDir("../..", func(name string, e fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case e.IsDir() && (strings.HasPrefix(e.Name(), ".") && len(e.Name()) > 2 || e.Name() == "node_modules" || e.Name() == "suite"):
			return fs.SkipDir
		case e.IsDir() || filepath.Ext(name) != ".yaml" && filepath.Ext(name) != ".yml":
			return nil
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if _, fault := yaml.Read(diag.NewFile(name, text), 100); fault != nil {
			return nil // no YAML, or with aliases
		}
		once, err := yaml.Format(text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			return nil
		}
		if twice, err := yaml.Format(once); err != nil || !bytes.Equal(once, twice) {
			t.Errorf("%s: %v", name, err)
		}
		n++
		return nil
	})
	if err != nil || n < 20 {
		t.Error(n, "files", err)
	}
}

// What is formatted stays as it is when it is formatted again.
func FuzzFormat(f *testing.F) {
	for _, text := range []string{"a:\n- b: 'c\n\n   d'\n  # e\n- |+\n\n   f\n\n", "- - {a: [b,\n c]}\n  - >2-\n     x\n\n#y", "a: \"\\\n  b\"\n---", "? a\n: b", "00\r "} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		once, err := yaml.Format(text)
		if err != nil {
			if !errors.Is(err, yaml.ErrNotFormattable) {
				t.Fatal(err)
			}
			return
		}
		if twice, err := yaml.Format(once); err != nil || !bytes.Equal(once, twice) {
			t.Fatalf("%q becomes %q, and that %q, %v", text, once, twice, err)
		}
	})
}
