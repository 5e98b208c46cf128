package journal

import (
	"context"

	"github.com/plc-lang/plc/exec"
)

// EndDigest returns the digest of the whiteboard at the end of a run; "" if the run has not ended.
// A pause counts as an end.
func EndDigest(ctx context.Context, s Store, run string) (digest string, err error) {
	for entry, err := range s.Events(ctx, run, 0, false) {
		if err != nil {
			return "", err
		}
		e, err := entry.Event()
		if err != nil {
			return "", err
		}
		switch e.Type {
		case exec.RunFinished, exec.RunPaused, exec.RunUndoing:
			digest = e.Digest
		case exec.RunStarted, exec.RunResumed:
			digest = ""
		}
	}
	return digest, nil
}
