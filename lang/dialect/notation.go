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
	// Read reads the plan in b's file and writes it with b. The text is UTF-8 and of bounded size;
	// nothing else is guaranteed.
	Read func(b *Builder)
	// Write returns a plan in this notation, or findings about parts that it can't express. It is
	// nil if there is no writer.
	Write func(doc *lang.Document) ([]byte, diag.List)
	// Catalogue reads the tools in b's file, in the notation's form, and writes them as a tool file
	// with b. It is nil if the notation has no form for tools.
	Catalogue func(b *Builder)
	// Fields are the members of a JSON record of a data set that may contain the text of a plan;
	// the first that exists is used. A notation in JSON has none, since it reads its records
	// itself.
	Fields []string
	// Defines says that a plan may define all the tools that it calls; if it does, a call of
	// another tool is an error.
	Defines bool
	// Tools says that the notation has tools of its own (such as tool/math), so that its plans need
	// no tool file.
	Tools bool
}

// StepTool is the built-in tool for steps that call no tool: its param description says what to do.
const StepTool = "step"

// Options says how a plan is read. The zero value is the default.
type Options struct {
	// Params returns the params of a tool in the order in which a call may give them without names;
	// false if the tool is not known. It may be nil.
	Params func(tool string) ([]string, bool)

	// Results returns the members of a tool's result, in their order; false if they are not known.
	// It may be nil.
	Results func(tool string) ([]string, bool)

	// Kinds returns the kinds of a tool's params and results, such as "text" and "audio", from
	// x-kinds in its definition; nil if they are not known. It may be nil.
	Kinds func(tool string) (takes, gives []string)

	MaxBytes int // the size of the text; 0 is 64 MiB
	MaxDepth int // of nesting; 0 is 256
	MaxCalls int // of the plan; 0 is 1,000,000
}

func (o *Options) lang() *lang.Options {
	return &lang.Options{MaxBytes: o.MaxBytes, MaxDepth: o.MaxDepth, MaxCalls: o.MaxCalls}
}

// Parse reads a plan. Like lang.Parse it never returns nil: besides the findings, whose places are
// in file, it returns everything that could be read. A nil opts is the default.
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
	lo.MaxBytes = max(lo.MaxBytes, 2*jsonscan.DefaultMaxBytes, 8*len(b.out)) // the size of the original was checked
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

// read reads a plan. It turns a panic into a finding (PLC901) and an empty plan.
func (n *Notation) read(b *Builder) {
	defer func() {
		if p := recover(); p != nil {
			b.out, b.pieces, b.open, b.beside = nil, nil, nil, nil
			b.found = append(b.found, diag.Panic(b.File, p))
		}
	}()
	n.Read(b)
}

// inRecord returns a Builder for the text of the plan in a record, or for file itself if that is
// not a record. A list of strings, in JSON or as Python prints it, is a text with a line for each.
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

// listed returns a Builder for a text that is a list of strings, with a line for each; nil if the
// text is not such a list.
func listed(file *diag.File, opts *Options) *Builder {
	if !bytes.HasPrefix(bytes.TrimLeft(file.Text, "\ufeff \t\r\n"), []byte("[")) {
		return nil
	}
	in := opts.lang()
	in.Answer = true // accept quotes as in Python
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

// ToolFile reads tools in the notation's form, and returns them as a file that tool/file reads. The
// findings are about the original.
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

// acceptable reports texts that no notation accepts.
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

// Start returns the start of the text, after a byte order mark.
func (b *Builder) Start() int {
	if bytes.HasPrefix(b.File.Text, []byte("\ufeff")) {
		return len("\ufeff")
	}
	return 0
}
