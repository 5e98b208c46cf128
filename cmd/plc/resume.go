package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/journal"
	"github.com/plc-lang/plc/state"
)

// resumeFlags are the flags of the commands by which a recorded run goes on: those of plc run
// that may be others than when it was begun.
type resumeFlags struct {
	runFlags
	plan string
}

// resumable are the flags that are given to a run that goes on.
var resumable = [...]string{
	"schedule", "max-parallel", "max-steps", "max-tokens", "max-cost", "max-time", "timeout", "on-failure", "on-uncertain", "approve", "approve-timeout", "on-timeout",
	"max-revisions", "revise-at", "fail-fast", "instances", "model-record", "model-replay", "no-cache",
}

// add adds the flags that all these commands have.
func (f *resumeFlags) addTo(c *cobra.Command) {
	all := &cobra.Command{}
	var defaults runFlags
	defaults.addAll(all)
	for _, name := range resumable {
		c.Flags().AddFlag(all.Flags().Lookup(name))
	}
	f.addTelling(c)
	c.Flags().Lookup("store").Usage = "the store that has the run; the default is $PLC_STORE, else a file in the user's state directory"
	c.Flags().BoolVar(&f.yes, "yes", false, "approve what would be asked")
}

// over are the flags that are given anew, as the record has flags.
func (f *resumeFlags) over(c *cobra.Command) map[string]string {
	over := map[string]string{}
	for _, name := range resumable {
		if fl := c.Flags().Lookup(name); fl.Changed {
			over[name] = fl.Value.String()
		}
	}
	return over
}

func resumeCommand(env *environment) *cobra.Command {
	var f resumeFlags
	c := &cobra.Command{
		Use:   "resume RUN",
		Short: "Go on with a run that was cut off, paused or failed",
		Long: `Go on with a run where its record ends. RUN is its id, the beginning of it, or last for the
newest. What it was given comes from the record and not from the files, which may have
changed or be gone; secrets are looked up anew, and tools run in the folder in which the run
was begun.

Calls that are completed are not made again. A call that had started and has no answer may
have done its work: if its tool may not be called twice, a person is asked, or --on-uncertain
says what becomes of it; where nobody can be asked, it fails. In a run that had failed, what failed is tried again. Flags that
are given here hold from now on, for this process.

With --plan the run goes on with another plan: what differs in meaning is shown; calls that did
the same keep what they gave, the others are checked, and made.`,
		Example: `  plc resume last
  plc resume 01KABC --on-uncertain retry
  plc resume last --plan better.json --yes`,
		Args:              wants(1, 1, "one run"),
		ValidArgsFunction: completeRuns(&f.store, nil),
		RunE:              func(c *cobra.Command, args []string) error { return env.resume(c, args[0], &f) },
	}
	f.addTo(c)
	c.Flags().StringVar(&f.plan, "plan", "", "go on with this plan")
	completeFiles(c, "json,jsonc", "plan")
	return c
}

// resume is plc resume.
func (env *environment) resume(c *cobra.Command, name string, f *resumeFlags) error {
	if err := errors.Join(notNegative(c), absolute(&f.plan, &f.events, &f.results)); err != nil {
		return err
	}
	store, err := writeStore(f.store)
	if err != nil {
		return err
	}
	if err := env.memoryBeside(f.store); err != nil {
		return errors.Join(err, store.Close())
	}
	sum, err := findRun(store, name)
	if err != nil {
		return errors.Join(err, store.Close())
	}
	if sum.Status == exec.Rejected {
		env.complain(fmt.Errorf("the run %s was rejected (%s); run its plan again", sum.Run, sum.Reason))
		if err := store.Close(); err != nil {
			return err
		}
		return exit(exitRejected)
	}
	run, err := store.Resume(sum.Run)
	if err != nil {
		return errors.Join(errors.New(trimJournal(err)), store.Close())
	}
	k := newKept(store, run)
	k.resumed = true
	err = env.goOn(c, k, sum, f)
	return env.lose(k.close(), err)
}

// goOn goes on with a run that is held.
func (env *environment) goOn(c *cobra.Command, k *kept, sum *journal.Summary, f *resumeFlags) error {
	given, err := k.store.Given(k.id())
	if err != nil {
		return err
	}
	over := f.over(c)
	if err := absoluteFlag(over, "instances"); err != nil {
		return err
	}
	var revised []byte
	if f.plan != "" {
		if revised, err = env.readText(f.plan); err != nil {
			return err
		}
	}
	env.enter(given)
	p, err := env.recallFor(c.Context(), given, f, over)
	if err != nil {
		return err
	}
	if p.flags.instances != "" && p.flags.lines == nil {
		if err := sameInstances(given, p.flags.instances); err != nil {
			return err
		}
	}
	p.opts.RetryFailed = sum.Status == exec.Failed
	p.opts.Revision, p.program = given.Revision, given.Program
	if f.plan != "" {
		if p, err = env.revise(c.Context(), k, p, given, f, over, revised); err != nil {
			return err
		}
	}
	if p.invalid != nil {
		return env.invalid(p.settings, p.loaded, p.name, p.asJSON, p.invalid)
	}
	if err := env.usable(p); err != nil {
		return err
	}
	p.opts.ID = k.id()
	return env.start(c.Context(), p, k)
}

