//go:build linux

package sqlite

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"modernc.org/libc"
	sqlite3 "modernc.org/sqlite/lib"
)

// A file layer below SQLite that notes all that is done to the files of a store, so
// that each state in which a power cut could leave them can be made.

// change is something that was done to a file.
type change struct {
	file string // the end of its name: "", "-wal"
	kind changeKind
	at   int64  // of a write; the size of a truncation
	data []byte // of a write
}

type changeKind uint8

const (
	written changeKind = iota
	truncated
	synced
	removed
	folderSynced // with a file that is new
)

// fileLog is what was done, in order.
type fileLog struct {
	mu      sync.Mutex
	changes []change
}

func (l *fileLog) add(c change) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changes = append(l.changes, c)
}

// len is the number of changes until now.
func (l *fileLog) len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.changes)
}

// The types of the C functions that are replaced.
type (
	openFunc     = func(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32
	deleteFunc   = func(tls *libc.TLS, vfs, name uintptr, sync int32) int32
	closeFunc    = func(tls *libc.TLS, file uintptr) int32
	writeFunc    = func(tls *libc.TLS, file, data uintptr, n int32, at int64) int32
	truncateFunc = func(tls *libc.TLS, file uintptr, size int64) int32
	syncFunc     = func(tls *libc.TLS, file uintptr, flags int32) int32
)

// recorder is a file layer over the usual one.
type recorder struct {
	log  *fileLog
	path string // of the store

	mu      sync.Mutex
	files   map[uintptr]string  // that are open
	fresh   map[uintptr]bool    // of them, those that were made, and never synced
	methods map[uintptr]uintptr // ours for those of the usual layer
	keep    []any               // functions that only C knows
	memory  []uintptr
	tls     *libc.TLS
	vfs     uintptr
}

// cAt is what C has at an address.
func cAt[T any](address uintptr) *T { return *(**T)(unsafe.Pointer(&address)) }

// cFunc is a C function.
func cFunc[F any](pointer uintptr) F {
	return *(*F)(unsafe.Pointer(&struct{ uintptr }{pointer}))
}

// pointer is a Go function for C.
func pointer[F any](r *recorder, f F) uintptr {
	r.keep = append(r.keep, f)
	return *(*uintptr)(unsafe.Pointer(&f))
}

func (r *recorder) alloc(size uintptr) uintptr {
	p := libc.Xcalloc(r.tls, 1, libc.Tsize_t(size))
	r.memory = append(r.memory, p)
	return p
}

// recordFile makes a file layer that notes what is done to the store at path.
func recordFile(t testing.TB, path string) *recorder {
	r := &recorder{
		log: &fileLog{}, path: path, tls: libc.NewTLS(),
		files: map[uintptr]string{}, fresh: map[uintptr]bool{}, methods: map[uintptr]uintptr{},
	}
	usual := sqlite3.Xsqlite3_vfs_find(r.tls, 0)
	r.vfs = r.alloc(unsafe.Sizeof(sqlite3.Tsqlite3_vfs{}))
	own := cAt[sqlite3.Tsqlite3_vfs](r.vfs)
	*own = *cAt[sqlite3.Tsqlite3_vfs](usual)
	name, err := libc.CString(r.name())
	if err != nil {
		t.Fatal(err)
	}
	r.memory = append(r.memory, name)
	own.FzName, own.FpNext = name, 0
	r.replace(own)
	if rc := sqlite3.Xsqlite3_vfs_register(r.tls, r.vfs, 0); rc != 0 {
		t.Fatal("registering a file layer:", rc)
	}
	t.Cleanup(func() {
		sqlite3.Xsqlite3_vfs_unregister(r.tls, r.vfs)
		for _, p := range r.memory {
			libc.Xfree(r.tls, p)
		}
		r.tls.Close()
	})
	return r
}

func (r *recorder) name() string { return "log" + strings.ReplaceAll(r.path, "/", "-") }

func (r *recorder) replace(own *sqlite3.Tsqlite3_vfs) {
	open, remove := cFunc[openFunc](own.FxOpen), cFunc[deleteFunc](own.FxDelete)
	own.FxOpen = pointer(r, func(tls *libc.TLS, vfs, name, file uintptr, flags int32, out uintptr) int32 {
		rc := open(tls, vfs, name, file, flags, out)
		if rc == 0 && name != 0 {
			r.opened(file, libc.GoString(name), flags&sqlite3.SQLITE_OPEN_CREATE != 0)
		}
		return rc
	})
	own.FxDelete = pointer(r, func(tls *libc.TLS, vfs, name uintptr, sync int32) int32 {
		if end, ok := strings.CutPrefix(libc.GoString(name), r.path); ok {
			r.log.add(change{file: end, kind: removed})
		}
		return remove(tls, vfs, name, sync)
	})
}

func (r *recorder) opened(file uintptr, name string, made bool) {
	end, ok := strings.CutPrefix(name, r.path)
	if !ok {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.files[file] = end
	r.fresh[file] = made && end != ""
	f := cAt[sqlite3.Tsqlite3_file](file)
	if r.methods[f.FpMethods] == 0 {
		r.methods[f.FpMethods] = r.wrap(f.FpMethods)
	}
	f.FpMethods = r.methods[f.FpMethods]
}

func (r *recorder) file(file uintptr) string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.files[file]
}

// wrap makes methods that note what they do.
func (r *recorder) wrap(usual uintptr) uintptr {
	p := r.alloc(unsafe.Sizeof(sqlite3.Tsqlite3_io_methods{}))
	m := cAt[sqlite3.Tsqlite3_io_methods](p)
	*m = *cAt[sqlite3.Tsqlite3_io_methods](usual)
	closing, write := cFunc[closeFunc](m.FxClose), cFunc[writeFunc](m.FxWrite)
	truncate, sync := cFunc[truncateFunc](m.FxTruncate), cFunc[syncFunc](m.FxSync)
	m.FxClose = pointer(r, func(tls *libc.TLS, file uintptr) int32 {
		r.mu.Lock()
		delete(r.files, file)
		r.mu.Unlock()
		return closing(tls, file)
	})
	m.FxWrite = pointer(r, func(tls *libc.TLS, file, data uintptr, n int32, at int64) int32 {
		bytes := slices.Clone(unsafe.Slice(cAt[byte](data), n))
		r.log.add(change{file: r.file(file), kind: written, at: at, data: bytes})
		return write(tls, file, data, n, at)
	})
	m.FxTruncate = pointer(r, func(tls *libc.TLS, file uintptr, size int64) int32 {
		r.log.add(change{file: r.file(file), kind: truncated, at: size})
		return truncate(tls, file, size)
	})
	m.FxSync = pointer(r, func(tls *libc.TLS, file uintptr, flags int32) int32 {
		rc := sync(tls, file, flags)
		r.log.add(change{file: r.file(file), kind: synced})
		r.mu.Lock()
		defer r.mu.Unlock()
		if r.fresh[file] { // then SQLite syncs its folder as well
			r.fresh[file] = false
			r.log.add(change{kind: folderSynced})
		}
		return rc
	})
	return p
}

// loss says what a power cut does to what was not synced.
type loss uint8

const (
	nothingLost loss = iota // the process was killed
	tornWrite               // and the last write got only so far
	allLost                 // nothing is on disk that was not synced
	someLost                // each write may be, or not, or in part
	losses
)

const sector = 512

// image is the files as a cut after these changes leaves them.
func image(changes []change, how loss, draw *rand.Rand) map[string][]byte {
	files := map[string][]byte{"": {}}
	last, folder := map[string]int{}, 0 // syncs
	for i, c := range changes {
		switch c.kind {
		case synced:
			last[c.file] = i
		case folderSynced:
			folder = i
		}
	}
	for i, c := range changes {
		data := c.data
		durable := i < last[c.file]
		if c.kind == removed {
			durable = i < folder
		}
		switch {
		case how == tornWrite && i == len(changes)-1 && c.kind == written:
			data = data[:draw.IntN(len(data)+1)]
		case durable || how <= tornWrite:
		case how == allLost:
			continue
		case how == someLost:
			switch draw.IntN(3) {
			case 0:
				continue
			case 1:
				whole := (len(data) + sector - 1) / sector
				data = data[:min(len(data), draw.IntN(whole+1)*sector)]
			}
		}
		c.data = data
		c.apply(files)
	}
	return files
}

func (c *change) apply(files map[string][]byte) {
	f := files[c.file]
	switch c.kind {
	case written:
		if grow := int(c.at) + len(c.data) - len(f); grow > 0 {
			f = append(f, make([]byte, grow)...)
		}
		copy(f[c.at:], c.data)
	case truncated:
		if int(c.at) < len(f) {
			f = f[:c.at]
		} else {
			f = append(f, make([]byte, int(c.at)-len(f))...)
		}
	case removed:
		delete(files, c.file)
		return
	}
	files[c.file] = f
}

// restore writes an image, and returns the path of its store.
func restore(t testing.TB, dir string, files map[string][]byte) string {
	t.Helper()
	path := filepath.Join(dir, "runs.db")
	for end, data := range files {
		if err := os.WriteFile(path+end, data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return path
}
