// Package effort says how much the tests do. "go test ./..." tries few generated cases, so that
// whoever changes something need not wait for many. With PLC_TESTS=long in the environment, as
// every night and for some of the tests in CI, the same tests try many.
package effort

import "os"

// Long reports whether the tests are to try many cases.
func Long() bool { return os.Getenv("PLC_TESTS") == "long" }

// Of returns many with Long, else few: how many cases a test tries, or how far apart they are.
func Of(few, many int) int {
	if Long() {
		return many
	}
	return few
}
