package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/internal/display"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/journal/postgres"
	"github.com/plc-lang/plc/journal/sqlite"
)

// noStore is the value of --store with which nothing is recorded.
const noStore = "none"

// addStore adds the flag that names the store.
func addStore(c *cobra.Command, store *string, usage string) {
	c.Flags().StringVar(store, "store", "", usage+", or postgres://USER@HOST/DATABASE; the default is $PLC_STORE, else a file in the user's state directory")
	completeFiles(c, "db", "store")
}

// storePath returns the file of the store or the URL of its database, or "" if there is no store:
// the value of the flag, else PLC_STORE, else the file in the user's state directory.
func storePath(flag string) (string, error) {
	if flag == "" {
		flag = os.Getenv("PLC_STORE")
	}
	switch flag {
	case noStore:
		return "", nil
	case "":
		dir, err := stateFolder()
		if err != nil {
			return "", fmt.Errorf("there is no folder for the record of runs: %w; --store PATH names a file, --store none keeps nothing", err)
		}
		return filepath.Join(dir, "plc", "runs.db"), nil
	}
	return flag, nil
}

// stateFolder returns the folder in which programs of this user keep their state.
func stateFolder() (string, error) {
	switch dir := os.Getenv("XDG_STATE_HOME"); {
	case filepath.IsAbs(dir): // others are to be ignored, says the specification
		return dir, nil
	case runtime.GOOS == "windows":
		return os.UserCacheDir() // %LocalAppData%, which stays on this machine
	case runtime.GOOS == "darwin":
		return os.UserConfigDir() // ~/Library/Application Support
	}
	home, err := os.UserHomeDir()
	return filepath.Join(home, ".local", "state"), err
}

// localPath returns the path on this machine beside which files that belong to a store but are not
// part of it, such as its cache, are kept: the store's file or, for a database, a name in the
// user's state directory; "" without a store.
func localPath(flag string) (string, error) {
	store, err := storePath(flag)
	if err != nil || !postgres.IsURL(store) {
		return store, err
	}
	dir, err := stateFolder()
	sum := sha256.Sum256([]byte(postgres.Name(store)))
	return filepath.Join(dir, "plc", fmt.Sprintf("shared-%x", sum[:8]), "runs.db"), err
}

// openStore opens the store for writing; it returns nil if there is none.
func openStore(flag string) (journal.Store, error) {
	path, err := storePath(flag)
	if path == "" || err != nil {
		return nil, err
	}
	s, err := open(path, false)
	if err != nil {
		return nil, storeError(err)
	}
	return s, nil
}

// open opens a file or a database.
func open(path string, readOnly bool) (journal.Store, error) {
	if postgres.IsURL(path) {
		s, err := postgres.Open(path, &postgres.Options{ReadOnly: readOnly})
		if err != nil {
			return nil, err
		}
		return s, nil
	}
	s, err := sqlite.Open(path, &sqlite.Options{ReadOnly: readOnly})
	if err != nil {
		return nil, err
	}
	return s, nil
}

// missing reports whether a store is a file that does not exist.
func missing(path string) bool {
	if postgres.IsURL(path) {
		return false
	}
	_, err := os.Stat(path)
	return errors.Is(err, fs.ErrNotExist)
}

// storeError adds to the error of a store that can't be opened what else can be done.
func storeError(err error) error {
	return fmt.Errorf("%s (--store PATH is another one, --store none keeps no record)", trimJournal(err))
}

// trimJournal returns the text of an error of the store as commands report it.
func trimJournal(err error) string { return strings.TrimPrefix(err.Error(), "journal: ") }

// errNoRuns means that there is no store yet.
var errNoRuns = plc.ErrNoRuns

// errNoStore means that --store, or PLC_STORE, is none.
var errNoStore = errors.New("--store none has no runs; name the store that has them")

// namedStore returns storePath, or an error if there is no store.
func namedStore(flag string) (string, error) {
	path, err := storePath(flag)
	if path == "" && err == nil {
		err = errNoStore
	}
	return path, err
}

