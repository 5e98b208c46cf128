// Package rewoo reads and writes plans of ReWOO: lines of reasoning and evidence.
//
//	Plan: Find the animal. #E1 = Search[fastest land animal]
//	Plan: How fast is it? #E2 = LLM[What is the speed of #E1?]
//
// The input of a tool is the text in its brackets as it is, for the tool's first param; #E and a
// number, anywhere in it, is the evidence of that step.
package rewoo

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/lazyregexp"
	"github.com/plc-lang/plc/lang/dialect"
)

// Notation returns the notation of ReWOO.
func Notation() *dialect.Notation {
	return &dialect.Notation{Name: "rewoo", What: "a ReWOO plan", Read: read, Write: write, Fields: []string{"plan", "plan_string", "output"}}
}

var (
	planHead = lazyregexp.New(`^[ \t]*Plan(?:[ \t]*\d+)?:`)
	// stepHead matches the head of a step: its label and number, and the equals sign.
	stepHead = lazyregexp.New(`#E(\d+)[ \t]*=[ \t]*`)
	// badStep matches a line that would be a step if not for a missing or wrong character, or
	// because it is an item of a list.
	badStep = lazyregexp.New(`^[ \t]*(?:(?:[-*+]|\d+[.)])[ \t]+)?\**#?[ \t]*[eE][ \t]*(\d+)[ \t]*(?:[:=]|->|→)?[ \t]*[\pL_][\pL\pN_ -]*\[.*\][ \t]*$`)
	ref     = lazyregexp.New(`#E(\d+)`)
	nearRef = lazyregexp.New(`#[ \t]*[eE][ \t]*(\d+)|\bE(\d+)\b|#[ \t]*(\d+)\b`)
)

// step is a step as it is written.
type step struct {
	whole  diag.Span
	label  diag.Span // E1
	number int
	reason []diag.Span // the reasoning before it
	tool   diag.Span
	input  diag.Span
	closed bool
	broken bool // it was reported, and is not a call
}

// reader reads a plan line by line.
type reader struct {
	*dialect.Builder
	steps  []step
	reason []diag.Span // the reasoning since the last step
	at     int         // what was read
}

func read(b *dialect.Builder) {
	r := &reader{Builder: b, at: b.Start()}
	for r.at < len(b.File.Text) {
		r.line()
	}
	r.ending()
	r.write()
}

// line reads a line, or a step that may have several lines.
func (r *reader) line() {
	end := r.LineEnd(r.at)
	line := string(r.File.Text[r.at:end])
	start := r.at
	if m := planHead.FindStringIndex(line); m != nil {
		r.plan(dialect.Span(r.at+m[1], end))
		return
	}
	if m := stepHead.FindStringSubmatchIndex(line); m != nil && strings.TrimSpace(line[:m[0]]) == "" {
		r.step(r.at, m)
		return
	}
	switch text := r.Trim(dialect.Span(start, end)); {
	case text.Len() == 0:
	case badStep.MatchString(line) || len(r.reason) == 0 && looksLikeStep(line):
		r.Errorf(text, diag.BadNotation, "this is no step; a step is written #E1 = Tool[input]")
		if m := badStep.FindStringSubmatch(line); m != nil {
			r.steps = append(r.steps, step{number: dialect.Number(m[1]), broken: true})
		}
		r.reason = nil
	case len(r.reason) > 0:
		r.reason = append(r.reason, text) // the reasoning may have several lines
	default:
		r.PassOver(text)
	}
	r.next(end)
}

// looksLikeStep reports whether a line looks like a step that is not written correctly.
func looksLikeStep(line string) bool {
	line = strings.TrimSpace(line)
	return strings.HasPrefix(line, "#E") || strings.HasPrefix(line, "#e") || strings.Contains(line, "= ") && strings.HasSuffix(line, "]")
}

// next goes to the line after the one that ends at end.
func (r *reader) next(end int) {
	r.at = end + 1
	if strings.HasPrefix(string(r.File.Text[end:min(end+2, len(r.File.Text))]), "\r\n") {
		r.at++
	}
}

// plan reads the rest of a line after "Plan:": the reasoning, and a step if there is one.
func (r *reader) plan(rest diag.Span) {
	line := r.Text(rest)
	m := stepHead.FindStringSubmatchIndex(line)
	reason := rest
	if m != nil {
		reason.End = rest.Start + int32(m[0])
	}
	r.reason = append(r.reason, r.Trim(reason))
	if m == nil {
		r.next(int(rest.End))
		return
	}
	r.step(int(rest.Start), m)
}

