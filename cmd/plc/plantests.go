package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/dag/draw"
	"github.com/plc-lang/plc/exec/plantest"
	"github.com/plc-lang/plc/internal/display"
	"github.com/plc-lang/plc/journal"
)

// testFlags are the flags of plc test.
type testFlags struct {
	testOptions
	tools   toolFiles
	update  bool
	graph   string
	faults  bool
	fault   []string
	kinds   []string
	explore plantest.Exploration
	newFrom string
	store   string
}

func testCommand(env *environment) *cobra.Command {
	var f testFlags
	c := &cobra.Command{
		Use:   "test [FILE or FOLDER]…",
		Short: "Run the tests of plans",
		Long: `Run the tests of plans: files with names like order.test.yaml, and those in folders and
below them; without an argument, of the current folder. No tool is called: stand-ins
answer, and time is made up, so that an hour's backoff takes no time. With --faults each
call fails in each way, and what always and never say has to hold all the same.
docs/testing.md says what a test file says. Exit 3 when a test fails, 1 when a test file
has errors.`,
		Example: `  plc test
  plc test plans --coverage
  plc test order.test.yaml --graph coverage.svg
  plc test order.test.yaml --faults
  plc test --format junit > report.xml
  plc test --new last > order.test.yaml`,
		RunE: func(c *cobra.Command, args []string) error { return env.testPlans(c.Context(), args, &f) },
	}
	fl := c.Flags()
	addTools(fl, c, &f.tools)
	f.add(c, "list what may happen in the plans and has not happened in a test")
	fl.BoolVar(&f.update, "update", false, "write the snapshots")
	fl.StringVar(&f.graph, "graph", "", "write the graph of the plan to this file, as SVG, with what no test has reached")
	completeFiles(c, "svg", "graph")
	fl.BoolVar(&f.faults, "faults", false, "run each test with faults, one at each attempt and then several, and look for what breaks always and never")
	fl.StringArrayVar(&f.fault, "fault", nil, "run the tests with this fault, CALL@ATTEMPT=KIND (repeatable)")
	fl.StringSliceVar(&f.kinds, "kinds", nil, "kinds of faults for --faults (default all but twice): "+strings.Join(kindNames(), ", "))
	fl.IntVar(&f.explore.Depth, "depth", 2, "most faults of one run, for --faults")
	fl.IntVar(&f.explore.Samples, "samples", 1000, "most runs with two faults, with three and so on, for --faults; more are drawn from")
	fl.Uint64Var(&f.explore.Seed, "seed", 0, "seed of what --faults draws")
	fl.StringVar(&f.newFrom, "new", "", "write a test file from this recorded run to standard output")
	addStore(c, &f.store, "the store of the run of --new")
	complete(c, "kinds", kindNames()...)
	return c
}

func kindNames() (names []string) {
	for _, k := range plantest.AllKinds() {
		names = append(names, string(k))
	}
	return names
}

// testedFile is a file of tests, with their results.
type testedFile struct {
	*plc.PlanTests
	Results  []*plc.PlanTestResult
	Explored []*plantest.Exploring // by result; nil if a test was not explored
}

func (env *environment) testPlans(ctx context.Context, args []string, f *testFlags) error {
	if f.newFrom != "" {
		return env.newPlanTest(ctx, args, f)
	}
	if err := f.finish(); err != nil {
		return err
	}
	names, err := testFiles(args, plc.TestSuffixes(), "tests of plans: their files have names like order.test.yaml")
	if err != nil {
		return err
	}
	e := env.engine(nil)
	run := &testRun{flags: f, same: env.sameFlags(), coverage: map[string]*plantest.Coverage{}, programs: map[string]*compile.Program{}}
	for _, name := range names {
		t, err := e.PlanTests(ctx, name, plc.Spec{Toolset: f.tools.Toolset}, slices.Contains(args, name))
		if err != nil {
			return asFlag(ctx, fmt.Errorf("%s: %w", name, err))
		}
		run.files = append(run.files, &testedFile{PlanTests: t})
	}
	if err := run.all(ctx); err != nil {
		return err
	}
	for _, t := range run.files {
		if len(f.fault) > 0 || f.faults {
			continue
		}
		keep := e.CompareSnapshots
		if f.update {
			keep = e.UpdateSnapshots
		}
		if err := keep(t.PlanTests, t.Results); err != nil {
			return err
		}
	}
	report := env.reportTests(run)
	if err := f.write(env, report); err != nil {
		return err
	}
	drawn := env.drawCoverage(run)
	return cmp.Or(report.verdict(f.run), drawn)
}

