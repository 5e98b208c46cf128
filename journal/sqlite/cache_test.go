package sqlite_test

import (
	"bytes"
	"database/sql"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/sqlite"
)

func openCache(t testing.TB, path string) *sqlite.Cache {
	t.Helper()
	c, err := sqlite.OpenCache(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	return c
}

func TestCache(t *testing.T) {
	path := filepath.Join(t.TempDir(), "new", "cache")
	a, b := openCache(t, path), openCache(t, path)
	a.Keep([]byte("k"), []byte(`{"n":1.50}`), "yes", time.Hour)
	a.Keep([]byte("old"), []byte(`1`), "", -time.Second)
	a.Keep([]byte("large"), make([]byte, sqlite.MaxCachedResult+1), "", time.Hour)
	for name, c := range map[string]*sqlite.Cache{"the same": a, "another": b} {
		value, outcome, ok := c.Recall([]byte("k"))
		if string(value) != `{"n":1.50}` || outcome != "yes" || !ok {
			t.Errorf("%s: %s, %s, %t", name, value, outcome, ok)
		}
		for _, key := range []string{"old", "large", "none"} {
			if _, _, ok := c.Recall([]byte(key)); ok {
				t.Errorf("%s: %s is there", name, key)
			}
		}
	}
	b.Keep([]byte("k"), []byte(`2`), "", time.Hour)
	if value, outcome, _ := a.Recall([]byte("k")); string(value) != "2" || outcome != "" {
		t.Errorf("replaced: %s, %s", value, outcome)
	}
	if n, err := a.Clean(t.Context()); n != 1 || err != nil {
		t.Errorf("cleaned: %d, %v", n, err)
	}
	if info, err := os.Stat(path); err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("%v, %v", info.Mode(), err)
	}
	if a.Fault() != nil || b.Fault() != nil {
		t.Error(a.Fault(), b.Fault())
	}
}

// What is kept is bounded; of what was used least lately the oldest goes.
func TestCacheIsBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cache")
	c := openCache(t, path)
	value := make([]byte, sqlite.MaxCachedResult)
	for n := range 18 {
		c.Keep(fmt.Append(nil, n), value, "", time.Hour)
	}
	if _, _, ok := c.Recall([]byte("17")); !ok || c.Fault() != nil {
		t.Errorf("the last one is not there: %v", c.Fault())
	}
	if _, _, ok := c.Recall([]byte("0")); ok {
		t.Error("the first one is there")
	}
	if info, err := os.Stat(path); err != nil || info.Size() > sqlite.MaxCached*3/2 {
		t.Errorf("%d bytes, %v", info.Size(), err)
	}
}

// Several processes, here several connections, share a cache.
func TestCacheIsShared(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cache")
	var all sync.WaitGroup
	for worker := range 4 {
		all.Go(func() {
			c, err := sqlite.OpenCache(path)
			if err != nil {
				t.Error(err)
				return
			}
			defer c.Close()
			for n := range 50 {
				key := fmt.Append(nil, n)
				if value, _, ok := c.Recall(key); ok && !bytes.Equal(value, key) {
					t.Errorf("%s gives %s", key, value)
				}
				c.Keep(key, key, fmt.Sprint(worker), time.Hour)
			}
			if c.Fault() != nil {
				t.Error(c.Fault())
			}
		})
	}
	all.Wait()
}

// Those who open a new cache at once all get it: the one that makes it is waited for.
func TestCacheIsMadeByManyAtOnce(t *testing.T) {
	for range 30 {
		path := filepath.Join(t.TempDir(), "cache")
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				c, err := sqlite.OpenCache(path)
				if err != nil {
					t.Error(err)
				}
				_ = c.Close()
			})
		}
		all.Wait()
	}
}

// A cache that is damaged, or is none, is not used, and says so.
func TestCachesThatAreNone(t *testing.T) {
	for name, spoil := range map[string]func(t *testing.T, path string) journal.Fault{
		"text": func(t *testing.T, path string) journal.Fault {
			write(t, path, bytes.Repeat([]byte("no cache "), 1000))
			return journal.Foreign
		},
		"cut": func(t *testing.T, path string) journal.Fault {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			write(t, path, text[:len(text)/2])
			return journal.Damaged
		},
		"edited": func(t *testing.T, path string) journal.Fault {
			execute(t, path, "UPDATE cached SET value = x'32'")
			return journal.Damaged
		},
		"other": func(t *testing.T, path string) journal.Fault {
			execute(t, path, "PRAGMA application_id = 7")
			return journal.Foreign
		},
		"newer": func(t *testing.T, path string) journal.Fault {
			execute(t, path, "PRAGMA user_version = 2")
			return journal.Newer
		},
	} {
		path := filepath.Join(t.TempDir(), "cache")
		c := openCache(t, path)
		for n := range 100 {
			c.Keep(fmt.Append(nil, n), make([]byte, 3000), "", time.Hour)
		}
		if err := c.Close(); err != nil {
			t.Fatal(err)
		}
		want := spoil(t, path)
		c, _ = sqlite.OpenCache(path)
		for n := range 100 {
			if _, _, ok := c.Recall(fmt.Append(nil, n)); ok && name != "cut" {
				t.Errorf("%s: %d is given", name, n)
			}
		}
		c.Keep([]byte("k"), []byte("1"), "", time.Hour)
		var fault *journal.Error
		if !errors.As(c.Fault(), &fault) || fault.Fault != want {
			t.Errorf("%s: %v, want fault %d", name, c.Fault(), want)
		}
		_ = c.Close()
	}
}

func write(t *testing.T, path string, text []byte) {
	t.Helper()
	if err := os.WriteFile(path, text, 0o600); err != nil {
		t.Fatal(err)
	}
}

func execute(t *testing.T, path, query string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.Exec(query); err != nil {
		t.Fatal(err)
	}
}

func BenchmarkCache(b *testing.B) {
	c := openCache(b, filepath.Join(b.TempDir(), "cache"))
	value := make([]byte, 1000)
	n := 0
	b.ReportAllocs()
	for b.Loop() {
		n++
		key := fmt.Append(nil, n)
		c.Keep(key, value, "", time.Hour)
		if _, _, ok := c.Recall(key); !ok {
			b.Fatal(c.Fault())
		}
	}
}

// What is of a time to come was kept by a clock that has been put back: it may be of any age.
func TestClockPutBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cache")
	c := openCache(t, path)
	c.Keep([]byte("k"), []byte(`1`), "", 24*time.Hour)
	execute(t, path, "UPDATE cached SET used = used + 120000000") // of two minutes nothing is made
	if _, _, ok := c.Recall([]byte("k")); !ok {
		t.Error("clocks may differ a little")
	}
	execute(t, path, "UPDATE cached SET used = used + 3600000000")
	if value, _, ok := c.Recall([]byte("k")); ok {
		t.Errorf("%s is given", value)
	}
	if n, err := c.Clean(t.Context()); n != 1 || err != nil {
		t.Error(n, err)
	}
	if c.Fault() != nil {
		t.Error(c.Fault())
	}
}
