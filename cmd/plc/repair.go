package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/postgres"
	"github.com/plc-lang/plc/journal/sqlite"
)

func repairCommand(env *environment) *cobra.Command {
	var store, to string
	var asJSON bool
	c := &cobra.Command{
		Use:   "repair",
		Short: "Say what of a damaged record is whole, and keep it in a new store",
		Long: `Read all that the store has and say of each run whether it is as it was written or, if it is not,
how many of its events can be kept. Nothing is changed. Exit 3 when something is damaged and --to
is not given.

With --to a new store is made of what can be kept. A run that is not whole is there with its
beginning and the status damaged: it can be shown and replayed, and never goes on, since what
it did after that is not known. Questions that were open are open again. Approvals of plans and how
long tools took are kept as well, as far as they are undamaged. Loops of plc solve are not.`,
		Example: `  plc runs repair
  plc runs repair --to kept.db && plc runs --store kept.db`,
		Args: wants(0, 0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error {
			path, err := namedStore(store)
			if err != nil {
				return err
			}
			return env.repair(c, path, to, asJSON)
		},
	}
	addStore(c, &store, "the store that is looked at")
	addFormat(c, &asJSON, "text or json (one document)")
	c.Flags().StringVar(&to, "to", "", "make this store of what can be kept; it must not be there yet")
	completeFiles(c, "db", "to")
	return c
}

// repaired is the output of plc runs repair --format json.
type repaired struct {
	Store  string        `json:"store"`
	Whole  bool          `json:"whole"`
	Faults []string      `json:"faults"` // of the store as a whole
	Runs   []repairedRun `json:"runs"`
	To     *string       `json:"to"` // the store that was made
}

type repairedRun struct {
	Run   string  `json:"run"`
	Whole bool    `json:"whole"`
	Kept  *int64  `json:"kept"` // events; null when nothing can be kept
	Fault *string `json:"fault"`
}

func (env *environment) repair(c *cobra.Command, path, to string, asJSON bool) error {
	runs, faults, salvage, err := damage(c.Context(), path)
	if err != nil {
		return err
	}
	out := repaired{Store: postgres.WithoutPassword(path), Whole: len(faults) == 0, Faults: []string{}, Runs: []repairedRun{}}
	for _, f := range faults {
		out.Faults = append(out.Faults, trimJournal(f))
	}
	for _, r := range runs {
		e := repairedRun{Run: r.Run, Whole: r.Whole}
		out.Whole = out.Whole && r.Whole
		if !r.Fatal {
			e.Kept = &r.Kept
		}
		if r.Fault != nil {
			text := r.Fault.Error()
			e.Fault = &text
		}
		out.Runs = append(out.Runs, e)
	}
	if to != "" {
		if err := salvage(to); err != nil {
			return err
		}
		to = postgres.WithoutPassword(to)
		out.To = &to
	}
	if err := env.tellRepair(&out, runs, asJSON); err != nil {
		return err
	}
	if !out.Whole && to == "" {
		return exit(exitFailed)
	}
	return nil
}

// damage examines the store in a file or a database, and returns a function that copies what can be
// kept to a new store.
func damage(ctx context.Context, path string) (runs []*journal.Repair, faults []error, salvage func(to string) error, err error) {
	if !postgres.IsURL(path) {
		runs, faults, err = sqlite.Damage(ctx, path)
		return runs, faults, func(to string) error {
			if postgres.IsURL(to) {
				return errors.New("what is kept of a file goes into a file; name one")
			}
			_, err := sqlite.Salvage(ctx, path, to)
			return err
		}, err
	}
	s, err := postgres.Open(path, &postgres.Options{ReadOnly: true})
	if err != nil {
		return nil, nil, nil, err
	}
	defer s.Close()
	runs, faults, err = s.Damage(ctx)
	return runs, faults, func(to string) error { return salvageShared(ctx, path, runs, to) }, err
}

// salvageShared copies what can be kept of the runs of a database to a new store.
func salvageShared(ctx context.Context, path string, runs []*journal.Repair, to string) error {
	from, err := postgres.Open(path, &postgres.Options{ReadOnly: true})
	if err != nil {
		return err
	}
	defer from.Close()
	if !postgres.IsURL(to) && !missing(to) {
		return fmt.Errorf("%s is there already; name a file that is not", to)
	}
	s, err := open(to, false)
	if err != nil {
		return err
	}
	there, err := s.Runs(ctx, journal.Filter{Limit: 1})
	if err == nil && len(there) > 0 {
		err = fmt.Errorf("%s has runs already; name another schema (search_path=NAME)", postgres.Name(to))
	}
	if err == nil {
		err = from.Salvage(ctx, runs, s)
	}
	return errors.Join(err, s.Close())
}

func (env *environment) tellRepair(out *repaired, runs []*journal.Repair, asJSON bool) error {
	if asJSON {
		return env.writeJSON(out)
	}
	for _, f := range out.Faults {
		showf(env.stdout, "%s\n", f)
	}
	for _, r := range runs {
		showf(env.stdout, "%s\n", r.String())
	}
	switch {
	case out.To != nil:
		env.hintf("%s has what can be kept; --store names it", *out.To)
	case out.Whole:
		env.hintf("nothing is damaged")
	default:
		env.hintf("--to NEW makes a store of what can be kept")
	}
	return nil
}