// step reads the step whose head stepHead found; m counts from base.
func (r *reader) step(base int, m []int) {
	s := step{
		label:  dialect.Span(base+m[0]+1, base+m[3]),
		number: dialect.Number(string(r.File.Text[base+m[2] : base+m[3]])),
		reason: r.reason,
	}
	r.reason = nil
	lineEnd := r.LineEnd(base + m[1])
	rest := string(r.File.Text[base+m[1] : lineEnd])
	open := strings.IndexByte(rest, '[')
	if open < 0 || strings.TrimSpace(rest[:open]) == "" {
		r.Errorf(dialect.Span(base+m[0], lineEnd), diag.BadNotation, "the step calls no tool; it is written #E%d = Tool[input]", s.number)
		s.broken = true
		r.steps = append(r.steps, s)
		r.next(lineEnd)
		return
	}
	s.tool = r.Trim(dialect.Span(base+m[1], base+m[1]+open))
	s.input = r.input(base + m[1] + open + 1)
	s.whole = dialect.Span(base+m[0], int(s.input.End))
	if end := int(s.input.End); end < len(r.File.Text) && r.File.Text[end] == ']' {
		s.whole.End++
		s.closed = true
	}
	r.after(&s)
	r.steps = append(r.steps, s)
}

// input returns the text in the brackets that open before start. It ends with the last bracket of
// the first line that ends with one and closes as many as it opens, or else of the first line that
// ends with one. If there is none, the plan was cut off.
func (r *reader) input(start int) diag.Span {
	depth, first := 1, -1
	for line := range r.Lines(dialect.Span(start, len(r.File.Text))) {
		text := r.Text(line)
		if int(line.Start) != start && (planHead.MatchString(text) || startsStep(text)) {
			break
		}
		depth += strings.Count(text, "[") - strings.Count(text, "]")
		trimmed := strings.TrimRight(text, " \t")
		if !strings.HasSuffix(trimmed, "]") {
			continue
		}
		end := int(line.Start) + len(trimmed) - 1
		if depth <= 0 {
			return dialect.Span(start, end)
		}
		if first < 0 {
			first = end
		}
	}
	if first >= 0 {
		return dialect.Span(start, first)
	}
	end := r.LineEnd(start)
	if n := strings.LastIndexByte(string(r.File.Text[start:end]), ']'); n >= 0 {
		return dialect.Span(start, start+n) // there is text after it
	}
	return dialect.Span(start, end)
}

func startsStep(line string) bool {
	m := stepHead.FindStringIndex(line)
	return m != nil && strings.TrimSpace(line[:m[0]]) == ""
}

// after continues after a step: the rest of its line has to be white space, or another step.
func (r *reader) after(s *step) {
	end := int(s.whole.End)
	lineEnd := r.LineEnd(end)
	rest := r.Trim(dialect.Span(end, lineEnd))
	switch {
	case !s.closed && len(bytes.TrimSpace(r.File.Text[end:])) == 0:
		r.Errorf(s.whole, diag.BadNotation, "the plan was cut off inside this step: its bracket is not closed")
	case !s.closed:
		r.Errorf(s.whole, diag.BadNotation, "the bracket of this step is not closed").
			Fix = &diag.Fix{Message: "close it", Edits: []diag.Edit{{Span: dialect.Span(end, end), Text: "]"}}}
	case rest.Len() > 0:
		r.Errorf(rest, diag.BadNotation, "there is text behind the step")
	}
	r.next(lineEnd)
}

// ending checks the text after the last step.
func (r *reader) ending() {
	if len(r.reason) > 0 {
		last := r.reason[0].Join(r.reason[len(r.reason)-1])
		r.Warnf(last, diag.PerhapsCutOff, "no step follows this plan; it may be cut off")
	}
	if len(r.steps) == 0 {
		r.NoPlan("a step is written #E1 = Tool[input]")
	}
}