// finish checks the flags.
func (f *testFlags) finish() error {
	if len(f.fault) > 0 && f.faults {
		return errors.New("--fault makes these faults alone: leave --faults out")
	}
	if f.update && (f.faults || len(f.fault) > 0) {
		return errors.New("--update keeps runs without faults: leave --faults and --fault out")
	}
	if f.explore.Depth < 1 {
		return errors.New("--depth is a number from 1")
	}
	if f.explore.Samples == 0 {
		f.explore.Samples = -1
	}
	for _, k := range f.kinds {
		if _, err := choice("kinds", k, itself(kindNames()...)); err != nil {
			return err
		}
		f.explore.Kinds = append(f.explore.Kinds, plantest.FaultKind(k))
	}
	return nil
}

// testFiles returns the files of tests that arguments name, and in folders those with one of the
// suffixes. what describes them in an error.
func testFiles(args, suffixes []string, what string) (names []string, err error) {
	if len(args) == 0 {
		args = []string{"."}
	}
	for _, arg := range args {
		info, err := os.Stat(arg)
		if err != nil {
			return nil, plc.ReadError(err)
		}
		if !info.IsDir() {
			names = append(names, arg)
			continue
		}
		before := len(names)
		err = filepath.WalkDir(arg, func(path string, d fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case d.IsDir() && path != arg && strings.HasPrefix(d.Name(), "."):
				return filepath.SkipDir
			case !d.IsDir() && slices.ContainsFunc(suffixes, func(s string) bool { return strings.HasSuffix(path, s) }):
				names = append(names, path)
			}
			return nil
		})
		if err != nil {
			return nil, plc.ReadError(err)
		}
		if len(names) == before {
			return nil, fmt.Errorf("%s has no %s", arg, what)
		}
	}
	return names, nil
}

// testRun has the tests of a command.
type testRun struct {
	flags    *testFlags
	same     display.Text // sameFlags
	files    []*testedFile
	coverage map[string]*plantest.Coverage // by the plan's file
	programs map[string]*compile.Program   // the same
	took     time.Duration
}

// all runs the tests, several at a time.
func (r *testRun) all(ctx context.Context) error {
	var faults []plantest.Fault
	for _, text := range r.flags.fault {
		f, err := plantest.ParseFault(text)
		if err != nil {
			return fmt.Errorf("--fault %w", err)
		}
		faults = append(faults, f)
	}
	var names []string
	for _, t := range r.files {
		for _, c := range t.Cases {
			names = append(names, c.Name)
		}
	}
	picked := r.flags.picks(names)
	begun := time.Now()
	var wg sync.WaitGroup
	slots := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, t := range r.files {
		var cases []*plc.PlanTest
		for _, c := range t.Cases {
			if picked(c.Name) {
				cases = append(cases, c)
			}
		}
		t.Results, t.Explored = make([]*plc.PlanTestResult, len(cases)), make([]*plantest.Exploring, len(cases))
		for i, c := range cases {
			slots <- struct{}{}
			wg.Go(func() {
				defer func() { <-slots }()
				if ctx.Err() != nil {
					return
				}
				t.test(i, c, faults, r.flags)
			})
		}
	}
	wg.Wait()
	r.took = time.Since(begun)
	if ctx.Err() != nil {
		return exit(exitCancelled)
	}
	for _, t := range r.files {
		for _, res := range t.Results {
			r.cover(res)
		}
	}
	return nil
}

// test runs a test.
func (t *testedFile) test(i int, c *plc.PlanTest, faults []plantest.Fault, f *testFlags) {
	if len(faults) > 0 {
		t.Results[i] = c.RunWith(faults)
		return
	}
	t.Results[i] = c.Run()
	if !f.faults || t.Results[i].Outcome == nil {
		return
	}
	var err error
	if t.Explored[i], err = c.Explore(f.explore); err != nil {
		t.Results[i].Failures = append(t.Results[i].Failures, plc.TestFailure{Loc: c.Loc, Message: err.Error()})
	}
}