// absoluteFlag makes the name of a file in a flag hold in another folder.
func absoluteFlag(flags map[string]string, name string) error {
	value := flags[name]
	err := absolute(&value)
	if value != "" {
		flags[name] = value
	}
	return err
}

// recallFor is recall with what this process is to tell.
func (env *environment) recallFor(ctx context.Context, g *journal.Given, f *resumeFlags, over map[string]string) (*prepared, error) {
	format := map[string]string{"format": "text"}
	if f.format != "" {
		format["format"] = f.format
	}
	maps.Copy(format, over)
	again := &runFlags{}
	p, err := env.recall(ctx, g, again, format)
	if err != nil {
		return nil, err
	}
	again.yes, again.events, again.results, again.expect = f.yes, f.events, f.results, f.expect
	return p, nil
}

// revise replaces the plan of a run by another, which is ready to run then.
func (env *environment) revise(ctx context.Context, k *kept, old *prepared, g *journal.Given, f *resumeFlags, over map[string]string, text []byte) (*prepared, error) {
	most := old.flags.maxRevisions
	if most == 0 {
		most = exec.DefaultMaxRevisions
	}
	if g.Revision >= most {
		return nil, fmt.Errorf("the plan was revised %s, which is the most; --max-revisions allows more", times(g.Revision))
	}
	next := *g
	next.Plan = journal.Text{Role: journal.Plan, Name: f.plan, Bytes: text}
	next.Texts = nil
	for _, t := range g.Texts {
		if t.Role != journal.Document { // those of the other plan are read anew
			next.Texts = append(next.Texts, t)
		}
	}
	env.texts.kept, env.texts.fresh = nil, true
	p, err := env.recallFor(ctx, &next, f, over)
	if err != nil || p.invalid != nil {
		return p, err
	}
	if !p.asJSON {
		env.showRevision(compile.Compare(old.prog, p.prog))
	}
	given, err := env.whatIsGiven(p)
	if err != nil {
		return nil, err
	}
	p.opts.Revision, p.program, p.opts.RetryFailed = g.Revision+1, given.Program, true
	if err := k.run.Revise(&journal.Given{Plan: given.Plan, Texts: documentsOf(given), Program: given.Program}); err != nil {
		return nil, err
	}
	return p, nil
}

func documentsOf(g *journal.Given) (docs []journal.Text) {
	for _, t := range g.Texts {
		if t.Role == journal.Document {
			docs = append(docs, t)
		}
	}
	return docs
}

// showRevision shows what differs in meaning.
func (env *environment) showRevision(d *compile.Diff) {
	out := bufio.NewWriter(env.stderr)
	if d.IsEmpty() {
		fmt.Fprintln(out, "no difference in meaning")
	}
	writeDiff(out, d)
	for _, doc := range d.Documents {
		fmt.Fprintf(out, "in %s:\n", printable(doc.Document))
		writeDiff(out, doc.Diff)
	}
	_ = out.Flush() // a terminal that is gone can't be told
}

func times(n int) string {
	if n == 1 {
		return "once"
	}
	return strconv.Itoa(n) + " times"
}

func replayCommand(env *environment) *cobra.Command {
	var f walkFlags
	c := &cobra.Command{
		Use:   "replay RUN",
		Short: "Walk the record of a run, with no tool called, and compare its end",
		Long: `Run a recorded run again from its record alone: no tool is called, nobody is asked, no secret
is looked up, and the record stays as it is. The whiteboard must be the same as at the end of the run, byte for
byte; exit 3 when it is not, or when the run has not come to an end.`,
		Example: `  plc replay last
  plc replay 01KABC --format json`,
		Args:              wants(1, 1, "one run"),
		ValidArgsFunction: completeRuns(&f.store, nil),
		RunE: func(c *cobra.Command, args []string) error {
			return env.walk(c.Context(), args[0], &f, env.replay)
		},
	}
	f.addTo(c, "text or json (one document)")
	return c
}

