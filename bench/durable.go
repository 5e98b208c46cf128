package main

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"time"

	"github.com/cschleiden/go-workflows/backend"
	backends "github.com/cschleiden/go-workflows/backend/sqlite"
	"github.com/cschleiden/go-workflows/client"
	"github.com/cschleiden/go-workflows/registry"
	"github.com/cschleiden/go-workflows/worker"
	"github.com/cschleiden/go-workflows/workflow"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/pgtest"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/postgres"
	"github.com/plc-lang/plc/journal/sqlite"
	"github.com/plc-lang/plc/tool"
)

// durables are the systems that keep what each node did on disk, the bounds of the
// machine first.
func durables() []System {
	return []System{
		commitEach("SQLite, a commit a node", 1, 1), commitEach("SQLite, batches of 64 nodes", 64, 4), commitEach("SQLite, batches of 100 nodes", 100, 1),
		plcJournal(), plcPostgres(), dbosPostgres(), goWorkflows(),
	}
}

// folderGraph is a graph whose runs are kept in a folder of its own, which Close removes.
type folderGraph struct {
	GraphFunc
	close func() error
	dir   string
}

// Close ends what the graph needs.
func (g *folderGraph) Close() error { return errors.Join(g.close(), os.RemoveAll(g.dir)) }

// inFolder makes a graph that keeps its runs in a new folder.
func inFolder(open func(dir string) (GraphFunc, func() error, error)) (Graph, error) {
	dir, err := os.MkdirTemp("", "plc-bench-")
	if err != nil {
		return nil, err
	}
	run, done, err := open(dir)
	if err != nil {
		return nil, errors.Join(err, os.RemoveAll(dir))
	}
	return &folderGraph{run, done, dir}, nil
}

// commitEach returns a system that only writes rows of 256 bytes, in commits that are synced: the
// speed of the disk.
func commitEach(name string, nodes, rows int) System {
	return System{
		Name: name, Bound: true, Does: fmt.Sprintf("WAL, synchronous=FULL; %d rows of 256 bytes a node, nothing else", rows),
		Build: func(s *Shape) (Graph, error) {
			return inFolder(func(dir string) (GraphFunc, func() error, error) {
				db, err := sql.Open("sqlite", filepath.Join(dir, "rows.db")+"?_pragma=journal_mode(wal)&_pragma=synchronous(full)")
				if err != nil {
					return nil, nil, err
				}
				db.SetMaxOpenConns(1)
				_, err = db.Exec(`CREATE TABLE row (id INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT`)
				return func(ctx context.Context, w *Work) (json.RawMessage, error) {
					for from := 0; from < len(s.Needs); from += nodes {
						to := min(from+nodes, len(s.Needs))
						for i := from; i < to; i++ {
							w.Do(i, nil)
						}
						if err := commit(ctx, db, (to-from)*rows); err != nil {
							return nil, err
						}
					}
					return value, nil
				}, db.Close, err
			})
		},
	}
}

// commit writes so many rows.
func commit(ctx context.Context, db *sql.DB, rows int) error {
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer tx.Rollback() // nothing, once it is committed
	insert, err := tx.PrepareContext(ctx, `INSERT INTO row (body) VALUES (?)`)
	if err != nil {
		return err
	}
	defer insert.Close()
	body := strings.Repeat("x", 256)
	for range rows {
		if _, err := insert.ExecContext(ctx, body); err != nil {
			return err
		}
	}
	return tx.Commit()
}

const recordedDoes = "the tool changes the world, so the intent of each call is on disk before it starts; params and results validated; 64 at once"

// plcJournal is this project with its record in a file.
func plcJournal() System {
	return System{
		Name: "plc", Does: "package journal/sqlite: SQLite, WAL, synchronous=FULL; " + recordedDoes,
		Build: func(s *Shape) (Graph, error) {
			return inFolder(func(dir string) (GraphFunc, func() error, error) {
				store, err := sqlite.Open(filepath.Join(dir, "runs.db"), nil)
				if err != nil {
					return nil, nil, err
				}
				return recorded(s, store)
			})
		},
	}
}

// inPostgres is the name of plcPostgres.
const inPostgres = "plc, in Postgres"

