//go:build !race

package compile_test

// fewer is n: how many cases a test tries.
func fewer(n int) int { return n }
