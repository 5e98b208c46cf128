package main

import (
	"bytes"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"unicode"

	"github.com/plc-lang/plc/internal/display"
	"github.com/plc-lang/plc/tool/openapi"
)

// servicesOf returns the part of a tool file for OpenAPI documents: their operations and effects as
// comments, and the names of variables for the secrets that they require. It uses JSON for values
// that have to stay exactly as they were. Names of documents are relative to the folder of the tool
// file.
func (env *environment) servicesOf(specs []string, folder string) ([]byte, error) {
	var b bytes.Buffer
	if len(specs) > 0 {
		b.WriteString("openapi:\n")
	}
	for _, name := range specs {
		text, err := env.readFile(name)
		if err != nil {
			return nil, err
		}
		doc, err := openapi.Read(text)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", shownName(name), err)
		}
		if err := writeService(&b, nameFrom(folder, name), doc); err != nil {
			return nil, fmt.Errorf("%s: %w", shownName(name), err)
		}
	}
	return b.Bytes(), nil
}

// nameFrom returns the name of a file relative to another folder.
func nameFrom(folder, name string) string {
	if folder == "." || filepath.IsAbs(name) {
		return name
	}
	from, err := filepath.Abs(folder)
	to, err2 := filepath.Abs(name)
	rel, err3 := filepath.Rel(from, to)
	switch {
	case err != nil || err2 != nil:
		return name
	case err3 != nil: // on another volume
		return to
	}
	return filepath.ToSlash(rel)
}

func writeService(b *bytes.Buffer, name string, doc *openapi.Document) error {
	fmt.Fprintf(b, "  - spec: %s\n", quote(name))
	tools, err := doc.Tools(openapi.Config{})
	if err != nil { // the document's server can't be used
		const nowhere = "https://server.invalid"
		if tools, err = doc.Tools(openapi.Config{Server: nowhere}); err != nil {
			return err
		}
		fmt.Fprintf(b, "    server: %s # say which it is: the document does not\n", nowhere)
	}
	writeSchemes(b, name, doc.Schemes())
	if len(tools) == 0 {
		return errors.New("it has no operations")
	}
	b.WriteString("    only: # what is left out can't be called\n")
	for _, t := range tools {
		fmt.Fprintf(b, "      # %s; %s\n      - %s\n", display.Line(t.Whole().Definition.Signature()), t.Definition.Effects.Words(), quote(t.Definition.Name))
	}
	b.WriteString("    effects: {} # where methods mislead, as in {searchPets: {readOnly: true}}\n")
	return nil
}

// writeSchemes writes the secrets that a document requires; those that are only alternatives are
// comments.
func writeSchemes(b *bytes.Buffer, file string, schemes []openapi.Scheme) {
	if len(schemes) == 0 {
		return
	}
	what := "    auth: # variables to set; {file: PATH} reads a secret from a file\n"
	if !slices.ContainsFunc(schemes, func(s openapi.Scheme) bool { return s.Used }) {
		what = "    auth: {} # no operation asks for any, but there are\n"
	}
	b.WriteString(what)
	for _, s := range schemes {
		variable, comment := variableOf(file, s.Name), ""
		if !s.Used {
			comment = "# "
		}
		if s.Basic {
			fmt.Fprintf(b, "      %s%s: {username: {env: %s_USER}, password: {env: %s_PASSWORD}}\n", comment, quote(s.Name), variable, variable)
		} else {
			fmt.Fprintf(b, "      %s%s: {env: %s}\n", comment, quote(s.Name), variable)
		}
	}
}

// variableOf returns the name of a variable for a secret of a document.
func variableOf(file, scheme string) string {
	base := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
	name := strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return unicode.ToUpper(r)
		}
		return '_'
	}, base+"_"+scheme)
	if unicode.IsDigit(rune(name[0])) {
		name = "_" + name
	}
	return name
}
