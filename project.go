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

// FindProject returns the name of the project file that is in a folder or in the next one
// above it that has one; "" is none.
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

// ReadProject reads the file of a project. The names of files in it are relative to its
// folder; those that it returns are relative to the current folder. The error is about a
// file that can't be read; what is wrong in it is in the findings.
func ReadProject(name string) (*file.Project, diag.List, error) {
	text, err := jsonscan.ReadFile(name)
	if err != nil {
		return nil, nil, ReadError(err)
	}
	p, findings := file.ReadProject(diag.NewFile(name, text))
	here, err := os.Getwd()
	if err != nil {
		return nil, nil, err
	}
	var outside error
	resolve := func(name *string, folder string) {
		if *name == "" || filepath.IsAbs(*name) {
			return
		}
		*name = filepath.Join(folder, *name)
		outside = errors.Join(outside, staysInside(folder, *name))
		if relative, err := filepath.Rel(here, *name); err == nil {
			*name = relative
		}
		if *name == "-" || *name == math.Name { // it is a file
			*name = "." + string(filepath.Separator) + *name
		}
	}
	folder := filepath.Dir(name)
	for i := range p.Tools {
		if p.Tools[i] != math.Name {
			resolve(&p.Tools[i], folder)
		}
	}
	for i := range p.MCP {
		resolve(&p.MCP[i], folder)
	}
	for i := range p.Policies {
		resolve(&p.Policies[i], folder)
	}
	resolve(&p.Lock, folder)
	if p.Store != "none" && !file.IsStoreURL(p.Store) {
		resolve(&p.Store, folder)
	}
	if findings.HasErrors() { // which say it better
		outside = nil
	}
	return p, findings, outside
}

// staysInside returns an error for a file that a project names and that a link leads out of its
// folder.
func staysInside(folder, name string) error {
	at, err := links.Outside(folder, name)
	if err == nil && at != "" {
		err = fmt.Errorf("%s names %s, where a link leads out of its folder, to %s: copy the file into the folder, or name it on the command line", ProjectName, name, at)
	}
	return ReadError(err)
}

// ProjectPolicy returns the part of a project's policy that has no setting in a Spec of its own, as
// a tool file for Toolset.Files, which may hold none.
func ProjectPolicy(p *file.Project) []Source {
	if p.Policy == nil {
		return nil
	}
	return []Source{{Name: ProjectName + " policy", Text: `{"policy": ` + string(p.Policy) + "}"}}
}

// A ProjectFile is a file that trust in a project covers.
type ProjectFile struct {
	Name string // as ReadProject gives it
	Text []byte // nil if it can't be read
}

// ProjectFiles returns a project file with the text from which p was read, the files that it names
// and the OpenAPI documents that these name. Trust in the project covers all of them.
func ProjectFiles(name string, p *file.Project) (all []ProjectFile) {
	add := func(name string) []byte {
		text, _ := jsonscan.ReadFile(name)
		if name == math.Name {
			text = nil
		}
		all = append(all, ProjectFile{name, text})
		return text
	}
	all = append(all, ProjectFile{name, p.Text})
	for _, tools := range p.Tools {
		f, _ := file.Read(diag.NewFile(tools, add(tools)))
		for _, document := range f.Documents() {
			add(File(tools).beside(document))
		}
	}
	for _, other := range slices.Concat(p.MCP, p.Policies, []string{p.Lock}) {
		add(other)
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
