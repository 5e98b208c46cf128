package label_test

import (
	"fmt"

	"github.com/plc-lang/plc/tool/label"
)

// A text that is made of a user's name and of a web page is as bad as the worse of the two.
func ExamplePolicy_Join() {
	p := label.New()
	name := label.Label{Trust: 1, Secrecy: 1}
	page := label.Label{Trust: 0, Secrecy: 0}
	fmt.Println(p.Words(p.Join(name, page)))
	// Output: untrusted, internal
}
