package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/display"
	"github.com/plc-lang/plc/journal"
)

// runStatuses returns the statuses that runs may have.
func runStatuses() []string {
	return []string{"completed", "failed", "paused", "cancelled", "rejected", "undoing", "undone", "undoneInPart", "running", "pending", "interrupted", "damaged"}
}

// statusesOf reads the values of --status.
func statusesOf(names []string) (all []exec.Status, err error) {
	for _, name := range names {
		if _, err := choice("status", name, itself(runStatuses()...)); err != nil {
			return nil, err
		}
		all = append(all, exec.Status(name))
	}
	return all, nil
}

func runsCommand(env *environment) *cobra.Command {
	var store, session string
	var asJSON bool
	var status []string
	var limit int
	c := &cobra.Command{
		Use:   "runs",
		Short: "List the runs of the record",
		Long: `List the recorded runs, newest first, with the status of each, its calls by status (those that
started or were skipped, including calls in documents), and the number of its open questions.
ELAPSED is the time from the start of the run to its end, or to its last event, including all
waits for a person or for plc resume. A run whose process is gone, and that did not end, is
interrupted; plc resume goes on with it.`,
		Example: `  plc runs
  plc runs --status paused,interrupted --limit 10
  plc runs --format json | jq -r '.[].run'`,
		Args: func(c *cobra.Command, args []string) error {
			if len(args) > 0 && meant(args[0], slices.Values([]string{"repair"}), "") != "" {
				return knownCommand(c, args)
			}
			return wants(0, 0, "no arguments")(c, args)
		},
		RunE: func(c *cobra.Command, _ []string) error {
			only, err := statusesOf(status)
			if err != nil {
				return err
			}
			f := journal.Filter{Status: only, Limit: limit}
			if session != "" {
				f.Labels = map[string]string{plc.SessionLabel: session}
			}
			return env.runs(c.Context(), store, asJSON, f)
		},
	}
	addStore(c, &store, "the store that has the runs")
	addFormat(c, &asJSON, "text or json (one document, a list)")
	c.Flags().StringSliceVar(&status, "status", nil, "only runs with this status: "+strings.Join(runStatuses(), ", "))
	c.Flags().StringVar(&session, "session", "", "only runs of this session of an agent; plc mcp sessions lists them")
	c.Flags().IntVar(&limit, "limit", 50, "most runs; 0 is all")
	complete(c, "status", runStatuses()...)
	c.AddCommand(repairCommand(env))
	return c
}

// timeShown is the layout in which a time is shown to a person.
const timeShown = "2006-01-02 15:04:05"

// runEntry is a run in plc runs --format json.
type runEntry struct {
	Run       string              `json:"run"`
	Status    exec.Status         `json:"status"`
	Reason    string              `json:"reason"`
	Plan      string              `json:"plan"`
	Parent    *string             `json:"parent"`            // that it is a fork of
	Undoes    string              `json:"undoes,omitempty"`  // the run that it undoes
	Session   string              `json:"session,omitempty"` // of the agent that began it
	CreatedAt time.Time           `json:"createdAt"`
	ChangedAt time.Time           `json:"changedAt"`
	EndedAt   *time.Time          `json:"endedAt"`
	Calls     map[exec.Status]int `json:"calls"`
	Questions int                 `json:"questions"`
	Events    int64               `json:"events"`
	Holder    *holderEntry        `json:"holder"` // the process that runs it
}

type holderEntry struct {
	PID   int       `json:"pid"`
	Host  string    `json:"host"`
	Since time.Time `json:"since"`
}

func entryOf(r *journal.Summary) runEntry {
	e := runEntry{
		Run: r.Run, Status: r.Status, Reason: r.Reason, Plan: shownName(r.Plan), CreatedAt: r.Created.UTC(), ChangedAt: r.Changed.UTC(),
		Calls: r.Calls, Questions: r.Questions, Events: r.Events, Undoes: plc.Undoes(r),
		Session: r.Labels[plc.SessionLabel],
	}
	if r.Parent != "" {
		e.Parent = &r.Parent
	}
	if !r.Finished.IsZero() {
		at := r.Finished.UTC()
		e.EndedAt = &at
	}
	if h := r.Holder; h != nil {
		e.Holder = &holderEntry{h.PID, h.Host, h.Since.UTC()}
	}
	return e
}

// runs runs plc runs.
func (env *environment) runs(ctx context.Context, storeFlag string, asJSON bool, f journal.Filter) error {
	var all []*journal.Summary
	store, err := readStore(storeFlag)
	switch {
	case errors.Is(err, errNoRuns):
	case err != nil:
		return err
	default:
		defer store.Close()
		if all, err = store.Runs(ctx, f); err != nil {
			return err
		}
	}
	if asJSON {
		entries := []runEntry{}
		for _, r := range all {
			entries = append(entries, entryOf(r))
		}
		return env.writeJSON(entries)
	}
	if len(all) == 0 {
		if len(f.Status) > 0 {
			env.hintf("no run has this status; plc runs lists all")
		} else {
			env.hintf("there are no runs; plc run records each")
		}
		return nil
	}
	return env.runTable(all, f.Limit)
}

