package draw_test

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/plc-lang/plc/dag/draw"
)

// Marks are on their node with the sign and the colour of their grade, and the legend has the
// grades that there are. Of many the last lines say how many more there are, with the worst of their
// grades.
func TestMarks(t *testing.T) {
	g := &draw.Graph{Nodes: []draw.Node{{ID: "pay", Marks: []draw.Mark{{"iban: <forbidden>", draw.Worst}, {"amount: allowed", draw.Best}}}}}
	for name, want := range map[string][]string{
		"svg":  {">● iban: &lt;forbidden&gt;<", ">○ amount: allowed<", "untrusted or secret; forbidden"},
		"txt":  {"● iban: <forbidden> ○ amount: allowed"},
		"json": {`"text": "amount: allowed"`, `"grade": "worst"`},
	} {
		for _, w := range writers() {
			var got bytes.Buffer
			if err := w.write(&got, g); err != nil {
				t.Fatal(err)
			}
			for _, text := range want {
				if w.format == name && !strings.Contains(got.String(), text) {
					t.Errorf("%s: no %q in\n%s", name, text, got.String())
				}
			}
			if name == "svg" && strings.Contains(got.String(), "between these") {
				t.Error("the legend has a grade that there is not")
			}
		}
	}
	many := draw.Node{ID: "pay"}
	for i := range 20 {
		many.Marks = append(many.Marks, draw.Mark{Text: fmt.Sprint(i)})
	}
	many.Marks[15].Grade = draw.Middle
	var svg bytes.Buffer
	if err := draw.SVG(&svg, &draw.Graph{Nodes: []draw.Node{many}}); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(svg.String(), ">◐ and 11 more<") || strings.Contains(svg.String(), ">○ 9<") {
		t.Errorf("%s", svg.String())
	}
}
