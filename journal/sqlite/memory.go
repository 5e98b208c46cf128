package sqlite

import (
	"context"
	"encoding/json"
	"errors"
	"time"
)

// Memory keeps JSON values by key in a file, permanently, for example as the long-term memory of an
// agent. Several processes and goroutines may use it at once.
type Memory struct{ cache *Cache }

// OpenMemory opens the memory in this file. If the file does not exist, it makes the file and its
// folder.
func OpenMemory(path string) (*Memory, error) {
	c, err := OpenCache(path)
	return &Memory{c}, err
}

// memoryKept is the time for which a value is kept.
const memoryKept = 100 * 365 * 24 * time.Hour

// Load returns the value under a key; nil if there is none.
func (m *Memory) Load(_ context.Context, key string) (json.RawMessage, error) {
	value, _, ok := m.cache.Recall([]byte(key))
	if !ok {
		return nil, m.cache.Fault()
	}
	return value, nil
}

// Save keeps a value under a key.
func (m *Memory) Save(_ context.Context, key string, value json.RawMessage) error {
	m.cache.Keep([]byte(key), value, "", memoryKept)
	if back, _, ok := m.cache.Recall([]byte(key)); !ok || string(back) != string(value) {
		return errors.Join(errors.New("the value could not be kept"), m.cache.Fault())
	}
	return nil
}

// Close closes the file.
func (m *Memory) Close() error { return m.cache.Close() }