// cover adds the points that a test has reached.
func (r *testRun) cover(res *plc.PlanTestResult) {
	if res.Outcome == nil {
		return
	}
	name := res.Test.Plan.Name
	own := plantest.NewCoverage(res.Test.Plan.Program)
	own.Add(res.Outcome)
	if all := r.coverage[name]; all != nil {
		all.Merge(own)
	} else {
		r.coverage[name], r.programs[name] = own, res.Test.Plan.Program
	}
}

// drawCoverage draws, with --graph, the graph of the plan and marks what no test has reached.
func (env *environment) drawCoverage(r *testRun) error {
	if r.flags.graph == "" {
		return nil
	}
	names := sortedKeys(r.coverage)
	switch {
	case len(names) == 0:
		return errors.New("--graph: no test ran, so there is nothing to draw")
	case len(names) > 1:
		return fmt.Errorf("--graph draws one plan, but the tests are for %d (%s and others): name one test file", len(names), names[0])
	}
	return env.writeSVG("graph", r.flags.graph, func(w io.Writer) error {
		return draw.SVG(w, plc.DrawCoverage(r.programs[names[0]], drawnDepth, r.coverage[names[0]]))
	})
}

// drawnDepth limits the documents of delegates that are drawn with their coverage.
const drawnDepth = 8

// reportTests returns the report of the tests.
func (env *environment) reportTests(r *testRun) *testReport {
	report := &testReport{coverage: func() { env.showCoverage(r) }}
	report.document = func() any { return r.document(report) }
	runs := 0
	for _, t := range r.files {
		f := reportedFile{name: t.Name, findings: t.Findings}
		for i, res := range t.Results {
			x := t.Explored[i]
			if x != nil {
				runs += x.Runs
			}
			f.tests = append(f.tests, reportedTest{name: res.Test.Name, failures: res.Failures, notes: r.broken(t, i), show: func() {
				if len(r.flags.fault) > 0 && res.Outcome != nil {
					env.showEnd(&plantest.Faulty{Outcome: res.Outcome})
				}
				if x != nil {
					env.showExplored(r, t, res, x)
				}
			}})
		}
		report.files = append(report.files, f)
	}
	if runs > 0 {
		report.more = fmt.Sprintf("; %s in %s, %.0f a second", count(runs, "run"), r.took.Round(time.Millisecond), float64(runs)/r.took.Seconds())
	}
	return report
}

// broken returns a message for each property that does not hold in a test with faults.
func (r *testRun) broken(t *testedFile, i int) (all []string) {
	if x := t.Explored[i]; x != nil {
		for _, v := range x.Violations {
			all = append(all, fmt.Sprintf("%s: broken with %s: %s; again: %s", v.Property, faultNames(v.Faults), endOf(v.Outcome), r.again(t, t.Results[i], v.Faults)))
		}
	}
	return all
}

// showCoverage shows how much of each plan was reached and, with --coverage, what was not.
func (env *environment) showCoverage(r *testRun) {
	for _, name := range sortedKeys(r.coverage) {
		c := r.coverage[name]
		showf(env.stdout, "%s: %s points reached\n", name, c.String())
		if !r.flags.coverage {
			continue
		}
		for _, p := range c.Missed() {
			showf(env.stdout, "  %s: %s: %s\n", place(p.Loc), p.Call, p.What)
		}
	}
}

// maxEnds is the maximum number of different ends of runs with one fault that are shown.
const maxEnds = 50

// showExplored shows the results of runs with faults.
func (env *environment) showExplored(r *testRun, t *testedFile, res *plc.PlanTestResult, x *plantest.Exploring) {
	showf(env.stdout, "      %s with faults", count(x.Runs, "run"))
	if x.Untried > 0 {
		showf(env.stdout, ", and %d more that were not drawn", x.Untried)
	}
	showf(env.stdout, ":")
	for i, status := range sortedKeys(x.Ends) {
		if i > 0 {
			showf(env.stdout, ",")
		}
		showf(env.stdout, " %d %s", x.Ends[status], string(status))
	}
	if x.Asked > 0 {
		showf(env.stdout, "; in %d a person is asked", x.Asked)
	}
	showf(env.stdout, "\n")
	env.showEnds(x.Single)
	if x.MoreSingle > 0 {
		showf(env.stdout, "        and %s with one fault, whose ends are too large to keep\n", count(x.MoreSingle, "more run"))
	}
	for _, v := range x.Violations {
		showf(env.stdout, "      broken: %s\n", v.Property.String())
		if v.Err != nil {
			showf(env.stdout, "        %s\n", v.Err.Error())
		}
		showf(env.stdout, "        with %s\n", faultNames(v.Faults))
		env.showEnd(&v.Faulty)
		showf(env.stdout, "        again: %s\n", r.again(t, res, v.Faults))
	}
	if !res.Test.HasProperties() {
		showf(env.stdout, "      the test says nothing with always or never, so that nothing can break\n")
	}
}

