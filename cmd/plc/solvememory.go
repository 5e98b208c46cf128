package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/plc-lang/plc/internal/durable"
	"github.com/plc-lang/plc/journal/sqlite"
	"github.com/plc-lang/plc/loop/flux"
)

// openMemory is the memory of a Flux agent in a file: SQLite when its name ends in .db or .sqlite,
// else a JSON object of values by their keys. The function that it returns closes it.
func openMemory(name string) (flux.Memory, func() error, error) {
	switch filepath.Ext(name) {
	case ".db", ".sqlite":
		c, err := sqlite.OpenCache(name)
		if err != nil {
			return nil, nil, err
		}
		return &tableMemory{c}, c.Close, nil
	}
	m := &fileMemory{name}
	_, err := m.all()
	return m, func() error { return nil }, err
}

// fileMemory is a memory in a JSON file.
type fileMemory struct{ name string }

// all are the values, none when there is no file.
func (m *fileMemory) all() (map[string]json.RawMessage, error) {
	values := map[string]json.RawMessage{}
	text, err := os.ReadFile(m.name)
	if errors.Is(err, fs.ErrNotExist) {
		return values, nil
	} else if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &values); err != nil {
		return nil, fmt.Errorf("%s is not an object of values by their keys: %w", shownName(m.name), err)
	}
	return values, nil
}

// Load implements flux.Memory.
func (m *fileMemory) Load(_ context.Context, key string) (json.RawMessage, error) {
	values, err := m.all()
	return values[key], err
}

// Save implements flux.Memory.
func (m *fileMemory) Save(_ context.Context, key string, value json.RawMessage) error {
	values, err := m.all()
	if err != nil {
		return err
	}
	values[key] = value
	return durable.WriteFile(m.name, append(encoded(values), '\n'))
}

// tableMemory is a memory in a SQLite file.
type tableMemory struct{ cache *sqlite.Cache }

// kept is how long a value is kept: for good.
const memoryKept = 100 * 365 * 24 * time.Hour

// Load implements flux.Memory.
func (m *tableMemory) Load(_ context.Context, key string) (json.RawMessage, error) {
	value, _, ok := m.cache.Recall([]byte(key))
	if !ok {
		return nil, m.cache.Fault()
	}
	return value, nil
}

// Save implements flux.Memory.
func (m *tableMemory) Save(_ context.Context, key string, value json.RawMessage) error {
	m.cache.Keep([]byte(key), value, "", memoryKept)
	if back, _, ok := m.cache.Recall([]byte(key)); !ok || string(back) != string(value) {
		return errors.Join(errors.New("the value could not be kept"), m.cache.Fault())
	}
	return nil
}
