// Package llmcompiler reads and writes plans of LLMCompiler: numbered calls, with
// Python literals as arguments, that end in join().
//
//	Thought: The two can be looked up at once.
//	1. search("speed of a cheetah")
//	2. search("speed of a car")
//	3. math("compare them", ["$1", "${2}"])
//	4. join()<END_OF_PLAN>
//
// $ and the number of an earlier step, anywhere in an argument, is the result of that step. As in
// LLMCompiler, arguments that are not literals are one argument with the text as it is.
package llmcompiler

import (
	"bytes"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/lazyregexp"
	"github.com/plc-lang/plc/lang/dialect"
)

// Notation returns the notation of LLMCompiler.
func Notation() *dialect.Notation {
	return &dialect.Notation{Name: "llmcompiler", What: "an LLMCompiler plan", Read: read, Write: write, Fields: []string{"plan", "raw_output", "output"}}
}

const endOfPlan = "<END_OF_PLAN>"

var (
	stepHead = lazyregexp.New(`^[ \t]*(\d+)\.[ \t]*([\pL_][\pL\pN_]*)[ \t]*\(`)
	thought  = lazyregexp.New(`^[ \t]*Thought:`)
	// exampleEnd matches the line between the examples of a prompt, at which a model stops.
	exampleEnd = lazyregexp.New(`^\s*###+[ \t]*(?:\r?\n|$)`)
	bareJoin   = lazyregexp.New(`^[ \t]*(join[ \t]*\()`)
	// listItem matches a line that is an item of a list, or a step that is not written correctly.
	listItem = lazyregexp.New(`^[ \t]*([-*+]|\d+[.):]|#+|[\pL_][\pL\pN_]*\()`)
)

// step is a step as it is written.
type step struct {
	whole   diag.Span
	label   diag.Span
	number  int
	tool    diag.Span
	args    []arg
	broken  bool // its arguments could not be read
	thought []diag.Span
	comment diag.Span
}

func (r *reader) isJoin(s *step) bool { return r.Text(s.tool) == "join" }

// reader reads a plan line by line.
type reader struct {
	*dialect.Builder
	steps    []step
	thought  []diag.Span // the thoughts since the last step
	at       int         // what was read
	ended    bool        // there was a join(), or the mark of the end
	numbers  dialect.Numbering
	loose    []loose
	greatest int // of the steps' numbers
	results  int // the greatest number of a step with a result, which a join does not have
	parted   int // the number of steps that did not begin on a line of their own
}

func read(b *dialect.Builder) {
	r := &reader{Builder: b, at: b.Start(), numbers: dialect.Numbering{Spell: "$%d"}}
	for r.at < len(b.File.Text) {
		r.line()
	}
	r.ending()
	r.resolve()
	r.write()
}

// maxParted is the maximum number of steps that are read without a line of their own. A line with
// only steps would otherwise take quadratic time.
const maxParted = 100

// line reads a line, or a step that may have several lines.
func (r *reader) line() {
	end := r.LineEnd(r.at)
	line := string(r.File.Text[r.at:end])
	if i := strings.Index(line, endOfPlan); i >= 0 && strings.TrimSpace(line[:i]) == "" {
		r.endMark(r.at + i + len(endOfPlan))
		return
	}
	if r.ended && exampleEnd.MatchString(line) {
		r.endMark(r.at)
		return
	}
	if m := stepHead.FindStringSubmatchIndex(line); m != nil {
		r.step(m)
		return
	}
	if m := thought.FindStringIndex(line); m != nil {
		r.thought = append(r.thought, r.Trim(dialect.Span(r.at+m[1], end)))
	} else {
		r.other(r.Trim(dialect.Span(r.at, end)), line)
	}
	r.next(end)
}

// next goes to the line after the one that ends at end.
func (r *reader) next(end int) {
	n := bytes.IndexByte(r.File.Text[end:], '\n')
	if r.at = end + n + 1; n < 0 {
		r.at = len(r.File.Text)
	}
}

// endMark skips the text after the mark of the end.
func (r *reader) endMark(at int) {
	at += len(exampleEnd.Find(r.File.Text[at:]))
	r.PassOver(dialect.Span(at, len(r.File.Text)))
	r.at, r.ended = len(r.File.Text), true
}

