//go:build !(linux || darwin || dragonfly || freebsd || netbsd || openbsd || windows)

package main

import "io"

// flushInput does nothing where it is not known how to throw away what was typed.
func flushInput(io.Reader) {}
