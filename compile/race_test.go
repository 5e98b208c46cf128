//go:build race

package compile_test

// fewer is how many cases of n a test tries under the race detector, with which all takes ten times
// as long.
func fewer(n int) int { return max(n/8, 1) }
