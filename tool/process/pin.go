package process

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	"github.com/plc-lang/plc/tool"
)

// pinned is a file that the program is made of, and what it was.
type pinned struct {
	file string // its absolute path
	tool.Pin
}

// Pin notes the content of the program and of the files that its arguments name. After that, a
// call fails with "changed-program" when one of them has changed. It must be called before the
// first call.
func (a *Activity) Pin() {
	p := a.Place()
	a.pins = nil
	for i, t := range a.command {
		file := p.Path
		if i > 0 {
			file = in(p.Dir, t.String())
		}
		if i > 0 && !t.Literal() {
			continue
		}
		if sum, err := digestOf(file); err == nil {
			a.pins = append(a.pins, pinned{file, tool.Pin{File: t.String(), SHA256: sum}})
		}
	}
}

// unchanged returns an error if a file is not what it was when it was pinned.
func (a *Activity) unchanged() error {
	for _, p := range a.pins {
		if sum, err := digestOf(p.file); err != nil || sum != p.SHA256 {
			return &tool.Error{Code: "changed-program", Permanent: true, Err: err, Message: fmt.Sprintf(
				"%q has changed since the plan was checked, and the policy pins programs; nothing was started", p.File)}
		}
	}
	return nil
}

func digestOf(file string) (string, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return "", err
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:]), nil
}

// in returns the path of a file that is named in a folder.
func in(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}
