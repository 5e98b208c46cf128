package sqlite

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/binary"
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/internal/record"
)

// The bounds of a Cache, in bytes.
const (
	MaxCached       = 256 << 20 // of all results: the least recently used are deleted first
	MaxCachedResult = 16 << 20  // of one result
)

const (
	// clockSlack is the tolerated difference between the clocks of processes that share a cache.
	clockSlack = 5 * time.Minute

	// cacheBusy limits the time to wait for another process.
	cacheBusy = 5 * time.Second

	// cacheID is in the header of each cache ("plcc").
	cacheID = 0x706c6363
)

// cacheSchema is the only version. It does not matter how a size is computed as long as it stays
// the same for a row.
const cacheSchema = `
CREATE TABLE cached (
	key     BLOB NOT NULL UNIQUE,
	until   INTEGER NOT NULL, -- microseconds since 1970
	used    INTEGER NOT NULL, -- the same, to the minute
	outcome TEXT NOT NULL,
	value   BLOB NOT NULL,
	sum     BLOB NOT NULL     -- of all the others but used
) STRICT;
CREATE INDEX cached_used ON cached (used);
CREATE INDEX cached_until ON cached (until);
CREATE TABLE total (bytes INTEGER NOT NULL) STRICT;
INSERT INTO total VALUES (0);
CREATE TRIGGER cached_more AFTER INSERT ON cached BEGIN UPDATE total SET bytes = bytes + 256 + length(NEW.value) + length(NEW.outcome); END;
CREATE TRIGGER cached_less AFTER DELETE ON cached BEGIN UPDATE total SET bytes = bytes - 256 - length(OLD.value) - length(OLD.outcome); END;
PRAGMA application_id = 0x706c6363;
PRAGMA user_version = 1;
`

// Cache is a file that keeps results of tools for a while, so that the tools need not be called
// again. It is not part of a store, and may be deleted. Several processes and goroutines may use it
// at once.
//
// A damaged result is not returned, and once anything is wrong with the file, nothing is returned
// or kept any more: see Fault.
type Cache struct {
	path string

	mu    sync.Mutex
	db    *sql.DB
	fault error
}

// OpenCache opens the cache in this file. If the file does not exist, it makes the file and its
// folder, readable only for their owner. The returned Cache is never nil: if there is an error, a
// *Error, it keeps nothing.
func OpenCache(path string) (*Cache, error) {
	c := &Cache{path: path}
	c.fault = c.wrap(c.open())
	return c, c.fault
}

