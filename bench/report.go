package main

import (
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"time"
)

// Report is the page as it is made.
type Report struct {
	strings.Builder
	Aims []Aim
	Bars []Bars
}

// Aim is a goal with the measurement that shows whether it is met.
type Aim struct {
	What     string
	Aimed    string
	Measured string
	Met      bool
}

// say adds a paragraph or a heading.
func (r *Report) say(format string, args ...any) { fmt.Fprintf(r, format+"\n\n", args...) }

// atMost adds an aim: a number that is not to be exceeded.
func (r *Report) atMost(what string, aimed, measured float64, unit string) {
	r.Aims = append(r.Aims, Aim{what, "≤ " + number(aimed) + unit, number(measured) + unit, measured <= aimed})
}

// atLeast adds an aim: a number that is to be reached.
func (r *Report) atLeast(what string, aimed, measured float64, unit string) {
	r.Aims = append(r.Aims, Aim{what, "≥ " + number(aimed) + unit, number(measured) + unit, measured >= aimed})
}

// Table is rows of cells under a head.
type Table struct {
	Head []string
	Rows [][]string
}

// add adds a row.
func (t *Table) add(cells ...string) { t.Rows = append(t.Rows, cells) }

// table adds a table, the first column to the left, the others to the right.
func (r *Report) table(t *Table) {
	widths := make([]int, len(t.Head))
	for i := range widths {
		widths[i] = 3
	}
	for _, row := range append([][]string{t.Head}, t.Rows...) {
		for i, cell := range row {
			widths[i] = max(widths[i], len([]rune(cell)))
		}
	}
	line := func(row []string) {
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-len([]rune(cell)))
			if i == 0 {
				fmt.Fprintf(r, "| %s%s ", cell, pad)
			} else {
				fmt.Fprintf(r, "| %s%s ", pad, cell)
			}
		}
		r.WriteString("|\n")
	}
	line(t.Head)
	for i, w := range widths {
		if i == 0 {
			r.WriteString("| " + strings.Repeat("-", w) + " ")
		} else {
			r.WriteString("| " + strings.Repeat("-", w-1) + ": ")
		}
	}
	r.WriteString("|\n")
	for _, row := range t.Rows {
		line(row)
	}
	r.WriteString("\n")
}

// page is the whole page, around what the sections wrote.
func (r *Report) page(set *Settings, took time.Duration) string {
	page := new(Report)
	page.say("# Benchmarks")
	page.say("`make bench` makes this page: plc measured beside other systems, beside what people write by hand and beside what the machine can do. " +
		"Each round gives every system its turn, so that whatever else the machine does slows down all of them; a ratio is the median of the ratios of the rounds. " +
		"Absolute numbers depend on the machine, ratios hardly do. The programs are in [`bench`](../bench).")
	page.say("%s. %d rounds, %v%s.", machine(), set.Rounds, took.Round(time.Second), load())
	page.say("![Time a node of plc and of others, on a logarithmic scale](benchmarks.svg)")
	page.say("## What is aimed for")
	table := &Table{Head: []string{"aim", "at least, or at most", "measured", "met"}}
	for _, a := range r.Aims {
		met := "yes"
		if !a.Met {
			met = "**no**"
		}
		table.add(a.What, a.Aimed, a.Measured, met)
	}
	page.table(table)
	return page.String() + strings.TrimSpace(r.String()) + "\n"
}

// load says what else the machine did, where the system tells: more processes that were ready
// to run than there are processors make every number worse, and those of parallel runs most.
func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return ""
	}
	minutes := strings.Fields(string(text))
	return fmt.Sprintf("; a load of %s in the last 15 minutes", minutes[2])
}

// machine says on what, when and of which commit something was measured.
func machine() string {
	cpu := runtime.GOARCH
	if text, err := os.ReadFile("/proc/cpuinfo"); err == nil {
		if _, rest, ok := strings.Cut(string(text), "model name"); ok {
			line, _, _ := strings.Cut(rest, "\n")
			cpu = strings.TrimSpace(strings.TrimLeft(line, "\t :"))
		}
	}
	commit := "an unknown commit"
	if out, err := exec.Command("git", "describe", "--always", "--dirty", "--exclude=*").Output(); err == nil {
		commit = "commit " + strings.TrimSpace(string(out))
	}
	return fmt.Sprintf("%d processors (%s), %s, %s; %s, %s", runtime.GOMAXPROCS(0), cpu, runtime.GOOS, runtime.Version(), time.Now().UTC().Format(time.DateOnly), commit)
}
