package main

import (
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// entry holds the parsed comment of a code.
type entry struct {
	Name     string
	Number   int
	Severity string // Error, Warning or Info
	Summary  string // "A call without _tool."
	Meaning  string // paragraphs, each on one line
	Args     []string
	Files    []file
	Cure     string
}

// file is a file of an example.
type file struct{ Name, Text string }

// ID returns the code in the form in which it is shown.
func (e *entry) ID() string { return fmt.Sprintf("PLC%03d", e.Number) }

// parse reads the codes of a Go file, in the order of their numbers. The error names every comment
// that doesn't have the required form.
func parse(src []byte) ([]*entry, error) {
	tree, err := parser.ParseFile(token.NewFileSet(), "codes.go", src, parser.ParseComments)
	if err != nil {
		return nil, err
	}
	var entries []*entry
	var errs []error
	for _, spec := range codeSpecs(tree) {
		e, err := parseSpec(spec)
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", spec.Names[0].Name, err))
			continue
		}
		entries = append(entries, e)
	}
	for i, e := range entries {
		if i > 0 && e.Number <= entries[i-1].Number {
			errs = append(errs, fmt.Errorf("%s: its number is not above that of %s", e.Name, entries[i-1].Name))
		}
	}
	return entries, errors.Join(errs...)
}

// codeSpecs returns the declarations of constants of type Code.
func codeSpecs(tree *ast.File) []*ast.ValueSpec {
	var specs []*ast.ValueSpec
	for _, d := range tree.Decls {
		g, ok := d.(*ast.GenDecl)
		if !ok || g.Tok != token.CONST {
			continue
		}
		for _, s := range g.Specs {
			v := s.(*ast.ValueSpec)
			if t, ok := v.Type.(*ast.Ident); ok && t.Name == "Code" {
				specs = append(specs, v)
			}
		}
	}
	return specs
}

func parseSpec(spec *ast.ValueSpec) (*entry, error) {
	e := &entry{Name: spec.Names[0].Name}
	lit, ok := spec.Values[0].(*ast.BasicLit)
	if !ok {
		return nil, errors.New("its value is not a number")
	}
	var err error
	if e.Number, err = strconv.Atoi(lit.Value); err != nil {
		return nil, err
	}
	if before, cure, ok := strings.Cut(spec.Doc.Text(), "\nExample: none\n\nCure: "); ok {
		e.Cure = sentence(unwrap(cure))
		return e, e.setText(before)
	}
	before, rest, ok := strings.Cut(spec.Doc.Text(), "\nExample:\n")
	if !ok {
		return nil, errors.New("the comment has no Example")
	}
	example, cure, ok := strings.Cut(rest, "\nCure: ")
	if !ok {
		return nil, errors.New("the comment has no Cure after its example")
	}
	e.Cure = sentence(unwrap(cure))
	if err := e.setText(before); err != nil {
		return nil, err
	}
	return e, e.setExample(example)
}

// setText reads the first sentence of the comment and the paragraphs after it.
func (e *entry) setText(text string) error {
	first, rest, _ := strings.Cut(text, "\n\n")
	summary, ok := strings.CutPrefix(unwrap(first), e.Name+" is ")
	if !ok {
		return fmt.Errorf("the comment does not begin with %q", e.Name+" is")
	}
	e.Severity = "Error"
	for _, s := range []string{"Warning", "Info"} {
		if head, ok := strings.CutSuffix(summary, " ("+strings.ToLower(s)+")."); ok {
			e.Severity, summary = s, head+"."
		}
	}
	if !strings.HasSuffix(summary, ".") {
		return errors.New("the first paragraph does not end with a full stop")
	}
	e.Summary = sentence(summary)
	var paragraphs []string
	for p := range strings.SplitSeq(strings.TrimSpace(rest), "\n\n") {
		paragraphs = append(paragraphs, unwrap(p))
	}
	e.Meaning = strings.Join(paragraphs, "\n\n")
	if e.Meaning == "" {
		return errors.New("the comment has no paragraph that says what it means")
	}
	return nil
}

// setExample reads the files of an example, and the arguments that check it.
func (e *entry) setExample(text string) error {
	for line := range strings.Lines(strings.Trim(text, "\n")) {
		line = strings.TrimPrefix(line, "\t")
		if name, ok := strings.CutPrefix(line, "-- "); ok {
			e.Files = append(e.Files, file{Name: strings.TrimSuffix(strings.TrimSpace(name), " --")})
			continue
		}
		if len(e.Files) == 0 {
			return errors.New(`the example does not begin with "-- name --"`)
		}
		e.Files[len(e.Files)-1].Text += line
	}
	for i := range e.Files {
		e.Files[i].Text = strings.TrimRight(e.Files[i].Text, "\n") + "\n"
	}
	e.Args = []string{"check", "plan.json"}
	if e.has("tools.yaml") {
		e.Args = append(e.Args, "--tools", "tools.yaml")
	}
	if e.has("args") {
		if e.Files[0].Name != "args" {
			return errors.New("args is not the first file of the example")
		}
		e.Args = strings.Fields(e.Files[0].Text)
		e.Files = e.Files[1:]
	}
	if len(e.Args) < 2 || !e.has(e.Args[1]) {
		return fmt.Errorf("the example has no file for %q", "plc "+strings.Join(e.Args, " "))
	}
	return nil
}

func (e *entry) has(name string) bool {
	return slices.ContainsFunc(e.Files, func(f file) bool { return f.Name == name })
}

// unwrap returns a paragraph on one line.
func unwrap(s string) string { return strings.Join(strings.Fields(s), " ") }

// sentence returns s with a capital first letter.
func sentence(s string) string {
	r, size := utf8.DecodeRuneInString(s)
	return string(unicode.ToUpper(r)) + s[size:]
}
