package compile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang"
)

func TestLongPaths(t *testing.T) {
	for _, c := range []struct {
		call string
		want []diag.Code
	}{
		{`"v": 1, "_outputPath": "†state` + strings.Repeat(".a", 999) + `"`, nil},
		{`"v": 1, "_outputPath": "†state` + strings.Repeat(".a", 1000) + `"`, []diag.Code{diag.OverLimit}},
		{`"v": "†state` + strings.Repeat(".a", 999) + `"`, []diag.Code{diag.NothingThere}},
		{`"v": "†state` + strings.Repeat(".a", 1000) + `"`, []diag.Code{diag.OverLimit}},
		{`"v": "†{state` + strings.Repeat(".a", 100_000) + `}"`, []diag.Code{diag.OverLimit}},
	} {
		doc, findings := lang.Parse(diag.NewFile("plan.json", []byte(`[{"_tool": "e", `+c.call+`}]`)), nil)
		_, more := compile.Compile(doc, &compile.Options{Catalogue: catalogue(t)})
		var got []diag.Code
		for _, f := range append(findings, more...) {
			if f.Severity == diag.Error {
				got = append(got, f.Code)
			}
		}
		if len(got) != len(c.want) || len(got) > 0 && got[0] != c.want[0] {
			t.Errorf("%.40s…: %v, want %v", c.call, got, c.want)
		}
	}
}

// Cycles that are not told one by one are counted by their calls.
func TestManyCycles(t *testing.T) {
	opts := &compile.Options{Catalogue: catalogue(t)}
	for calls, want := range map[int]string{40: "", 42: "2 more calls are on cycles", 100: "60 more calls are on cycles"} {
		_, findings := compiled(t, []byte(list(calls, func(i int) string {
			return fmt.Sprintf(`"_tool":"e","v":"†state.y%d","_outputPath":"†state.y%d"`, i^1, i)
		})), opts)
		var told []string
		for _, f := range findings {
			if f.Code == diag.Cycle {
				told = append(told, f.Message)
			}
		}
		if more := told[20:]; strings.Join(more, "") != want {
			t.Errorf("%d calls: %d cycles, and %q, want %q", calls, len(told), more, want)
		}
	}
}
