package main

import (
	"encoding/json"
	"os"
	"path/filepath"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/state"
)

// mergeInput lays one input over another, deeply.
func mergeInput(a, b compile.Given) (compile.Given, error) {
	if len(b.JSON) > 0 && b.JSON[0] != '{' {
		return b, nil // reported by the compiler
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

// replaceFile writes a file whole or not at all, and keeps its mode.
func replaceFile(name string, text []byte) error {
	info, err := os.Stat(name)
	if err != nil {
		return readError(err)
	}
	tmp, err := os.CreateTemp(filepath.Dir(name), ".plc-*")
	if err != nil {
		return err
	}
	defer os.Remove(tmp.Name())
	if _, err := tmp.Write(text); err != nil {
		tmp.Close()
		return err
	}
	if err := tmp.Chmod(info.Mode().Perm()); err != nil {
		tmp.Close()
		return err
	}
	if err := tmp.Close(); err != nil {
		return err
	}
	return os.Rename(tmp.Name(), name)
}

// writeJSON writes a value as indented JSON, without escaping HTML.
func (env *environment) writeJSON(v any) error {
	e := json.NewEncoder(env.stdout)
	e.SetEscapeHTML(false)
	e.SetIndent("", "  ")
	return e.Encode(v)
}
