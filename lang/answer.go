package lang

import (
	"bytes"

	"github.com/plc-lang/plc/diag"
)

// Finding the plan in a model's raw answer. Each bracket that is not part of a value that was
// already read may start the plan. The first one that starts a plan counts, even if that plan is
// cut off or has errors, so that a part of a plan is never taken for the plan. An empty list counts
// as a plan only if there is no other.

// attempt is the result of reading one place of an answer.
type attempt struct {
	*reader
	root   Node
	form   Form
	region region
}

// region is a part of an answer.
type region struct {
	start, end int
	fenced     bool
}

func (a *attempt) isFaulty() bool { return a.has(diag.NotJSON, diag.OverLimit) }

// isFinal reports whether this is the plan, even if it has errors.
func (a *attempt) isFinal() bool {
	if a.isFaulty() {
		return bytes.Contains(a.Text[a.tree.nodes[0].start:a.Pos], []byte("_tool"))
	}
	return a.form != NoForm && !a.isEmpty()
}

func (a *attempt) isEmpty() bool { return a.form == CallList && len(a.tree.nodes) == 1 }

// better reports whether a is the better one of two that are both not final: a plan,
// then JSON, then the first.
func (a *attempt) better(b *attempt) bool {
	rank := func(x *attempt) int { return b2i(!x.isFaulty()) + b2i(!x.isFaulty() && x.form != NoForm) }
	return b == nil || rank(a) > rank(b)
}

// answer reads the plan in a model's answer.
func (p *parser) answer() {
	var best *attempt
	budget := 8*len(p.file.Text) + 1<<20 // an answer with only brackets would otherwise take quadratic time
	for _, re := range regions(p.file.Text) {
		a := p.search(re, &budget)
		if a == nil {
			continue
		}
		if a.isFinal() {
			best = a
			break
		}
		if a.better(best) {
			best = a
		}
	}
	if best == nil {
		p.noAnswer()
		return
	}
	if !best.isFaulty() && !best.region.fenced {
		best.trailing()
	}
	p.use(best.reader, best.root)
}

// search looks for the plan in one region: the final attempt, or else the best.
func (p *parser) search(re region, budget *int) (best *attempt) {
	for i := re.start; i < re.end && *budget > 0; {
		n := bytes.IndexAny(p.file.Text[i:re.end], "[{")
		if n < 0 {
			break
		}
		i += n
		a := p.attempt(i, re)
		*budget -= max(a.Pos, a.looked) - i
		if a.isFinal() {
			return a
		}
		if a.better(best) {
			best = a
		}
		if i++; !a.isFaulty() {
			i = a.Pos
		}
	}
	return best
}

func (p *parser) attempt(start int, re region) *attempt {
	r := newReader(p.file, start, re.end, p.limits.MaxDepth, 0)
	r.mend, r.one = true, true
	root := r.read()
	return &attempt{r, root, formOf(root), re}
}

// noAnswer reports an answer without any JSON in it.
func (p *parser) noAnswer() {
	if n := notationOf(p.file.Text); n != nil {
		p.errorf(diag.Span{}, diag.NotAPlan, "there is no JSON in the answer, which looks like %s; %s", n.what, n.cure)
		return
	}
	p.errorf(diag.Span{}, diag.NotJSON, "there is no JSON in the answer")
}

// trailing reports text after the plan.
func (a *attempt) trailing() {
	rest := a.Text[a.Pos:]
	end := a.Pos + len(bytes.TrimSpace(rest)) + len(rest) - len(bytes.TrimLeft(rest, " \t\r\n"))
	if start := a.Pos + len(rest) - len(bytes.TrimLeft(rest, " \t\r\n")); start < end {
		span := diag.Span{Start: int32(start), End: int32(end)}
		a.add104(span, "there is text after the plan", "cut out").fix("cut out", diag.Edit{Span: span})
	}
}

// afterThought returns the start of an answer: after the </think> if the answer starts with
// <think>, or has a </think> before any bracket. A later </think> may be in a string of the plan.
func afterThought(text []byte) int {
	const open, end = "<think>", "</think>"
	i := bytes.Index(text, []byte(end))
	if i < 0 || !bytes.HasPrefix(bytes.TrimSpace(text), []byte(open)) && bytes.ContainsAny(text[:i], "[{") {
		return 0
	}
	return i + len(end)
}

// regions returns the parts of an answer to search, in order: code fences, then the whole answer.
func regions(text []byte) (list []region) {
	start := afterThought(text)
	for i := start; ; {
		from := fence(text, i)
		if from < 0 {
			break
		}
		to := len(text)
		if i = fence(text, from+3); i < 0 {
			i = to
		} else {
			to, i = i, i+3
		}
		list = append(list, region{from + 3, to, true})
	}
	return append(list, region{start, len(text), false})
}

// fence returns the place of the first ``` from i on that starts a line; -1 if there is none. (No
// line starts in a JSON string.)
func fence(text []byte, i int) int {
	for i <= len(text) {
		n := bytes.Index(text[i:], []byte("```"))
		if n < 0 {
			return -1
		}
		if i += n; startsLine(text, i) {
			return i
		}
		i += 3
	}
	return -1
}

// startsLine reports whether only white space and marks of a quotation are before text[i] on its
// line.
func startsLine(text []byte, i int) bool {
	for i > 0 && bytes.IndexByte([]byte(" \t>"), text[i-1]) >= 0 {
		i--
	}
	return i == 0 || text[i-1] == '\n' || text[i-1] == '\r'
}
