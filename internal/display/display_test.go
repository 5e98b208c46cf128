package display

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"
)

// A sum is shown as its digits, whether it is an array or a slice.
func TestSums(t *testing.T) {
	sum := sha256.Sum256([]byte("a"))
	want := hex.EncodeToString(sum[:])
	for _, got := range []Text{Sprintf("%x", sum), Sprintf("%x", sum[:])} {
		if got.String() != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}
