package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/durable"
	"github.com/plc-lang/plc/internal/jsonscan"
)

// shownName returns the name of a file in findings.
func shownName(name string) string {
	if name == "-" {
		return "<stdin>"
	}
	return name
}

// readFile reads a file that is not a plan.
func (env *environment) readFile(name string) ([]byte, error) {
	text, err := env.readText(name)
	if err == nil && len(text) > jsonscan.DefaultMaxBytes {
		return nil, fmt.Errorf("%s has more than %d MiB, which is the most that is read", shownName(name), jsonscan.DefaultMaxBytes>>20)
	}
	return text, err
}

// readText reads a file, or standard input for "-", up to one byte more than a
// document may have.
func (env *environment) readText(name string) ([]byte, error) {
	f, err := env.open(name)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, jsonscan.DefaultMaxBytes+1))
	if err != nil {
		return nil, plc.ReadError(err)
	}
	return text, nil
}

// open opens a file, or standard input for "-", and notes that it was read. For a file of the
// project it returns the text that was trusted.
func (env *environment) open(name string) (io.ReadCloser, error) {
	if name == "-" {
		if env.stdinRead {
			return nil, errors.New("standard input can be read only once: give one of the files by its name")
		}
		env.stdinRead = true
		if f, ok := env.stdin.(*os.File); ok {
			env.remember(f)
		}
		return io.NopCloser(env.stdin), nil
	}
	f, err := os.Open(name)
	if err == nil {
		env.remember(f)
	}
	text, ofProject := env.trusted[name]
	if ofProject && err == nil {
		f.Close()
	}
	switch {
	case text != nil:
		return io.NopCloser(bytes.NewReader(text)), nil
	case err != nil:
		return nil, plc.ReadError(err)
	case ofProject:
		return nil, fmt.Errorf("can't read %s: when plc started, it was not there, or too large", name)
	}
	return f, nil
}

// remember notes which file was read, so that it is not overwritten.
func (env *environment) remember(f *os.File) {
	info, err := f.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return
	}
	env.reading.Lock()
	defer env.reading.Unlock()
	if !slices.ContainsFunc(env.read, func(before os.FileInfo) bool { return os.SameFile(before, info) }) {
		env.read = append(env.read, info)
	}
}

// checkOutput returns an error if a file to write was read, under any name, or belongs to a store.
func (env *environment) checkOutput(flag, name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return nil // it does not exist yet, or writing will report the error
	}
	if info.Mode().IsRegular() && isDatabase(name) {
		return fmt.Errorf("--%s %s would overwrite a store of runs: name another file", flag, name)
	}
	if slices.ContainsFunc(env.read, func(read os.FileInfo) bool { return os.SameFile(read, info) }) {
		return fmt.Errorf("--%s %s would overwrite a file that is read: name another one", flag, name)
	}
	return nil
}

// writeSVG writes a picture to the file that a flag names; for "" it does nothing.
func (env *environment) writeSVG(flag, name string, draw func(io.Writer) error) error {
	if err := env.checkOutput(flag, name); name == "" || err != nil {
		return err
	}
	var picture bytes.Buffer
	if err := draw(&picture); err != nil {
		return fmt.Errorf("--%s: %w", flag, err)
	}
	return durable.WriteFile(name, picture.Bytes())
}

// canRead returns an error if a file can't be read. It does not try a file that is not regular,
// since such a file may be readable only once.
func canRead(name string) error {
	info, err := os.Stat(name)
	if name == "" || name == "-" || err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil
	}
	f, err := os.Open(name)
	if err != nil {
		return plc.ReadError(err)
	}
	defer f.Close()
	if _, err := f.Read(make([]byte, 1)); err != nil && err != io.EOF {
		return plc.ReadError(err)
	}
	return nil
}

// isDatabase reports whether a file is an SQLite database, or one of the files beside it.
func isDatabase(name string) bool {
	for _, end := range []string{"", "-wal", "-shm"} {
		database, ok := strings.CutSuffix(name, end)
		if !ok {
			continue
		}
		f, err := os.Open(database)
		if err != nil {
			continue
		}
		const magic = "SQLite format 3\x00"
		begin := make([]byte, len(magic))
		_, err = io.ReadFull(f, begin)
		f.Close()
		if err == nil && string(begin) == magic {
			return true
		}
	}
	return false
}

// canWrite returns an error if a file can't be written. It does not change a file, and leaves no
// new one behind. It does not try a file that is not regular, since opening it may block or have
// effects.
func canWrite(name string) error {
	info, err := os.Stat(name)
	if name == "" || err == nil && !info.Mode().IsRegular() && !info.IsDir() {
		return nil
	}
	isNew := errors.Is(err, fs.ErrNotExist)
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE, 0o666)
	if err != nil {
		return err
	}
	err = f.Close()
	if isNew {
		err = errors.Join(err, os.Remove(name))
	}
	return err
}

// quote returns s as a JSON string.
func quote(s string) []byte { return jsonscan.Encode(s) }

// isObject reports whether an argument is a JSON object rather than a file's name.
func isObject(arg string) bool { return strings.HasPrefix(strings.TrimSpace(arg), "{") }

// inline reads a JSON value from an argument.
func inline(arg string) (compile.Given, error) {
	return plc.ReadJSON(diag.NewFile("<argument>", []byte(arg)))
}

// jsonFile reads a JSON file.
func (env *environment) jsonFile(name string) (compile.Given, error) {
	text, err := env.readFile(name)
	if err != nil {
		return compile.Given{}, err
	}
	return plc.ReadJSON(diag.NewFile(shownName(name), bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))))
}

// absolute makes names of files absolute, so that they are valid in another folder.
func absolute(names ...*string) error {
	for _, name := range names {
		if *name == "" || *name == "-" {
			continue
		}
		abs, err := filepath.Abs(*name)
		if err != nil {
			return err
		}
		*name = abs
	}
	return nil
}

// planSource reads a plan. It cuts a plan that is too large one byte after the limit, so that the
// reader of plans reports it.
func (env *environment) planSource(name string) (*diag.File, error) {
	text, err := env.readText(name)
	if err != nil {
		return nil, err
	}
	return diag.NewFile(shownName(name), text), nil
}
