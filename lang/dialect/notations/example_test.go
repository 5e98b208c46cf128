package notations_test

import (
	"fmt"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/lang/dialect/notations"
)

func ExampleLookup() {
	n, _ := notations.Lookup("rewoo")
	doc, findings := n.Parse(diag.NewFile("plan.txt", []byte("Plan: Look. #E1 = Search[cheetah]")), nil)
	fmt.Println(n.What, len(doc.Calls), findings.Err())
	// Output: a ReWOO plan 1 <nil>
}
