package process

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"

	"github.com/plc-lang/plc/tool"
)

// unreadable is the digest of a file that exists and can't be read.
const unreadable = "unreadable"

// pinned is a file that is part of the program, with its content at the time of Pin.
type pinned struct {
	file     string        // its absolute path; "" for a program that is not in PATH
	find     func() string // finds it in PATH again; nil if it is not looked up in PATH
	tool.Pin               // SHA256 is "" if there was no such file
}

// Pin notes the content of the program and of the files that its arguments name, also as a part of
// an argument (--file=f, -ff, -xff, @f, a.jar:b.jar) and in folders that earlier arguments name, as
// in env -C DIR ./file. If the program is known to start others, like env, Pin also notes the
// programs in PATH that arguments name, and where they were found. From then on, a call starts the
// file that was found now, and fails with "changed-program" if one of the files has changed,
// appeared or disappeared, or if PATH leads to another file. A file that can't be read is noted as
// unreadable. Pin must be called before the first call.
func (a *Activity) Pin() {
	p := a.Place()
	file := in(p.Dir, p.Program[0])
	if !strings.ContainsAny(p.Program[0], `/\`) {
		file = p.Path
	}
	a.pins = []pinned{{file: file, Pin: tool.Pin{File: p.Program[0], SHA256: digestOf(file)}}}
	paths := a.searchPaths(p.Program)
	dirs := []string{p.Dir}
	for i, t := range a.command {
		if i == 0 || !t.Literal() {
			continue
		}
		for _, path := range paths {
			a.pinStarted(p.Dir, path, p.Program[i])
		}
		var folders []string
		for _, named := range namesIn(p.Program[i]) {
			for k, dir := range dirs {
				file := in(dir, named)
				if k > 0 && filepath.IsAbs(named) || len(a.pins) == maxPinned {
					continue
				}
				a.pins = append(a.pins, pinned{file: file, Pin: tool.Pin{File: named, SHA256: digestOf(file)}})
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

// searchPaths returns the values of PATH with which a command finds the programs that it starts:
// the one of its environment, and those that its arguments set. It returns none for a program that
// is not known to start others.
func (a *Activity) searchPaths(command []string) (paths []string) {
	if r, _ := runnerOf(command); programName(command[0]) != "find" && (r == nil || !r.launches()) {
		return nil
	}
	for _, variable := range a.env { // the last one counts
		if path, ok := strings.CutPrefix(variable, "PATH="); ok {
			paths = []string{path}
		}
	}
	for _, arg := range command[1:] {
		if path, ok := strings.CutPrefix(arg, "PATH="); ok && len(paths) < maxFolders {
			paths = append(paths, path)
		}
	}
	return paths
}

// pinStarted pins the program that an argument names, if it is looked up in PATH.
func (a *Activity) pinStarted(dir, path, name string) {
	if name == "" || strings.ContainsAny(name, `/\`) || strings.HasPrefix(name, "-") || len(a.pins) == maxPinned {
		return
	}
	find := func() string { return findIn(dir, path, name) }
	file := find()
	a.pins = append(a.pins, pinned{file, find, tool.Pin{File: cmp.Or(file, name), SHA256: digestOf(file)}})
}

// findIn returns the file of a program in the folders of PATH, which may be relative to dir; "" if
// there is none.
func findIn(dir, path, name string) string {
	if runtime.GOOS == "windows" {
		file, _ := exec.LookPath(name)
		return file
	}
	for _, folder := range filepath.SplitList(path) {
		file := filepath.Join(in(dir, folder), name)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode().Perm()&0o111 != 0 {
			return file
		}
	}
	return ""
}

// Bounds for the files that are pinned.
const (
	maxFolders = 16 // in which the files of arguments are looked up
	maxPinned  = 4096
	maxName    = 4096 // bytes of a name
	maxNames   = 1024 // of one argument
	maxFlags   = 32   // letters before a name in one argument
)

// namesIn returns the names of files that an argument may contain: the whole argument, its parts
// between "=", ":", ",", "@", "#" and "?", the text after each of these, and the text after letters
// that may be flags.
func namesIn(arg string) (names []string) {
	add := func(name string) {
		if name != "" && len(name) <= maxName && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	add(arg)
	part, rest, more := cutName(arg)
	for _, flag := range []string{arg, part} {
		if len(flag) > 2 && flag[0] == '-' && flag[1] != '-' {
			for i := 2; i < min(len(flag), maxFlags); i++ {
				add(flag[i:])
			}
		}
	}
	for add(part); more && len(names) < maxNames; add(part) {
		add(rest)
		part, rest, more = cutName(rest)
	}
	return names
}

// cutName cuts an argument at the first character that may separate the name of a file.
func cutName(arg string) (before, after string, ok bool) {
	if i := strings.IndexAny(arg, "=:,@#?"); i >= 0 {
		return arg[:i], arg[i+1:], true
	}
	return arg, "", false
}

// unchanged returns an error if a file has changed since it was pinned.
func (a *Activity) unchanged() error {
	for _, p := range a.pins {
		if digestOf(p.file) != p.SHA256 || p.find != nil && p.find() != p.file {
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

// in returns the path of a file whose name is relative to a folder.
func in(dir, name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	return filepath.Join(dir, name)
}
