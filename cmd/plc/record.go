package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
)

// kept is a run that is recorded. The nil kept is one that is not.
type kept struct {
	store *journal.Store
	run   *journal.Run

	resumed bool // it was begun by another process

	mu    sync.Mutex
	asked map[askedAt]bool // questions that this process has put, and that are open
}

type askedAt struct{ instance, path string }

// folderFlag is what the record calls the folder in which a run was begun.
const folderFlag = "folder"

// ofInvocation are flags that say what one process tells of a run, and not how it runs.
func ofInvocation(flag string) bool {
	switch flag {
	case "format", "yes", "approval", "events", "results", "store", "expect", "strict", "branch", "help":
		return true
	case "tools-from": // the record has it with the files
		return true
	}
	return false
}

// begin makes the record of a run that is about to start. Without a store there is none.
func (env *environment) begin(c *cobra.Command, p *prepared, store *journal.Store) (*kept, error) {
	if store == nil {
		return nil, nil
	}
	flags, err := recordedFlags(c.Flags())
	if err != nil {
		return nil, err
	}
	if p.flags.lazy {
		flags["lazy"] = "true"
	}
	if p.opts.Seed == 0 { // so that it is the same when the run goes on
		p.opts.Seed = rand.Uint64()
	}
	flags["seed"] = strconv.FormatUint(p.opts.Seed, 10)
	given, err := env.whatIsGiven(p)
	if err != nil {
		return nil, err
	}
	given.Flags, p.program = flags, given.Program
	given.Labels = map[string]string{givenLabel: env.givenDigest(p.flags)}
	p.opts.ID = exec.NewID()
	run, err := store.Create(p.opts.ID, given)
	if err != nil {
		return nil, storeError(err)
	}
	return newKept(store, run), nil
}

func newKept(store *journal.Store, run *journal.Run) *kept {
	return &kept{store: store, run: run, asked: map[askedAt]bool{}}
}

// whatIsGiven is what a run is given, but for its flags.
func (env *environment) whatIsGiven(p *prepared) (*journal.Given, error) {
	g := &journal.Given{Program: p.manifest().Digest()}
	for _, t := range env.texts.kept {
		if t.Role == journal.Plan {
			g.Plan = t
		} else {
			g.Texts = append(g.Texts, t)
		}
	}
	if name := p.flags.instances; name != "" && p.flags.lines == nil {
		t := journal.Text{Role: journal.Instances, Name: name}
		if name != "-" {
			var err error
			if t.Digest, _, err = fileDigest(name); err != nil {
				return nil, err
			}
		}
		g.Texts = append(g.Texts, t)
	}
	return g, nil
}

// recordedFlags are the flags that were given, as the record has them: lists as JSON.
func recordedFlags(fl *pflag.FlagSet) (map[string]string, error) {
	folder, err := os.Getwd()
	if err != nil {
		return nil, fmt.Errorf("can't tell the current folder: %w", err)
	}
	flags := map[string]string{folderFlag: folder}
	fl.Visit(func(f *pflag.Flag) {
		if ofInvocation(f.Name) {
			return
		}
		if l, ok := f.Value.(pflag.SliceValue); ok {
			flags[f.Name] = string(encoded(l.GetSlice()))
		} else {
			flags[f.Name] = f.Value.String()
		}
	})
	return flags, nil
}

// setFlags gives flags as the record has them; those of other versions are refused.
func setFlags(fl *pflag.FlagSet, flags map[string]string) error {
	for name, value := range flags {
		if name == folderFlag {
			continue
		}
		f := fl.Lookup(name)
		if f == nil {
			return fmt.Errorf("the run was begun with --%s, which this version does not have; go on with the version that began it", name)
		}
		l, ok := f.Value.(pflag.SliceValue)
		if !ok {
			if err := fl.Set(name, value); err != nil {
				return err
			}
			continue
		}
		var list []string
		err := json.Unmarshal([]byte(value), &list)
		if err = errors.Join(err, l.Replace(list)); err != nil {
			return fmt.Errorf("the record of the run is broken: --%s: %w", name, err)
		}
		f.Changed = true
	}
	return nil
}

// recall makes the plan of a run ready to run again, as it was given; over are flags that
// are given anew.
func (env *environment) recall(ctx context.Context, g *journal.Given, f *runFlags, over map[string]string) (*prepared, error) {
	c := &cobra.Command{Use: "run"}
	f.addAll(c)
	c.SetContext(ctx)
	if err := errors.Join(setFlags(c.Flags(), g.Flags), setFlags(c.Flags(), over)); err != nil {
		return nil, err
	}
	env.texts.recall(g)
	if g.Fork != nil {
		env.sets = g.Fork.Set
	}
	return env.prepare(c, g.Plan.Name, f)
}

