package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"unicode/utf8"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/state"
)

// source reads a plan. One that is too large is cut, one byte past what a plan
// may have: the reader of plans reports it.
func (env *environment) source(name string) (*diag.File, error) {
	text, ok, err := env.texts.recorded(journal.Plan, name)
	if !ok {
		text, err = env.readText(name)
	}
	if err != nil {
		return nil, err
	}
	return diag.NewFile(shownName(name), text), nil
}

// shownName is what findings call a file.
func shownName(name string) string {
	if name == "-" {
		return "<stdin>"
	}
	return name
}

// readGiven reads a file that a run is given, not its plan, and takes note of it for the
// record; of a run that goes on, the record has it.
func (env *environment) readGiven(role journal.Role, name string) ([]byte, error) {
	text, ok, err := env.texts.recorded(role, name)
	if !ok {
		text, err = env.readFile(name)
	}
	if err == nil {
		env.texts.keep(role, name, "", text)
	}
	return text, err
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
	return env.readUpTo(name, jsonscan.DefaultMaxBytes+1)
}

// readUpTo reads so many bytes of a file at most.
func (env *environment) readUpTo(name string, most int64) ([]byte, error) {
	if name == "-" {
		if env.stdinRead {
			return nil, errors.New("standard input can be read only once: give one of the files by its name")
		}
		env.stdinRead = true
		if f, ok := env.stdin.(*os.File); ok {
			env.remember(f)
		}
		return io.ReadAll(io.LimitReader(env.stdin, most))
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, readError(err)
	}
	defer f.Close()
	env.remember(f)
	text, err := io.ReadAll(io.LimitReader(f, most))
	if err != nil {
		return nil, readError(err)
	}
	return text, nil
}

// remember notes which file is read, for it not to be written over.
func (env *environment) remember(f *os.File) {
	if info, err := f.Stat(); err == nil && info.Mode().IsRegular() {
		env.read = append(env.read, info)
	}
}

// keepsRead refuses a file to write that was read, under whatever name.
func (env *environment) keepsRead(flag, name string) error {
	info, err := os.Stat(name)
	if err != nil {
		return nil // it is not there yet, or writing will say what is wrong
	}
	if slices.ContainsFunc(env.read, func(read os.FileInfo) bool { return os.SameFile(read, info) }) {
		return fmt.Errorf("--%s %s would overwrite a file that is read: name another one", flag, name)
	}
	return nil
}

// canWrite reports, as an error, that a file can't be written. One that is there is left as it is,
// one that is not is not there afterwards; what is no plain file is not tried, since that may wait, or be
// told to somebody.
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

// readError says of a file that it can't be read, and why.
func readError(err error) error {
	var pe *fs.PathError
	switch {
	case errors.Is(err, syscall.EISDIR) && errors.As(err, &pe):
		return fmt.Errorf("can't read %s: it is a directory; name the files in it, as in %s", pe.Path, filepath.Join(pe.Path, "*.json"))
	case errors.As(err, &pe):
		return fmt.Errorf("can't read %s: %w", pe.Path, pe.Err)
	}
	return err
}

// given reads the values and schemas that flags give.
func (env *environment) given(f *planFlags, opts *compile.Options) error {
	for _, in := range f.input {
		v, err := env.inputValue(in)
		if err != nil {
			return err
		}
		if old, ok := opts.Values["input"]; ok {
			if v, err = mergeInput(old, v); err != nil {
				return err
			}
		}
		opts.Values["input"] = v
	}
	for _, g := range []struct {
		name string
		role journal.Role
		kind string
		into map[string]compile.Given
	}{
		{f.state, journal.State, "state", opts.Values},
		{f.inputSchema, journal.Schema, "input", opts.Schemas},
		{f.stateSchema, journal.Schema, "state", opts.Schemas},
	} {
		if g.name == "" {
			continue
		}
		v, err := env.givenJSON(g.role, g.name)
		if err != nil {
			return err
		}
		g.into[g.kind] = v
	}
	return setInto(opts.Values, env.sets)
}

// setInto sets values of a fork in those that are given.
func setInto(given map[string]compile.Given, sets map[string]json.RawMessage) error {
	for _, name := range slices.Sorted(maps.Keys(sets)) {
		path := setPath(name)
		kind := given[path[0].Name]
		if kind.JSON == nil {
			kind.JSON = json.RawMessage("{}")
		}
		v, err := state.Apply(kind.JSON, path[1:], state.Set, sets[name])
		if err != nil {
			return fmt.Errorf("--set %s: %w", name, err)
		}
		kind.JSON = v
		given[path[0].Name] = kind
	}
	return nil
}

