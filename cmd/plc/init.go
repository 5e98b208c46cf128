package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/plc-lang/plc"
	"github.com/plc-lang/plc/internal/display"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/tool/openapi"
)

func initCommand(env *environment) *cobra.Command {
	var start bool
	c := &cobra.Command{
		Use:   "init",
		Short: "Make a project file of what is in this folder, and a first plan",
		Long: `Make a plc.yaml in the current folder that names what is found there: tool files (tools.yaml),
configurations of MCP clients (.mcp.json, mcp.json, .vscode/mcp.json) and OpenAPI documents,
for which services.yaml is written; and first-plan.json, a plan that runs. On a
terminal it asks whether it may start the MCP servers that it finds, to see whether they run;
elsewhere it starts none without --start. Their tools are named, and the first plan calls one
that only reads and needs no params, if there is one. What the first plan does not run with is
left out of the project file, with the reason. No file is overwritten.

The new project file is trusted (plc trust) if all that it names is plc's own. Files that were
found may start programs: a person is asked, and --start says yes.`,
		Example: `  plc init
  plc run first-plan.json`,
		Args: wants(0, 0, "no arguments"),
		RunE: func(c *cobra.Command, _ []string) error { return env.initProject(c.Context(), start) },
	}
	c.Flags().BoolVar(&start, "start", false, "start the MCP servers that are found, to see whether they run, and trust the project file, without asking")
	return c
}

// The files that plc init writes besides the project file.
const (
	firstPlanName = "first-plan.json"
	servicesName  = "services.yaml"
)

// newFile is a file to be written.
type newFile struct {
	name string
	text []byte
}

// initProject runs plc init.
func (env *environment) initProject(ctx context.Context, start bool) error {
	found, err := findInFolder()
	if err != nil {
		return err
	}
	if err := env.addToProject(found); err != nil {
		return err
	}
	var files []newFile
	var services []byte
	if len(found.documents) > 0 {
		if services, err = env.servicesOf(found.documents, "."); err != nil {
			return err
		}
		files = append(files, newFile{servicesName, services})
		found.tools = append(found.tools, servicesName)
	}
	files = append(files, newFile{name: firstPlanName}, newFile{name: plc.ProjectName})
	for _, f := range files {
		if _, err := os.Lstat(f.name); !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("%s is there already, and is not overwritten; move it away, or edit it", f.name)
		}
	}
	kept := &plc.Toolset{MCP: found.mcp}
	for _, name := range found.tools {
		kept.Files = append(kept.Files, plc.File(name))
	}
	env.keepFiles(kept, found.documents...)
	t := &trial{env: env, services: string(services)}
	used, left, err := t.tryFound(ctx, found, start)
	if err != nil {
		return err
	}
	plan, served, called := firstPlanOf(t.checker)
	files[len(files)-2].text, files[len(files)-1].text = []byte(plan), projectText(used, left)
	for _, f := range files {
		if err := createFile(f.name, f.text); err != nil {
			return err
		}
		showf(env.stdout, "wrote %s\n", f.name)
	}
	if err := env.trustNew(ctx, t, used, start); err != nil {
		return err
	}
	for _, f := range left {
		env.hintf("%s leaves out %s: %s", plc.ProjectName, f.name, f.why)
	}
	if len(served) > 0 {
		how := display.Sprintf("%s calls %s", firstPlanName, called)
		if called == "" {
			how = display.Sprintf("%s calls none of them; the comment at its top has a call that you can add", firstPlanName)
		}
		env.hintf("the MCP servers have the tools %s; %s", display.Line(strings.Join(served, ", ")).Cut(maxReason), how)
	}
	env.hintf("plc run %s runs the first plan; plc tools lists the tools", firstPlanName)
	return nil
}

// trustNew records trust in the new project file. If that names files that were found, the user has
// to agree, unless trusted is set.
func (env *environment) trustNew(ctx context.Context, t *trial, used inFolder, trusted bool) error {
	name, p, err := env.project()
	if err != nil {
		return err
	}
	unseen := false
	for file := range used.uses() {
		unseen = unseen || !slices.Contains(t.started, file)
	}
	files := env.asKept(plc.ProjectFiles(name, p))
	if unseen && !trusted {
		if !env.canAsk() {
			env.hintf("%s names %s, which may start programs: look at it, then plc trust", plc.ProjectName, shownNames(p))
			return nil
		}
		if yes, _ := env.ask(ctx, nil, display.Sprintf("%s names %s, which may start programs. Trust it?", plc.ProjectName, shownNames(p))); !yes {
			return nil
		}
	}
	return writeTrust(name, files)
}

