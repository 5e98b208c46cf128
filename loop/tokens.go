package loop

import (
	"github.com/plc-lang/plc/compile"
	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/tool/model"
)

// Tokens compares the tokens of a loop's requests and answers with those that a plain loop would
// have used for the same calls. In a plain loop the model calls functions, gets each result in
// full, and gets the whole conversation again with each request. Both are estimates, at four bytes
// per token.
type Tokens struct {
	Used  int64 `json:"used"`
	Plain int64 `json:"plain"`
}

const bytesPerToken = 4

// meter estimates tokens.
type meter struct {
	used  int64 // bytes of requests and answers
	plain int64 // bytes of a plain loop's requests and answers
	base  int64 // bytes of its instructions, functions and task
	talk  int64 // bytes of its conversation so far
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

// ran adds what a plain loop would have used for the calls of a run: one request for each level of
// independent calls. It doesn't count calls whose results were reused, since a plain loop would not
// have made them.
func (m *meter) ran(prog *compile.Program, r *exec.Result, taken func(instance, id string) bool) {
	levels := prog.Starts.Levels()
	for i := range r.Instances {
		if !prog.Template {
			break // r.Calls includes their calls
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

// tokens returns the estimates, which include the output in the plain loop.
func (m *meter) tokens(output int) Tokens {
	plain := m.plain + m.base + m.talk + int64(output)
	return Tokens{Used: m.used / bytesPerToken, Plain: plain / bytesPerToken}
}
