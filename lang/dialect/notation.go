package dialect

import (
	"bytes"
	"cmp"
	"unicode/utf8"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
	"github.com/plc-lang/plc/lang"
)

// Notation is another way to write plans.
type Notation struct {
	Name string // as --from has it
	What string // "an LLMCompiler plan"
	// Read writes the plan in b's file with b. It is given text in UTF-8 and of a
	// bounded size, and nothing else can be relied on.
	Read func(b *Builder)
	// Write is a plan in this notation, or what can't be said in it as findings; nil
	// when no writer is there.
	Write func(doc *lang.Document) ([]byte, diag.List)
	// Catalogue writes the tools in b's file, in the form that the notation has for them,
	// as a tool file with b; nil when the notation has none.
	Catalogue func(b *Builder)
	// Fields are the members of a record in JSON, as data sets have them, that may hold the
	// text of a plan; the first that is there does. A notation in JSON reads its records
	// itself, and has none.
	Fields []string
	// Defines reports that a plan may bring along all the tools that it calls, so that one that
	// does and calls another has a fault.
	Defines bool
	// Tools reports that the notation comes with tools of its own (tool/math and the
	// like), and a plan in it needs no tool file.
	Tools bool
}

// StepTool is the built-in tool of steps that call none: its description, in words, is what
// there is to do.
const StepTool = "step"

// Options say how a plan is read. The zero value is the default.
type Options struct {
	// Params are the params of a tool in the order in which a call may give them
	// without their names; false when the tool is not known. It may be nil.
	Params func(tool string) ([]string, bool)

	// Results are the members of what a tool gives, in their order; false when they are
	// not known. It may be nil.
	Results func(tool string) ([]string, bool)

	// Kinds are the kinds of what a tool takes and of what it gives, such as "text" and
	// "audio", as its definition has them in x-kinds; nil when they are not known. It may
	// be nil.
	Kinds func(tool string) (takes, gives []string)

	MaxBytes int // the size of the text; 0 is 64 MiB
	MaxDepth int // of nesting; 0 is 256
	MaxCalls int // of the plan; 0 is 1,000,000
}

func (o *Options) lang() *lang.Options {
	return &lang.Options{MaxBytes: o.MaxBytes, MaxDepth: o.MaxDepth, MaxCalls: o.MaxCalls}
}

// Parse reads a plan. Like lang.Parse it never returns nil, and what could be read is
// there beside the findings, whose places are in file. A nil opts is the default.
func (n *Notation) Parse(file *diag.File, opts *Options) (*lang.Document, diag.List) {
	if opts == nil {
		opts = &Options{}
	}
	b := n.inRecord(file, opts)
	if b.acceptable() {
		n.read(b)
	}
	if len(b.out) == 0 {
		b.out = append(b.out, "[]"...)
	}
	b.report.finish()
	lo := opts.lang()
	lo.MaxBytes = max(lo.MaxBytes, 2*jsonscan.DefaultMaxBytes, 8*len(b.out)) // the original was measured
	lo.Translation = &lang.Translation{Findings: b.found, Profile: b.Profile, Envelopes: b.Envelopes}
	doc, found := lang.Parse(diag.NewDerived(b.out, file, b.pieces), lo)
	for _, file := range b.beside {
		lo.MaxBytes = max(lo.MaxBytes, 8*len(file.Text))
		lo.Translation = &lang.Translation{Profile: b.Profile}
		other, more := lang.Parse(file, lo)
		doc.Beside, found = append(doc.Beside, other), append(found, more...)
	}
	found.Sort()
	b.attribute(doc, found)
	return doc, found
}

// read reads a plan; a panic is a finding (PLC901), and nothing was read.
func (n *Notation) read(b *Builder) {
	defer func() {
		if p := recover(); p != nil {
			b.out, b.pieces, b.open, b.beside = nil, nil, nil, nil
			b.found = append(b.found, diag.Panic(b.File, p))
		}
	}()
	n.Read(b)
}

// inRecord returns a Builder for the text of the plan in a record; for file itself if it is none. A
// list of strings, in JSON or as Python prints it, is a text with a line for each.
func (n *Notation) inRecord(file *diag.File, opts *Options) *Builder {
	whole := newBuilder(file, opts)
	if len(n.Fields) == 0 {
		return whole
	}
	if b := listed(file, opts); b != nil {
		return b
	}
	if !bytes.HasPrefix(bytes.TrimLeft(file.Text, "\ufeff \t\r\n"), []byte("{")) {
		return whole
	}
	record, found := lang.ReadValue(file, opts.lang())
	if found.HasErrors() {
		return whole
	}
	for _, name := range n.Fields {
		m, ok := record.Member(name)
		if !ok {
			continue
		}
		var b *Builder
		if text := m.Value.Inner(); text != nil {
			b = cmp.Or(listed(text, opts), newBuilder(text, opts))
		} else if lines, items := m.Value.InnerLines(); lines != nil {
			b = newBuilder(lines, opts)
			b.Items = items
		}
		if b != nil {
			b.Record = record
			return b
		}
	}
	return whole
}

// listed returns a Builder for a text that is a list of strings, with a line for each; nil if it is
// none.
func listed(file *diag.File, opts *Options) *Builder {
	if !bytes.HasPrefix(bytes.TrimLeft(file.Text, "\ufeff \t\r\n"), []byte("[")) {
		return nil
	}
	in := opts.lang()
	in.Answer = true // quotes as in Python
	list, found := lang.ReadValue(file, in)
	if found.HasErrors() {
		return nil
	}
	lines, items := list.InnerLines()
	if lines == nil {
		return nil
	}
	b := newBuilder(lines, opts)
	b.Items = items
	return b
}

// ToolFile reads tools in the form that the notation has for them, and gives the same as a
// file that tool/file reads. The findings are those of the original.
func (n *Notation) ToolFile(file *diag.File, opts *Options) (*diag.File, diag.List) {
	if opts == nil {
		opts = &Options{}
	}
	b := newBuilder(file, opts)
	if b.acceptable() {
		n.Catalogue(b)
	}
	if len(b.out) == 0 {
		b.out = append(b.out, "{}"...)
	}
	b.report.finish()
	b.found.Sort()
	return diag.NewDerived(b.out, file, b.pieces), b.found
}

// acceptable reports what no notation takes.
func (b *Builder) acceptable() bool {
	limit := jsonscan.Limits{MaxBytes: b.Options.MaxBytes}.OrDefault().MaxBytes
	if len(b.File.Text) > limit {
		b.Errorf(diag.Span{}, diag.OverLimit, "the text has %d bytes, more than %d", len(b.File.Text), limit)
		return false
	}
	if utf8.Valid(b.File.Text) {
		return true
	}
	for i := 0; i < len(b.File.Text); {
		r, size := utf8.DecodeRune(b.File.Text[i:])
		if r == utf8.RuneError && size == 1 {
			b.Errorf(diag.Span{Start: int32(i), End: int32(i + 1)}, diag.BadNotation, "the text is not UTF-8 here")
			break
		}
		i += size
	}
	return false
}

// Start returns where the text begins, after a byte order mark.
func (b *Builder) Start() int {
	if bytes.HasPrefix(b.File.Text, []byte("\ufeff")) {
		return len("\ufeff")
	}
	return 0
}
