package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/internal/record"
)

// Options controls how a store is opened. The zero value is the default.
type Options struct {
	// Delay is the longest time for which an event that nobody waits for may be only in memory; 0
	// is 10 ms.
	Delay time.Duration
	// Busy limits how long to wait for another process that is writing; 0 is 30 s.
	Busy time.Duration
	// ReadOnly allows only reading, and makes no file.
	ReadOnly bool

	vfs string // what writes the file, in tests
}

// The defaults of Options.
const (
	DefaultDelay = 10 * time.Millisecond
	DefaultBusy  = 30 * time.Second
)

// Store is a file with the records of runs. It must be closed after the runs that it has made or
// resumed.
type Store struct {
	path   string
	opts   Options
	frozen bool // it can't be written, not even the file that readers share

	file    os.FileInfo // the file that was opened for writing; nil before that
	readers *sql.DB
	writing sync.Mutex // held while the writer is used
	writer  *writer    // nil if only reading is allowed
	logNote logNote
	turn    *os.File // the lock of this file is the turn to write; nil before the first turn

	queue   *record.Queue
	watch   *record.Watch
	cancels cancels

	holding sync.Mutex     // guards loops
	loops   map[*loop]bool // loops that are held
}

// Open opens the store in this file. If the file does not exist, it makes the file and its folder,
// readable only for their owner. Its error is a *Error.
func Open(path string, opts *Options) (*Store, error) {
	s := &Store{path: path, loops: map[*loop]bool{}}
	if opts != nil {
		s.opts = *opts
	}
	if s.opts.Delay == 0 {
		s.opts.Delay = DefaultDelay
	}
	if s.opts.Busy == 0 {
		s.opts.Busy = DefaultBusy
	}
	abs, err := filepath.Abs(path)
	if err != nil {
		return nil, s.fault(err)
	}
	if s.path, err = realPath(abs); err != nil {
		return nil, s.fault(err)
	}
	if err := s.open(context.Background()); err != nil {
		s.closeFile()
		return nil, s.fault(err)
	}
	return s, nil
}

// open opens the file: first for writing, since only a writer can repair what a killed process left
// behind.
func (s *Store) open(ctx context.Context) error {
	if err := s.prepareFile(); err != nil {
		return err
	}
	if err := s.checkLog(); err != nil {
		return err
	}
	readers, err := sql.Open("sqlite", s.source(false))
	if err != nil {
		return err
	}
	s.readers = readers
	s.readers.SetMaxOpenConns(8)
	s.readers.SetMaxIdleConns(8)
	if s.opts.ReadOnly {
		return s.check(ctx)
	}
	if s.writer, err = s.newWriter(ctx); err != nil {
		return err
	}
	if err := s.migrate(ctx); err != nil {
		return err
	}
	if err := errors.Join(s.checkSchema(ctx, s.writer.conn), s.checkName(ctx, s.writer.conn)); err != nil {
		return err
	}
	if err := s.writer.prepare(ctx); err != nil {
		return err
	}
	if s.file, err = os.Stat(s.path); err != nil {
		return err
	}
	s.watch = s.newWatch()
	s.queue = record.NewQueue(s.committer())
	return nil
}

// check checks the version of a store that is opened for reading only.
func (s *Store) check(ctx context.Context) error {
	conn, err := s.readers.Conn(ctx)
	if err != nil {
		return err
	}
	defer conn.Close()
	version, err := s.version(ctx, conn)
	switch {
	case err != nil:
		return err
	case version < len(schemas()):
		return &journal.Error{Path: s.path, Fault: journal.ReadOnly, Err: errors.New("its version is an older one, and has to be brought to this one")}
	}
	s.watch = s.newWatch()
	return errors.Join(s.checkSchema(ctx, conn), s.checkName(ctx, conn))
}

