package diag

import (
	"fmt"
	"strconv"
	"strings"
)

// Page is the explanation of a code that plc explain shows.
type Page struct {
	Code     Code
	Name     string        // of the constant: "NothingThere"
	Severity Severity      // of its findings
	Summary  string        // one sentence
	Meaning  string        // paragraphs of one line each, with empty lines between them
	Args     []string      // arguments of plc that produce the finding: check plan.json; nil without an example
	Files    []ExampleFile // a plan that has the finding, and the files that it needs; nil if no plan can have it
	Cure     string
}

// ExampleFile is a file of a page's example.
type ExampleFile struct{ Name, Text string }

// Explain returns the page of a code, and false if there is no such code. Each call makes a new
// Page, which the caller may change.
func Explain(c Code) (Page, bool) { return c.page() }

// ParseCode reads a code in any form that people use: PLC302, plc302 or 302. It reports false if
// there is no code with that number.
func ParseCode(s string) (Code, bool) {
	if len(s) > 3 && strings.EqualFold(s[:3], "PLC") {
		s = s[3:]
	}
	n, err := strconv.ParseUint(s, 10, 16)
	if err != nil {
		return 0, false
	}
	_, ok := Code(n).page()
	return Code(n), ok
}

// Text returns the page for a terminal. Lines have at most 80 columns, except in examples.
func (p Page) Text() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s (%s)\n\n%s\n\n", p.Code, p.Name, p.Severity, wrap(p.Summary, 80))
	for paragraph := range strings.SplitSeq(p.Meaning, "\n\n") {
		fmt.Fprintf(&b, "%s\n\n", wrap(paragraph, 80))
	}
	if len(p.Files) > 0 {
		b.WriteString("Example:\n\n")
	}
	for _, f := range p.Files {
		fmt.Fprintf(&b, "    %s\n", f.Name)
		for line := range strings.Lines(f.Text) {
			b.WriteString("        " + line)
		}
		b.WriteByte('\n')
	}
	if len(p.Args) > 0 {
		fmt.Fprintf(&b, "    $ plc %s\n\n", strings.Join(p.Args, " "))
	}
	b.WriteString(wrap("Cure: "+p.Cure, 80) + "\n")
	return b.String()
}

// wrap breaks s between words into lines of at most limit characters, unless a word is longer.
func wrap(s string, limit int) string {
	var b strings.Builder
	column := 0
	for word := range strings.FieldsSeq(s) {
		n := len([]rune(word))
		switch {
		case column == 0:
		case column+1+n > limit:
			b.WriteByte('\n')
			column = 0
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(word)
		column += n
	}
	return b.String()
}
