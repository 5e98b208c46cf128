// Command bench measures plc beside other systems and beside what the machine can do,
// and writes docs/benchmarks.md and docs/benchmarks.svg. It is a module of its own, so that
// nobody who uses plc inherits what it is compared with. Run it in its folder: make bench.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

func main() { os.Exit(bench(os.Args[1:])) }

// section is a part of the page.
type section struct {
	name    string
	measure func(*Settings, *Report) error
}

func sections() []section {
	return []section{
		{"check", checkSection}, {"start", startSection}, {"whiteboard", boardSection},
		{"run", runSection}, {"schedule", scheduleSection}, {"recorded", durableSection},
	}
}

func bench(args []string) int {
	flags := flag.NewFlagSet("bench", flag.ContinueOnError)
	quick := flags.Bool("quick", false, "smaller and less often, in about two minutes, to the terminal")
	only := flags.String("only", "", "only `sections`, to the terminal: check, start, whiteboard, run, schedule, recorded")
	docs := flags.String("docs", "../docs", "the `folder` of the page and its chart")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	set := &Settings{Rounds: 5, Least: 50 * time.Millisecond, Quick: *quick}
	if *quick {
		set.Rounds, set.Least = 3, 10*time.Millisecond
	}
	if err := write(set, *only, *docs); err != nil {
		fmt.Fprintln(os.Stderr, "bench:", err)
		return 1
	}
	return 0
}

// write measures and writes the page, or to the terminal what is not all of it.
func write(set *Settings, only, docs string) error {
	r, start := new(Report), time.Now()
	for _, s := range sections() {
		if only != "" && !slices.Contains(strings.Split(only, ","), s.name) {
			continue
		}
		began := time.Now()
		if err := s.measure(set, r); err != nil {
			return fmt.Errorf("%s: %w", s.name, err)
		}
		fmt.Fprintf(os.Stderr, "%s: %v\n", s.name, time.Since(began).Round(time.Second))
	}
	page := r.page(set, time.Since(start))
	if only != "" || set.Quick {
		_, err := fmt.Print(page)
		return err
	}
	return errors.Join(
		os.WriteFile(filepath.Join(docs, "benchmarks.md"), []byte(page), 0o644),
		os.WriteFile(filepath.Join(docs, "benchmarks.svg"), []byte(chart(r.Bars)), 0o644),
	)
}
