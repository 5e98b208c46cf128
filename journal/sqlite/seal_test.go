package sqlite

import (
	"testing"

	"github.com/plc-lang/plc/exec"
)

// A question that is not as it was written stays so: to hold its run does not make it sound.
func TestHoldingHidesNoDamage(t *testing.T) {
	s := open(t)
	r := create(t, s, "r1")
	sync1(t, r, r.Append(at(exec.ApprovalAsked, "q", digest("d"))))
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Answer(ctx, "r1", "", "q", exec.Answer{Approved: true, Digest: "d"}); err != nil {
		t.Fatal(err)
	}
	if err := s.write(ctx, func(tx *tx) error {
		_, err := tx.exec(`UPDATE questions SET answer = replace(answer, 'digest', 'Xigest')`)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	for range 2 {
		if _, err := s.resume(ctx, "r1"); err == nil {
			t.Error("a damaged answer is followed")
		}
	}
}