// again returns the command that runs a test with these faults.
func (r *testRun) again(t *testedFile, res *plc.PlanTestResult, faults []plantest.Fault) string {
	words := append([]string{"plc", "test", t.Name}, r.flags.tools.args()...)
	words = append(words, "--run", res.Test.Name)
	for _, f := range faults {
		words = append(words, "--fault", f.String())
	}
	for i, w := range words {
		words[i] = display.ShellWord(w)
	}
	return strings.Join(words, " ") + r.same.String()
}

// showEnds shows how runs with at most one fault ended, grouping those that ended in the same way.
func (env *environment) showEnds(single []*plantest.Faulty) {
	var ends []string
	faults := map[string][]string{}
	for _, f := range single {
		e := endOf(f.Outcome)
		if faults[e] == nil {
			ends = append(ends, e)
		}
		faults[e] = append(faults[e], faultNames(f.Faults))
	}
	for i, e := range ends {
		if i == maxEnds {
			showf(env.stdout, "        and %d other ends\n", len(ends)-maxEnds)
			break
		}
		showf(env.stdout, "        %s\n          with %s\n", e, someOf(faults[e]))
	}
}

// maxNamed is the maximum number of names that someOf returns.
const maxNamed = 6

// someOf returns the first names of a list, and how many more there are.
func someOf(names []string) string {
	more := ""
	if len(names) > maxNamed {
		names, more = names[:maxNamed], fmt.Sprintf(" and %d more", len(names)-maxNamed)
	}
	return strings.Join(names, ", ") + more
}

// endOf describes how a run ended.
func endOf(out *plantest.Outcome) string {
	var names []string
	for _, e := range out.Effects {
		switch {
		case e.Stands && e.Known:
			names = append(names, e.Tool)
		case e.Stands:
			names = append(names, e.Tool+" (the run does not know)")
		}
	}
	s := string(out.Status) + "; nothing stands"
	if len(names) > 0 {
		s = string(out.Status) + "; stands: " + strings.Join(names, ", ")
	}
	if asked := out.Asked(); len(asked) > 0 {
		s += "; a person is asked about " + strings.Join(asked, ", ")
	}
	return s
}

func (env *environment) showEnd(f *plantest.Faulty) {
	out := f.Outcome
	showf(env.stdout, "        the run is %s\n", strings.TrimSuffix(string(out.Status)+": "+out.Reason, ": "))
	stands := false
	for _, e := range out.Effects {
		head := "undone"
		if !e.Stands && !e.Undone() {
			head = "undo"
		}
		if e.Stands {
			head, stands = "stands", true
		}
		showf(env.stdout, "        %s: %s\n", head, e.String())
	}
	if !stands {
		showf(env.stdout, "        nothing stands\n")
	}
}

func faultNames(faults []plantest.Fault) string {
	if len(faults) == 0 {
		return "no fault"
	}
	var names []string
	for _, f := range faults {
		names = append(names, f.String())
	}
	return strings.Join(names, " + ")
}

// newPlanTest writes a test file from a recorded run.
func (env *environment) newPlanTest(ctx context.Context, args []string, f *testFlags) error {
	switch {
	case len(args) > 0:
		return errors.New("--new writes a test file to standard output: leave the files out")
	case f.graph != "":
		return errors.New("--new runs no test: leave --graph out")
	}
	here, err := os.Getwd()
	if err != nil {
		return err
	}
	return env.withRun(ctx, f.store, f.newFrom, func(store journal.Store, sum *journal.Summary) error {
		text, err := env.engineOn(store).NewPlanTest(ctx, sum.Run, here)
		if err != nil {
			return env.showFaulty(ctx, err)
		}
		_, err = env.stdout.Write(text)
		return err
	})
}
