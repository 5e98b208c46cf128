//go:build darwin || dragonfly || freebsd || netbsd || openbsd

package main

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// flushInput discards text that was typed at a terminal and not read yet.
func flushInput(terminal io.Reader) {
	if f, ok := terminal.(*os.File); ok {
		_ = unix.IoctlSetPointerInt(int(f.Fd()), unix.TIOCFLUSH, unix.TCIFLUSH)
	}
}
