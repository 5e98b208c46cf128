package sqlite

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plc-lang/plc/journal"
)

// Older versions kept loops in files, in the folder solve next to the store: ID.json is what a loop
// was given, and ID.jsonl has its entries, one in each line. They are copied to the store when the
// loop is resumed.

// loopFolder returns the folder of loops that are files.
func (s *Store) loopFolder() string { return filepath.Join(filepath.Dir(s.path), "solve") }

// takenOver is the suffix of the files of loops that were copied to the store.
const takenOver = ".old"

// oldLoops returns the ids of loops that are files.
func (s *Store) oldLoops() ([]string, error) {
	names, err := filepath.Glob(filepath.Join(s.loopFolder(), "*.json"))
	if err != nil {
		return nil, err
	}
	slices.Sort(names) // ids sort by time
	slices.Reverse(names)
	for i := range names {
		names[i] = strings.TrimSuffix(filepath.Base(names[i]), ".json")
	}
	return names, nil
}

// takeOver copies a loop from its files, if it has any, to the store. An earlier copy may have been
// interrupted: entries that are in the store already are not copied again.
func (s *Store) takeOver(ctx context.Context, name string) error {
	file := filepath.Join(s.loopFolder(), name)
	given, err := os.ReadFile(file + ".json")
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	held, err := lockFile(filepath.Join(s.path+".locks", "solve-"+name)) // the lock of older versions
	if errors.Is(err, errHeld) {
		return &journal.HeldError{Run: name}
	}
	if err != nil {
		return err
	}
	defer held.free()
	tape, err := os.ReadFile(file + ".jsonl")
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	l := &loop{store: s, name: name, lock: held}
	err = l.load(ctx)
	var missing *journal.MissingError
	if errors.As(err, &missing) {
		err = l.create(ctx, json.RawMessage(bytes.TrimSpace(given)))
	}
	if err != nil {
		return err
	}
	done := l.Last
	for line := range bytes.Lines(tape) {
		if done--; done >= 0 || !bytes.HasSuffix(line, []byte("\n")) { // an incomplete entry was never acted on
			continue
		}
		if err := l.Append(ctx, json.RawMessage(bytes.TrimSuffix(line, []byte("\n")))); err != nil {
			return err
		}
	}
	for _, end := range []string{".jsonl", ".json"} {
		if err := os.Rename(file+end, file+end+takenOver); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
	}
	return nil
}
