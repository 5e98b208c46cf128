package flux

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"

	"github.com/plc-lang/plc/internal/durable"
	"github.com/plc-lang/plc/internal/jsonscan"
)

// OpenFile returns a Memory stored in a file, as a JSON object of values by key. The file is
// created on the first Save. OpenFile returns an error if the file holds something else.
func OpenFile(name string) (Memory, error) {
	m := fileMemory(name)
	_, err := m.all()
	return m, err
}

// fileMemory is a memory stored in the named file.
type fileMemory string

// all returns the stored values; there are none if the file doesn't exist.
func (m fileMemory) all() (map[string]json.RawMessage, error) {
	values := map[string]json.RawMessage{}
	text, err := jsonscan.ReadFile(string(m))
	if errors.Is(err, fs.ErrNotExist) {
		return values, nil
	} else if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(text, &values); err != nil {
		return nil, fmt.Errorf("%s is not an object of values by their keys: %w", string(m), err)
	}
	return values, nil
}

// Load implements Memory.
func (m fileMemory) Load(_ context.Context, key string) (json.RawMessage, error) {
	values, err := m.all()
	return values[key], err
}

// Save implements Memory.
func (m fileMemory) Save(_ context.Context, key string, value json.RawMessage) error {
	values, err := m.all()
	if err != nil {
		return err
	}
	values[key] = value
	return durable.WriteFile(string(m), append(jsonscan.Encode(values), '\n'))
}
