package main

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// coreModules counts the modules and packages that a Go program links to parse, check and run
// plans.
func coreModules(root string) (modules, packages int, err error) {
	cmd := exec.Command("go", "list", "-deps", "-f", "{{if not .Standard}}{{.Module.Path}}{{end}}", "./exec", "./tool")
	cmd.Dir = root
	out, err := cmd.Output()
	if err != nil {
		return 0, 0, fmt.Errorf("go list: %w", err)
	}
	seen := map[string]bool{}
	for line := range strings.Lines(string(out)) {
		packages++
		seen[strings.TrimSpace(line)] = true
	}
	return len(seen) - 1, packages, nil // plc itself is not counted
}

// startSection measures the command as a process.
func startSection(set *Settings, r *Report) error {
	dir, err := os.MkdirTemp("", "plc-bench-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	binary := filepath.Join(dir, "plc")
	build := exec.Command("go", "build", "-trimpath", "-ldflags=-s -w", "-o", binary, "./cmd/plc")
	build.Dir = ".."
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return fmt.Errorf("go build: %w: %s", err, out)
	}
	info, err := os.Stat(binary)
	if err != nil {
		return err
	}
	modules, packages, err := coreModules("..")
	if err != nil {
		return err
	}
	checks, version, err := startTimes(set, binary)
	if err != nil {
		return err
	}
	r.say("## The command")
	table := &Table{Head: []string{"what", "measured"}}
	table.add("`plc check` of a plan of 6 calls, the whole process", checks.String()+" ms")
	table.add("`plc help`, the whole process", version.String()+" ms")
	table.add("the binary, stripped", number(float64(info.Size())/1e6)+" MB")
	table.add("modules besides plc that a program links which checks and runs plans from Go", fmt.Sprint(modules))
	table.add("packages of these and of plc", fmt.Sprint(packages))
	r.table(table)
	r.atMost("start: plc check of a small plan", 30, checks.Median(), " ms")
	r.atMost("start: the binary, stripped", 40, float64(info.Size())/1e6, " MB")
	return nil
}

// startTimes measures how long processes take to start and end, in milliseconds.
func startTimes(set *Settings, binary string) (checks, helps Spread, err error) {
	for range set.Rounds * 5 {
		for _, of := range []struct {
			args []string
			into *Spread
		}{
			{[]string{"check", "examples/history/plan.json", "--tools", "examples/history/tools.yaml"}, &checks},
			{[]string{"help"}, &helps},
		} {
			cmd := exec.Command(binary, of.args...)
			cmd.Dir = ".."
			var out bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &out
			start := time.Now()
			if err := cmd.Run(); err != nil {
				return nil, nil, fmt.Errorf("plc %s: %w: %s", of.args[0], err, &out)
			}
			*of.into = append(*of.into, time.Since(start).Seconds()*1000)
		}
	}
	return checks, helps, nil
}
