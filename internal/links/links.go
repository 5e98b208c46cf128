// Package links resolves symbolic links.
package links

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Outside returns the resolved path of a file if that is outside a folder, and "" if it is in the
// folder or below it. For a file that does not exist, it resolves the nearest existing folder
// above. A link whose target does not exist is an error.
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

// resolved returns the absolute path of a file, with links resolved.
func resolved(name string) (string, error) {
	whole, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(whole)
}