// runTable shows the runs as a table.
func (env *environment) runTable(all []*journal.Summary, limit int) error {
	rows := [][]string{{"RUN", "STATUS", "CALLS", "ASKS", "ELAPSED", "STARTED", "PLAN"}}
	for _, r := range all {
		rows = append(rows, []string{
			r.Run, string(r.Status), strings.Join(endsOf(r.Calls, "completed"), ", "), strconv.Itoa(r.Questions), elapsedOf(r), r.Created.Local().Format(timeShown),
			display.Line(shownName(r.Plan)).Cut(maxIDs).String(),
		})
	}
	err := env.table(rows)
	if len(all) == limit {
		env.hintf("these are the newest %d; --limit 0 lists all", limit)
	}
	return err
}

// table writes rows in columns.
func (env *environment) table(rows [][]string) error {
	width := make([]int, len(rows[0]))
	for _, r := range rows {
		for i, cell := range r {
			width[i] = max(width[i], display.Line(cell).Columns())
		}
	}
	out := newBuffered(env.stdout)
	for _, r := range rows {
		var line display.Builder
		cells := make([]display.Text, len(r))
		for i, cell := range r {
			cells[i] = display.Line(cell).Pad(width[i] + 2)
		}
		line.Line("%s", display.Join(cells, ""))
		show(out, line.Text())
	}
	return out.Flush()
}

// elapsedOf returns the time from the start of a run to its end, or to its last event, including
// time in which it did not run. For a run that a process holds it is the time until now.
func elapsedOf(r *journal.Summary) string {
	end := r.Changed
	if !r.Finished.IsZero() {
		end = r.Finished
	} else if r.Holder != nil {
		end = time.Now()
	}
	return shortly(end.Sub(r.Created))
}

func shortly(d time.Duration) string {
	if d < time.Second {
		return d.Round(time.Millisecond).String()
	}
	return d.Round(100 * time.Millisecond).String()
}

func eventsCommand(env *environment) *cobra.Command {
	var store string
	var asJSON, follow bool
	c := &cobra.Command{
		Use:   "events RUN",
		Short: "Tell what happened in a run",
		Long: `Tell what happened in a run, in order; with --follow also what happens from now on, until the run
has ended. With --format json each event is a line of JSON, as plc run --events writes them.`,
		Example: `  plc events last --follow
  plc events 01KABC --format json | jq -c 'select(.type == "callStarted")'`,
		Args:              wants(1, 1, "one run"),
		ValidArgsFunction: env.completeRuns(&store, nil),
		RunE: func(c *cobra.Command, args []string) error {
			return env.withRun(c.Context(), store, args[0], func(s journal.Store, run *journal.Summary) error {
				return env.events(c, s, run.Run, follow, asJSON)
			})
		},
	}
	addStore(c, &store, "the store that has the run")
	addFormat(c, &asJSON, "text or json (lines)")
	c.Flags().BoolVarP(&follow, "follow", "f", false, "go on until the run has ended")
	return c
}

func (env *environment) events(c *cobra.Command, s journal.Store, run string, follow, asJSON bool) error {
	env.graceful.Store(true)
	var last time.Time
	for entry, err := range s.Events(c.Context(), run, 0, follow) {
		if err != nil {
			return err
		}
		if asJSON {
			showf(env.stdout, "%s\n", display.JSON(entry.Body))
			continue
		}
		e, err := entry.Event()
		if err != nil {
			return err
		}
		if env.stdout.err != nil { // the reader is gone
			return nil
		}
		showf(env.stdout, "%s\n", eventLine(e, last))
		last = e.Time
	}
	if c.Context().Err() != nil {
		return exit(exitCancelled)
	}
	return nil
}

