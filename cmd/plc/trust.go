package main

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/internal/display"
	"github.com/plc-lang/plc/tool/file"
)

// A project file comes with its folder and chooses programs, servers and hosts. So plc uses it only
// after somebody has agreed (docs/decisions/029).

func trustCommand(env *environment) *cobra.Command {
	var revoke bool
	c := &cobra.Command{
		Use:   "trust",
		Short: "Let the project file of this folder choose tools",
		Long: `Let the plc.yaml of the current folder, or of the next one above it that has one, name
tools, servers, a store and hosts. What it names may start programs, so look at it first. The
trust is for the file as it is, the files that it names, the OpenAPI documents of its tool files
and the locks beside its servers: when one of them changes, it is asked for again. Nothing is
started. --trust of any command trusts for that command only.`,
		Example: `  plc trust
  plc trust --revoke`,
		Args: wants(0, 0, "no arguments"),
		RunE: func(*cobra.Command, []string) error { return env.trustHere(revoke) },
	}
	c.Flags().BoolVar(&revoke, "revoke", false, "trust it no longer")
	return c
}

// trustHere runs plc trust.
func (env *environment) trustHere(revoke bool) error {
	name, p, err := env.project()
	switch {
	case err != nil:
		return err
	case name == "":
		return fmt.Errorf("there is no %s in this folder or one above it; plc init makes one", plc.ProjectName)
	case !revoke:
		showf(env.stdout, "trusted: %s, which names %s\n", name, shownNames(p))
		return writeTrust(name, plc.ProjectFiles(name, p))
	}
	path, err := trustFile(name)
	if err == nil {
		err = os.Remove(path)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s is not trusted", name)
	}
	return err
}

// project reads the project file; its name is "" if there is none.
func (env *environment) project() (string, *file.Project, error) {
	name, err := plc.FindProject(".")
	if name == "" || err != nil {
		return "", nil, err
	}
	p, findings, err := plc.ReadProject(name)
	if err == nil && findings.HasErrors() {
		env.showFindings(findings)
		err = exit(exitUsage)
	}
	return name, p, err
}

// checkTrust returns an error unless a project file is trusted. On a terminal it asks the user.
// Afterwards the command uses the files of the project in the state in which they were checked.
func (env *environment) checkTrust(ctx context.Context, name string, p *file.Project) error {
	if !p.Grants() {
		return nil
	}
	files := plc.ProjectFiles(name, p)
	if !env.trust {
		if err := env.askTrust(ctx, name, p, files); err != nil {
			return err
		}
	}
	env.trusted = map[string][]byte{}
	for _, f := range files {
		env.trusted[f.Name] = f.Text
	}
	return nil
}

// keepFiles reads the tool files of a server, and other files, and returns them. The server then
// uses their present text for all runs. keepFiles leaves errors of reading to the server.
func (env *environment) keepFiles(tools *plc.Toolset, others ...string) []plc.ProjectFile {
	named := &file.Project{MCP: tools.MCP, Policies: slices.Clone(tools.Policies), Lock: tools.Lock}
	for _, name := range others {
		if name != "" {
			named.Policies = append(named.Policies, name)
		}
	}
	for _, f := range tools.Files {
		if f.Text == "" && f.Name != "-" {
			named.Tools = append(named.Tools, f.Name)
		}
	}
	if env.trusted == nil {
		env.trusted = map[string][]byte{}
	}
	files := env.asKept(plc.ProjectFiles("", named))
	for _, f := range files {
		if f.Text != nil {
			env.trusted[f.Name] = f.Text
		}
	}
	return files
}

// asKept returns files with the texts that this command uses.
func (env *environment) asKept(files []plc.ProjectFile) []plc.ProjectFile {
	for i, f := range files {
		if text, ok := env.trusted[f.Name]; ok {
			files[i].Text = text
		}
	}
	return files
}

// askTrust returns an error unless a project is trusted with these files or the user agrees to
// trust it.
func (env *environment) askTrust(ctx context.Context, name string, p *file.Project, files []plc.ProjectFile) error {
	trusted, said, err := trustOf(name, files)
	if trusted || err != nil {
		return err
	}
	why := display.Sprintf("%s was not trusted as it is now; it", display.Name(name))
	switch changed := changedSince(said, name, files); {
	case len(changed) == 1 && changed[0] == name:
		why = display.Sprintf("%s changed since it was trusted; it", display.Name(name))
	case len(changed) > 0:
		why = display.Sprintf("%s changed since %s was trusted, which", namesText(changed), display.Name(name))
	}
	if env.canAsk() {
		yes, _ := env.ask(ctx, nil, display.Sprintf("%s names %s, which may start programs. Trust it?", why, shownNames(p)))
		if yes {
			return writeTrust(name, files)
		}
	}
	return fmt.Errorf("%s names %s, which may start programs: look at it, then plc trust (--trust trusts it once, --no-project uses none)", why, shownNames(p))
}

// trustOf reports whether the files of a project are trusted in their present state. said is the
// note that was written when the project was last trusted; "" if there is none or it can't be read.
// The error is non-nil if there is no folder for such notes.
func trustOf(name string, files []plc.ProjectFile) (trusted bool, said string, err error) {
	path, err := trustFile(name)
	if err != nil {
		return false, "", err
	}
	text, err := os.ReadFile(path)
	return err == nil && strings.HasPrefix(string(text), trustHead(name, files)), string(text), nil
}

