package lang

import (
	"bytes"
	"path"
	"slices"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/lazyregexp"
)

// maxYAML is the maximum size of a plan in YAML in bytes; reading it takes about 50 times as much
// memory.
const maxYAML = 4 << 20

// isYAML reports whether a plan is written in YAML: by the name of its file, or else by its text.
func isYAML(file *diag.File, opts *Options) bool {
	if opts == nil || opts.YAML == nil || opts.Translation != nil {
		return false
	}
	ending := strings.ToLower(path.Ext(file.Name))
	return ending == ".yaml" || ending == ".yml" || looksLikeYAML(file.Text)
}

// startOfYAML matches the beginning of a plan in YAML up to its first line that is not a comment:
// an element of a list, a member, or the start of a document.
var startOfYAML = lazyregexp.New(`^\x{feff}?(?:[ \t]*(?:#.*)?\r?\n)*(?:---|-[ \t\r\n]|["']?\w+["']?:[ \t\r\n])`)

// looksLikeYAML reports whether a text looks like a plan in YAML, and not like another notation
// with its own reader.
func looksLikeYAML(text []byte) bool {
	text = text[:min(len(text), 64<<10)]
	return startOfYAML.Match(text) && yamlLine.Match(text) && !arazzoLine.Match(text)
}

// yaml reads a document in YAML.
func (p *parser) yaml(as func(*diag.File, int) (*diag.File, *diag.Finding)) {
	p.doc.yaml = true
	if len(p.file.Text) > maxYAML {
		p.errorf(diag.Span{}, diag.OverLimit, "the text has %d bytes, more than %d, which is the most for YAML; write the plan in JSON", len(p.file.Text), maxYAML)
		return
	}
	file, fault := as(p.file, p.limits.MaxDepth)
	if fault != nil {
		f := p.errorf(fault.Loc.Span, fault.Code, "%s", fault.Message)
		f.Related = fault.Related
		if fault.Code == diag.NotJSON && bytes.Contains(p.lineOf(fault.Loc.Span), []byte(dagger)) {
			f.Message += "; a text with \": \", \" #\" or, inside of brackets, a †{…} has to be in quotes"
		}
		return
	}
	p.file = file
	p.doc.File = file
	p.findings = newFindings(file)
	p.text()
}

// lineOf returns the line of a place and the line before it, since YAML errors are noticed late.
func (p *parser) lineOf(at diag.Span) []byte {
	lines := slices.Collect(bytes.Lines(p.file.Text[:at.Start]))
	before := lines[max(0, len(lines)-2):]
	rest, _, _ := bytes.Cut(p.file.Text[at.Start:], []byte("\n"))
	return append(bytes.Join(before, nil), rest...)
}
