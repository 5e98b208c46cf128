package diag

import (
	"bufio"
	"encoding/json"
	"io"
)

// WriteJSON writes the findings as JSON lines, one a finding, in the shape of
// cli, "JSON shapes". It streams: memory does not grow with the list. The error
// is w's.
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