func (c *Cache) open() error {
	if err := os.MkdirAll(filepath.Dir(c.path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(c.path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	if err := f.Close(); err != nil {
		return err
	}
	abs, err := filepath.Abs(c.path)
	if err != nil {
		return err
	}
	q := url.Values{"_synchronous": {"NORMAL"}, "_dqs": {"0"}, "_defensive": {"1"}, "_busy_timeout": {strconv.FormatInt(cacheBusy.Milliseconds(), 10)}, "_txlock": {"immediate"}, "mode": {"rw"}}
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(abs), RawQuery: q.Encode()}
	if c.db, err = sql.Open("sqlite", u.String()); err != nil {
		return err
	}
	c.db.SetMaxOpenConns(1)
	return retry(context.Background(), cacheBusy, c.prepare)
}

// prepare makes a new file a cache, and returns an error if the file is something else. It may be
// repeated.
func (c *Cache) prepare() error {
	if err := c.identify(); err != nil {
		return err
	}
	var mode string
	return c.db.QueryRow("PRAGMA journal_mode = WAL").Scan(&mode)
}

// identify makes the tables of a cache in a new file, and returns an error if the file is something
// else.
func (c *Cache) identify() error {
	tx, err := c.db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit it does nothing
	var application, version, tables int
	if err := tx.QueryRow(
		"SELECT (SELECT application_id FROM pragma_application_id), (SELECT user_version FROM pragma_user_version), (SELECT count(*) FROM sqlite_schema)").
		Scan(&application, &version, &tables); err != nil {
		return err
	}
	switch {
	case application == cacheID && version == 1:
		return nil
	case application == cacheID:
		return &journal.Error{Path: c.path, Fault: journal.Newer, Err: fmt.Errorf("its version is %d, the last one known is 1", version)}
	case application != 0 || version != 0 || tables != 0:
		return &journal.Error{Path: c.path, Fault: journal.Foreign, Err: errors.New("it is no cache")}
	}
	if _, err := tx.Exec(cacheSchema); err != nil {
		return err
	}
	return tx.Commit()
}

// wrap returns an error as a *Error.
func (c *Cache) wrap(err error) error {
	return (&Store{path: c.path}).fault(err)
}

// failed notes a fault of the file. It is not a fault if another process was writing for too long.
func (c *Cache) failed(err error) {
	var e *journal.Error
	if err = c.wrap(err); err != nil && c.fault == nil && (!errors.As(err, &e) || e.Fault != journal.Locked) {
		c.fault = err
	}
}

// Fault returns what is wrong with the file as a *Error, or nil.
func (c *Cache) Fault() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.fault
}

// Recall returns the result that was kept under a key, unless it is too old.
func (c *Cache) Recall(key []byte) (value []byte, outcome string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fault != nil {
		return nil, "", false
	}
	var until, used int64
	var sum []byte
	now := time.Now()
	// A result with a time in the future was kept before the clock was set back, so its age is not
	// known.
	err := c.db.QueryRow("SELECT until, used, outcome, value, sum FROM cached WHERE key = ? AND until > ? AND used <= ?", key, record.Micros(now), record.Micros(now.Add(clockSlack))).
		Scan(&until, &used, &outcome, &value, &sum)
	switch {
	case errors.Is(err, sql.ErrNoRows):
		return nil, "", false
	case err == nil && string(sum) != string(sumOf(key, until, outcome, value)):
		err = record.Broken("a result", errors.New("its sum is another one"))
	case err == nil && record.Micros(now)-used > time.Minute.Microseconds():
		_, err = c.db.Exec("UPDATE cached SET used = ? WHERE key = ?", record.Micros(now), key)
	}
	c.failed(err)
	return value, outcome, c.fault == nil
}

// Keep keeps a result for this long. It does not keep a result that is too large.
func (c *Cache) Keep(key, value []byte, outcome string, keep time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fault == nil && len(value) <= MaxCachedResult {
		c.failed(c.put(key, value, outcome, keep))
	}
}

func (c *Cache) put(key, value []byte, outcome string, keep time.Duration) error {
	tx, err := c.db.Begin()
	if err != nil {
		return err
	}
	defer tx.Rollback() //nolint:errcheck // after a commit it does nothing
	now := time.Now()
	until := record.Micros(now.Add(keep))
	if _, err := tx.Exec("DELETE FROM cached WHERE key = ?", key); err != nil {
		return err
	}
	if _, err := tx.Exec("INSERT INTO cached (key, until, used, outcome, value, sum) VALUES (?, ?, ?, ?, ?, ?)",
		key, until, record.Micros(now), outcome, value, sumOf(key, until, outcome, value)); err != nil {
		return err
	}
	const oldest = "DELETE FROM cached WHERE rowid IN (SELECT rowid FROM cached ORDER BY used, rowid LIMIT 8)"
	for n := 0; ; n++ {
		var total int64
		if err := tx.QueryRow("SELECT bytes FROM total").Scan(&total); err != nil {
			return err
		}
		if total <= MaxCached {
			return tx.Commit()
		}
		if n == 0 {
			_, err = tx.Exec("DELETE FROM cached WHERE until <= ?", record.Micros(now))
		} else {
			_, err = tx.Exec(oldest)
		}
		if err != nil {
			return err
		}
	}
}

// sumOf returns the digest of a row.
func sumOf(key []byte, until int64, outcome string, value []byte) []byte {
	h := sha256.New()
	for _, part := range [][]byte{key, binary.BigEndian.AppendUint64(nil, uint64(until)), []byte(outcome)} {
		h.Write(binary.BigEndian.AppendUint64(nil, uint64(len(part))))
		h.Write(part)
	}
	h.Write(value)
	return h.Sum(nil)
}

// Clean deletes old results, and makes the file smaller. It returns the number of deleted results.
func (c *Cache) Clean(ctx context.Context) (int, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fault != nil {
		return 0, c.fault
	}
	res, err := c.db.ExecContext(ctx, "DELETE FROM cached WHERE until <= ? OR used > ?", record.Micros(time.Now()), record.Micros(time.Now().Add(clockSlack)))
	if err != nil {
		return 0, c.wrap(err)
	}
	n, err := res.RowsAffected()
	for _, query := range []string{"VACUUM", "PRAGMA wal_checkpoint(TRUNCATE)"} {
		if err == nil {
			_, err = c.db.ExecContext(ctx, query)
		}
	}
	return int(n), c.wrap(err)
}

// Close closes the file.
func (c *Cache) Close() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.fault == nil {
		c.fault = &journal.Error{Path: c.path, Fault: journal.Closed}
	}
	if c.db == nil {
		return nil
	}
	return c.wrap(c.db.Close())
}

// RemoveCache deletes the file of a cache that nobody has open.
func RemoveCache(path string) error {
	var errs []error
	for _, suffix := range []string{"", "-wal", "-shm", "-journal"} {
		if err := os.Remove(path + suffix); !errors.Is(err, os.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	return errors.Join(errs...)
}