// replay is plc replay.
func (env *environment) replay(ctx context.Context, w *walked) error {
	want, err := endDigest(ctx, w.store, w.sum.Run)
	if err != nil {
		return err
	}
	if err := env.showReplayed(w); err != nil {
		return err
	}
	switch want {
	case "":
		return env.failed(exitFailed, "the run has not come to an end", errors.New("there is nothing to compare with; plc resume goes on with it"))
	case w.res.Digest:
		env.hintf("the whiteboard is the same as at the end of the run (SHA-256 %s); no tool was called", want[:16])
		return nil
	}
	return env.failed(exitFailed, "the whiteboard is not the same", fmt.Errorf("its digest is %s, and was %s", w.res.Digest, want))
}

// showReplayed shows what a run gave that was replayed.
func (env *environment) showReplayed(w *walked) error {
	res := w.res
	res.Status, res.Reason = statusOf(w.sum, res)
	switch {
	case w.batch != nil && w.asJSON:
		return w.batch.writeDocument(env.stdout, res)
	case w.batch != nil:
		w.batch.write(env.stderr, res)
		return nil
	case w.asJSON:
		_ = env.showResult(w.loaded, res, true) // its exit code is that of the run
		return nil
	}
	return env.writeJSON(gave(w.loaded, res))
}

// endDigest is the digest of the whiteboard at the end of a run; "" when it has not come to one.
func endDigest(ctx context.Context, store *journal.Store, run string) (digest string, err error) {
	for entry, err := range store.Events(ctx, run, 0, false) {
		if err != nil {
			return "", err
		}
		e, err := entry.Event()
		if err != nil {
			return "", err
		}
		switch e.Type {
		case exec.RunFinished, exec.RunPaused:
			digest = e.Digest
		case exec.RunStarted, exec.RunResumed:
			digest = ""
		}
	}
	return digest, nil
}

