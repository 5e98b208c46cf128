package main

import (
	"errors"
	"fmt"
	"time"
)

// runSection measures runs of graphs whose nodes do nothing, and of some that sleep.
func runSection(set *Settings, r *Report) (err error) {
	node := new(nodeProcess)
	defer func() { err = errors.Join(err, node.Close()) }()
	all := append(systems(), node.systems()...)
	r.say("## Running a graph")
	r.say("Graphs whose nodes do nothing but pass a small JSON value on; each answer is checked: every node ran once, after those that it needs, with their values. " +
		"Microseconds a node; in brackets the least and the most of all rounds; `build` is making the graph ready to run, once. " +
		"For plc that is parsing, binding, checking and lowering the plan.")
	n := pick(set, 1000, 200)
	for _, s := range [][2]*Shape{
		{chain(1), chain(1)}, {chain(n), chain(100)}, {fan(n), fan(100)}, {layered(10, n/10, 0, 0), layered(10, 10, 0, 0)},
	} {
		timings, err := compare(set, all, s[0], s[1])
		if err != nil {
			return err
		}
		r.say("### %s", s[0].Name)
		runTable(r, timings)
		if len(s[0].Needs) > 1 {
			runAims(r, s[0], timings)
			r.Bars = append(r.Bars, barsOf(s[0].Name, timings))
		}
	}
	r.say("### Nodes that sleep")
	r.say("The time of a whole run over the critical path: the longest way through the sleeps.")
	sleeping := &Settings{Rounds: set.Rounds, Quick: set.Quick}
	for _, s := range [][2]*Shape{
		{layered(10, 100, 10*time.Millisecond, 10*time.Millisecond), layered(10, 10, 10*time.Millisecond, 10*time.Millisecond)},
		{layered(10, 100, time.Millisecond, 19*time.Millisecond), layered(10, 10, time.Millisecond, 19*time.Millisecond)},
	} {
		timings, err := compare(sleeping, all[1:], s[0], s[1]) // the loop would sleep for all of them
		if err != nil {
			return err
		}
		r.say("#### %s: %v", s[0].Name, s[0].CriticalPath().Round(time.Millisecond))
		sleepTable(r, timings)
	}
	if err := processTable(set, r); err != nil {
		return err
	}
	r.say("### What each does for a node")
	for i := range all {
		r.WriteString(fmt.Sprintf("- **%s**: %s.\n", all[i].Name, all[i].Does))
	}
	r.WriteString("\n")
	return nil
}

// named is the timing of a system.
func named(timings []*Timing, name string) *Timing {
	for _, t := range timings {
		if t.System.Name == name {
			return t
		}
	}
	return nil
}

// label is the name of a system, with the size that it was run with when it is another.
func (t *Timing) label(asked *Shape) string {
	if t.Shape != asked {
		return fmt.Sprintf("%s, %s", t.System.Name, t.Shape.Name)
	}
	return t.System.Name
}

func runTable(r *Report, timings []*Timing) {
	group, ready := named(timings, "errgroup"), named(timings, "ready counts")
	table := &Table{Head: []string{"system", "build", "run", "× errgroup", "× ready counts"}}
	for _, t := range timings {
		if t.Absent != nil {
			table.add(t.System.Name, "–", t.Absent.Error(), "", "")
			continue
		}
		over := func(base *Timing) string { return number(t.PerNode(t.Run).Over(base.PerNode(base.Run))) }
		table.add(t.label(group.Shape), number(t.PerNode(t.Build).Median()), t.PerNode(t.Run).String(), over(group), over(ready))
	}
	r.table(table)
}

func runAims(r *Report, s *Shape, timings []*Timing) {
	ours, group, eino := named(timings, "plc"), named(timings, "errgroup"), named(timings, "eino Workflow")
	r.atMost("run, "+s.Name+": over errgroup", 3, ours.Run.Over(group.Run), "×")
	r.atLeast("run, "+s.Name+": eino Workflow over plc", 15, eino.Run.Over(ours.Run), "×")
}

func sleepTable(r *Report, timings []*Timing) {
	table := &Table{Head: []string{"system", "× critical path"}}
	for _, t := range timings {
		over := make(Spread, len(t.Run))
		for i := range over {
			over[i] = t.Run[i] / t.Shape.CriticalPath().Seconds()
		}
		if t.Absent != nil {
			table.add(t.System.Name, t.Absent.Error())
			continue
		}
		table.add(t.label(timings[0].Shape), over.String())
		if t.System.Name == "plc" {
			r.atMost("run, "+t.Shape.Name+": over the critical path", 1.05, over.Median(), "×")
		}
	}
	r.table(table)
}

// durableSection measures runs of which each node is kept on disk.
func durableSection(set *Settings, r *Report) error {
	all := durables()
	r.say("## Recorded")
	r.say("Runs that could go on in another process: what each node gave is on disk before the next one that needs it starts. Microseconds a node. The first are what this disk can do.")
	once := &Settings{Rounds: set.Rounds, Quick: set.Quick}
	n := pick(set, 1000, 100)
	for _, s := range [][2]*Shape{{chain(n), chain(200)}, {fan(n), fan(200)}} {
		timings, err := compare(once, all, s[0], s[1])
		if err != nil {
			return err
		}
		bound, limit := named(timings, all[0].Name), 1.3
		if len(s[0].Needs) != n {
			bound, limit = named(timings, all[1].Name), 2
		}
		ours, shared := named(timings, "plc"), named(timings, inPostgres)
		table := &Table{Head: []string{"system", "run", "× " + bound.System.Name, "× plc"}}
		for _, t := range timings {
			if t.Absent != nil {
				table.add(t.System.Name, t.Absent.Error(), "", "")
				continue
			}
			table.add(t.label(s[0]), t.PerNode(t.Run).String(), number(t.PerNode(t.Run).Over(bound.PerNode(bound.Run))), number(t.PerNode(t.Run).Over(ours.PerNode(ours.Run))))
			switch {
			case t.System.Bound || t == ours || t == shared:
			case t.System.Name == "DBOS" && shared.Absent == nil: // which is in Postgres as well
				r.atLeast("recorded, "+s[0].Name+": DBOS over "+inPostgres, 1, t.PerNode(t.Run).Over(shared.PerNode(shared.Run)), "×")
				fallthrough
			default:
				r.atLeast("recorded, "+s[0].Name+": "+t.System.Name+" over plc", 3, t.PerNode(t.Run).Over(ours.PerNode(ours.Run)), "×")
			}
		}
		r.say("### %s, recorded", s[0].Name)
		r.table(table)
		r.atMost("recorded, "+s[0].Name+": over "+bound.System.Name, limit, ours.Run.Over(bound.Run), "×")
		r.Bars = append(r.Bars, barsOf(s[0].Name+", recorded", timings))
	}
	for i := range all {
		r.WriteString(fmt.Sprintf("- **%s**: %s.\n", all[i].Name, all[i].Does))
	}
	r.WriteString("\n")
	return nil
}
