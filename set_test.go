package plc_test

import (
	"strings"
	"testing"

	"github.com/plc-lang/plc"
)

// A value that was meant as JSON is not taken as text.
func TestParseSet(t *testing.T) {
	for _, test := range []struct{ set, value string }{
		{"state.user=Ada", `"Ada"`}, {"input.n=1.50", "1.50"}, {"input.list=[1, 2]", "[1, 2]"}, {"input.empty=", `""`}, {"input.x= [1", `" [1"`},
		{"input.list=[1, 2", ""}, {`input.o={"a": }`, ""}, {`input.s="a`, ""}, {"input.a.", ""}, {"input=1", ""},
	} {
		got, err := plc.ParseSet([]string{test.set})
		path, _, _ := strings.Cut(test.set, "=")
		if string(got[path]) != test.value || (err != nil) != (test.value == "") {
			t.Errorf("%s: %s, %v", test.set, got[path], err)
		}
	}
}
