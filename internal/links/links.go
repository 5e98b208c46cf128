// Package links finds out where symbolic links lead.
package links

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Outside returns the file that a name means if a link leads it out of a folder, and "" if it is in
// the folder or below it. Of a file that is not there yet, the folder counts that it would be in. A
// link to nothing is an error.
func Outside(folder, name string) (string, error) {
	root, err := resolved(folder)
	if err != nil {
		return "", err
	}
	at, err := resolved(name)
	for above := name; errors.Is(err, fs.ErrNotExist); at, err = resolved(above) {
		if target, notLink := os.Readlink(above); notLink == nil {
			return "", fmt.Errorf("%s is a link to a file that is not there, %s; make that file, or remove the link", above, target)
		}
		above = filepath.Dir(above)
	}
	if err != nil {
		return "", err
	}
	if inside, err := filepath.Rel(root, at); err == nil && filepath.IsLocal(inside) {
		return "", nil
	}
	return at, nil
}

// resolved returns the whole path of a file, without links.
func resolved(name string) (string, error) {
	whole, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(whole)
}
