package loop

import (
	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/tool/model"
)

// Tokens compares what a loop's requests and answers came to with what a plain loop would have used
// for the same calls, in which the model calls functions, gets each result whole, and all of it
// again with each request. Both are estimated, a token for four bytes.
type Tokens struct {
	Used  int64 `json:"used"`
	Plain int64 `json:"plain"`
}

const bytesPerToken = 4

// meter estimates tokens.
type meter struct {
	used  int64 // bytes of requests and answers
	plain int64 // bytes of those of a plain loop
	base  int64 // of its instructions, functions and task
	talk  int64 // of its conversation so far
}

// asked counts a request and its answer.
func (m *meter) asked(t *model.Turn, r *model.Reply) {
	for i := range t.Messages {
		m.used += int64(len(t.Messages[i].Text))
	}
	m.used += int64(len(t.System) + len(t.Schema) + len(r.Text))
	if m.base == 0 {
		m.base = int64(len(t.System) + len(t.Schema))
		for i := range t.Messages {
			m.base += int64(len(t.Messages[i].Text))
		}
	}
}

// ran counts what a plain loop would have said of the calls of a run: a request for each level
// of calls that need nothing of each other. Calls that were taken over it would not have made.
func (m *meter) ran(prog *compile.Program, r *exec.Result, taken func(instance, id string) bool) {
	levels := prog.Starts.Levels()
	for i := range r.Instances {
		if !prog.Template {
			break // their calls are those of r.Calls that name them
		}
		m.levels(prog, levels, r.Instances[i].Calls, taken)
	}
	m.levels(prog, levels, r.Calls, taken)
}

func (m *meter) levels(prog *compile.Program, level []int32, calls []exec.CallResult, taken func(instance, id string) bool) {
	said := map[int32]int64{}
	for i := range calls {
		if c := &calls[i]; c.Attempts > 0 && !taken(c.Instance, c.ID) {
			span := prog.Calls[i].Source.Node.Span()
			said[level[i]] += int64(span.End-span.Start) + int64(len(c.Result))
		}
	}
	for _, l := range sortedKeys(said) {
		m.plain += m.base + m.talk + said[l]
		m.talk += said[l]
	}
}

// tokens returns the estimates. A plain loop would have said the output as well.
func (m *meter) tokens(output int) Tokens {
	plain := m.plain + m.base + m.talk + int64(output)
	return Tokens{Used: m.used / bytesPerToken, Plain: plain / bytesPerToken}
}
