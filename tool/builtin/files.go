package builtin

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/internal/driver"
)

// maxEntries is the maximum number of entries in a list.
const maxEntries = 10_000

// folders are the folders and files that tools may reach, as absolute paths.
type folders []folder

// folder is an allowed path, and whether it was a single file when the config was read.
type folder struct {
	path string
	file bool
}

func newFolders(cfg Config) (folders, error) {
	if len(cfg.Paths) == 0 {
		return nil, errors.New("no folder is allowed that it could reach")
	}
	var all folders
	for _, p := range cfg.Paths {
		abs, err := filepath.Abs(p)
		if err != nil {
			return nil, err
		}
		info, err := os.Stat(abs)
		all = append(all, folder{abs, err == nil && !info.IsDir()})
	}
	return all, nil
}

// open opens the allowed folder that a path is in, and returns the path relative to it. The caller
// has to close the folder. Links on the way are checked when the path is used: os.Root follows none
// that leads out of it.
func (f folders) open(name string) (*os.Root, string, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return nil, "", failure(err)
	}
	for _, dir := range f {
		dir, single := dir.path, dir.file
		rel, err := filepath.Rel(dir, abs)
		if err != nil || !filepath.IsLocal(rel) {
			continue
		}
		if info, err := os.Stat(dir); single || err == nil && !info.IsDir() { // a file by itself
			if rel != "." {
				continue
			}
			dir, rel = filepath.Dir(dir), filepath.Base(dir)
		}
		root, err := os.OpenRoot(dir)
		if err != nil {
			return nil, "", failure(err)
		}
		return root, rel, nil
	}
	return nil, "", &tool.Error{Code: "not-allowed", Permanent: true, Message: fmt.Sprintf("%q is not within the allowed paths", driver.Head([]byte(name), 200))}
}

// failure returns the tool's error for an error of the file system. Paths in it are relative to the
// allowed folder, as os.Root reports them.
func failure(err error) error {
	e := &tool.Error{Code: "io", Message: driver.Printable([]byte(err.Error())), Err: err}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		e.Code, e.Permanent = "not-found", true
	case errors.Is(err, fs.ErrPermission):
		e.Code, e.Permanent = "not-allowed", true
	case strings.Contains(err.Error(), "escapes from parent"): // os has no name for it
		e.Code, e.Permanent = "not-allowed", true
	}
	return e
}

// inFolder makes an activity whose param path is in one of the folders.
func inFolder(cfg Config, do func(ctx context.Context, root *os.Root, name string, p driver.Params) (tool.Result, error)) (tool.Activity, error) {
	allowed, err := newFolders(cfg)
	if err != nil {
		return nil, err
	}
	return tool.ActivityFunc(func(ctx context.Context, req *tool.Request) (tool.Result, error) {
		p := driver.ReadParams(req.Params)
		name, _ := p.Text("path")
		if name == "" || strings.ContainsRune(name, 0) {
			return tool.Result{}, driver.Refuse("the param \"path\" is no path")
		}
		root, rel, err := allowed.open(name)
		if err != nil {
			return tool.Result{}, err
		}
		defer func() { _ = root.Close() }() // it was only read
		return do(ctx, root, rel, p)
	}), nil
}

func newRead(cfg Config) (tool.Activity, error) {
	return inFolder(cfg, func(_ context.Context, root *os.Root, name string, _ driver.Params) (tool.Result, error) {
		if err := regular(root.Stat(name)); err != nil { // before it is opened: opening a pipe would wait for a writer
			return tool.Result{}, err
		}
		f, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0) // does not wait either if a pipe has replaced it since
		if err != nil {
			return tool.Result{}, failure(err)
		}
		defer func() { _ = f.Close() }()
		if err := regular(f.Stat()); err != nil {
			return tool.Result{}, err
		}
		text, err := io.ReadAll(io.LimitReader(f, cfg.MaxBytes+1))
		if err != nil {
			return tool.Result{}, failure(err)
		}
		return cfg.text(text)
	})
}

