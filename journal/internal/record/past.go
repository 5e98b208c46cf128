package record

import (
	"bytes"

	"github.com/plc-lang/plc/exec"
	"github.com/plc-lang/plc/journal"
)

// Past holds what the events of an instance say about its calls, by path.
type Past map[string]*exec.Past

// Add adds the next event, which has this number.
func (p Past) Add(seq int64, e *exec.Event) {
	if e.Call == "" {
		return
	}
	if p[e.Call] == nil {
		p[e.Call] = &exec.Past{}
	}
	p[e.Call].Take(e)
	if e.Type == exec.CallReturned && e.Error != nil {
		p[e.Call].Returned.Seq = seq
	}
}

// writeLine is the beginning of the line of a write.
const writeLine = `{"type":"` + exec.Written + `"`

// AddEntry adds the next event, unless it is a write: the result of the call has the written value
// as well.
func (p Past) AddEntry(entry *journal.Entry) error {
	if bytes.HasPrefix(entry.Body, []byte(writeLine)) {
		return nil
	}
	e, err := entry.Event()
	if err == nil {
		p.Add(entry.Seq, e)
	}
	return err
}
