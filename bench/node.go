package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"time"
)

// nodeProcess is a process of Node that measures what is written in JavaScript:
// js/run.mjs. It is started when it is first asked. Close ends it.
type nodeProcess struct {
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	absent error
}

// question is the request that the process reads.
type question struct {
	System string    `json:"system"`
	Needs  [][]int   `json:"needs,omitempty"`
	Sleep  []float64 `json:"sleep"` // in milliseconds
	Calls  int       `json:"calls,omitempty"`
	Least  float64   `json:"least"` // how long it is measured, in milliseconds
}

// start starts the process.
func (n *nodeProcess) start() error {
	if n.cmd != nil || n.absent != nil {
		return n.absent
	}
	_, err := os.Stat("js/node_modules")
	cmd := exec.Command("node", "--no-warnings", "run.mjs")
	if err != nil || cmd.Err != nil {
		n.absent = fmt.Errorf("node and npm ci: %w", errAbsent)
		return n.absent
	}
	cmd.Dir, cmd.Stderr = "js", os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if n.in, err = cmd.StdinPipe(); err != nil {
		return err
	}
	n.cmd, n.out = cmd, bufio.NewReader(out)
	return cmd.Start()
}

// Close ends the process, if it was started.
func (n *nodeProcess) Close() error {
	if n.cmd == nil {
		return nil
	}
	return errors.Join(n.in.Close(), n.cmd.Wait())
}

// ask asks the process, and waits for its answer.
func (n *nodeProcess) ask(q *question) (build, run time.Duration, err error) {
	if err := n.start(); err != nil {
		return 0, 0, err
	}
	line, err := json.Marshal(q)
	if err != nil {
		return 0, 0, err
	}
	if _, err := n.in.Write(append(line, '\n')); err != nil {
		return 0, 0, err
	}
	text, err := n.out.ReadBytes('\n')
	if err != nil {
		return 0, 0, fmt.Errorf("node: %w", err)
	}
	var answer struct {
		Build, Run float64
		Error      string
	}
	if err := json.Unmarshal(text, &answer); err != nil {
		return 0, 0, err
	}
	if answer.Error != "" {
		return 0, 0, fmt.Errorf("node: %s", answer.Error)
	}
	return milliseconds(answer.Build), milliseconds(answer.Run), nil
}

func milliseconds(v float64) time.Duration { return time.Duration(v * float64(time.Millisecond)) }

// timed is the measuring of a system in the process.
func (n *nodeProcess) timed(system string) func(*Shape) (build, run time.Duration, err error) {
	return func(s *Shape) (build, run time.Duration, err error) {
		q := &question{System: system, Needs: make([][]int, len(s.Needs))}
		for i, needs := range s.Needs {
			q.Needs[i] = append([]int{}, needs...)
		}
		for _, d := range s.Sleep {
			q.Sleep = append(q.Sleep, d.Seconds()*1000)
		}
		return n.ask(q)
	}
}

// systems are those that run in Node.
func (n *nodeProcess) systems() []System {
	return []System{
		{Name: "LangGraph.js", Does: "in waves: one state, written by all nodes of a wave; no checks, no record", Time: n.timed("langgraph")},
		{Name: "Mastra", Does: "in waves: lists of steps, alone or beside each other; inputs validated (zod), snapshots in memory; no record", Time: n.timed("mastra")},
	}
}
