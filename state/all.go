package state

import "encoding/json"

// WriteAll applies a write to several paths, in order: all or, when one of them
// can't take the value, none (plan-language §4, fan-out). Otherwise it is as Write.
func (w *Whiteboard) WriteAll(at Place, paths []Path, method Method, value json.RawMessage) error {
	raw := compact(value)
	w.mu.Lock()
	defer w.mu.Unlock()
	before := len(w.log)
	touched := map[*kind]bool{}
	for _, path := range paths {
		k, err := w.writable(path)
		if err == nil {
			touched[k] = true
			r := record{Entry{at, path, method, raw}, keyOf(at, uint32(len(w.log)+1))}
			var late bool
			if late, err = w.land(k, &r); err == nil {
				w.log = append(w.log, r)
				if late {
					w.again(k)
				}
			}
		}
		if err != nil {
			err.Method = method
			w.undo(before, touched)
			return err
		}
	}
	return nil
}

// undo takes the writes behind the first n of the log back.
func (w *Whiteboard) undo(n int, touched map[*kind]bool) {
	if len(w.log) == n {
		return
	}
	clear(w.log[n:])
	w.log = w.log[:n]
	for k := range touched {
		w.again(k)
	}
}
