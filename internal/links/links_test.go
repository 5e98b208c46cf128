package links

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
)

// A name is outside when a link leads there, wherever on its way the link stands.
func TestOutside(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("links need a privilege there")
	}
	dir := t.TempDir()
	for _, folder := range []string{"home", "repo/sub"} {
		if err := os.MkdirAll(filepath.Join(dir, folder), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, file := range []string{"home/file", "repo/file"} {
		if err := os.WriteFile(filepath.Join(dir, file), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, target := range map[string]string{
		"repo/out": "../home/file", "repo/whole": filepath.Join(dir, "home/file"), "repo/folder": "../home",
		"repo/twice": "out", "repo/in": "file", "repo/inwhole": filepath.Join(dir, "repo/file"),
		"repo/around": "../repo/file", "repo/none": "nothing", "repo/noneout": "../home/nothing",
		"clone": "repo",
	} {
		if err := os.Symlink(target, filepath.Join(dir, name)); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(filepath.Join(dir, "repo"))
	for _, c := range []struct{ folder, name, want string }{
		{".", "file", ""}, {".", "new", ""}, {".", "new/new", ""}, {".", "sub/new", ""},
		{".", "in", ""}, {".", "inwhole", ""}, {".", "around", ""},
		{"../clone", "../clone/file", ""}, {"../clone", "file", ""},
		{".", "../home/file", "home/file"}, {"sub", "file", "repo/file"},
		{".", "out", "home/file"}, {".", "whole", "home/file"}, {".", "twice", "home/file"},
		{".", "folder/file", "home/file"}, {".", "folder/new", "home"}, {".", "folder/new/new", "home"},
		{"../clone", "../clone/out", "home/file"},
	} {
		want := c.want
		if want != "" {
			want = filepath.Join(dir, want)
		}
		if got, err := Outside(c.folder, c.name); got != want || err != nil {
			t.Errorf("%s in %s: %q (%v), want %q", c.name, c.folder, got, err, want)
		}
	}
	for _, name := range []string{"none", "noneout", "none/below"} {
		if got, err := Outside(".", name); got != "" || err == nil || !strings.Contains(err.Error(), "make that file, or remove the link") {
			t.Errorf("%s: %q, %v", name, got, err)
		}
	}
}