// prepareFile makes the file unless it exists, and finds faults that the database would only report
// as a file that can't be opened. It does not open a file that exists, since closing it would
// release the database's locks of other stores in this process.
func (s *Store) prepareFile() error {
	at, err := os.Stat(s.path)
	switch {
	case err == nil && at.IsDir():
		return &journal.Error{Path: s.path, Fault: journal.Foreign, Err: errors.New("it is a folder")}
	case err == nil && isMounted(s.path): // other processes have other logs and locks
		return &journal.Error{Path: s.path, Fault: journal.Mounted}
	case err == nil && !at.Mode().IsRegular():
		return &journal.Error{Path: s.path, Fault: journal.Foreign, Err: errors.New("it is not a plain file")}
	case err == nil && 0 < at.Size() && at.Size() < smallest && !exists(s.path+"-journal") && !exists(s.path+"-wal"):
		return &journal.Error{Path: s.path, Fault: journal.Foreign, Err: errors.New("it is shorter than any")}
	case err == nil && s.opts.ReadOnly:
		s.frozen = !exists(s.path+"-wal") && access(filepath.Dir(s.path), true) != nil
		return access(s.path, false)
	case err == nil:
		return access(s.path, true)
	case !errors.Is(err, fs.ErrNotExist) || s.opts.ReadOnly:
		return err
	}
	if err := os.MkdirAll(filepath.Dir(s.path), 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(s.path, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) { // another process has made it
		return nil
	}
	if err != nil {
		return err
	}
	syncFolders(s.path)
	return f.Close()
}

// smallest is the size of the smallest database. SQLite takes a shorter file for an empty one and
// overwrites it, unless a file next to it says that it was cut off there.
const smallest = 512

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// syncFolders makes the name of a new file, and that of its folder, durable, if the system can do
// that.
func syncFolders(path string) {
	dir := filepath.Dir(path)
	for _, name := range []string{dir, filepath.Dir(dir)} {
		if d, err := os.Open(name); err == nil {
			_ = d.Sync()
			d.Close()
		}
	}
}

// source returns the data source name for a connection.
func (s *Store) source(write bool) string {
	q := url.Values{"_synchronous": {"FULL"}, "_dqs": {"0"}, "_defensive": {"1"}, "_error_rc": {"1"}}
	switch {
	case write: // it waits by itself: see Store.retry
		q.Set("_busy_timeout", "0")
	default:
		q.Set("_busy_timeout", "10000")
		q.Set("_query_only", "1")
	}
	if s.opts.ReadOnly {
		q.Set("mode", "ro")
	} else {
		q.Set("mode", "rw")
	}
	if s.frozen {
		q.Set("immutable", "1")
	}
	if s.opts.vfs != "" {
		q.Set("vfs", s.opts.vfs)
	}
	u := url.URL{Scheme: "file", Path: filepath.ToSlash(s.path), RawQuery: q.Encode()}
	return u.String()
}

// Close waits until all appended events are on disk, releases the runs that are still held, and
// closes the file. It returns an error if some events could not be written.
func (s *Store) Close() error {
	var err error
	if s.queue != nil {
		err = errors.Join(s.queue.CloseRuns()...)
		s.closeLoops()
	}
	return errors.Join(err, s.fault(s.closeFile()))
}

func (s *Store) closeFile() error {
	var errs []error
	if s.watch != nil {
		s.watch.Close(&journal.Error{Path: s.path, Fault: journal.Closed})
	}
	if s.readers != nil {
		errs = append(errs, s.readers.Close())
	}
	s.writing.Lock()
	defer s.writing.Unlock()
	if s.writer != nil { // last, so that it moves everything into the main file
		errs = append(errs, s.writer.close())
		s.writer = nil
		s.closeLogNote()
		s.closeTurn()
		os.Remove(s.path + ".locks") // this fails if other processes hold runs
	}
	return errors.Join(errs...)
}

// writer is the connection that writes.
type writer struct {
	db   *sql.DB
	conn *sql.Conn

	events                                    []inserts // the largest first, the last of one row
	summary, question, closing, asking, ended *sql.Stmt
	begin, commit                             *sql.Stmt
	prepared                                  []*sql.Stmt // all of them
}

// inserts is a statement that inserts this many rows of events.
type inserts struct {
	rows int
	stmt *sql.Stmt
}

// newWriter opens the connection that writes.
func (s *Store) newWriter(ctx context.Context) (*writer, error) {
	db, err := sql.Open("sqlite", s.source(true))
	if err != nil {
		return nil, err
	}
	w := &writer{db: db}
	err = s.connect(ctx, w)
	for query, stmt := range map[string]**sql.Stmt{"BEGIN IMMEDIATE": &w.begin, "COMMIT": &w.commit} {
		if err == nil {
			*stmt, err = w.prepareOne(ctx, query)
		}
	}
	if err != nil {
		w.close()
		return nil, err
	}
	return w, nil
}

// connect connects the writer, and makes the file use a write-ahead log. It changes nothing in
// another program's database, not even that.
func (s *Store) connect(ctx context.Context, w *writer) error {
	mode := ""
	err := s.retry(ctx, func() (err error) {
		if w.conn == nil {
			if w.conn, err = w.db.Conn(ctx); err != nil {
				return err
			}
		}
		if _, err := s.version(ctx, w.conn); err != nil {
			return err
		}
		return w.conn.QueryRowContext(ctx, "PRAGMA journal_mode = WAL").Scan(&mode)
	})
	if err == nil && mode != "wal" {
		return &journal.Error{Path: s.path, Fault: journal.Unusable, Err: errors.New("its file system can't share memory between processes")}
	}
	return err
}

// prepare prepares the statements of the commits.
func (w *writer) prepare(ctx context.Context) error {
	for query, stmt := range map[string]**sql.Stmt{
		updateRun: &w.summary, upsertQuestion: &w.question,
		closeQuestion: &w.closing, countQuestions: &w.asking, dropCancel: &w.ended,
	} {
		var err error
		if *stmt, err = w.prepareOne(ctx, query); err != nil {
			return err
		}
	}
	for _, rows := range []int{16, 4, 1} {
		stmt, err := w.prepareOne(ctx, insertEvents+eventRow+strings.Repeat(", "+eventRow, rows-1))
		if err != nil {
			return err
		}
		w.events = append(w.events, inserts{rows, stmt})
	}
	return nil
}

func (w *writer) prepareOne(ctx context.Context, query string) (*sql.Stmt, error) {
	stmt, err := w.conn.PrepareContext(ctx, query)
	if err == nil {
		w.prepared = append(w.prepared, stmt)
	}
	return stmt, err
}

// close closes the writer with its statements: SQLite keeps a connection open that has statements.
func (w *writer) close() error {
	var errs []error
	for _, stmt := range w.prepared {
		errs = append(errs, stmt.Close())
	}
	if w.conn != nil {
		errs = append(errs, w.conn.Close())
	}
	return errors.Join(append(errs, w.db.Close())...)
}

// tx is a transaction of the writer.
type tx struct {
	*writer
	ctx context.Context
}

func (t *tx) exec(query string, args ...any) (int64, error) {
	res, err := t.conn.ExecContext(t.ctx, query, args...)
	if err != nil {
		return 0, err
	}
	return res.RowsAffected()
}

func (t *tx) run(s *sql.Stmt, args ...any) error {
	_, err := s.ExecContext(t.ctx, args...)
	return err
}

// write calls f in a transaction. When write returns nil, everything that f did is on disk;
// otherwise nothing of it is stored. It waits while another process writes.
func (s *Store) write(ctx context.Context, f func(*tx) error) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	if err := s.writable(); err != nil {
		return err
	}
	defer s.takeTurn(ctx)()
	t := &tx{s.writer, context.WithoutCancel(ctx)} // a transaction that has begun is completed, so that its outcome is certain
	if err := s.retry(ctx, func() error { return t.run(t.begin) }); err != nil {
		return s.fault(err)
	}
	err := s.inPlace()
	if err == nil {
		err = f(t)
	}
	if err == nil {
		err = t.run(t.commit)
	}
	if err == nil {
		s.noteLog()
	}
	if err != nil {
		// Some errors have ended the transaction already; the error of this rollback only says so.
		_, _ = t.conn.ExecContext(t.ctx, "ROLLBACK")
	}
	return s.fault(err)
}

