package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os/exec"

	plcexec "github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/tool"
	"github.com/plc-lang/plc/tool/process"
)

// copies is a program that answers with what it is given.
const copies = "cat"

// atOnce limits the number of processes that run at once.
const atOnce = 4

// processes are systems whose nodes are processes.
func processes() []System { return []System{processByHand(), plcProcess()} }

// processByHand starts the processes itself.
func processByHand() System {
	return errGroupOf(System{
		Name: "os/exec and errgroup", Does: "a process a node, by hand; nothing that it started is ended with it",
	}, atOnce, func(ctx context.Context, w *Work, i int, in []json.RawMessage) (json.RawMessage, error) {
		cmd := exec.CommandContext(ctx, copies)
		text := fmt.Appendf(nil, `{"node":%d,"in":[%s]}`, i, bytes.Join(asBytes(in), []byte(",")))
		cmd.Stdin = bytes.NewReader(text)
		out, err := cmd.Output()
		if err == nil && !bytes.Equal(out, text) {
			err = fmt.Errorf("%s gives %s", copies, out)
		}
		return w.Do(i, in), err
	})
}

func asBytes(values []json.RawMessage) [][]byte {
	texts := make([][]byte, len(values))
	for i, v := range values {
		texts[i] = v
	}
	return texts
}

// plcProcess has the processes started by the process tool of plc.
func plcProcess() System {
	return System{
		Name: "plc", Does: "a process group a call, which is ended with the run; its output is parsed, params and results are validated",
		Build: func(s *Shape) (Graph, error) {
			started, err := process.New(process.Config{Command: []string{copies}})
			if err != nil {
				return nil, err
			}
			prog, err := programOf(s, tool.Effects{Pure: tool.Yes}, func(ctx context.Context, req *tool.Request) (tool.Result, error) {
				res, err := started.Call(ctx, req)
				if err != nil {
					return res, err
				}
				if !bytes.Equal(res.Value, req.Params) {
					return res, fmt.Errorf("%s gives %s", copies, res.Value)
				}
				return node(ctx, req)
			})
			return GraphFunc(func(ctx context.Context, w *Work) (json.RawMessage, error) {
				return run(withWork(ctx, w), prog, &plcexec.Options{MaxParallel: atOnce}, len(s.Needs)-1)
			}), err
		},
	}
}

// processTable measures graphs whose nodes are processes: what it costs to start them is to be all
// that it costs.
func processTable(set *Settings, r *Report) error {
	all := processes()
	r.say("### Nodes that are processes")
	r.say("Each node starts `%s`, gives it its params and reads them again; at most %d at once. Microseconds a node.", copies, atOnce)
	table := &Table{Head: []string{"graph", all[0].Name, all[1].Name, "ratio"}}
	n := pick(set, 100, 20)
	for _, s := range []*Shape{chain(n), fan(n)} {
		timings, err := compare(set, all, s, s)
		if err != nil {
			return err
		}
		hand, ours := timings[0], timings[1]
		table.add(s.Name, hand.PerNode(hand.Run).String(), ours.PerNode(ours.Run).String(), number(ours.Run.Over(hand.Run)))
		r.atMost("run, "+s.Name+" of processes: over os/exec", 1.1, ours.Run.Over(hand.Run), "×")
	}
	r.table(table)
	return nil
}
