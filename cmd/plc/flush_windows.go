package main

import (
	"io"
	"os"

	"golang.org/x/sys/windows"
)

// flushInput discards text that was typed at a terminal and not read yet.
func flushInput(terminal io.Reader) {
	if f, ok := terminal.(*os.File); ok {
		_ = windows.FlushConsoleInputBuffer(windows.Handle(f.Fd()))
	}
}
