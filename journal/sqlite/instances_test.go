package sqlite

import (
	"testing"

	"github.com/plc-lang/plc/journal"
)

// A run of which only the digest of its instances is kept stays whole when another run has
// kept a text with the same digest.
func TestDigestOfATextThatComesLater(t *testing.T) {
	s, err := Open(t.TempDir()+"/runs.db", nil)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	lines := []byte(`{"n": 1}`)
	given := func(body []byte) *journal.Given {
		return &journal.Given{Plan: journal.Text{Name: "plan.json", Bytes: []byte("[]")}, Texts: []journal.Text{{Role: journal.Instances, Name: "lines", Digest: digestOf(lines), Bytes: body}}}
	}
	for i, body := range [][]byte{nil, lines} {
		r, err := s.create(ctx, []string{"A", "B"}[i], given(body))
		if err != nil {
			t.Fatal(err)
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	for _, run := range []string{"A", "B"} {
		if _, err := s.Given(ctx, run); err != nil {
			t.Errorf("%s: %v", run, err)
		}
	}
}