// other reads a line that is neither a step nor a thought.
func (r *reader) other(text diag.Span, line string) {
	switch {
	case text.Len() == 0:
	case strings.HasPrefix(r.Text(text), "```"):
		r.PassOver(text)
	case bareJoin.MatchString(line):
		r.Errorf(text, diag.BadNotation, "join() has no number; it is a step like the others").
			Fix = &diag.Fix{Message: "number it", Edits: []diag.Edit{{Span: dialect.Span(int(text.Start), int(text.Start)), Text: r.nextNumber()}}}
		r.ended = true
	case listItem.MatchString(line):
		r.Errorf(text, diag.BadNotation, "this is no step; a step is written 1. tool(\"argument\")")
	case len(r.thought) > 0:
		r.thought = append(r.thought, text) // a thought may have several lines
	case len(r.steps) == 0 || r.ended:
		r.PassOver(text)
	default:
		r.Errorf(text, diag.BadNotation, "this is no step; a step is written 1. tool(\"argument\")")
	}
}

// nextNumber returns the number of the next step, in the form in which a step begins.
func (r *reader) nextNumber() string {
	last := 0
	for i := range r.steps {
		last = max(last, r.steps[i].number)
	}
	return dialect.Label(last+1) + ". "
}

// step reads the step whose head stepHead found in the current line.
func (r *reader) step(m []int) {
	s := step{
		label:   dialect.Span(r.at+m[2], r.at+m[3]),
		tool:    dialect.Span(r.at+m[4], r.at+m[5]),
		thought: r.thought,
	}
	r.thought = nil
	s.number = dialect.Number(r.Text(s.label))
	if r.ended {
		r.Errorf(dialect.Span(int(s.label.Start), int(s.tool.End)), diag.BadNotation, "this step comes after join(), which ends the plan")
	}
	open := r.at + m[1]
	p := &parser{Builder: r.Builder, at: open, end: r.stepEnd(open)}
	s.args, s.broken = p.arguments()
	s.whole = dialect.Span(int(s.label.Start), p.at)
	if r.at = p.at; !s.broken {
		r.behind(&s)
	}
	r.ended = r.ended || r.isJoin(&s)
	r.steps = append(r.steps, s)
}

// stepEnd returns the furthest end of a step that is open at start: the next line that starts a
// step or a thought, the mark of the end, or the end of the text.
func (r *reader) stepEnd(start int) int {
	first := true
	for line := range r.Lines(dialect.Span(start, len(r.File.Text))) {
		text := r.Text(line)
		if i := strings.Index(text, endOfPlan); i >= 0 {
			return int(line.Start) + i
		}
		if !first && (stepHead.MatchString(text) || thought.MatchString(text) || bareJoin.MatchString(text)) {
			return int(line.Start)
		}
		first = false
	}
	return len(r.File.Text)
}

// behind reads the text after a step on its line: a comment, the mark of the end, or a step that
// should be on a line of its own.
func (r *reader) behind(s *step) {
	end := r.LineEnd(r.at)
	rest := r.Trim(dialect.Span(r.at, end))
	text := r.Text(rest)
	switch {
	case rest.Len() == 0:
	case strings.HasPrefix(text, endOfPlan):
		r.endMark(int(rest.Start) + len(endOfPlan))
		return
	case text[0] == '#':
		s.comment = r.Trim(dialect.Span(int(rest.Start)+1, int(rest.End)))
		if i := strings.Index(text, endOfPlan); i >= 0 {
			s.comment = r.Trim(dialect.Span(int(rest.Start)+1, int(rest.Start)+i))
			r.endMark(int(rest.Start) + i + len(endOfPlan))
			return
		}
	case stepHead.MatchString(text) && r.parted < maxParted:
		r.parted++
		r.Errorf(rest, diag.BadNotation, "a step begins on a line of its own").
			Fix = &diag.Fix{Message: "begin a line", Edits: []diag.Edit{{Span: dialect.Span(r.at, int(rest.Start)), Text: "\n"}}}
		r.at = int(rest.Start)
		return
	default:
		r.Errorf(rest, diag.BadNotation, "there is text behind the step")
	}
	r.next(end)
}

