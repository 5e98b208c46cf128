package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/plc-lang/plc/internal/display"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/sqlite"
	"github.com/plc-lang/plc/tool/guard"
)

// cacheSuffix is the end of the name of a store's cache.
const cacheSuffix = "-cache"

// memory is the cache beside a store. It is opened when a call first uses it.
type memory struct {
	path   string
	warnf  func(format display.Literal, args ...any)
	once   sync.Once
	opened *sqlite.Cache
	folder string // the current folder, on which programs and paths depend
	warn   sync.Once
}

var _ guard.Memory = (*memory)(nil)

// memoryBeside sets the memory to the cache beside the store that a flag names; nil without a
// store, so that results are remembered only as long as the process lives.
func (env *environment) memoryBeside(storeFlag string) error {
	path, err := localPath(storeFlag)
	if path == "" || err != nil {
		return err
	}
	if path, err = filepath.Abs(path); err != nil {
		return err
	}
	env.memory = &memory{path: path + cacheSuffix, warnf: func(format display.Literal, args ...any) {
		showf(env.stderr, "warning: %s\n", display.Sprintf(format, args...))
	}}
	return nil
}

// cache opens the file.
func (m *memory) cache() *sqlite.Cache {
	m.once.Do(func() {
		m.folder, _ = os.Getwd()
		m.opened, _ = sqlite.OpenCache(m.path)
	})
	return m.opened
}

// keyed returns the key for the current folder.
func (m *memory) keyed(key []byte) []byte {
	sum := sha256.Sum256(append([]byte(m.folder+"\x00"), key...))
	return sum[:]
}

// Recall implements guard.Memory.
func (m *memory) Recall(key []byte) (value []byte, outcome string, ok bool) {
	c := m.cache()
	value, outcome, ok = c.Recall(m.keyed(key))
	m.tell(c)
	return value, outcome, ok
}

// Keep implements guard.Memory.
func (m *memory) Keep(key, value []byte, outcome string, keep time.Duration) {
	c := m.cache()
	c.Keep(m.keyed(key), value, outcome, keep)
	m.tell(c)
}

// tell reports once that the cache can't be used.
func (m *memory) tell(c *sqlite.Cache) {
	if err := c.Fault(); err != nil {
		m.warn.Do(func() {
			m.warnf("results are not remembered: %s; plc gc deletes a cache that is damaged", trimJournal(err))
		})
	}
}

// close closes the file, if it was opened.
func (m *memory) close() {
	m.once.Do(func() {})
	if m.opened != nil {
		_ = m.opened.Close() // losing the cache does no harm
	}
}

// cleanCache deletes old results from the cache beside a store, or the whole cache if it is
// damaged. It returns the number of deleted results.
func cleanCache(ctx context.Context, storeFlag string) (int, error) {
	path, err := localPath(storeFlag)
	if path == "" || err != nil {
		return 0, err
	}
	path += cacheSuffix
	if _, err := os.Stat(path); err != nil {
		return 0, nil // there is no cache
	}
	c, _ := sqlite.OpenCache(path)
	n, err := c.Clean(ctx)
	_ = c.Close()
	var fault *journal.Error
	if errors.As(err, &fault) && (fault.Fault == journal.Damaged || fault.Fault == journal.Foreign) {
		return 0, sqlite.RemoveCache(path)
	}
	if err != nil {
		return 0, errors.New(trimJournal(err))
	}
	return n, nil
}
