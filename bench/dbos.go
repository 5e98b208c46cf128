package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	osexec "os/exec"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
)

func silent() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// errAbsent is that of a system which needs a program that is not there.
var errAbsent = errors.New("not there")

// dbosPostgres is DBOS on a Postgres of its own, which is started for it.
func dbosPostgres() System {
	return System{
		Name: "DBOS", Does: "local Postgres, fsync on; in chains a step a node, in fans a workflow a node (steps of one workflow can't be taken at once); no checks",
		Build: func(s *Shape) (Graph, error) {
			return inFolder(func(dir string) (GraphFunc, func() error, error) {
				stopPostgres, url, err := postgres(dir)
				if err != nil {
					return nil, nil, err
				}
				c, err := connect(url)
				if err != nil {
					return nil, nil, errors.Join(err, stopPostgres())
				}
				g := &dbosGraph{s: s, c: c}
				dbos.RegisterWorkflow(c, g.graph, dbos.WithWorkflowName("graph"))
				dbos.RegisterWorkflow(c, g.node, dbos.WithWorkflowName("node"))
				err = dbos.Launch(c)
				return g.run, func() error {
					dbos.Shutdown(c, 5*time.Second)
					return stopPostgres()
				}, err
			})
		},
	}
}

// connect is DBOS on a database that may still be starting.
func connect(url string) (c dbos.DBOSContext, err error) {
	for range 100 {
		c, err = dbos.NewDBOSContext(context.Background(), dbos.Config{AppName: "bench", DatabaseURL: url, Logger: silent()})
		if err == nil {
			return c, nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return nil, err
}

// dbosGraph is a shape as a workflow of DBOS.
type dbosGraph struct {
	s    *Shape
	c    dbos.DBOSContext
	work atomic.Pointer[Work]
	runs int
}

// dbosInput is the input of a node.
type dbosInput struct {
	Node int
	In   []json.RawMessage
}

func (g *dbosGraph) run(_ context.Context, w *Work) (json.RawMessage, error) {
	g.work.Store(w)
	g.runs++
	h, err := dbos.RunWorkflow(g.c, g.graph, "", dbos.WithWorkflowID(fmt.Sprint("run", g.runs)))
	if err != nil {
		return nil, err
	}
	text, err := h.GetResult()
	return json.RawMessage(text), err
}

// node is a node as a workflow of its own.
func (g *dbosGraph) node(_ dbos.DBOSContext, in dbosInput) (string, error) {
	return string(g.work.Load().Do(in.Node, in.In)), nil
}

// graph takes the nodes in their order; those that stand beside each other are workflows.
func (g *dbosGraph) graph(ctx dbos.DBOSContext, _ string) (string, error) {
	values, handles := make([]json.RawMessage, len(g.s.Needs)), make([]dbos.WorkflowHandle[string], len(g.s.Needs))
	users := g.s.Users()
	for i, needs := range g.s.Needs {
		for _, n := range needs {
			if handles[n] != nil && values[n] == nil {
				text, err := handles[n].GetResult()
				if err != nil {
					return "", err
				}
				values[n] = json.RawMessage(text)
			}
		}
		in := dbosInput{Node: i, In: inputs(values, needs)}
		var err error
		if len(needs) > 0 && len(users[needs[0]]) > 1 {
			handles[i], err = dbos.RunWorkflow(ctx, g.node, in)
		} else {
			var text string
			text, err = dbos.RunAsStep(ctx, func(context.Context) (string, error) { return string(g.work.Load().Do(in.Node, in.In)), nil })
			values[i] = json.RawMessage(text)
		}
		if err != nil {
			return "", err
		}
	}
	return string(values[len(values)-1]), nil
}

// postgres starts a Postgres that keeps its data and its socket in a folder, and gives
// what stops it. It does not run as root, so root runs it as the user postgres.
func postgres(dir string) (stop func() error, url string, err error) {
	initdb, err1 := osexec.LookPath("initdb")
	server, err2 := osexec.LookPath("postgres")
	if err1 != nil || err2 != nil {
		return nil, "", fmt.Errorf("initdb and postgres: %w", errAbsent)
	}
	if err := give(dir); err != nil {
		return nil, "", fmt.Errorf("postgres does not run as root: %w", errors.Join(errAbsent, err))
	}
	data := filepath.Join(dir, "data")
	init := osexec.Command(initdb, "-D", data, "-U", "bench", "-A", "trust", "--no-sync")
	demote(init)
	if out, err := init.CombinedOutput(); err != nil {
		return nil, "", fmt.Errorf("initdb: %w: %s", err, out)
	}
	cmd := osexec.Command(server, "-D", data, "-k", dir, "-c", "listen_addresses=")
	demote(cmd)
	if err := cmd.Start(); err != nil {
		return nil, "", err
	}
	stop = func() error {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			return err
		}
		return cmd.Wait()
	}
	return stop, "postgres://bench@/bench?sslmode=disable&host=" + dir, nil
}
