package lang

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
)

// Options says how a document is read. The zero value is the default.
type Options struct {
	// Answer reads a model's raw answer (--from llm): the first plan in prose or a code fence, but
	// not before a </think>. Repairs are reported as diag.Mended; no value, no end of a string and
	// no end of a call is ever invented.
	Answer bool
	// Model says that a model wrote the plan: a bare dagger in a text is an error. Answer implies
	// it.
	Model bool

	// Translation is set if the text was made from a plan in another notation.
	Translation *Translation

	// YAML converts a file in YAML to one in JSON that is derived from it, like yaml.Read (package
	// lang/yaml). If it is nil, plans in YAML are not read.
	YAML func(file *diag.File, maxDepth int) (*diag.File, *diag.Finding)

	MaxBytes int // the size of the text; 0 is 64 MiB
	MaxDepth int // of nesting; 0 is 256
	MaxCalls int // of the plan; 0 is 1,000,000
}

// Parse reads a document (plan-language §1, §2), in JSON or, with Options.YAML, in YAML when the
// name of the file ends in .yaml or .yml or the text looks like it. It never returns nil: besides
// the findings it returns everything that could be read. A nil Options is the default. Findings are
// in the order of the text, at most 100 of each code and then one that says how many more there
// are. It costs time and memory linear in the text.
//
// It does not panic: a bug in it is a finding as well (PLC901), and the document is empty.
func Parse(file *diag.File, opts *Options) (doc *Document, found diag.List) {
	defer func() {
		if p := recover(); p != nil {
			doc, found = &Document{File: file, broken: true, faulty: true}, diag.List{diag.Panic(file, p)}
		}
	}()
	p := newParser(file, opts)
	switch {
	case len(file.Text) > p.limits.MaxBytes:
		p.errorf(diag.Span{}, diag.OverLimit, "the text has %d bytes, more than %d", len(file.Text), p.limits.MaxBytes)
	case p.mend:
		p.answer()
	case isYAML(file, opts):
		p.yaml(opts.YAML)
	default:
		p.text()
	}
	p.doc.broken = p.has(diag.NotJSON, diag.OverLimit, diag.NotAPlan)
	found = p.sorted(p.doc.Calls)
	if opts != nil {
		found = p.translated(opts.Translation, found)
	}
	p.doc.faulty = found.HasErrors()
	return p.doc, found
}

// parser reads a document from a tree.
type parser struct {
	*findings
	doc      *Document
	tree     *tree
	limits   jsonscan.Limits
	maxCalls int
	mend     bool
	trial    bool // it parses a changed text, to see whether that is a plan

	// While the calls are read:
	prefix  []byte   // the JSON Pointer of the list of calls
	call    *Call    // the current one, or nil
	misses  bool     // a member was reported that was probably meant as _tool
	scratch []Member // the params of the current call
	slab    []Member // memory for the members of calls and messages

	id        []byte // scratch
	memory    memory // for expressions that the document keeps
	forgotten memory // for expressions that it does not keep
}

func newParser(file *diag.File, opts *Options) *parser {
	if opts == nil {
		opts = &Options{}
	}
	p := &parser{
		findings: newFindings(file),
		doc:      &Document{File: file, answer: opts.Answer, model: opts.Model || opts.Answer, foreign: opts.Translation != nil},
		limits:   jsonscan.Limits{MaxBytes: opts.MaxBytes, MaxDepth: opts.MaxDepth}.OrDefault(),
		maxCalls: opts.MaxCalls,
		mend:     opts.Answer,
	}
	if p.maxCalls <= 0 {
		p.maxCalls = 1_000_000
	}
	return p
}

// text reads the whole text as a document.
func (p *parser) text() {
	start := 0
	if bytes.HasPrefix(p.file.Text, []byte("\ufeff")) {
		start = len("\ufeff")
	}
	r := newReader(p.file, start, len(p.file.Text), p.limits.MaxDepth, nodesOf(p.file.Text))
	root := r.read()
	if root.IsZero() && p.foreign(r) {
		return
	}
	p.offerRepair(r)
	p.use(r, root)
}