// enter makes the folder in which a run was begun the current one, for tools to find what
// they found there.
func (env *environment) enter(g *journal.Given) {
	if err := os.Chdir(g.Flags[folderFlag]); err != nil {
		env.complain(fmt.Errorf("the run goes on here, not where it was begun: %w", err))
	}
}

// absolute makes names of files hold in another folder.
func absolute(names ...*string) error {
	for _, name := range names {
		if *name == "" || *name == "-" {
			continue
		}
		abs, err := filepath.Abs(*name)
		if err != nil {
			return err
		}
		*name = abs
	}
	return nil
}

// sameInstances refuses lines of instances that are not those that the run was given.
func sameInstances(g *journal.Given, name string) error {
	for _, t := range g.Texts {
		if t.Role != journal.Instances {
			continue
		}
		if name == "-" && t.Name == "-" {
			return errors.New("the instances came from standard input, and the record does not keep them: give the same lines again, with --instances FILE")
		}
		if t.Digest == "" {
			return nil
		}
		digest, _, err := fileDigest(name)
		if err != nil {
			return fmt.Errorf("the record does not keep the lines of instances: %w; name a copy with --instances", err)
		}
		if digest != t.Digest {
			return fmt.Errorf("%s is not what the run was given: its instances have changed; restore it, or name a copy with --instances", shownName(name))
		}
		return nil
	}
	return nil
}

// into adds the record to the options of a run.
func (k *kept) into(opts *exec.Options) {
	if k != nil {
		opts.Record = k.run
	}
}

// id is that of the run; "" when none is kept.
func (k *kept) id() string {
	if k == nil {
		return ""
	}
	return k.run.ID()
}

// event takes note of questions.
func (k *kept) event(e *exec.Event) {
	if k == nil || e.Type != exec.ApprovalAsked && e.Type != exec.ApprovalGiven {
		return
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if at := (askedAt{e.Instance, e.Call}); e.Type == exec.ApprovalAsked {
		k.asked[at] = true
	} else {
		delete(k.asked, at)
	}
}

// hasAsked reports whether this process has put a question that is open.
func (k *kept) hasAsked(instance, path string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.asked[askedAt{instance, path}]
}

// listen passes the answers on that are given from elsewhere, until what it returns is called.
// One that was given before the run has come to its question stays in the store till then.
func (k *kept) listen(ctx context.Context, h *exec.Handle, refused func(error)) (stop func()) {
	if k == nil {
		return func() {}
	}
	ctx, cancel := context.WithCancel(ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for a, err := range k.run.Answers(ctx) {
			if err == nil {
				err = h.Answer(a.Path, a.Instance, a.Answer)
				if err != nil && !k.hasAsked(a.Instance, a.Path) {
					continue
				}
				if err != nil {
					err = errors.Join(err, k.run.Withdraw(a))
				}
			}
			if err != nil {
				refused(err)
			}
		}
	}()
	return func() { cancel(); <-ended }
}

// put gives the answer of a person at this terminal to the store, where of several people one
// is first; from there it comes to the run. What it returns is for the run to take when the
// store does not have the question.
func (k *kept) put(ctx context.Context, q *exec.Question, a exec.Answer) (exec.Answer, error) {
	a.Digest = q.Digest
	for tries := 0; tries < 1000; {
		err := k.store.Answer(k.id(), q.Instance, q.Path, a)
		var refused *journal.AnswerError
		switch {
		case err == nil:
			<-ctx.Done()
			return exec.Answer{}, exec.ErrNobody
		case errors.As(err, &refused) && refused.Refused == journal.Answered: // this one, by somebody quicker, or the one before
		case refused != nil && refused.Refused == journal.NotAsked:
			tries++
		default:
			return a, nil
		}
		select { // the question is not on disk yet
		case <-ctx.Done():
			return exec.Answer{}, ctx.Err()
		case <-time.After(2 * time.Millisecond):
		}
	}
	return a, nil
}

// fail notes that a run could not start.
func (k *kept) fail(err error) {
	if k != nil && err != nil {
		k.run.Append(&exec.Event{Type: exec.RunFinished, Time: time.Now(), Run: k.id(), Status: exec.Failed, Reason: err.Error()})
	}
}

// end notes that a run ended, or waits, before anything of it ran.
func (k *kept) end(res *exec.Result) {
	if k == nil {
		return
	}
	res.Run = k.id()
	e := &exec.Event{Type: exec.RunFinished, Time: time.Now(), Run: k.id(), Status: res.Status, Reason: res.Reason}
	if res.Status == exec.Paused {
		e.Type = exec.RunPaused
	}
	k.run.Append(e)
}

// close gives the run back and closes the store.
func (k *kept) close() error {
	if k == nil {
		return nil
	}
	return errors.Join(k.run.Close(), k.store.Close())
}