// addToProject returns an error if the folder has a project file. The error explains how to add the
// found files that the project file doesn't name.
func (env *environment) addToProject(found inFolder) error {
	if _, err := os.Lstat(plc.ProjectName); errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	_, p, err := env.project()
	if err != nil {
		return err
	}
	var adds []string
	for name, isMCP := range found.uses() {
		list, member := p.Tools, "tools"
		if isMCP {
			list, member = p.MCP, "mcp"
		}
		if !slices.Contains(list, name) {
			adds = append(adds, fmt.Sprintf("%s to its list %s", filepath.ToSlash(name), member))
		}
	}
	if len(adds) == 0 {
		return fmt.Errorf("%s is there already, and is not overwritten; edit it", plc.ProjectName)
	}
	return fmt.Errorf("%s is there already, and is not overwritten; add %s, and then run plc trust", plc.ProjectName, strings.Join(adds, ", "))
}

// createFile writes a new file.
func createFile(name string, text []byte) error {
	out, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("can't write %s: %w", name, err)
	}
	_, err = out.Write(text)
	return errors.Join(err, out.Close())
}

// inFolder holds the names of files in a folder that belong to a project.
type inFolder struct{ tools, mcp, documents []string }

// uses returns the files that a project file can name, and whether each is the configuration of an
// MCP client.
func (f inFolder) uses() iter.Seq2[string, bool] {
	return func(yield func(string, bool) bool) {
		for i, name := range slices.Concat(f.tools, f.mcp) {
			if !yield(name, i >= len(f.tools)) {
				return
			}
		}
	}
}

// with returns the files with one more.
func (f inFolder) with(name string, isMCP bool) inFolder {
	if isMCP {
		f.mcp = append(slices.Clone(f.mcp), name)
	} else {
		f.tools = append(slices.Clone(f.tools), name)
	}
	return f
}

// findInFolder looks for tool files, configurations of MCP clients and OpenAPI documents.
func findInFolder() (found inFolder, err error) {
	for _, name := range []string{"tools.yaml", "tools.yml", "tools.json"} {
		found.tools = append(found.tools, existing(name)...)
	}
	for _, name := range []string{".mcp.json", "mcp.json", filepath.Join(".vscode", "mcp.json"), filepath.Join(".cursor", "mcp.json")} {
		found.mcp = append(found.mcp, existing(name)...)
	}
	entries, err := os.ReadDir(".")
	if err != nil {
		return found, plc.ReadError(err)
	}
	for _, e := range entries {
		name := e.Name()
		if slices.Contains([]string{".json", ".yaml", ".yml"}, filepath.Ext(name)) && e.Type().IsRegular() && isOpenAPI(name) {
			found.documents = append(found.documents, name)
		}
	}
	return found, nil
}

// existing returns a list with the name if a file with that name exists.
func existing(name string) []string {
	if info, err := os.Stat(name); err != nil || !info.Mode().IsRegular() {
		return nil
	}
	return []string{name}
}

// isOpenAPI reports whether a file is an OpenAPI document.
func isOpenAPI(name string) bool {
	text, err := jsonscan.ReadFile(name)
	if err != nil || !bytes.Contains(text, []byte("openapi")) || !bytes.Contains(text, []byte("paths")) {
		return false
	}
	_, err = openapi.Read(text)
	return err == nil
}

// projectText returns the text of a project file, which names the left-out files in comments.
func projectText(found inFolder, left []leftOut) []byte {
	var b bytes.Buffer
	b.WriteString("# What plc uses in this folder and below: see docs/cli.md. Flags on the command line win.\n")
	list := func(name, comment string, values []string) {
		if len(values) > 0 {
			quoted := make([]string, len(values))
			for i, v := range values {
				quoted[i] = string(quote(filepath.ToSlash(v)))
			}
			fmt.Fprintf(&b, "%s: [%s] # %s\n", name, strings.Join(quoted, ", "), comment)
		}
	}
	list("tools", "math are the tools that calculate", append([]string{"math"}, found.tools...))
	const servers = "their servers are started when a plan is checked or run"
	list("mcp", servers, found.mcp)
	if len(found.mcp) == 0 {
		b.WriteString("# mcp: [.mcp.json]             # " + servers + "\n")
	}
	for _, f := range left {
		fmt.Fprintf(&b, "# plc init left out %s: %s\n", display.Line(filepath.ToSlash(f.name)), display.Line(f.why).Cut(maxLine))
	}
	b.WriteString(`# store: .plc/runs.db            # the record of runs, in place of the user's
# severities: {PLC309: error}    # how severe findings are; ignore: [PLC403] drops them
# policies: [policy.yaml]         # where information may go: plc policy init makes one
# policy: {approve: all, deny: []} # also allow, hosts, paths, as in a tool file
`)
	return b.Bytes()
}
