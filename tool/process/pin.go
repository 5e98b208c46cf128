package process

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/plc-lang/plc/tool"
)

// unreadable is the digest of a file that exists and can't be read.
const unreadable = "unreadable"

// pinned is a file that the program is made of, and what it was.
type pinned struct {
	file     string // its absolute path; "" for a program that is not in PATH
	tool.Pin        // SHA256 is "" when there was no such file
}

// Pin notes the content of the program and of the files that its arguments name, also behind a flag
// in the same argument (--file=f, -ff) and in folders that earlier arguments name, as in
// env -C DIR ./file. After that, a call starts the file that was found now, and fails with
// "changed-program" when one of the files has changed, has appeared or is gone. A file that can't
// be read is noted as that. Pin must be called before the first call.
func (a *Activity) Pin() {
	p := a.Place()
	a.pins = nil
	dirs := []string{p.Dir}
	for i, t := range a.command {
		if i > 0 && !t.Literal() {
			continue
		}
		name := t.String()
		if i == 0 {
			file := in(p.Dir, name)
			if !strings.ContainsAny(name, `/\`) {
				file = p.Path
			}
			a.pins = append(a.pins, pinned{file, tool.Pin{File: name, SHA256: digestOf(file)}})
			continue
		}
		var folders []string
		for _, named := range namesIn(name) {
			for k, dir := range dirs {
				file := in(dir, named)
				if k > 0 && filepath.IsAbs(named) || len(a.pins) == maxPinned {
					continue
				}
				a.pins = append(a.pins, pinned{file, tool.Pin{File: named, SHA256: digestOf(file)}})
				if info, err := os.Stat(file); err == nil && info.IsDir() && !slices.Contains(dirs, file) {
					folders = append(folders, file)
				}
			}
		}
		if dirs = append(dirs, folders...); len(dirs) > maxFolders {
			dirs = dirs[:maxFolders]
		}
	}
}

// Bounds of what is pinned.
const (
	maxFolders = 16 // in which the files of arguments are looked for
	maxPinned  = 4096
)

// namesIn returns the names of files that an argument may have: all of it, what follows its first
// "=", and what follows its first letter as a flag.
func namesIn(arg string) []string {
	names := []string{arg}
	if _, value, ok := strings.Cut(arg, "="); ok && value != "" {
		names = append(names, value)
	}
	if len(arg) > 2 && arg[0] == '-' && arg[1] != '-' {
		names = append(names, arg[2:])
	}
	return names
}

// unchanged returns an error if a file is not what it was when it was pinned.
func (a *Activity) unchanged() error {
	for _, p := range a.pins {
		if digestOf(p.file) != p.SHA256 {
			return &tool.Error{Code: "changed-program", Permanent: true, Message: fmt.Sprintf(
				"%q has changed since the plan was checked, and the policy pins programs; nothing was started", p.File)}
		}
	}
	return nil
}

// UsePinned makes cmd start the file that was pinned, without another search in PATH. It returns
// an error if one of the pinned files has changed: a *tool.Error with the code "changed-program".
// It does nothing if Pin was not called.
func (a *Activity) UsePinned(cmd *exec.Cmd) error {
	if a.pins == nil {
		return nil
	}
	if err := a.unchanged(); err != nil {
		return err
	}
	switch file := a.pins[0].file; {
	case file == "":
		return exec.ErrNotFound
	case !filepath.IsAbs(file):
		return exec.ErrDot
	default:
		cmd.Path, cmd.Err = file, nil
		return nil
	}
}

// digestOf returns the SHA-256 of a regular file in hexadecimal, unreadable, or "" if there is no
// such file.
func digestOf(file string) string {
	info, err := os.Stat(file)
	switch {
	case errors.Is(err, fs.ErrPermission):
		return unreadable
	case err != nil || !info.Mode().IsRegular():
		return ""
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return unreadable
	}
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:])
}

// in returns the path of a file that is named in a folder.
func in(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}