// regular returns an error unless the file is a regular one.
func regular(info fs.FileInfo, err error) error {
	switch {
	case err != nil:
		return failure(err)
	case info.IsDir():
		return &tool.Error{Code: "io", Message: "it is a folder; dir.list lists it", Permanent: true}
	case !info.Mode().IsRegular():
		return &tool.Error{Code: "io", Message: "it is neither a file nor a folder", Permanent: true}
	}
	return nil
}

func newWrite(cfg Config) (tool.Activity, error) {
	return inFolder(cfg, func(_ context.Context, root *os.Root, name string, p driver.Params) (tool.Result, error) {
		text, _ := p.Text("text")
		if int64(len(text)) > cfg.MaxBytes {
			return tool.Result{}, tooLarge(cfg.MaxBytes)
		}
		if err := replace(root, filepath.ToSlash(name), text); err != nil {
			return tool.Result{}, err
		}
		return tool.Result{Value: fmt.Appendf(nil, `{"bytes":%d}`, len(text))}, nil
	})
}

// replace writes a temporary file in the same folder and renames it, so that nobody ever sees half
// a file.
func replace(root *os.Root, name, text string) error {
	mode := fs.FileMode(0o666)
	switch info, err := root.Stat(name); {
	case err == nil:
		if err := regular(info, nil); err != nil {
			return err
		}
		mode = info.Mode().Perm()
	case !errors.Is(err, fs.ErrNotExist):
		return failure(err)
	}
	if err := root.MkdirAll(path.Dir(name), 0o777); err != nil {
		return failure(err)
	}
	beside := path.Join(path.Dir(name), ".plc-"+rand.Text())
	err := root.WriteFile(beside, []byte(text), mode)
	if err == nil {
		err = root.Rename(beside, name)
	}
	if err != nil {
		_ = root.Remove(beside) // it may not be there
		return failure(err)
	}
	return nil
}

// listed is an entry of a list.
type listed struct {
	Name string `json:"name"`
	Type string `json:"type"`
	Size int64  `json:"size"`
}

func newList(cfg Config) (tool.Activity, error) {
	return inFolder(cfg, func(ctx context.Context, root *os.Root, name string, p driver.Params) (tool.Result, error) {
		recursive, _ := p.Raw("recursive")
		list, err := entries(ctx, root, filepath.ToSlash(name), recursive == "true")
		if err != nil {
			return tool.Result{}, err
		}
		value, err := json.Marshal(list)
		return tool.Result{Value: value}, err
	})
}

// entries lists a folder.
func entries(ctx context.Context, root *os.Root, dir string, recursive bool) ([]listed, error) {
	if info, err := root.Stat(dir); err != nil {
		return nil, failure(err)
	} else if !info.IsDir() {
		return nil, &tool.Error{Code: "io", Message: "it is no folder; file.read reads it", Permanent: true}
	}
	below, err := root.OpenRoot(dir)
	if err != nil {
		return nil, failure(err)
	}
	defer func() { _ = below.Close() }()
	list := []listed{}
	err = fs.WalkDir(below.FS(), ".", func(name string, e fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return driver.Stopped(ctx, false)
		case err != nil:
			return failure(err)
		case name == ".":
			return nil
		case len(list) == maxEntries:
			return &tool.Error{Code: driver.TooLarge, Message: fmt.Sprintf("more than %d entries", maxEntries), Permanent: true}
		}
		entry, err := describe(name, e)
		if err != nil {
			return err
		}
		list = append(list, entry)
		if e.IsDir() && !recursive {
			return fs.SkipDir
		}
		return nil
	})
	return list, err
}

func describe(name string, e fs.DirEntry) (listed, error) {
	l := listed{Name: strings.ToValidUTF8(name, "\ufffd"), Type: "other"}
	switch {
	case e.Type().IsRegular():
		l.Type = "file"
		info, err := e.Info()
		if err != nil {
			return l, failure(err)
		}
		l.Size = info.Size()
	case e.IsDir():
		l.Type = "dir"
	case e.Type()&fs.ModeSymlink != 0:
		l.Type = "link"
	}
	return l, nil
}
