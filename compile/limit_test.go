package compile_test

import (
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
		{`"v": "†state` + strings.Repeat(".a", 10_000) + `"`, []diag.Code{diag.NothingThere}},
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
