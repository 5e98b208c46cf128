// Package durable writes files so that a crash can't leave them incomplete.
package durable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
)

// WriteFile writes a file. After a crash the file has either its old text or the new one. An
// existing file keeps its mode, and a link to it stays a link; only the owner can read a new file.
// A device, a pipe or anything else that is not a regular file is written to, not replaced. A
// read-only file is an error.
func WriteFile(name string, text []byte) error {
	mode := fs.FileMode(0o600)
	if info, err := os.Stat(name); err == nil {
		if !info.Mode().IsRegular() {
			return os.WriteFile(name, text, 0)
		}
		if mode = info.Mode().Perm(); mode&0o222 == 0 {
			return fmt.Errorf("can't write %s: it is read-only; make it writable first", name)
		}
		if name, err = filepath.EvalSymlinks(name); err != nil {
			return err
		}
	}
	if err := replace(name, text, mode); err != nil {
		return fmt.Errorf("can't write %s: %w", name, err)
	}
	return nil
}

func replace(name string, text []byte, mode fs.FileMode) error {
	f, err := os.CreateTemp(filepath.Dir(name), ".plc-*")
	if err != nil {
		return err
	}
	defer os.Remove(f.Name()) // unless it was renamed
	_, err = f.Write(text)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	if err := os.Rename(f.Name(), name); err != nil {
		return err
	}
	return SyncFolder(name)
}

// Create makes a new file. If several callers try it at once, one succeeds and the others get an
// error that is fs.ErrExist.
func Create(name string, text []byte) error {
	f, err := os.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(text)
	if err = errors.Join(err, f.Sync(), f.Close()); err != nil {
		return err
	}
	return SyncFolder(name)
}

// SyncFolder syncs the folder of a file, which makes the creation, renaming or removal of the file
// durable.
func SyncFolder(file string) error {
	if runtime.GOOS == "windows" { // has no such call; a rename is durable there
		return nil
	}
	d, err := os.Open(filepath.Dir(file))
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