// readStore opens the store for reading, without creating or changing it. If there is none, the
// error is errNoRuns.
func readStore(flag string) (journal.Store, error) {
	path, err := namedStore(flag)
	if err != nil {
		return nil, err
	}
	if missing(path) {
		if flag != "" {
			return nil, fmt.Errorf("the store %s does not exist; name the one that has the run", path)
		}
		return nil, errNoRuns
	}
	s, err := open(path, true)
	var fault *journal.Error
	if errors.As(err, &fault) && fault.Fault == journal.ReadOnly { // its format is of an older version
		s, err = open(path, false)
	}
	if err != nil {
		return nil, errors.New(trimJournal(err))
	}
	return s, nil
}

// writeStore opens an existing store to change its runs.
func writeStore(flag string) (journal.Store, error) {
	path, err := namedStore(flag)
	if err != nil {
		return nil, err
	}
	if missing(path) {
		return nil, fmt.Errorf("there is no store %s: %w", path, errNoRuns)
	}
	return openStore(path)
}

// findRun finds a run by its id, the beginning of it, or "last".
func (env *environment) findRun(ctx context.Context, s journal.Store, name string) (*journal.Summary, error) {
	run, err := plc.New(plc.Config{Store: s}).FindRun(ctx, name)
	return run, env.noSuchRun(err)
}

// withRun opens a store for reading and calls do with a run of it.
func (env *environment) withRun(ctx context.Context, storeFlag, name string, do func(journal.Store, *journal.Summary) error) error {
	store, err := readStore(storeFlag)
	if err != nil {
		return err
	}
	defer store.Close()
	sum, err := env.findRun(ctx, store, name)
	if err != nil {
		return err
	}
	return do(store, sum)
}

// noSuchRun adds to an error about a missing run where to look.
func (env *environment) noSuchRun(err error) error {
	var missing *journal.MissingError
	if errors.As(err, &missing) {
		return fmt.Errorf("there is no run %q; plc runs%s lists them", missing.Run, env.sameFlags())
	}
	return err
}

// completeRuns offers the newest runs as the first argument, and calls of them as the second.
func (env *environment) completeRuns(store *string, calls func(ctx context.Context, s journal.Store, run string) []string) cobra.CompletionFunc {
	return func(c *cobra.Command, args []string, typed string) ([]string, cobra.ShellCompDirective) {
		if len(args) > 1 || len(args) == 1 && calls == nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		if len(args) == 1 {
			return env.completeCalls(c.Context(), *store, args[0], calls)
		}
		s, err := readStore(*store)
		if err != nil {
			return nil, cobra.ShellCompDirectiveDefault
		}
		defer s.Close()
		all, err := s.Runs(c.Context(), journal.Filter{Limit: 100})
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		ids := []string{"last\tthe newest run"}
		for _, r := range all {
			ids = append(ids, fmt.Sprintf("%s\t%s, %s", r.Run, r.Status, display.Line(r.Plan)))
		}
		return ids, cobra.ShellCompDirectiveDefault
	}
}

// completeCalls offers calls of a run.
func (env *environment) completeCalls(ctx context.Context, store, run string, calls func(ctx context.Context, s journal.Store, run string) []string) (names []string, _ cobra.ShellCompDirective) {
	_ = env.withRun(ctx, store, run, func(s journal.Store, sum *journal.Summary) error { // with an error there are no completions
		names = calls(ctx, s, sum.Run)
		return nil
	})
	return names, cobra.ShellCompDirectiveNoFileComp
}

// askedCalls returns the calls of a run that wait for an answer.
func askedCalls(ctx context.Context, s journal.Store, run string) (calls []string) {
	all, err := s.Questions(ctx, run)
	if err != nil {
		return nil
	}
	for _, q := range all {
		calls = append(calls, display.Sprintf("%s\t%s", q.Path, q.Reason).String())
	}
	return calls
}

// knownCalls returns the calls of a run that have events.
func knownCalls(ctx context.Context, s journal.Store, run string) (calls []string) {
	seen := map[string]bool{}
	for e := range plc.CallEvents(s.Events(ctx, run, 0, false)) {
		if !seen[e.Call] {
			seen[e.Call] = true
			calls = append(calls, display.Sprintf("%s\t%s", e.Call, e.Tool).String())
		}
		if len(calls) == 1000 {
			break
		}
	}
	return calls
}
