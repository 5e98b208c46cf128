package main

import (
	"cmp"
	"errors"
	"io"
	"sync"

	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/internal/display"
	"github.com/plc-lang/plc/tool"
)

// batch reports the instances of a template's run one by one, as they end, since there may be more
// of them than memory holds. The nil batch reports nothing.
type batch struct {
	show *progress

	mu     sync.Mutex
	out    *jsonLines // nil for none
	counts map[exec.Status]int
	first  []exec.InstanceResult // the first instances that did not complete, without their values
	unsure bool                  // a call failed that may have done its work
}

// wantsBatch reports whether the flags ask for a batch, and the plan can be one.
func wantsBatch(prog *compile.Program, f *runFlags) (bool, error) {
	switch {
	case f.spec.Instances.Name == "" && f.results == "":
		return false, nil
	case f.expect != "":
		return false, errors.New("--expect is for a plan that runs once, without --instances and --results")
	case !prog.Template:
		return false, errors.New("--instances and --results are for a plan that runs once for each instance, and calls of this one name theirs")
	}
	return true, nil
}

// newBatch returns the batch that the flags ask for; nil for none.
func (env *environment) newBatch(prog *compile.Program, f *runFlags, show *progress, asJSON bool) (*batch, error) {
	if wants, err := wantsBatch(prog, f); !wants || err != nil {
		return nil, err
	}
	b := &batch{show: show, counts: map[exec.Status]int{}}
	if f.spec.Instances.Name != "" && show != nil {
		show.batch = true
	}
	switch {
	case f.results != "":
		if err := env.checkOutput("results", f.results); err != nil {
			return nil, err
		}
		var err error
		if b.out, err = createLines("results", f.results); err != nil {
			return nil, err
		}
	case asJSON:
		b.out = newLines(env.stdout)
	}
	return b, nil
}

// instance processes the outcome of an instance.
func (b *batch) instance(r *exec.InstanceResult) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.counts[r.Status]++
	b.unsure = b.unsure || anyOf(r.Calls, isUnsure)
	if r.Status != exec.Completed && len(b.first) < maxRows {
		b.first = append(b.first, exec.InstanceResult{Name: r.Name, Status: r.Status, Reason: r.Reason})
	}
	b.show.instance(r)
	b.out.write(r)
}

// close closes the output of lines, and returns an error if some were lost.
func (b *batch) close() error {
	if b == nil {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.out.close()
}

// batchDocument is the last line of plc run --format json, after a line for each instance.
type batchDocument struct {
	Run       string              `json:"run"`
	Status    exec.Status         `json:"status"`
	Reason    string              `json:"reason,omitempty"`
	Instances map[exec.Status]int `json:"instances"`
	Findings  diag.List           `json:"findings"`
	Usage     tool.Usage          `json:"usage"`
}

// showBatch shows the outcome of a run whose instances were shown as they ended, and returns the
// exit code.
func (env *environment) showBatch(b *batch, res *exec.Result, asJSON bool) error {
	if asJSON {
		return cmp.Or(b.writeDocument(env.stdout, res), exitOf(res.Status))
	}
	env.showFindings(onlyErrors(res.Findings))
	b.write(env.stderr, res)
	if b.out == nil {
		env.hintf("--results FILE keeps what each instance gave, and --format json prints it")
	}
	return exitOf(res.Status)
}

// writeDocument writes the last line of plc run --format json.
func (b *batch) writeDocument(w io.Writer, res *exec.Result) error {
	b.counts[exec.Completed] += 0
	b.counts[exec.Failed] += 0
	return newLines(w).enc.Encode(batchDocument{res.Run, res.Status, res.Reason, b.counts, res.Findings, res.Usage})
}

// write writes the number of instances in each status, and lists those that did not complete.
func (b *batch) write(w io.Writer, res *exec.Result) {
	showf(w, "%s\n", headlineOfInstances(res, b.counts))
	showInstances(w, b.first, total(b.counts)-b.counts[exec.Completed])
}

// showInstances shows the first instances that did not complete, and why; all is their total
// number.
func showInstances(w io.Writer, list []exec.InstanceResult, all int) {
	width := 0
	for i := range list {
		width = max(width, display.Name(list[i].Name).Cut(maxIDs).Columns())
	}
	for i := range list {
		r := &list[i]
		showf(w, "  %s  %s  %s\n", display.Name(r.Name).Cut(maxIDs).Pad(width), r.Status, display.Line(r.Reason).Cut(maxReason))
	}
	if more := all - len(list); more > 0 {
		showf(w, "  … and %d more\n", more)
	}
}
