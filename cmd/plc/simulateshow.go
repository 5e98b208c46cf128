package main

import (
	"fmt"
	"math"
	"strings"
	"time"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/exec/simulate"
	"github.com/plc-lang/plc/internal/display"
)

// mostRanked is the maximum number of calls whose contribution is shown.
const mostRanked = 10

// showSimulation shows the result of a simulation to people.
func (env *environment) showSimulation(s *plc.Simulation) {
	out := env.stdout
	if s.Stopped {
		showf(out, "stopped: %d of %d runs were simulated\n", s.Runs, s.Planned)
	}
	share := &s.Succeeded
	showf(out, "%d of %s completed: %s (95 %% confidence: %s to %s)\n",
		share.Runs, count(s.Runs, "run"), simulate.Percent(share.Share), simulate.Percent(share.Low), simulate.Percent(share.High))
	for _, status := range sortedKeys(s.Ends) {
		showf(out, "  %-13s %7d\n", string(status), s.Ends[status])
	}
	if s.Waiting > 0 {
		showf(out, "  in %s a person is asked at the end\n", count(s.Waiting, "run"))
	}
	if u := s.Unexplained; u.Runs > 0 {
		showf(out, "  in %s no attempt failed, and it did not complete: %s\n", count(u.Runs, "run"), display.Line(u.Reason).Cut(maxReason))
		showf(out, "  results are made up from schemas; a stand-in in a tool file gives others\n")
	}
	env.showTimes(s)
	env.showEffects(s.Effects)
	env.showCalls(s)
	env.showAssumed(s)
}

// showTimes shows how long runs take, and their tokens and cost.
func (env *environment) showTimes(s *plc.Simulation) {
	out := env.stdout
	row := func(name display.Literal, spread *simulate.Spread, shown func(float64) string) {
		if spread == nil || spread.Runs == 0 {
			return
		}
		showf(out, "  %-13s %9s", string(name), shown(spread.Mean))
		for _, p := range spread.Percentiles {
			showf(out, " %9s", shown(p.Value))
		}
		showf(out, "\n")
	}
	showf(out, "\n%-15s %9s %9s %9s %9s %9s\n", "time", "mean", "p50", "p90", "p95", "p99")
	row("all runs", &s.Took.All, shortTime)
	if s.Took.Completed.Runs < s.Runs {
		row("completed", &s.Took.Completed, shortTime)
	}
	number := func(x float64) string { return fmt.Sprintf("%.4g", x) }
	row("tokens", s.Tokens, number)
	row("cost", s.Cost, number)
	env.showHistogram(s.Histogram)
}

// longestBar is the number of columns of the longest bar of a histogram.
const longestBar = 40

// showHistogram shows a histogram of the times of runs.
func (env *environment) showHistogram(bins []simulate.Bin) {
	most := 0
	for _, b := range bins {
		most = max(most, b.Runs)
	}
	if most == 0 {
		return
	}
	showf(env.stdout, "\n")
	bar := func(runs int) int {
		n := int(math.Round(longestBar * float64(runs) / float64(most)))
		if n == 0 && runs > 0 {
			n = 1
		}
		return n
	}
	others := false
	for _, b := range bins {
		full := min(bar(b.Completed), bar(b.Runs))
		text := strings.Repeat("█", full) + strings.Repeat("░", bar(b.Runs)-full)
		others = others || b.Completed < b.Runs
		showf(env.stdout, "  %9s %s %d\n", shortTime(b.From), text, b.Runs)
	}
	if others {
		showf(env.stdout, "            █ completed  ░ did not complete\n")
	}
}

// showEffects shows the effects of tools.
func (env *environment) showEffects(effects []simulate.Effect) {
	if len(effects) == 0 {
		return
	}
	out := env.stdout
	width := 7
	for i := range effects {
		width = max(width, display.Name(effects[i].Tool).Columns())
	}
	showf(out, "\n%s  %8s %8s %8s  %s\n", display.Lit("effects").Pad(width+2), "made", "undone", "stand", "left by runs that did not complete")
	for i := range effects {
		e := &effects[i]
		showf(out, "  %s  %8d %8d %8d  %d\n", display.Name(e.Tool).Pad(width), e.Made, e.Undone, e.Stand, e.Left)
	}
}