// eventLine returns an event as a line of text.
func eventLine(e *exec.Event, last time.Time) string {
	at := e.Time.Local().Format("15:04:05.000")
	if last.Format(time.DateOnly) != e.Time.Format(time.DateOnly) {
		at = e.Time.Local().Format("2006-01-02 15:04:05.000")
	}
	words := []string{at, string(e.Type)}
	name := e.Call
	if e.Instance != "" {
		name = strings.TrimSuffix(e.Instance+": "+name, ": ")
	}
	if name != "" {
		words = append(words, name)
	}
	if e.Attempt > 0 {
		words = append(words, fmt.Sprintf("attempt %d", e.Attempt))
	}
	if e.Status != "" && e.Call == "" {
		words = append(words, string(e.Status))
	}
	if e.Type == exec.Written {
		words = append(words, e.Method, e.Path)
	}
	reason := e.Reason
	if e.Answer != nil {
		reason = strings.TrimSuffix(saidIn(e.Answer)+": "+e.Answer.Reason, ": ")
	}
	for _, text := range []string{e.Outcome, reason} {
		if text != "" {
			words = append(words, text)
		}
	}
	switch {
	case e.By != "":
		words = append(words, "by "+e.By)
	case e.Error != nil && e.Call != "":
		words = append(words, e.Error.String())
	}
	if e.Value != nil {
		words = append(words, cut(string(e.Value), maxColumns))
	}
	return strings.Join(words, "  ")
}

// age is the value of a flag: a duration, or a number of days, as in 30d.
type age struct{ duration }

func (a age) Set(text string) error {
	days, ok := strings.CutSuffix(text, "d")
	if n, err := strconv.ParseUint(days, 10, 16); ok && err == nil {
		*a.d = time.Duration(n) * 24 * time.Hour
		return nil
	}
	if err := a.duration.Set(text); err != nil {
		return errors.New("it is a number of days like 30d, or a duration like 12h")
	}
	return nil
}

func gcCommand(env *environment) *cobra.Command {
	var store string
	var asJSON, dry bool
	var status []string
	var older time.Duration
	var keep int
	c := &cobra.Command{
		Use:   "gc",
		Short: "Delete old runs from the record",
		Long: `Delete runs from the record, with all that they were given and what no other run was given.
Runs that a process holds are never deleted, and those that may still go on (paused, interrupted)
only when --status names them. A loop of plc solve is deleted together with its runs, when it has
ended. Without any of the flags: what ended more than 30 days ago.`,
		Example: `  plc gc --dry-run
  plc gc --older 7d --keep 100
  plc gc --status failed,interrupted --older 90d`,
		Args: wants(0, 0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			fl := c.Flags()
			what := plc.OldRuns(time.Now())
			if fl.Changed("older") || fl.Changed("keep") || fl.Changed("status") {
				what.Before, what.Keep = time.Time{}, keep
			}
			if older > 0 {
				what.Before = time.Now().Add(-older)
			}
			if len(status) > 0 {
				var err error
				if what.Status, err = statusesOf(status); err != nil {
					return err
				}
			}
			return env.collect(c, store, asJSON, what, dry)
		},
	}
	addStore(c, &store, "the store that has the runs")
	addFormat(c, &asJSON, "text or json (one document)")
	fl := c.Flags()
	fl.Var(age{duration{&older}}, "older", "only what has not changed for so long, as in 30d or 12h")
	fl.IntVar(&keep, "keep", 0, "leave the newest so many of them")
	fl.StringSliceVar(&status, "status", nil, "only runs with this status (default completed, failed, cancelled, rejected)")
	fl.BoolVar(&dry, "dry-run", false, "say what would be deleted, and delete nothing")
	complete(c, "status", runStatuses()...)
	return c
}

// collected is the output of plc gc --format json.
type collected struct {
	Runs   int      `json:"runs"`
	Bytes  int64    `json:"bytes"`
	Cached int      `json:"cached"` // remembered results that were too old
	DryRun bool     `json:"dryRun"`
	Would  []string `json:"would,omitempty"` // the runs that would be deleted
}

// collect runs plc gc.
func (env *environment) collect(c *cobra.Command, storeFlag string, asJSON bool, what journal.Collect, dry bool) error {
	done := collected{DryRun: dry}
	open := writeStore
	if dry {
		open = readStore
	}
	store, err := open(storeFlag)
	switch {
	case errors.Is(err, errNoRuns):
	case err != nil:
		return err
	case dry:
		defer store.Close()
		if done.Would, err = env.engineOn(store).Collectable(c.Context(), what); err != nil {
			return err
		}
		done.Runs = len(done.Would)
	default:
		defer store.Close()
		got, err := env.engineOn(store).Collect(c.Context(), what)
		if err != nil {
			return err
		}
		done.Runs, done.Bytes = got.Runs, got.Bytes
		if done.Cached, err = cleanCache(c.Context(), storeFlag); err != nil { // the runs are already deleted
			showf(env.stderr, "warning: the cache beside the store was left as it is: %s; to delete it loses nothing\n", err)
		}
	}
	switch {
	case asJSON:
		return env.writeJSON(done)
	case dry:
		for _, run := range done.Would {
			showf(env.stdout, "%s\n", run)
		}
		showf(env.stderr, "%s would be deleted\n", count(done.Runs, "run"))
	default:
		showf(env.stderr, "%s deleted; the store is %d KiB smaller\n", count(done.Runs, "run"), done.Bytes>>10)
	}
	return nil
}
