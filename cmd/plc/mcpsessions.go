package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/cmd/plc/internal/gateway"
	"github.com/plc-lang/plc/internal/display"
)

func mcpSessionsCommand(env *environment) *cobra.Command {
	var store string
	var asJSON bool
	var limit int
	c := &cobra.Command{
		Use:   "sessions [SESSION]",
		Short: "List the sessions of agents, or show what an agent asked for in one",
		Long: `List the sessions of agents with plc mcp and plc serve, the newest first. With the id of a
session, or its beginning, or last, show what the agent asked for: the plans that it had checked,
with what was wrong with them, and the runs that it began. plc show has the plan, the approvals
and the result of a run.`,
		Example: `  plc mcp sessions
  plc mcp sessions last
  plc runs --session 01KABCDEFGHJKMNPQRSTVWXYZ0`,
		Args: wants(0, 1, "one session at most"),
		RunE: func(c *cobra.Command, args []string) error {
			return env.sessions(c.Context(), store, args, limit, asJSON)
		},
	}
	addStore(c, &store, "the store that has the sessions")
	addFormat(c, &asJSON, "text or json (one document)")
	c.Flags().IntVar(&limit, "limit", 50, "most sessions of the list; 0 is all")
	return c
}

// toldSession is a session as it is shown.
type toldSession struct {
	*plc.AgentSession
	Plans   int              `json:"plans"` // that were checked or run
	Runs    int              `json:"runs"`
	Entries []*gateway.Noted `json:"entries,omitempty"`
}

// sessions runs plc mcp sessions.
func (env *environment) sessions(ctx context.Context, storeFlag string, args []string, limit int, asJSON bool) error {
	store, err := writeStore(storeFlag) // reading the record of a session holds it
	if errors.Is(err, errNoRuns) && len(args) == 0 && storeFlag == "" {
		store, err = nil, nil
	}
	if err != nil {
		return err
	}
	var ids []string
	eng := env.engineOn(store)
	if store != nil {
		defer store.Close()
		if ids, err = eng.Sessions(ctx); err != nil {
			return err
		}
	}
	if len(args) > 0 {
		id, err := env.oneSession(ids, args[0])
		if err != nil {
			return err
		}
		s, err := readSession(ctx, eng, id)
		switch {
		case err != nil:
			return err
		case asJSON:
			return env.writeJSON(s)
		}
		return env.showSession(s)
	}
	all := []*toldSession{}
	for _, id := range ids {
		if limit > 0 && len(all) == limit {
			break
		}
		s, err := readSession(ctx, eng, id)
		if err != nil {
			return err
		}
		all = append(all, s)
	}
	return env.listSessions(all, asJSON)
}

// oneSession returns the id of the session that a name, the beginning of an id, or last stands for.
func (env *environment) oneSession(ids []string, name string) (string, error) {
	found := slices.DeleteFunc(slices.Clone(ids), func(id string) bool { return !strings.HasPrefix(id, strings.ToUpper(name)) })
	switch {
	case name == "last" && len(ids) > 0:
		return ids[0], nil
	case len(found) == 0:
		return "", fmt.Errorf("there is no session %q; plc mcp sessions%s lists them", name, env.sameFlags())
	case len(found) > 1:
		return "", fmt.Errorf("%d sessions begin with %q; give more of the id", len(found), name)
	}
	return found[0], nil
}

func readSession(ctx context.Context, eng *plc.Engine, id string) (*toldSession, error) {
	about, entries, err := eng.SessionEntries(ctx, id)
	s := &toldSession{AgentSession: about}
	for _, text := range entries {
		e := &gateway.Noted{}
		if err := json.Unmarshal(text, e); err != nil {
			return nil, fmt.Errorf("the record of the session %s is broken: %w", id, err)
		}
		s.Entries = append(s.Entries, e)
		if e.OK != nil {
			s.Plans++
			if e.Run != "" {
				s.Runs++
			}
		}
	}
	return s, err
}

func (env *environment) listSessions(all []*toldSession, asJSON bool) error {
	if asJSON {
		for _, s := range all {
			s.Entries = nil
		}
		return env.writeJSON(all)
	}
	if len(all) == 0 {
		env.hintf("no agent has asked for anything yet; plc mcp serves agents")
		return nil
	}
	rows := [][]string{{"SESSION", "BEGAN", "PLANS", "RUNS", "BY", "ROLE", "CLIENT"}}
	for _, s := range all {
		rows = append(rows, []string{
			s.ID, s.Began.Local().Format(timeShown), strconv.Itoa(s.Plans), strconv.Itoa(s.Runs), s.By, s.Role, display.Line(s.Client).Cut(maxIDs).String(),
		})
	}
	return env.table(rows)
}

// maxShownPlan is the maximum number of columns of a plan in the text of a session.
const maxShownPlan = 200

func (env *environment) showSession(s *toldSession) error {
	out := newBuffered(env.stdout)
	for _, e := range s.Entries {
		what := "a sound plan"
		switch {
		case e.OK == nil:
			what = "run " + e.Run
		case e.Run != "":
			what = "began run " + e.Run
		case !*e.OK:
			what = "a plan with errors"
		}
		showf(out, "%s  %s: %s\n", e.Time.Local().Format(timeShown), display.Name(e.Tool), display.Line(what))
		if e.Plan != nil {
			showf(out, "    plan: %s\n", display.Line(string(e.Plan)).Cut(maxShownPlan))
		}
		for _, f := range e.Findings {
			showf(out, "    %s\n", display.Line(f))
		}
	}
	return out.Flush()
}
