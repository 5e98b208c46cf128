// Command explaingen makes the pages of plc explain from the comments in diag/codes.go: the table
// diag/codes_gen.go, and docs/codes with an index. go generate in diag runs it; codes.go describes
// the form of the comments.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

func main() {
	if err := run("."); err != nil {
		fmt.Fprintln(os.Stderr, "explaingen:", err)
		os.Exit(1)
	}
}

// run generates the files from codes.go. dir is the folder of package diag.
func run(dir string) error {
	files, err := generate(filepath.Join(dir, "codes.go"))
	if err != nil {
		return err
	}
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(dir, filepath.FromSlash(name)), text, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// generate returns the text of each file to write, by its path relative to package diag.
func generate(source string) (map[string][]byte, error) {
	src, err := os.ReadFile(source)
	if err != nil {
		return nil, err
	}
	entries, err := parse(src)
	if err != nil {
		return nil, err
	}
	table, err := goTable(entries)
	if err != nil {
		return nil, err
	}
	files := map[string][]byte{
		"codes_gen.go":            table,
		"../docs/codes/README.md": index(entries),
	}
	for _, e := range entries {
		files["../docs/codes/"+e.ID()+".md"] = page(e)
	}
	return files, nil
}
