package plc

import (
	"bytes"
	"fmt"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
)

// ignoring sets the severity of findings as the Spec says, and drops unwanted ones: those with
// codes that the Spec ignores, those that a comment at their place ignores and, unless the Spec is
// Verbose, those that need no attention. It drops no errors. Its methods may be called by several
// goroutines at once.
type ignoring struct {
	codes    []diag.Code // of the Spec
	severity map[diag.Code]diag.Severity
	verbose  bool

	mu     sync.Mutex
	used   map[diag.Code]bool
	unused []string // comments that ignored nothing, with their places
}

// newIgnoring reads the codes of a Spec.
func newIgnoring(s *Spec) (*ignoring, error) {
	ig := &ignoring{verbose: s.Verbose, used: map[diag.Code]bool{}, severity: map[diag.Code]diag.Severity{}}
	for _, name := range s.Ignore {
		code, ok := diag.ParseCode(name)
		if !ok {
			return nil, &SpecError{"ignore", fmt.Sprintf("%q: it is the code of a finding, as in PLC309", name)}
		}
		ig.codes = append(ig.codes, code)
	}
	for _, said := range s.Severity {
		name, word, _ := strings.Cut(said, "=")
		code, ok := diag.ParseCode(name)
		severity, known := map[string]diag.Severity{"error": diag.Error, "warning": diag.Warning, "info": diag.Info}[word]
		if !ok || !known {
			return nil, &SpecError{"severity", fmt.Sprintf("%q: it is a code and error, warning or info, as in PLC309=error", said)}
		}
		if _, twice := ig.severity[code]; !twice { // flags come first, and win over the project
			ig.severity[code] = severity
		}
	}
	return ig, nil
}

// filter returns the findings that are not dropped. It looks at the comments in the files.
func (ig *ignoring) filter(l diag.List, files ...*diag.File) (kept diag.List) {
	ig.mu.Lock()
	defer ig.mu.Unlock()
	said := map[*diag.File][]comment{}
	for _, f := range files {
		said[f] = comments(f)
	}
	for _, f := range l {
		if f.Severity != diag.Error {
			if ig.drops(&f, said) {
				continue
			}
			if severity, ok := ig.severity[f.Code]; ok {
				f.Severity = severity
			}
		}
		kept = append(kept, f)
	}
	for _, f := range files {
		for _, c := range said[f] {
			if said := fmt.Sprintf("%s:%d: plc:ignore %s", f.Name, c.line, c.code); !c.used && !slices.Contains(ig.unused, said) {
				ig.unused = append(ig.unused, said)
			}
		}
	}
	return kept
}

func (ig *ignoring) drops(f *diag.Finding, said map[*diag.File][]comment) (drop bool) {
	if slices.Contains(ig.codes, f.Code) {
		ig.used[f.Code], drop = true, true
	}
	if at := f.Loc.Origin(); at.File != nil && !at.Span.IsZero() {
		line := at.File.Position(int(at.Span.Start)).Line
		for i := range said[at.File] {
			if c := &said[at.File][i]; c.code == f.Code && (c.line == line || c.alone && c.line == line-1) {
				c.used, drop = true, true
			}
		}
	}
	return drop || !ig.verbose && f.Severity == diag.Info && (f.Code == diag.EffectOrder || f.Code == diag.PassedOver)
}

// UnusedIgnores returns the codes that Spec.Ignore, and comments in plans and tool files, ignore
// although there was no such finding. Errors are never ignored.
func (c *Checker) UnusedIgnores() []string {
	ig := c.ignoring
	ig.mu.Lock()
	defer ig.mu.Unlock()
	all := slices.Clone(ig.unused)
	for _, code := range ig.codes {
		if !ig.used[code] {
			all = append(all, "--ignore "+code.String())
		}
	}
	return all
}

// comment is a code that a comment ignores: on its line or, if the comment is alone on its line, on
// the next one.
type comment struct {
	code  diag.Code
	line  int
	alone bool
	used  bool
}

// Comments that ignore codes: // plc:ignore PLC309, PLC403 and in YAML # plc:ignore PLC309.
var (
	ignoreMark = regexp.MustCompile(`^\s*plc:ignore((?:[ \t,]+PLC\d{3}\b)+)`)
	yamlMark   = regexp.MustCompile(`(?m)(?:^|[ \t])#`)
)

// comments returns the codes that comments in a file ignore.
func comments(f *diag.File) (all []comment) {
	if !bytes.Contains(f.Text, []byte("plc:ignore")) {
		return nil
	}
	for _, start := range commentStarts(f) {
		m := ignoreMark.FindSubmatch(f.Text[start:])
		if m == nil {
			continue
		}
		begin := bytes.LastIndexByte(f.Text[:start], '\n') + 1
		for _, name := range strings.FieldsFunc(string(m[1]), func(r rune) bool { return strings.ContainsRune(" \t,", r) }) {
			if code, ok := diag.ParseCode(name); ok {
				alone := len(bytes.Trim(f.Text[begin:start], " \t/*#")) == 0
				all = append(all, comment{code: code, line: f.Position(start).Line, alone: alone})
			}
		}
	}
	return all
}

// commentStarts returns the offsets at which the texts of comments begin.
func commentStarts(f *diag.File) (starts []int) {
	if ext := strings.ToLower(path.Ext(f.Name)); ext == ".yaml" || ext == ".yml" {
		for _, m := range yamlMark.FindAllIndex(f.Text, -1) {
			starts = append(starts, m[1])
		}
		return starts
	}
	lex := jsonscan.Lexer{Text: f.Text, Comments: true}
	for end := 0; ; end = lex.Pos {
		tok := lex.Next()
		for gap := end; gap+1 < lex.Start; gap++ { // white space and comments
			switch string(f.Text[gap : gap+2]) {
			case "//":
				starts = append(starts, gap+2)
				gap += max(0, bytes.IndexByte(append(f.Text[gap:lex.Start:lex.Start], '\n'), '\n'))
			case "/*":
				starts = append(starts, gap+2)
				gap += 2 + max(0, bytes.Index(f.Text[gap+2:lex.Start], []byte("*/"))) + 1
			}
		}
		if tok == jsonscan.EOF {
			return starts
		}
	}
}
