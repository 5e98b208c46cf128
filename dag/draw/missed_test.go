package draw_test

import (
	"bytes"
	"strings"
	"testing"

	"github.com/plc-lang/plc/dag/draw"
)

// What no test has reached is on its node, whole in the tooltip, and in the legend.
func TestMissed(t *testing.T) {
	g := &draw.Graph{Nodes: []draw.Node{
		{ID: "pay", Missed: []string{"a retry", "<fallback>"}},
		{ID: "ship", Missed: []string{"1", "2", "3", "4", "5", "6", "7", "8"}},
		{ID: "mail"},
	}}
	for name, test := range map[string]struct{ want, not []string }{
		"svg":  {[]string{`data-missed="2"`, ">✗ a retry<", ">✗ &lt;fallback&gt;<", `data-missed="8"`, ">✗ 5<", ">✗ and 3 more<", "✗ 8", "no test reaches it"}, []string{">✗ 6<"}},
		"txt":  {[]string{"✗ a retry ✗ <fallback>"}, nil},
		"json": {[]string{`"missed": [`, `"a retry"`}, nil},
	} {
		for _, w := range writers() {
			var got bytes.Buffer
			if err := w.write(&got, g); err != nil {
				t.Fatal(err)
			}
			for _, want := range test.want {
				if w.format == name && !strings.Contains(got.String(), want) {
					t.Errorf("%s: no %q in\n%s", name, want, got.String())
				}
			}
			for _, not := range test.not {
				if w.format == name && strings.Contains(got.String(), not) {
					t.Errorf("%s: %q in\n%s", name, not, got.String())
				}
			}
		}
	}
	var plain bytes.Buffer
	if err := draw.SVG(&plain, &draw.Graph{Nodes: []draw.Node{{ID: "mail"}}}); err != nil || strings.Contains(plain.String(), "✗") {
		t.Errorf("%s, %v", plain.String(), err)
	}
}