func forkCommand(env *environment) *cobra.Command {
	var f resumeFlags
	var at, instance string
	var set []string
	c := &cobra.Command{
		Use:   "fork RUN --at CALL",
		Short: "Run a recorded run again from a call on, as another run",
		Long: `Make another run of what a recorded one was given, and run it: what its calls gave is taken
over, but for CALL and what depends on it, which are made again. --set gives values of the whiteboard
to begin with, for what if: calls that read them are made again as well.

The calls that are made again have their effects again.`,
		Example: `  plc fork last --at charge
  plc fork 01KABC --at choose --set input.amount=20`,
		Args:              wants(1, 1, "one run"),
		ValidArgsFunction: completeRuns(&f.store, nil),
		RunE: func(c *cobra.Command, args []string) error {
			if at == "" {
				return errors.New("fork wants --at CALL, the call from which on the run is done again")
			}
			return env.fork(c, args[0], &f, &journal.Fork{At: at, Instance: instance}, set)
		},
	}
	f.addTo(c)
	c.Flags().StringVar(&at, "at", "", "the first call to be made again, by its path as in plc show")
	c.Flags().StringVar(&instance, "instance", "", "the instance that the call works on")
	c.Flags().StringArrayVar(&set, "set", nil, "path=value, a value of the whiteboard at the start, as in state.user.name=Ada (repeatable)")
	must(c.RegisterFlagCompletionFunc("at", func(_ *cobra.Command, args []string, _ string) ([]string, cobra.ShellCompDirective) {
		s, err := readStore(f.store)
		if err != nil || len(args) == 0 {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		defer s.Close()
		run, err := findRun(s, args[0])
		if err != nil {
			return nil, cobra.ShellCompDirectiveNoFileComp
		}
		return knownCalls(s, run.Run), cobra.ShellCompDirectiveNoFileComp
	}))
	return c
}

// fork is plc fork.
func (env *environment) fork(c *cobra.Command, name string, f *resumeFlags, how *journal.Fork, set []string) error {
	if err := errors.Join(notNegative(c), absolute(&f.events, &f.results)); err != nil {
		return err
	}
	values, err := setValues(set)
	if err != nil {
		return err
	}
	store, err := writeStore(f.store)
	if err != nil {
		return err
	}
	if err := env.memoryBeside(f.store); err != nil {
		return errors.Join(err, store.Close())
	}
	k, err := env.makeFork(c.Context(), store, name, how, values)
	if err != nil {
		return errors.Join(err, store.Close())
	}
	sum, err := store.Run(k.id())
	if err == nil {
		err = env.goOn(c, k, sum, f)
	}
	return env.lose(k.close(), err)
}

// makeFork makes a fork of a run, and holds it.
func (env *environment) makeFork(ctx context.Context, store *journal.Store, name string, how *journal.Fork, values map[string]json.RawMessage) (*kept, error) {
	sum, err := findRun(store, name)
	if err != nil {
		return nil, err
	}
	given, err := store.Given(sum.Run)
	if err != nil {
		return nil, err
	}
	p, err := env.sealedPlan(ctx, store, sum.Run)
	if err != nil {
		return nil, err
	}
	how.Run, how.Set = sum.Run, values
	if given.Fork != nil {
		how.Set = maps.Clone(given.Fork.Set)
		maps.Copy(how.Set, values)
	}
	if how.Drop, err = journal.Behind(p.prog, how.Instance, how.At); err != nil {
		return nil, errors.New(trimJournal(err))
	}
	if err := errors.Join(strangers(p, values), overwritten(p, how)); err != nil {
		return nil, err
	}
	if err := setInto(maps.Clone(p.settings.compile.Values), values); err != nil { // before there is a fork
		return nil, err
	}
	env.warnUnread(p.prog, values)
	run, err := store.Fork(exec.NewID(), how)
	if err != nil {
		return nil, err
	}
	return newKept(store, run), nil
}

// warnUnread warns of values that make no difference: neither a call nor the output reads them, and the state
// is no output.
func (env *environment) warnUnread(prog *compile.Program, values map[string]json.RawMessage) {
	var reads []state.Path
	for r := range prog.TypedReads() {
		reads = append(reads, r.Read.Path)
	}
	for _, name := range slices.Sorted(maps.Keys(values)) {
		path := setPath(name)
		kept := path[0].Name == "state" && prog.Output == nil
		if kept || slices.ContainsFunc(reads, func(r state.Path) bool { return sees(r, path) }) {
			continue
		}
		names := func(yield func(string) bool) {
			for _, r := range reads {
				if !yield(strings.TrimPrefix(r.String(), "†")) {
					return
				}
			}
		}
		fmt.Fprintf(env.stderr, "warning: --set %s: nothing reads it; %s\n", printable(name), meant(name, names, "the run is the same without"))
	}
}

// sees reports whether a read sees what is set at a path, of whatever instance.
func sees(read, path state.Path) bool {
	kind, _, _ := strings.Cut(read[0].Name, "\x00")
	return kind == path[0].Name && read[1:].Overlaps(path[1:])
}

// setPath is the path that --set names.
func setPath(name string) (path state.Path) {
	for _, step := range strings.Split(name, ".") {
		s := state.Segment{Kind: state.Name, Name: step}
		if n, err := strconv.Atoi(step); err == nil && len(path) > 0 {
			s.Kind, s.Index = state.Either, n
		}
		path = append(path, s)
	}
	return path
}

// strangers refuses to set what is of no kind of the whiteboard: nothing would read it.
func strangers(p *prepared, values map[string]json.RawMessage) error {
	kinds := map[string]bool{"input": true, "state": true, "data": true}
	for name := range p.prog.Initial {
		kinds[name] = true
	}
	for _, in := range p.prog.Instances {
		for name := range in.Own {
			kinds[name] = true
		}
	}
	for path := range values {
		if kind, _, _ := strings.Cut(path, "."); !kinds[kind] {
			return fmt.Errorf("--set %s: the whiteboard has no %q; it has %s", path, kind, strings.Join(slices.Sorted(maps.Keys(kinds)), ", "))
		}
	}
	return nil
}

// overwritten refuses to set what a call writes whose result is taken over.
func overwritten(p *prepared, how *journal.Fork) error {
	for path := range how.Set {
		for i := range p.prog.Calls {
			call := &p.prog.Calls[i]
			if call.ID == how.At || how.Drop(how.Instance, call.ID) {
				continue
			}
			for _, a := range call.Alternatives {
				if name := strings.TrimPrefix(a.Name(), "†"); name == path || strings.HasPrefix(path, name+".") {
					return fmt.Errorf("--set %s: the call %q writes there, and its result is taken over; fork at it, or set what it reads", path, call.ID)
				}
			}
		}
	}
	return nil
}

// setValues are the values of --set, by their paths.
func setValues(set []string) (map[string]json.RawMessage, error) {
	values := map[string]json.RawMessage{}
	for _, s := range set {
		path, text, ok := strings.Cut(strings.TrimPrefix(s, "†"), "=")
		steps := strings.Split(path, ".")
		if !ok || len(steps) < 2 || slices.Contains(steps, "") || strings.ContainsAny(path, "[]\"*") {
			return nil, fmt.Errorf("--set %s: it is path=value, as in state.user.name=Ada", s)
		}
		value := []byte(text)
		if jsonscan.Check(value, jsonscan.Limits{}) != nil {
			value = quote(text)
		}
		values[path] = value
	}
	return values, nil
}