// inPlace returns an error if the file no longer has the name under which it was opened: a process
// that opens it under another name has its own write-ahead log and locks, and would not see what is
// written here.
func (s *Store) inPlace() error {
	if s.file == nil { // it is being opened
		return nil
	}
	if at, err := os.Stat(s.path); err != nil || !os.SameFile(at, s.file) {
		return &journal.Error{Path: s.path, Fault: journal.Moved}
	}
	return nil
}

// writable returns an error if there is no writer. The caller holds writing.
func (s *Store) writable() error {
	switch {
	case s.opts.ReadOnly:
		return &journal.Error{Path: s.path, Fault: journal.ReadOnly, Err: errors.New("it was opened for reading only")}
	case s.writer == nil:
		return &journal.Error{Path: s.path, Fault: journal.Closed}
	}
	return nil
}

// retry calls f again while another process is in its way, for at most Options.Busy.
func (s *Store) retry(ctx context.Context, f func() error) error {
	return retry(ctx, s.opts.Busy, f)
}

// retry calls f again while another process is in its way, for at most this long. SQLite's own
// waiting is no substitute: it does not apply to a change of the journal mode.
func retry(ctx context.Context, most time.Duration, f func() error) error {
	start := time.Now()
	for wait := 200 * time.Microsecond; ; wait = min(2*wait, 20*time.Millisecond) {
		err := f()
		if !busy(err) || time.Since(start) > most {
			return err
		}
		timer := time.NewTimer(wait/2 + rand.N(wait))
		select {
		case <-ctx.Done():
			timer.Stop()
			return ctx.Err()
		case <-timer.C:
		}
	}
}