// plcPostgres is this project with its record in a Postgres of its own, which is started for it.
func plcPostgres() System {
	return System{
		Name: inPostgres, Does: "package journal/postgres: local Postgres, fsync on; " + recordedDoes,
		Build: func(s *Shape) (Graph, error) {
			return onPostgres(func(url string) (GraphFunc, func() error, error) {
				store, err := postgres.Open(url, nil)
				if err != nil {
					return nil, nil, err
				}
				return recorded(s, store)
			})
		},
	}
}

// recorded runs a shape again and again, each run with a record of its own in a store, which it
// closes in the end.
func recorded(s *Shape, store journal.Store) (GraphFunc, func() error, error) {
	prog, err := program(s, tool.Effects{ReadOnly: tool.No, Independent: tool.Yes})
	runs := 0
	return func(ctx context.Context, w *Work) (json.RawMessage, error) {
		runs++
		id := fmt.Sprint("run", runs)
		record, err := store.Create(context.Background(), id, &journal.Given{Plan: journal.Text{Name: "plan.json", Bytes: []byte(plan(s))}})
		if err != nil {
			return nil, err
		}
		v, err := run(withWork(ctx, w), prog, &exec.Options{ID: id, Record: record}, len(s.Needs)-1)
		return v, errors.Join(err, record.Close())
	}, store.Close, err
}

// errAbsent is that of a system which needs a program that is not there.
var errAbsent = errors.New("not there")

// onPostgres makes a graph that keeps its runs in a new Postgres.
func onPostgres(open func(url string) (GraphFunc, func() error, error)) (Graph, error) {
	server, err := pgtest.New("fsync=on", "shared_buffers=128MB")
	if err != nil {
		return nil, err
	}
	if server == nil {
		return nil, fmt.Errorf("Postgres: %w", errAbsent)
	}
	run, done, err := open(server.URL("public"))
	if err != nil {
		server.Remove()
		return nil, err
	}
	return &folderGraph{run, func() error { defer server.Remove(); return done() }, server.Dir}, nil
}

// goWorkflows is cschleiden/go-workflows: a workflow of activities.
func goWorkflows() System {
	return System{
		Name: "go-workflows", Most: 202, Does: "SQLite, WAL, synchronous=FULL; histories as events, one worker that polls each millisecond, retries off",
		Build: func(s *Shape) (Graph, error) {
			return inFolder(func(dir string) (GraphFunc, func() error, error) {
				b := backends.NewSqliteBackend(filepath.Join(dir, "workflows.db"), backends.WithBackendOptions(backend.WithLogger(silent())))
				ctx, stop := context.WithCancel(context.Background())
				opts := worker.DefaultOptions
				opts.WorkflowPollingInterval, opts.ActivityPollingInterval = time.Millisecond, time.Millisecond
				w := worker.New(b, &opts)
				current := new(atomic.Pointer[Work])
				err := errors.Join(
					w.RegisterWorkflow(workflowOf(s), registry.WithName("graph")),
					w.RegisterActivity(func(_ context.Context, node int, in []json.RawMessage) (json.RawMessage, error) {
						return current.Load().Do(node, in), nil
					}, registry.WithName("node")),
					w.Start(ctx),
				)
				c, runs := client.New(b), 0
				return func(ctx context.Context, w *Work) (json.RawMessage, error) {
						current.Store(w)
						runs++
						i, err := c.CreateWorkflowInstance(ctx, client.WorkflowInstanceOptions{InstanceID: fmt.Sprint("run", runs)}, "graph")
						if err != nil {
							return nil, err
						}
						return client.GetWorkflowResult[json.RawMessage](ctx, c, i, time.Minute)
					}, func() error {
						stop()
						return errors.Join(w.WaitForCompletion(), b.Close())
					}, err
			})
		},
	}
}

// workflowOf starts each node of a shape when those that it needs have ended, in the
// order of the nodes: chains and fans lose nothing by that.
func workflowOf(s *Shape) func(workflow.Context) (json.RawMessage, error) {
	return func(ctx workflow.Context) (json.RawMessage, error) {
		futures := make([]workflow.Future[json.RawMessage], len(s.Needs))
		opts := workflow.ActivityOptions{RetryOptions: workflow.RetryOptions{MaxAttempts: 1}}
		for i, needs := range s.Needs {
			in := make([]json.RawMessage, len(needs))
			for k, n := range needs {
				v, err := futures[n].Get(ctx)
				if err != nil {
					return nil, err
				}
				in[k] = v
			}
			futures[i] = workflow.ExecuteActivity[json.RawMessage](ctx, opts, "node", i, in)
		}
		return futures[len(futures)-1].Get(ctx)
	}
}
