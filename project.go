package plc

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/internal/links"
	"github.com/plc-lang/plc/tool/file"
	"github.com/plc-lang/plc/tool/math"
)

// ProjectName is the name of the file of a project.
const ProjectName = "plc.yaml"

// FindProject returns the name of the project file in a folder or in the closest folder above it
// that has one; "" if there is none.
func FindProject(folder string) (string, error) {
	folder, err := filepath.Abs(folder)
	for above := ""; err == nil && folder != above; above, folder = folder, filepath.Dir(folder) {
		name := filepath.Join(folder, ProjectName)
		info, err := os.Stat(name)
		switch {
		case err == nil && info.Mode().IsRegular():
			return name, nil
		case err != nil && !errors.Is(err, fs.ErrNotExist):
			return "", ReadError(err)
		}
	}
	return "", err
}

// ReadProject reads the file of a project. The names of files in it are relative to its folder;
// those that are returned are relative to the current folder. It returns an error if the file can't
// be read; what is wrong in it is in the findings.
func ReadProject(name string) (*file.Project, diag.List, error) {
	text, err := jsonscan.ReadFile(name)
	if err != nil {
		return nil, nil, ReadError(err)
	}
	p, findings := file.ReadProject(diag.NewFile(name, text))
	folder := filepath.Dir(name)
	fromHere, err := relativeTo(folder)
	if err != nil {
		return nil, nil, err
	}
	var outside error
	resolve := func(name *string) {
		if *name == "" || filepath.IsAbs(*name) {
			return
		}
		outside = errors.Join(outside, staysInside(folder, filepath.Join(folder, *name)))
		*name = filepath.Join(fromHere, *name)
		if *name == "-" || *name == math.Name { // here it is the name of a file
			*name = "." + string(filepath.Separator) + *name
		}
	}
	for i := range p.Tools {
		if p.Tools[i] != math.Name {
			resolve(&p.Tools[i])
		}
	}
	for i := range p.MCP {
		resolve(&p.MCP[i])
	}
	for i := range p.Policies {
		resolve(&p.Policies[i])
	}
	resolve(&p.Lock)
	if p.Store != "none" && !file.IsStoreURL(p.Store) {
		resolve(&p.Store)
	}
	if findings.HasErrors() { // the findings say it better
		outside = nil
	}
	return p, findings, outside
}

// relativeTo returns the path of a folder relative to the current one, or its whole path if there
// is no relative one. It resolves links in both first: .. leads out of what a link points to.
func relativeTo(folder string) (string, error) {
	here, err := filepath.Abs(".")
	if err == nil {
		here, err = filepath.EvalSymlinks(here)
	}
	if err == nil {
		folder, err = filepath.EvalSymlinks(folder)
	}
	if err != nil {
		return "", ReadError(err)
	}
	if relative, err := filepath.Rel(here, folder); err == nil {
		return relative, nil
	}
	return folder, nil
}

// staysInside returns an error if a link leads from the name of a file in a project to a file
// outside its folder.
func staysInside(folder, name string) error {
	at, err := links.Outside(folder, name)
	if err == nil && at != "" {
		err = fmt.Errorf("%s names %s, where a link leads out of its folder, to %s: copy the file into the folder, or name it on the command line", ProjectName, name, at)
	}
	return ReadError(err)
}

// ProjectPolicy returns the part of a project's policy for which a Spec has no setting, as a tool
// file for Toolset.Files.
func ProjectPolicy(p *file.Project) []Source {
	if p.Policy == nil {
		return nil
	}
	return []Source{{Name: ProjectName + " policy", Text: `{"policy": ` + string(p.Policy) + "}"}}
}

// A ProjectFile is a file that trust in a project covers.
type ProjectFile struct {
	Name string // as ReadProject returns it
	Text []byte // nil if it can't be read
}

// ProjectFiles returns a project file, with the text from which p was read, the files that it
// names, the OpenAPI documents that those name and, unless p names a lock, the locks that are found
// next to its tool files and configurations, each once. Trust in the project covers all of them.
func ProjectFiles(name string, p *file.Project) (all []ProjectFile) {
	add := func(name string) []byte {
		if i := slices.IndexFunc(all, func(f ProjectFile) bool { return f.Name == name }); i >= 0 {
			return all[i].Text
		}
		text, _ := jsonscan.ReadFile(name)
		all = append(all, ProjectFile{name, text})
		return text
	}
	all = append(all, ProjectFile{name, p.Text})
	named := slices.DeleteFunc(slices.Clone(p.Tools), func(name string) bool { return name == math.Name })
	for _, tools := range named {
		f, _ := file.Read(diag.NewFile(tools, add(tools)))
		for _, document := range f.Documents() {
			add(File(tools).beside(document))
		}
	}
	for _, other := range slices.Concat(p.MCP, p.Policies) {
		add(other)
	}
	if p.Lock != "" {
		add(p.Lock)
		return all
	}
	for _, f := range slices.Concat(named, p.MCP) {
		lock := filepath.Join(filepath.Dir(f), LockName)
		if _, err := os.Stat(lock); !errors.Is(err, fs.ErrNotExist) {
			add(lock)
		}
	}
	return all
}

// ProjectDigest returns a SHA-256, in hexadecimal, of the files of ProjectFiles.
func ProjectDigest(files []ProjectFile) string {
	sum := sha256.New()
	for _, f := range files {
		fmt.Fprintf(sum, "%q %d\n%s", filepath.Base(f.Name), len(f.Text), f.Text)
	}
	return hex.EncodeToString(sum.Sum(nil))
}
