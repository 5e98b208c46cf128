package main

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/dbos-inc/dbos-transact-golang/dbos"
)

func silent() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// dbosPostgres is DBOS on a Postgres of its own, which is started for it.
func dbosPostgres() System {
	return System{
		Name: "DBOS", Does: "local Postgres, fsync on; in chains a step a node, in fans a workflow a node (steps of one workflow can't be taken at once); no checks",
		Build: func(s *Shape) (Graph, error) {
			return onPostgres(func(url string) (GraphFunc, func() error, error) {
				c, err := dbos.NewDBOSContext(context.Background(), dbos.Config{AppName: "bench", DatabaseURL: url, Logger: silent()})
				if err != nil {
					return nil, nil, err
				}
				g := &dbosGraph{s: s, c: c}
				dbos.RegisterWorkflow(c, g.graph, dbos.WithWorkflowName("graph"))
				dbos.RegisterWorkflow(c, g.node, dbos.WithWorkflowName("node"))
				return g.run, func() error {
					dbos.Shutdown(c, 5*time.Second)
					return nil
				}, dbos.Launch(c)
			})
		},
	}
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
