package adaptive_test

import (
	"fmt"

	"github.com/plc-lang/plc/exec/adaptive"
)

func ExampleLimiter_Acquire() {
	l := adaptive.New(8) // at most
	slot, ok := l.Acquire()
	fmt.Println(ok, l.Limit())
	_, ok = l.Acquire() // it begins with one
	fmt.Println(ok)
	slot.Release(true)
	// Output:
	// true 1
	// false
}
