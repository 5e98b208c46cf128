// Package links finds out where symbolic links lead.
package links

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Outside returns the resolved path of a file if that is not in a folder or below it, and "" if it
// is. For a file that does not exist, it resolves the nearest folder above that does. A link whose
// target does not exist is an error.
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