// nodesOf estimates the number of nodes of a text from its punctuation: names and values are before
// a colon, after a comma or at the start of an object or array. The estimate is bounded by the
// number that a plan of this size could have.
func nodesOf(text []byte) int {
	n := 1
	for _, c := range [...]string{":", ",", "{", "["} {
		n += bytes.Count(text, []byte(c))
	}
	const bytesPerNode = 6 // in the densest plans
	return min(n, len(text)/bytesPerNode+1)
}

// foreign reports a text that does not begin like JSON, if it is known what it is instead.
func (p *parser) foreign(r *reader) bool {
	if !r.has(diag.NotJSON) {
		return false
	}
	span := r.list[0].Loc.Span
	switch n := notationOf(p.file.Text); {
	case bytes.Contains(p.file.Text, []byte(`"_tool"`)) && bytes.Contains(p.file.Text, []byte("{")):
		p.errorf(span, diag.NotJSON, "the text does not start as JSON; a plan inside a model's raw answer is read with --from llm")
	case n != nil:
		p.errorf(span, diag.NotAPlan, "this is no JSON, but looks like %s; %s", n.what, n.cure)
	case bytes.HasPrefix(p.file.Text, []byte("\xff\xfe")) || bytes.HasPrefix(p.file.Text, []byte("\xfe\xff")):
		p.errorf(span, diag.NotJSON, "the text is UTF-16; save it as UTF-8")
	default:
		return false
	}
	return true
}

// use makes the tree of a reader the document.
func (p *parser) use(r *reader, root Node) {
	p.tree, p.findings = r.tree, r.findings
	if root.IsZero() {
		return
	}
	p.doc.Root, p.doc.tree = root, r.tree
	p.document(root)
	slices.Sort(r.tree.texts) // nearly always they are in order
	r.tree.index = nil
}

// fault reports an error in a value, unless one was already reported.
func (p *parser) fault(n Node, code diag.Code, format string, args ...any) *finding {
	return p.faultAt(n, n.Span(), code, format, args...)
}

func (p *parser) faultAt(n Node, span diag.Span, code diag.Code, format string, args ...any) *finding {
	if n.has(bad) {
		return &finding{}
	}
	f := p.errorf(span, code, format, args...)
	if f.Loc.File != nil {
		p.place(f, n)
	}
	return f
}

// place sets the JSON Pointer and the call of a finding.
func (p *parser) place(f *finding, n Node) {
	if p.call == nil {
		f.Pointer = n.Pointer()
		return
	}
	f.call = p.call.Index
	f.Pointer = string(p.tree.appendPointer(fmt.Appendf(p.prefix, "/%d", p.call.Index), p.call.Node.i, n.i))
}

// wants reports a value of the wrong type.
func (p *parser) wants(m Member, want string) *finding {
	return p.fault(m.Value, diag.BadMember, "%q wants %s, not %s", m.Name, want, describe(m.Value))
}

// describe returns the kind of a value in words.
func describe(n Node) string {
	switch n.Kind() {
	case Null:
		return "null"
	case False:
		return "false"
	case True:
		return "true"
	case NumberValue:
		return "the number " + clipTo(string(n.AppendJSON(nil)), 40)
	case String:
		return "the string " + clipTo(string(n.AppendJSON(nil)), 40)
	case Array:
		return "a list"
	}
	return "an object"
}

// keep copies members to the shared memory.
func (p *parser) keep(members []Member) []Member {
	if len(members) == 0 {
		return nil
	}
	if cap(p.slab)-len(p.slab) < len(members) {
		p.slab = make([]Member, 0, max(len(members), min(1024, max(8, 2*cap(p.slab)))))
	}
	start := len(p.slab)
	p.slab = append(p.slab, members...)
	return p.slab[start:len(p.slab):len(p.slab)]
}
