package diag

import (
	"bufio"
	"encoding/json"
	"io"
)

// WriteJSON writes the findings as JSON lines, one for each, in the form documented in cli, "JSON
// shapes". It streams: its memory doesn't grow with the list. The error is w's.
func WriteJSON(w io.Writer, l List) error {
	out := bufio.NewWriter(w)
	enc := json.NewEncoder(out)
	enc.SetEscapeHTML(false)
	for i := range l {
		if err := enc.Encode(l[i].view()); err != nil {
			return err
		}
	}
	return out.Flush()
}
