package approval

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/plc-lang/plc/compile/report"
	"github.com/plc-lang/plc/internal/durable"
)

// Kept is an approval stored in a file. A second file beside it, its mark, records the outcome and
// is created only once: if several processes use or reject the approval at the same time, the first
// one wins.
type Kept struct {
	Name string // name of the file
	File *File  // nil if Refusal is set
	// Refusal says why the file can't be used: it was edited, or is sealed with another key.
	Refusal *Refusal

	key []byte
}

// Open returns the approval in the named file, whose content is text. See Read for key.
func Open(name string, text, key []byte) (*Kept, error) {
	f, err := Read(text, key)
	k := &Kept{Name: name, File: f, key: key}
	if err != nil && !errors.As(err, &k.Refusal) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return k, nil
}

// Change calls change, for example with File.Approve, and writes the file. If change returns an
// error, the file stays as it is. A rejection takes effect at once, even for processes that have
// already read the file. Change returns a *Refusal if the approval was rejected in the meantime.
func (k *Kept) Change(change func(*File) error) error {
	if k.Refusal != nil {
		return k.Refusal
	}
	if err := change(k.File); err != nil {
		return err
	}
	if k.File.RejectedAt != nil && k.notRejected() == nil {
		if err := k.mark(rejectedMark); err != nil {
			return err
		}
	}
	if err := durable.WriteFile(k.Name, k.File.JSON(k.key)); err != nil {
		return err
	}
	if k.File.RejectedAt == nil {
		return k.notRejected()
	}
	return nil
}

// Allows returns nil if a plan with this manifest may run now with the approval, and otherwise a
// *Refusal. If keys isn't nil, the approval must be signed with one of them.
func (k *Kept) Allows(m report.Manifest, keys []string, now time.Time) error {
	if k.Refusal != nil {
		return k.Refusal
	}
	if err := k.File.Allows(m, now); err != nil || keys == nil {
		return err
	}
	return k.File.SignedBy(keys)
}

// Use uses up the approval for a run. It returns a *Refusal if the approval was already used or
// rejected.
func (k *Kept) Use(run string, now time.Time) error {
	if k.Refusal != nil {
		return k.Refusal
	}
	if err := k.mark(run); err != nil {
		return err
	}
	k.File.Use(run, now)
	return durable.WriteFile(k.Name, k.File.JSON(k.key))
}

// rejectedMark is written to the mark of a rejected approval, instead of a run.
const rejectedMark = "rejected"

// mark records the final outcome of the approval: a run, or rejectedMark.
func (k *Kept) mark(what string) error {
	name, err := k.markName()
	if err != nil {
		return err
	}
	err = durable.Create(name, []byte(what+"\n"))
	if errors.Is(err, fs.ErrExist) {
		if err := k.notRejected(); err != nil {
			return err
		}
		return refuse("the approval was used already; each is for one run")
	}
	if err != nil {
		return fmt.Errorf("can't mark the approval as used: %w", err)
	}
	return nil
}

// notRejected returns a *Refusal if the mark says that the approval was rejected.
func (k *Kept) notRejected() error {
	name, err := k.markName()
	if err != nil {
		return err
	}
	text, err := os.ReadFile(name)
	if err == nil && strings.TrimSpace(string(text)) == rejectedMark {
		return refuse("the approval was rejected; plc plan makes another one")
	}
	return nil // Use reports a mark that can't be read
}

// markName returns the name of the mark. Links to the file have the same mark.
func (k *Kept) markName() (string, error) {
	name, err := filepath.EvalSymlinks(k.Name)
	if err != nil {
		return "", fmt.Errorf("can't read %s: %w", k.Name, err)
	}
	return filepath.Join(filepath.Dir(name), ".plc-used-"+k.File.ID), nil
}

// Reason returns why a plan was refused, with the first differences. If there are further ones,
// more lists all differences.
func (r *Refusal) Reason() (reason string, more []string) {
	const most = 5
	all := make([]string, len(r.Differences))
	for i, d := range r.Differences {
		all[i] = d.String()
	}
	reason = r.Message
	if len(all) > 0 {
		reason += ": " + strings.Join(all[:min(most, len(all))], "; ")
	}
	if len(all) > most {
		return fmt.Sprintf("%s; and %d more", reason, len(all)-most), all
	}
	return reason, nil
}
