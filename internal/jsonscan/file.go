package jsonscan

import (
	"fmt"
	"io"
	"os"
)

// ReadFile reads a file of at most DefaultMaxBytes. A file that is larger, or has no end, is an
// error.
func ReadFile(name string) ([]byte, error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, DefaultMaxBytes+1))
	if err == nil && len(text) > DefaultMaxBytes {
		return nil, fmt.Errorf("%s has more than %d MiB, which is the most that is read", name, DefaultMaxBytes>>20)
	}
	return text, err
}