// write writes the steps.
func (r *reader) write() {
	numbers := dialect.Numbering{Spell: "#E%d"}
	refs := make([][]*dialect.NumberRef, len(r.steps))
	broken := map[int]bool{}
	for i := range r.steps {
		numbers.Step(r.steps[i].number)
		broken[r.steps[i].number] = r.steps[i].broken
		refs[i] = r.refs(r.steps[i].input, i)
		for _, ref := range refs[i] {
			numbers.Ref(ref)
		}
	}
	numbers.Judge(r.Builder)
	for _, list := range refs {
		for _, ref := range list {
			ref.Faulty = ref.Faulty || broken[ref.Number]
		}
	}
	r.List(dialect.Span(0, len(r.File.Text)))
	for i := range r.steps {
		if !r.steps[i].broken {
			r.call(&r.steps[i], refs[i])
			r.near(&r.steps[i], &numbers, i)
		}
	}
	r.Close()
}

func (r *reader) call(s *step, refs []*dialect.NumberRef) {
	r.Object(s.whole)
	r.Member("_tool", s.tool)
	r.String(r.Text(s.tool), s.tool)
	label := r.label(s.number, s.label)
	r.Member("_id", s.label)
	r.String(label, s.label)
	if text := r.words(s.reason); text != "" {
		from := s.reason[0].Join(s.reason[len(s.reason)-1])
		r.Member("_reasoningForCall", from)
		r.String(text, from)
	}
	if param := r.param(s); param != "" {
		r.Member(param, s.input)
		r.Parts(s.input, r.parts(s.input, refs)...)
	}
	r.Member("_outputPath", s.label)
	r.Path(label, s.label)
	r.Close()
}

// label returns the label of a step's evidence: E1, without leading zeros.
func (r *reader) label(number int, at diag.Span) string {
	if number < 0 {
		return strings.TrimPrefix(r.Text(at), "#")
	}
	return fmt.Sprintf("E%d", number)
}

// words returns the lines of a reasoning as one text.
func (r *reader) words(lines []diag.Span) string {
	var words []string
	for _, l := range lines {
		if l.Len() > 0 {
			words = append(words, r.Text(l))
		}
	}
	return strings.Join(words, "\n")
}

// param returns the param for a step's input; "" if the tool has no params and the step no input.
func (r *reader) param(s *step) string {
	const unknown = "input"
	if r.Options.Params == nil {
		return unknown
	}
	params, ok := r.Options.Params(r.Text(s.tool))
	switch {
	case len(params) > 0:
		return params[0]
	case ok && s.input.Len() == 0:
		return ""
	}
	return unknown
}

// refs returns the references in an input.
func (r *reader) refs(input diag.Span, user int) (list []*dialect.NumberRef) {
	text, base := r.Text(input), int(input.Start)
	for _, m := range ref.FindAllStringSubmatchIndex(text, -1) {
		list = append(list, &dialect.NumberRef{
			At:     dialect.Span(base+m[0], base+m[1]),
			Digits: dialect.Span(base+m[2], base+m[3]),
			Number: dialect.Number(text[m[2]:m[3]]),
			User:   user,
		})
	}
	return list
}

// parts returns the parts of an input.
func (r *reader) parts(input diag.Span, refs []*dialect.NumberRef) (parts []dialect.Part) {
	at := input.Start
	literal := func(to int32) {
		s := diag.Span{Start: at, End: to}
		parts = append(parts, dialect.Literal(r.Text(s), s))
	}
	for _, ref := range refs {
		literal(ref.At.Start)
		if at = ref.At.End; ref.Faulty {
			parts = append(parts, dialect.Fault(ref.At))
			continue
		}
		parts = append(parts, dialect.Ref(dialect.StateRef(r.label(ref.Number, ref.At)), ref.At))
	}
	literal(input.End)
	return parts
}

// near warns about text that is nearly a reference to an earlier step.
func (r *reader) near(s *step, numbers *dialect.Numbering, place int) {
	text, base := r.Text(s.input), int(s.input.Start)
	for _, m := range nearRef.FindAllStringSubmatchIndex(text, -1) {
		digits := text[max(m[2], m[4], m[6]):max(m[3], m[5], m[7])]
		want := "#E" + digits
		bare := m[6] >= 0 // #1, which may be a rank
		if text[m[0]:m[1]] == want || m[0] > 0 && text[m[0]-1] == '#' || !numbers.Reaches(dialect.Number(digits), place) ||
			bare && !dialect.IsReferred(text[:m[0]]) {
			continue
		}
		at := dialect.Span(base+m[0], base+m[1])
		r.Warnf(at, diag.NearReference, "%q is just text; did you mean %s?", r.Text(at), want).Fix = dialect.Replace(at, want)
	}
}
