package lang

import (
	"bytes"
	"cmp"
	"fmt"

	"github.com/plc-lang/plc/diag"
	"github.com/plc-lang/plc/internal/jsonscan"
)

// A text may fail to be JSON because of one missing, extra or wrong character. If the reader does
// not know what was meant, this code tries each structural character at each place near the fault,
// and offers the change that makes the text a plan. Nothing is repaired automatically.

const (
	repairBytes  = 32 << 10 // size of the largest text that is tried
	repairBefore = 240      // how many bytes before the fault are tried
	repairTries  = 1500
)

// repair is a change of one character.
type repair struct {
	edit  diag.Edit
	words string
	cost  int // how much is still wrong after it
	from  int // its distance from the fault
}

// offerRepair adds a fix to the first syntax error of a text, if it has none and the change of one
// character makes the text a plan. Then errors that follow from it are not reported.
func (p *parser) offerRepair(r *reader) {
	if p.mend || p.trial || len(p.file.Text) > repairBytes {
		return
	}
	var first *finding
	for _, f := range r.list {
		if f.Code == diag.NotJSON && (first == nil || f.Loc.Span.Start < first.Loc.Span.Start) {
			first = f
		}
	}
	if first == nil || first.Fix != nil {
		return
	}
	best := p.bestRepair(int(first.Loc.Span.Start))
	if best == nil {
		return
	}
	first.fix(best.words, best.edit)
	r.list = []*finding{first}
	r.over = map[diag.Code]*finding{}
}

// bestRepair returns the change of one character after which the least is wrong, and among equals
// the one nearest to the fault.
func (p *parser) bestRepair(fault int) (best *repair) {
	text := p.file.Text
	tries := 0
	last := min(fault+2, len(text)) // or to the end of the line, if a string is not closed there
	if rest := text[last:min(last+repairBefore, len(text))]; last > 0 && fault < len(text) && text[fault] == '"' {
		last += len(rest)
		if n := bytes.IndexByte(rest, '\n'); n >= 0 {
			last += n - len(rest)
		}
	}
	for at := last; at >= 0 && tries < repairTries; at-- {
		if at < fault-repairBefore && at > 0 {
			at = 0 // a bracket may be missing at the start
		}
		for _, x := range repairsAt(text, at) {
			tries++
			if x.cost = p.costOf(x.edit); x.cost < 0 {
				continue
			}
			x.from = max(fault-at, at-fault)
			if best == nil || cmp.Or(x.cost-best.cost, x.from-best.from) < 0 {
				best = &x
			}
		}
	}
	return best
}

// repairsAt returns the changes to try at a place; there are none unless it is beside a structural
// character or white space.
func repairsAt(text []byte, at int) (list []repair) {
	const structural = `,:[]{}"`
	beside := func(i int) bool {
		return i < 0 || i >= len(text) || bytes.IndexByte([]byte(structural+" \t\r\n"), text[i]) >= 0
	}
	place := diag.Span{Start: int32(at), End: int32(at)}
	if beside(at-1) || beside(at) {
		for _, c := range `",:]}[{` {
			list = append(list, repair{edit: diag.Edit{Span: place, Text: string(c)}, words: fmt.Sprintf("put in %c", c)})
		}
	}
	if at == len(text) || bytes.IndexByte([]byte(structural+";='"), text[at]) < 0 {
		return list
	}
	place.End++
	list = append(list, repair{edit: diag.Edit{Span: place}, words: fmt.Sprintf("take out %c", text[at])})
	for _, c := range `",:]}[{` {
		if byte(c) != text[at] {
			list = append(list, repair{edit: diag.Edit{Span: place, Text: string(c)}, words: fmt.Sprintf("put %c in place of %c", c, text[at])})
		}
	}
	return list
}

// dropVainFixes drops the fixes of syntax errors that do not reduce the number of errors, neither
// alone nor together. It parses the text once for each fix.
func (r *reader) dropVainFixes() {
	var fixes []*diag.Fix
	for _, f := range r.list {
		switch {
		case f.Code != diag.NotJSON || f.Fix == nil:
		case r.mendedBy(f.Fix):
			fixes = append(fixes, f.Fix)
		default:
			f.Fix = nil
		}
	}
	if len(fixes) < 2 || r.mendedBy(fixes...) {
		return
	}
	for _, f := range r.list {
		if f.Code == diag.NotJSON && f.Fix != fixes[0] {
			f.Fix = nil
		}
	}
}

// mendedBy reports whether there are fewer syntax errors after fixes or, if the reader gave up
// after maxFaults of them, whether it gets further.
func (r *reader) mendedBy(fixes ...*diag.Fix) bool {
	changed, err := diag.ApplyFixes(r.Text, fixes)
	if err != nil {
		return false
	}
	trial := newReader(diag.NewFile("", changed), r.start, len(changed), r.maxDepth, 0)
	trial.trial, trial.mend, trial.one = true, r.mend, r.one
	trial.read()
	if trial.faults == maxFaults && r.faults == maxFaults {
		return len(changed)-trial.Pos < len(r.Text)-r.Pos
	}
	return trial.faults < r.faults
}

// costOf returns how much is wrong with the text after an edit; -1 if it is not a plan then.
func (p *parser) costOf(e diag.Edit) int {
	text := p.file.Text
	changed := make([]byte, 0, len(text)+1)
	changed = append(append(append(changed, text[:e.Span.Start]...), e.Text...), text[e.Span.End:]...)
	start := 0
	if bytes.HasPrefix(changed, []byte("\ufeff")) {
		start = len("\ufeff")
	}
	file := diag.NewFile(p.file.Name, changed)
	r := newReader(file, start, len(changed), p.limits.MaxDepth, 0)
	r.strict, r.trial = true, true
	root := r.read()
	if len(r.list) > 0 || formOf(root) == NoForm {
		return -1
	}
	q := newParser(file, &Options{MaxDepth: p.limits.MaxDepth})
	q.trial = true
	q.use(r, root)
	found := q.sorted(q.doc.Calls)
	cost := 0
	for i := range found {
		switch found[i].Severity {
		case diag.Error:
			cost += 100
		case diag.Warning:
			cost += 10
		}
	}
	for i := range q.doc.Calls {
		for _, m := range q.doc.Calls[i].Params {
			cost += misplaced(m.Value)
		}
	}
	if len(e.Text) == 0 || e.Span.Len() > 0 {
		cost++ // what was written is more likely right than complete
	}
	if e.Text == `"` && e.Span.Len() == 0 && isBareLiteral(text[e.Span.Start:]) {
		cost += 2 // in 3" the quote is more likely wrong than the number
	}
	return cost
}

// isBareLiteral reports whether a text begins with a number or a word of JSON and then a quote.
func isBareLiteral(text []byte) bool {
	lex := jsonscan.Lexer{Text: text}
	tok := lex.Next()
	return lex.Err == nil && tok > jsonscan.String && lex.Pos < len(text) && text[lex.Pos] == '"'
}

// misplaced counts the members of a call that are inside a param.
func misplaced(n Node) (count int) {
	for m := range n.Members() {
		if m.Name != "" && m.Name[0] == '_' {
			count += 5
		}
		count += misplaced(m.Value)
	}
	for _, e := range n.Elements() {
		count += misplaced(e)
	}
	return count
}
