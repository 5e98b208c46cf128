package durable

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// A file is replaced behind a link, keeps its mode, and leaves nothing else in its folder.
func TestWriteFile(t *testing.T) {
	dir := t.TempDir()
	name, link := filepath.Join(dir, "a"), filepath.Join(dir, "link")
	if err := WriteFile(name, []byte("one")); err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS == "windows" {
		link = name
	} else {
		if info, _ := os.Stat(name); info.Mode().Perm() != 0o600 {
			t.Errorf("a new file has the mode %v", info.Mode())
		}
		if err := errors.Join(os.Chmod(name, 0o640), os.Symlink("a", link)); err != nil {
			t.Fatal(err)
		}
	}
	if err := WriteFile(link, []byte("two")); err != nil {
		t.Fatal(err)
	}
	info, err := os.Lstat(name)
	if err != nil || runtime.GOOS != "windows" && info.Mode() != 0o640 {
		t.Errorf("the file has the mode %v (%v)", info.Mode(), err)
	}
	if text, _ := os.ReadFile(name); string(text) != "two" {
		t.Errorf("the file has %q", text)
	}
	if all, _ := os.ReadDir(dir); len(all) > 2 {
		t.Errorf("the folder has %v", all)
	}
	if err := WriteFile(filepath.Join(dir, "no", "file"), nil); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("without a folder: %v", err)
	}
}

// A file is made once.
func TestCreate(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a")
	if err := Create(name, []byte("one")); err != nil {
		t.Fatal(err)
	}
	if err := Create(name, []byte("two")); !errors.Is(err, fs.ErrExist) {
		t.Errorf("the second time: %v", err)
	}
	if text, _ := os.ReadFile(name); string(text) != "one" {
		t.Errorf("the file has %q", text)
	}
}

// A file that is read-only is neither written nor replaced.
func TestReadOnlyFilesStay(t *testing.T) {
	name := filepath.Join(t.TempDir(), "a")
	if err := os.WriteFile(name, []byte("one"), 0o444); err != nil {
		t.Fatal(err)
	}
	err := WriteFile(name, []byte("two"))
	if text, _ := os.ReadFile(name); err == nil || string(text) != "one" {
		t.Errorf("%v; it has %q", err, text)
	}
}
