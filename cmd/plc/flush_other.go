//go:build !(linux || darwin || dragonfly || freebsd || netbsd || openbsd || windows)

package main

import "io"

// flushInput does nothing on systems where plc can't discard typed text.
func flushInput(io.Reader) {}
