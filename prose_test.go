package plc_test

import (
	"go/ast"
	"go/token"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// What a machine can see of plain English: how long a line is, how the comment of a function
// begins, and words of the style that the first pages were written in. The rest is for people.

// widest is how many columns a line of prose has at most; a tab counts 4.
const widest = 100

// oldWords are words that nobody says.
var oldWords = regexp.MustCompile(`(?i)\b(anew|likewise|did you mean it by|becomes? of|tells of|in its stead|that which|what says)\b`)

// riddle matches the opening of a comment that does not say what its subject is or does.
var riddle = regexp.MustCompile(`^\S+ (is|are|was|were|tells) (what|who|which|how)\b`)

// codeSpan is code in a line of a page, which nothing can break.
var codeSpan = regexp.MustCompile("`[^`]*(`|$)")

func TestComments(t *testing.T) {
	for _, f := range sourceFiles(t) {
		if f.test {
			continue
		}
		for _, group := range f.ast.Comments {
			for _, c := range group.List {
				f.comment(t, c)
			}
		}
		ast.Inspect(f.ast, func(n ast.Node) bool {
			switch n := n.(type) {
			case *ast.BasicLit:
				if word := oldWords.FindString(n.Value); n.Kind == token.STRING && word != "" {
					t.Errorf("%s: %q; say it plainly", f.set.Position(n.Pos()), word)
				}
			case *ast.GenDecl:
				f.opening(t, n.Doc)
			case *ast.TypeSpec:
				f.opening(t, n.Doc)
			case *ast.ValueSpec:
				f.opening(t, n.Doc)
			case *ast.Field:
				f.opening(t, n.Doc)
			case *ast.FuncDecl:
				f.opening(t, n.Doc)
				if n.Doc == nil {
					return true
				}
				words := strings.Fields(n.Doc.Text())
				if len(words) > 1 && words[0] == n.Name.Name && slices.Contains([]string{"is", "are", "was"}, words[1]) {
					t.Errorf("%s: the comment of a function says what it does, not what it is: %s %s …", f.at(n), words[0], words[1])
				}
			}
			return true
		})
	}
}

// opening refuses comments that begin with a riddle: "X is what …" for "X holds …".
func (f *sourceFile) opening(t *testing.T, doc *ast.CommentGroup) {
	if doc == nil || !riddle.MatchString(doc.Text()) {
		return
	}
	first, _, _ := strings.Cut(doc.Text(), "\n")
	t.Errorf("%s: say at once what it is or does, not what it is about: %s", f.at(doc), first)
}

// comment checks the width and the words of a comment.
func (f *sourceFile) comment(t *testing.T, c *ast.Comment) {
	at := f.set.Position(c.Pos())
	for i, line := range strings.Split(c.Text, "\n") {
		from := 0
		if i == 0 {
			from = at.Column - 1
		}
		prose := strings.HasPrefix(line, "// ") && from == indentation(f, at.Line)
		if prose && columns(line)+4*from > widest && !strings.Contains(line, "://") {
			t.Errorf("%s: a line of %d columns; prose has at most %d", at, columns(line)+4*from, widest)
		}
		if word := oldWords.FindString(line); word != "" {
			t.Errorf("%s: %q; say it plainly", at, word)
		}
	}
}

// indentation returns how many tabs a line begins with, -1 for one that begins otherwise.
func indentation(f *sourceFile, line int) int {
	if f.lines == nil {
		text, err := os.ReadFile(f.name)
		if err != nil {
			panic(err)
		}
		f.lines = strings.Split(string(text), "\n")
	}
	text := f.lines[line-1]
	tabs := len(text) - len(strings.TrimLeft(text, "\t"))
	if !strings.HasPrefix(text[tabs:], "//") {
		return -1
	}
	return tabs
}

// columns returns how wide a line is.
func columns(line string) int {
	return utf8.RuneCountInString(line) + 3*strings.Count(line, "\t")
}

// Pages are as narrow as comments, but for their tables, their code and what is generated.
func TestPagesAreNarrow(t *testing.T) {
	for _, name := range markdown(t) {
		if name = filepath.ToSlash(name); strings.HasPrefix(name, "docs/codes/") || name == "docs/benchmarks.md" {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		fenced := false
		for i, line := range strings.Split(string(text), "\n") {
			trimmed := strings.TrimSpace(line)
			if strings.HasPrefix(trimmed, "```") {
				fenced = !fenced
			}
			line = codeSpan.ReplaceAllString(line, "")
			if word := oldWords.FindString(line); word != "" && !fenced {
				t.Errorf("%s:%d: %q; say it plainly", name, i+1, word)
			}
			if !fenced && columns(line) > widest && strings.Contains(trimmed, " ") && !strings.HasPrefix(trimmed, "|") && !strings.Contains(line, "](") {
				t.Errorf("%s:%d: a line of %d columns; prose has at most %d", name, i+1, columns(line), widest)
			}
		}
	}
}

func markdown(t *testing.T) (names []string) {
	t.Helper()
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/*/*.md", "examples/*/*.md"} {
		found, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		names = append(names, found...)
	}
	return names
}
