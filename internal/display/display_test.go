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

// ShellWord quotes all that a shell would not take for one plain word.
func TestShellWord(t *testing.T) {
	for word, want := range map[string]string{
		"pay/each[0]": `'pay/each[0]'`, "a.b-c": "a.b-c", "": "''", "it's": `'it'\''s'`, "$(rm x); `y`": "'$(rm x); `y`'",
	} {
		if got := ShellWord(word); got != want {
			t.Errorf("%q: %s, want %s", word, got, want)
		}
	}
}
