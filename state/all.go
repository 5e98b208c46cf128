package state

import (
	"encoding/json"

	"github.com/plc-lang/plc/internal/jsonscan"
)

// WriteAll applies a write to several paths, in order (plan-language §4, fan-out). If one of them
// can't take the value, it applies none. Otherwise it works like Write. To undo writes, it applies
// all writes to their kinds again.
func (w *Whiteboard) WriteAll(at Place, paths []Path, method Method, value json.RawMessage) error {
	raw := jsonscan.Compacted(value)
	w.mu.Lock()
	defer w.mu.Unlock()
	before := w.log.len
	for _, path := range paths {
		if err := w.write(at, path, method, raw); err != nil {
			w.undo(before)
			return err
		}
	}
	return nil
}

// undo removes all but the first n writes of the log.
func (w *Whiteboard) undo(n int) {
	touched := make(map[*kind]bool)
	for w.log.len > n {
		touched[w.kind(w.log.drop().Path[0].Name)] = true
	}
	for k := range touched {
		w.again(k)
	}
}