// ending checks how the plan ends.
func (r *reader) ending() {
	for _, t := range r.thought {
		r.PassOver(t)
	}
	switch {
	case len(r.steps) == 0:
		r.NoPlan("a step is written 1. tool(\"argument\")")
	case !r.ended && !r.steps[len(r.steps)-1].broken:
		last := r.steps[len(r.steps)-1].whole
		r.Warnf(last, diag.PerhapsCutOff, "the plan ends without join(); it may be cut off here").
			Fix = &diag.Fix{Message: "add join()", Edits: []diag.Edit{{Span: dialect.Span(r.endOfLast(), r.endOfLast()), Text: "\n" + r.nextNumber() + "join()"}}}
	}
}

// endOfLast returns the end of the line of the last step.
func (r *reader) endOfLast() int { return r.LineEnd(int(r.steps[len(r.steps)-1].whole.End)) }

// write writes the steps.
func (r *reader) write() {
	r.List(dialect.Span(0, len(r.File.Text)))
	joined := false
	for i := range r.steps {
		before := r.steps[:i]
		if joined {
			before = nil // the plan has ended before this step, which was reported
		}
		r.call(&r.steps[i], before)
		joined = joined || r.isJoin(&r.steps[i])
	}
	r.Close()
}

func (r *reader) call(s *step, before []step) {
	label := r.label(s)
	r.Object(s.whole)
	r.Member("_tool", s.tool)
	r.String(r.Text(s.tool), s.tool)
	r.Member("_id", s.label)
	r.String(label, s.label)
	if len(s.thought) > 0 {
		from := s.thought[0].Join(s.thought[len(s.thought)-1])
		r.Member("_reasoningForCall", from)
		r.String(r.words(s.thought), from)
	}
	if s.comment.Len() > 0 {
		r.Member("_description", s.comment)
		r.String(r.Text(s.comment), s.comment)
	}
	r.params(s)
	if r.isJoin(s) {
		r.dependsOn(s, before)
	} else {
		r.Member("_outputPath", s.label)
		r.Path(label, s.label)
	}
	r.Close()
}

// label returns the label of a step: its number, without leading zeros.
func (r *reader) label(s *step) string {
	if s.number < 0 {
		return r.Text(s.label)
	}
	return dialect.Label(s.number)
}

func (r *reader) words(lines []diag.Span) string {
	words := make([]string, len(lines))
	for i, l := range lines {
		words[i] = r.Text(l)
	}
	return strings.Join(words, "\n")
}

// dependsOn writes that join waits for all steps before it.
func (r *reader) dependsOn(s *step, before []step) {
	r.Member("_dependsOn", s.tool)
	r.List(s.tool)
	seen := map[string]bool{}
	for i := range before {
		if label := r.label(&before[i]); !seen[label] {
			seen[label] = true
			r.String(label, s.tool)
		}
	}
	r.Close()
}

// params writes the arguments as params. Arguments without a name get the names of the tool's
// params, or arg1, arg2 … if the tool is not known.
func (r *reader) params(s *step) {
	var names []string
	known := false
	if r.Options.Params != nil {
		names, known = r.Options.Params(r.Text(s.tool))
	}
	if s.broken {
		for _, name := range names {
			r.Member(name, s.tool)
			r.Parts(s.whole, dialect.Fault(s.whole))
		}
		return
	}
	for i, a := range s.args {
		switch {
		case a.name.Len() > 0:
			r.Member(r.Text(a.name), a.name)
		case i < len(names):
			r.Member(names[i], a.value.span)
		case known:
			r.Errorf(a.value.span, diag.UnknownParam, "%s takes %s, and this is one more", r.Text(s.tool), dialect.Count(len(names), "argument"))
			continue
		default:
			r.Member("arg"+dialect.Label(i+1), a.value.span)
		}
		r.value(&a.value)
	}
}

// value writes an argument.
func (r *reader) value(v *value) {
	switch v.kind {
	case listValue:
		r.List(v.span)
		for i := range v.items {
			r.value(&v.items[i])
		}
		r.Close()
	case dictValue:
		r.Object(v.span)
		for i := range v.items {
			r.Member(v.keys[i].said(), v.keys[i].span)
			r.value(&v.items[i])
		}
		r.Close()
	case jsonValue:
		if v.json == r.Text(v.span) {
			r.Copy(v.span)
		} else {
			r.JSON(v.json, v.span)
		}
	default:
		r.Parts(v.span, v.parts()...)
	}
}
