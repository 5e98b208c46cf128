package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestUpToDate wants the schemas in the repository to be what go generate makes.
func TestUpToDate(t *testing.T) {
	files, err := generate()
	if err != nil {
		t.Fatal(err)
	}
	for name, want := range files {
		got, err := os.ReadFile(filepath.Join("../..", name))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s is not current (%v); run go generate ./editors/schema", name, err)
		}
	}
}