// inputValue is what one --input gives: an object, key=value or a file. The value
// is JSON when it is JSON, and a string otherwise.
func (env *environment) inputValue(in string) (compile.Given, error) {
	key, text, ok := strings.Cut(in, "=")
	switch {
	case !utf8.ValidString(in):
		return compile.Given{}, fmt.Errorf("--input %q is not UTF-8", in)
	case isObject(in):
		return inline(in)
	case !ok || strings.ContainsAny(key, `/\`):
		return env.givenJSON(journal.Input, in)
	case key == "":
		return compile.Given{}, fmt.Errorf("--input %s: there is no name before the =", in)
	}
	value := []byte(text)
	if jsonscan.Check(value, jsonscan.Limits{}) != nil {
		value = quote(text)
	}
	return inline("{" + string(quote(key)) + ":" + string(value) + "}")
}

// quote is a JSON string that says s.
func quote(s string) []byte { return jsonscan.Encode(s) }

// isObject reports whether an argument is meant as a JSON object and not as a
// file's name.
func isObject(arg string) bool { return strings.HasPrefix(strings.TrimSpace(arg), "{") }

// inline is a JSON value that is given in an argument.
func inline(arg string) (compile.Given, error) {
	return jsonValue(diag.NewFile("<argument>", []byte(arg)))
}

// jsonFile reads a JSON file.
func (env *environment) jsonFile(name string) (compile.Given, error) {
	return jsonText(name, env.readFile)
}

// givenJSON reads a JSON file that a run is given.
func (env *environment) givenJSON(role journal.Role, name string) (compile.Given, error) {
	return jsonText(name, func(name string) ([]byte, error) { return env.readGiven(role, name) })
}

// jsonText is the JSON value in a file.
func jsonText(name string, read func(name string) ([]byte, error)) (compile.Given, error) {
	text, err := read(name)
	if err != nil {
		return compile.Given{}, err
	}
	return jsonValue(diag.NewFile(shownName(name), bytes.TrimPrefix(text, []byte("\xef\xbb\xbf"))))
}

// jsonValue is the JSON value that a file holds.
func jsonValue(f *diag.File) (compile.Given, error) {
	err := jsonscan.Check(f.Text, jsonscan.Limits{})
	var se *jsonscan.Error
	if errors.As(err, &se) {
		p := f.Position(se.Offset)
		err = fmt.Errorf("%s:%d:%d: %s", f.Name, p.Line, p.Column, se.Message)
	}
	if err != nil {
		return compile.Given{}, err
	}
	return compile.Given{JSON: jsonscan.Compact(nil, f.Text), Loc: diag.Loc{File: f}}, nil
}

// mergeInput lays one input over another, deeply.
func mergeInput(a, b compile.Given) (compile.Given, error) {
	for _, g := range []compile.Given{a, b} {
		if g.JSON[0] != '{' {
			return compile.Given{}, fmt.Errorf("%s: an input is a JSON object, and so are all that are merged", g.Loc.File.Name)
		}
	}
	merged, err := state.Apply(a.JSON, nil, state.Merge, b.JSON)
	if err != nil {
		return compile.Given{}, err
	}
	loc := a.Loc
	if !b.Loc.IsZero() {
		loc = b.Loc
	}
	return compile.Given{JSON: merged, Loc: loc}, nil
}

// replaceFile writes a file whole or not at all. Its mode stays, and a link to it
// stays a link.
func replaceFile(name string, text []byte) error {
	name, err := filepath.EvalSymlinks(name)
	if err != nil {
		return readError(err)
	}
	info, err := os.Stat(name)
	if err != nil {
		return readError(err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(name), ".plc-*")
	if err != nil {
		return fmt.Errorf("can't write %s: %w", name, err)
	}
	defer os.Remove(tmp.Name())
	_, err = tmp.Write(text)
	if err == nil {
		err = tmp.Chmod(info.Mode().Perm())
	}
	if err = errors.Join(err, tmp.Close()); err == nil {
		err = os.Rename(tmp.Name(), name)
	}
	if err != nil {
		return fmt.Errorf("can't write %s: %w", name, err)
	}
	return nil
}
