// Package effort decides how much the tests do. "go test ./..." tries few generated cases, so that
// it is fast during development. With PLC_TESTS=long in the environment the same tests try many:
// this is set in the nightly run and for some of the tests in CI.
package effort

import "os"

// Long reports whether the tests should try many cases.
func Long() bool { return os.Getenv("PLC_TESTS") == "long" }

// Of returns many if Long is true, and few otherwise. It is for the number of cases that a test
// tries, or for the distance between them.
func Of(few, many int) int {
	if Long() {
		return many
	}
	return few
}