// shownNames returns the files that a project names, and what else it grants.
func shownNames(p *file.Project) display.Text {
	var all []display.Text
	files := slices.Concat(p.Tools, p.MCP, p.Policies)
	files = slices.DeleteFunc(files, func(name string) bool { return name == "math" }) // which comes with plc
	if len(files) > 0 {
		all = append(all, namesText(files))
	}
	if p.Lock != "" {
		all = append(all, display.Sprintf("the lock %s", display.Name(p.Lock)))
	}
	if p.Store != "" {
		all = append(all, display.Sprintf("the store %s", display.Name(p.Store)))
	}
	if p.Approve != "" && p.Approve != "all" {
		all = append(all, display.Sprintf("the policy approve: %s", p.Approve))
	}
	if p.Policy != nil {
		all = append(all, display.Sprintf("the policy %s", display.JSON(p.Policy))) // whole: what grants most may be last
	}
	return display.Join(all, ", ")
}

// namesText returns names with commas between them. Names that could be mistaken for words are in
// quotes.
func namesText(names []string) display.Text {
	all := make([]display.Text, len(names))
	for i, name := range names {
		all[i] = display.Name(name)
	}
	return display.Join(all, ", ")
}

// trustHead returns the beginning of the note about a trusted project file: its name and a digest
// of everything that the trust covers. Only this part decides whether the project is trusted. A
// line for each file follows; older versions did not write these lines.
func trustHead(name string, files []plc.ProjectFile) string {
	return name + "\n" + plc.ProjectDigest(files) + "\n"
}

// trustLine returns the line of a file. Its name is relative to the folder of the project.
func trustLine(project string, f plc.ProjectFile) string {
	name := f.Name
	if abs, err := filepath.Abs(name); err == nil {
		name = abs
	}
	if relative, err := filepath.Rel(filepath.Dir(project), name); err == nil {
		name = relative
	}
	return fmt.Sprintf("%x %q\n", sha256.Sum256(f.Text), filepath.ToSlash(name))
}

// changedSince returns the names of the files that have changed, or are gone, since the project was
// trusted; none if that is not known.
func changedSince(said, project string, files []plc.ProjectFile) (names []string) {
	_, lines, _ := strings.Cut(said, "\n")
	if _, lines, _ = strings.Cut(lines, "\n"); lines == "" {
		return nil
	}
	known := slices.Collect(strings.Lines(lines))
	now := make(map[string]bool)
	for _, f := range files {
		line := trustLine(project, f)
		if f.Name != "" && !slices.Contains(known, line) {
			names = append(names, f.Name)
		}
		now[namedIn(line)] = true
	}
	if slices.Contains(names, project) { // which names other files now
		return names
	}
	for _, line := range known {
		if name := namedIn(line); !now[name] {
			names = append(names, filepath.Join(filepath.Dir(project), name))
		}
	}
	return names
}

// namedIn returns the name of the file of a line of trustLine.
func namedIn(line string) string {
	_, quoted, _ := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
	name, err := strconv.Unquote(quoted)
	if err != nil {
		return quoted
	}
	return filepath.FromSlash(name)
}

// saveLock writes a lock. A project that is trusted stays so, unless one of its other files changes
// at the same time.
func (env *environment) saveLock(lock string, text []byte) error {
	name, p, err := env.project()
	trusted := false
	var before []plc.ProjectFile
	if err == nil && name != "" && !env.noProject {
		before = plc.ProjectFiles(name, p)
		trusted, _, _ = trustOf(name, before)
	}
	if err := os.WriteFile(lock, text, 0o644); err != nil {
		return fmt.Errorf("can't write the lock: %w", err)
	}
	if !trusted {
		return nil
	}
	whole, err := filepath.Abs(lock)
	if err != nil {
		return err
	}
	covered := false
	after := plc.ProjectFiles(name, p)
	for i, f := range after {
		at, err := filepath.Abs(f.Name)
		if err == nil && at == whole {
			covered, after[i].Text = true, text
		} else if !slices.ContainsFunc(before, func(b plc.ProjectFile) bool { return b.Name == f.Name && bytes.Equal(b.Text, f.Text) }) {
			return nil
		}
	}
	if !covered {
		return nil
	}
	return writeTrust(name, after)
}

// trustFile returns the name of the file that exists when a project file is trusted: in the user's
// state folder, which no project can write to.
func trustFile(name string) (string, error) {
	dir, err := stateFolder()
	if err != nil {
		return "", fmt.Errorf("there is no folder to note trust in: %w; --trust trusts for one command", err)
	}
	sum := sha256.Sum256([]byte(name))
	return filepath.Join(dir, "plc", "trusted", hex.EncodeToString(sum[:16])), nil
}

// writeTrust records that a project file is trusted with these files.
func writeTrust(name string, files []plc.ProjectFile) error {
	path, err := trustFile(name)
	if err != nil {
		return err
	}
	note := trustHead(name, files)
	for _, f := range files {
		note += trustLine(name, f)
	}
	if err = os.MkdirAll(filepath.Dir(path), 0o700); err == nil {
		err = os.WriteFile(path, []byte(note), 0o600)
	}
	if err != nil {
		return fmt.Errorf("can't note that it is trusted: %w", err)
	}
	return nil
}