// showCalls shows what would change if a call never failed or took no time.
func (env *environment) showCalls(s *plc.Simulation) {
	if len(s.Calls) == 0 {
		return
	}
	out := env.stdout
	width := 4
	shown := s.Calls[:min(len(s.Calls), mostRanked)]
	for i := range shown {
		width = max(width, display.Name(shown[i].Call).Columns())
	}
	showf(out, "\n%s  %-35s  %s\n", display.Lit("").Pad(width+2), "if it never failed", "if it took no time")
	showf(out, "  %s  %15s %9s %9s  %9s %9s\n", display.Lit("call").Pad(width), "completed", "p50", "p95", "p50", "p95")
	fewest := s.Runs
	for i := range shown {
		c := &shown[i]
		showf(out, "  %s  ", display.Name(c.Call).Pad(width))
		if c.Sure == nil {
			showf(out, "%15s %9s %9s", "not tried", "", "")
		} else {
			fewest = min(fewest, c.Sure.Runs)
			showf(out, "%+13.1f %% %9s %9s", 100*c.Sure.Succeeded.Gain, signedTime(c.Sure.P50), signedTime(c.Sure.P95))
		}
		if c.Instant == nil {
			showf(out, "  %9s %9s\n", "not tried", "")
		} else {
			fewest = min(fewest, c.Instant.Runs)
			showf(out, "  %9s %9s\n", signedTime(c.Instant.P50), signedTime(c.Instant.P95))
		}
	}
	if n := len(s.Calls) - len(shown); n > 0 {
		showf(out, "  and %d more calls that matter less; --format json has them all\n", n)
	}
	if fewest < s.Runs {
		showf(out, "  some changes are from the first %d runs only\n", fewest)
	}
}

// showAssumed shows the assumptions of the simulation.
func (env *environment) showAssumed(s *plc.Simulation) {
	out := env.stdout
	showf(out, "\nassumed\n")
	width := 0
	for i := range s.Assumed {
		width = max(width, assumedName(&s.Assumed[i]).Columns())
	}
	for i := range s.Assumed {
		a := &s.Assumed[i]
		showf(out, "  %s  %s; %s\n", assumedName(a).Pad(width), failing(a), taking(a))
	}
	if s.Approved > 0 {
		showf(out, "  approvals (in %s) are given at once, unless a file says otherwise\n", count(s.Approved, "run"))
	}
	if len(s.FirstOutcome) > 0 {
		var names []display.Text
		for _, name := range s.FirstOutcome {
			names = append(names, display.Name(name))
		}
		showf(out, "  only the first outcome is simulated: %s\n", display.Join(names, ", "))
	}
	showf(out, "  attempts fail independently of each other; results are the same in all runs\n")
}

// assumedName returns the name of a tool, or of a call.
func assumedName(a *plc.AssumedTool) display.Text {
	if a.Call != "" {
		return display.Sprintf("call %s", display.Name(a.Call))
	}
	return display.Name(a.Tool)
}

// failing describes how often a tool is assumed to fail, and why.
func failing(a *plc.AssumedTool) string {
	switch a.FailsFrom {
	case plc.BasisGiven:
		return fmt.Sprintf("fails %s (given)", simulate.Percent(a.Fails))
	case plc.BasisRecorded:
		return fmt.Sprintf("fails %s (%d of the last %s)", simulate.Percent(a.Fails), a.Failed, count(a.Attempts, "attempt"))
	case plc.BasisStandIn:
		return "fails as its stand-in says"
	case plc.BasisComputed:
		return "is really called"
	}
	return "never fails (nothing is known)"
}

// taking describes how long a tool is assumed to take, and why.
func taking(a *plc.AssumedTool) string {
	takes := "takes " + shortTime(a.Least)
	if a.Most > a.Least {
		takes += " to " + shortTime(a.Most)
	}
	switch a.TakesFrom {
	case plc.BasisGiven:
		return takes + " (given)"
	case plc.BasisRecorded:
		return fmt.Sprintf("%s (%s in the record)", takes, count(a.Durations, "time"))
	case plc.BasisDeclared:
		return takes + " (declared)"
	case plc.BasisStandIn:
		return takes + " (as its stand-in says)"
	case plc.BasisComputed:
		return "takes no time"
	}
	return "takes no time (nothing is known)"
}

// shortTime formats seconds: with three digits below a minute, then in whole seconds or minutes.
func shortTime(seconds float64) string {
	d := time.Duration(math.Round(seconds * float64(time.Second)))
	unit := time.Duration(1)
	for unit*1000 <= d {
		unit *= 10
	}
	if d >= time.Hour {
		unit = time.Minute
	} else if d >= time.Minute {
		unit = time.Second
	}
	return d.Round(unit).String()
}

// signedTime returns a difference of times with its sign.
func signedTime(seconds float64) string {
	switch {
	case math.Abs(seconds) < 1e-9:
		return "0s"
	case seconds < 0:
		return "-" + shortTime(-seconds)
	}
	return "+" + shortTime(seconds)
}
